/* A rule in words, as reports and violations show it. */
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/policy.h"

static const char *const kind_names[RULE_KIND_COUNT] = {
	[RULE_ALLOW_WRITE] = "allowWrite", [RULE_DENY_WRITE] = "denyWrite", [RULE_DENY_DELETE] = "denyDelete",
	[RULE_ALLOW_READ] = "allowRead", [RULE_DENY_READ] = "denyRead", [RULE_DENY_EXEC] = "denyExec",
	[RULE_GRANT_EXEC] = "execGrantRoots", [RULE_ALLOW_SOCKET] = "allowUnixSockets", [RULE_PROTECT_NAME] = "protected name",
	[RULE_INTERNAL] = "hurdle's own files", [RULE_TMPDIR] = "temporary directory", [RULE_NET] = "network",
	[RULE_ENV] = "environment", [RULE_SESSION] = "session",
};

const char *rule_kind_name(enum rule_kind kind)
{
	return kind_names[kind];
}

static const char *no_rule(enum access access)
{
	switch (access) {
	case ACCESS_READ:    return "not readable";
	case ACCESS_EXEC:    return "execFrom outsideRoots: a program in a writable directory";
	case ACCESS_CONNECT: return "not an allowed unix socket";
	default:             return "not under a write root";
	}
}

static bool lifted_by_git_config(const struct rule *r)
{
	return r->kind == RULE_PROTECT_NAME && r->text && strstr(r->text, ".git/") && strstr(r->text, "/config");
}

char *policy_rule_words(const struct policy *p, uint32_t rule, enum access access)
{
	const struct rule *r;

	if (rule == IMAGE_NONE || rule >= p->n_rules)
		return xstrdup(no_rule(access));
	r = &p->rules[rule];
	return strf("%s%s%s (%s)%s", rule_kind_name(r->kind), r->text && *r->text ? " " : "", r->text ? r->text : "",
		    r->origin ? r->origin : "default", lifted_by_git_config(r) ? "; allowGitConfig lifts it" : "");
}
