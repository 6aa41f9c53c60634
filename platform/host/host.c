#include "platform/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "platform/base/sys.h"
#include "platform/host/probe.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

const struct capability_info capability_infos[CAP_COUNT] = {
#define CAPABILITY(id, name_, where_, function_, package_, text_) \
	[CAP_##id] = { .name = name_, .text = text_, .package = package_, .where = where_, .try = function_ },
#include "platform/host/capabilities.def"
#undef CAPABILITY
};

const char *capability_name(enum capability c) { return capability_infos[c].name; }
const char *capability_text(enum capability c) { return capability_infos[c].text; }
const char *capability_package(enum capability c) { return capability_infos[c].package; }

void host_set(struct host *h, enum capability c, bool available, const char *format, ...)
{
	struct str s = STR_INIT;
	va_list ap;
	va_start(ap, format);
	str_vaddf(&s, format, ap);
	va_end(ap);
	free(h->caps[c].evidence);
	h->caps[c] = (struct capability_state){ .tried = true, .available = available, .evidence = str_take(&s) };
}

void answer_keep(struct host *h, const struct answer *a)
{
	const enum capability c = (enum capability)a->capability;
	host_set(h, c, a->available, "%s", a->evidence);
	h->caps[c].error = a->error;
	if (c == CAP_LANDLOCK)
		h->landlock_abi = a->available ? a->value : 0;
}

/* ---- what changes nothing ---- */

void try_openat2(struct host *h, struct answer *a)
{
	struct { uint64_t flags, mode, resolve; } how = { O_PATH | O_CLOEXEC, 0, 4 /* RESOLVE_NO_SYMLINKS */ };
	long fd = syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);
	(void)h;
	answer_call(a, fd, "openat2(\"/\", RESOLVE_NO_SYMLINKS)");
	if (fd >= 0)
		close((int)fd);
}

/* asks, changes nothing: a kernel that can set it can say whether it is set */
void try_no_new_privs(struct host *h, struct answer *a)
{
	(void)h;
	answer_call(a, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), "prctl(PR_GET_NO_NEW_PRIVS)");
}

void try_subreaper(struct host *h, struct answer *a)
{
	(void)h;
	answer_call(a, prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl(PR_SET_CHILD_SUBREAPER)");
}

void try_proc(struct host *h, struct answer *a)
{
	char name[64];
	_cleanup_close_ int fd = open("/", O_PATH | O_CLOEXEC);
	char path[40];
	(void)h;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(path, name, sizeof name);
	if (n == 1 && name[0] != '/')
		answer_no(a, 0, "readlink(/proc/self/fd/N): wrong name");
	else
		answer_call(a, n, "readlink(/proc/self/fd/N)");
}

void try_birth_time(struct host *h, struct answer *a)
{
	struct statx st;
	long r = syscall(SYS_statx, AT_FDCWD, ".", 0, STATX_BTIME, &st);
	(void)h;
	if (r == 0 && !(st.stx_mask & STATX_BTIME))
		answer_no(a, 0, "statx(\".\", STATX_BTIME): this file system has none");
	else
		answer_call(a, r, "statx(\".\", STATX_BTIME)");
}

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* No descriptor has that number. */
void try_close_range(struct host *h, struct answer *a)
{
	(void)h;
	answer_call(a, syscall(SYS_close_range, ~0u, ~0u, 0), "close_range");
}

void try_memfd(struct host *h, struct answer *a)
{
	_cleanup_close_ int fd = (int)syscall(SYS_memfd_create, "hurdle", 1u /* MFD_CLOEXEC */);
	(void)h;
	answer_call(a, fd, "memfd_create");
}

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

void try_pidfd(struct host *h, struct answer *a)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	(void)h;
	answer_call(a, fd, "pidfd_open");
}

/* From itself: nothing but the kernel's having it, or a filter, decides that. */
void try_pidfd_getfd(struct host *h, struct answer *a)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	(void)h;
	if (pidfd < 0) {
		answer_call(a, -1, "pidfd_open");
		return;
	}
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_getfd, pidfd, pidfd, 0);
	answer_call(a, fd, "pidfd_getfd");
}

/* ---- asking ---- */

static sigjmp_buf no_such_call;

static void on_sigsys(int signal)
{
	(void)signal;
	siglongjmp(no_such_call, 1);
}

/* On Android a filter answers new calls with SIGSYS. */
static void try_here(struct host *h, enum capability c)
{
	struct answer a = { .capability = c };
	struct sigaction before, action = { .sa_handler = on_sigsys };
	sigaction(SIGSYS, &action, &before);
	if (sigsetjmp(no_such_call, 1) == 0)
		capability_infos[c].try(h, &a);
	else
		answer_no(&a, ENOSYS, "trying it is answered with SIGSYS");
	sigaction(SIGSYS, &before, NULL);
	answer_keep(h, &a);
}

bool host_has(struct host *h, enum capability c)
{
	if (h->caps[c].tried)
		return h->caps[c].available;
	switch (capability_infos[c].where) {
	case HERE:  try_here(h, c); break;
	case CHILD: probe_in_child(h, &c, 1); break;
	case GIVEN: host_set(h, c, false, "not tried"); break;
	}
	return h->caps[c].available;
}

void host_try(struct host *h, unsigned long set)
{
	enum capability list[CAP_COUNT];
	size_t n = 0;
	for (enum capability c = 0; c < CAP_COUNT; c++) {
		if (!(set & HOST_CAP(c)))
			continue;
		if (capability_infos[c].where != CHILD)
			host_has(h, c);
		else if (!h->caps[c].tried)
			list[n++] = c;
	}
	probe_in_child(h, list, n);
}

void host_init(struct host *h)
{
	memset(h, 0, sizeof *h);
	h->root = geteuid() == 0;
	h->platform = about_platform();
}

void host_release(struct host *h)
{
	for (int i = 0; i < CAP_COUNT; i++)
		free(h->caps[i].evidence);
	free(h->shim_failure);
	free(h->bwrap);
	free(h->bwrap_version);
}

/* "PID (name) S PARENT ...": the name may hold anything. */
static pid_t read_parent(pid_t pid, char *name, size_t size)
{
	char path[40];
	_cleanup_free_ char *text = NULL;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (read_file(path, 4096, &text, NULL) < 0)
		return 0;
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	int parent = 0;
	if (!open || !close || close < open || sscanf(close + 1, " %*c %d", &parent) != 1)
		return 0;
	*close = '\0';
	strlcpy(name, open + 1, size);
	return parent;
}

void host_list_ancestors(struct host *h)
{
	h->n_ancestors = 0;
	for (pid_t pid = getpid(); pid > 0 && h->n_ancestors < ARRAY_SIZE(h->ancestors);) {
		struct ancestor *a = &h->ancestors[h->n_ancestors++];
		*a = (struct ancestor){ .pid = pid };
		pid = read_parent(pid, a->name, sizeof a->name);
	}
}
