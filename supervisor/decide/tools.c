/* Paths: may a command read or write it, and what is answered to the file tools of an agent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/base/cleanup.h"
#include "supervisor/decide/decide.h"
#include "supervisor/decide/paths.h"
#include "supervisor/explain.h"

static enum outcome judge(const struct decider *d, enum access access, const char *path, struct verdict *v)
{
	*v = (struct verdict){ .outcome = OUTCOME_ALLOW, .rule = IMAGE_NONE };
	policy_decide(d->image, access, path, strlen(path), v);
	return v->outcome;
}

/* A rule that denies reading something below the directory; a pattern counts when it may reach there. */
static bool hides_something(const struct policy *p, const char *directory)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		_cleanup_free_ char *prefix = NULL;

		if (r->kind != RULE_DENY_READ || !r->path)
			continue;
		if (!r->pattern && path_under(r->path, directory))
			return true;
		if (!r->pattern)
			continue;
		prefix = strf("%.*s", (int)strcspn(r->path, "*?["), r->path);
		if (!strncmp(prefix, directory, strlen(prefix)) || !strncmp(prefix, directory, strlen(directory)))
			return true;
	}
	return false;
}

bool decide_may_access(void *context, bool write, const char *path)
{
	const struct decider *d = context;
	_cleanup_free_ char *real = NULL;
	struct verdict v;
	struct stat st;
	bool exists;

	if (!d->image || explain_resolve(d->policy, path, &real, &exists, NULL) < 0)
		return false;
	if (write)
		return judge(d, exists ? ACCESS_WRITE : ACCESS_CREATE, real, &v) == OUTCOME_ALLOW;
	if (judge(d, ACCESS_READ, real, &v) != OUTCOME_ALLOW)
		return false;
	return stat(real, &st) < 0 || !S_ISDIR(st.st_mode) || !hides_something(d->policy, real);
}

/* ---- the file tools ---- */

/* "Edit" rules are about everything that writes, "Read" rules about everything that reads. */
static const struct { const char *name; bool writes; } tools[] = {
	{ "Read", false }, { "Grep", false }, { "Glob", false }, { "LS", false }, { "NotebookRead", false },
	{ "Write", true }, { "Edit", true }, { "MultiEdit", true }, { "NotebookEdit", true },
};

static int tool_index(const char *tool, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (!strcmp(tools[i].name, tool))
			return (int)i;
	err_set(err, -EINVAL, "unknown tool '%s'", tool);
	err_hint(err, "Read, Grep, Glob, LS, Write, Edit, MultiEdit and NotebookEdit are answered; commands are given with -c");
	return -EINVAL;
}

/* Arguments of deny and allow rules have become rules about paths; those of ask rules, and rules without one, have not. */
static bool rule_means(const struct policy *p, const struct permission *r, bool writes, const char *real)
{
	const bool about = writes ? !strcmp(r->tool, "Edit") || !strcmp(r->tool, "Write") : !strcmp(r->tool, "Read");
	_cleanup_free_ char *path = NULL;

	if (!about || !r->argument)
		return about;
	if (r->list != PERMISSION_ASK)
		return false;
	path = path_absolute(!strncmp(r->argument, "//", 2) ? r->argument + 1 : r->argument, p->cwd, p->home);
	return path_under(real, path) || glob_match(path, strlen(path), real, strlen(real), false);
}

static bool by_permission(const struct decider *d, enum permission_list list, enum decision decision, bool writes, const char *real, struct answer *ret)
{
	for (size_t i = 0; i < d->policy->n_permissions; i++) {
		const struct permission *r = &d->policy->permissions[i];

		if (r->list != list || !rule_means(d->policy, r, writes, real))
			continue;
		ret->decision = decision;
		ret->by = BY_RULE;
		ret->rule = r->text;
		ret->origin = r->origin;
		ret->reason = strf("the rule %s says so", r->text);
		return true;
	}
	return false;
}

static void by_path(const struct decider *d, bool writes, bool exists, const char *real, struct answer *ret)
{
	const enum access access = !writes ? ACCESS_READ : exists ? ACCESS_WRITE : ACCESS_CREATE;
	struct verdict v;
	const enum outcome outcome = judge(d, access, real, &v);
	_cleanup_free_ char *words = policy_rule_words(d->policy, v.rule, access), *shown = str_escape(real);

	ret->by = BY_PATH;
	if (v.rule < d->policy->n_rules) {
		ret->rule = d->policy->rules[v.rule].text;
		ret->origin = d->policy->rules[v.rule].origin;
	}
	ret->decision = outcome == OUTCOME_ALLOW ? DECISION_ALLOW : v.rule < d->policy->n_rules ? DECISION_DENY : DECISION_ASK;
	if (outcome == OUTCOME_ALLOW)
		ret->reason = strf("%s may be %s", shown, writes ? "written: a command in the sandbox may as well" : "read: no rule denies it");
	else
		ret->reason = strf("%s may not be %s by a command in the sandbox: %s", shown, writes ? "written" : "read", words);
}

int decide_tool(const struct decider *d, const char *tool, const char *path, struct answer *ret, struct err *err)
{
	const int index = tool_index(tool, err);
	_cleanup_free_ char *real = NULL;
	bool exists;
	int r;

	if (index < 0)
		return index;
	r = explain_resolve(d->policy, path, &real, &exists, err);
	if (r < 0)
		return r;
	*ret = (struct answer){ .detector = -1, .sandbox_reason = xstrdup("tools of the agent itself do not run in the sandbox") };
	if (by_permission(d, PERMISSION_DENY, DECISION_DENY, tools[index].writes, real, ret) ||
	    by_permission(d, PERMISSION_ASK, DECISION_ASK, tools[index].writes, real, ret))
		return 0;
	if (d->image) {
		by_path(d, tools[index].writes, exists, real, ret);
		return 0;
	}
	ret->decision = DECISION_ASK;
	ret->by = BY_DEFAULT;
	ret->reason = xstrdup("the sandbox is off, so there are no rules about paths");
	return 0;
}
