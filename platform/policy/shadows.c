/* Entries that change nothing, because another one covers them or nothing is there to be lifted: each earns a warning. */
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/defaults_private.h"
#include "platform/policy/rules_private.h"

static const struct rule *find_pattern(const struct policy *p, enum rule_kind kind, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];

		for (size_t n = 1; r->kind == kind && r->pattern && n <= strlen(path); n++)
			if ((path[n] == '/' || !path[n]) && glob_match(r->path, strlen(r->path), path, n, r->icase))
				return r;
	}
	return NULL;
}

/* A rule that holds at path, or at a directory above it. */
static const struct rule *find(struct policy *p, enum rule_kind kind, const char *path)
{
	const struct rule *r = rule_find_literal(p, kind, "/", 1);

	for (size_t n = 1; !r && n <= strlen(path); n++)
		if (path[n] == '/' || !path[n])
			r = rule_find_literal(p, kind, path, n);
	return r ? r : find_pattern(p, kind, path);
}

static void check(struct policy *p, const struct rule *r)
{
	if (r->kind == RULE_ALLOW_WRITE) {
		const struct rule *deny = find(p, RULE_DENY_WRITE, r->path);

		if (deny)
			policy_warn(p, "%s: '%s' changes nothing: denyWrite %s (%s) covers it", r->origin, r->text, deny->text, deny->origin);
	} else if (!find(p, RULE_DENY_READ, r->path)) {
		policy_warn(p, "%s: '%s' changes nothing: no rule denies reading it", r->origin, r->text);
	}
}

void policy_warn_of_shadows(struct policy *p)
{
	for (size_t i = 0; i < p->n_rules && p->warnings.n < WARNINGS_MAX; i++) {
		const struct rule *r = &p->rules[i];

		if (r->layer != LAYER_DEFAULT && !r->pattern && (r->kind == RULE_ALLOW_WRITE || r->kind == RULE_ALLOW_READ))
			check(p, r);
	}
}
