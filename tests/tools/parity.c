/*
 * parity DIRECTORY [GROUP]...: makes a small tree below DIRECTORY, runs a list of calls on it, each in a fresh tree, and
 * prints for each its result, its errno and what it changed. Run once without and once with hurdle, from a
 * write root, the two outputs must be the same, line by line.
 *
 * Each call comes in four forms: relative to the working directory, absolute, relative to a descriptor (where the function
 * takes none, through /proc/self/fd), and by syscall(). The number of a returned descriptor is printed too: a shim that keeps
 * one open shows. Its flags are printed as F_GETFL has them, and an errno that changed although the call succeeded is printed.
 *
 * Left out, because there the difference is by design: names above DIRECTORY, protected names, device nodes as root (hurdle
 * drops MKNOD), and bad pointers (EFAULT; code in the same process cannot look at them without a system call for each).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
enum form { RELATIVE, ABSOLUTE, DIRFD, RAW, FORMS };
static const char *const form_names[] = { "relative", "absolute", "dirfd", "raw" };

struct variant { const char *name; long n; };
struct call {
	enum form form;
	int fd;                   /* AT_FDCWD, or the tree */
	const char *a, *b;        /* as the form wants them */
	const char *name;         /* of the variant */
	long n;
	char a_room[9000], b_room[9000];
};
struct group {
	const char *name;
	void (*run)(const struct call *);
	const struct variant *variants;
	const char *const *paths, *const *others;
};

static char base[4096], tree[4200];
static int hidden_flags; /* O_NOFOLLOW where there is no openat2: the shim cannot do without it */
static const time_t mark_time = 1000000000;
extern char **environ;

/* ---- printing ---- */

static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
	char line[20000], out[20000];
	size_t n = 0;
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	for (const char *s = line; *s && n < sizeof(out) - 8;) {
		if (!strncmp(s, base, strlen(base))) { /* where the tree lies differs */
			out[n++] = '@';
			s += strlen(base);
		} else if (s[0] == '\n' && s[1]) {
			out[n++] = '?';
			s++;
		} else
			out[n++] = *s++;
	}
	if (write(1, out, n) < 0)
		_exit(99);
}

static const char *error_name(int error)
{
	static const struct variant names[] = {
#define E(e) { #e, e }
		E(EPERM), E(ENOENT), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC), E(EBADF), E(ENOMEM), E(EACCES), E(EFAULT), E(EBUSY),
		E(EEXIST), E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR), E(EINVAL), E(ETXTBSY), E(EFBIG), E(ENOTTY), E(EROFS), E(ESPIPE),
		E(ENAMETOOLONG), E(ENOTEMPTY), E(ELOOP), E(EOPNOTSUPP), E(ENODATA), E(ERANGE), E(ENOSYS), E(EMLINK),
	};
	static char number[20];

	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].n == error)
			return names[i].name;
	snprintf(number, sizeof(number), "%d", error);
	return number;
}

enum { UNTOUCHED = 4711 };

static void begin(void) { errno = UNTOUCHED; }

static void result(long r, bool failed)
{
	if (failed)
		say("%ld %s\n", r, error_name(errno));
	else
		say("%ld%s%s\n", r, errno == UNTOUCHED ? "" : " and errno ", errno == UNTOUCHED ? "" : error_name(errno));
}

static void outcome(long r) { result(r, r == -1); }

/* A descriptor: its number, what it is, how it was opened. */
static void opened(long fd)
{
	char link[40], name[5000] = "";
	int error = errno;

	if (fd < 0)
		return outcome(fd);
	snprintf(link, sizeof(link), "/proc/self/fd/%ld", fd);
	if (readlink(link, name, sizeof(name) - 1) < 0)
		snprintf(name, sizeof(name), "?");
	if (strstr(name, "/tmpfile_"))
		strcpy(strstr(name, "/tmpfile_"), "/tmpfile_N (deleted)");
	if (strstr(name, "/#")) /* an unnamed file: the number is an inode's */
		strcpy(strstr(name, "/#"), "/#N (deleted)");
	say("%ld %s flags %#x %#x offset %ld%s\n", fd, name, fcntl((int)fd, F_GETFL) & ~hidden_flags, fcntl((int)fd, F_GETFD), lseek((int)fd, 0, SEEK_CUR),
	    error == UNTOUCHED ? "" : " and errno");
}

