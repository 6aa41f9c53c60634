/* Small helpers that touch the system. All return 0 or a count on success, a negative errno on failure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The whole file, NUL-terminated, owned by the caller; limit in bytes, -EFBIG beyond it. */
int read_file(const char *path, size_t limit, char **ret_text, size_t *ret_len);
/* The same for what must be a regular file: else -EINVAL, at once also for a FIFO. */
int read_regular_file(const char *path, size_t limit, char **ret_text, size_t *ret_len);
int write_all(int fd, const void *data, size_t len);
/* Creates dirfd/name anew (O_EXCL, O_NOFOLLOW) with exactly this mode and content. */
int write_new_file_at(int dirfd, const char *name, mode_t mode, const void *data, size_t len);
/* HOME, else the password database; owned; NULL when neither knows. */
char *home_directory(void);
/* The home directory that /etc/passwd has for the real user; owned; NULL when it has none. */
char *account_home(void);
/* Removes a directory tree without following symlinks and without leaving the file system it began on. */
int remove_tree(const char *path);
/* mkdir -p with this mode for what is missing. */
int make_directories(const char *path, mode_t mode);
