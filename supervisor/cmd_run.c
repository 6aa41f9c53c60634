/* hurdle run: the main job, step by step. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "supervisor/commands.h"
#include "supervisor/launch.h"
#include "supervisor/output.h"
#include "supervisor/prepare.h"
#include "supervisor/proxy_run.h"
#include "supervisor/report.h"
#include "supervisor/self_attack.h"
#include "supervisor/violations.h"
#include "supervisor/walls.h"

extern char **environ;

enum { NAMES_ON_RUN_LINE = 5 };

struct run {
	const struct options *options;
	struct launch launch;
	struct plan plan;
	struct outcome_of_run outcome;
	struct violations violations;
	struct strv repositories;
	char *cwd;          /* of the command at its end; NULL: not known */
	int report_fd, cwd_fd;
	bool report_existed, cwd_existed;
	double seconds;
};

/* ---- the run line ---- */

static void add_levels(struct str *s, const struct plan *plan)
{
	size_t count[LEVEL_NA + 1] = { 0 };
	unsigned by = 0;
	for (int g = 0; g < G_COUNT; g++) {
		count[plan->guarantees[g].level]++;
		by |= plan->guarantees[g].by;
	}
	_cleanup_free_ char *names = plan_mechanism_names(plan, by, "+");
	str_addf(s, "%s · %zu of %zu guarantees by the kernel", names, count[LEVEL_KERNEL], (size_t)G_COUNT - count[LEVEL_NA]);
	if (count[LEVEL_SUPERVISED])
		str_addf(s, ", %zu by the supervisor", count[LEVEL_SUPERVISED]);
	if (count[LEVEL_APPLICATION])
		str_addf(s, ", %zu by code in the program's own process", count[LEVEL_APPLICATION]);
	if (count[LEVEL_NONE])
		str_addf(s, ", %zu by nothing", count[LEVEL_NONE]);
}

static void add_dropped(struct str *s, const struct scrub_result *env)
{
	if (!env->n_drops)
		return;
	str_addf(s, " · %zu variable%s dropped: ", env->n_drops, env->n_drops == 1 ? "" : "s");
	for (size_t i = 0; i < env->n_drops && i < NAMES_ON_RUN_LINE; i++) {
		str_add(s, i ? ", " : "");
		str_add_escaped(s, env->drops[i].name);
	}
	if (env->n_drops > NAMES_ON_RUN_LINE)
		str_addf(s, " and %zu more", env->n_drops - NAMES_ON_RUN_LINE);
}

/* Programs that the shim cannot enter are under the rules of something stronger. */
static bool held_anyway(const struct run *run)
{
	return run->plan.guarantees[G_exec_coverage].level > LEVEL_APPLICATION;
}

static void add_uncovered(struct str *s, const struct run *run)
{
	int reason = preload_coverage(run->launch.program);
	if (!reason || run->launch.policy->scrub_only || held_anyway(run))
		return;
	str_add(s, " · UNCOVERED: ");
	str_add_escaped(s, run->launch.program);
	str_addf(s, " (%s) runs outside the file rules", uncovered_reason_words(reason));
}

static void add_network(struct str *s, const struct run *run)
{
	const struct policy *p = run->launch.policy;
	if (p->net == NET_OPEN)
		str_add(s, " · network open");
	else if (run->launch.route.external)
		str_addf(s, " · network through the proxy on port %u, which is not hurdle's", (unsigned)run->launch.route.port);
	else
		str_add(s, p->lists[LIST_ALLOWED_DOMAINS].given ? " · network to allowed hosts" : " · network to the built-in hosts");
}

static void say_run_line(const struct run *run)
{
	const struct policy *p = run->launch.policy;
	struct str s = STR_INIT;
	add_levels(&s, &run->plan);
	if (p->scrub_only)
		str_addf(&s, " · the environment alone (%s)", p->scrub_only_origin ? p->scrub_only_origin : "--no-sandbox");
	else if (p->net == NET_OFF)
		str_add(&s, " · network off");
	else
		add_network(&s, run);
	if (p->no_cwd_root)
		str_add(&s, " · nothing is writable but TMPDIR: name a root with --allow-write");
	add_dropped(&s, &run->launch.env);
	add_uncovered(&s, run);
	_cleanup_free_ char *line = str_take(&s);
	say("%s", line);
}

