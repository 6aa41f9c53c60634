/*
 * pointers [KIND...]: gives each of a list of calls pointers that lead nowhere, and prints what came of it, one line each: an errno, or
 * the signal that ended it. Run without and with hurdle the two outputs must be the same.
 *
 * Kinds: where the pointer leads. The later ones lead to a good string at first, which is used, and then is taken away in one of
 * the ways that a program has for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

enum { PAGE = 4096 };

static const char *bad;
static char *bad_list(void) { return (char *)(uintptr_t)bad; }
static char *arguments[] = { NULL };

static long as_message(bool inside)
{
	struct msghdr m = { .msg_name = bad_list(), .msg_namelen = sizeof(struct sockaddr_un) };

	return sendmsg(socket(AF_UNIX, SOCK_DGRAM, 0), inside ? &m : (struct msghdr *)bad_list(), 0);
}

static long spawned(const char *path, char *const argv[], char *const envp[])
{
	pid_t pid;

	errno = posix_spawn(&pid, path, NULL, NULL, argv, envp);
	return errno ? -1 : 0;
}

/* ---- the calls: those that hand the pointer to the kernel; what libc itself reads ends a program anyway ---- */

#define CALLS(X) \
	X(open, open(bad, O_RDONLY)) X(open_write, open(bad, O_WRONLY | O_CREAT, 0600)) X(openat, openat(AT_FDCWD, bad, O_RDWR)) \
	X(creat, creat(bad, 0600)) X(fopen, fopen(bad, "r") ? 0 : -1) X(fopen_write, fopen(bad, "w") ? 0 : -1) \
	X(freopen, freopen(bad, "r", stdin) ? 0 : -1) X(mkdir, mkdir(bad, 0700)) \
	X(mknod, mknod(bad, S_IFIFO | 0600, 0)) X(mkfifo, mkfifo(bad, 0600)) X(symlink, symlink("x", bad)) X(symlink_to, symlink(bad, "x")) \
	X(link, link(bad, "x")) X(link_to, link("x", bad)) X(linkat, linkat(AT_FDCWD, bad, AT_FDCWD, "x", 0)) X(unlink, unlink(bad)) \
	X(unlinkat, unlinkat(AT_FDCWD, bad, 0)) X(rmdir, rmdir(bad)) X(remove, remove(bad)) X(rename, rename(bad, "x")) \
	X(rename_to, rename("x", bad)) X(renameat, renameat(AT_FDCWD, bad, AT_FDCWD, "x")) X(truncate, truncate(bad, 0)) \
	X(chmod, chmod(bad, 0600)) X(fchmodat, fchmodat(AT_FDCWD, bad, 0600, 0)) X(chown, chown(bad, (uid_t)-1, (gid_t)-1)) \
	X(lchown, lchown(bad, (uid_t)-1, (gid_t)-1)) X(fchownat, fchownat(AT_FDCWD, bad, (uid_t)-1, (gid_t)-1, 0)) \
	X(utime, utime(bad, NULL)) X(utimes, utimes(bad, NULL)) X(utimensat, utimensat(AT_FDCWD, bad, NULL, 0)) X(access, access(bad, W_OK)) \
	X(faccessat, faccessat(AT_FDCWD, bad, R_OK, 0)) X(setxattr, setxattr(bad, "user.x", "", 0, 0)) X(getxattr, getxattr(bad, "user.x", NULL, 0)) \
	X(removexattr, removexattr(bad, "user.x")) X(chdir, chdir(bad)) X(execve, execve(bad, arguments, arguments)) \
	X(execve_argv, execve("/bin/true", (char *const *)bad_list(), arguments)) X(execve_envp, execve("/bin/true", arguments, (char *const *)bad_list())) \
	X(execve_entry, execve("/bin/true", arguments, (char *[]){ bad_list(), NULL })) X(execv, execv(bad, arguments)) \
	X(spawn, spawned(bad, arguments, arguments)) X(spawn_envp, spawned("/bin/true", arguments, (char *const *)bad_list())) \
	X(connect, connect(socket(AF_UNIX, SOCK_STREAM, 0), (const void *)bad, sizeof(struct sockaddr_un))) \
	X(bind, bind(socket(AF_UNIX, SOCK_STREAM, 0), (const void *)bad, sizeof(struct sockaddr_un))) \
	X(sendto, sendto(socket(AF_UNIX, SOCK_DGRAM, 0), "x", 1, 0, (const void *)bad, sizeof(struct sockaddr_un))) \
	X(sendmsg, as_message(false)) X(sendmsg_name, as_message(true)) \
	X(sendmmsg, sendmmsg(socket(AF_UNIX, SOCK_DGRAM, 0), (struct mmsghdr *)bad_list(), 1, 0)) \
	X(sys_open, syscall(SYS_openat, AT_FDCWD, bad, O_RDWR)) X(sys_openat2, syscall(437, AT_FDCWD, bad, &(long long[3]){ 0 }, 24)) \
	X(sys_openat2_how, syscall(437, AT_FDCWD, "x", bad, 24)) X(sys_mkdirat, syscall(SYS_mkdirat, AT_FDCWD, bad, 0700)) \
	X(sys_rename, syscall(SYS_renameat2, AT_FDCWD, bad, AT_FDCWD, "x", 0)) X(sys_unlink, syscall(SYS_unlinkat, AT_FDCWD, bad, 0)) \
	X(sys_execve, syscall(SYS_execve, bad, arguments, arguments)) X(sys_connect, syscall(SYS_connect, socket(AF_UNIX, SOCK_STREAM, 0), bad, 110))

