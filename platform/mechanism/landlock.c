/*
 * Landlock: the kernel refuses what lies outside of granted directories, without any privilege (Linux 5.13, landlock(7)). What is granted is
 * computed in landlock_rules.c. It has no right for mode, owner and times, and takes nothing out of what it grants, so
 * that is left to the layers behind it.
 */
#include "platform/mechanism/mechanism.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/mechanism/landlock_rules.h"

/*
 * What is computed of the plan that is being made: available() forgets it, who needs it first computes it, so that every directory is read once. The
 * one state that a mechanism has, for holds() is asked rule by rule.
 */
static struct { struct landlock_rules rules; bool made; int error; } plan;

static bool in_use(unsigned chosen, const char *name)
{
	for (size_t i = 0; i < n_mechanisms; i++)
		if (chosen >> i & 1 && strcmp(mechanisms[i]->name, name) == 0)
			return true;
	return false;
}

static const struct landlock_rules *rules_of(const struct policy *p, const struct host *h, unsigned chosen)
{
	const struct landlock_terms t = { .abi = h->landlock_abi, .root = h->root, .walls = in_use(chosen, "bwrap") };
	if (!plan.made)
		plan.error = landlock_rules_make(p, &t, &plan.rules);
	plan.made = true;
	return &plan.rules;
}

/* ---- is it here ---- */

static int create_ruleset(uint64_t handled, uint64_t scoped)
{
	const struct ll_ruleset r = { .handled_fs = handled, .scoped = scoped };
	int fd = (int)syscall(SYS_landlock_create_ruleset, &r, scoped ? sizeof r : sizeof r.handled_fs, 0);
	return fd < 0 ? -errno : fd;
}

/* Kernels with parts of a later version are said to exist; so the number is taken down to what is really accepted. */
static int accepted_abi(int abi)
{
	for (; abi > 0; abi--) {
		int fd = create_ruleset(landlock_write_handled(abi), abi >= LL_ABI_SCOPE ? LL_SCOPE_SIGNAL | LL_SCOPE_ABSTRACT_UNIX : 0);
		if (fd >= 0)
			close(fd);
		if (fd != -EINVAL && fd != -E2BIG)
			return fd < 0 ? 0 : abi;
	}
	return 0;
}

static bool landlock_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	landlock_rules_release(&plan.rules);
	plan.made = false;
	if (p->scrub_only) {
		*ret_evidence = xstrdup("not used: the environment alone is asked for");
		return false;
	}
	if (!host_has(h, CAP_LANDLOCK)) {
		*ret_evidence = xstrdup(h->caps[CAP_LANDLOCK].evidence);
		return false;
	}
	const int abi = accepted_abi(h->landlock_abi);
	/* it refuses every rename from one directory into another, which costs more than a part of the rules is worth */
	if (abi < LL_ABI_REFER && !strv_has(&p->backends, "landlock")) {
		*ret_evidence = strf("ABI %d refuses all renames between directories; used where it is asked for by name", abi);
		return false;
	}
	*ret_evidence = abi == h->landlock_abi ? xstrdup(h->caps[CAP_LANDLOCK].evidence) :
						 strf("%s, but accepts no more than %d", h->caps[CAP_LANDLOCK].evidence, abi);
	h->landlock_abi = abi;
	return abi > 0;
}

/* ---- the ruleset ---- */

static int add_path(int ruleset, int fd, uint64_t rights)
{
	const struct ll_path_beneath rule = { .allowed_access = rights, .parent_fd = fd };
	if (!rights || syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PATH_BENEATH, &rule, 0) == 0)
		return 0;
	/* EBADFD: of a file system that Landlock leaves alone */
	return errno == EBADFD ? 0 : -errno;
}

/* Paths are real, and stay so: a link would grant what nobody named (/dev/stdin, hurdle's own). */
static int open_grant(const struct landlock_grant *g)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	const char *path = *g->path ? g->path : "/";
	int fd = open(path, flags);
	if (fd < 0 && errno == ENOENT && g->kind == GRANT_CACHE && make_directories(path, 0700) == 0)
		fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