/* ---- before ---- */

static int refuse_uncovered(const struct run *run, struct err *err)
{
	int reason = preload_coverage(run->launch.program);
	if (!run->launch.policy->strict || !reason || run->launch.policy->scrub_only || held_anyway(run))
		return 0;
	int r = err_set(err, -EPERM, "cannot run '%s': it is %s, and --strict refuses what the rules cannot reach", run->launch.program,
			uncovered_reason_words(reason));
	err_hint(err, "without --strict it runs outside the file rules, and is reported");
	return r;
}

static int check_shim(const struct run *run, struct err *err)
{
	const struct host *h = run->launch.host;
	if (run->launch.policy->scrub_only || h->caps[CAP_SHIM].available)
		return 0;
	int r = err_set(err, -ENOTSUP, "the shim does not work on this host, and nothing else holds the file rules: %s",
			h->shim_failure ? h->shim_failure : "not tried");
	err_hint(err, "--no-sandbox runs the command with the environment scrubbed and nothing else");
	return r;
}

static int open_cwd_file(struct run *run, struct err *err)
{
	const char *path = run->options->cwd_file;
	if (!path)
		return 0;
	run->cwd_existed = access(path, F_OK) == 0;
	run->cwd_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	return run->cwd_fd < 0 ? err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno)) : 0;
}

static int open_report(struct run *run, struct err *err)
{
	const char *path = run->options->report;
	if (!path)
		return 0;
	run->report_existed = access(path, F_OK) == 0;
	return report_open(path, &run->report_fd, err);
}

/* Nothing was started, so nothing is left behind. */
static void remove_results(const struct run *run)
{
	if (run->report_fd >= 0 && !run->report_existed)
		unlink(run->options->report);
	if (run->cwd_fd >= 0 && !run->cwd_existed)
		unlink(run->options->cwd_file);
}

/* Before anything is opened here: a number that is free now may be a descriptor of hurdle's own later. */
static int check_passed(const struct options *o, struct err *err)
{
	for (size_t i = 0; i < o->n_pass_fds; i++)
		if (fcntl(o->pass_fds[i], F_GETFD) < 0)
			return err_set(err, -errno, "cannot pass descriptor %d: %s", o->pass_fds[i], strerror(errno));
	return 0;
}

