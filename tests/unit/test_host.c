/* The probe, on the real kernel; and on one that answers with SIGSYS, not at all, or that there is no such call. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/host/host.h"

enum { LANDLOCK_CREATE_RULESET = 444 };

/* One system call has this action from now on; returns the listener for SECCOMP_RET_USER_NOTIF. */
static int answer_call_with(unsigned nr, unsigned action)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(f), f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, action == SECCOMP_RET_USER_NOTIF ? 8 : 0, &program);
}

/* In a child: Landlock is answered with the action; then the word must be in its evidence, and seccomp still be found to work. */
static int look(unsigned action, int error, const char *word)
{
	struct host h;

	if (answer_call_with(LANDLOCK_CREATE_RULESET, action) < 0)
		return 77;
	host_init(&h);
	host_try(&h, HOST_ALL);
	if (h.caps[CAP_LANDLOCK].available || h.landlock_abi != 0)
		return 2;
	if (h.caps[CAP_LANDLOCK].error != error || !strstr(h.caps[CAP_LANDLOCK].evidence, word))
		return 3;
	/* what came behind it was tried, too */
	if (!h.caps[CAP_SECCOMP].available)
		return 4;
	host_release(&h);
	return 0;
}

static int in_child(unsigned action, int error, const char *word)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(look(action, error, word));
	cr_assert(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static const struct { const char *name; unsigned action; int error; const char *word; } kernels[] = {
	{ "no such call", SECCOMP_RET_ERRNO | ENOSYS, ENOSYS, "landlock_create_ruleset" },
	{ "switched off", SECCOMP_RET_ERRNO | EOPNOTSUPP, EOPNOTSUPP, "not supported" },
	{ "SIGSYS", SECCOMP_RET_TRAP, ENOSYS, "SIGSYS" },
	{ "killed", 0x80000000u /* SECCOMP_RET_KILL_PROCESS */, ENOSYS, "SIGSYS" },
	{ "hang", SECCOMP_RET_USER_NOTIF, ETIMEDOUT, "no answer" },
};

Test(host, what_a_kernel_may_answer)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		int r = in_child(kernels[i].action, kernels[i].error, kernels[i].word);

		if (r == 77)
			continue; /* no filter here to play that kernel with */
		cr_expect(r == 0, "%s: %d", kernels[i].name, r);
	}
}

Test(host, this_process_stays_as_it_was)
{
	struct host h;

	host_init(&h);
	host_try(&h, HOST_ALL);
	cr_expect(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
	cr_expect(syscall(SYS_getpriority, 0, 0) > 0);
	cr_expect(access("/", R_OK) == 0);
	cr_expect(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	for (int c = 0; c < CAP_COUNT; c++) {
		cr_expect(h.caps[c].tried && h.caps[c].evidence && *h.caps[c].evidence, "%s", capability_name((enum capability)c));
	}
	cr_expect((h.landlock_abi > 0) == h.caps[CAP_LANDLOCK].available);
	cr_expect((h.bwrap != NULL) == h.caps[CAP_BWRAP].available);
	host_release(&h);
}

Test(host, asks_once_and_only_what_is_asked)
{
	struct host h;

	host_init(&h);
	bool first = host_has(&h, CAP_SECCOMP);
	const char *evidence = h.caps[CAP_SECCOMP].evidence;
	cr_expect(host_has(&h, CAP_SECCOMP) == first && h.caps[CAP_SECCOMP].evidence == evidence);
	cr_expect(!h.caps[CAP_LANDLOCK].tried && !h.caps[CAP_BWRAP].tried);
	host_release(&h);
}
