/*
 * feature NAME[=N]...: can this user, on this kernel, use each of these? Tries for real and prints one line for each that is
 * missing, with the reason; exit 0 when none is. The tests ask this program and not hurdle, whose own probe they test.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/filter.h>

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#endif
#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

/* A probe runs in a child of its own. It returns 0, or an errno with *what naming the step that failed. */
struct probe {
	const char *name;
	int (*try)(int least, const char **what);
};

static int unshared(int flags, const char **what, const char *name)
{
	*what = name;
	return unshare(flags) ? errno : 0;
}

static int try_userns(int least, const char **what)
{
	(void)least;
	return unshared(CLONE_NEWUSER, what, "unshare(CLONE_NEWUSER)");
}

/* Where AppArmor restricts user namespaces the unshare succeeds, and nothing may be done inside. */
static int try_mountns(int least, const char **what)
{
	int e = unshared(CLONE_NEWUSER | CLONE_NEWNS, what, "unshare(CLONE_NEWUSER|CLONE_NEWNS)");

	if (e)
		return e;
	*what = "mount(/, MS_PRIVATE) in a new user namespace";
	(void)least;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ? errno : 0;
}

static int try_netns(int least, const char **what)
{
	(void)least;
	return unshared(CLONE_NEWUSER | CLONE_NEWNET, what, "unshare(CLONE_NEWUSER|CLONE_NEWNET)");
}

static int try_pidns(int least, const char **what)
{
	(void)least;
	return unshared(CLONE_NEWUSER | CLONE_NEWPID, what, "unshare(CLONE_NEWUSER|CLONE_NEWPID)");
}

static int try_landlock(int least, const char **what)
{
	static char text[64];
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, 1u /* LANDLOCK_CREATE_RULESET_VERSION */);

	*what = "landlock_create_ruleset";
	if (abi < 0)
		return errno;
	snprintf(text, sizeof(text), "Landlock ABI is %ld", abi);
	*what = text;
	return abi < least ? ENOSYS : 0;
}

static int install(unsigned long flags, int *fd)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { 1, &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	*fd = (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	return *fd < 0 ? errno : 0;
}

static int try_seccomp(int least, const char **what)
{
	int fd;

	(void)least;
	*what = "seccomp(SECCOMP_SET_MODE_FILTER)";
	return install(0, &fd);
}

/* ADDFD (5.9) too, without which a listener is of no use here: where it exists there is no notification 0 (ENOENT). */
static int try_notify(int least, const char **what)
{
	char no_such_request[24] = { 0 };
	int fd, e;

	(void)least;
	*what = "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER)";
	e = install(SECCOMP_FILTER_FLAG_NEW_LISTENER, &fd);
	if (e)
		return e;
	*what = "ioctl(SECCOMP_IOCTL_NOTIF_ADDFD)";
	ioctl(fd, _IOW('!', 3, char[24]), no_such_request);
	return errno == EINVAL || errno == ENOTTY ? errno : 0;
}

static int try_openat2(int least, const char **what)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };

	(void)least;
	*what = "openat2";
	return syscall(__NR_openat2, AT_FDCWD, "/", &how, sizeof(how)) < 0 ? errno : 0;
}

static int try_ptrace(int least, const char **what)
{
	pid_t pid = fork();
	int status, e = 0;

	(void)least;
	*what = "ptrace(PTRACE_SEIZE)";
	if (pid == 0)
		for (;;)
			pause();
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		e = errno;
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return e;
}

static const struct probe probes[] = {
	{ "userns", try_userns },     { "mountns", try_mountns }, { "netns", try_netns },   { "pidns", try_pidns },
	{ "landlock", try_landlock }, { "seccomp", try_seccomp }, { "notify", try_notify }, { "openat2", try_openat2 },
	{ "ptrace", try_ptrace },
};

/* 0 when there; else the reason has been printed. A probe that is killed (SIGSYS) or hangs has answered too. */
static int ask(const struct probe *p, int least)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		const char *what = p->name;
		int e;

		alarm(5);
		e = p->try(least, &what);
		if (e) {
			printf("%s: %s: %s\n", p->name, what, strerror(e));
			fflush(stdout);
		}
		_exit(e ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return printf("%s: cannot fork: %s\n", p->name, strerror(errno)), 1;
	if (WIFSIGNALED(status))
		return printf("%s: killed by %s\n", p->name, strsignal(WTERMSIG(status))), 1;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int missing = 0;

	for (int i = 1; i < argc; i++) {
		size_t len = strcspn(argv[i], "=");
		int least = argv[i][len] ? atoi(argv[i] + len + 1) : 0;
		const struct probe *found = NULL;

		for (size_t k = 0; k < sizeof(probes) / sizeof(*probes); k++)
			if (strlen(probes[k].name) == len && !strncmp(probes[k].name, argv[i], len))
				found = &probes[k];
		if (!found) {
			fprintf(stderr, "feature: unknown feature '%s'\n", argv[i]);
			return 2;
		}
		fflush(stdout);
		missing |= ask(found, least);
	}
	return missing;
}
