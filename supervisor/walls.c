/*
 * The launch behind walls is itself the probe of them: the program inside says hello before the command starts, and until then
 * nothing of the user's has run. What the walls' program had to say about its failure is kept for the message.
 */
#include "supervisor/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { HELLO_SECONDS = 10, WORDS_SIZE = 1024 };

/* Both ends of all that goes into the walls; the inner ones are closed here once the walls' program has them. */
struct lines { int report, inner_report, words, inner_words, block, stderr_copy; };

static void lines_close(struct lines *n)
{
	int *const all[] = { &n->report, &n->inner_report, &n->words, &n->inner_words, &n->block, &n->stderr_copy };
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (*all[i] >= 0)
			close(TAKE_FD(*all[i]));
}

static int lines_open(struct lines *n)
{
	int pair[2], one = 1;
	*n = (struct lines){ -1, -1, -1, -1, -1, -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	n->report = pair[0];
	n->inner_report = pair[1];
	/* the kernel says which process speaks, in our numbers */
	if (setsockopt(n->report, SOL_SOCKET, SO_PASSCRED, &one, sizeof one) < 0 || pipe2(pair, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	n->words = pair[0];
	n->inner_words = pair[1];
	n->stderr_copy = fcntl(2, F_DUPFD_CLOEXEC, 3);
	return n->stderr_copy < 0 ? -errno : 0;
}

/* In memory where there is such a file, else one without a name in the session's directory. */
static int open_block_file(const struct launch *l)
{
	int fd = memfd_create("hurdle", MFD_CLOEXEC);
	if (fd >= 0)
		return fd;
	fd = openat(l->session.dirfd, "stage", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlinkat(l->session.dirfd, "stage", 0);
	return fd < 0 ? -errno : fd;
}

static int write_block(const struct launch *l, const struct stage_options *o, struct lines *n)
{
	struct stage_options inner = *o;
	inner.report_fd = n->inner_report;
	inner.stderr_fd = n->stderr_copy;
	inner.cwd = l->policy->cwd;
	_cleanup_free_ struct stage *block = stage_block(l, &inner);
	n->block = open_block_file(l);
	return n->block < 0 ? n->block : write_all(n->block, block, block->size);
}

/* ---- the child ---- */

static void keep_open(int fd)
{
	fcntl(fd, F_SETFD, 0);
}

/* Signals stay blocked: what a terminal sends to the group is for the command, and the walls would not survive it. */
static void __attribute__((noreturn)) child(const struct launch *l, const struct lines *n, char *const argv[], pid_t supervisor)
{
	char *const none[] = { NULL };
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != supervisor)
		_exit(EXIT_REFUSED);
	for (size_t i = 0; i < l->walls.n_fds; i++)
		keep_open(l->walls.fds[i]);
	for (size_t i = 0; i < l->n_pass_fds; i++)
		keep_open(l->pass_fds[i]);
	if (l->confine.landlock_fd >= 0)
		keep_open(l->confine.landlock_fd);
	if (l->session.page)
		keep_open(l->session.events_fd);
	keep_open(n->inner_report);
	keep_open(n->block);
	keep_open(n->stderr_copy);
	dup2(n->inner_words, 2);
	execve(l->walls.program, argv, none);
	_exit(EXIT_CANNOT_RUN);
}

static int start(struct launch *l, const struct lines *n, struct err *err)
{
	const size_t count = l->walls.argv.n;
	_cleanup_free_ char **argv = xcalloc(count + 3, sizeof *argv), *inside = strf("%s/" WIRE_STAGE, l->session.dir), *fd = strf("%d", n->block);
	pid_t self = getpid();
	memcpy(argv, l->walls.argv.v, count * sizeof *argv);
	argv[count] = inside;
	argv[count + 1] = fd;
	l->pid = vfork();
	if (l->pid == 0)
		child(l, n, argv, self);
	return l->pid < 0 ? err_set(err, -errno, "cannot start a process: %s", strerror(errno)) : 0;
}

/* ---- hearing ---- */

/* *ret_pid: as the kernel vouches for it; 0 when that process has ended. False: nothing came. */
static bool receive(int fd, struct stage_report *ret, pid_t *ret_pid)
{
	char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec iov = { ret, sizeof *ret };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	if (recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *ret)
		return false;
	*ret_pid = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred who;
			memcpy(&who, CMSG_DATA(c), sizeof who);
			*ret_pid = who.pid;
		}
	return true;
}

bool walls_hear(const struct launch *l, struct stage_report *ret)
{
	pid_t pid;
	return l->report_fd >= 0 && receive(l->report_fd, ret, &pid);
}

void walls_go(const struct launch *l)
{
	const struct stage_report go = { .kind = STAGE_HELLO };
	if (l->report_fd >= 0)
		send(l->report_fd, &go, sizeof go, MSG_NOSIGNAL);
}

static long milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What the walls' program said on its standard error: its last line. */
static char *words_of(int fd)
{
	char text[WORDS_SIZE];
	ssize_t n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	const char *line = strrchr(text, '\n');
	return str_escape(line ? line + 1 : text);
}

static void end_walls(struct launch *l, int *ret_status)
{
	kill(l->pid, SIGKILL);
	while (waitpid(l->pid, ret_status, 0) < 0 && errno == EINTR)
		;
	l->pid = 0;
}

static int did_not_come_up(struct launch *l, const struct lines *n, bool hangs, struct err *err)
{
	int status = 0;
	if (hangs) {
		end_walls(l, &status);
		return err_set(err, -EAGAIN, "%s did not start anything within %d seconds", l->walls.name, HELLO_SECONDS);
	}
	end_walls(l, &status);
	_cleanup_free_ char *words = words_of(n->words);
	if (*words)
		return err_set(err, -EAGAIN, "%s", words);
	if (WIFEXITED(status))
		return err_set(err, -EAGAIN, "%s ended with status %d and no word", l->walls.name, WEXITSTATUS(status));
	return err_set(err, -EAGAIN, "%s was ended by signal %d", l->walls.name, WTERMSIG(status));
}

/* The end of the other side without a hello: the walls' program has gone, or could not start what is inside. */
static int wait_for_hello(struct launch *l, const struct lines *n, struct err *err)
{
	const long until = milliseconds() + HELLO_SECONDS * 1000;
	for (;;) {
		struct stage_report r = { 0 };
		struct pollfd p = { .fd = n->report, .events = POLLIN };
		long left = until - milliseconds();
		int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		pid_t pid = 0;
		bool heard = ready > 0 && receive(n->report, &r, &pid);
		if (heard && pid > 0 && r.kind == STAGE_HELLO) {
			l->command = pid;
			l->command_fd = (int)syscall(SYS_pidfd_open, pid, 0);
			return 0;
		}
		if (heard && r.kind == STAGE_FAILED) {
			int status;
			end_walls(l, &status);
			return err_set(err, -EAGAIN, "%s: %s", stage_step_words((enum stage_step)r.step), strerror(r.value));
		}
		if (ready >= 0 && !heard)
			return did_not_come_up(l, n, ready == 0, err);
	}
}

int walls_start(struct launch *l, const struct stage_options *o, struct err *err)
{
	_cleanup_(lines_close) struct lines n;
	int r = lines_open(&n);
	if (r == 0)
		r = write_block(l, o, &n);
	if (r < 0)
		return err_set(err, -EAGAIN, "cannot prepare the start inside %s: %s", l->walls.name, strerror(-r));
	r = start(l, &n, err);
	if (r < 0)
		return r;
	close(TAKE_FD(n.inner_report));
	close(TAKE_FD(n.inner_words));
	r = wait_for_hello(l, &n, err);
	if (r == 0)
		l->report_fd = TAKE_FD(n.report);
	return r;
}
