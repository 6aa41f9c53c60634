/* The quick self-attack's attempts. Freestanding: part of the program inside the walls, see stage_main.c. */
#include "platform/mechanism/attack.h"

#include <linux/in.h>
#include <linux/prctl.h>

#include "preload/sys.h"

enum { PATH_SIZE = 600, AF_INET_ = 2, SOCK_DGRAM_ = 2, NEW_USER_AND_MOUNT = 0x10020000, TIOCSTI_ = 0x5412 };

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

struct target {
	const char *outside, *tmpdir, *unreadable, *unwritable;
	long supervisor, parent;
};

static long call(long number, long a, long b, long c, long d)
{
	return raw6(number, a, b, c, d, 0, 0);
}

static int answer(long r)
{
	return r < 0 ? ATTACK_REFUSED : ATTACK_SUCCEEDED;
}

static int opens(const char *path, int flags)
{
	long fd = sys_openat(AT_FDCWD, path, flags | O_CLOEXEC, 0600);
	if (fd >= 0)
		sys_close((int)fd);
	return answer(fd);
}

static size_t append(char to[PATH_SIZE], size_t n, const char *s)
{
	while (*s && n < PATH_SIZE - 1)
		to[n++] = *s++;
	to[n] = '\0';
	return n;
}

static const char *join(char to[PATH_SIZE], const char *directory, const char *name)
{
	append(to, append(to, append(to, 0, directory), "/"), name);
	return to;
}

static const char *of_process(char to[PATH_SIZE], long pid, const char *name)
{
	char number[24], directory[48] = "/proc/";
	size_t n = 0;
	do
		number[n++] = (char)('0' + pid % 10);
	while ((pid /= 10) && n < sizeof number);
	for (size_t i = 0; i < n; i++)
		directory[6 + i] = number[n - 1 - i];
	return join(to, directory, name);
}

static int write_outside(const struct target *t)
{
	char path[PATH_SIZE];
	return opens(join(path, t->outside, "file"), O_WRONLY);
}

static int create_outside(const struct target *t)
{
	char path[PATH_SIZE];
	return opens(join(path, t->outside, "made"), O_WRONLY | O_CREAT | O_EXCL);
}

static int truncate_outside(const struct target *t)
{
	char path[PATH_SIZE];
	return answer(call(SYS_truncate, (long)join(path, t->outside, "file"), 0, 0, 0));
}

static int rename_outside(const struct target *t)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	return answer(call(SYS_renameat2, AT_FDCWD, (long)join(from, t->outside, "file"), AT_FDCWD, (long)join(to, t->outside, "moved")));
}

static int link_outside(const struct target *t)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	long r = raw6(SYS_linkat, AT_FDCWD, (long)join(from, t->outside, "other"), AT_FDCWD, (long)join(to, t->tmpdir, "attack-link"), 0, 0);
	int written = r < 0 ? ATTACK_REFUSED : opens(to, O_WRONLY);
	call(SYS_unlinkat, AT_FDCWD, (long)to, 0, 0);
	return written;
}

static int chmod_outside(const struct target *t)
{
	char path[PATH_SIZE];
	return answer(call(SYS_fchmodat, AT_FDCWD, (long)join(path, t->outside, "other"), 0640, 0));
}

static int times_outside(const struct target *t)
{
	char path[PATH_SIZE];
	return answer(call(SYS_utimensat, AT_FDCWD, (long)join(path, t->outside, "other"), 0, 0));
}