static void stream(FILE *f)
{
	int error = errno;

	if (!f)
		return outcome(-1);
	fputs("stream", f); /* fails on one for reading: nothing comes of it */
	fflush(f);
	errno = error == ENOTTY ? UNTOUCHED : error; /* stdio may ask for a terminal */
	opened(fileno(f));
}

/* ---- the tree ---- */

static void put(int dir, const char *name, const char *text, mode_t mode)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0)
		say("cannot make %s: %s\n", name, strerror(errno));
	close(fd);
}

static const char *const directories[] = { "dir", "dir/sub", "dir/full", "empty", "rodir", "nosearch" };
static const char *const links[][2] = {
	{ "file", "link" }, { "dir", "dlink" }, { "missing", "dangling" }, { "nodir/x", "dangdir" }, { "loop2", "loop" }, { "loop", "loop2" },
	{ "dir/", "slashdir" }, { "file/", "slashfile" }, { ".", "dotlink" }, { "dir/..", "dotdotlink" }, { "dlink/file", "through" },
	{ "link", "link2" }, { "../file", "dir/up" }, { "exec.sh", "execlink" }, { "dir/new", "newlink" }, { "missing/", "dangslash" },
	{ "./dir/../dir/./file", "dots" },
};

static void make_tree(void)
{
	int d;

	if (mkdir(tree, 0755) < 0 || (d = open(tree, O_RDONLY | O_DIRECTORY)) < 0) {
		say("cannot make the tree: %s\n", strerror(errno));
		exit(1);
	}
	for (size_t i = 0; i < COUNT(directories); i++)
		if (mkdirat(d, directories[i], 0755) < 0)
			say("cannot make %s\n", directories[i]);
	put(d, "file", "content\n", 0644);
	put(d, "other", "other\n", 0640);
	put(d, "ro", "read only\n", 0444);
	put(d, "noread", "secret\n", 0);
	put(d, "dir/file", "inner\n", 0644);
	put(d, "dir/full/x", "x\n", 0644);
	put(d, "rodir/x", "x\n", 0644);
	put(d, "nosearch/x", "x\n", 0644);
	put(d, "odd\nname ", "odd\n", 0644);
	put(d, "gone (deleted)", "not gone\n", 0644);
	put(d, "exec.sh", "#!/bin/sh\necho \"${0##*/} $# $1 $PARITY\"\nexit 7\n", 0755);
	put(d, "noshebang", "echo \"bare $# $1\"\nexit 3\n", 0755);
	put(d, "badshebang", "#!/nonexistent/interpreter\n", 0755);
	put(d, "noexec", "#!/bin/sh\nexit 7\n", 0644);
	put(d, "garbage", "\177ELF\2\1\1", 0755);
	put(d, "hollow", "", 0755);
	for (size_t i = 0; i < COUNT(links); i++)
		if (symlinkat(links[i][0], d, links[i][1]) < 0)
			say("cannot make %s\n", links[i][1]);
	if (symlinkat(tree, d, "abslink") < 0 || mkfifoat(d, "fifo", 0644) < 0 || linkat(d, "other", d, "dir/hard", 0) < 0)
		say("cannot make the rest: %s\n", strerror(errno));
	fchmodat(d, "rodir", 0555, 0);
	fchmodat(d, "nosearch", 0, 0);
	close(d);
}

static void remove_tree(const char *path)
{
	char child[9000];
	struct stat st;
	struct dirent *e;
	DIR *d;

	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || chmod(path, 0700) < 0 || !(d = opendir(path))) {
		unlink(path);
		return;
	}
	while ((e = readdir(d))) {
		snprintf(child, sizeof(child), "%s/%s", path, e->d_name);
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			remove_tree(child);
	}
	closedir(d);
	rmdir(path);
}

static bool with_attributes; /* costs a call for each file */

/* Sorted lines: one for each name. */
struct lines { char *line[300]; int n; };

