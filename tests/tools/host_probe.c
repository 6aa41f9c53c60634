/*
 * host_probe: what the kernel answers here, one "NAME answer" a line: ok, an errno, "no" (done, without effect), or a signal. It asks by
 * itself and not through hurdle, whose answers are compared with these (tests/hosts/matrix.tsv).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not in every header; the same on every architecture. */
enum {
	NR_io_uring_setup = 425, NR_pidfd_open = 434, NR_clone3 = 435, NR_close_range = 436, NR_openat2 = 437, NR_pidfd_getfd = 438,
	NR_landlock_create_ruleset = 444,
};

enum { DONE_WITHOUT_EFFECT = 1000 };

static int result(long r) { return r < 0 ? errno : 0; }

static int try_userns(void) { return result(unshare(CLONE_NEWUSER)); }

/* As root directly, as others in a user namespace. */
static int try_mountns(void)
{
	if (unshare(CLONE_NEWNS) == 0)
		return 0;
	return errno == EPERM ? result(unshare(CLONE_NEWUSER | CLONE_NEWNS)) : errno;
}

static int try_mount(void)
{
	int e = try_mountns();

	return e ? e : result(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

static int try_clone3(void)
{
	uint64_t args[8] = { [4] = SIGCHLD };
	long pid = syscall(NR_clone3, args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return result(pid);
}

static int try_landlock(void) { return result(syscall(NR_landlock_create_ruleset, NULL, 0, 1u)); }

static long install(unsigned flags)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { 1, &allow };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static int try_seccomp(void) { return result(install(0)); }

static int try_prctl_seccomp(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { 1, &allow };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return result(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
}

/* With WAIT_KILLABLE_RECV (5.19), and ADDFD, which objects to the descriptor and not to the request. */
static int try_listener(void)
{
	struct { uint64_t id; uint32_t flags, from, to, to_flags; } request = { .flags = 2, .from = ~0u };
	long fd = install(8 | 32);

	if (fd < 0)
		return errno;
	ioctl((int)fd, _IOW('!', 3, request), &request);
	return errno == EBADF ? 0 : errno;
}

static void __attribute__((noreturn)) traced(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(errno);
	raise(SIGSTOP);
	_exit(syscall(SYS_getppid) < 0 ? 0 : 255);
}

static int start_traced(pid_t *pid, int *status)
{
	*pid = fork();
	if (*pid == 0)
		traced();
	waitpid(*pid, status, WUNTRACED);
	return WIFSTOPPED(*status) ? 0 : WEXITSTATUS(*status);
}

static int try_traceme(void)
{
	pid_t pid;
	int status, e = start_traced(&pid, &status);

	kill(pid, SIGKILL);
	return e;
}

static int try_rewrite(void)
{
	pid_t pid;
	int status, e = start_traced(&pid, &status);

	if (e)
		return e;
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	waitpid(pid, &status, 0);
#if defined(__x86_64__)
	struct user_regs_struct regs;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
		return errno;
	regs.orig_rax = ~0ull;
	if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) < 0)
		return errno;
#else
	int none = -1;
	struct iovec v = { &none, sizeof(none) };
	if (ptrace(PTRACE_SETREGSET, pid, (void *)0x404L, &v) < 0)
		return errno;
#endif
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status) == 255 ? DONE_WITHOUT_EFFECT : WEXITSTATUS(status);
}

static int try_process_vm_readv(void)
{
	char from = 'x', to = 0;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return result(process_vm_readv(getpid(), &local, 1, &remote, 1, 0));
}

static int try_pidfd_getfd(void)
{
	long fd = syscall(NR_pidfd_open, getpid(), 0);

	/* where only the first is missing, the second still says what it is */
	return result(syscall(NR_pidfd_getfd, fd, 0, 0));
}

static int try_io_uring(void)
{
	char params[120] = { 0 };

	return result(syscall(NR_io_uring_setup, 1, params));
}

static int try_openat2(void)
{
	uint64_t how[3] = { O_PATH, 0, 4 };

	return result(syscall(NR_openat2, AT_FDCWD, "/", how, sizeof(how)));
}

static int try_close_range(void) { return result(syscall(NR_close_range, 1000u, 1001u, 0)); }
static int try_memfd(void) { return result(syscall(SYS_memfd_create, "x", 0)); }

/* It exists when it objects to the descriptor. */
static int try_execveat(void)
{
	char *none[] = { NULL };

	syscall(SYS_execveat, -1, "", none, none, AT_EMPTY_PATH);
	return errno == EBADF ? 0 : errno;
}

static int try_userfaultfd(void) { return result(syscall(SYS_userfaultfd, O_CLOEXEC)); }
static int try_keyctl(void) { return result(syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -1 /* of the thread */, 1)); }
static int try_vsock(void) { return result(socket(AF_VSOCK, SOCK_STREAM, 0)); }
static int try_subreaper(void) { return result(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)); }
static int try_bind(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr none = { .sa_family = AF_UNIX };

	/* to a name that the kernel chooses */
	return result(bind(fd, &none, sizeof(none.sa_family)));
}

static const struct { const char *name; int (*try)(void); } probes[] = {
	{ "userns", try_userns },
	{ "mountns", try_mountns },
	{ "mount", try_mount },
	{ "clone3", try_clone3 },
	{ "landlock", try_landlock },
	{ "seccomp", try_seccomp },
	{ "prctl_seccomp", try_prctl_seccomp },
	{ "listener", try_listener },
	{ "traceme", try_traceme },
	{ "rewrite", try_rewrite },
	{ "process_vm_readv", try_process_vm_readv },
	{ "pidfd_getfd", try_pidfd_getfd },
	{ "io_uring", try_io_uring },
	{ "openat2", try_openat2 },
	{ "close_range", try_close_range },
	{ "memfd", try_memfd },
	{ "execveat", try_execveat },
	{ "userfaultfd", try_userfaultfd },
	{ "keyctl", try_keyctl },
	{ "vsock", try_vsock },
	{ "subreaper", try_subreaper },
	{ "bind", try_bind },
};

static const struct { int number; const char *name; } names[] = {
	{ 0, "ok" }, { DONE_WITHOUT_EFFECT, "no" }, { EPERM, "EPERM" }, { EINVAL, "EINVAL" }, { ENOSYS, "ENOSYS" }, { ENOSPC, "ENOSPC" },
	{ EBUSY, "EBUSY" }, { EIO, "EIO" }, { EACCES, "EACCES" }, { EOPNOTSUPP, "EOPNOTSUPP" }, { EAFNOSUPPORT, "EAFNOSUPPORT" }, { EBADF, "EBADF" },
};

static void print(const char *probe, int number)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].number == number) {
			printf("%s\t%s\n", probe, names[i].name);
			return;
		}
	printf("%s\terrno %d\n", probe, number);
}

/* In a child of its own, with its own end: what a try leaves behind dies with it. */
static void ask(size_t i)
{
	int status, answer = EIO, pipes[2];
	pid_t pid;

	if (pipe(pipes) < 0 || (pid = fork()) < 0)
		exit(2);
	if (pid == 0) {
		alarm(10);
		answer = probes[i].try();
		_exit(write(pipes[1], &answer, sizeof(answer)) == sizeof(answer) ? 0 : 1);
	}
	close(pipes[1]);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s\t%s\n", probes[i].name, WTERMSIG(status) == SIGSYS ? "SIGSYS" : strsignal(WTERMSIG(status)));
	else if (read(pipes[0], &answer, sizeof(answer)) == sizeof(answer))
		print(probes[i].name, answer);
	close(pipes[0]);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		ask(i);
	return 0;
}
