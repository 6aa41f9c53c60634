/*
 * Opening. Most paths cross no symlink: the policy is asked about the text, and the open that the program wanted is made with
 * RESOLVE_NO_SYMLINKS, which proves that the text was the real name. Where that fails, an existing file is opened and the
 * kernel is asked what was opened; what may be made or changed is anchored on its parent first.
 */
#include "preload/shim.h"

#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif
/* What openat2 takes; open ignores the rest, openat2 refuses it. */
#define OPEN_FLAGS (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_DSYNC | O_ASYNC | O_DIRECT | \
		    KERNEL_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_SYNC | O_TMPFILE)

static bool is_tmpfile(int flags)
{
	return (flags & O_TMPFILE) == O_TMPFILE;
}

static bool wants_write(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) || is_tmpfile(flags);
}

static bool wants_read(int flags)
{
	return (flags & O_ACCMODE) == O_RDONLY || (flags & O_ACCMODE) == O_RDWR;
}

/* A file without a name is judged by a name in its directory. */
static struct judgement judge_nameless(const struct text *directory)
{
	TEXT(name);
	if (text_set(&name, directory->s, directory->len) < 0 || text_add(&name, "/#", 2) < 0)
		return (struct judgement){ .denied = true, .rule = IMAGE_NONE };
	return judge(ACCESS_CREATE, &name);
}

/* Every access that these flags ask for. */
static struct judgement judge_open(struct text *name, int flags)
{
	struct judgement j = { .rule = IMAGE_NONE };
	if (is_tmpfile(flags))
		return judge_nameless(name);
	if (wants_write(flags))
		j = judge(flags & O_CREAT ? ACCESS_CREATE : ACCESS_WRITE, name);
	if (!j.denied && wants_read(flags) && shim.image && (shim.image->flags & IMAGE_HAS_DENY_READ))
		j = judge(ACCESS_READ, name);
	return j;
}

static int action_of(int flags, bool exists)
{
	if (!wants_write(flags))
		return WIRE_READ_DATA;
	return (flags & O_CREAT || is_tmpfile(flags)) && !exists ? WIRE_CREATE : WIRE_WRITE_DATA;
}

static bool use_openat2(void)
{
	return shim.image && (shim.image->flags & IMAGE_OPENAT2) && !shim.no_openat2;
}

enum { SLOW = -4096 }; /* no errno: the fast stage cannot say */

/* flags as the caller gave them, plus extra ones that the policy need not see (O_PATH to prove without opening). */
static long open_fast(int dirfd, const char *path, int flags, int extra, unsigned mode)
{
	TEXT(name);
	const char *proven;
	if (!use_openat2() || lexical_name(dirfd, path, &name, &proven) != 1 || judge_open(&name, flags).denied)
		return SLOW;
	uint64_t how = (uint64_t)(extra ? extra : flags & OPEN_FLAGS);
	bool has_mode = !extra && ((flags & O_CREAT) || is_tmpfile(flags));
	long r = sys_openat2(dirfd, proven, how, has_mode ? mode & 07777 : 0, RESOLVE_NO_SYMLINKS);
	if (r >= 0 && (flags & O_CREAT))
		note_repository(&name);
	if (r == -ENOSYS || r == -EPERM)
		shim.no_openat2 |= r == -ENOSYS;
	if (r == -ELOOP || r == -ENOSYS || r == -EPERM || r == -EINVAL || r == -E2BIG || r == -EAGAIN || (r < 0 && proven != path))
		return SLOW;
	return r;
}

/*
 * Behind walls a denied directory is an empty one that may not be entered: what is in it seems to be missing. The policy is the
 * reason, and is told. What never was in a directory that is not there stays missing.
 */