static int add_grant(int ruleset, const struct landlock_rules *rules, const struct landlock_grant *g, struct err *err)
{
	struct stat st = { 0 };
	_cleanup_close_ int fd = open_grant(g);
	/* what is granted for reading is the same for files and directories */
	int r = fd < 0 ? fd : g->kind != GRANT_READ && fstat(fd, &st) < 0 ? -errno : 0;
	if (r == 0 && !S_ISLNK(st.st_mode))
		r = add_path(ruleset, fd, landlock_granted(rules, g->kind, S_ISDIR(st.st_mode)));
	/* what went away since needs no grant, but a root that somebody named must be there */
	if (r == 0 || (r != -EMFILE && g->kind != GRANT_WRITE))
		return 0;
	return err_set(err, r, "cannot open the write root '%s': %s", g->path, strerror(-r));
}

/* What stands open may be opened again under its name in /dev or /proc (tee /dev/stderr), as far as it is open already. */
static void add_descriptor(int ruleset, const struct landlock_rules *rules, int fd)
{
	struct stat st;
	const int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || (flags & O_PATH) || fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
		return;
	uint64_t rights = (flags & O_ACCMODE) != O_RDONLY ? LL_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV : 0;
	rights |= (flags & O_ACCMODE) != O_WRONLY ? LL_READ_FILE : 0;
	/* not of a file system that has no path, such as pipes: those are left alone */
	add_path(ruleset, fd, rights & rules->handled);
}

static int add_session(int ruleset, const struct landlock_rules *rules, const struct launch *l)
{
	add_descriptor(ruleset, rules, 0);
	add_descriptor(ruleset, rules, 1);
	add_descriptor(ruleset, rules, 2);
	for (size_t i = 0; i < l->n_pass_fds; i++)
		add_descriptor(ruleset, rules, l->pass_fds[i]);
	/* the page of events, which each program of the run writes; not to be shortened */
	return l->session.page ? add_path(ruleset, l->session.events_fd, LL_WRITE_FILE & rules->handled) : 0;
}

static int landlock_prepare(struct launch *l, struct err *err)
{
	const struct landlock_rules *rules = rules_of(l->policy, l->host, l->chosen);
	if (plan.error < 0)
		return err_set(err, plan.error, "cannot compute what Landlock grants: %s", strerror(-plan.error));
	if (!rules->handled && !rules->scoped)
		return 0;
	_cleanup_close_ int fd = create_ruleset(rules->handled, rules->scoped);
	if (fd < 0)
		return err_set(err, fd, "cannot make a Landlock ruleset: %s", strerror(-fd));
	for (size_t i = 0; i < rules->n; i++) {
		int r = add_grant(fd, rules, &rules->grants[i], err);
		if (r < 0)
			return r;
	}
	int r = rules->handled ? add_session(fd, rules, l) : 0;
	if (r < 0)
		return err_set(err, r, "cannot grant the session's files: %s", strerror(-r));
	l->confine.landlock_fd = TAKE_FD(fd);
	return 0;
}

/* ---- what it holds ---- */

static enum extent holds_write(const struct view *v, const struct rule *r, struct strv *caveats)
{
	struct stat st;
	if (r->pattern) {
		strv_add(caveats, "the directory that a pattern of allowWrite begins in is writable as a whole");
		return HOLDS_NOT;
	}
	strv_add(caveats, "a hard link in a root, from before the run, changes the file outside");
	if (strcmp(r->path, "/dev/shm") == 0)
		strv_add(caveats, "/dev/shm is shared with the host");
	if (r->kind == RULE_ALLOW_WRITE && !path_under(r->path, "/dev") && stat(r->path, &st) == 0 && !S_ISDIR(st.st_mode))
		strv_add(caveats, "a root that is a file can be changed, but neither removed nor replaced");
	if (v->host->landlock_abi < LL_ABI_REFER)
		strv_add(caveats, "renames and links between directories fail");
	if (v->host->landlock_abi >= LL_ABI_TRUNCATE)
		return HOLDS_WHOLE;
	strv_add(caveats, "files outside can be emptied with truncate");
	return HOLDS_PART;
}

/* Nothing is taken out of a root, so a denied path holds only where it lies in none. */
static enum extent holds_write_deny(const struct view *v, const struct rule *r, struct strv *caveats)
{
	if (r->pattern || landlock_under_root(v->policy, r->path))
		return HOLDS_NOT;
	return holds_write(v, r, caveats);
}

