#include "supervisor/merged.h"

#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"

static void add(struct merged *m, const char *key, char *value, const char *origin, enum layer layer)
{
	m->v = xreallocarray(m->v, m->n + 1, sizeof(*m->v));
	m->v[m->n++] = (struct merged_entry){ key, value, origin, layer };
}

/* ---- rules about paths ---- */

static const char *key_of(enum rule_kind kind)
{
	switch (kind) {
	case RULE_ALLOW_WRITE:  return "filesystem.allowWrite";
	case RULE_DENY_WRITE:   return "filesystem.denyWrite";
	case RULE_DENY_DELETE:  return "filesystem.denyDelete";
	case RULE_ALLOW_READ:   return "filesystem.allowRead";
	case RULE_DENY_READ:    return "filesystem.denyRead";
	case RULE_DENY_EXEC:    return "filesystem.denyExec";
	case RULE_GRANT_EXEC:   return "filesystem.execGrantRoots";
	case RULE_ALLOW_SOCKET: return "network.allowUnixSockets";
	default:                return NULL;
	}
}

/* By key, so that what belongs together stands together. */
static void add_rules(struct merged *m, const struct policy *p, bool builtin)
{
	for (int kind = 0; kind < RULE_KIND_COUNT; kind++) {
		const char *key = kind == RULE_PROTECT_NAME ? "protected name" : key_of((enum rule_kind)kind);

		for (size_t i = 0; key && i < p->n_rules; i++) {
			const struct rule *r = &p->rules[i];

			if (r->kind == (enum rule_kind)kind && (builtin || r->layer != LAYER_DEFAULT))
				add(m, key, xstrdup(r->text), r->origin, r->layer);
		}
	}
}

/* ---- single values ---- */

static const char *yes_no(bool value)
{
	return value ? "true" : "false";
}

static char *port(uint16_t number)
{
	return number ? strf("%u", number) : xstrdup("none");
}

static char *text(const char *s)
{
	return xstrdup(s ? s : "none");
}

static char *backends(const struct policy *p)
{
	struct str s = STR_INIT;

	for (size_t i = 0; i < p->backends.n; i++)
		str_addf(&s, "%s%s", i ? " " : "", p->backends.v[i]);
	return p->backends.n ? str_take(&s) : xstrdup("auto");
}

static void add_value(struct merged *m, const struct policy *p, enum scalar scalar, const char *key, char *value)
{
	add(m, key, value, p->set_origin[scalar] ? p->set_origin[scalar] : "default", p->set_by[scalar]);
}

static void add_values(struct merged *m, const struct policy *p)
{
	static const char *const nets[] = { [NET_FILTER] = "filter", [NET_OFF] = "off", [NET_OPEN] = "open" };
	static const char *const caches[] = { [CACHES_PRIVATE] = "private", [CACHES_SHARED] = "shared", [CACHES_NONE] = "none" };

	add_value(m, p, SCALAR_ENABLED, "enabled", text(yes_no(!p->scrub_only)));
	add_value(m, p, SCALAR_PROFILE, "profile", text(p->scrub_only ? "scrub" : p->profile_strict ? "strict" : "default"));
	add_value(m, p, SCALAR_STRICT, "strict", text(yes_no(p->strict)));
	add_value(m, p, SCALAR_BACKEND, "backend", backends(p));
	add_value(m, p, SCALAR_CACHES, "caches", text(caches[p->caches]));
	add_value(m, p, SCALAR_EXEC_FROM, "filesystem.execFrom", text(p->exec_outside_roots ? "outsideRoots" : "any"));
	add_value(m, p, SCALAR_GIT_CONFIG, "filesystem.allowGitConfig", text(yes_no(p->allow_git_config)));
	add_value(m, p, SCALAR_MANAGED_READS, "filesystem.allowManagedReadPathsOnly", text(yes_no(p->managed_read_only)));
	add_value(m, p, SCALAR_NET, "network.mode", text(nets[p->net]));
	add_value(m, p, SCALAR_UNIX, "network.allowAllUnixSockets", text(yes_no(p->unix_open)));
	add_value(m, p, SCALAR_STRICT_ALLOWLIST, "network.strictAllowlist", text(yes_no(p->strict_allowlist)));
	add_value(m, p, SCALAR_MANAGED_DOMAINS, "network.allowManagedDomainsOnly", text(yes_no(p->managed_domains_only)));
	add_value(m, p, SCALAR_HTTP_PROXY, "network.httpProxyPort", port(p->http_proxy_port));
	add_value(m, p, SCALAR_SOCKS_PROXY, "network.socksProxyPort", port(p->socks_proxy_port));
	add_value(m, p, SCALAR_PARENT_HTTP, "network.parentProxy.http", text(p->parent_http));
	add_value(m, p, SCALAR_PARENT_HTTPS, "network.parentProxy.https", text(p->parent_https));
	add_value(m, p, SCALAR_PARENT_NO_PROXY, "network.parentProxy.noProxy", text(p->parent_no_proxy));
	add_value(m, p, SCALAR_WEAKER_NESTED, "enableWeakerNestedSandbox", text(yes_no(p->weaker_nested)));
	add_value(m, p, SCALAR_NESTED_USERNS, "allowNestedUserNamespaces", text(yes_no(p->nested_userns)));
	add_value(m, p, SCALAR_UNSANDBOXED, "allowUnsandboxedCommands", text(yes_no(p->allow_unsandboxed)));
	add_value(m, p, SCALAR_AUTO_ALLOW, "autoAllowBashIfSandboxed", text(yes_no(p->auto_allow_bash)));
}

