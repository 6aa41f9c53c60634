/* Starting programs: may this file run, will the shim be in it, and the environment that puts it there. */
#include "preload/exec.h"

extern char **environ __attribute__((weak, visibility("default")));

enum { STACK_ENTRIES = 320 };

typedef int exec_function(const char *, char *const[], char *const[]);

static char *const *own_environ(void)
{
	return &environ ? environ : NULL;
}

/* answer: negative errno; 0; 1: may run, but uncovered. */
struct judged { int answer; enum shim_class class; };

static struct judged only(int answer)
{
	return (struct judged){ answer, SHIM_CLASS };
}

/* fd: the program, open; name: as the caller said it. */
static struct judged judge_program(int fd, const char *name)
{
	TEXT(path);
	const struct image *img = shim.image;
	struct judged ret = only(0);
	if (!img)
		return only(-EACCES);
	if ((img->flags & IMAGE_HAS_EXEC_RULES) && descriptor_name(fd, &path) == 1) {
		struct judgement j = judge(ACCESS_EXEC, &path);
		if (j.denied) {
			report(WIRE_EXEC, j.rule, name, &path);
			return only(-EACCES);
		}
	}
	int reason = coverage(fd, (img->flags & IMAGE_SHIMS) >> IMAGE_SHIMS_AT, &ret.class);
	if (!reason)
		return ret;
	report_uncovered(reason, img->flags & IMAGE_STRICT, name);
	return only(img->flags & IMAGE_STRICT ? -EACCES : 1);
}

/* Not to be looked at for want of a descriptor or of memory: refused where that matters, else it runs, and is reported. */
static struct judged unseen(const char *path, int error)
{
	const uint32_t rules = IMAGE_STRICT | IMAGE_HAS_EXEC_RULES;
	report_uncovered(UNCOVERED_UNREADABLE, shim.image->flags & rules, path);
	return only(shim.image->flags & rules ? error : 1);
}

static struct judged judge_path(int dirfd, const char *path)
{
	long fd = sys_openat(dirfd, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd == -EACCES && raw6(SYS_faccessat, dirfd, (long)path, 1 /* X_OK */, 0, 0, 0) == 0) {
		report_uncovered(UNCOVERED_UNREADABLE, shim.image && (shim.image->flags & IMAGE_STRICT), path);
		return only(shim.image && (shim.image->flags & IMAGE_STRICT) ? -EACCES : 1);
	}
	if (fd < 0)
		return fails_anyway((int)fd) || fd == -EISDIR ? only(0) : unseen(path, (int)fd);
	struct judged ret = judge_program((int)fd, path);
	sys_close((int)fd);
	return ret;
}

/* execve refuses what is no regular file with EACCES, and execvp goes on then. */
static bool runnable(const char *path)
{
	if (raw6(SYS_faccessat, AT_FDCWD, (long)path, 1 /* X_OK */, 0, 0, 0) != 0)
		return false;
	long fd = sys_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd >= 0)
		sys_close((int)fd);
	return fd == -ENOTDIR;
}

/* The file that execvp would take: the first that may be run. */
static bool search(const char *file, struct text *found)
{
	const char *path = "/bin:/usr/bin";
	for (char *const *s = own_environ(); s && *s; s++)
		if (text_starts(*s, "PATH="))
			path = *s + 5;
	for (const char *s = file; *s; s++)
		if (*s == '/')
			return text_set(found, file, strlen(file)) == 0;
	while (true) {
		const char *end = path;
		while (*end && *end != ':')
			end++;
		if (text_set(found, path, (size_t)(end - path)) < 0 || (found->len && text_add(found, "/", 1) < 0) ||
		    text_add(found, file, strlen(file)) < 0)
			return false;
		if (runnable(found->s))
			return true;
		if (!*end)
			return false;
		path = end + 1;
	}
}

static struct judged judge_search(const char *file, struct text *found)
{
	return search(file, found) ? judge_path(AT_FDCWD, found->s) : only(0);
}

/* The call itself, with the repaired environment in the place of argument number `position`; comes back only when it failed. */
static enum answer start(struct frame *f, const struct row *r, exec_function *other, char *const *from, int position, const char *program,
			 struct judged judged)
{
	struct environment e;
	if (judged.answer < 0)
		return fail(f, r, -judged.answer);
	if (!readable_list(from))
		return fail(f, r, EFAULT);
	/* on the stack where it fits: a mapping made in a vfork child would stay in its parent */
	size_t room = environment_room(from);
	int error = environment_build(&e, from, program, judged.class, room <= STACK_ENTRIES ? __builtin_alloca(room * sizeof(char *)) : NULL);
	if (error < 0) {
		environment_release(&e, true);
		return fail(f, r, -error);
	}
	if (judged.answer == 1 && e.number < WIRE_TICKETS && shim.page)
		__atomic_store_n(&shim.page->ticket[e.number].state, TICKET_UNCOVERED, __ATOMIC_RELEASE);
	long result;
	if (other) {
		result = other((const char *)f->arg[0], (char *const *)f->arg[1], e.entries);
		if (result < 0)
			result = -*errno_location();
	} else {
		long saved = f->arg[position];
		f->arg[position] = (long)e.entries;
		result = invoke(f, r);
		f->arg[position] = saved;
	}
	environment_release(&e, r->returns == RETURNS_ERRNO ? result == 0 : result >= 0);
	return finish(f, r, result);
}

