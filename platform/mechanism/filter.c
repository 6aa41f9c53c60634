/*
 * The seccomp filter: system calls that no ordinary program needs fail as where the kernel lacks them. What it refuses stands in filter.def, how
 * the program for the kernel is made of it in filter_program.c. It sees numbers and registers, so it knows neither
 * paths nor addresses.
 */
#include "platform/mechanism/filter_program.h"
#include "platform/mechanism/mechanism.h"

#include <errno.h>
#include <string.h>

#include "platform/base/cleanup.h"

/* ---- which rows ---- */

static bool in_use(unsigned chosen, const char *name)
{
	for (size_t i = 0; i < n_mechanisms; i++)
		if (chosen >> i & 1 && strcmp(mechanisms[i]->name, name) == 0)
			return true;
	return false;
}

static bool kernel_is_required(const struct policy *p, enum guarantee g)
{
	for (size_t i = 0; i < p->n_required; i++)
		if (p->required[i].guarantee == g && (p->required[i].best || p->required[i].level == LEVEL_KERNEL))
			return true;
	return false;
}

/*
 * A whole family of sockets is taken away only where somebody insists on the kernel, and nothing that can tell one peer from another is
 * there: it costs the run its own servers.
 */
static bool takes_away(const struct policy *p, unsigned chosen, enum guarantee g)
{
	return kernel_is_required(p, g) && !in_use(chosen, "bwrap") && !in_use(chosen, "seatbelt");
}

static unsigned groups(const struct policy *p, unsigned chosen)
{
	unsigned set = FILTER_SURFACE | FILTER_NAMESPACES | FILTER_OTHERS | FILTER_TERMINAL;
	if (p->net != NET_OPEN)
		set |= FILTER_FAMILIES;
	if (p->net == NET_OFF && takes_away(p, chosen, G_net_egress))
		set |= FILTER_NO_IP;
	if (!p->unix_open && kernel_is_required(p, G_net_unix))
		set |= FILTER_NO_UNIX;
	return set;
}

/* ---- what it holds ---- */

static enum extent holds_processes(struct strv *caveats)
{
	strv_add(caveats, "signals and /proc/PID/mem reach processes outside");
	return HOLDS_PART;
}

static enum extent holds_egress(const struct view *v, unsigned set, struct strv *caveats)
{
	if (v->policy->net != NET_OFF)
		return HOLDS_NOT;
	if (!(set & FILTER_NO_IP)) {
		strv_add(caveats, "no other families than IP, and no raw sockets; the addresses of TCP and UDP are not seen");
		return HOLDS_PART;
	}
	strv_add(caveats, "loopback is refused as well, since a filter sees no addresses");
	strv_add(caveats, "a socket that a process outside hands over is not judged");
	return HOLDS_WHOLE;
}

static enum extent holds_unix(unsigned set, struct strv *caveats)
{
	if (!(set & FILTER_NO_UNIX))
		return HOLDS_NOT;
	strv_add(caveats, "allowed unix sockets are refused as well, since a filter sees no paths");
	return HOLDS_WHOLE;
}

static enum extent filter_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	const unsigned set = groups(v->policy, v->chosen);
	switch (r->guarantee) {
	case G_tty_injection:
		strv_add(caveats, "what a terminal itself answers to control sequences is its own affair");
		return HOLDS_WHOLE;
	case G_kernel_surface: return HOLDS_WHOLE;
	case G_proc_isolation: return holds_processes(caveats);
	case G_net_egress:     return holds_egress(v, set, caveats);
	case G_net_unix:       return holds_unix(set, caveats);
	default:               return HOLDS_NOT;
	}
}

static bool filter_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	const char *why = p->scrub_only ? "not used: the environment alone is asked for" :
			  n_filter_archs == 0 ? "not used: no table of calls for this architecture" : NULL;
	bool yes = !why && host_has(h, CAP_SECCOMP);
	*ret_evidence = xstrdup(why ? why : h->caps[CAP_SECCOMP].evidence);
	return yes;
}

static int filter_prepare(struct launch *l, struct err *err)
{
	(void)err;
	const unsigned set = groups(l->policy, l->chosen);
	l->confine.filter = filter_program(filter_archs, n_filter_archs, set, &l->confine.n_filter);
	return 0;
}

/* ---- hurdle profile filter ---- */

static const char *error_name(int error)
{
	return error == ENOSYS ? "ENOSYS" : error == EINVAL ? "EINVAL" : error == EAFNOSUPPORT ? "EAFNOSUPPORT" : "EPERM";
}

static void add_test(struct str *s, const struct filter_test *t, bool first)
{
	static const char *const signs[] = { [FILTER_IS] = "==", [FILTER_IS_NOT] = "!=", [FILTER_HAS] = "&" };
	str_addf(s, "%s argument %u", first ? " if" : " and", t->argument + 1u);
	if (t->op == FILTER_HAS)
		str_addf(s, " & 0x%x", t->mask);
	else if (t->mask != UINT32_MAX)
		str_addf(s, " & 0x%x %s 0x%x", t->mask, signs[t->op], t->value);
	else
		str_addf(s, " %s 0x%x", signs[t->op], t->value);
}

static char *filter_profile(struct launch *l)
{
	const unsigned set = groups(l->policy, l->chosen);
	struct str s = STR_INIT;
	size_t n;
	free(filter_program(filter_archs, n_filter_archs, set, &n));
	str_addf(&s, "seccomp filter of %zu instructions; all other calls pass, and calls of other architectures fail with ENOSYS\n", n);
	for (size_t i = 0; i < n_filter_rows; i++) {
		const struct filter_row *r = &filter_rows[i];
		if (!(r->group & set))
			continue;
		str_addf(&s, "%-18s %-12s", r->name, error_name(r->error));
		for (size_t t = 0; t < FILTER_TESTS && r->tests[t].op != FILTER_END; t++)
			add_test(&s, &r->tests[t], t == 0);
		str_addf(&s, "%s (%s)\n", r->tests[0].op == FILTER_END ? " always" : "", r->reason);
	}
	return str_take(&s);
}

const struct mechanism mechanism_filter = {
	.name = "filter", .what = "refuses system calls that undo a sandbox", .level = LEVEL_KERNEL, .role = ROLE_LAYER,
	.available = filter_available, .holds = filter_holds, .prepare = filter_prepare, .profile = filter_profile,
};
