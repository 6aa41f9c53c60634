/* Which rule decides about a path, a host or a socket, and whether a variable would be dropped. Looks at the disk, prints nothing. */
#pragma once
#include <stdbool.h>
#include "supervisor/options.h"
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
	char *over;            /* rules that cover the path too, and lost; owned; NULL: none */
	enum access asked;
	char *change;          /* the smallest change that would allow it; owned; NULL: it is allowed, or nothing would */
};

/*
 * The real path that the kernel would come to from text, which may be relative or begin with "~/"; the last component need not
 * exist. *ret is owned by the caller. 0 or a negative errno with words.
 */
int explain_resolve(const struct policy *p, const char *text, char **ret, bool *ret_exists, struct err *err);
/* access: ACCESS_WRITE is creation when the path does not exist. img: NULL when there are no rules. */
void explain_access(const struct plan *plan, const struct image *img, enum access access, const char *path, bool exists,
		    struct explained *ret);
/* Takes e->change away when it is an option that would not help; path is the one that was asked about. Builds a policy of its own. */
void explain_try_change(const struct options *o, struct explained *e, const char *path);
void explained_release(struct explained *e);

struct explained_variable { bool set, dropped; char *reason; /* owned; NULL when it is kept */ };
/* As a run would decide about it, with the value that it has in envp, or an ordinary one. 0 or a negative errno. */
int explain_variable(const struct policy *p, char *const envp[], const char *name, struct explained_variable *ret);

/* Is text a host rather than the name of a file? "example.com", "example.com:443", "[::1]:80"; what could be either is a file. */
bool explain_looks_like_host(const char *text);
struct explained_host { char *host; uint16_t port; struct explained verdict; };
/* text: a host, with a port or without (443 then). 0, or -EINVAL with words. Released by explained_host_release. */
int explain_host(const struct plan *plan, const char *text, struct explained_host *ret, struct err *err);
void explained_host_release(struct explained_host *h);
