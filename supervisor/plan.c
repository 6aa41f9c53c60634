#include "supervisor/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"

static void add_caveats(struct strv *to, const struct strv *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (!strv_has(to, from->v[i]))
			strv_add(to, from->v[i]);
}

static enum level lower(enum level a, enum level b)
{
	return a == LEVEL_NA || (b != LEVEL_NA && b < a) ? b : a;
}

/*
 * The strongest mechanism that holds the rule whole gives its level, and what gets past that one gets through: what a weaker
 * layer behind it would let by does not matter. Held in part by a stronger one, the rule is as strong as its weakest part.
 */
static void plan_rule_make(struct plan_rule *pr, const struct view *v, const struct rule *r)
{
	for (size_t i = 0; i < n_mechanisms; i++) {
		const struct mechanism *m = mechanisms[i];
		struct strv caveats = { 0 };
		if (!(v->chosen >> i & 1) || !m->holds)
			continue;
		enum extent extent = m->holds(v, r, &caveats);
		if (extent != HOLDS_NOT)
			pr->by |= 1u << i;
		if (extent == HOLDS_WHOLE && m->level > pr->level) {
			pr->level = m->level;
			strv_free(&pr->caveats);
			pr->caveats = caveats;
			continue;
		}
		if (pr->level == LEVEL_NONE || (extent == HOLDS_WHOLE && m->level == pr->level))
			add_caveats(&pr->caveats, &caveats);
		strv_free(&caveats);
	}
	if (pr->level == LEVEL_NONE && !pr->caveats.n)
		strv_add(&pr->caveats, "no mechanism of this host holds it");
}

static void plan_guarantee_add(struct plan_guarantee *g, const struct plan_rule *pr)
{
	g->level = lower(g->level, pr->level);
	g->by |= pr->by;
	add_caveats(&g->caveats, &pr->caveats);
}

/* ---- which mechanisms ---- */

static bool asked_for(const struct policy *p, const struct mechanism *m)
{
	return strv_has(&p->backends, m->name);
}

static bool is_auto(const struct policy *p)
{
	return !p->backends.n || strv_has(&p->backends, "auto");
}

/* Walls stand in one another's way but where a row says otherwise: the first one, unless names were given. */
static unsigned choose(const struct plan *plan, const struct policy *p)
{
	unsigned chosen = 0;
	bool wall = false;
	for (size_t i = 0; i < n_mechanisms; i++) {
		const struct mechanism *m = mechanisms[i];
		bool use = m->role == ROLE_BASE || asked_for(p, m) || (is_auto(p) && !(m->role == ROLE_WALL && wall));
		if (!use || !plan->mechanisms[i].available)
			continue;
		wall |= m->role == ROLE_WALL;
		chosen |= 1u << i;
	}
	return chosen;
}

int plan_check_backends(const struct plan *plan, struct err *err)
{
	const struct strv *names = &plan->policy->backends;
	/* the environment alone: none of them is wanted any more */
	for (size_t i = 0; i < names->n && !plan->policy->scrub_only; i++) {
		size_t m = 0;
		if (strcmp(names->v[i], "auto") == 0)
			continue;
		while (m < n_mechanisms && strcmp(mechanisms[m]->name, names->v[i]) != 0)
			m++;
		if (m == n_mechanisms)
			return err_set(err, -ENOTSUP, "backend '%s' is not in this version", names->v[i]);
		if (!plan->mechanisms[m].available)
			return err_set(err, -ENOTSUP, "backend '%s' does not work here: %s", names->v[i], plan->mechanisms[m].evidence);
	}
	return 0;
}

/* Whoever reaches any host reaches denied ones; a program that writes anywhere is not under the rules. */
static void limit_guarantees(struct plan *plan)
{
	static const struct { enum guarantee limited, by; } limits[] = { { G_net_domains, G_net_egress }, { G_exec_coverage, G_fs_write } };
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct plan_guarantee *g = &plan->guarantees[limits[i].limited];
		if (g->level != LEVEL_NA)
			g->level = lower(g->level, plan->guarantees[limits[i].by].level);
	}
}

