#include "platform/host/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"

/* A try takes microseconds; a machine so busy that a child gets no turn for this long cannot run anything else either. */
enum { LIMIT_MS = 2000 };

/* ---- answers ---- */

void answer_yes(struct answer *a, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(a->evidence, sizeof a->evidence, format, ap);
	va_end(ap);
	a->available = true;
	a->error = 0;
}

void answer_no(struct answer *a, int error, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(a->evidence, sizeof a->evidence, format, ap);
	va_end(ap);
	a->available = false;
	a->error = error;
}

void answer_call(struct answer *a, long result, const char *call)
{
	int error = errno;
	if (result >= 0)
		answer_yes(a, "%s: ok", call);
	else
		answer_no(a, error, "%s: %s", call, strerror(error));
}

/* ---- the child ---- */

static void __attribute__((noreturn)) child(struct host *h, const enum capability *list, size_t n, int fd, pid_t parent)
{
	/* its own group, so that what a hanging try has started ends with it */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	signal(SIGSYS, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	for (size_t i = 0; i < n; i++) {
		struct answer a = { .capability = list[i] };
		capability_infos[list[i]].try(h, &a);
		if (write_all(fd, &a, sizeof a) < 0)
			_exit(1);
	}
	_exit(0);
}

static pid_t start(struct host *h, const enum capability *list, size_t n, int *ret_fd)
{
	int pipes[2];
	pid_t parent = getpid(), pid;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		child(h, list, n, pipes[1], parent);
	int error = errno;
	close(pipes[1]);
	if (pid < 0) {
		close(pipes[0]);
		return -error;
	}
	*ret_fd = pipes[0];
	return pid;
}

/* ---- the parent ---- */

/* 1: an answer; 0: the child is gone; -ETIMEDOUT. An answer is smaller than PIPE_BUF, so it comes whole. */
static int next_answer(int fd, struct answer *a)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;
	do
		r = poll(&p, 1, LIMIT_MS);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return -ETIMEDOUT;
	return r > 0 && read(fd, a, sizeof *a) == sizeof *a ? 1 : 0;
}

static int end(pid_t pid)
{
	int status = 0;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Why the child gave no answer to this one. */
static void keep_failure(struct host *h, enum capability c, int why, int status)
{
	struct answer a = { .capability = c };
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		answer_no(&a, ENOSYS, "trying it is answered with SIGSYS");
	else if (why == -ETIMEDOUT)
		answer_no(&a, ETIMEDOUT, "no answer within %d seconds", LIMIT_MS / 1000);
	else if (why < 0)
		answer_no(&a, -why, "cannot start a process to try it: %s", strerror(-why));
	else
		answer_no(&a, EIO, "trying it ended the process (%s)", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
	answer_keep(h, &a);
}

/* How many of them were answered, one way or another: at least one. */
static size_t run_child(struct host *h, const enum capability *list, size_t n)
{
	_cleanup_close_ int fd = -1;
	struct answer a;
	size_t done = 0;
	int r = 0;
	pid_t pid = start(h, list, n, &fd);
	if (pid < 0) {
		keep_failure(h, list[0], (int)pid, 0);
		return 1;
	}
	while (done < n && (r = next_answer(fd, &a)) == 1 && a.capability == (int)list[done]) {
		answer_keep(h, &a);
		done++;
	}
	/* one that died is waited for before it is killed, or its own end would not be seen */
	int status = 0;
	if (done == n || r == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	else
		status = end(pid);
	if (done < n)
		keep_failure(h, list[done++], r, status);
	return done;
}

void probe_in_child(struct host *h, const enum capability *list, size_t n)
{
	while (n > 0) {
		size_t done = run_child(h, list, n);
		list += done;
		n -= done;
	}
}
