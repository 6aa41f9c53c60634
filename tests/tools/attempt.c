/*
 * Tries what tests/tools/attempt.def lists, each row in a process of its own, and says of each how it ended: "done", the
 * name of an errno, "absent" where this libc or kernel has no such thing.
 *
 *   attempt prepare DIR      a directory with files in it for each WRITE row
 *   attempt place DIR        one such directory, for the ERRNO rows
 *   attempt show DIR         one line for each of these, which changes with whatever was changed in it
 *   attempt write DIR        the WRITE rows; their scratch directories are made in ./w
 *   attempt read FILE        the READ rows
 *   attempt list DIR         the LIST rows
 *   attempt errno DIR        the ERRNO rows; "attempt first DIR": only those with a 1
 *   ... NAME...              only these rows
 *   attempt put FILE, say, get [FILE]   what rows start as other programs: writes there, or to or from a standard descriptor
 *
 * It must build with musl, and with _FORTIFY_SOURCE: flags are no constants, so that glibc calls __open_2 and its kind.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

enum { ABSENT = 250, SIGNALLED = 251, DEEP_LEVELS = 30, DEEP_NAME = 200 };

static volatile int wronly = O_WRONLY;
static const char *attacked, *secret, *empty = "";

static char self[4096], scratch[4096], space[256];
static char *nothing[] = { NULL };
static posix_spawn_file_actions_t actions;

static char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text(const char *format, ...)
{
	va_list ap;
	char *s;

	va_start(ap, format);
	if (vasprintf(&s, format, ap) < 0)
		abort();
	va_end(ap);
	return s;
}

/* ---- names ---- */

static char *at(const char *name) { return text("%s%s%s", attacked, *name ? "/" : "", name); }
static char *here(const char *name) { return text("%s/%s", scratch, name); }
static char *below(const char *dir, const char *name) { return text("%s%s", dir, name); }
static char *slashed(const char *name) { return text("/%s", name); }
static char *proc(const char *name) { return text("/proc/%d/%s", (int)getpid(), name); }
static char *fdpath(int fd) { return text("/proc/self/fd/%d", fd); }
static const char *base(const char *path) { return strrchr(path, '/') + 1; }
static char *parent(const char *path) { return text("%.*s", (int)(strrchr(path, '/') - path), path); }

static char *repeated(char c, size_t n)
{
	char *s = malloc(n + 1);

	memset(s, c, n);
	s[n] = 0;
	return s;
}

/* The target's path from the scratch directory; "" for the canary. */
static char *up(const char *target)
{
	char *path = text("%s", *target ? target : at("canary")), *s;

	for (s = scratch; *s; s++)
		if (*s == '/')
			path = text(path[0] == '/' ? "..%s" : "../%s", path);
	return path;
}

/* dir + as many "/." as make it that long + tail */
static char *padded(const char *dir, const char *tail, size_t size)
{
	char *s = text("%s", dir);

	while (strlen(s) + strlen(tail) + 2 <= size)
		s = text("%s/.", s);
	return text("%s%s%s", s, strlen(s) + strlen(tail) < size ? "/" : "", tail);
}

static const char *linked(const char *name, const char *to) { return symlink(to, name) < 0 ? "" : name; }

static const char *made(const char *name)
{
	close(open(name, O_WRONLY | O_CREAT, 0600));
	return name;
}

static char *deep(size_t size)
{
	char *s = at("");

	while (strlen(s) < size)
		s = text("%s/%s", s, repeated('d', DEEP_NAME));
	return text("%s/new", s);
}

/* ---- doing ---- */

static int put(int fd)
{
	return fd < 0 || write(fd, "hit\n", 4) != 4 ? -1 : close(fd);
}

static int stream(FILE *f)
{
	return !f || fputs("hit\n", f) < 0 ? -1 : fclose(f);
}

static int get(int fd)
{
	char c;

	return fd < 0 || read(fd, &c, 1) != 1 ? -1 : 0;
}

static int get_stream(FILE *f)
{
	return f && getc(f) != EOF ? 0 : -1;
}

static void *named(const char *name)
{
	void *f = dlsym(RTLD_DEFAULT, name);

	if (!f)
		_exit(ABSENT);
	return f;
}

static int named_int(const char *name, long a, long b, long c) { return ((int (*)(long, long, long))named(name))(a, b, c); }
static void *named_pointer(const char *name, const char *a, const char *b) { return ((void *(*)(const char *, const char *))named(name))(a, b); }

static int named_mknod(const char *name)
{
	dev_t device = 0;

	return ((int (*)(int, const char *, mode_t, dev_t *))named(name))(sizeof(long) == 8 ? 0 : 1, at("new"), S_IFREG | 0600, &device);
}

