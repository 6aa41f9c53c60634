/* Caches of tools: a private root and the variables that lead there, or the user's own places. */
#include <errno.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/defaults.h"
#include "platform/policy/defaults_private.h"
#include "platform/policy/paths.h"

static const struct { const char *variable, *directory, *own; } caches[] = {
#define CACHE(variable, directory, own, tool) { variable, directory, own },
#include "platform/policy/caches.def"
#undef CACHE
};

/* The base directory specification says to ignore relative values. */
static const char *absolute_variable(const char *name)
{
	const char *value = *name ? getenv(name) : NULL;

	return value && value[0] == '/' ? value : NULL;
}

/* *ret: NULL when there is no place for it. */
static int private_root(const struct policy *p, char **ret)
{
	const char *cache_home = absolute_variable("XDG_CACHE_HOME");
	_cleanup_free_ char *joined = NULL, *root = NULL;

	*ret = NULL;
	if (p->caches != CACHES_PRIVATE || p->scrub_only || (!cache_home && !p->home))
		return 0;
	joined = cache_home ? strf("%s/hurdle/tools", cache_home) : strf("%s/.cache/hurdle/tools", p->home);
	root = path_absolute(joined, "/", NULL);
	return path_resolve(root, ret);
}

int policy_cache_environment(const struct policy *p, struct strv *ret_assignments, char **ret_root)
{
	_cleanup_free_ char *root = NULL;
	int r = private_root(p, &root);

	if (r < 0)
		return r;
	for (size_t i = 0; root && i < ARRAY_SIZE(caches); i++) {
		_cleanup_free_ char *assignment = NULL;

		if (!*caches[i].variable)
			continue;
		assignment = strf("%s=%s/%s", caches[i].variable, root, caches[i].directory);
		strv_add(ret_assignments, assignment);
	}
	*ret_root = TAKE_PTR(root);
	return 0;
}

static int add_shared(struct policy *p, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		const char *elsewhere = absolute_variable(caches[i].variable);
		int r;

		if (!*caches[i].own)
			continue;
		r = default_rule(p, RULE_ALLOW_WRITE, elsewhere ? elsewhere : caches[i].own, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* "allowWrite": [] says that nothing is to be written; who wants caches all the same says "caches". */
static bool nothing_writable(const struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == RULE_ALLOW_WRITE)
			return false;
	return p->write_list && !p->set_origin[SCALAR_CACHES];
}

int default_add_caches(struct policy *p, struct err *err)
{
	_cleanup_free_ char *root = NULL;
	int r;

	if (nothing_writable(p))
		p->caches = CACHES_NONE;
	if (p->caches == CACHES_SHARED)
		return add_shared(p, err);
	r = private_root(p, &root);
	if (r < 0)
		return err_set(err, r, "cannot use the cache directory: %s", strerror(-r));
	/* not there yet the first time: the supervisor makes it */
	if (root)
		policy_add_exact(p, RULE_ALLOW_WRITE, LAYER_DEFAULT, root, "default: caches=private");
	return 0;
}