/* Root may open anything; an empty file in its place gives nothing away. */
static int read_denied(const struct target *t)
{
	struct statx st = { 0 };
	if (!*t->unreadable)
		return ATTACK_NOT_TRIED;
	long fd = sys_openat(AT_FDCWD, t->unreadable, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return ATTACK_REFUSED;
	long r = raw6(SYS_statx, fd, (long)"", AT_EMPTY_PATH, STATX_SIZE, (long)&st, 0);
	sys_close((int)fd);
	return r == 0 && st.stx_size == 0 ? ATTACK_REFUSED : ATTACK_SUCCEEDED;
}

static int write_denied(const struct target *t)
{
	return *t->unwritable ? opens(t->unwritable, O_WRONLY | O_NONBLOCK) : ATTACK_NOT_TRIED;
}

static int read_environ(const struct target *t)
{
	char path[PATH_SIZE];
	return t->parent > 0 ? opens(of_process(path, t->parent, "environ"), O_RDONLY) : ATTACK_NOT_TRIED;
}

static int signal_outside(const struct target *t)
{
	return answer(call(SYS_kill, t->supervisor, 0, 0, 0));
}

static int read_memory(const struct target *t)
{
	char path[PATH_SIZE];
	return t->parent > 0 ? opens(of_process(path, t->parent, "mem"), O_RDONLY) : ATTACK_NOT_TRIED;
}

/* What is no terminal says ENOTTY, unless the call does not even come that far; then it is whether there is a terminal to reach. */
static int push_input(const struct target *t)
{
	(void)t;
	char byte = ' ';
	long null = sys_openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
	long r = call(SYS_ioctl, null, TIOCSTI_, (long)&byte, 0);
	sys_close((int)null);
	return r == -EPERM || r == -EACCES ? ATTACK_REFUSED : opens("/dev/tty", O_RDWR | O_NOCTTY);
}

static int gain_privileges(const struct target *t)
{
	(void)t;
	return call(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0) == 1 ? ATTACK_REFUSED : ATTACK_SUCCEEDED;
}

static int io_uring(const struct target *t)
{
	(void)t;
	char parameters[256];
	memset(parameters, 0, sizeof parameters);
	return answer(call(SYS_io_uring_setup, 1, (long)parameters, 0, 0));
}

static int load_bpf(const struct target *t)
{
	(void)t;
	struct { uint32_t type, key, value, entries; char rest[112]; } map = { 2 /* array */, 4, 4, 1, { 0 } };
	return answer(call(SYS_bpf, 0 /* BPF_MAP_CREATE */, (long)&map, sizeof map, 0));
}

static int fault_handler(const struct target *t)
{
	(void)t;
	return answer(call(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */, 0, 0, 0));
}

static int new_root(const struct target *t)
{
	(void)t;
	return answer(call(SYS_unshare, NEW_USER_AND_MOUNT, 0, 0, 0));
}

/* TEST-NET-1 of RFC 5737: nobody's address. Connecting a datagram socket only looks for a route. */
static int leave_network(const struct target *t)
{
	(void)t;
	const struct sockaddr_in to = { .sin_family = AF_INET_, .sin_port = 0x0900, .sin_addr = { .s_addr = 0x010200c0 } };
	long fd = call(SYS_socket, AF_INET_, SOCK_DGRAM_, 0, 0);
	return fd < 0 ? ATTACK_REFUSED : answer(call(SYS_connect, fd, (long)&to, sizeof to, 0));
}

static long number(const char *s)
{
	long n = 0;
	while (*s >= '0' && *s <= '9')
		n = n * 10 + (*s++ - '0');
	return n;
}

/* In a process of its own: where a filter kills whoever makes the call, that is a refusal, and the next attempt is another's. */
static int attempt(int (*attack)(const struct target *t), const struct target *t)
{
	int status = 0;
	long pid = call(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0);
	if (pid < 0)
		return attack(t);
	if (pid == 0)
		for (int outcome = attack(t);;)
			call(SYS_exit_group, outcome, 0, 0, 0);
	while (raw6(SYS_wait4, pid, (long)&status, 0, 0, 0, 0) == -EINTR)
		;
	return status & 0x7f ? ATTACK_REFUSED : status >> 8 & 0xff;
}

int attack_main(char **argv)
{
	const struct target t = {
		.outside = argv[ATTACK_ARG_OUTSIDE], .tmpdir = argv[ATTACK_ARG_TMPDIR], .unreadable = argv[ATTACK_ARG_UNREADABLE],
		.unwritable = argv[ATTACK_ARG_UNWRITABLE], .supervisor = number(argv[ATTACK_ARG_SUPERVISOR]), .parent = number(argv[ATTACK_ARG_PARENT]),
	};
	char outcome[ATTACK_COUNT];
#define ATTACK(id, guarantee, what) outcome[ATTACK_##id] = (char)attempt(id, &t);
#include "platform/mechanism/quick_attacks.def"
#undef ATTACK
	return call(SYS_write, number(argv[ATTACK_ARG_FD]), (long)outcome, sizeof outcome, 0) == sizeof outcome ? 0 : 1;
}
