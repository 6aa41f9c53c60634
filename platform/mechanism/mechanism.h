/*
 * A mechanism says which rules it can hold, and does it. Planning asks holds() and nothing else knows what a mechanism
 * can do; launching runs prepare() in the supervisor (the last row first: the
 * environment is built when all that goes inside it has said what it needs), then enter() in the child, the first row first.
 */
#pragma once
#include "envscrub/scrub.h"
#include "platform/base/err.h"
#include "platform/base/str.h"
#include "platform/host/host.h"
#include "platform/policy/policy.h"
#include "platform/policy/wire.h"

enum extent { HOLDS_NOT, HOLDS_PART, HOLDS_WHOLE };

/* The session's place on disk: 0700, made anew, outside every write root but for its tmp. */
struct session {
	char *top, *dir, *tmpdir;  /* owned; NULL before session_open; dir is top, or for root below it */
	int dirfd, events_fd, lock_fd; /* lock_fd: top, locked as long as hurdle lives */
	struct wire_page *page;    /* NULL where there is no shim; shared until session_freeze */
	bool frozen;
};

/* Everything that turns a plan into a running command. */
struct launch {
	struct policy *policy;
	struct host *host;
	struct session session;
	char *const *environ;      /* as hurdle was started */
	char **argv;               /* the command */
	char *program;             /* the file that argv[0] leads to; owned; NULL before it was looked for */
	pid_t pid;                 /* of the command, once started */
	bool own_group;            /* the command leads a process group: nothing else could end what it leaves */
	struct strv extra_env;     /* NAME=VALUE that mechanisms add after the scrub */
	struct scrub_result env;   /* filled by env; envp is what the command gets */
	const int *pass_fds;       /* inherited descriptors to keep, besides 0, 1 and 2 */
	size_t n_pass_fds;
	pid_t proof;               /* of the proof that is running; 0: none */
	char *canary, *proof_failure; /* owned */
	struct image *image;       /* compiled policy, owned */
	size_t image_size;
};

struct mechanism {
	const char *name;
	const char *what;          /* one line, for status */
	enum level level;          /* that it gives where it holds a rule */
	/* Is it here? Leaves evidence in *ret_evidence (owned). */
	bool (*available)(struct host *h, const struct policy *p, char **ret_evidence);
	/* How much of the rule it holds; what still gets through goes into *caveats (may add even when HOLDS_WHOLE). */
	enum extent (*holds)(const struct host *h, const struct policy *p, const struct rule *r, struct strv *caveats);
	int (*prepare)(struct launch *l, struct err *err);
	int (*enter)(struct launch *l, struct err *err); /* between fork and exec: no allocation after a threadless fork is promised */
	/* What it is given, for `hurdle profile NAME`; owned text; NULL: nothing to show. */
	char *(*profile)(const struct policy *p, struct host *h);
};

extern const struct mechanism *const mechanisms[];
extern const size_t n_mechanisms;

/* session.c */
int session_open(struct session *s, bool for_root, struct err *err);
void session_close(struct session *s); /* removes it */
/* session_stale.c: removes what killed hurdles of this user left in parent, where nothing uses it any more. */
void session_remove_stale(const char *parent);
/* The page as it is now, in memory of its own: the file of a mapping that the confined side shortens kills who touches it. */
void session_freeze(struct session *s);
/* Closes every descriptor from this one up; works also where /proc/self/fd may not be listed. */
void session_close_from(int fd);
/* What the command's rights will be, for a child that measures: capabilities dropped, no_new_privs. */
int session_drop_rights(const struct host *h);

/*
 * preload.c: a shell is started under the shim and tries to write what it may not. It runs while the policy is made; the end
 * of it fills CAP_SHIM and the ancestors' readable marks, and puts the policy in place. 0 also when the proof failed.
 */
int preload_begin_proof(struct launch *l, struct err *err);
int preload_end_proof(struct launch *l, struct err *err);
void preload_abandon_proof(struct launch *l);
/* enum uncovered_reason of a program that the command line names, by its path; words for a reason. */
int preload_coverage(const char *path);
const char *uncovered_reason_words(int reason);
