/*
 * The session: what is around the command on any host. A private directory, no inherited descriptors, no capability
 * that undoes a sandbox, no_new_privs, and an end that leaves no process behind.
 */
#include "platform/mechanism/mechanism.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"

/* ---- the directory ---- */

/* The shim is mapped executable from here, and a loader splits its path at spaces and colons. */
static bool usable_parent(const char *path)
{
	struct statvfs v;
	struct stat st;
	if (path[0] != '/' || strpbrk(path, " :\n\t") || strlen(path) > 120 || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	return access(path, W_OK | X_OK) == 0 && statvfs(path, &v) == 0 && !(v.f_flag & ST_NOEXEC);
}

static bool try_parent(struct session *s, const char *parent, bool for_root)
{
	if (!parent || !usable_parent(parent))
		return false;
	_cleanup_free_ char *real = realpath(parent, NULL);
	if (!real || strpbrk(real, " :\n\t"))
		return false;
	session_remove_stale(real);
	s->top = strf("%s/hurdle-XXXXXX", strcmp(real, "/") == 0 ? "" : real);
	if (!mkdtemp(s->top)) {
		free(s->top);
		s->top = NULL;
		return false;
	}
	s->dir = for_root ? strf("%s/XXXXXX", s->top) : xstrdup(s->top);
	if (!for_root)
		return true;
	/* root's commands may become another user, who must still reach the shim; who is not told the inner name cannot find it */
	if (!mkdtemp(s->dir) || chmod(s->dir, 0711) < 0 || chmod(s->top, 0711) < 0) {
		session_close(s);
		return false;
	}
	return true;
}

static int make_tmp(struct session *s, struct err *err)
{
	s->tmpdir = strf("%s/" WIRE_TMP, s->top);
	if (mkdir(s->tmpdir, 0700) < 0)
		return err_set(err, -errno, "cannot make the private temporary directory '%s': %s", s->tmpdir, strerror(errno));
	s->lock_fd = open(s->top, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	flock(s->lock_fd, LOCK_EX | LOCK_NB);
	s->dirfd = open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->dirfd < 0 ? err_set(err, -errno, "cannot open '%s': %s", s->dir, strerror(errno)) : 0;
}

int session_open(struct session *s, bool for_root, struct err *err)
{
	const char *wanted = getenv("CLAUDE_CODE_TMPDIR") ? getenv("CLAUDE_CODE_TMPDIR") : getenv("CLAUDE_TMPDIR");
	const char *const parents[] = { wanted, getenv("TMPDIR"), "/tmp", "/var/tmp", getenv("XDG_RUNTIME_DIR"), "/dev/shm" };
	*s = (struct session){ .dirfd = -1, .events_fd = -1, .lock_fd = -1 };
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++)
		if (try_parent(s, parents[i], for_root))
			return make_tmp(s, err);
	int r = err_set(err, -EACCES, "cannot make a private directory in $TMPDIR, /tmp, /var/tmp, $XDG_RUNTIME_DIR or /dev/shm");
	err_hint(err, "set TMPDIR to a directory that you can write to, whose path has no space or colon, and whose file system is not noexec");
	return r;
}

/* Where the file was shortened, what is missing stays zero: nothing happened, as far as one can know. */
static void read_part(const struct session *s, struct wire_page *to, size_t from, size_t size)
{
	while (size > 0) {
		ssize_t n = pread(s->events_fd, (char *)to + from, size, (off_t)from);
		if (n <= 0)
			return;
		from += (size_t)n;
		size -= (size_t)n;
	}
}

static size_t used(uint32_t ever, size_t places)
{
	return ever < places ? ever : places;
}

void session_freeze(struct session *s)
{
	if (!s->page || s->frozen)
		return;
	struct wire_page *copy = xcalloc(1, sizeof *copy);
	read_part(s, copy, 0, offsetof(struct wire_page, violation));
	read_part(s, copy, offsetof(struct wire_page, violation), used(copy->violations, WIRE_VIOLATIONS) * sizeof *copy->violation);
	read_part(s, copy, offsetof(struct wire_page, ticket), used(copy->tickets, WIRE_TICKETS) * sizeof *copy->ticket);
	read_part(s, copy, offsetof(struct wire_page, uncovered_program),
		  used(copy->uncovered, WIRE_UNCOVERED) * sizeof *copy->uncovered_program);
	munmap(s->page, sizeof *s->page);
	s->page = copy;
	s->frozen = true;
}

/* What hurdle made itself goes first, by name: a tree can be walked only with descriptors to spare. */
static void remove_own_files(const struct session *s)
{
	static const char *const own[] = { WIRE_SHIM, WIRE_SHIM32, WIRE_IMAGE, WIRE_EVENTS, WIRE_CANARY, WIRE_STAGE, WIRE_NOTHING };
	for (size_t i = 0; i < ARRAY_SIZE(own) && s->dirfd >= 0; i++)
		unlinkat(s->dirfd, own[i], 0);
	if (s->tmpdir)
		rmdir(s->tmpdir);
	if (s->dir)
		rmdir(s->dir);
	if (rmdir(s->top) < 0 && errno != ENOENT)
		remove_tree(s->top);
}

void session_close(struct session *s)
{
	if (s->frozen)
		free(s->page);
	else if (s->page)
		munmap(s->page, sizeof *s->page);
	if (s->top)
		remove_own_files(s);
	if (s->dirfd >= 0 && s->top)
		close(s->dirfd);
	if (s->events_fd >= 0 && s->top)
		close(s->events_fd);
	if (s->lock_fd >= 0 && s->top)
		close(s->lock_fd);
	free(s->top);
	free(s->dir);
	free(s->tmpdir);
	*s = (struct session){ .dirfd = -1, .events_fd = -1, .lock_fd = -1 };
}

/* ---- the program inside ---- */

extern const char stage_blob[], stage_blob_end[];

int session_write_stage(const struct session *s, const struct host *h)
{
	int r = write_new_file_at(s->dirfd, WIRE_STAGE, h->root ? 0755 : 0700, stage_blob, (uintptr_t)stage_blob_end - (uintptr_t)stage_blob);
	return r == -EEXIST ? 0 : r;
}

/* ---- rights ---- */

static const uint64_t dropped_caps =
#define CAPABILITY_ROW(number, name, what) (uint64_t)1 << number |
#include "platform/mechanism/caps.def"
#undef CAPABILITY_ROW
	0;

uint64_t session_dropped_caps(const struct host *h)
{
	return h->root ? dropped_caps : 0;
}

static int session_prepare(struct launch *l, struct err *err)
{
	(void)err;
	l->confine.drop_caps = session_dropped_caps(l->host);
	return 0;
}

/* ---- what it holds ---- */

static enum extent session_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	(void)caveats;
	return r->guarantee == G_priv_escalation && v->host->caps[CAP_NO_NEW_PRIVS].available ? HOLDS_WHOLE : HOLDS_NOT;
}

