/*
 * What this machine can enforce. Each capability was tried, and keeps its evidence: what was done and what the kernel said.
 * Nothing is concluded from a name or a version; those are only for messages.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum capability {
#define CAPABILITY(id, name, text) CAP_##id,
#include "platform/host/capabilities.def"
#undef CAPABILITY
	CAP_COUNT,
};

struct capability_state {
	bool tried, available;
	char *evidence; /* owned; "openat2(\"/\", RESOLVE_NO_SYMLINKS): ok" */
};

/* A process above the command, and whether the command can read its environment (measured with the command's rights). */
struct ancestor { pid_t pid; char name[20]; bool readable; };

struct host {
	struct capability_state caps[CAP_COUNT];
	bool root;                  /* effective uid 0 */
	const char *platform;       /* "Linux", "WSL1", "WSL2": static; for messages and windows.interop */
	struct ancestor ancestors[32];
	size_t n_ancestors;
	bool ancestors_measured;
	char *shim_failure;         /* why CAP_SHIM is not available, in words; owned */
};

const char *capability_name(enum capability);
const char *capability_text(enum capability);

/* Tries it now, once; later calls answer from memory. CAP_SHIM is set by the preload mechanism's proof. */
bool host_has(struct host *h, enum capability c);
void host_set(struct host *h, enum capability c, bool available, const char *format, ...) __attribute__((format(printf, 4, 5)));
void host_init(struct host *h);
void host_release(struct host *h);

/* The chain of parents of this process, this one first; names from /proc. */
void host_list_ancestors(struct host *h);