static enum extent holds_read(const struct view *v, const struct rule *r, struct strv *caveats)
{
	if (r->pattern)
		return HOLDS_NOT;
	const struct landlock_rules *rules = rules_of(v->policy, v->host, v->chosen);
	const enum landlock_read state = landlock_read_state(rules, v->policy, r->path);
	if (state == LANDLOCK_READ_NOT)
		return HOLDS_NOT;
	if (state == LANDLOCK_READ_ABSENT)
		strv_add(caveats, "denied files that someone outside makes during the run are not covered");
	strv_add(caveats, "names, sizes, times and extended attributes stay visible, names in denied directories too");
	strv_add(caveats, "another hard link or mount of the file reads it");
	if (rules->handled & LL_READ_FILE)
		strv_add(caveats, "what others make or replace during the run beside a denied file, or beside a directory on the way to it, cannot be read");
	return HOLDS_WHOLE;
}

static enum extent holds_exec(const struct view *v, const struct rule *r, struct strv *caveats)
{
	struct stat st;
	if (r->kind != RULE_DENY_EXEC || r->pattern || stat(r->path, &st) < 0 || !S_ISREG(st.st_mode))
		return HOLDS_NOT;
	if (landlock_read_state(rules_of(v->policy, v->host, v->chosen), v->policy, r->path) != LANDLOCK_READ_HELD)
		return HOLDS_NOT;
	strv_add(caveats, "a program that may not be run cannot be read either, and its copies are other programs");
	return HOLDS_WHOLE;
}

static enum extent holds_processes(const struct view *v, struct strv *caveats)
{
	if (v->host->landlock_abi >= LL_ABI_SCOPE)
		return HOLDS_WHOLE;
	strv_add(caveats, "signals reach processes outside");
	return HOLDS_PART;
}

static enum extent holds_unix(const struct view *v, struct strv *caveats)
{
	if (v->host->landlock_abi < LL_ABI_SCOPE)
		return HOLDS_NOT;
	strv_add(caveats, "abstract sockets are refused, those with a path are not seen");
	return HOLDS_PART;
}

static enum extent holds_coverage(const struct view *v, struct strv *caveats)
{
	if (v->host->landlock_abi < LL_ABI_TRUNCATE)
		return HOLDS_NOT;
	strv_add(caveats, "metadata, what is denied inside of write roots, names, patterns and sockets are held by the shim alone, which static programs go past");
	return HOLDS_WHOLE;
}

static enum extent landlock_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	const bool walls = in_use(v->chosen, "bwrap");
	switch (r->guarantee) {
	case G_proc_isolation: return v->host->landlock_abi >= LL_ABI_SCOPE || !walls ? holds_processes(v, caveats) : HOLDS_NOT;
	case G_net_unix:       return holds_unix(v, caveats);
	default:               break;
	}
	if (walls) /* the files are seen as they are outside, and inside there are others */
		return HOLDS_NOT;
	switch (r->guarantee) {
	case G_env_ancestors:  return HOLDS_WHOLE;
	case G_fs_write:       return holds_write(v, r, caveats);
	case G_fs_write_deny:  return holds_write_deny(v, r, caveats);
	case G_fs_read_deny:   return holds_read(v, r, caveats);
	case G_fs_exec:        return holds_exec(v, r, caveats);
	case G_exec_coverage:  return holds_coverage(v, caveats);
	default:               return HOLDS_NOT;
	}
}

/* ---- hurdle profile landlock ---- */

static char *landlock_profile(struct launch *l)
{
	const struct landlock_rules *r = rules_of(l->policy, l->host, l->chosen);
	struct str s = STR_INIT;
	_cleanup_free_ char *names = landlock_right_names(r->handled);
	str_addf(&s, "ABI: %d\nrefused unless granted: %s\n", l->host->landlock_abi, *names ? names : "nothing");
	str_addf(&s, "kept inside:%s%s\n", r->scoped & LL_SCOPE_SIGNAL ? " signals" : "", r->scoped & LL_SCOPE_ABSTRACT_UNIX ? " abstract-sockets" : "");
	for (size_t i = 0; i < r->n; i++) {
		str_addf(&s, "%s ", r->grants[i].kind == GRANT_READ ? "read " : "write");
		str_add_escaped(&s, *r->grants[i].path ? r->grants[i].path : "/");
		str_add(&s, "\n");
	}
	for (size_t i = 0; i < r->crowded.n; i++)
		str_addf(&s, "too many entries to grant one by one: %s\n", *r->crowded.v[i] ? r->crowded.v[i] : "/");
	return str_take(&s);
}

const struct mechanism mechanism_landlock = {
	.name = "landlock", .what = "the kernel refuses files outside of granted directories", .level = LEVEL_KERNEL, .role = ROLE_WALL,
	.available = landlock_available, .holds = landlock_holds, .prepare = landlock_prepare, .profile = landlock_profile,
};