static long tell_hidden(int dirfd, const char *path, long error)
{
	TEXT(name);
	const char *unused;
	if (!(shim.image->flags & IMAGE_HIDES) || (error != -EACCES && error != -ENOENT) || lexical_name(dirfd, path, &name, &unused) != 1)
		return error;
	struct judgement j = judge(ACCESS_READ, &name);
	size_t whole = name.len, parent = whole;
	while (parent > 1 && name.s[parent - 1] != '/')
		parent--;
	if (!j.denied || parent <= 1)
		return error;
	name.s[parent - 1] = '\0';
	name.len = parent - 1;
	bool hidden = judge(ACCESS_READ, &name).denied && raw6(SYS_faccessat, AT_FDCWD, (long)name.s, 0 /* F_OK */, 0, 0, 0) == 0;
	name.s[parent - 1] = '/';
	name.len = whole;
	if (!hidden)
		return error;
	report(WIRE_READ_DATA, j.rule, path, &name);
	return -EACCES;
}

/* What the kernel would have said before it came to permissions; then EACCES, reported unless the kernel would refuse as well. */
static long refuse_open(struct target *t, int flags, struct judgement j, const char *raw)
{
	struct look st = { 0 };
	if (t->object >= 0)
		sys_look(t->object, "", 0, &st);
	bool directory = (st.mode & 0170000) == 0040000;
	bool link = (st.mode & 0170000) == 0120000;
	if (!t->exists && !(flags & O_CREAT))
		return tell_hidden(AT_FDCWD, t->place.name.s, -ENOENT);
	if (t->exists && (flags & O_CREAT) && (flags & O_EXCL))
		return -EEXIST;
	if (link)
		return -ELOOP;
	if (directory && wants_write(flags) && !is_tmpfile(flags))
		return -EISDIR;
	if (t->exists && !directory && (flags & O_DIRECTORY))
		return -ENOTDIR;
	long r = 0;
	if (wants_write(flags) && !t->place.whole)
		r = raw6(SYS_faccessat, t->place.anchor, (long)(t->exists ? t->place.base : "."), 2 /* W_OK */, 0, 0, 0);
	if (r == -EACCES)
		return r;
	report(action_of(flags, t->exists), j.rule, raw, &t->place.name);
	return -EACCES;
}

