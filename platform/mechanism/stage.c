/* The last steps to the command. Freestanding: see stage.h. */
#include "platform/mechanism/stage.h"

#include <linux/capability.h>
#include <linux/prctl.h>

#include "preload/sys.h"

enum { SIGSET_SIZE = 8, CAPABILITIES = 64, LOWEST_KEPT = 3 };

/* struct sock_fprog of linux/filter.h */
struct kernel_filter_program { unsigned short len; const void *filter; };

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

int stage_valid(const struct stage *s, uint64_t size)
{
	return size >= sizeof *s && s->magic == STAGE_MAGIC && s->size == size && s->program && s->argv && s->envp && s->shell_argv;
}

static const void *at(const struct stage *s, uint32_t offset)
{
	return (const char *)s + offset;
}

static long call(long number, long a, long b, long c, long d, long e)
{
	return raw6(number, a, b, c, d, e, 0);
}

/* Where close_range is missing (Linux 5.9), one by one up to the limit. */
static void close_from(unsigned first, unsigned last, uint32_t one_by_one)
{
	struct { uint64_t now, most; } limit = { 1024, 0 };
	if (first > last || (!one_by_one && call(SYS_close_range, first, last, 0, 0, 0) == 0))
		return;
	if (last == ~0u) {
		call(SYS_prlimit64, 0, 7 /* RLIMIT_NOFILE */, 0, (long)&limit, 0);
		last = limit.now < (1u << 20) ? (unsigned)limit.now : 1u << 20;
	}
	for (unsigned fd = first; fd <= last; fd++)
		sys_close((int)fd);
}

void stage_close_descriptors(const int32_t *keep, uint32_t n_keep, uint32_t one_by_one)
{
	unsigned from = LOWEST_KEPT;
	for (uint32_t i = 0; i < n_keep; i++) {
		if (keep[i] < LOWEST_KEPT)
			continue;
		close_from(from, (unsigned)keep[i] - 1, one_by_one);
		from = (unsigned)keep[i] + 1;
	}
	close_from(from, ~0u, one_by_one);
}

/* Ambient ones first: they would come back at exec. The bounding set keeps set-id root programs from regaining them. */
static long drop_capabilities(uint64_t drop)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	long r = call(SYS_capget, (long)&header, (long)data, 0, 0, 0);
	for (unsigned n = 0; r == 0 && n < CAPABILITIES; n++) {
		unsigned bit = 1u << (n % 32);
		if (!(drop >> n & 1))
			continue;
		/* EINVAL: a kernel that has no such capability */
		long e = call(SYS_prctl, PR_CAPBSET_DROP, n, 0, 0, 0);
		if (e < 0 && e != -EPERM && e != -EINVAL)
			return e;
		data[n / 32].effective &= ~bit;
		data[n / 32].permitted &= ~bit;
		data[n / 32].inheritable &= ~bit;
	}
	return r < 0 ? r : call(SYS_capset, (long)&header, (long)data, 0, 0, 0);
}

long stage_drop_rights(uint64_t drop)
{
	long r = drop ? drop_capabilities(drop) : 0;
	call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return r;
}

static long restrict_self(const struct stage *s)
{
	long r = call(SYS_landlock_restrict_self, s->landlock_fd, 0, 0, 0, 0);
	sys_close(s->landlock_fd);
	return r;
}

static long load_filter(const struct stage *s)
{
	const struct kernel_filter_program program = { (unsigned short)s->n_filter, at(s, s->filter) };
	return call(SYS_prctl, PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, (long)&program, 0, 0);
}

