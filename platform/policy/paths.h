/* Between the files of this folder: what paths.c offers beyond policy.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "platform/base/str.h"

/* The longest path that a rule may have, without the NUL: Linux takes no longer one (PATH_MAX, limits.h). */
enum { RULE_PATH_MAX = 4095 };

/*
 * path_resolve() for a path whose first `known` bytes are known to be a real directory (0: nothing is known), which
 * saves a system call per component. *ret_exists: the object itself is there. *ret_real: how many bytes of *ret were
 * seen to exist as a directory free of links, to be passed as `known` for the next path below it.
 */
int path_resolve_below(const char *absolute, size_t known, char **ret, bool *ret_exists, size_t *ret_real);

/* A copy without trailing "/", "/." and, unless literal, a trailing double star; "/" and "." stay. Owned. */
char *path_strip(const char *text, bool literal);

/* Appends path with every byte escaped that glob_match() would take for special. */
void path_add_glob_escaped(struct str *b, const char *path);

/* Adds the mount points in the text of /proc/self/mounts that compare names without case: Windows drives under WSL
 * (drvfs on WSL 1, 9p on WSL 2), unless mounted with case=dir or case=force. */
void path_icase_mounts(const char *mounts, struct strv *ret);

/* sockets.c: is it, or does it hold, the socket of a container engine? */
bool path_opens_container_engine(const char *path);
