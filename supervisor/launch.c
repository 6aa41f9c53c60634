#include "supervisor/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "supervisor/walls.h"

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
	env_make_caches(l);
	for (size_t i = n_mechanisms; i-- > 0;) {
		bool use = l->chosen >> i & 1 && mechanisms[i]->prepare;
		int r = use ? mechanisms[i]->prepare(l, err) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

void launch_unprepare(struct launch *l)
{
	for (size_t i = 0; i < l->walls.n_fds; i++)
		close(l->walls.fds[i]);
	if (l->confine.landlock_fd >= 0)
		close(l->confine.landlock_fd);
	free(l->confine.filter);
	free(l->walls.program);
	strv_free(&l->walls.argv);
	strv_free(&l->extra_env);
	scrub_result_clear(&l->env);
	route_release(&l->route);
	l->walls = (struct walls){ 0 };
	l->confine = (struct confinement){ .landlock_fd = -1 };
}

/* ---- the child ---- */

static void __attribute__((noreturn)) child(struct launch *l, struct stage *block, pid_t supervisor)
{
	enum stage_step step = STAGE_STEP_NONE;
	if (l->own_group)
		setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != supervisor)
		_exit(EXIT_REFUSED);
	int error = (int)-stage_enter(block, &step);
	_exit(launch_say_failure(l, step, error));
}

/* Descriptor 2 may be closed again by now; then nobody hears it. */
int launch_say_failure(const struct launch *l, enum stage_step step, int error)
{
	if (step != STAGE_STEP_EXEC) {
		say("%s: %s", stage_step_words(step), strerror(error));
		return EXIT_REFUSED;
	}
	say("cannot run '%s': %s", l->program, strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Where orphans are not inherited or not found, a group is what can still be ended together; on a terminal it would lose it. */
static bool needs_group(const struct launch *l)
{
	if (l->walls.name || (l->host->caps[CAP_SUBREAPER].available && l->host->caps[CAP_PROC].available))
		return false;
	_cleanup_close_ int tty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return tty < 0;
}

static uint32_t closed_low(void)
{
	return (uint32_t)was_closed[0] | (uint32_t)was_closed[1] << 1 | (uint32_t)was_closed[2] << 2;
}

static uint64_t kernel_mask(const sigset_t *set)
{
	uint64_t mask = 0;
	for (int n = 1; n <= 64; n++)
		if (sigismember(set, n) == 1)
			mask |= (uint64_t)1 << (n - 1);
	return mask;
}

static int start_child(struct launch *l, const struct stage_options *o, struct err *err)
{
	_cleanup_free_ struct stage *block = stage_block(l, o);
	pid_t self = getpid();
	l->pid = vfork(); /* no copy of the supervisor: the child only makes system calls on its way to exec */
	if (l->pid == 0)
		child(l, block, self);
	return l->pid < 0 ? err_set(err, -errno, "cannot start a process: %s", strerror(errno)) : 0;
}

int launch_start(struct launch *l, struct err *err)
{
	sigset_t all, mask;
	l->own_group = needs_group(l);
	l->report_fd = l->command_fd = -1;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	const struct stage_options o = {
		.signal_mask = kernel_mask(&mask), .close_low = closed_low(), .report_fd = -1, .stderr_fd = -1,
		.events_fd = l->session.page ? l->session.events_fd : -1,
	};
	int r = l->walls.name ? walls_start(l, &o, err) : start_child(l, &o, err);
	if (r < 0)
		sigprocmask(SIG_SETMASK, &mask, NULL);
	return r;
}