static int named_rename(const char *from, const char *to)
{
	return ((int (*)(int, const char *, int, const char *, unsigned))named("renameat2"))(AT_FDCWD, from, AT_FDCWD, to, 2);
}

static int named_tmpfile(int fd)
{
	return fd < 0 || write(fd, "hit\n", 4) != 4 ? -1 : linkat(AT_FDCWD, fdpath(fd), AT_FDCWD, at("new"), AT_SYMLINK_FOLLOW);
}

enum way { BY_LIBC, BY_NUMBER, BY_SOCKETCALL };

static int bind_with(const char *path, enum way way)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), dir;

	/* 108 bytes are soon used up */
	dir = open(parent(path), O_RDONLY);
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", dir, base(path));
	if (way == BY_SOCKETCALL) /* 102: only 32-bit x86 has it */
		return (int)syscall(102, 2 /* SYS_BIND */, (long[]){ fd, (long)&a, sizeof(a) });
	return way == BY_NUMBER ? (int)syscall(SYS_bind, fd, &a, sizeof(a)) : bind(fd, (struct sockaddr *)&a, sizeof(a));
}

static int bound(const char *path) { return bind_with(path, BY_LIBC); }
static int bound_by_number(const char *path) { return bind_with(path, BY_NUMBER); }
#ifdef __i386__
static int bound_by_socketcall(const char *path) { return bind_with(path, BY_SOCKETCALL); }
#endif

/* Looked at while it leads to a file of ours, then led there. */
static int swapped_link(void)
{
	int r = put(open(linked("l", made("f")), wronly));

	if (r < 0 || unlink("l") < 0)
		return -1;
	return put(open(linked("l", at("canary")), wronly));
}

static int enter_deep(bool make)
{
	char *name = repeated('d', DEEP_NAME);
	int r = chdir(attacked);

	for (int i = 0; i < DEEP_LEVELS && r == 0; i++)
		r = make && mkdir(name, 0755) < 0 ? -1 : chdir(name);
	return r;
}

static int deep_cwd(const char *name)
{
	if (enter_deep(false) < 0)
		return -1;
	return name ? open(name, wronly | O_CREAT, 0600) : mkdir("new", 0700);
}

static int deleted_cwd(void)
{
	if (mkdir("d", 0700) < 0 || chdir("d") < 0 || rmdir("../d") < 0)
		return -1;
	return put(open(below("../", up("")), wronly));
}

/* ---- other programs: their exit status is an errno ---- */

/* Copies: what is executed takes no constants. */
static char **words(const char *const *list)
{
	size_t n = 0;
	char **copy;

	while (list[n++])
		;
	copy = calloc(n, sizeof(*copy));
	for (n = 0; list[n]; n++)
		copy[n] = text("%s", list[n]);
	return copy;
}
#define WORDS(...) words((const char *const[]){ __VA_ARGS__, NULL })

static char **writer(const char *path) { return WORDS(self, "put", path); }
static char **speaker(void) { return WORDS(self, "say"); }

static int started(int r) { return r; } /* it came back, so it failed */

static int ended(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	errno = WIFSIGNALED(status) ? SIGNALLED : WEXITSTATUS(status);
	return errno ? -1 : 0;
}

static int run(char *const argv[])
{
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(errno);
	}
	return ended(pid);
}

static int vforked(const char *path)
{
	char **argv = writer(path);
	pid_t pid = vfork();

	if (pid == 0) {
		execve(self, argv, nothing);
		_exit(errno);
	}
	return ended(pid);
}

static int errno_of(int e)
{
	errno = e;
	return e ? -1 : 0;
}

static int spawned(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]),
		   posix_spawn_file_actions_t *what, char *const argv[])
{
	pid_t pid;
	int e = spawn(&pid, self, what, NULL, argv, nothing);

	return e ? errno_of(e) : ended(pid);
}

static void must(int e)
{
	if (e)
		_exit(e);
}

static void add_open(int fd, const char *path, int flags) { must(posix_spawn_file_actions_addopen(&actions, fd, path, flags, 0)); }

static posix_spawn_file_actions_t *action_open(const char *path)
{
	must(posix_spawn_file_actions_init(&actions));
	add_open(1, path, O_WRONLY | O_TRUNC);
	return &actions;
}

static posix_spawn_file_actions_t *action_read(const char *path)
{
	must(posix_spawn_file_actions_init(&actions));
	add_open(0, path, O_RDONLY);
	return &actions;
}

