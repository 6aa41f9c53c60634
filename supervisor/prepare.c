#include "supervisor/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "supervisor/launch.h"
#include "supervisor/policy_build.h"

/* hurdle's own files stand outside every rule of the user's. */
static void add_session_paths(struct launch *l)
{
	policy_add_exact(l->policy, RULE_INTERNAL, LAYER_DEFAULT, l->session.top, "session");
	policy_add_exact(l->policy, RULE_TMPDIR, LAYER_DEFAULT, l->session.tmpdir, "session");
}

static int compile(struct launch *l, const struct plan *plan, struct err *err)
{
	/* the coarse clock is the one that file systems take birth times from */
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	unsigned flags = host_has(l->host, CAP_OPENAT2) ? IMAGE_OPENAT2 : 0;
	/* a program that the shim cannot enter runs all the same where something else holds the rules */
	flags |= plan->guarantees[G_exec_coverage].level > LEVEL_APPLICATION ? IMAGE_PASS_UNCOVERED : 0;
	flags |= mechanism_chosen(l->chosen, &mechanism_bwrap) ? IMAGE_HIDES : 0;
	const struct image_options options = {
		.start_sec = now.tv_sec, .start_nsec = (uint32_t)now.tv_nsec, .supervisor = (uint32_t)getpid(),
		.extra_flags = flags,
	};
	free(l->image);
	l->image = NULL;
	return policy_compile(l->policy, &options, &l->image, &l->image_size, err);
}

static int build(const struct options *o, struct launch *l, struct err *err)
{
	int r = policy_build(o, &l->policy, err);
	if (r < 0)
		return r;
	policy_add_session_rules(l->policy, strncmp(l->host->platform, "WSL", 3) == 0);
	host_has(l->host, CAP_PROC);
	host_has(l->host, CAP_BIRTH_TIME);
	return 0;
}

static void end_session(struct launch *l)
{
	preload_abandon_proof(l);
	session_close(&l->session);
}

/* The plan, and what the enforcers are given by it. */
static int make_plan(struct launch *l, struct plan *plan, struct err *err)
{
	plan_make(plan, l->policy, l->host);
	l->chosen = plan->chosen;
	int r = plan_check_backends(plan, err);
	if (r == 0 && !l->policy->scrub_only)
		r = compile(l, plan, err);
	return r == 0 && !l->policy->scrub_only ? preload_write_policy(l, err) : r;
}

/* The proof needs a processor of its own for a while, so it begins first; when the settings then ask for the environment alone,
 * it was for nothing. */
static int prepare_steps(const struct options *o, struct launch *l, struct plan *plan, struct err *err)
{
	/* the same user's processes may read ours; the command must not find there what it was not given */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	const bool scrub = o->no_sandbox || o->profile == PROFILE_SCRUB;
	l->host = xcalloc(1, sizeof *l->host);
	host_init(l->host);
	int r = scrub ? 0 : session_open(&l->session, l->host->root, err);
	if (r == 0 && !scrub)
		r = preload_begin_proof(l, err);
	if (r == 0)
		r = build(o, l, err);
	if (r < 0)
		return r;
	if (l->policy->scrub_only) {
		end_session(l);
	} else {
		add_session_paths(l);
		preload_end_proof(l);
	}
	return make_plan(l, plan, err);
}

int prepare_without_walls(struct launch *l, struct plan *plan, bool loud, struct err *err)
{
	_cleanup_free_ char *why = xstrdup(err->text);
	err_clear(err);
	if (strv_has(&l->policy->backends, "bwrap"))
		return err_set(err, -ENOTSUP, "backend 'bwrap' does not work here: %s", why);
	if (loud)
		say("bwrap does not work here, going on without it: %s", why);
	host_set(l->host, CAP_BWRAP, false, "%s", why);
	launch_unprepare(l);
	plan_release(plan);
	return make_plan(l, plan, err);
}

int prepare_plan(const struct options *o, struct launch *l, struct plan *plan, struct err *err)
{
	l->session.dirfd = l->session.events_fd = l->session.lock_fd = -1;
	l->confine.landlock_fd = l->report_fd = l->command_fd = l->route.listen_fd = -1;
	memset(plan, 0, sizeof *plan);
	int r = prepare_steps(o, l, plan, err);
	if (r < 0)
		prepare_release(l, plan);
	return r;
}

void prepare_release(struct launch *l, struct plan *plan)
{
	if (plan->policy)
		plan_release(plan);
	end_session(l);
	launch_unprepare(l);
	if (l->report_fd >= 0)
		close(l->report_fd);
	if (l->command_fd >= 0)
		close(l->command_fd);
	free(l->image);
	l->image = NULL;
	if (l->host)
		host_release(l->host);
	free(l->host);
	l->host = NULL;
	free(l->program);
	l->program = NULL;
	if (l->policy)
		policy_free(l->policy);
	l->policy = NULL;
}