#define CALL(name, expression) static long call_##name(void) { return (long)(expression); }
CALLS(CALL)

static const struct { const char *name; long (*run)(void); } calls[] = {
#define ROW(name, expression) { #name, call_##name },
	CALLS(ROW)
};

/* ---- the pointers ---- */

/* Two pages, of which the second is not there; what ends the first has no NUL. */
static char *before_a_hole(const char *text)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t n = strlen(text);

	if (p == MAP_FAILED || munmap(p + PAGE, PAGE) < 0)
		abort();
	return memcpy(p + PAGE - n, text, n);
}

/* Between two others, so that what libc maps meanwhile does not come to stand there. */
static char *page(void)
{
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return strcpy(p + PAGE, "name");
}

/* Used, so that whoever remembers good pages remembers this one. */
static char *used(char *p)
{
	access(p, W_OK);
	close(open(p, O_RDWR));
	if (!*p)
		abort();
	return p;
}

static char *at(uintptr_t n) { return (char *)n; }
static char *no_access(void) { return mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static char *unmapped(void)
{
	char *p = used(page());

	munmap(p, PAGE);
	return p;
}

static char *unmapped_by_number(void)
{
	char *p = used(page());

	syscall(SYS_munmap, p, PAGE);
	return p;
}

static char *taken_away(void)
{
	char *p = used(page());

	mprotect(p, PAGE, PROT_NONE);
	return p;
}

static char *taken_by_number(void)
{
	char *p = used(page());

	syscall(SYS_mprotect, p, PAGE, PROT_NONE);
	return p;
}

static char *moved(void)
{
	char *p = used(page());

	if (mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page()) == MAP_FAILED)
		abort();
	return p;
}

static char *mapped_over(void)
{
	char *p = used(page());

	return mmap(p, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static char *mapped_over_64(void)
{
	char *p = used(page());

#ifdef __GLIBC__
	return mmap64(p, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
#else
	return mmap(p, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
#endif
}

static char *detached(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
	char *p = id < 0 ? (char *)-1 : shmat(id, page(), SHM_REMAP);

	shmctl(id, IPC_RMID, NULL);
	if (p == (char *)-1)
		return at(PAGE); /* no shared memory here */
	used(strcpy(p, "name"));
	shmdt(p);
	return p;
}

/* No end within 4096 bytes: ENAMETOOLONG, however the memory goes on. */
static char *endless(void)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 'x', 4 * PAGE - 1);
	return p;
}

static const struct kind { const char *name; char *(*make)(void); uintptr_t value; } kinds[] = {
	{ "null", NULL, 0 }, { "one", NULL, 1 }, { "second-page", NULL, PAGE }, { "odd", NULL, 0x123456789 }, { "minus-one", NULL, (uintptr_t)-1 },
	{ "kernel", NULL, (uintptr_t)1 << (sizeof(long) * 8 - 1) }, { "no-access", no_access, 0 }, { "hole", NULL, 2 }, { "hole-path", NULL, 3 },
	{ "hole-one-byte", NULL, 4 }, { "munmap", unmapped, 0 }, { "munmap-number", unmapped_by_number, 0 }, { "mprotect", taken_away, 0 },
	{ "mprotect-number", taken_by_number, 0 }, { "mremap", moved, 0 }, { "mmap", mapped_over, 0 }, { "mmap64", mapped_over_64, 0 },
	{ "shmdt", detached, 0 }, { "endless", endless, 0 },
};

static char *make(const struct kind *k)
{
	if (k->make)
		return k->make();
	switch (k->value) {
	case 2: return before_a_hole("name");
	case 3: return before_a_hole("/proc/self/../self/cwd/a/long/way/down/to/a/file");
	case 4: return before_a_hole("n");
	default: return at(k->value);
	}
}

static void try_one(const struct kind *k, const char *name, long (*run)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bad = make(k);
		errno = 0;
		_exit(run() >= 0 ? 0 : errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		exit(2);
	if (WIFSIGNALED(status))
		printf("%s %s: signal %d\n", k->name, name, WTERMSIG(status));
	else
		printf("%s %s: %s\n", k->name, name, WEXITSTATUS(status) ? strerror(WEXITSTATUS(status)) : "done");
}

int main(int argc, char **argv)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		bool wanted = argc == 1;

		for (int i = 1; i < argc; i++)
			wanted |= !strcmp(argv[i], kinds[k].name);
		for (size_t i = 0; wanted && i < sizeof(calls) / sizeof(*calls); i++)
			try_one(&kinds[k], calls[i].name, calls[i].run);
	}
	return 0;
}