static posix_spawn_file_actions_t *action_chdir(const char *dir)
{
	must(posix_spawn_file_actions_init(&actions));
	must(((int (*)(posix_spawn_file_actions_t *, const char *))named("posix_spawn_file_actions_addchdir_np"))(&actions, dir));
	add_open(1, "canary", O_WRONLY);
	return &actions;
}

static posix_spawn_file_actions_t *action_fchdir(const char *dir)
{
	must(posix_spawn_file_actions_init(&actions));
	must(((int (*)(posix_spawn_file_actions_t *, int))named("posix_spawn_file_actions_addfchdir_np"))(&actions, open(dir, O_RDONLY)));
	add_open(1, "canary", O_WRONLY);
	return &actions;
}

/* A name that leads elsewhere when the program is started than when it was noted down. */
static posix_spawn_file_actions_t *action_relinked(const char *path)
{
	action_open(linked("l", made("f")));
	if (unlink("l") < 0 || symlink(path, "l") < 0)
		_exit(errno);
	return &actions;
}

static char *command(const char *path) { return text("'%s' put '%s'", self, path); }

static int shell(const char *path)
{
	int status = system(command(path));

	return status < 0 ? -1 : errno_of(WEXITSTATUS(status));
}

static int piped(const char *path)
{
	FILE *f = popen(command(path), "r");
	int status = f ? pclose(f) : -1;

	return status < 0 ? -1 : errno_of(WEXITSTATUS(status));
}

static int syscall_execve(const char *path) { return (int)syscall(SYS_execve, self, writer(path), nothing); }
static int syscall_execveat(const char *path) { return (int)syscall(SYS_execveat, AT_FDCWD, self, writer(path), nothing, 0); }

static int find_interpreter(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*(const char **)ret = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return 1; /* the first object is the program */
}

static int loader(const char *path, bool without_environment)
{
	char *interpreter = NULL;

	dl_iterate_phdr(find_interpreter, &interpreter);
	if (!interpreter)
		_exit(ABSENT);
	return execve(interpreter, WORDS(interpreter, self, "put", path), without_environment ? nothing : environ);
}

/* ---- the rows ---- */

enum kind { KIND_WRITE, KIND_READ, KIND_LIST, KIND_ERRNO, KIND_FIRST };

#define WRITE(id, expression) static long write_##id(void) { return (long)(expression); }
#define READ(id, expression) static long read_##id(void) { return (long)(expression); }
#define LIST(id, expression) static long list_##id(void) { return (long)(expression); }
#define ERRNO(id, first, expression) static long errno_##id(void) { return (long)(expression); }
#include "tests/tools/attempt.def"

static const struct row { enum kind kind; bool first; const char *name; long (*run)(void); } rows[] = {
#define WRITE(id, expression) { KIND_WRITE, false, #id, write_##id },
#define READ(id, expression) { KIND_READ, false, #id, read_##id },
#define LIST(id, expression) { KIND_LIST, false, #id, list_##id },
#define ERRNO(id, first, expression) { KIND_ERRNO, first, #id, errno_##id },
#include "tests/tools/attempt.def"
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static const char *name_of(int e)
{
	static const struct { int e; const char *name; } names[] = {
#define NAME(e) { e, #e }
		{ 0, "done" }, { ABSENT, "absent" }, { SIGNALLED, "signalled" }, NAME(EACCES), NAME(EPERM), NAME(ENOENT), NAME(EEXIST),
		NAME(ENOTDIR), NAME(EISDIR), NAME(EINVAL), NAME(ENOSYS), NAME(EBADF), NAME(ELOOP), NAME(ENAMETOOLONG), NAME(EFAULT),
		NAME(ENOTEMPTY), NAME(EROFS), NAME(ENOTSUP), NAME(EXDEV), NAME(EBUSY), NAME(ENOEXEC), NAME(ENOTTY), NAME(ERANGE), NAME(ENODATA), NAME(EIO),
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].e == e)
			return names[i].name;
	return text("errno %d", e);
}

static void try_row(const struct row *r)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		snprintf(scratch + strlen(scratch), sizeof(scratch) - strlen(scratch), "/%s", r->name);
		if (mkdir(scratch, 0755) < 0 || chdir(scratch) < 0)
			_exit(errno);
		errno = 0;
		_exit(r->run() >= 0 ? 0 : errno ? errno : EIO);
	}
	ended(pid);
	printf("%s %s\n", r->name, name_of(errno));
}

static bool chosen(const struct row *r, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, r->name))
			return true;
	return false;
}