static void add_line(struct lines *l, const char *path, const char *name)
{
	char text[6000], content[64] = "", target[4200] = "", attr[40] = "";
	struct stat st;

	if (l->n == (int)COUNT(l->line) || lstat(path, &st) < 0)
		return;
	if (S_ISLNK(st.st_mode) && readlink(path, target, sizeof(target) - 1) < 0)
		strcpy(target, "?");
	if (S_ISREG(st.st_mode)) {
		int fd = open(path, O_RDONLY);
		if (fd < 0 || read(fd, content, sizeof(content) - 1) < 0)
			strcpy(content, "?");
		close(fd);
		if (!with_attributes || lgetxattr(path, "user.parity", attr, sizeof(attr) - 1) < 0)
			attr[0] = 0;
	}
	snprintf(text, sizeof(text), "%s %o %d:%d links %d size %lld%s%s%s%s \"%s\"", name, st.st_mode, (int)st.st_uid, (int)st.st_gid,
		 S_ISDIR(st.st_mode) ? 0 : (int)st.st_nlink, S_ISDIR(st.st_mode) ? 0LL : (long long)st.st_size, target[0] ? " -> " : "", target,
		 st.st_mtime == mark_time ? " marked" : "", attr, content);
	for (char *s = text; *s; s++)
		if (*s == '\n')
			*s = '?';
	l->line[l->n++] = strdup(text);
}

static void list_names(struct lines *l, const char *path, size_t skip)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char child[9000];

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(child, sizeof(child), "%s/%s", path, e->d_name);
		add_line(l, child, child + skip);
		if (e->d_type == DT_DIR)
			list_names(l, child, skip);
	}
	if (d)
		closedir(d);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void snapshot(struct lines *l)
{
	l->n = 0;
	add_line(l, base, "..");
	if (chmod(base, 0755) == 0) /* or there is no way in */
		add_line(l, tree, "t");
	list_names(l, base, strlen(base) + 1);
	qsort(l->line, (size_t)l->n, sizeof(*l->line), by_text);
}

static void drop(struct lines *l)
{
	while (l->n)
		free(l->line[--l->n]);
}

/* Says what changed; true if anything did. */
static bool compare(const struct lines *a, const struct lines *b)
{
	bool changed = false;
	int i = 0, j = 0;

	while (i < a->n || j < b->n) {
		int order = i == a->n ? 1 : j == b->n ? -1 : strcmp(a->line[i], b->line[j]);
		if (order < 0)
			say("    - %s\n", a->line[i++]);
		else if (order > 0)
			say("    + %s\n", b->line[j++]);
		else
			i++, j++;
		changed |= order != 0;
	}
	return changed;
}

#include "parity_calls.h"
#include "parity_list.h"

/* ---- running it ---- */

/* The path as the form says it. An empty one stays empty. */
static const char *spell(const struct call *c, const char *path, bool function_at, char *room, size_t size)
{
	if (!*path || c->form == RELATIVE || c->form == RAW)
		return path;
	if (c->form == ABSOLUTE)
		snprintf(room, size, "%s/%s", tree, path);
	else if (function_at)
		return path;
	else
		snprintf(room, size, "/proc/self/fd/%d/%s", c->fd, path);
	return room;
}

static bool takes_descriptor(void (*run)(const struct call *))
{
	static void (*const functions[])(const struct call *) = {
		do_open, do_mkdir, do_mknod, do_mkfifo, do_symlink, do_link, do_unlink, do_rename, do_chmod, do_lchmod, do_chown, do_lchown,
		do_utimens, do_access, do_eaccess,
	};
	for (size_t i = 0; i < COUNT(functions); i++)
		if (functions[i] == run)
			return true;
	return false;
}

/* In this process, which lets go of all that the call opened; exec and its kind in a child. */
static void call_here(const struct group *g, struct call *c, const char *path, const char *other)
{
	bool function_at = takes_descriptor(g->run) || (g->run == do_exec && (c->n == 7 || c->n == 8));

	alarm(10);
	c->fd = AT_FDCWD;
	if (chdir(tree) < 0)
		return say("cannot enter the tree\n");
	if (!strncmp(path, "fifo", 4) && open("fifo", O_RDWR) < 0) /* or the call would wait for a peer */
		return say("cannot hold the fifo\n");
	if (c->form == DIRFD && (c->fd = open(".", O_RDONLY | O_DIRECTORY)) >= 0 && chdir(base) < 0)
		return say("cannot leave the tree\n");
	c->a = spell(c, path, function_at, c->a_room, sizeof(c->a_room));
	c->b = other ? spell(c, other, function_at, c->b_room, sizeof(c->b_room)) : NULL;
	g->run(c);
}