static int exit_for(int error)
{
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* 0, or the exit code; nothing was started. */
static int before(struct run *run, struct err *err)
{
	const struct options *o = run->options;
	struct launch *l = &run->launch;
	if (check_passed(o, err) < 0 || prepare_plan(o, l, &run->plan, err) < 0)
		return EXIT_REFUSED;
	output_warnings(l->policy);
	int r = launch_find_program(l, err);
	if (r < 0)
		return exit_for(r);
	if (check_shim(run, err) < 0)
		return EXIT_REFUSED;
	if (open_report(run, err) == 0 && open_cwd_file(run, err) == 0)
		return 0;
	remove_results(run);
	return EXIT_REFUSED;
}

/* ---- after ---- */

/* What the page says is the command's word: only an existing directory is believed, and only as a message. */
static void read_cwd(struct run *run)
{
	const struct wire_page *page = run->launch.session.page;
	struct stat st;
	if (!page)
		return;
	char *text = strndup(page->cwd, sizeof page->cwd - 1);
	if (text && text[0] == '/' && stat(text, &st) == 0 && S_ISDIR(st.st_mode))
		run->cwd = text;
	else
		free(text);
}

static void read_repositories(struct run *run)
{
	const struct wire_page *page = run->launch.session.page;
	for (size_t i = 0; page && i < WIRE_REPOSITORIES; i++) {
		char text[sizeof page->repository[i] + 1];
		memcpy(text, page->repository[i], sizeof page->repository[i]);
		text[sizeof text - 1] = '\0';
		if (text[0] == '/' && !strv_has(&run->repositories, text))
			strv_add(&run->repositories, text);
	}
}

static void say_after(const struct run *run)
{
	struct str s = STR_INIT;
	if (proxy_run_died(&run->launch))
		str_add(&s, "hurdle: the proxy ended before the command did; from then on there was no network\n");
	violations_print(&s, &run->violations, run->launch.session.tmpdir);
	if (!held_anyway(run))
		violations_print_uncovered(&s, &run->violations);
	if (s.len)
		write_all(STDERR_FILENO, s.s, s.len);
	str_free(&s);
}

static int write_results(struct run *run, struct err *err)
{
	const struct options *o = run->options;
	int r = 0;
	if (run->cwd_fd >= 0 && run->cwd) {
		r = write_all(run->cwd_fd, run->cwd, strlen(run->cwd));
		if (r < 0)
			err_set(err, r, "cannot write '%s': %s", o->cwd_file, strerror(-r));
	}
	if (run->report_fd < 0 || r < 0)
		return r;
	const struct run_report report = {
		.plan = &run->plan, .host = run->launch.host, .command = run->launch.argv, .exit = run->outcome.exit,
		.signal = run->outcome.signal, .duration = run->seconds, .cwd = run->cwd, .violations = &run->violations,
		.scrubbed = &run->launch.env, .repositories = &run->repositories, .hosts = proxy_run_record(&run->launch),
	};
	return report_finish(run->report_fd, o->report, &report, err);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the command ---- */

/* -EAGAIN: the walls did not come up. The line about what holds is said before anything of the user's runs, and only when it is true. */
static int try_start(struct run *run, struct err *err)
{
	struct launch *l = &run->launch;
	int r = self_attack(l, &run->plan, false, err);
	if (r == 0)
		r = plan_check_required(&run->plan, err);
	if (r == 0)
		r = refuse_uncovered(run, err);
	if (r == 0)
		r = launch_prepare(l, err);
	if (r == 0)
		r = proxy_run_prepare(l, err);
	if (r < 0)
		return r;
	if (!l->walls.name && !run->options->quiet)
		say_run_line(run);
	if (!l->walls.name)
		env_wipe(l);
	if (!l->walls.own_network)
		r = proxy_run_start(l, err);
	if (r == 0)
		r = launch_start(l, err);
	if (r < 0 || !l->walls.name)
		return r;
	/* what listens inside has been handed out by now */
	if (l->walls.own_network && (r = proxy_run_start(l, err)) < 0)
		return r;
	if (!run->options->quiet)
		say_run_line(run);
	env_wipe(l);
	walls_go(l);
	return 0;
}

static int start(struct run *run, struct err *err)
{
	for (;;) {
		int r = try_start(run, err);
		if (r == -EAGAIN)
			r = prepare_without_walls(&run->launch, &run->plan, true, err);
		else
			return r;
		if (r < 0)
			return r;
	}
}

static int run_command(struct run *run, struct err *err)
{
	struct launch *l = &run->launch;
	double began = now();
	if (start(run, err) < 0) {
		remove_results(run);
		return EXIT_REFUSED;
	}
	watch_run(l, &run->outcome);
	run->seconds = now() - began;
	session_freeze(&l->session);
	violations_read(l->session.page, l->policy, &run->violations);
	proxy_run_add_violations(l, &run->violations);
	violations_ignore(&run->violations, l->policy, l->argv);
	read_cwd(run);
	read_repositories(run);
	say_after(run);
	int r = write_results(run, err);
	return r < 0 && run->outcome.exit == 0 ? EXIT_REFUSED : run->outcome.exit;
}

static void release(struct run *run)
{
	violations_release(&run->violations);
	strv_free(&run->repositories);
	free(run->cwd);
	if (run->report_fd >= 0)
		close(run->report_fd);
	if (run->cwd_fd >= 0)
		close(run->cwd_fd);
	proxy_run_release(&run->launch);
	prepare_release(&run->launch, &run->plan);
}

int cmd_run(const struct options *o)
{
	struct err err = ERR_NONE;
	struct run run = { .options = o, .report_fd = -1, .cwd_fd = -1 };
	if (!o->n_operands) {
		say("no command given");
		say("hint: hurdle run [options] -- COMMAND [argument ...]");
		return EXIT_REFUSED;
	}
	run.launch.argv = o->operands;
	run.launch.environ = environ;
	run.launch.pass_fds = o->pass_fds;
	run.launch.n_pass_fds = o->n_pass_fds;
	int code = before(&run, &err);
	if (code == 0)
		code = run_command(&run, &err);
	if (err.text)
		say_err(&err);
	err_clear(&err);
	release(&run);
	return code;
}
