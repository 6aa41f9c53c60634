#include "supervisor/self_attack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/mechanism/attack.h"
#include "supervisor/attack_memory.h"
#include "supervisor/launch.h"
#include "supervisor/prepare.h"
#include "supervisor/walls.h"

enum { ANSWER_SECONDS = 10 };

static const struct { enum guarantee guarantee; const char *name, *what; } attacks[] = {
#define ATTACK(id, guarantee_, what_) { G_##guarantee_, #id, what_ },
#include "platform/mechanism/quick_attacks.def"
#undef ATTACK
};

/* ---- what it is tried on ---- */

static bool denies(const struct launch *l, enum access access, const char *path)
{
	struct verdict v;
	policy_decide(l->image, access, path, strlen(path), &v);
	return v.outcome == OUTCOME_DENY;
}

/* A regular file that a rule of this kind names, and that permissions would let the user reach. "": none. */
static const char *file_of(const struct launch *l, enum rule_kind kind, enum access access, int mode)
{
	struct stat st;
	for (size_t i = 0; i < l->policy->n_rules; i++) {
		const struct rule *r = &l->policy->rules[i];
		if (r->kind == kind && !r->pattern && r->path && strncmp(r->path, "/proc/", 6) != 0 && denies(l, access, r->path) &&
		    stat(r->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && faccessat(AT_FDCWD, r->path, mode, AT_EACCESS) == 0)
			return r->path;
	}
	return "";
}

static int make_place(const struct launch *l, char **ret)
{
	_cleanup_free_ char *dir = strf("%s/attack", l->session.top);
	remove_tree(dir);
	if (mkdir(dir, 0700) < 0)
		return -errno;
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : write_new_file_at(fd, "file", 0600, "x", 1);
	if (r == 0)
		r = write_new_file_at(fd, "other", 0600, "x", 1);
	*ret = TAKE_PTR(dir);
	return r;
}

/* ---- the attempt ---- */

/* All that confines, and nothing that only observes or dresses. */
static int prepare(struct launch *t, struct err *err)
{
	for (size_t i = n_mechanisms; i-- > 0;) {
		const struct mechanism *m = mechanisms[i];
		if (!(t->chosen >> i & 1) || !m->prepare || m == &mechanism_env || m == &mechanism_preload || m == &mechanism_proxyroute)
			continue;
		int r = m->prepare(t, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_answer(int fd, char outcome[ATTACK_COUNT])
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ready;
	do
		ready = poll(&p, 1, ANSWER_SECONDS * 1000);
	while (ready < 0 && errno == EINTR);
	return ready == 1 && read(fd, outcome, ATTACK_COUNT) == ATTACK_COUNT ? 0 : -EIO;
}

static void end(struct launch *t)
{
	if (t->pid > 0) {
		kill(t->pid, SIGKILL);
		while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (t->report_fd >= 0)
		close(t->report_fd);
	if (t->command_fd >= 0)
		close(t->command_fd);
	launch_unprepare(t);
}

static int run(struct launch *t, int answers[2], char outcome[ATTACK_COUNT], struct err *err)
{
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	int r = prepare(t, err);
	if (r == 0)
		r = launch_start(t, err);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(TAKE_FD(answers[1]));
	if (r < 0)
		return r;
	walls_go(t);
	r = read_answer(answers[0], outcome);
	return r < 0 ? err_set(err, r, "the self-attack gave no answer") : 0;
}

static int attack(const struct launch *l, char outcome[ATTACK_COUNT], struct err *err)
{
	_cleanup_free_ char *outside = NULL, *program = strf("%s/" WIRE_STAGE, l->session.dir);
	char *none[] = { NULL }, number[3][24];
	int answers[2], r = make_place(l, &outside);
	if (r < 0)
		return err_set(err, r, "cannot prepare the self-attack: %s", strerror(-r));
	if (pipe2(answers, O_CLOEXEC) < 0)
		return err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	snprintf(number[0], sizeof number[0], "%d", answers[1]);
	snprintf(number[1], sizeof number[1], "%d", (int)getpid());
	snprintf(number[2], sizeof number[2], "%d", (int)getppid());
	const char *argv[ATTACK_ARG_COUNT + 1] = {
		"stage", [ATTACK_ARG_NAME] = "attack", [ATTACK_ARG_FD] = number[0], [ATTACK_ARG_OUTSIDE] = outside,
		[ATTACK_ARG_TMPDIR] = l->session.tmpdir, [ATTACK_ARG_SUPERVISOR] = number[1], [ATTACK_ARG_PARENT] = number[2],
		[ATTACK_ARG_UNREADABLE] = file_of(l, RULE_DENY_READ, ACCESS_READ, R_OK),
		[ATTACK_ARG_UNWRITABLE] = file_of(l, RULE_DENY_WRITE, ACCESS_WRITE, W_OK),
	};
	struct launch t = *l;
	const int pass[1] = { answers[1] };
	t.argv = (char **)(uintptr_t)argv;
	t.program = program;
	t.env = (struct scrub_result){ .envp = none };
	t.extra_env = (struct strv){ 0 };
	t.walls = (struct walls){ 0 };
	t.confine = (struct confinement){ .landlock_fd = -1 };
	t.route = ROUTE_NONE;
	t.pass_fds = pass;
	t.n_pass_fds = 1;
	r = session_write_stage(&l->session, l->host);
	r = r < 0 ? err_set(err, r, "cannot write the self-attack: %s", strerror(-r)) : run(&t, answers, outcome, err);
	t.env = (struct scrub_result){ 0 };
	end(&t);
	close(answers[0]);
	if (answers[1] >= 0)
		close(answers[1]);
	remove_tree(outside);
	return r;
}

/* ---- what follows from it ---- */

static void lower_by(struct plan *plan, const char outcome[ATTACK_COUNT])
{
	for (size_t i = 0; i < ATTACK_COUNT; i++) {
		_cleanup_free_ char *text = strf("the self-attack succeeded here: %s", attacks[i].what);
		if (outcome[i] == ATTACK_SUCCEEDED)
			plan_lower(plan, attacks[i].guarantee, text);
	}
}

static bool worth_it(const struct launch *l)
{
	for (size_t i = 0; i < n_mechanisms; i++)
		if (l->chosen >> i & 1 && mechanisms[i]->role != ROLE_BASE && mechanisms[i] != &mechanism_preload)
			return true;
	return false;
}

int self_attack(const struct launch *l, struct plan *plan, bool fresh, struct err *err)
{
	char outcome[ATTACK_COUNT] = { 0 };
	if (l->policy->scrub_only || !worth_it(l))
		return 0;
	_cleanup_free_ char *key = attack_memory_key(l, plan);
	if (fresh || !attack_memory_find(l, key, outcome)) {
		int r = attack(l, outcome, err);
		if (r < 0)
			return r;
		attack_memory_add(l, key, outcome);
	}
	lower_by(plan, outcome);
	return 0;
}

int self_attack_plan(struct launch *l, struct plan *plan, bool fresh, struct err *err)
{
	int r;
	while ((r = self_attack(l, plan, fresh, err)) == -EAGAIN) {
		r = prepare_without_walls(l, plan, false, err);
		if (r < 0)
			break;
	}
	return r;
}
