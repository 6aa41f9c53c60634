/*
 * While the command runs. It stays in hurdle's own process group: a terminal's signals reach it by themselves, a pipeline
 * around hurdle keeps its foreground group, and a shell's job control sees one job. What is left to do is to pass on
 * signals that were sent to hurdle alone, to stop when the command stops, and to clean up.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "supervisor/launch.h"
#include "supervisor/proxy_run.h"
#include "supervisor/walls.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum { GRACE_SECONDS = 5, KILL_STEP_MS = 20 };

struct watch {
	struct launch *l;
	pid_t child;   /* the command, or the walls around it */
	pid_t command;
	bool ended, group;
	bool told;     /* the status comes from inside the walls, and is truer than theirs */
	int status;
	int failed;    /* exit code of a command that could not be started inside the walls; 0: it was */
};

/* Behind walls the command is nobody's child here; its pidfd cannot come to mean another process. */
static void send(const struct watch *w, int signal)
{
	if (w->l->command_fd >= 0)
		syscall(SYS_pidfd_send_signal, w->l->command_fd, signal, NULL, 0);
	else
		kill(w->group ? -w->command : w->command, signal);
}

/* The command stopped (Ctrl-Z, or a stop of its own): so does hurdle, or the shell would wait for ever. */
static void stop_along(struct watch *w)
{
	kill(getpid(), SIGSTOP);
	send(w, SIGCONT);
}

static void hear(struct watch *w)
{
	struct stage_report r;
	while (walls_hear(w->l, &r)) {
		if (r.kind == STAGE_STOPPED)
			stop_along(w);
		else if (r.kind == STAGE_FAILED)
			w->failed = launch_say_failure(w->l, (enum stage_step)r.step, r.value);
		else if (r.kind == STAGE_EXITED) {
			w->told = true;
			w->status = r.value;
		}
	}
}

/* Every child that changed; orphans of the command are ours too. False when there is none left. */
static bool reap(struct watch *w)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
		if (pid == 0)
			return true;
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return false;
		if (pid != w->child) {
			proxy_run_reaped(w->l, pid);
			continue;
		}
		if (WIFSTOPPED(status)) {
			stop_along(w);
		} else {
			w->ended = true;
			hear(w);
			w->status = w->told ? w->status : status;
		}
	}
}

/* A signal that the kernel sent from the terminal went to the whole group; but that it is gone only the session's leader is told. */
static bool command_has_it(const struct watch *w, const siginfo_t *info)
{
	return info->si_code == SI_KERNEL && !w->group && !(info->si_signo == SIGHUP && getsid(0) == getpid());
}

static void pass_on(struct watch *w, const siginfo_t *info)
{
	switch (info->si_signo) {
	case SIGTERM: case SIGINT: case SIGHUP: case SIGQUIT: case SIGUSR1: case SIGUSR2: case SIGALRM:
		if (!command_has_it(w, info))
			send(w, info->si_signo);
		break;
	case SIGIO:
		hear(w);
		break;
	default:
		break;
	}
}

/* ---- the end ---- */

struct process { pid_t pid, parent; };

static size_t list_processes(struct process **ret)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	size_t n = 0, cap = 0;
	*ret = NULL;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		char path[300];
		_cleanup_free_ char *text = NULL;
		int parent;
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		if (read_file(path, 4096, &text, NULL) < 0)
			continue;
		const char *s = strrchr(text, ')');
		if (!s || sscanf(s + 1, " %*c %d", &parent) != 1)
			continue;
		if (n == cap)
			*ret = xreallocarray(*ret, cap = cap ? cap * 2 : 256, sizeof **ret);
		(*ret)[n++] = (struct process){ (pid_t)atoi(e->d_name), parent };
	}
	return n;
}

static bool descends(const struct process *list, size_t n, pid_t pid, pid_t from)
{
	for (int depth = 0; depth < 100 && pid > 1; depth++) {
		pid_t parent = 0;
		for (size_t i = 0; i < n && !parent; i++)
			if (list[i].pid == pid)
				parent = list[i].parent;
		if (parent == from)
			return true;
		pid = parent;
	}
	return false;
}

/* Only processes that descend from this one: all of them are the run's. */
static void signal_descendants(int signal)
{
	_cleanup_free_ struct process *list = NULL;
	size_t n = list_processes(&list);
	for (size_t i = 0; i < n; i++)
		if (descends(list, n, list[i].pid, getpid()))
			kill(list[i].pid, signal);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool wait_for_all(struct watch *w, double until)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while (reap(w)) {
		double left = until - now();
		if (left <= 0)
			return false;
		struct timespec t = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };
		sigtimedwait(&set, NULL, &t);
	}
	return true;
}

static void end_all(struct watch *w)
{
	if (w->group)
		kill(-w->command, SIGTERM);
	if (!reap(w))
		return;
	signal_descendants(SIGTERM);
	signal_descendants(SIGCONT);
	if (wait_for_all(w, now() + GRACE_SECONDS))
		return;
	/* what forks while it is killed is found in the next round */
	for (int round = 0; round < 250; round++) {
		signal_descendants(SIGKILL);
		if (w->group)
			kill(-w->command, SIGKILL);
		if (wait_for_all(w, now() + KILL_STEP_MS / 1000.0))
			return;
	}
}

/*
 * An interactive shell gives the terminal to a group of its own, and back at its end; but from behind walls the group it came from
 * has no number, so it cannot. -1: hurdle does not have the terminal, and so has nothing to take back.
 */
static int terminal_in_hand(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && tcgetpgrp(fd) != getpgrp()) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void take_terminal_back(int fd)
{
	/* SIGTTOU is blocked, as all are */
	if (fd >= 0 && tcgetpgrp(fd) != getpgrp())
		tcsetpgrp(fd, getpgrp());
}

void watch_run(struct launch *l, struct outcome_of_run *ret)
{
	struct watch w = { .l = l, .child = l->pid, .command = l->command ? l->command : l->pid, .group = l->own_group };
	sigset_t all;
	siginfo_t info;
	_cleanup_close_ int terminal = l->walls.name ? terminal_in_hand() : -1;
	sigfillset(&all);
	if (l->report_fd >= 0 && fcntl(l->report_fd, F_SETOWN, getpid()) == 0)
		fcntl(l->report_fd, F_SETFL, O_NONBLOCK | O_ASYNC);
	/* the command may have ended before the first wait */
	for (hear(&w), reap(&w); !w.ended;) {
		if (sigwaitinfo(&all, &info) < 0)
			continue;
		pass_on(&w, &info);
		reap(&w);
	}
	proxy_run_stop(l); /* or it would be waited for as one that the command left behind */
	end_all(&w);
	take_terminal_back(terminal);
	ret->signal = WIFSIGNALED(w.status) ? WTERMSIG(w.status) : 0;
	ret->exit = w.failed ? w.failed : ret->signal ? 128 + ret->signal : WEXITSTATUS(w.status);
}
