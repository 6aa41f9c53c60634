/*
 * What this machine can enforce. Each capability was tried, and keeps its evidence: what was done and what the kernel said.
 * Nothing is concluded from a name or a version; those are only for messages.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum capability {
#define CAPABILITY(id, ...) CAP_##id,
#include "platform/host/capabilities.def"
#undef CAPABILITY
	CAP_COUNT,
};

struct capability_state {
	bool tried, available;
	int error;      /* errno of the step that failed; 0: none */
	char *evidence; /* owned; "openat2(\"/\", RESOLVE_NO_SYMLINKS): ok" */
};

/* A process above the command, and whether the command can read its environment (measured with the command's rights). */
struct ancestor { pid_t pid; char name[20]; bool readable; };

struct host {
	struct capability_state caps[CAP_COUNT];
	bool root;                  /* effective uid 0 */
	const char *platform;       /* "Linux", "WSL1", "WSL2", "gVisor", "Android": static; for messages and windows.interop */
	struct ancestor ancestors[32];
	size_t n_ancestors;
	bool ancestors_measured;
	int landlock_abi;           /* after host_has(CAP_LANDLOCK): the number that the kernel says, 0: none; tests may lower it */
	char *bwrap;                /* after host_has(CAP_BWRAP): the file that would be run; owned; NULL: none */
	bool bwrap_setuid;
	/* after host_describe: */
	bool described;
	const char *container;      /* "docker", ...; static; NULL: none that left a mark */
	const char *shell_libc;     /* of /bin/sh: "glibc", "musl", "static", "other"; static */
	int yama;                   /* kernel.yama.ptrace_scope; -1: not there */
	char *bwrap_version;        /* as it says it; owned; NULL: it says none */
	char *shim_failure;         /* why CAP_SHIM is not available, in words; owned */
};

const char *capability_name(enum capability);
const char *capability_text(enum capability);
/* Of most distributions; NULL: nothing that could be installed. */
const char *capability_package(enum capability);

/*
 * Tries it now, once; later calls answer from memory. What could confine, kill or block this process is tried in a forked child with
 * a time limit. CAP_SHIM is set by the preload mechanism's proof.
 *
 * CAP_BWRAP only finds the program: h->bwrap, the real file, which neither the current directory holds nor anybody else can write.
 * Who runs it must ask the policy first whether the command may write it.
 */
bool host_has(struct host *h, enum capability c);
/* Several, those that need a child together in one: it costs 0.2 ms. HOST_CAP(CAP_A) | HOST_CAP(CAP_B), or HOST_ALL. */
#define HOST_CAP(c) (1ul << (c))
#define HOST_ALL    (~0ul)
void host_try(struct host *h, unsigned long set);
/* Fills the names of struct host that are only for messages; runs bwrap --version. */
void host_describe(struct host *h);
void host_set(struct host *h, enum capability c, bool available, const char *format, ...) __attribute__((format(printf, 4, 5)));
void host_init(struct host *h);
void host_release(struct host *h);

/* The chain of parents of this process, this one first; names from /proc. */
void host_list_ancestors(struct host *h);