static void call_once(const struct group *g, const struct variant *v, const char *path, const char *other, enum form form)
{
	static struct call c;
	bool apart = g->run == do_exec || g->run == do_spawn || g->run == do_odd;
	pid_t pid = 0;
	int status = 0;

	if (*path == '/' || (other && *other == '/')) /* never anything but the tree: root runs this too */
		return;
	say("%s %s(%s, %s%s%s) = ", form_names[form], g->name, strlen(path) > 200 ? "LONG" : path, v->name, other ? ", " : "", other ? other : "");
	c.form = form;
	c.name = v->name;
	c.n = v->n;
	if (apart)
		pid = fork();
	if (pid == 0)
		call_here(g, &c, path, other);
	if (apart && pid == 0)
		_exit(0);
	if (pid < 0 || (apart && waitpid(pid, &status, 0) < 0))
		say("no child: %s\n", strerror(errno));
	else if (status)
		say("child status %#x\n", status);
	for (int fd = 3; fd < 12; fd++)
		close(fd);
}

static void reset(void)
{
	remove_tree(tree);
	make_tree();
	if (chown(base, geteuid(), getegid()) < 0 || utimes(base, NULL) < 0 || (removexattr(base, "user.parity") < 0 && errno != ENODATA && errno != EOPNOTSUPP))
		say("cannot reset: %s\n", strerror(errno));
}

/*
 * They are many. What is not among the first of its kind has one of the forms, in turn, and leaves out every other path, the
 * next variant the others; of pairs but for the first variant two of three are left out. No path or variant is left out as such.
 */
static bool has_turn(const struct group *g, unsigned variant, unsigned n, enum form *ret)
{
	unsigned one_of = g->others ? (variant > 0 ? 3 : 1) : variant > 3 ? 2 : 1;

	*ret = (enum form)((n / one_of + variant) % FORMS);
	return (n + variant) % one_of == 0;
}

static void run_call(const struct group *g, const struct variant *v, const char *path, const char *other, enum form form, struct lines *before)
{
	static struct lines after;

	call_once(g, v, path, other, form);
	snapshot(&after);
	if (compare(before, &after)) {
		reset();
		drop(before);
		snapshot(before);
	}
	drop(&after);
}

static void run_path(const struct group *g, const struct variant *v, const char *path, const char *other, unsigned n, struct lines *before)
{
	enum form form;

	if (g->run == do_odd)
		run_call(g, v, path, other, RELATIVE, before);
	else if (!g->others && v < g->variants + 2)
		for (form = RELATIVE; form < FORMS; form++)
			run_call(g, v, path, other, form, before);
	else if (has_turn(g, (unsigned)(v - g->variants), n, &form))
		run_call(g, v, path, other, form, before);
}

static void run_group(const struct group *g, struct lines *before)
{
	with_attributes = g->run == do_xattr;
	for (const struct variant *v = g->variants; v->name; v++) {
		unsigned n = 0;
		for (const char *const *path = g->paths; *path; path++) {
			if (!g->others)
				run_path(g, v, *path, NULL, n++, before);
			for (const char *const *other = g->others; other && *other; other++)
				run_path(g, v, *path, *other, n++, before);
		}
	}
}

/* The kernel follows 40 links at most, all in all. The shim counts those of the last component only: near 40 they differ. */
static void make_chain(void)
{
	char path[5000], target[40] = "../t/file";

	snprintf(path, sizeof(path), "%s/chain", base);
	mkdir(path, 0755);
	for (int i = 1; i <= 60; i++) {
		snprintf(path, sizeof(path), "%s/chain/%d", base, i);
		if (symlink(target, path) < 0)
			say("cannot make %s\n", path);
		snprintf(target, sizeof(target), "%d", i);
	}
}

static bool chosen(const struct group *g, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], g->name))
			return true;
	return argc == 2;
}

int main(int argc, char **argv)
{
	static struct lines before;

	if (argc < 2 || !realpath(argv[1], base))
		return fprintf(stderr, "usage: parity DIRECTORY [GROUP]...\n"), 2;
	strcat(base, "/w");
	snprintf(tree, sizeof(tree), "%s/t", base);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	umask(022);
	if (syscall(SYS_openat2, -1, "", &(uint64_t[3]){ 0 }, 24) < 0 && errno == ENOSYS)
		hidden_flags = O_NOFOLLOW;
	setenv("PATH", "/usr/bin:/bin:.", 1);
	if (mkdir(base, 0755) < 0)
		return fprintf(stderr, "parity: cannot make %s: %s\n", base, strerror(errno)), 2;
	make_chain();
	make_tree();
	snapshot(&before);
	for (size_t i = 0; i < COUNT(groups); i++)
		if (chosen(&groups[i], argc, argv))
			run_group(&groups[i], &before);
	remove_tree(base);
	_exit(0); /* what stdio still holds was closed under it */
}
