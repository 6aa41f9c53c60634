/*
 * The rules of the session itself. They name no path, so no settings file holds them; they are in the list of rules so that
 * every guarantee has a row in the plan, which says who holds it.
 */
#include "platform/base/cleanup.h"
#include "supervisor/policy_build.h"

/* When a row of the table below is part of the policy. */
enum when { ALWAYS, SANDBOXED, NET_RESTRICTED, NET_FILTERED, UNIX_RESTRICTED, ON_WSL };

static const struct { enum rule_kind kind; enum guarantee guarantee; enum when when; const char *text; } rows[] = {
	{ RULE_ENV,     G_env_secrets,     ALWAYS,          "secrets are dropped from the environment by name and by value" },
	{ RULE_ENV,     G_env_ancestors,   ALWAYS,          "the environment of the processes above the command stays unread" },
	{ RULE_SESSION, G_fs_metadata,     SANDBOXED,       "mode, owner, times and attributes follow the write rules" },
	{ RULE_NET,     G_net_egress,      NET_RESTRICTED,  NULL },
	{ RULE_NET,     G_net_domains,     NET_FILTERED,    "only allowed hosts are connected to" },
	{ RULE_NET,     G_net_unix,        UNIX_RESTRICTED, "only allowed unix sockets are connected to" },
	{ RULE_SESSION, G_proc_isolation,  SANDBOXED,       "processes outside the run are neither traced nor signalled" },
	{ RULE_SESSION, G_proc_lifetime,   SANDBOXED,       "every process of the run ends with it" },
	{ RULE_SESSION, G_tty_injection,   SANDBOXED,       "nothing is typed into the terminal" },
	{ RULE_SESSION, G_priv_escalation, SANDBOXED,       "set-id programs and file capabilities gain nothing" },
	{ RULE_SESSION, G_kernel_surface,  SANDBOXED,       "system calls that undo a sandbox are refused" },
	{ RULE_SESSION, G_exec_coverage,   SANDBOXED,       "every program of the run is under the rules" },
	{ RULE_SESSION, G_windows_interop, ON_WSL,          "no Windows program is started" },
};

static bool applies(const struct policy *p, enum when when, bool wsl)
{
	if (when != ALWAYS && p->scrub_only)
		return false;
	switch (when) {
	case NET_RESTRICTED:  return p->net != NET_OPEN;
	case NET_FILTERED:    return p->net == NET_FILTER;
	case UNIX_RESTRICTED: return !p->unix_open;
	case ON_WSL:          return wsl;
	default:              return true;
	}
}

static const char *egress_text(const struct policy *p)
{
	return p->net == NET_OFF ? "no network but loopback" : "the network is reached only through the proxy";
}

static void append(struct policy *p, const struct rule *r)
{
	if (p->n_rules == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 128;
		p->rules = xreallocarray(p->rules, p->cap, sizeof(*p->rules));
	}
	p->rules[p->n_rules++] = *r;
}

void policy_add_session_rules(struct policy *p, bool wsl)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rule r = { .kind = rows[i].kind, .guarantee = rows[i].guarantee };

		if (!applies(p, rows[i].when, wsl))
			continue;
		r.layer = r.kind == RULE_NET && r.guarantee != G_net_unix ? p->net_layer : LAYER_DEFAULT;
		r.text = xstrdup(rows[i].text ? rows[i].text : egress_text(p));
		r.origin = xstrdup("default");
		append(p, &r);
	}
}
