/*
 * What Landlock is asked for: which rights it handles, and who gets which of them. It reads directories, and changes nothing.
 *
 * Landlock only grants, to all that lies below a path; nothing is taken out again. So a denied file is one that is not granted: on the
 * way from / to it every directory is read, and all its entries are granted but the one that leads on.
 */
#pragma once
#include "platform/base/landlock_abi.h"
#include "platform/host/host.h"
#include "platform/policy/policy.h"

enum grant_kind {
	GRANT_WRITE,    /* a write root: all that is handled */
	GRANT_OPTIONAL, /* the same, where it is there: devices */
	GRANT_CACHE,    /* the same, made where it is not there */
	GRANT_READ,     /* beside something denied, or allowed inside of it */
};
struct landlock_grant { char *path; enum grant_kind kind; }; /* path: owned */

struct landlock_rules {
	uint64_t handled, scoped;       /* LL_...; both 0: there is nothing to ask for */
	struct landlock_grant *grants;
	size_t n, cap;
	struct strv crowded;            /* directories with too many entries: what is denied below them is not held */
};

/* What makes the difference, besides the policy. walls: another mechanism has the files (bwrap); then only processes and sockets. */
struct landlock_terms { int abi; bool root, walls; };

/* Entries of one directory that are granted one by one: some 3 us each. */
enum { LANDLOCK_CROWD = 4096 };

int landlock_rules_make(const struct policy *p, const struct landlock_terms *t, struct landlock_rules *ret);
void landlock_rules_release(struct landlock_rules *r);

/* Of a kernel with this ABI: what is handled for writing; what a write root gets. */
uint64_t landlock_write_handled(int abi);
uint64_t landlock_granted(const struct landlock_rules *r, enum grant_kind kind, bool dir);

/* Why a deny-read rule of this literal path is not held; NULL: it is. */
enum landlock_read { LANDLOCK_READ_HELD, LANDLOCK_READ_ABSENT /* nor can the command make it */, LANDLOCK_READ_NOT };
enum landlock_read landlock_read_state(const struct landlock_rules *r, const struct policy *p, const char *path);
/* Some write root holds the path. */
bool landlock_under_root(const struct policy *p, const char *path);
/* "write-file make-reg": for people; owned. */
char *landlock_right_names(uint64_t rights);