/* In this order: Landlock and the filter need no_new_privs, and the filter may refuse what the others are made with. */
static long confine(const struct stage *s, enum stage_step *ret_step)
{
	const uint64_t no_core[2] = { 0, 0 };
	long r = 0;
	/* a core file is written by the kernel, wherever the process stands */
	call(SYS_prlimit64, 0, 4 /* RLIMIT_CORE */, (long)no_core, 0, 0);
	*ret_step = STAGE_STEP_CAPABILITIES;
	if (s->drop_caps)
		r = drop_capabilities(s->drop_caps);
	*ret_step = r < 0 ? *ret_step : STAGE_STEP_NO_NEW_PRIVS;
	if (r == 0) {
		r = call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		r = s->want_no_new_privs ? r : 0;
	}
	*ret_step = r < 0 ? *ret_step : STAGE_STEP_LANDLOCK;
	if (r == 0 && s->landlock_fd >= 0)
		r = restrict_self(s);
	*ret_step = r < 0 ? *ret_step : STAGE_STEP_FILTER;
	if (r == 0 && s->n_filter)
		r = load_filter(s);
	return r;
}

static char **pointers(struct stage *s, uint32_t offset)
{
	uint64_t *list = (uint64_t *)((char *)s + offset);
	char **to = (char **)list;
	/* in place, from the front: where pointers are shorter than offsets they never run ahead of what is read */
	for (size_t i = 0;; i++) {
		uint64_t text = list[i];
		to[i] = text ? (char *)s + text : NULL;
		if (!text)
			return to;
	}
}

static void tell_pid(const struct stage *s)
{
	int32_t pid = (int32_t)sys_getpid();
	if (s->events_fd >= 0)
		call(SYS_pwrite64, s->events_fd, (long)&pid, sizeof pid, s->main_pid_at, 0);
}

/* As execvp: a file without a magic number is a shell script. */
static long exec_program(struct stage *s)
{
	char **argv = pointers(s, s->argv), **shell_argv = pointers(s, s->shell_argv), **envp = pointers(s, s->envp);
	long r = call(SYS_execve, (long)at(s, s->program), (long)argv, (long)envp, 0, 0);
	if (r == -ENOEXEC)
		r = call(SYS_execve, (long)shell_argv[0], (long)shell_argv, (long)envp, 0, 0);
	return r;
}

/* Those of the launch itself close at exec. */
static void close_all_but_kept(const struct stage *s)
{
	const int32_t *keep = at(s, s->keep);
	stage_close_descriptors(keep, s->n_keep, s->one_by_one);
	for (uint32_t i = 0; i < s->n_keep; i++) {
		bool own = keep[i] == s->landlock_fd || keep[i] == s->report_fd || keep[i] == s->events_fd || keep[i] == s->stderr_fd;
		call(SYS_fcntl, keep[i], F_SETFD, own ? FD_CLOEXEC : 0, 0, 0);
	}
}

/* And waits for the supervisor's word, so that nothing of the user's runs before it was said what holds. */
static long say_hello(const struct stage *s)
{
	struct stage_report hello = { .kind = STAGE_HELLO };
	if (s->report_fd < 0)
		return 0;
	long r = call(SYS_write, s->report_fd, (long)&hello, sizeof hello, 0, 0);
	do
		r = r < 0 ? r : call(SYS_read, s->report_fd, (long)&hello, sizeof hello, 0, 0);
	while (r == -EINTR);
	return r < 0 ? r : r == 0 ? -EPIPE : 0;
}

long stage_enter(struct stage *s, enum stage_step *ret_step)
{
	tell_pid(s);
	close_all_but_kept(s);
	if (s->stderr_fd >= 0)
		call(SYS_dup3, s->stderr_fd, 2, 0, 0, 0);
	*ret_step = STAGE_STEP_DIRECTORY;
	long r = s->cwd ? call(SYS_chdir, (long)at(s, s->cwd), 0, 0, 0, 0) : 0;
	if (r == 0)
		r = confine(s, ret_step);
	if (r < 0)
		return r;
	*ret_step = STAGE_STEP_HELLO;
	r = say_hello(s);
	if (r < 0)
		return r;
	for (int fd = 0; fd < LOWEST_KEPT; fd++)
		if (s->close_low >> fd & 1)
			sys_close(fd);
	*ret_step = STAGE_STEP_EXEC;
	call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&s->signal_mask, 0, SIGSET_SIZE, 0);
	return exec_program(s);
}
