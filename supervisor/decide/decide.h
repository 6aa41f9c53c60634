/*
 * Should this command run: in the sandbox or not, and is it allowed, asked about or denied. Rules first, then what the sandbox here is
 * worth, then the classifier (detect.h). Nothing is run and nothing printed.
 */
#pragma once
#include "platform/policy/policy.h"
#include "supervisor/decide/detect.h"

enum decided_by { BY_RULE, BY_EXCLUDED, BY_SANDBOX, BY_DETECTOR, BY_READ_ONLY, BY_PATH, BY_DEFAULT };
const char *decided_by_name(enum decided_by);

/* The two guarantees on which an approval without a question rests. */
enum { FENCES = 2 };
struct fence { enum guarantee guarantee; enum level has, wanted; };

struct answer {
	enum decision decision;      /* allow, ask or deny */
	enum decided_by by;
	const char *rule, *origin;   /* borrowed from the policy; NULL: it was no rule */
	int detector;                /* -1: it was none */
	struct place at;              /* of the command; empty for tools */
	char *reason;                /* one sentence; owned */
	bool sandbox;
	char *sandbox_reason;        /* likewise */
	bool fenced;                 /* fences is filled */
	struct fence fences[FENCES];
};
void answer_release(struct answer *a);

struct decider {
	const struct policy *policy;
	const struct image *image;   /* compiled from it; NULL: nothing is known about paths */
	const char *platform;        /* "linux", "wsl", "macos" */
	/* The level of a guarantee in the plan of a run here, or LEVEL_NONE when none could be started. Asked for only when needed. */
	enum level (*level)(void *context, enum guarantee);
	void *context;
};

/* unsandboxed: the caller asks for a run without the sandbox. */
void decide_command(const struct decider *d, const char *command, size_t len, bool unsandboxed, struct answer *ret);
/* tool: "Read", "Write", "Edit" and their kind. -EINVAL with words for another one, or a path that cannot be resolved. */
int decide_tool(const struct decider *d, const char *tool, const char *path, struct answer *ret, struct err *err);
