#include "supervisor/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "envscrub/scrub.h"
#include "platform/base/cleanup.h"
#include "supervisor/report_json.h"

/* ---- paths ---- */

int explain_resolve(const struct policy *p, const char *text, char **ret, bool *ret_exists, struct err *err)
{
	_cleanup_free_ char *raw = NULL;
	struct stat st;
	int r;

	/* ".." stays: what it leads to depends on the links before it */
	if (text[0] == '~' && (text[1] == '/' || !text[1]) && p->home && lstat(text, &st) < 0)
		raw = strf("%s%s", p->home, text + 1);
	else
		raw = text[0] == '/' ? xstrdup(text) : strf("%s/%s", p->cwd, text);
	r = path_resolve(raw, ret);
	if (r < 0)
		return err_set(err, r, "cannot resolve '%s': %s", text, strerror(-r));
	*ret_exists = lstat(*ret, &st) == 0;
	return 0;
}

static enum guarantee guarantee_of(enum access access)
{
	return access == ACCESS_READ ? G_fs_read_deny : access == ACCESS_EXEC ? G_fs_exec : G_fs_write;
}

static const char *allowed_words(enum access access)
{
	return access == ACCESS_READ ? "no rule denies reading it" : access == ACCESS_EXEC ? "no rule denies running it" : "allowed";
}

static void set_rule(struct explained *e, const struct plan *plan, const struct rule *r)
{
	e->rule = report_rule_title(r);
	e->origin = r->origin;
	e->layer = report_layer_name(r->layer);
	if (e->allowed)
		return;
	e->level = plan->rules[r - plan->policy->rules].level;
	e->by = plan->rules[r - plan->policy->rules].by;
}

/* No rule allows it: the guarantee as a whole holds that. */
static void set_no_rule(struct explained *e, const struct plan *plan, enum access access)
{
	e->rule = policy_rule_words(plan->policy, IMAGE_NONE, access);
	e->level = plan->guarantees[guarantee_of(access)].level;
	e->by = plan->guarantees[guarantee_of(access)].by;
}

/* A program that the shim cannot enter: --strict refuses it, else it runs outside the file rules. */
static void look_at_coverage(struct explained *e, const struct plan *plan, const char *path)
{
	struct stat st;

	if (!e->allowed || plan->policy->scrub_only || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return;
	const int reason = preload_coverage(path);
	if (reason == UNCOVERED_NONE)
		return;
	e->note = uncovered_reason_words(reason);
	if (!plan->policy->strict)
		return;
	e->allowed = false;
	free(e->rule);
	e->rule = xstrdup("strict: a program that the rules cannot reach");
	e->level = plan->guarantees[G_exec_coverage].level;
	e->by = plan->guarantees[G_exec_coverage].by;
}

void explain_access(const struct plan *plan, const struct image *img, enum access access, const char *path, bool exists,
		    struct explained *ret)
{
	static const char *const names[] = {
		[ACCESS_READ] = "read", [ACCESS_WRITE] = "write", [ACCESS_CREATE] = "create", [ACCESS_EXEC] = "exec",
	};
	const struct policy *p = plan->policy;
	struct verdict v = { .outcome = OUTCOME_ALLOW, .rule = IMAGE_NONE };

	access = access == ACCESS_WRITE && !exists ? ACCESS_CREATE : access;
	if (img)
		policy_decide(img, access, path, strlen(path), &v);
	*ret = (struct explained){ .access = names[access], .allowed = v.outcome == OUTCOME_ALLOW, .level = LEVEL_NA };
	/* the write root that a program lies under is not why it may run */
	if (ret->allowed && access == ACCESS_EXEC && v.rule < p->n_rules && p->rules[v.rule].kind != RULE_GRANT_EXEC)
		v.rule = IMAGE_NONE;
	if (v.rule < p->n_rules)
		set_rule(ret, plan, &p->rules[v.rule]);
	else if (!ret->allowed)
		set_no_rule(ret, plan, access);
	else
		ret->rule = xstrdup(img ? allowed_words(access) : "the environment alone is under rules");
	if (v.outcome == OUTCOME_DENY_IF_OLD)
		ret->note = "denied when the directory that holds it existed before the run";
	if (access == ACCESS_EXEC)
		look_at_coverage(ret, plan, path);
}

void explained_release(struct explained *e)
{
	free(e->rule);
	*e = (struct explained){ 0 };
}

/* ---- variables ---- */

static bool names(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(entry, name, n) && entry[n] == '=';
}

/* The environment with name in it: families and copies are judged by all of it. */
static char **with_variable(char *const envp[], const char *name, const char *assignment, bool *ret_set)
{
	char **copy;
	size_t n = 0;

	*ret_set = false;
	while (envp && envp[n])
		*ret_set |= names(envp[n++], name);
	copy = xcalloc(n + 2, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = envp[i];
	if (!*ret_set)
		memcpy(&copy[n], &assignment, sizeof(assignment));
	return copy;
}

int explain_variable(const struct policy *p, char *const envp[], const char *name, struct explained_variable *ret)
{
	const struct scrub_options options = {
		.keep = (const char *const *)p->env_keep.v, .drop = (const char *const *)p->env_drop.v,
		.drop_handles = p->no_handles || !(p->unix_open || p->scrub_only), .with = (const char *const *)p->env_set.v,
	};
	_cleanup_free_ char *assignment = strf("%s=1", name);
	_cleanup_free_ char **all = with_variable(envp, name, assignment, &ret->set);
	_cleanup_(scrub_result_clear) struct scrub_result result = { 0 };
	int r = scrub_env(&options, all, &result);

	if (r < 0)
		return r;
	ret->dropped = false;
	ret->reason = NULL;
	for (size_t i = 0; i < result.n_drops && !ret->dropped; i++) {
		if (strcmp(result.drops[i].name, name))
			continue;
		ret->dropped = true;
		ret->reason = xstrdup(result.drops[i].why);
	}
	return 0;
}