static exec_function *real_execve(void)
{
	static exec_function *real;
	return real ? real : (real = (exec_function *)find_real("execve"));
}

static exec_function *real_execvpe(void)
{
	static exec_function *real;
	return real ? real : (real = (exec_function *)find_real("execvpe"));
}

/* NULL, empty, or not to be read: the real call says what is wrong with it. */
static bool no_name(const char *path)
{
	return !path || readable_text(path) != WHOLE || !*path;
}

HANDLER(on_execve)
{
	const char *path = (const char *)f->arg[0];
	return !no_name(path) ? start(f, r, NULL, (char *const *)f->arg[2], 2, path, judge_path(AT_FDCWD, path)) : PASS;
}

HANDLER(on_execv)
{
	const char *path = (const char *)f->arg[0];
	return !no_name(path) ? start(f, r, real_execve(), own_environ(), NO, path, judge_path(AT_FDCWD, path)) : PASS;
}

/* execvp and execvpe; flags: position of the environment. */
HANDLER(on_execvp)
{
	TEXT(found);
	const char *file = (const char *)f->arg[0];
	if (no_name(file))
		return PASS;
	struct judged judged = judge_search(file, &found);
	const char *program = found.len ? found.s : file;
	if (r->flags == NO)
		return start(f, r, real_execvpe(), own_environ(), NO, program, judged);
	return start(f, r, NULL, (char *const *)f->arg[r->flags], r->flags, program, judged);
}

/* execl, execlp (fixed 1: searches), execle (fixed 2: the environment follows the NULL). */
HANDLER(on_execl)
{
	TEXT(found);
	size_t n = 0;
	const char *file = (const char *)f->arg[0];
	if (no_name(file))
		return PASS;
#define LISTED(i) argument(f, (i) + 1)
	while (LISTED(n))
		n++;
	char **argv = __builtin_alloca((n + 1) * sizeof *argv);
	for (size_t i = 0; i <= n; i++)
		argv[i] = (char *)LISTED(i);
	char *const *env = r->fixed == 2 ? (char *const *)LISTED(n + 1) : own_environ();
#undef LISTED
	struct judged judged = r->fixed == 1 ? judge_search(file, &found) : judge_path(AT_FDCWD, file);
	long saved = f->arg[1];
	f->arg[1] = (long)argv;
	enum answer a = start(f, r, r->fixed == 1 ? real_execvpe() : real_execve(), env, NO, found.len ? found.s : file, judged);
	f->arg[1] = saved;
	return a;
}

HANDLER(on_fexecve)
{
	TEXT(name);
	char path[40];
	fd_path(path, (int)f->arg[0]);
	long fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return PASS;
	if (descriptor_name((int)fd, &name) < 0)
		text_set(&name, path, strlen(path));
	struct judged judged = judge_program((int)fd, name.s);
	sys_close((int)fd);
	return start(f, r, NULL, (char *const *)f->arg[2], 2, name.s, judged);
}

HANDLER(on_execveat)
{
	const char *path = (const char *)f->arg[1];
	if (!path || readable_text(path) != WHOLE)
		return PASS;
	if (!*path) {
		if (!((int)f->arg[4] & AT_EMPTY_PATH))
			return PASS;
		char own[40];
		fd_path(own, (int)f->arg[0]);
		return start(f, r, NULL, (char *const *)f->arg[3], 3, own, judge_path(AT_FDCWD, own));
	}
	return start(f, r, NULL, (char *const *)f->arg[3], 3, path, judge_path((int)f->arg[0], path));
}

static bool has_slash(const char *s)
{
	while (*s && *s != '/')
		s++;
	return *s;
}

/* posix_spawn (fixed 0) and posix_spawnp (fixed 1): what the child does happens inside libc, so all is looked at here. */
HANDLER(on_spawn)
{
	TEXT(found);
	const char *file = (const char *)f->arg[1];
	if (no_name(file))
		return PASS;
	struct spawn_start s = { .directory = AT_FDCWD };
	struct judged judged = only(spawn_judge((const void *)f->arg[2], &s));
	if (judged.answer == 0 && r->fixed && !has_slash(file))
		judged = judge_search(file, &found);
	else if (judged.answer == 0)
		judged = s.unknown && file[0] != '/' ? only(-EACCES) : judge_path(s.directory, file);
	spawn_start_release(&s);
	return start(f, r, NULL, (char *const *)f->arg[5], 5, found.len ? found.s : file, judged);
}

/* system, popen, wordexp: a shell with the process's own environment. */
HANDLER(on_shell)
{
	if (!f->arg[0])
		return PASS;
	struct judged judged = judge_path(AT_FDCWD, "/bin/sh");
	if (judged.answer < 0)
		return fail(f, r, -judged.answer);
	environment_repair(judged.class);
	return PASS;
}
