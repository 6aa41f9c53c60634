#include "platform/host/host.h"

#include <errno.h>
#include <fcntl.h>
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

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

static const struct { const char *name, *text; } info[] = {
#define CAPABILITY(id, name_, text_) { name_, text_ },
#include "platform/host/capabilities.def"
#undef CAPABILITY
};

const char *capability_name(enum capability c) { return info[c].name; }
const char *capability_text(enum capability c) { return info[c].text; }

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

static void said(struct host *h, enum capability c, long result, const char *call)
{
	host_set(h, c, result >= 0, "%s: %s", call, result >= 0 ? "ok" : strerror(errno));
}

static void try_openat2(struct host *h)
{
	struct { uint64_t flags, mode, resolve; } how = { O_PATH | O_CLOEXEC, 0, 4 /* RESOLVE_NO_SYMLINKS */ };
	long fd = syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);
	said(h, CAP_OPENAT2, fd, "openat2(\"/\", RESOLVE_NO_SYMLINKS)");
	if (fd >= 0)
		close((int)fd);
}

static void try_proc(struct host *h)
{
	char name[64];
	_cleanup_close_ int fd = open("/", O_PATH | O_CLOEXEC);
	char path[40];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(path, name, sizeof name);
	if (n == 1 && name[0] == '/')
		host_set(h, CAP_PROC, true, "readlink(/proc/self/fd/N): ok");
	else
		host_set(h, CAP_PROC, false, "readlink(/proc/self/fd/N): %s", n < 0 ? strerror(errno) : "wrong name");
}

static void try_birth_time(struct host *h)
{
	struct statx st;
	long r = syscall(SYS_statx, AT_FDCWD, ".", 0, STATX_BTIME, &st);
	if (r == 0 && !(st.stx_mask & STATX_BTIME))
		host_set(h, CAP_BIRTH_TIME, false, "statx(\".\", STATX_BTIME): this file system has none");
	else
		said(h, CAP_BIRTH_TIME, r, "statx(\".\", STATX_BTIME)");
}

bool host_has(struct host *h, enum capability c)
{
	if (h->caps[c].tried)
		return h->caps[c].available;
	switch (c) {
	case CAP_OPENAT2:      try_openat2(h); break;
	/* asks, changes nothing: a kernel that can set it can say whether it is set */
	case CAP_NO_NEW_PRIVS: said(h, c, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), "prctl(PR_GET_NO_NEW_PRIVS)"); break;
	case CAP_SUBREAPER:    said(h, c, prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl(PR_SET_CHILD_SUBREAPER)"); break;
	case CAP_PROC:         try_proc(h); break;
	case CAP_BIRTH_TIME:   try_birth_time(h); break;
	default:               host_set(h, c, false, "not tried"); break;
	}
	return h->caps[c].available;
}

/* Only for words, and for the one rule that exists on WSL alone. */
static const char *platform(void)
{
	_cleanup_free_ char *text = NULL;
	if (read_file("/proc/sys/kernel/osrelease", 256, &text, NULL) < 0)
		return "Linux";
	if (strstr(text, "WSL2"))
		return "WSL2";
	return strstr(text, "Microsoft") ? "WSL1" : "Linux";
}

void host_init(struct host *h)
{
	memset(h, 0, sizeof *h);
	h->root = geteuid() == 0;
	h->platform = platform();
}

void host_release(struct host *h)
{
	for (int i = 0; i < CAP_COUNT; i++)
		free(h->caps[i].evidence);
	free(h->shim_failure);
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
