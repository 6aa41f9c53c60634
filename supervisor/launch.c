#include "supervisor/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/cleanup.h"

static bool was_closed[3];

void launch_hold_closed_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			was_closed[fd] = open("/dev/null", O_RDWR) == fd;
}

/* ---- the program ---- */

static const char *path_of_command(const struct launch *l)
{
	/* what is scrubbed or set later does not concern PATH, unless the user sets it */
	for (size_t i = 0; i < l->policy->env_set.n; i++)
		if (strncmp(l->policy->env_set.v[i], "PATH=", 5) == 0)
			return l->policy->env_set.v[i] + 5;
	for (char *const *e = l->environ; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			return *e + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

static int try_program(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return access(path, X_OK) < 0 ? -errno : 0;
}

int launch_find_program(struct launch *l, struct err *err)
{
	const char *name = l->argv[0], *path = path_of_command(l);
	int worst = -ENOENT;
	if (strchr(name, '/')) {
		int r = try_program(name);
		l->program = r == 0 ? xstrdup(name) : NULL;
		return r < 0 ? err_set(err, r, "cannot run '%s': %s", name, strerror(-r)) : 0;
	}
	while (*name) {
		size_t n = strcspn(path, ":");
		_cleanup_free_ char *candidate = n ? strf("%.*s/%s", (int)n, path, name) : strf("./%s", name);
		int r = try_program(candidate);
		if (r == 0) {
			l->program = TAKE_PTR(candidate);
			return 0;
		}
		if (r == -EACCES)
			worst = r;
		if (!path[n])
			break;
		path += n + 1;
	}
	return err_set(err, worst, "cannot run '%s': %s", name, worst == -ENOENT ? "not found in PATH" : strerror(-worst));
}

int launch_prepare(struct launch *l, struct err *err)
{
	for (size_t i = n_mechanisms; i-- > 0;) {
		int r = mechanisms[i]->prepare ? mechanisms[i]->prepare(l, err) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- the child ---- */

/* As execvp: a file without a magic number is a shell script. */
static void exec_program(const struct launch *l)
{
	execve(l->program, l->argv, l->env.envp);
	if (errno != ENOEXEC)
		return;
	size_t n = 0;
	while (l->argv[n])
		n++;
	char **argv = xcalloc(n + 2, sizeof *argv);
	argv[0] = (char[]){ "/bin/sh" };
	argv[1] = l->program;
	for (size_t i = 1; i < n; i++)
		argv[i + 1] = l->argv[i];
	execve(argv[0], argv, l->env.envp);
}

static void __attribute__((noreturn)) child(struct launch *l, const sigset_t *mask, pid_t supervisor)
{
	struct err err = ERR_NONE;
	if (l->own_group)
		setpgid(0, 0);
	if (l->session.page)
		l->session.page->main_pid = getpid();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != supervisor)
		_exit(EXIT_REFUSED);
	for (size_t i = 0; i < n_mechanisms; i++)
		if (mechanisms[i]->enter && mechanisms[i]->enter(l, &err) < 0) {
			say_err(&err);
			_exit(EXIT_REFUSED);
		}
	for (int fd = 0; fd < 3; fd++)
		if (was_closed[fd])
			close(fd);
	sigprocmask(SIG_SETMASK, mask, NULL);
	exec_program(l);
	int error = errno;
	say("cannot run '%s': %s", l->program, strerror(error));
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* Where orphans are not inherited or not found, a group is what can still be ended together; on a terminal it would lose it. */
static bool needs_group(const struct host *h)
{
	if (h->caps[CAP_SUBREAPER].available && h->caps[CAP_PROC].available)
		return false;
	_cleanup_close_ int tty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return tty < 0;
}

int launch_start(struct launch *l, struct err *err)
{
	sigset_t all, mask;
	pid_t self = getpid();
	l->own_group = needs_group(l->host);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	l->pid = vfork(); /* no copy of the supervisor: the child only makes system calls on its way to exec */
	if (l->pid < 0) {
		int r = err_set(err, -errno, "cannot start a process: %s", strerror(errno));
		sigprocmask(SIG_SETMASK, &mask, NULL);
		return r;
	}
	if (l->pid == 0)
		child(l, &mask, self);
	return 0;
}
