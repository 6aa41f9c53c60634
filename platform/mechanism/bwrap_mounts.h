/* What of the file tree bwrap has to change so that it says what the policy says. Looks at the disk, changes nothing. */
#pragma once
#include "platform/mechanism/mechanism.h"

struct bwrap_mount {
	char *path;      /* real; owned */
	bool read, write;
	bool dir;        /* else a file of any kind */
	bool device;     /* below /dev: a node that keeps working */
	bool forced;     /* writable whatever the policy says of the directory itself: a pattern of allowWrite reaches into it */
	bool holds_more; /* hidden, but something below it is not */
};

/*
 * In the order in which they have to be made: what contains goes before what is contained. Only where the policy differs from
 * what surrounds it; the ground is "/", readable and not writable. *ret is owned: bwrap_mounts_free.
 */
void bwrap_mounts(const struct launch *l, struct bwrap_mount **ret, size_t *ret_n);
void bwrap_mounts_free(struct bwrap_mount *m, size_t n);

/* The object is there, and neither the kernel's permissions nor a fresh /proc or /dev make a mount needless. */
bool bwrap_can_hide(const struct host *h, const char *path);
/* What does not exist cannot come to exist by the command's own doing: the directory where it would be made lies under no write root. */
bool bwrap_cannot_appear(const struct policy *p, const char *path);