/* ---- lists ---- */

static void add_lists(struct merged *m, const struct policy *p)
{
	static const char *const keys[LIST_COUNT] = {
		[LIST_ALLOWED_DOMAINS] = "network.allowedDomains", [LIST_DENIED_DOMAINS] = "network.deniedDomains",
		[LIST_DOMAIN_REASONS] = "network.deniedDomainReasons", [LIST_DENIED_ADDRESSES] = "network.deniedResolvedAddresses",
		[LIST_EXCLUDED_COMMANDS] = "excludedCommands", [LIST_PLATFORMS] = "enabledPlatforms", [LIST_SAFE_DIRECTORIES] = "git.safeDirectories",
		[LIST_IGNORED_VIOLATIONS] = "ignoreViolations", [LIST_ENV_KEEP] = "env.keep", [LIST_ENV_DROP] = "env.drop", [LIST_ENV_SET] = "env.set",
	};

	for (size_t l = 0; l < LIST_COUNT; l++)
		for (size_t i = 0; keys[l] && i < p->lists[l].n; i++) {
			const struct item *item = &p->lists[l].v[i];

			add(m, keys[l], item->value ? strf("%s: %s", item->value, item->text) : xstrdup(item->text), item->origin, item->layer);
		}
	/* given and empty is another thing than not given */
	if (p->lists[LIST_ALLOWED_DOMAINS].given && !p->lists[LIST_ALLOWED_DOMAINS].n)
		add(m, keys[LIST_ALLOWED_DOMAINS], xstrdup("[]"), "an empty list", LAYER_DEFAULT);
}

static void add_permissions(struct merged *m, const struct policy *p)
{
	static const char *const keys[] = {
		[PERMISSION_ALLOW] = "permissions.allow", [PERMISSION_ASK] = "permissions.ask", [PERMISSION_DENY] = "permissions.deny",
	};

	for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
		for (size_t i = 0; i < p->n_permissions; i++)
			if ((size_t)p->permissions[i].list == k)
				add(m, keys[k], xstrdup(p->permissions[i].text), p->permissions[i].origin, p->permissions[i].layer);
}

/* An origin begins with the file that it is in. */
static enum layer layer_of(const struct policy *p, const char *origin)
{
	const struct items *files = &p->lists[LIST_FILES];

	for (size_t i = 0; i < files->n; i++) {
		const size_t n = strlen(files->v[i].text);

		if (!strncmp(origin, files->v[i].text, n) && origin[n] == ':')
			return files->v[i].layer;
	}
	return LAYER_FLAGS;
}

static void add_required(struct merged *m, const struct policy *p)
{
	for (size_t i = 0; i < p->n_required; i++) {
		const struct required *r = &p->required[i];

		add(m, "require", strf("%s=%s", guarantee_info(r->guarantee)->name, r->best ? "best" : level_name(r->level)), r->origin,
		    layer_of(p, r->origin));
	}
}

void merged_make(const struct policy *p, bool builtin, struct merged *ret)
{
	*ret = (struct merged){ 0 };
	add_rules(ret, p, builtin);
	add_lists(ret, p);
	add_permissions(ret, p);
	add_required(ret, p);
	add_values(ret, p);
}

void merged_release(struct merged *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].value);
	free(m->v);
	*m = (struct merged){ 0 };
}
