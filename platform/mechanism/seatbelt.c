/*
 * Seatbelt as a mechanism: the command is started by sandbox-exec(1) with the profile. The profile is made and judged in the tests of this
 * project; nobody has run it on a Mac yet, and docs/guarantees.md says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/mechanism/mechanism.h"
#include "platform/mechanism/seatbelt.h"

static const char tool[] = "/usr/bin/sandbox-exec";
#define PROFILE_FILE "seatbelt.sb"

/* ---- is it here? ---- */

static void __attribute__((noreturn)) try_child(const char *program, const char *profile, const char *dir)
{
	int null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	alarm(5); /* hanging is an answer too */
	/* "yes" shows that the command ran at all */
	execl(program, program, "-p", profile, "/bin/sh", "-c", "echo >\"$1/yes\"; echo >\"$1/no/file\"", "sh", dir, (char *)NULL);
	_exit(127);
}

static bool is_there(const char *dir, const char *name)
{
	_cleanup_free_ char *path = strf("%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static bool judge_try(const char *program, const char *dir, int status, char **ret_evidence)
{
	const bool ran = is_there(dir, "yes"), refused = !is_there(dir, "no/file");
	if (ran && refused)
		*ret_evidence = strf("%s: a write was refused", program);
	else if (ran)
		*ret_evidence = strf("%s: what the profile refuses was written all the same", program);
	else if (WIFSIGNALED(status))
		*ret_evidence = strf("%s: ended by signal %d", program, WTERMSIG(status));
	else
		*ret_evidence = strf("%s: ran nothing (exit status %d)", program, WEXITSTATUS(status));
	return ran && refused;
}

static bool try_in(const char *program, const char *dir, char **ret_evidence)
{
	_cleanup_free_ char *no = strf("%s/no", dir);
	_cleanup_(str_free) struct str profile = STR_INIT;
	int status;
	mkdir(no, 0700);
	str_add(&profile, "(version 1) (allow default) (deny file-write* (subpath ");
	seatbelt_add_string(&profile, no, strlen(no));
	str_add(&profile, "))");
	pid_t pid = fork();
	if (pid == 0)
		try_child(program, profile.s, dir);
	if (pid < 0) {
		*ret_evidence = strf("fork: %s", strerror(errno));
		return false;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return judge_try(program, dir, status, ret_evidence);
}

bool seatbelt_try(const char *program, char **ret_evidence)
{
	char template[] = "/tmp/hurdle-seatbelt-XXXXXX";
	if (access(program, X_OK) < 0) {
		*ret_evidence = strf("%s: %s", program, strerror(errno));
		return false;
	}
	if (!mkdtemp(template)) {
		*ret_evidence = strf("/tmp: %s", strerror(errno));
		return false;
	}
	_cleanup_free_ char *dir = realpath(template, NULL);
	bool works = dir && try_in(program, dir, ret_evidence);
	if (!dir)
		*ret_evidence = strf("%s: %s", template, strerror(errno));
	remove_tree(template);
	return works;
}

static bool seatbelt_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	struct utsname name;
	(void)h;
	if (p->scrub_only) {
		*ret_evidence = xstrdup("not used: the environment alone is asked for");
		return false;
	}
	/* a program of that name on another system is not Seatbelt */
	if (uname(&name) < 0 || strcmp(name.sysname, "Darwin") != 0) {
		*ret_evidence = strf("uname: %s; Seatbelt is part of macOS", name.sysname);
		return false;
	}
	return seatbelt_try(tool, ret_evidence);
}

/* ---- what it holds ---- */

static bool has_tree(const struct policy *p, enum rule_kind kind)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == kind && p->rules[i].pattern && strstr(p->rules[i].path, "**"))
			return true;
	return false;
}

static void say_names(const struct policy *p, const struct rule *r, struct strv *to)
{
	strv_add(to, "a name on the way to what must not be written is not made either: git init, git clone and mkdir of such a name fail");
	if (r->kind == RULE_PROTECT_NAME) {
		strv_add(to, "protected names are refused in new directories too");
		strv_add(to, "in $TMPDIR and below node_modules they are not protected, and an old directory can be moved there and back");
	}
	if (has_tree(p, RULE_DENY_WRITE) || has_tree(p, RULE_DENY_DELETE))
		strv_add(to, "what follows ** in a pattern holds in every write root and in $TMPDIR");
}

