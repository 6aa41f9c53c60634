/* What is tried in a child that exists for nothing else: most of it cannot be undone. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/host/probe.h"

/* ---- tracing ---- */

/* Stops, and then makes a call whose answer cannot be an error. Exits 0 when it was one all the same; else with the errno of TRACEME, or 255. */
static void __attribute__((noreturn)) traced(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* not SEIZE by the other side: this copy of a process that is not dumpable cannot be seized */
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(errno);
	raise(SIGSTOP);
	_exit(syscall(SYS_getppid) < 0 ? 0 : 255);
}

static long replace_call(pid_t pid)
{
#if defined(__x86_64__)
	struct user_regs_struct regs;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
		return -1;
	regs.orig_rax = ~0ull;
	return ptrace(PTRACE_SETREGS, pid, NULL, &regs);
#elif defined(__aarch64__)
	int none = -1;
	struct iovec v = { &none, sizeof none };
	return ptrace(PTRACE_SETREGSET, pid, (void *)0x404L /* NT_ARM_SYSTEM_CALL */, &v);
#else
	(void)pid;
	errno = ENOSYS;
	return -1;
#endif
}

static bool stops_next(pid_t pid, int *status)
{
	return waitpid(pid, status, 0) == pid && WIFSTOPPED(*status);
}

static void trace(pid_t pid, struct answer *a)
{
	int status = 0;
	/* from its own stop to the entry of the call, and from there on with another one */
	if (stops_next(pid, &status) && ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && stops_next(pid, &status)) {
		answer_call(a, replace_call(pid), "ptrace: writing registers");
		if (!a->available)
			return;
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		waitpid(pid, &status, 0);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		answer_yes(a, "ptrace: a call was stopped, and not made");
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 255)
		/* so it is on WSL1 */
		answer_no(a, 0, "ptrace: a call was stopped, and made all the same");
	else if (WIFEXITED(status))
		answer_no(a, WEXITSTATUS(status), "ptrace(PTRACE_TRACEME): %s", strerror(WEXITSTATUS(status)));
	else
		answer_no(a, EIO, "ptrace: a child cannot be stopped");
}

void try_ptrace(struct host *h, struct answer *a)
{
	pid_t pid = fork();
	(void)h;
	if (pid == 0)
		traced();
	if (pid < 0) {
		answer_call(a, -1, "fork");
		return;
	}
	trace(pid, a);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- namespaces ---- */

/* What every try in this child has: its own user namespace, once one was needed. */
static bool in_userns;

/* Directly, as only root can; else with the rights of a user namespace, as everybody can where those give any. */
static bool enter(struct answer *a, int flag, const char *name)
{
	char call[80];
	if (unshare(flag) == 0) {
		answer_yes(a, "unshare(%s): ok%s", name, in_userns ? ", in a user namespace" : "");
		return true;
	}
	if (errno == EPERM && !in_userns) {
		if (unshare(CLONE_NEWUSER) < 0) {
			answer_call(a, -1, "unshare(CLONE_NEWUSER)");
			return false;
		}
		in_userns = true;
		return enter(a, flag, name);
	}
	snprintf(call, sizeof call, "unshare(%s)%s", name, in_userns ? " in a user namespace" : "");
	answer_call(a, -1, call);
	return false;
}

/* Where AppArmor restricts user namespaces they can be had, but their rights cannot be used: so one is used. */
static bool own_mounts(struct answer *a)
{
	if (!enter(a, CLONE_NEWNS, "CLONE_NEWNS"))
		return false;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		return true;
	answer_call(a, -1, "mount(\"/\", MS_PRIVATE)");
	return false;
}

void try_mountns(struct host *h, struct answer *a)
{
	(void)h;
	own_mounts(a);
}

void try_netns(struct host *h, struct answer *a)
{
	(void)h;
	enter(a, CLONE_NEWNET, "CLONE_NEWNET");
}

/* The next process that this one starts is the first of the namespace; when it has ended no other can start. */
static bool in_pidns;

void try_pidns(struct host *h, struct answer *a)
{
	(void)h;
	if (!in_pidns)
		in_pidns = enter(a, CLONE_NEWPID, "CLONE_NEWPID");
}

static int mount_proc(void)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? errno : 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/* Inside some containers it is refused, because parts of their own /proc are covered (mount_too_revealing). */
void try_proc_mount(struct host *h, struct answer *a)
{
	try_pidns(h, a);
	if (!in_pidns || !own_mounts(a))
		return;
	errno = mount_proc();
	answer_call(a, errno ? -1 : 0, "mount(proc) in a pid namespace");
}

/* The map of user ids is not written: for that this process would have to be dumpable, and its memory readable to others. */
void try_userns(struct host *h, struct answer *a)
{
	(void)h;
	if (!in_userns)
		answer_call(a, unshare(CLONE_NEWUSER), "unshare(CLONE_NEWUSER)");
	if (!in_userns && !a->available)
		return;
	in_userns = true;
	if (own_mounts(a))
		answer_yes(a, "unshare(CLONE_NEWUSER), and mount inside: ok");
}

/* ---- Landlock ---- */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

enum { LANDLOCK_VERSION_FLAG = 1, LANDLOCK_READ_DIR_RIGHT = 1 << 3 };

/* Reading directories is refused everywhere, which a right of the first version does. */
static bool restrict_reading(struct answer *a)
{
	uint64_t rights = LANDLOCK_READ_DIR_RIGHT;
	_cleanup_close_ int fd = (int)syscall(SYS_landlock_create_ruleset, &rights, sizeof rights, 0);
	answer_call(a, fd, "landlock_create_ruleset");
	if (fd < 0)
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	answer_call(a, syscall(SYS_landlock_restrict_self, fd, 0), "landlock_restrict_self");
	return a->available;
}

void try_landlock(struct host *h, struct answer *a)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG);
	(void)h;
	answer_call(a, abi, "landlock_create_ruleset(VERSION)");
	if (!a->available || !restrict_reading(a))
		return;
	a->value = (int)abi;
	_cleanup_close_ int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		answer_no(a, 0, "landlock_restrict_self: ok, but what it refuses is done all the same");
	else
		answer_yes(a, "landlock_restrict_self: ok, and it refuses; ABI %d", a->value);
}

