#include "platform/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"

/* ---- whole files ---- */

/* Fills at most room bytes; a short count means end of file. */
static ssize_t read_full(int fd, char *to, size_t room)
{
	size_t done = 0;

	while (done < room) {
		ssize_t n = read(fd, to + done, room - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int read_open_file(int fd, size_t limit, char **ret_text, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0, cap = 4096;

	/* The size that stat tells is no bound: /proc says 0, and a file may grow meanwhile. */
	for (;;) {
		ssize_t n;

		text = xreallocarray(text, cap + 1, 1);
		n = read_full(fd, text + len, cap - len);
		if (n < 0)
			return (int)n;
		len += (size_t)n;
		if (len > limit)
			return -EFBIG;
		if (len < cap)
			break;
		cap *= 2;
	}
	text[len] = '\0';
	*ret_text = TAKE_PTR(text);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int read_file(const char *path, size_t limit, char **ret_text, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : read_open_file(fd, limit, ret_text, ret_len);
}

int read_regular_file(const char *path, size_t limit, char **ret_text, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? read_open_file(fd, limit, ret_text, ret_len) : -EINVAL;
}

int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int write_new_file_at(int dirfd, const char *name, mode_t mode, const void *data, size_t len)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0700);
	int r;

	if (fd < 0)
		return -errno;
	/* fchmod, because the umask took its share of the mode given to open. */
	r = fchmod(fd, mode) ? -errno : write_all(fd, data, len);
	if (r == 0 && close(TAKE_FD(fd)) != 0) /* NFS and quotas report a full disk only here */
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, name, 0);
	return r;
}

char *home_directory(void)
{
	const char *home = getenv("HOME");

	return home && *home ? xstrdup(home) : account_home();
}

/* Read as a file: getpwuid loads the name service's modules, which costs a start-up and does not work in a static program. */
char *account_home(void)
{
	_cleanup_free_ char *text = NULL;
	char *save = NULL;

	if (read_file("/etc/passwd", 1 << 20, &text, NULL) < 0)
		return NULL;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *field[7] = { 0 };
		size_t n = 0;

		for (char *s = line; n < 7 && s; n++) {
			field[n] = strsep(&s, ":");
		}
		if (n >= 6 && *field[2] && strtoul(field[2], NULL, 10) == getuid())
			return *field[5] ? xstrdup(field[5]) : NULL;
	}
	return NULL;
}

/* ---- making directories ---- */

static int make_directory(const char *path, mode_t mode)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st) != 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int make_directories(const char *path, mode_t mode)
{
	_cleanup_free_ char *copy = xstrdup(path);

	if (!*copy)
		return -ENOENT;
	for (char *p = copy + 1; (p = strchr(p, '/')); p++) {
		int r;

		*p = '\0';
		r = make_directory(copy, mode);
		*p = '/';
		if (r < 0)
			return r;
	}
	return make_directory(copy, mode);
}

/* ---- removing a tree ---- */

/*
 * Whoever filled the tree may have made it hostile: deeper than there are descriptors, unreadable directories, symlinks,
 * and all of that changing under way. So nothing is followed, every step is relative to an open directory, and what lies
 * deeper than DEPTH_MAX is moved up to the root of the tree, to be removed from there in the next round.
 */
enum { DEPTH_MAX = 64 };

struct removal {
	int root; /* the directory that deep ones are moved to */
	dev_t dev;
	unsigned moved; /* names given out in root */
};

static int empty_directory(struct removal *r, int fd, unsigned depth);

/* A directory that its owner may not read, write and search cannot be emptied. The chmod goes through the descriptor of
 * the very object (fchmod refuses O_PATH ones), because the name could have become a symlink. */
static int make_accessible(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char link[32];

	if (fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return chmod(link, 0700) ? -errno : 0;
}

static int open_directory(int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	int fd = openat(dirfd, name, flags);

	if (fd < 0 && errno == EACCES && make_accessible(dirfd, name) == 0)
		fd = openat(dirfd, name, flags);
	return fd < 0 ? -errno : fd;
}

static int move_to_root(struct removal *r, int dirfd, const char *name)
{
	char to[40];

	/* A directory that moves gets a new "..", and that is a write to it. */
	(void)make_accessible(dirfd, name);
	do {
		snprintf(to, sizeof(to), ".removing-%u", r->moved++);
		/* renameat onto an existing empty directory replaces it, which is as good. */
		if (renameat(dirfd, name, r->root, to) == 0)
			return 0;
	} while (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR);
	return -errno;
}

static int remove_directory_at(struct removal *r, int dirfd, const char *name, unsigned depth)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int e;

	if (depth > DEPTH_MAX)
		return move_to_root(r, dirfd, name);
	fd = open_directory(dirfd, name);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0)
		return -errno;
	if (st.st_dev != r->dev)
		return -EXDEV;
	if ((st.st_mode & 0700) != 0700)
		(void)fchmod(fd, 0700);
	e = empty_directory(r, fd, depth);
	if (e < 0)
		return e;
	return unlinkat(dirfd, name, AT_REMOVEDIR) ? -errno : 0;
}

static int remove_entry(struct removal *r, int dirfd, const char *name, unsigned depth)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	/* Linux says EISDIR for a directory, POSIX and some file systems EPERM. */
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	return remove_directory_at(r, dirfd, name, depth + 1);
}

/* Goes on after a failure, so that as much as possible is gone; returns the first error. */
static int empty_directory(struct removal *r, int fd, unsigned depth)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *e;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;

	if (copy < 0)
		return -errno;
	dir = fdopendir(copy);
	if (!dir) {
		close(copy);
		return -ENOMEM;
	}
	while ((e = readdir(dir))) {
		int one;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		one = remove_entry(r, fd, e->d_name, depth);
		if (result == 0)
			result = one;
	}
	return result;
}

/* Empties the root of a tree in rounds, for as long as a round moved something up into it. */
static int empty_root(struct removal *r)
{
	unsigned before;
	int e;

	do {
		before = r->moved;
		e = empty_directory(r, r->root, 0);
	} while (e == 0 && r->moved != before);
	return e;
}

int remove_tree(const char *path)
{
	_cleanup_close_ int root = open_directory(AT_FDCWD, path);
	struct removal r = { .root = root };
	struct stat st;
	int e;

	if (root == -ENOTDIR || root == -ELOOP) /* a file or a symlink: the thing itself */
		return unlink(path) ? -errno : 0;
	if (root < 0)
		return root;
	if (fstat(root, &st) != 0)
		return -errno;
	r.dev = st.st_dev;
	if ((st.st_mode & 0700) != 0700)
		(void)fchmod(root, 0700);
	e = empty_root(&r);
	if (e < 0)
		return e;
	return rmdir(path) ? -errno : 0;
}
