/*
 * A mechanism says which rules it can hold, and does it. Planning asks holds() and nothing else knows what a mechanism
 * can do; launching runs prepare() of the chosen ones in the supervisor (the last row first: the environment is built when
 * all that goes inside it has said what it needs). What has to happen in the command's own process is data by then: struct
 * confinement, which stage.c carries out.
 */
#pragma once
#include "envscrub/scrub.h"
#include "platform/base/err.h"
#include "platform/base/str.h"
#include "platform/host/host.h"
#include "platform/policy/policy.h"
#include "platform/policy/wire.h"

enum extent { HOLDS_NOT, HOLDS_PART, HOLDS_WHOLE };

/* How the planner chooses when nobody asked for a mechanism by name. */
enum role {
	ROLE_BASE,  /* always in use, whatever was asked for */
	ROLE_WALL,  /* the first that is available, in the order of the table, and those below it */
	ROLE_LAYER, /* where it is available */
};

/* What holds() is asked about: this host, this policy, and what else is in use (bit i: mechanisms[i]). */
struct view {
	const struct host *host;
	const struct policy *policy;
	unsigned chosen;
};

/* What the command's process does to itself on the way to exec, in this order. Filled by prepare(). */
struct confinement {
	uint64_t drop_caps;         /* bit n: capability n, from the bounding set too */
	int landlock_fd;            /* a ruleset, owned; -1: none */
	struct sock_filter *filter; /* owned */
	size_t n_filter;
};

/* The session's place on disk: 0700, made anew, outside every write root but for its tmp. */
struct session {
	char *top, *dir, *tmpdir;  /* owned; NULL before session_open; dir is top, or for root below it */
	int dirfd, events_fd, lock_fd; /* lock_fd: top, locked as long as hurdle lives */
	struct wire_page *page;    /* NULL where there is no shim; shared until session_freeze */
	bool frozen;
};

/* A program that is started in place of the command, and starts it behind its own walls (bwrap). */
struct walls {
	const char *name;          /* of the mechanism; NULL: none, the command is hurdle's own child */
	char *program;             /* absolute; owned */
	struct strv argv;          /* owned; the program inside and the number of its descriptor are put behind it */
	int fds[2];                /* that its arguments name; owned */
	size_t n_fds;
	bool own_network;          /* the command gets a network namespace of its own */
};

/* Where the run finds the filtering proxy. Filled by proxyroute; with walls that have a network of their own the program inside
 * listens, on this port, and its descriptor is put here before the proxy starts. */
enum { ROUTE_TOKEN = 32 };
#define ROUTE_USER "hurdle"
struct route {
	int listen_fd;             /* owned; -1: none */
	uint16_t port, socks_port; /* socks_port: 0: the same */
	char token[ROUTE_TOKEN + 1]; /* the password that clients show; "": none is asked for */
	bool external;             /* the user's own proxy: none is started */
};
#define ROUTE_NONE ((struct route){ .listen_fd = -1 })
void route_release(struct route *r);

/* Everything that turns a plan into a running command. */
struct launch {
	struct policy *policy;
	struct host *host;
	struct session session;
	char *const *environ;      /* as hurdle was started */
	char **argv;               /* the command */
	char *program;             /* the file that argv[0] leads to; owned; NULL before it was looked for */
	pid_t pid;                 /* of hurdle's child, once started: the command, or what stands around it */
	bool own_group;            /* the command leads a process group: nothing else could end what it leaves */
	unsigned chosen;           /* the plan's: bit i: mechanisms[i] is in use */
	struct confinement confine;
	struct walls walls;
	struct route route;
	struct proxy *proxy;       /* the supervisor's; owned; NULL: none was started */
	int report_fd;             /* where the program inside the walls reports; -1: none */
	pid_t command;             /* behind walls: the command, which is not hurdle's child; 0: pid is the command */
	int command_fd;            /* its pidfd; -1: none */
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
	enum role role;
	enum level level;          /* that it gives where it holds a rule */
	/* Is it here? Leaves evidence in *ret_evidence (owned). */
	bool (*available)(struct host *h, const struct policy *p, char **ret_evidence);
	/* How much of the rule it holds; what still gets through goes into *caveats (may add even when HOLDS_WHOLE). */
	enum extent (*holds)(const struct view *v, const struct rule *r, struct strv *caveats);
	int (*prepare)(struct launch *l, struct err *err);
	/* What it is given, for `hurdle profile NAME`; owned text; NULL: nothing to show. */
	char *(*profile)(struct launch *l);
};

extern const struct mechanism *const mechanisms[];
extern const size_t n_mechanisms;
bool mechanism_chosen(unsigned chosen, const struct mechanism *m);
#define MECHANISM(id) extern const struct mechanism mechanism_##id;
#include "platform/mechanism/mechanisms.def"
#undef MECHANISM

/* session.c */
int session_open(struct session *s, bool for_root, struct err *err);
void session_close(struct session *s); /* removes it */
/* Puts the program of stage_main.c into s->dir, where it is not yet. */
int session_write_stage(const struct session *s, const struct host *h);
/* session_stale.c: removes what killed hurdles of this user left in parent, where nothing uses it any more. */
void session_remove_stale(const char *parent);
/* The page as it is now, in memory of its own: the file of a mapping that the confined side shortens kills who touches it. */
void session_freeze(struct session *s);
/* The capabilities that the command does not get: bit n: capability n. */
uint64_t session_dropped_caps(const struct host *h);

/* proxyroute.c: the variables of the proxy, leading nowhere. */
void proxyroute_add_black_hole(struct strv *env);

/*
 * env.c: overwrites in the supervisor's own memory what the command does not get, since root reads that of a process which is not
 * dumpable as well. Once, when it is certain that the environment need not be built again.
 */
void env_wipe(struct launch *l);
/* Makes the private cache directory, where the policy has one and it is missing. */
void env_make_caches(const struct launch *l);

/*
 * preload.c: a shell is started under the shim and tries to write what it may not. It runs while the policy is made; the end
 * of it fills CAP_SHIM and the ancestors' readable marks.
 */
int preload_begin_proof(struct launch *l, struct err *err);
void preload_end_proof(struct launch *l);
/* l->image in the place of what the proof ran under, or of another that was there. */
int preload_write_policy(struct launch *l, struct err *err);
void preload_abandon_proof(struct launch *l);
/* enum uncovered_reason of a program that the command line names, by its path; words for a reason. */
int preload_coverage(const char *path);
const char *uncovered_reason_words(int reason);
