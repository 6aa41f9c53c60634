/* The environment: built from nothing, so that what is not put in is not there. */
#include "platform/mechanism/masked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/defaults.h"

static void add_directories(struct launch *l)
{
	static const char *const names[] = { "TMPDIR", "TMP", "TEMP" };
	for (size_t i = 0; i < ARRAY_SIZE(names) && l->session.tmpdir; i++) {
		_cleanup_free_ char *s = strf("%s=%s", names[i], l->session.tmpdir);
		strv_add(&l->extra_env, s);
	}
}

/* git takes them from the environment, not from a repository. Numbers of the user's own must not be taken twice. */
static void add_safe_directories(struct launch *l)
{
	const struct items *dirs = &l->policy->lists[LIST_SAFE_DIRECTORIES];
	if (!dirs->n || policy_has_git_variables(l->policy, l->environ))
		return;
	_cleanup_free_ char *count = strf("GIT_CONFIG_COUNT=%zu", dirs->n);
	strv_add(&l->extra_env, count);
	for (size_t i = 0; i < dirs->n; i++) {
		_cleanup_free_ char *key = strf("GIT_CONFIG_KEY_%zu=safe.directory", i), *value = strf("GIT_CONFIG_VALUE_%zu=%s", i, dirs->v[i].text);
		strv_add(&l->extra_env, key);
		strv_add(&l->extra_env, value);
	}
}

static bool set_by_user(const struct launch *l, const char *assignment)
{
	size_t n = strcspn(assignment, "=") + 1;
	for (size_t i = 0; i < l->policy->env_set.n; i++)
		if (strncmp(l->policy->env_set.v[i], assignment, n) == 0)
			return true;
	return false;
}

/* Before anything else is prepared: what is to be writable must be there. */
void env_make_caches(const struct launch *l)
{
	struct strv assignments = { 0 };
	_cleanup_free_ char *root = NULL;
	if (!l->policy->scrub_only && policy_cache_environment(l->policy, &assignments, &root) == 0 && root)
		make_directories(root, 0700);
	strv_free(&assignments);
}

static int add_caches(struct launch *l, struct err *err)
{
	struct strv assignments = { 0 };
	_cleanup_free_ char *root = NULL;
	int r = policy_cache_environment(l->policy, &assignments, &root);
	if (r == 0 && root && make_directories(root, 0700) < 0)
		root[0] = '\0'; /* no caches, no variables: tools use their own, which are not writable */
	for (size_t i = 0; r == 0 && root && root[0] && i < assignments.n; i++)
		strv_add(&l->extra_env, assignments.v[i]);
	strv_free(&assignments);
	return r < 0 ? err_set(err, r, "cannot use the private cache directory: %s", strerror(-r)) : 0;
}

static int env_prepare(struct launch *l, struct err *err)
{
	const struct policy *p = l->policy;
	strv_add(&l->extra_env, "HURDLE=1");
	if (!p->scrub_only) {
		strv_add(&l->extra_env, "SANDBOX_RUNTIME=1");
		add_directories(l);
		if (p->net == NET_OFF)
			proxyroute_add_black_hole(&l->extra_env);
		add_safe_directories(l);
		int r = add_caches(l, err);
		if (r < 0)
			return r;
		masked_prepare(l);
	}
	_cleanup_free_ const char **with = xcalloc(l->extra_env.n + p->env_set.n + 1, sizeof *with);
	size_t n = 0;
	for (size_t i = 0; i < l->extra_env.n; i++)
		if (!set_by_user(l, l->extra_env.v[i]))
			with[n++] = l->extra_env.v[i];
	for (size_t i = 0; i < p->env_set.n; i++)
		with[n++] = p->env_set.v[i];
	const struct scrub_options options = {
		.keep = (const char *const *)p->env_keep.v, .drop = (const char *const *)p->env_drop.v,
		.drop_handles = p->no_handles || !(p->unix_open || p->scrub_only), .with = with,
	};
	int r = scrub_env(&options, l->environ, &l->env);
	return r < 0 ? err_set(err, r, "cannot build the environment: %s", strerror(-r)) : 0;
}

void env_wipe(struct launch *l)
{
	scrub_wipe(l->environ, &l->env);
}

static enum extent env_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	const struct host *h = v->host;
	if (r->guarantee == G_env_secrets) {
		strv_add(caveats, "secrets under names and in shapes that no rule knows stay");
		if (v->policy->env_keep.n)
			strv_add(caveats, "variables kept by the user stay");
		return HOLDS_WHOLE;
	}
	if (r->guarantee == G_env_ancestors && h->ancestors_measured) {
		struct str s = STR_INIT;
		for (size_t i = 0; i < h->n_ancestors; i++)
			if (h->ancestors[i].readable)
				str_addf(&s, "%s%s[%d]", s.len ? ", " : "", h->ancestors[i].name, (int)h->ancestors[i].pid);
		bool none = !s.len;
		_cleanup_free_ char *names = str_take(&s), *text = strf("readable by system call: /proc/PID/environ of %s", names);
		if (none)
			return HOLDS_WHOLE;
		strv_add(caveats, text);
	}
	return HOLDS_NOT;
}

static bool env_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	(void)h;
	(void)p;
	*ret_evidence = xstrdup("the environment is built from nothing");
	return true;
}

static char *env_profile(struct launch *l)
{
	const struct policy *p = l->policy;
	struct str s = STR_INIT;
	str_add(&s, "drop: by name and by value, see scrub-run(1)\n");
	for (size_t i = 0; i < p->env_keep.n; i++)
		str_addf(&s, "keep: %s\n", p->env_keep.v[i]);
	for (size_t i = 0; i < p->env_drop.n; i++)
		str_addf(&s, "drop: %s\n", p->env_drop.v[i]);
	struct strv caches = { 0 };
	_cleanup_free_ char *root = NULL;
	if (!p->scrub_only && policy_cache_environment(p, &caches, &root) == 0)
		for (size_t i = 0; i < caches.n; i++)
			str_addf(&s, "set: %s\n", caches.v[i]);
	strv_free(&caches);
	return str_take(&s);
}

const struct mechanism mechanism_env = {
	.name = "env", .what = "drops secrets from the environment", .level = LEVEL_KERNEL, .role = ROLE_BASE,
	.available = env_available, .holds = env_holds, .prepare = env_prepare, .profile = env_profile,
};
