/*
 * What a project's file may say. It comes with the code that it would confine, so it may only tighten, until the user has trusted
 * that very content. What loosens is the fifth column of settings_keys.def; this file reads it.
 */
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/defaults_private.h"
#include "platform/policy/settings_private.h"
#include "platform/policy/trust.h"

enum { SHOWN_MAX = 200 };

/* The value, for who decides whether to trust it. */
static void remember(struct policy *p, const char *key, const json_t *value)
{
	_cleanup_free_ char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT), *line = NULL;

	line = strf("%s: %.*s%s", key, SHOWN_MAX, text ? text : "?", text && strlen(text) > SHOWN_MAX ? "..." : "");
	strv_add(&p->loosening, line);
}

static bool refuse(struct reader *r, const struct json_step *at, const json_t *value)
{
	_cleanup_free_ char *key = json_step_name(at);

	remember(r->p, key, value);
	settings_warn(r, at, "loosens, so it is ignored until you trust this file: hurdle trust %s", r->name);
	return false;
}

static bool is_empty(const json_t *value)
{
	return (json_is_array(value) && !json_array_size(value)) || (json_is_object(value) && !json_object_size(value)) ||
	       json_is_false(value);
}

static bool does_loosen(enum loosens loosens, const json_t *value)
{
	switch (loosens) {
	case ALWAYS:    return !is_empty(value);
	case ANY_VALUE: return true;
	case IF_TRUE:   return json_is_true(value);
	case IF_FALSE:  return json_is_false(value);
	default:        return false;
	}
}

bool settings_may(struct reader *r, const struct settings_key *key, const struct json_step *at, const json_t *value)
{
	if (key->loosens == ONLY_MANAGED && r->layer != LAYER_MANAGED) {
		settings_warn(r, at, "is ignored: only the managed file may say it");
		return false;
	}
	return !r->tighten_only || !does_loosen(key->loosens, value) || refuse(r, at, value);
}

bool settings_may_choose(struct reader *r, const struct json_step *at, const json_t *value, int now, int wanted)
{
	/* what is so already is not decided by a file that could not say otherwise, or it would keep a later file of its layer from it */
	return !r->tighten_only || wanted < now || (wanted > now && refuse(r, at, value));
}

bool settings_trusted(const struct policy *p, const char *name, const char *text, size_t len)
{
	char digest[TRUST_DIGEST_SIZE];
	_cleanup_free_ char *key = trust_key(p->cwd, name);

	trust_digest(text, len, digest);
	return trust_holds(p->trusted, key, digest);
}

/* ---- write roots ---- */

/*
 * A root at or below the working directory, which can be written anyway, loosens nothing, unless what is denied for reading lies at
 * or above it: a root counts as an allowRead. Denials above the working directory do not matter, for that itself counts as one.
 */
static bool lifts_a_read(const struct policy *p, const char *path)
{
	const size_t least = strlen(p->cwd);

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *d = &p->rules[i];

		if (d->kind != RULE_DENY_READ)
			continue;
		if (!d->pattern && path_under(d->path, p->cwd) && path_under(path, d->path))
			return true;
		for (size_t n = least; d->pattern && n <= strlen(path); n++)
			if ((path[n] == '/' || !path[n]) && glob_match(d->path, strlen(d->path), path, n, d->icase))
				return true;
	}
	return false;
}

static bool is_root_of_others(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];

		if (r->kind == RULE_ALLOW_WRITE && !r->untrusted && !r->pattern && path_under(path, r->path))
			return true;
	}
	return false;
}

static bool root_loosens(const struct policy *p, const struct rule *r)
{
	const bool cwd_is_root = !p->narrowed && default_cwd_may_be_root(p);

	if (r->pattern || !path_under(r->path, p->cwd))
		return true;
	if (!cwd_is_root && !is_root_of_others(p, r->path))
		return true;
	return lifts_a_read(p, r->path);
}

void policy_drop_loosening_roots(struct policy *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_rules; i++) {
		struct rule *r = &p->rules[i];

		if (r->untrusted && root_loosens(p, r)) {
			_cleanup_free_ char *line = strf("filesystem.allowWrite: \"%s\"", r->text);

			strv_add(&p->loosening, line);
			policy_warn(p, "%s: '%s' loosens, so it is ignored until you trust this file", r->origin, r->text);
			rule_release(r);
			continue;
		}
		p->rules[kept++] = *r;
	}
	p->n_rules = kept;
	policy_forget_index(p);
}