static bool session_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	(void)p;
	host_has(h, CAP_NO_NEW_PRIVS);
	host_has(h, CAP_SUBREAPER);
	*ret_evidence = strf("%s; %s", h->caps[CAP_NO_NEW_PRIVS].evidence, h->caps[CAP_SUBREAPER].evidence);
	return true;
}

static char *session_profile(struct launch *l)
{
	struct str s = STR_INIT;
	str_add(&s, "private directory: TMPDIR or /tmp or the first of its kind, mode 0700, removed at the end\n"
		    "inherited descriptors: closed from 3 up\n"
		    "no_new_privs: set\n"
		    "core files: none\n");
	if (l->host->root) {
		str_add(&s, "capabilities dropped, from the bounding set too:");
#define CAPABILITY_ROW(number, name, what) str_add(&s, " " name);
#include "platform/mechanism/caps.def"
#undef CAPABILITY_ROW
		str_add(&s, "\n");
	}
	str_add(&s, "at the end: SIGTERM to what is left, SIGKILL 5 seconds later\n");
	return str_take(&s);
}

const struct mechanism mechanism_session = {
	.name = "session", .what = "private TMPDIR, no inherited descriptors, no_new_privs, fewer capabilities", .level = LEVEL_KERNEL,
	.available = session_available, .role = ROLE_BASE,
	.holds = session_holds, .prepare = session_prepare, .profile = session_profile,
};
