/*
 * Two programs in one file. With "attack": the quick self-attack, see attack.h. Else the first process inside bwrap's walls (pid 1
 * of its namespace): starts the command as the block says, waits for it, ends what
 * it leaves behind, and reports. Freestanding, so that its start costs next to nothing.
 */
#include <linux/prctl.h>
#include <linux/time_types.h>
#include <sys/mman.h>

#include "platform/mechanism/attack.h"
#include "platform/mechanism/stage.h"
#include "preload/sys.h"

enum { WAIT_NOHANG = 1, WAIT_UNTRACED = 2, CHILD_SIGNAL = 17, TERMINATE = 15, CONTINUE = 18, KILL = 9, BLOCK_ALL = 0, SIGSET_SIZE = 8 };
enum { GRACE_SECONDS = 5, FAILED = 125 };

void stage_main(long *stack);

static long call(long number, long a, long b, long c, long d)
{
	return raw6(number, a, b, c, d, 0, 0);
}

static void __attribute__((noreturn)) leave(int code)
{
	for (;;)
		call(SYS_exit_group, code, 0, 0, 0);
}

static int number(const char *s)
{
	int n = 0;
	while (*s >= '0' && *s <= '9' && n < 100000)
		n = n * 10 + (*s++ - '0');
	return n;
}

static struct stage *map_block(int fd)
{
	long size = call(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0);
	struct stage *s = size > 0 ? sys_mmap((size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd) : NULL;
	sys_close(fd);
	return s && stage_valid(s, (uint64_t)size) ? s : NULL;
}

static void report(const struct stage *s, uint32_t kind, enum stage_step step, long value)
{
	const struct stage_report r = { kind, step, (int32_t)value };
	call(SYS_write, s->report_fd, (long)&r, sizeof r, 0);
}

static void __attribute__((noreturn)) command(struct stage *s)
{
	enum stage_step step = STAGE_STEP_NONE;
	long r = stage_enter(s, &step);
	report(s, STAGE_FAILED, step, -r);
	leave(FAILED);
}

static bool stopped(int status)
{
	return (status & 0xff) == 0x7f;
}

/* Until the command ends; its orphans, which are ours, are reaped on the way. */
static int wait_for(const struct stage *s, long pid)
{
	for (;;) {
		int status = 0;
		long r = call(SYS_wait4, -1, (long)&status, WAIT_UNTRACED, 0);
		if (r == pid && stopped(status))
			report(s, STAGE_STOPPED, STAGE_STEP_NONE, 0);
		else if (r == pid || r == -ECHILD)
			return status;
	}
}

static bool any_left(void)
{
	long r;
	do
		r = call(SYS_wait4, -1, 0, WAIT_NOHANG, 0);
	while (r > 0);
	return r == 0;
}

static long seconds(void)
{
	struct __kernel_timespec now = { 0 };
	call(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, (long)&now, 0, 0);
	return now.tv_sec;
}

/* What the command left has a moment to end by itself; the rest ends with us, by the kernel. */
static void end_others(void)
{
	const uint64_t child = 1ul << (CHILD_SIGNAL - 1);
	const struct __kernel_timespec step = { .tv_sec = 1 };
	if (!any_left())
		return;
	call(SYS_kill, -1, TERMINATE, 0, 0);
	call(SYS_kill, -1, CONTINUE, 0, 0);
	for (long until = seconds() + GRACE_SECONDS; any_left() && seconds() < until;)
		call(SYS_rt_sigtimedwait, (long)&child, 0, (long)&step, SIGSET_SIZE);
}

void stage_main(long *stack)
{
	const uint64_t all = ~0ul;
	char **argv = (char **)(stack + 1);
	if (stack[0] == ATTACK_ARG_COUNT && memcmp(argv[ATTACK_ARG_NAME], "attack", sizeof "attack") == 0)
		leave(attack_main(argv));
	/* whoever is not the first of a namespace would end other people's processes at the end */
	struct stage *s = stack[0] == 2 && sys_getpid() == 1 ? map_block(number(argv[1])) : NULL;
	if (!s)
		leave(FAILED);
	call(SYS_rt_sigprocmask, BLOCK_ALL, (long)&all, 0, SIGSET_SIZE);
	call(SYS_prctl, PR_SET_PDEATHSIG, KILL, 0, 0);
	call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0); /* the command runs as the same user */
	long pid = call(SYS_clone, CHILD_SIGNAL, 0, 0, 0);
	if (pid == 0)
		command(s);
	if (pid < 0) {
		report(s, STAGE_FAILED, STAGE_STEP_FORK, -pid);
		leave(FAILED);
	}
	stage_close_descriptors(&s->report_fd, 1, s->one_by_one);
	int status = wait_for(s, pid);
	end_others();
	report(s, STAGE_EXITED, STAGE_STEP_NONE, status);
	leave(0);
}
