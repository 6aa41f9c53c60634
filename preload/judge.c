/* From a real name to yes or no: the image's decision, and what only the running system can answer for it. */
#include "preload/shim.h"

enum { RUN_DEPTH = 64 };

/* Field 4 of /proc/PID/stat; the name before it may hold anything, so count from its last parenthesis. */
static long parent_of(long pid)
{
	char path[40] = "/proc/", buf[512];
	size_t n = 6 + text_number(path + 6, (unsigned long)pid);
	memcpy(path + n, "/stat", 6);
	long fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	long got = raw6(SYS_read, fd, (long)buf, sizeof buf - 1, 0, 0, 0);
	sys_close((int)fd);
	buf[got > 0 ? got : 0] = '\0';
	char *s = buf + (got > 0 ? got : 0);
	while (s > buf && *s != ')')
		s--;
	if (s == buf || s[1] == '\0' || s[2] == '\0')
		return -1;
	s += 4; /* ") S " */
	long parent = 0;
	for (; *s >= '0' && *s <= '9'; s++)
		parent = parent * 10 + (*s - '0');
	return parent;
}

bool in_run(long pid)
{
	if (pid == sys_getpid())
		return true;
	for (int i = 0; i < RUN_DEPTH && pid > 1; i++) {
		pid = parent_of(pid);
		if (pid > 1 && pid == (long)shim.image->supervisor)
			return true;
	}
	return false;
}

static bool ends_in(const struct text *name, const char *end)
{
	size_t n = strlen(end);
	return name->len >= n && text_equal(name->s + name->len - n, end);
}

/*
 * Files of a process of the run: its own /proc entry is part of itself, not of the file system. But for its memory, where the
 * policy lies: written by way of a file it takes three words of shell to change that.
 */
static bool own_process_file(enum access access, const struct text *name)
{
	if (!text_starts(name->s, "/proc/") || (access != ACCESS_READ && ends_in(name, "/mem")))
		return false;
	const char *end;
	long pid = text_to_number(name->s + 6, &end);
	return pid > 0 && *end == '/' && in_run(pid);
}

/* Born before the run began? Where the file system does not say, what the supervisor listed counts as old. */
static bool is_old(const struct text *name, uint32_t len, bool listed)
{
	struct statx st;
	TEXT(holder);
	if (text_set(&holder, name->s, len) < 0)
		return true;
	long r = raw6(SYS_statx, AT_FDCWD, (long)holder.s, AT_SYMLINK_NOFOLLOW, STATX_BTIME, (long)&st, 0);
	if (r == -ENOENT)
		return false;
	if (r < 0 || !(st.stx_mask & STATX_BTIME))
		return listed;
	const struct image *img = shim.image;
	return st.stx_btime.tv_sec < img->start_sec ||
	       (st.stx_btime.tv_sec == img->start_sec && st.stx_btime.tv_nsec < img->start_nsec);
}

static bool denies(const struct text *name, const struct verdict *v)
{
	if (v->outcome != OUTCOME_DENY_IF_OLD)
		return v->outcome == OUTCOME_DENY;
	return is_old(name, v->holder_len, v->holder_listed) ||
	       (v->inner_len != v->holder_len && is_old(name, v->inner_len, v->inner_listed));
}

static struct judgement settle(enum access access, const struct text *name, const struct verdict *v)
{
	if (!denies(name, v) || own_process_file(access, name))
		return (struct judgement){ .rule = IMAGE_NONE };
	return (struct judgement){ .denied = true, .crosses = v->crosses, .rule = v->rule };
}

struct judgement judge(enum access access, const struct text *name)
{
	struct verdict v;
	if (!name->len)
		return (struct judgement){ .rule = IMAGE_NONE };
	if (!shim.image)
		return (struct judgement){ .denied = true, .rule = IMAGE_NONE };
	policy_decide(shim.image, access, name->s, name->len, &v);
	return settle(access, name, &v);
}

struct judgement judge_move(const struct text *from, const struct text *to)
{
	struct verdict v;
	if (!shim.image)
		return (struct judgement){ .denied = true, .rule = IMAGE_NONE };
	policy_decide_move(shim.image, from->s, from->len, to->s, to->len, &v);
	if (v.outcome != OUTCOME_DENY_IF_OLD)
		return settle(ACCESS_MOVE, from, &v);
	struct judgement j = judge(ACCESS_MOVE, from);
	return j.denied ? j : judge(ACCESS_MOVE, to);
}

/* ---- reports ---- */

/* The tail of a long text says more than its head. */
static void copy_tail(char *to, size_t size, const char *s, size_t n)
{
	if (n > size) {
		s += n - size;
		n = size;
	}
	memcpy(to, s, n);
	if (n < size)
		to[n] = '\0';
}

static int64_t now_ms(void)
{
	struct { long sec, nsec; } t;
	if (raw6(SYS_clock_gettime, 0 /* CLOCK_REALTIME */, (long)&t, 0, 0, 0, 0) < 0)
		return 0;
	return (int64_t)t.sec * 1000 + t.nsec / 1000000;
}

/* ps asks for every process's environment: once says it all. */
static bool said_before(const struct text *name)
{
	static bool said;
	return text_starts(name->s, "/proc/") && ends_in(name, "/environ") && __atomic_exchange_n(&said, true, __ATOMIC_RELAXED);
}

void report(int action, uint32_t rule, const char *raw, const struct text *name)
{
	struct wire_page *page = shim.page;
	if (!page || said_before(name))
		return;
	uint32_t seq = __atomic_fetch_add(&page->violations, 1, __ATOMIC_RELAXED);
	struct wire_violation *v = &page->violation[seq % WIRE_VIOLATIONS];
	__atomic_store_n(&v->seq, 0, __ATOMIC_RELAXED);
	v->action = (uint32_t)action;
	v->rule = rule;
	v->pid = (int32_t)sys_getpid();
	v->time_ms = now_ms();
	raw6(SYS_prctl, 16 /* PR_GET_NAME */, (long)v->program, 0, 0, 0, 0);
	copy_tail(v->raw, sizeof v->raw, raw ? raw : "", raw ? strlen(raw) : 0);
	copy_tail(v->path, sizeof v->path, name->s, name->len);
	__atomic_store_n(&v->seq, seq + 1, __ATOMIC_RELEASE);
}

void report_uncovered(int reason, bool refused, const char *program)
{
	struct wire_page *page = shim.page;
	if (!page)
		return;
	uint32_t seq = __atomic_fetch_add(&page->uncovered, 1, __ATOMIC_RELAXED);
	struct wire_uncovered *u = &page->uncovered_program[seq % WIRE_UNCOVERED];
	__atomic_store_n(&u->seq, 0, __ATOMIC_RELAXED);
	u->reason = (uint32_t)reason;
	u->refused = refused;
	u->pid = (int32_t)sys_getpid();
	copy_tail(u->program, sizeof u->program, program, strlen(program));
	__atomic_store_n(&u->seq, seq + 1, __ATOMIC_RELEASE);
}

/* The hooks and the configuration of a repository that the run made, or pointed to, were written inside: the report names it. */
void note_repository(const struct text *name)
{
	struct wire_page *page = shim.page;
	if (!page || !ends_in(name, "/.git"))
		return;
	uint32_t n = __atomic_fetch_add(&page->repositories, 1, __ATOMIC_RELAXED) % WIRE_REPOSITORIES;
	copy_tail(page->repository[n], sizeof page->repository[n], name->s, name->len);
}