static int try_rows(enum kind kind, const char *target, char **names)
{
	static char kinds[][8] = { "w", "r", "l", "e", "e" };

	if (!realpath("/proc/self/exe", self) || !getcwd(scratch, sizeof(scratch) - 300))
		return 2;
	snprintf(scratch + strlen(scratch), 100, "/%s", kinds[kind]);
	if (mkdir(scratch, 0755) < 0 && errno != EEXIST)
		return perror(scratch), 2;
	for (int i = 0; i < ROWS; i++) {
		if (rows[i].kind != (kind == KIND_FIRST ? KIND_ERRNO : kind) || (kind == KIND_FIRST && !rows[i].first) || !chosen(&rows[i], names))
			continue;
		attacked = kind == KIND_WRITE ? text("%s/%s", target, rows[i].name) : target;
		secret = target;
		try_row(&rows[i]);
	}
	return 0;
}

/* ---- the place ---- */

static int prepare_one(const char *dir)
{
	attacked = dir;
	if ((mkdir(dir, 0755) < 0 && errno != EEXIST) || put(open(at("canary"), O_WRONLY | O_CREAT, 0644)) < 0 || mkdir(at("sub"), 0755) < 0 ||
	    mkdir(at("full"), 0755) < 0 || mkdir(at("full/f"), 0755) < 0 || symlink("canary", at("link")) < 0 ||
	    symlink("nofile", at("dangling")) < 0 || symlink("loop", at("loop")) < 0)
		return perror(dir), 2;
	setxattr(at("canary"), "user.canary", "1", 1, 0);
	if (!strncmp(base(dir), "deep", 4)) {
		int from = open(".", O_RDONLY | O_DIRECTORY);

		if (enter_deep(true) < 0 || fchdir(from) < 0)
			return perror(dir), 2;
		close(from);
	}
	return 0;
}

static int prepare(const char *dir)
{
	int r = prepare_one(dir);

	for (int i = 0; i < ROWS && r == 0; i++)
		if (rows[i].kind == KIND_WRITE)
			r = prepare_one(text("%s/%s", dir, rows[i].name));
	return r;
}

static uint64_t sum;

static void add(const void *p, size_t n)
{
	for (const unsigned char *s = p; n--; s++)
		sum = (sum ^ *s) * 0x100000001b3;
}

static void add_entry(int at_dir, const char *name)
{
	struct stat st;
	char buffer[4096];
	struct dirent *e;
	ssize_t n;
	int fd;

	if (fstatat(at_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	add(name, strlen(name));
	add(&st.st_mode, sizeof(st.st_mode));
	add(&st.st_nlink, sizeof(st.st_nlink));
	add(&st.st_size, sizeof(st.st_size));
	add(&st.st_mtim, sizeof(st.st_mtim));
	add(&st.st_ctim, sizeof(st.st_ctim)); /* whatever is done to it changes this */
	if (S_ISREG(st.st_mode) && (fd = openat(at_dir, name, O_RDONLY)) >= 0) {
		while ((n = read(fd, buffer, sizeof(buffer))) > 0)
			add(buffer, (size_t)n);
		close(fd);
	}
	if (S_ISDIR(st.st_mode)) {
		DIR *dir = fdopendir(openat(at_dir, name, O_RDONLY | O_DIRECTORY));

		while (dir && (e = readdir(dir)))
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
				add_entry(dirfd(dir), e->d_name);
		if (dir)
			closedir(dir);
	}
}

static int show(const char *dir)
{
	for (int i = 0; i < ROWS; i++) {
		if (rows[i].kind != KIND_WRITE)
			continue;
		sum = 0xcbf29ce484222325;
		add_entry(AT_FDCWD, text("%s/%s", dir, rows[i].name));
		printf("%s %016llx\n", rows[i].name, (unsigned long long)sum);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "write", "read", "list", "errno", "first" };
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "say"))
		return put(1) < 0 ? errno : 0;
	if (!strcmp(what, "get"))
		return get(argc > 2 ? open(argv[2], O_RDONLY) : 0) < 0 ? errno : 0;
	if (argc < 3)
		return fprintf(stderr, "attempt: see the head of attempt.c\n"), 2;
	if (!strcmp(what, "put"))
		return put(open(argv[2], wronly)) < 0 ? errno : 0;
	if (!strcmp(what, "place"))
		return prepare_one(argv[2]);
	if (!strcmp(what, "prepare"))
		return prepare(argv[2]);
	if (!strcmp(what, "show"))
		return show(argv[2]);
	for (int kind = KIND_WRITE; kind <= KIND_FIRST; kind++)
		if (!strcmp(what, kinds[kind]))
			return try_rows((enum kind)kind, argv[2], argv + 3);
	return 2;
}
