/*
 * bubblewrap: mount, pid and ipc namespaces of the run's own, and where the network is off an empty network. It is one program that
 * starts another, so the launch is the proof that it works; see supervisor/walls.c. bwrap(1).
 */
#include "platform/mechanism/mechanism.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/mechanism/bwrap_mounts.h"

/* ---- arguments ---- */

static void add(struct strv *args, const char *a, const char *b, const char *c)
{
	strv_add(args, a);
	if (b)
		strv_add(args, b);
	if (c)
		strv_add(args, c);
}

/* As root no user namespace is made; with the capabilities that a namespace would give, mounts could be undone (measured). */
static void add_rights(struct strv *args, const struct launch *l)
{
	static const char *const kept[] = { "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_SETUID", "CAP_SETGID" };
	if (!l->host->root)
		add(args, "--unshare-user", NULL, NULL);
	add(args, "--cap-drop", "ALL", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(kept) && l->host->root; i++)
		add(args, "--cap-add", kept[i], NULL);
}

static bool new_session(unsigned chosen)
{
	return !mechanism_chosen(chosen, &mechanism_filter);
}

static void add_namespaces(struct strv *args, const struct launch *l)
{
	add(args, "--unshare-pid", "--as-pid-1", "--unshare-ipc");
	add(args, "--die-with-parent", NULL, NULL);
	if (l->policy->net == NET_OFF)
		add(args, "--unshare-net", NULL, NULL);
	/* takes job control away, so only where nothing else keeps input from being pushed into the terminal */
	if (new_session(l->chosen))
		add(args, "--new-session", NULL, NULL);
}

static void hide(struct strv *args, const struct bwrap_mount *m, const char *nothing, struct strv *later)
{
	if (!m->dir) {
		add(args, "--ro-bind", nothing, m->path);
		return;
	}
	/* what is visible below can be reached, but not found by listing */
	add(args, "--perms", m->holds_more ? "0111" : "0000", NULL);
	add(args, "--tmpfs", m->path, NULL);
	add(m->holds_more ? later : args, "--remount-ro", m->path, NULL);
}

static void add_mounts(struct strv *args, const struct launch *l, const char *nothing)
{
	struct bwrap_mount *m;
	struct strv later = { 0 };
	size_t n;
	add(args, "--ro-bind", "/", "/");
	add(args, "--dev", "/dev", NULL);
	if (!l->policy->weaker_nested)
		add(args, "--proc", "/proc", NULL);
	bwrap_mounts(l, &m, &n);
	for (size_t i = 0; i < n; i++)
		if (!m[i].read)
			hide(args, &m[i], nothing, &later);
		else
			add(args, m[i].device ? "--dev-bind" : m[i].write ? "--bind" : "--ro-bind", m[i].path, m[i].path);
	bwrap_mounts_free(m, n);
	for (size_t i = 0; i < later.n; i++)
		strv_add(args, later.v[i]);
	strv_free(&later);
}

static void make_arguments(const struct launch *l, struct strv *args)
{
	_cleanup_free_ char *events = strf("%s/" WIRE_EVENTS, l->session.dir), *nothing = strf("%s/" WIRE_NOTHING, l->session.dir);
	add_rights(args, l);
	add_namespaces(args, l);
	add_mounts(args, l, nothing);
	if (l->session.page)
		add(args, "--bind", events, events);
	add(args, "--chdir", "/", NULL);
}

/* ---- the launch ---- */

static int write_files(const struct launch *l)
{
	int r = session_write_stage(&l->session, l->host);
	if (r == 0)
		r = write_new_file_at(l->session.dirfd, WIRE_NOTHING, 0, "", 0);
	return r == -EEXIST ? 0 : r;
}

/* A command line has limits and is seen by everybody; bwrap reads a file just as well. */
static int write_arguments(const struct strv *args)
{
	_cleanup_close_ int fd = memfd_create("bwrap", MFD_CLOEXEC);
	_cleanup_(str_free) struct str text = STR_INIT;
	for (size_t i = 0; i < args->n; i++)
		str_addn(&text, args->v[i], strlen(args->v[i]) + 1);
	int r = fd < 0 ? -errno : write_all(fd, text.s, text.len);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

/* The program that makes the walls must not be one that an earlier run could have written. */
static bool writable_by_command(const struct launch *l)
{
	struct verdict v;
	policy_decide(l->image, ACCESS_WRITE, l->host->bwrap, strlen(l->host->bwrap), &v);
	return v.outcome == OUTCOME_ALLOW;
}

static int bwrap_prepare(struct launch *l, struct err *err)
{
	if (writable_by_command(l))
		return err_set(err, -EAGAIN, "'%s' lies under a write root", l->host->bwrap);
	struct strv args = { 0 };
	int r = write_files(l);
	make_arguments(l, &args);
	int fd = r < 0 ? r : write_arguments(&args);
	strv_free(&args);
	if (fd < 0)
		return err_set(err, -EAGAIN, "cannot write what bwrap needs: %s", strerror(-fd));
	_cleanup_free_ char *number = strf("%d", fd);
	l->walls.name = "bwrap";
	l->walls.program = xstrdup(l->host->bwrap);
	l->walls.fds[l->walls.n_fds++] = fd;
	add(&l->walls.argv, "bwrap", "--args", number);
	add(&l->walls.argv, "--", NULL, NULL);
	return 0;
}

/* ---- what it holds ---- */

static bool holds_something_allowed(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		if ((r->kind == RULE_ALLOW_READ || r->kind == RULE_ALLOW_WRITE) && r->path && strcmp(r->path, path) != 0 && path_under(r->path, path))
			return true;
	}
	return false;
}