/* A descriptor of ours that is writable already gains nothing by being opened again (/dev/stdout, /proc/self/fd/N). */
static bool reopens_writable(const struct target *t)
{
	const char *s = t->place.base;
	if (!t->magic || !s)
		return false;
	long fd = text_to_number(s, NULL);
	if (fd < 0)
		return false;
	TEXT(held);
	TEXT(own);
	/* only in this process's own fd directory */
	if (descriptor_name(t->place.anchor, &held) != 1 || !text_starts(held.s, "/proc/"))
		return false;
	const char *end;
	if (text_to_number(held.s + 6, &end) != sys_getpid() || !text_equal(end, "/fd"))
		return false;
	/* a thread with a table of its own may have another file at this number */
	if (descriptor_name((int)fd, &own) != 1 || own.len != t->place.name.len || memcmp(own.s, t->place.name.s, own.len) != 0)
		return false;
	long flags = raw6(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

/* The program is to get the lowest free descriptor: the one that we still hold moves above it. */
static void give_way(int *fd)
{
	long higher = raw6(SYS_fcntl, *fd, F_DUPFD_CLOEXEC, *fd + 1, 0, 0, 0);
	if (higher < 0)
		return;
	sys_close(*fd);
	*fd = (int)higher;
}

static long open_held(struct target *t, int flags)
{
	char path[40];
	if ((flags & O_CREAT) && (flags & O_EXCL))
		return -EEXIST;
	if ((flags & O_CREAT) && t->place.whole)
		return -EISDIR;
	if (t->place.owned)
		sys_close(t->place.anchor);
	t->place.owned = false;
	give_way(&t->object);
	fd_path(path, t->object);
	return sys_openat(AT_FDCWD, path, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW), 0);
}

/* O_NOFOLLOW would stay visible in F_GETFL, so it is for kernels without openat2 only. */
static long open_object(struct target *t, int flags, unsigned mode)
{
	if (!t->exists && !(flags & O_CREAT))
		return -ENOENT;
	bool slash = t->exists && t->place.base[strlen(t->place.base) - 1] == '/'; /* the kernel would follow a link here */
	if (t->magic || slash || (t->exists && t->place.whole && !is_tmpfile(flags)))
		return open_held(t, flags);
	if (t->object >= 0)
		sys_close(t->object);
	t->object = -1;
	if (t->place.owned)
		give_way(&t->place.anchor);
	if (use_openat2()) {
		unsigned made = (flags & O_CREAT) || is_tmpfile(flags) ? mode & 07777 : 0;
		long fd = sys_openat2(t->place.anchor, t->place.base, (uint64_t)(flags & OPEN_FLAGS), made, RESOLVE_NO_SYMLINKS);
		if (fd != -ENOSYS && fd != -EPERM && fd != -EINVAL && fd != -E2BIG && fd != -EAGAIN)
			return fd;
	}
	return sys_openat(t->place.anchor, t->place.base, flags | O_NOFOLLOW, mode);
}

/* Flags that are refused whatever the path is, and before it is looked at; kernels do not agree on them, so this one is asked. */
static bool refused_flags(int flags)
{
	return (flags & O_DIRECTORY) && sys_openat(AT_FDCWD, "", flags, 0) == -EINVAL;
}

static long open_anchored(int dirfd, const char *path, int flags, unsigned mode)
{
	if (refused_flags(flags))
		return -EINVAL;
	for (int round = 0; round < 8; round++) {
		TARGET(t);
		t.creating = flags & O_CREAT;
		/* O_EXCL makes no file where a link is, and does not follow it */
		bool follow = !(flags & O_NOFOLLOW) && !((flags & O_CREAT) && (flags & O_EXCL));
		int r = target_open(&t, dirfd, path, follow);
		if (r < 0)
			return r;
		struct judgement j = judge_open(&t.place.name, flags);
		if (j.denied && !reopens_writable(&t))
			return refuse_open(&t, flags, j, path);
		long fd = open_object(&t, flags, mode);
		if (fd != -ELOOP || !follow)
			return fd;
		/* a symlink has come to stand here since: look again */
	}
	return -ELOOP;
}

/* Opened for reading only: no side effect, so the file itself says its name. */
static long open_then_ask(int dirfd, const char *path, int flags)
{
	long fd = sys_openat(dirfd, path, flags, 0);
	if (fd < 0)
		return tell_hidden(dirfd, path, fd);
	TEXT(name);
	int r = descriptor_name((int)fd, &name);
	if (r == 0)
		return fd;
	/* without /proc, or behind a filter that hides it, nothing says what was opened */
	struct judgement j = r == 1 ? judge(ACCESS_READ, &name) : (struct judgement){ .denied = true, .rule = IMAGE_NONE };
	if (!j.denied)
		return fd;
	sys_close((int)fd);
	report(WIRE_READ_DATA, j.rule, path, &name);
	return -EACCES;
}

static bool reads_freely(void)
{
	return !shim.image || !(shim.image->flags & IMAGE_HAS_DENY_READ);
}

static long open_judged(int dirfd, const char *path, int flags, unsigned mode)
{
	long r = open_fast(dirfd, path, flags, 0, mode);
	if (r != SLOW)
		return r;
	return wants_write(flags) ? open_anchored(dirfd, path, flags, mode) : open_then_ask(dirfd, path, flags);
}

static const char *path_argument(const struct frame *f, const struct row *r)
{
	return (const char *)f->arg[r->path];
}

static int dir_argument(const struct frame *f, const struct row *r)
{
	return r->dir == NO ? AT_FDCWD : (int)f->arg[r->dir];
}

HANDLER(on_open)
{
	const char *path = path_argument(f, r);
	int flags = r->flags == NO ? r->fixed : (int)f->arg[r->flags];
	if (!path || !*path || (flags & O_PATH) || (!wants_write(flags) && reads_freely()))
		return PASS;
	unsigned mode = r->mode == NO ? 0 : (unsigned)f->arg[r->mode];
	return finish(f, r, open_judged(dir_argument(f, r), path, flags, mode));
}

HANDLER(on_openat2)
{
	const char *path = path_argument(f, r);
	const struct open_how_v0 *how = (const void *)f->arg[r->flags];
	if (!path || !*path || !how || !readable(how, sizeof *how) || (how->flags & O_PATH))
		return PASS;
	if (how->resolve & RESOLVE_IN_ROOT) /* "/" means another directory then; callers know kernels without openat2 */
		return fail(f, r, ENOSYS);
	int error = allow_open(dir_argument(f, r), path, (int)how->flags, WIRE_OTHER);
	return error ? fail(f, r, -error) : PASS;
}

/* ---- entries that only ask, then jump ---- */

/* What stops the look at a path stops the real call as well. All else (no descriptor, no memory) is an answer of its own: to let
 * a call by because it could not be looked at would be a way around. */
bool fails_anyway(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ELOOP || error == -ENAMETOOLONG || error == -EACCES;
}

/*
 * The name is looked up here and once more by the real function: a symlink that is swapped in between wins. docs/threat-model.md
 * says so, and the plan carries it as a caveat.
 */
int allow_open(int dirfd, const char *path, int flags, int action)
{
	if (!wants_write(flags) && reads_freely())
		return 0;
	bool nofollow = (flags & O_NOFOLLOW) || ((flags & O_CREAT) && (flags & O_EXCL));
	long fd = open_fast(dirfd, path, flags, O_PATH | O_CLOEXEC, 0);
	if (fd >= 0)
		sys_close((int)fd);
	if (fd != SLOW)
		return 0; /* allowed, or the real call will say what is wrong */
	TARGET(t);
	t.creating = flags & O_CREAT;
	int error = target_open(&t, dirfd, path, !nofollow);
	if (error < 0 && fails_anyway(error))
		return wants_write(flags) || tell_hidden(dirfd, path, error) == error ? 0 : -EACCES;
	if (error < 0)
		return error;
	struct judgement j = judge_open(&t.place.name, flags);
	if (!j.denied || (wants_write(flags) && reopens_writable(&t)))
		return 0;
	if (action == WIRE_READ_DATA || action == WIRE_OTHER || wants_write(flags))
		return (int)refuse_open(&t, flags, j, path);
	if (!t.exists)
		return 0;
	report(action, j.rule, path, &t.place.name);
	return -EACCES;
}

/* Any other is refused by libc itself. */
static bool known_mode(const char *mode)
{
	return mode[0] == 'r' || mode[0] == 'w' || mode[0] == 'a';
}

/* r, w or a first, then + anywhere: the libcs do not agree on what a comma ends. x (O_EXCL, which follows no link) only where both
 * see it: glibc reads seven bytes (libio/fileops.c). */
static int mode_flags(const char *mode)
{
	int flags = mode[0] == 'r' ? O_RDONLY : mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY | O_CREAT | O_APPEND;
	for (const char *s = mode; *s; s++) {
		if (*s == '+')
			flags = (flags & ~O_ACCMODE) | O_RDWR;
		else if (*s == 'x' && s - mode < 7)
			flags |= O_EXCL;
	}
	return flags;
}

HANDLER(on_fopen)
{
	const char *path = path_argument(f, r), *mode = (const char *)f->arg[r->flags];
	if (!path || !*path || !mode || !known_mode(mode))
		return PASS;
	int error = allow_open(AT_FDCWD, path, mode_flags(mode), WIRE_READ_DATA);
	return error ? fail(f, r, -error) : PASS;
}

/* _IO_file_open(stream, path, flags, ...) of glibc's own stdio. */
HANDLER(on_open_stream)
{
	const char *path = path_argument(f, r);
	int error = path && *path ? allow_open(AT_FDCWD, path, (int)f->arg[r->flags], WIRE_READ_DATA) : 0;
	return error ? fail(f, r, -error) : PASS;
}

/* Names a file that later calls read and write. */
HANDLER(on_append)
{
	const char *path = path_argument(f, r);
	int error = path && *path ? allow_open(AT_FDCWD, path, O_RDWR, WIRE_WRITE_DATA) : 0;
	return error ? fail(f, r, -error) : PASS;
}

/* freopen(NULL, mode, file) opens the same file again with other rights. */
static int allow_reopen(void *file, int flags)
{
	static int (*real_fileno)(void *);
	if (!real_fileno)
		real_fileno = find_real("fileno");
	int fd = real_fileno && file ? real_fileno(file) : -1;
	if (fd < 0 || !wants_write(flags))
		return 0;
	long held = raw6(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	if (held >= 0 && (held & O_ACCMODE) != O_RDONLY)
		return 0;
	TEXT(name);
	if (descriptor_name(fd, &name) != 1)
		return 0;
	struct judgement j = judge(ACCESS_WRITE, &name);
	if (!j.denied)
		return 0;
	report(WIRE_WRITE_DATA, j.rule, NULL, &name);
	return -EACCES;
}

HANDLER(on_freopen)
{
	const char *path = path_argument(f, r), *mode = (const char *)f->arg[1];
	if (!mode || !known_mode(mode) || (path && !*path))
		return PASS;
	int flags = mode_flags(mode), error = path ? allow_open(AT_FDCWD, path, flags, WIRE_READ_DATA) : allow_reopen((void *)f->arg[2], flags);
	return error ? fail(f, r, -error) : PASS;
}

HANDLER(on_opendir)
{
	const char *path = path_argument(f, r);
	if (!path || !*path || reads_freely())
		return PASS;
	int error = allow_open(dir_argument(f, r), path, O_RDONLY | O_DIRECTORY, WIRE_READ_DATA);
	return error ? fail(f, r, -error) : PASS;
}

/* A read of something that is not opened for it: xattrs. flags: position of the AT_ flags; fixed: those of the l-forms. */
HANDLER(on_read_path)
{
	const char *path = path_argument(f, r);
	int at = r->flags == NO ? r->fixed : (int)f->arg[r->flags];
	char own[40];
	if (reads_freely())
		return PASS;
	if ((!path || !*path) && (at & AT_EMPTY_PATH) && dir_argument(f, r) >= 0) { /* an O_PATH descriptor was not judged */
		fd_path(own, dir_argument(f, r));
		path = own;
	}
	if (!path || !*path)
		return PASS;
	int error = allow_open(path == own ? AT_FDCWD : dir_argument(f, r), path, O_RDONLY | (at & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0),
			       WIRE_READ_DATA);
	return error ? fail(f, r, -error) : PASS;
}

/* fts_open: a NULL-terminated list of paths. */
HANDLER(on_fts)
{
	char *const *paths = (char *const *)f->arg[r->path];
	if (reads_freely() || !readable_list(paths))
		return PASS;
	for (size_t i = 0; paths && paths[i]; i++) {
		int error = *paths[i] && readable_text(paths[i]) == WHOLE ? allow_open(AT_FDCWD, paths[i], O_RDONLY, WIRE_READ_DATA) : 0;
		if (error)
			return fail(f, r, -error);
	}
	return PASS;
}

int allow_create_in(const char *path, int action)
{
	PLACE(p);
	int error = place_open(&p, AT_FDCWD, path);
	if (error < 0 && !fails_anyway(error))
		return error;
	if (error < 0 || p.whole)
		return 0;
	struct judgement j = judge(ACCESS_CREATE, &p.name);
	if (!j.denied)
		return 0;
	long r = raw6(SYS_faccessat, p.anchor, (long)".", 2, 0, 0, 0);
	if (r == -EACCES)
		return (int)r;
	report(action, j.rule, path, &p.name);
	return -EACCES;
}

/* The X's of a template are still there: its directory is what matters. Without them libc refuses it. */
static bool is_template(const char *s)
{
	for (; *s; s++)
		if (text_starts(s, "XXXXXX"))
			return true;
	return false;
}

HANDLER(on_mkstemp)
{
	const char *path = path_argument(f, r);
	if (!path || !is_template(path))
		return PASS;
	int error = allow_create_in(path, WIRE_CREATE);
	return error ? fail(f, r, -error) : PASS;
}

/* A file without a name in the run's own temporary directory; on file systems that know no such thing its name is taken away. */
static long open_nameless(const char *directory, size_t len)
{
	char path[sizeof shim.directory + 40];
	memcpy(path, directory, len);
	memcpy(path + len, WIRE_TMP, sizeof WIRE_TMP);
	long fd = sys_openat(AT_FDCWD, path, O_TMPFILE | O_RDWR | O_EXCL, 0600);
	for (unsigned i = 0; fd < 0 && fd != -ENOENT && i < 100; i++) {
		size_t n = len + sizeof WIRE_TMP - 1;
		path[n++] = '/';
		n += text_number(path + n, (unsigned long)sys_getpid());
		path[n++] = '.';
		text_number(path + n, i);
		fd = sys_openat(AT_FDCWD, path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600);
		if (fd >= 0)
			raw6(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
	}
	return fd;
}

/* Where /tmp cannot be written, the run's own temporary directory can. It lies beside our files, or, for root, above them. */
HANDLER(on_tmpfile)
{
	const int before = *errno_location();
	f->ret = invoke(f, r);
	const int error = *errno_location();
	if (f->ret || (error != EACCES && error != EROFS && error != ENOENT && error != EPERM))
		return DONE;
	size_t end = strlen(shim.directory);
	long fd = open_nameless(shim.directory, end);
	while (fd < 0 && end > 1 && shim.directory[end - 2] != '/')
		end--;
	if (fd < 0 && end > 1)
		fd = open_nameless(shim.directory, end - 1);
	void *(*real_fdopen)(int, const char *) = fd < 0 ? NULL : (void *(*)(int, const char *))find_real("fdopen");
	if (!real_fdopen)
		return fail(f, r, error);
	f->ret = (long)real_fdopen((int)fd, "w+");
	if (f->ret)
		*errno_location() = before;
	return DONE;
}

/* POSIX shared memory and semaphores are files in /dev/shm. */
static enum answer judge_shm(struct frame *f, const struct row *r, const char *prefix, int flags)
{
	const char *name = path_argument(f, r);
	TEXT(path);
	if (!name || !*name)
		return PASS;
	while (*name == '/')
		name++;
	if (text_set(&path, prefix, strlen(prefix)) < 0 || text_add(&path, name, strlen(name)) < 0)
		return PASS;
	if (r->action == WIRE_UNLINK) {
		struct judgement j = judge(ACCESS_DELETE, &path);
		if (!j.denied)
			return PASS;
		report(WIRE_UNLINK, j.rule, name, &path);
		return fail(f, r, EACCES);
	}
	int error = allow_open(AT_FDCWD, path.s, flags, WIRE_WRITE_DATA);
	return error ? fail(f, r, -error) : PASS;
}

HANDLER(on_shm)
{
	return judge_shm(f, r, "/dev/shm/", r->flags == NO ? 0 : (int)f->arg[r->flags]);
}

/* libc maps a semaphore for writing, and makes it by linking a temporary file. */
HANDLER(on_sem)
{
	return judge_shm(f, r, "/dev/shm/sem.", O_RDWR | (r->flags == NO ? 0 : (int)f->arg[r->flags] & (O_CREAT | O_EXCL)));
}

/* ---- probes that must agree with open ---- */

HANDLER(on_access)
{
	const char *path = path_argument(f, r);
	int mode = (int)f->arg[r->mode];
	bool write = mode & 2, read = mode & 4;
	if (!path || !*path || (!write && (!read || reads_freely())))
		return PASS;
	long answer = invoke(f, r);
	if (answer < 0)
		return finish(f, r, answer);
	TARGET(t);
	bool follow = r->flags == NO || !(f->arg[r->flags] & AT_SYMLINK_NOFOLLOW);
	if (target_open(&t, dir_argument(f, r), path, follow) < 0 || !t.exists)
		return finish(f, r, answer);
	bool denied = (write && judge(ACCESS_WRITE, &t.place.name).denied) || (read && judge(ACCESS_READ, &t.place.name).denied);
	return denied ? fail(f, r, EACCES) : finish(f, r, answer);
}