/* ---- seccomp ---- */

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

static long install(unsigned long flags, struct sock_filter *filter, unsigned short n)
{
	struct sock_fprog program = { .len = n, .filter = filter };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* An error that no kernel gives to this call, so that it can only come from the filter. */
enum { SIGN = EXFULL };

void try_seccomp(struct host *h, struct answer *a)
{
	struct sock_filter refuse[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | SIGN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	(void)h;
	answer_call(a, install(0, refuse, ARRAY_SIZE(refuse)), "seccomp(SECCOMP_SET_MODE_FILTER)");
	if (!a->available)
		return;
	if (syscall(SYS_getpriority, 0, 0) == -1 && errno == SIGN)
		answer_yes(a, "seccomp(SECCOMP_SET_MODE_FILTER): ok, and it refuses");
	else
		answer_no(a, 0, "seccomp(SECCOMP_SET_MODE_FILTER): ok, but what it refuses is done all the same");
}

static int listener(struct answer *a, unsigned long flags, const char *call)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	int fd = (int)install(SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, &allow, 1);
	if (fd < 0 && errno == EBUSY)
		answer_no(a, EBUSY, "%s: another listener is already there", call);
	else
		answer_call(a, fd, call);
	return fd;
}

/* Only the listener is asked for: where a kernel knows none, a filter that stops a call for it kills the thread. */
void try_notify(struct host *h, struct answer *a)
{
	int fd = listener(a, 0, "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER)");
	(void)h;
	cleanup_close_(&fd);
}

void try_notify_wait(struct host *h, struct answer *a)
{
	int fd = listener(a, 1UL << 5 /* 5.19 */, "seccomp(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)");
	(void)h;
	cleanup_close_(&fd);
}

/* There is no such descriptor and no such call; a kernel that cannot do it, or cannot answer the call with it (5.14), objects to the request itself. */
void try_addfd(struct host *h, struct answer *a)
{
	struct { uint64_t id; uint32_t flags, from, to, to_flags; } request = { .flags = 2 /* SECCOMP_ADDFD_FLAG_SEND */, .from = ~0u };
	_cleanup_close_ int fd = listener(a, 0, "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER)");
	(void)h;
	if (fd < 0)
		return;
	ioctl(fd, _IOW('!', 3, request), &request);
	answer_call(a, errno == EBADF || errno == ENOENT ? 0 : -1, "ioctl(SECCOMP_IOCTL_NOTIF_ADDFD, SEND)");
}