static enum extent holds_path(const struct view *v, const struct rule *r, bool hide_it, struct strv *caveats)
{
	if (r->pattern)
		return HOLDS_NOT;
	if (bwrap_can_hide(v->host, r->path)) {
		strv_add(caveats, "what outside of the run is put in the place of a denied file during the run is not covered");
		if (hide_it)
			strv_add(caveats, "what may not be read is hidden, and so cannot be written either");
		if (hide_it && holds_something_allowed(v->policy, r->path))
			strv_add(caveats, "the directories on the way to what is allowed inside can be listed, and show nothing else");
		return HOLDS_WHOLE;
	}
	if (bwrap_cannot_appear(v->policy, r->path)) {
		if (hide_it)
			strv_add(caveats, "denied files that someone outside makes during the run are not covered");
		return HOLDS_WHOLE;
	}
	return HOLDS_NOT;
}

static enum extent bwrap_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	struct stat st;
	switch (r->guarantee) {
	case G_fs_write:
		if (r->pattern) {
			strv_add(caveats, "the directory that a pattern of allowWrite begins in is writable as a whole");
			return HOLDS_NOT;
		}
		strv_add(caveats, "a hard link in a root, from before the run, changes the file outside");
		return HOLDS_WHOLE;
	case G_fs_write_deny:
		return r->kind == RULE_DENY_WRITE ? holds_path(v, r, false, caveats) : HOLDS_NOT;
	case G_fs_read_deny:
		return holds_path(v, r, true, caveats);
	case G_fs_exec:
		if (r->kind != RULE_DENY_EXEC || r->pattern || stat(r->path, &st) < 0 || S_ISDIR(st.st_mode))
			return HOLDS_NOT;
		strv_add(caveats, "a program that may not be run cannot be read either, and its copies are other programs");
		return HOLDS_WHOLE;
	case G_net_egress:
		return v->policy->net == NET_OFF ? HOLDS_WHOLE : HOLDS_NOT;
	case G_tty_injection:
		return new_session(v->chosen) ? HOLDS_WHOLE : HOLDS_NOT;
	case G_exec_coverage:
		strv_add(caveats, "names, patterns and sockets are held by the shim alone, which static programs go past");
		return HOLDS_WHOLE;
	case G_env_ancestors: case G_proc_isolation:
		if (!v->policy->weaker_nested)
			return HOLDS_WHOLE;
		strv_add(caveats, "with enableWeakerNestedSandbox the /proc of the host is there");
		return HOLDS_PART;
	case G_fs_metadata: case G_proc_lifetime: case G_priv_escalation:
		return HOLDS_WHOLE;
	default:
		return HOLDS_NOT;
	}
}

static bool bwrap_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	if (p->scrub_only) {
		*ret_evidence = xstrdup("not used: the environment alone is asked for");
		return false;
	}
	bool yes = host_has(h, CAP_BWRAP);
	*ret_evidence = xstrdup(h->caps[CAP_BWRAP].evidence);
	return yes;
}

static char *bwrap_profile(struct launch *l)
{
	struct strv args = { 0 };
	struct str s = STR_INIT;
	make_arguments(l, &args);
	str_add(&s, "bwrap");
	for (size_t i = 0; i < args.n; i++) {
		str_add(&s, strncmp(args.v[i], "--", 2) == 0 ? "\n  " : " ");
		str_add_escaped(&s, args.v[i]);
	}
	str_add(&s, "\n");
	strv_free(&args);
	return str_take(&s);
}

const struct mechanism mechanism_bwrap = {
	.name = "bwrap", .what = "a file tree, process numbers and a network of the run's own", .level = LEVEL_KERNEL, .role = ROLE_WALL,
	.available = bwrap_available, .holds = bwrap_holds, .prepare = bwrap_prepare, .profile = bwrap_profile,
};
