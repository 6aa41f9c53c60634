/* The proxy's process: started, confined, ended. */
#include "supervisor/proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/mechanism/mechanism.h"

enum { LISTEN_FD = 3, CONTROL_FD = 4, NOBODY = 65534, FILE_BYTES = 0 };

/* ---- inside ---- */

static void reset_signals(void)
{
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		signal(n, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* the terminal's signals are for the command */
	setpgid(0, 0);
}

/* Standard descriptors lead nowhere, 3 listens, 4 is the supervisor's end; nothing else is inherited. */
static int keep_descriptors(int listen_fd, int control_fd)
{
	int high_listen = fcntl(listen_fd, F_DUPFD, 16), high_control = fcntl(control_fd, F_DUPFD, 16), null = open("/dev/null", O_RDWR);

	if (high_listen < 0 || high_control < 0 || null < 0)
		return -errno;
	for (int fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			return -errno;
	if (dup2(high_listen, LISTEN_FD) < 0 || dup2(high_control, CONTROL_FD) < 0)
		return -errno;
	closefrom(CONTROL_FD + 1);
	return 0;
}

static void drop_all_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	syscall(SYS_capset, &header, data);
}

/* What reads the network is nobody's process: it writes no file, starts no program, gains nothing. Root's becomes another user
 * where there is one (a user namespace may know none). A seccomp filter and Landlock come in here, once hurdle has them. */
static int confine(pid_t supervisor)
{
	if (geteuid() == 0) {
		setgroups(0, NULL);
		if (setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
			return -errno;
	}
	drop_all_capabilities();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ FILE_BYTES, FILE_BYTES });
	/* last, since a change of user takes it away */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return getppid() == supervisor ? 0 : -ESRCH;
}

static void __attribute__((noreturn)) inside(const struct proxy_options *o, struct record *record, int control_fd, pid_t supervisor)
{
	struct proxy_options options = *o;

	reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (keep_descriptors(o->listen_fd, control_fd) < 0)
		_exit(1);
	prctl(PR_SET_NAME, "hurdle-proxy", 0, 0, 0);
	options.listen_fd = LISTEN_FD;
	_exit(proxy_serve(&options, record, CONTROL_FD, confine, supervisor) < 0);
}

/* ---- outside ---- */

int proxy_start(struct proxy *p, const struct proxy_options *o)
{
	const pid_t self = getpid();
	int control[2], r = 0;

	p->control_fd = -1;
	p->record = mmap(NULL, sizeof(*p->record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->record == MAP_FAILED) {
		p->record = NULL;
		return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0) {
		r = -errno;
		proxy_release(p);
		return r;
	}
	p->pid = fork();
	if (p->pid == 0)
		inside(o, p->record, control[1], self);
	r = p->pid < 0 ? -errno : 0;
	close(control[1]);
	p->control_fd = control[0];
	if (r < 0) {
		p->pid = 0;
		proxy_release(p);
	}
	return r;
}

bool proxy_reaped(struct proxy *p, pid_t pid)
{
	if (!p->pid || p->pid != pid)
		return false;
	p->pid = 0;
	p->died = true;
	return true;
}

/* What it knows stands in the record at any time, so there is nothing to wait for. */
void proxy_stop(struct proxy *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	p->pid = 0;
	if (p->control_fd >= 0)
		close(p->control_fd);
	p->control_fd = -1;
}

void proxy_release(struct proxy *p)
{
	proxy_stop(p);
	if (p->record)
		munmap(p->record, sizeof(*p->record));
	free(p->parent_http);
	free(p->parent_https);
	free(p->parent_no_proxy);
	*p = PROXY_NONE;
}