void plan_make(struct plan *plan, const struct policy *p, struct host *h)
{
	plan->policy = p;
	plan->rules = xcalloc(p->n_rules + 1, sizeof *plan->rules);
	plan->mechanisms = xcalloc(n_mechanisms, sizeof *plan->mechanisms);
	for (size_t i = 0; i < n_mechanisms; i++)
		plan->mechanisms[i].available = mechanisms[i]->available(h, p, &plan->mechanisms[i].evidence);
	plan->chosen = choose(plan, p);
	const struct view view = { .host = h, .policy = p, .chosen = plan->chosen };
	for (int g = 0; g < G_COUNT; g++)
		plan->guarantees[g] = (struct plan_guarantee){ .level = LEVEL_NA };
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		if (r->kind == RULE_INTERNAL || r->kind == RULE_TMPDIR)
			continue;
		plan_rule_make(&plan->rules[i], &view, r);
		plan_guarantee_add(&plan->guarantees[r->guarantee], &plan->rules[i]);
	}
	limit_guarantees(plan);
}

static void lower_to(enum level *level, unsigned *by, struct strv *caveats, const char *caveat)
{
	if (*level == LEVEL_NA || *level <= LEVEL_APPLICATION)
		return;
	bool shim = mechanism_chosen(*by, &mechanism_preload);
	*level = shim ? LEVEL_APPLICATION : LEVEL_NONE;
	if (!strv_has(caveats, caveat))
		strv_add(caveats, caveat);
}

void plan_lower(struct plan *plan, enum guarantee g, const char *caveat)
{
	for (size_t i = 0; i < plan->policy->n_rules; i++)
		if (plan->policy->rules[i].guarantee == g)
			lower_to(&plan->rules[i].level, &plan->rules[i].by, &plan->rules[i].caveats, caveat);
	lower_to(&plan->guarantees[g].level, &plan->guarantees[g].by, &plan->guarantees[g].caveats, caveat);
	limit_guarantees(plan);
}

void plan_release(struct plan *plan)
{
	for (size_t i = 0; plan->rules && i < plan->policy->n_rules; i++)
		strv_free(&plan->rules[i].caveats);
	for (int g = 0; g < G_COUNT; g++)
		strv_free(&plan->guarantees[g].caveats);
	for (size_t i = 0; plan->mechanisms && i < n_mechanisms; i++)
		free(plan->mechanisms[i].evidence);
	free(plan->rules);
	free(plan->mechanisms);
	memset(plan, 0, sizeof *plan);
}

static void add_short_rules(struct str *s, const struct plan *plan, enum guarantee g, enum level want)
{
	size_t short_of = 0;
	for (size_t i = 0; i < plan->policy->n_rules; i++) {
		const struct rule *r = &plan->policy->rules[i];
		if (r->guarantee != g || plan->rules[i].level >= want || r->kind == RULE_INTERNAL || r->kind == RULE_TMPDIR)
			continue;
		if (++short_of <= 5)
			str_addf(s, "%s %s %s (%s)", short_of > 1 ? "," : "", rule_kind_name(r->kind), r->text ? r->text : "", r->origin);
	}
	if (short_of > 5)
		str_addf(s, " and %zu more", short_of - 5);
}

int plan_check_required(const struct plan *plan, struct err *err)
{
	struct str s = STR_INIT;
	for (size_t i = 0; i < plan->policy->n_required; i++) {
		const struct required *q = &plan->policy->required[i];
		enum level want = q->best ? guarantee_info(q->guarantee)->best : q->level, have = plan->guarantees[q->guarantee].level;
		if (have == LEVEL_NA || have >= want)
			continue;
		str_addf(&s, "%s%s is required at level %s (%s), this host gives %s for:", s.len ? "; " : "", guarantee_info(q->guarantee)->name,
			 level_name(want), q->origin, level_name(have));
		add_short_rules(&s, plan, q->guarantee, want);
	}
	if (!s.len)
		return 0;
	_cleanup_free_ char *text = str_take(&s);
	int r = err_set(err, -EPERM, "%s", text);
	err_hint(err, "hurdle status shows what holds here");
	return r;
}

char *plan_mechanism_names(const struct plan *plan, unsigned by, const char *separator)
{
	struct str s = STR_INIT;
	(void)plan;
	for (size_t i = 0; i < n_mechanisms; i++)
		if (by & (1u << i))
			str_addf(&s, "%s%s", s.len ? separator : "", mechanisms[i]->name);
	return str_take(&s);
}
