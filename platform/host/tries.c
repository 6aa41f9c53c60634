/* What is tried in a child that exists for nothing else: most of it cannot be undone. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/host/probe.h"

/* ---- namespaces ---- */

/*
 * Creating one is not enough: where AppArmor restricts user namespaces they come without rights. So one of those rights is used. The
 * map of user ids is not written: for that this process would have to be dumpable, and its memory readable to others.
 */
void try_userns(struct host *h, struct answer *a)
{
	(void)h;
	answer_call(a, unshare(CLONE_NEWUSER), "unshare(CLONE_NEWUSER)");
	if (!a->available)
		return;
	answer_call(a, unshare(CLONE_NEWNS), "unshare(CLONE_NEWNS) in a user namespace of its own");
	if (!a->available)
		return;
	answer_call(a, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount(\"/\", MS_PRIVATE) in a user namespace of its own");
}

/* ---- Landlock ---- */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

enum { LANDLOCK_VERSION_FLAG = 1, LANDLOCK_READ_DIR_RIGHT = 1 << 3 };

/* Reading directories is refused everywhere, which a right of the first version does. */
static bool restrict_reading(struct answer *a)
{
	uint64_t rights = LANDLOCK_READ_DIR_RIGHT;
	_cleanup_close_ int fd = (int)syscall(SYS_landlock_create_ruleset, &rights, sizeof rights, 0);
	answer_call(a, fd, "landlock_create_ruleset");
	if (fd < 0)
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	answer_call(a, syscall(SYS_landlock_restrict_self, fd, 0), "landlock_restrict_self");
	return a->available;
}

void try_landlock(struct host *h, struct answer *a)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG);
	(void)h;
	answer_call(a, abi, "landlock_create_ruleset(VERSION)");
	if (!a->available || !restrict_reading(a))
		return;
	a->value = (int)abi;
	_cleanup_close_ int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		answer_no(a, 0, "landlock_restrict_self: ok, but what it refuses is done all the same");
	else
		answer_yes(a, "landlock_restrict_self: ok, and it refuses; ABI %d", a->value);
}

/* ---- seccomp ---- */

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

static long install(unsigned long flags, struct sock_filter *filter, unsigned short n)
{
	struct sock_fprog program = { .len = n, .filter = filter };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* An error that no kernel gives to this call, so that it can only come from the filter. */
enum { SIGN = EXFULL };

void try_seccomp(struct host *h, struct answer *a)
{
	struct sock_filter refuse[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | SIGN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	(void)h;
	answer_call(a, install(0, refuse, ARRAY_SIZE(refuse)), "seccomp(SECCOMP_SET_MODE_FILTER)");
	if (!a->available)
		return;
	if (syscall(SYS_getpriority, 0, 0) == -1 && errno == SIGN)
		answer_yes(a, "seccomp(SECCOMP_SET_MODE_FILTER): ok, and it refuses");
	else
		answer_no(a, 0, "seccomp(SECCOMP_SET_MODE_FILTER): ok, but what it refuses is done all the same");
}

/* Only the listener is asked for: where a kernel knows none, a filter that stops a call for it kills the thread. */
void try_notify(struct host *h, struct answer *a)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	long fd = install(SECCOMP_FILTER_FLAG_NEW_LISTENER, &allow, 1);
	(void)h;
	if (fd < 0 && errno == EBUSY)
		answer_no(a, EBUSY, "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER): another listener is already there");
	else
		answer_call(a, fd, "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER)");
	if (fd >= 0)
		close((int)fd);
}