static void say_reads(const struct policy *p, struct strv *to)
{
	strv_add(to, "names and stat stay visible");
	strv_add(to, "what may not be read cannot be removed or linked either");
	if (has_tree(p, RULE_DENY_READ))
		strv_add(to, "what follows ** in a pattern holds in every write root and in $TMPDIR");
	if (has_tree(p, RULE_DENY_READ) && has_tree(p, RULE_ALLOW_READ))
		strv_add(to, "a directory moved to where an allowRead with ** matches is opened by it; 20 directories deep such an allowRead no longer counts");
}

void seatbelt_caveats(const struct policy *p, const struct rule *r, struct strv *to)
{
	switch (r->guarantee) {
	case G_fs_write:
		strv_add(to, "a hard link in a root, from before the run, changes the file outside");
		break;
	case G_fs_write_deny:
	case G_fs_write_names:
		say_names(p, r, to);
		break;
	case G_fs_read_deny:
	case G_fs_read_names:
		say_reads(p, to);
		break;
	case G_fs_exec:
		strv_add(to, "interpreters run what they can read, and a copy under another name is another program");
		break;
	case G_net_egress:
		if (p->net == NET_OFF)
			strv_add(to, "loopback is allowed, and who listens there listens on every address of this machine");
		else
			strv_add(to, "the run's own servers cannot be reached: of loopback there is the proxy's port only");
		break;
	case G_proc_isolation:
		strv_add(to, "shared memory and semaphores that other programs named can be opened");
		break;
	case G_tty_injection:
		strv_add(to, "only from macOS 13 on");
		break;
	default:
		break;
	}
}

static enum extent extent_of(const struct policy *p, const struct rule *r)
{
	switch (r->guarantee) {
	case G_fs_write:
	case G_fs_write_deny:
	case G_fs_write_names:
	case G_fs_read_deny:
	case G_fs_read_names:
	case G_fs_metadata:
	case G_fs_exec:
	case G_net_unix:
	case G_proc_isolation:
	case G_priv_escalation: /* a confined process cannot exec set-id programs, whatever the profile says */
	case G_kernel_surface:
	case G_exec_coverage:
		return HOLDS_WHOLE;
	case G_net_egress:
		return p->net == NET_OPEN ? HOLDS_NOT : HOLDS_WHOLE;
	case G_tty_injection:
		return HOLDS_PART;
	default: /* env_ancestors: KERN_PROCARGS2 asks no profile */
		return HOLDS_NOT;
	}
}

static enum extent seatbelt_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	enum extent extent = extent_of(v->policy, r);
	if (extent != HOLDS_NOT)
		seatbelt_caveats(v->policy, r, caveats);
	return extent;
}

/* ---- starting ---- */

/* Ends each line of the log that is about this run. */
static char *tag_of(const struct launch *l)
{
	const char *name = l->session.top ? strrchr(l->session.top, '/') : NULL;
	return xstrdup(name ? name + 1 : "hurdle");
}

static char *make_profile(const struct launch *l)
{
	_cleanup_free_ char *tag = tag_of(l);
	const struct seatbelt_options options = { .tag = tag, .any_case = true };
	return seatbelt_profile(l->policy, &options);
}

void seatbelt_command(struct strv *to, const char *program, const char *profile, const char *command, char *const *argv)
{
	strv_add(to, program);
	strv_add(to, "-f");
	strv_add(to, profile);
	strv_add(to, command);
	for (size_t i = 1; argv[0] && argv[i]; i++)
		strv_add(to, argv[i]);
}

/* sandbox-exec becomes the command, so nothing stands between them later; walls stays without a name. */
static int seatbelt_prepare(struct launch *l, struct err *err)
{
	_cleanup_free_ char *profile = make_profile(l), *file = strf("%s/" PROFILE_FILE, l->session.dir);
	if (l->policy->net == NET_FILTER && !(l->policy->http_proxy_port && l->policy->socks_proxy_port))
		return err_set(err, -ENOTSUP, "seatbelt cannot filter the network yet: the proxy's port is not known to it");
	int r = write_new_file_at(l->session.dirfd, PROFILE_FILE, 0600, profile, strlen(profile));
	if (r < 0)
		return err_set(err, r, "cannot write '%s': %s", file, strerror(-r));
	seatbelt_command(&l->walls.argv, tool, file, l->program, l->argv);
	l->argv = l->walls.argv.v;
	free(l->program);
	l->program = xstrdup(tool);
	return 0;
}

static char *seatbelt_show(struct launch *l)
{
	return make_profile(l);
}

const struct mechanism mechanism_seatbelt = {
	.name = "seatbelt", .what = "macOS's own sandbox, with a profile for this policy", .role = ROLE_WALL, .level = LEVEL_KERNEL,
	.available = seatbelt_available, .holds = seatbelt_holds, .prepare = seatbelt_prepare, .profile = seatbelt_show,
};
