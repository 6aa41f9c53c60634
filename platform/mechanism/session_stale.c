/* Directories of runs whose hurdle was killed, and so could not remove them. */
#include "platform/mechanism/mechanism.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"

enum { NAME_LENGTH = sizeof "hurdle-XXXXXX" - 1, INNER_LENGTH = 6 };

static bool holds_shim(int dirfd)
{
	return faccessat(dirfd, wire_shim_name(SHIM_CLASS), F_OK, 0) == 0 && faccessat(dirfd, WIRE_EVENTS, F_OK, 0) == 0;
}

/*
 * A user may have a directory of such a name. Ours holds the shim, root's one level deeper; and the shim is written after the lock was
 * taken, so a directory that is just being made is not mistaken for one that nobody holds.
 */
static bool is_session(int top)
{
	if (holds_shim(top))
		return true;
	_cleanup_closedir_ DIR *dir = fdopendir(openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (struct dirent *e; dir && (e = readdir(dir));) {
		_cleanup_close_ int inner = -1;
		if (strlen(e->d_name) == INNER_LENGTH)
			inner = openat(top, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0 && holds_shim(inner))
			return true;
	}
	return false;
}

/* What outlived its hurdle still has the shim; without these files the programs that it starts would not. */
static bool is_mapped(const char *path)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	_cleanup_free_ char *inside = strf("%s/", path);
	if (!proc)
		return true;
	for (struct dirent *e; (e = readdir(proc));) {
		_cleanup_free_ char *maps = NULL, *name = NULL;
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		name = strf("/proc/%s/maps", e->d_name);
		if (read_file(name, 64 << 20, &maps, NULL) == 0 && strstr(maps, inside))
			return true;
	}
	return false;
}

void session_remove_stale(const char *parent)
{
	_cleanup_closedir_ DIR *dir = opendir(parent);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct stat st;
		if (strncmp(e->d_name, "hurdle-", 7) != 0 || strlen(e->d_name) != NAME_LENGTH)
			continue;
		_cleanup_free_ char *path = strf("%s/%s", parent, e->d_name);
		_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && is_session(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		    !is_mapped(path))
			remove_tree(path);
	}
}
