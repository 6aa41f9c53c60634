/* Which rule decides about a path, and whether a variable would be dropped. Looks at the disk, prints nothing. */
#pragma once
#include <stdbool.h>
#include "supervisor/plan.h"

struct explained {
	const char *access;    /* "read", "write", "create", "exec" */
	bool allowed;
	char *rule;            /* in words; owned */
	const char *origin;    /* borrowed from the policy; NULL: no single rule decided */
	const char *layer;     /* NULL likewise */
	enum level level;      /* at which a denial holds; LEVEL_NA when allowed */
	unsigned by;
	const char *note;      /* what should be known besides; NULL: nothing */
};

/*
 * The real path that the kernel would come to from text, which may be relative or begin with "~/"; the last component need not
 * exist. *ret is owned by the caller. 0 or a negative errno with words.
 */
int explain_resolve(const struct policy *p, const char *text, char **ret, bool *ret_exists, struct err *err);
/* access is ACCESS_READ, ACCESS_WRITE (creation, when the path does not exist) or ACCESS_EXEC. img: NULL when there are no rules. */
void explain_access(const struct plan *plan, const struct image *img, enum access access, const char *path, bool exists,
		    struct explained *ret);
void explained_release(struct explained *e);

struct explained_variable { bool set, dropped; char *reason; /* owned; NULL when it is kept */ };
/* As a run would decide about it, with the value that it has in envp, or an ordinary one. 0 or a negative errno. */
int explain_variable(const struct policy *p, char *const envp[], const char *name, struct explained_variable *ret);
