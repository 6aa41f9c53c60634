/* hurdle status: what this host can enforce of the policy that a run with these options would have. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "platform/base/cleanup.h"
#include "supervisor/commands.h"
#include "supervisor/output.h"
#include "supervisor/prepare.h"
#include "supervisor/report_json.h"
#include "supervisor/self_attack.h"

extern char **environ;

/* ---- cells ---- */

static void add_by(struct table *t, const struct plan *plan, unsigned by)
{
	_cleanup_free_ char *names = plan_mechanism_names(plan, by, "+");

	table_add(t, *names ? names : "-");
}

static void add_list(struct table *t, const struct strv *list)
{
	_cleanup_(str_free) struct str joined = STR_INIT;

	for (size_t i = 0; i < list->n; i++)
		str_addf(&joined, "%s%s", i ? "; " : "", list->v[i]);
	table_add(t, joined.s ? joined.s : "");
}

/* ---- the parts ---- */

static void add_row(struct table *t, const char *title, struct str *text)
{
	if (text->len) {
		table_add(t, title);
		table_add(t, text->s);
	}
	str_free(text);
}

static void add_machine(struct table *t, const struct host *h)
{
	struct str s = STR_INIT;
	struct utsname name;

	str_add(&s, h->platform);
	if (uname(&name) == 0)
		str_addf(&s, ", kernel %s, %s", name.release, name.machine);
	str_addf(&s, ", %s", h->shell_libc);
	if (h->container)
		str_addf(&s, ", in %s", h->container);
	if (h->yama > 0)
		str_addf(&s, ", yama %d", h->yama);
	str_add(&s, h->root ? ", as root" : "");
	add_row(t, "machine", &s);
}

static void add_capabilities(struct table *t, const struct host *h, bool available, const char *title)
{
	struct str s = STR_INIT;

	for (int c = 0; c < CAP_COUNT; c++) {
		if (h->caps[c].available != available)
			continue;
		str_addf(&s, "%s%s", s.len ? " " : "", capability_name((enum capability)c));
		if (c == CAP_LANDLOCK && available)
			str_addf(&s, "=%d", h->landlock_abi);
	}
	add_row(t, title, &s);
}

static void add_missing(struct table *t, const struct host *h)
{
	for (int c = 0; c < CAP_COUNT; c++) {
		struct str s = STR_INIT;

		if (report_could_be_installed(h, (enum capability)c))
			str_addf(&s, "the package %s brings %s: %s", capability_package((enum capability)c), capability_name((enum capability)c),
				 capability_text((enum capability)c));
		add_row(t, "requires install", &s);
	}
}

static void add_host(struct str *to, const struct host *h, const struct screen *screen)
{
	struct table t = { .n_columns = 2, .title = { "HOST", "" }, .level_column = -1 };

	add_machine(&t, h);
	add_capabilities(&t, h, true, "has");
	add_capabilities(&t, h, false, "lacks");
	add_missing(&t, h);
	table_print(to, &t, screen);
	table_release(&t);
	str_add(to, "\n");
}

static void add_tried(struct str *to, const struct host *h, const struct screen *screen)
{
	struct table t = { .n_columns = 4, .title = { "CAPABILITY", "AVAILABLE", "EVIDENCE", "WHAT IT IS FOR" }, .level_column = -1 };

	for (int c = 0; c < CAP_COUNT; c++) {
		table_add(&t, capability_name((enum capability)c));
		table_add(&t, h->caps[c].available ? "yes" : "no");
		table_add(&t, h->caps[c].evidence);
		table_add(&t, capability_text((enum capability)c));
	}
	table_print(to, &t, screen);
	table_release(&t);
	str_add(to, "\n");
}

static void add_mechanisms(struct str *to, const struct plan *plan, const struct screen *screen)
{
	struct table t = { .n_columns = 4, .title = { "MECHANISM", "LEVEL", "AVAILABLE", "EVIDENCE" }, .level_column = 1 };

	for (size_t i = 0; i < n_mechanisms; i++) {
		table_add(&t, mechanisms[i]->name);
		table_add(&t, level_name(mechanisms[i]->level));
		table_add(&t, !plan->mechanisms[i].available ? "no" : plan->chosen >> i & 1 ? "yes" : "not used");
		table_add(&t, plan->mechanisms[i].evidence ? plan->mechanisms[i].evidence : "");
	}
	table_print(to, &t, screen);
	table_release(&t);
}

static void add_guarantees(struct str *to, const struct plan *plan, const struct screen *screen)
{
	struct table t = { .n_columns = 4, .title = { "GUARANTEE", "LEVEL", "BY", "WHAT STILL GETS THROUGH" }, .level_column = 1 };

	for (int g = 0; g < G_COUNT; g++) {
		const struct plan_guarantee *have = &plan->guarantees[g];

		table_add(&t, guarantee_info((enum guarantee)g)->name);
		table_add(&t, level_name(have->level));
		add_by(&t, plan, have->by);
		add_list(&t, &have->caveats);
	}
	str_add(to, "\n");
	table_print(to, &t, screen);
	table_release(&t);
}

static void add_rules(struct str *to, const struct plan *plan, const struct screen *screen)
{
	struct table t = {
		.n_columns = 6, .title = { "GUARANTEE", "LEVEL", "BY", "RULE", "ORIGIN", "WHAT STILL GETS THROUGH" }, .level_column = 1, .cut = true,
	};

	for (size_t i = 0; i < plan->policy->n_rules; i++) {
		const struct rule *r = &plan->policy->rules[i];
		_cleanup_free_ char *title = NULL;

		if (!report_lists(r))
			continue;
		title = report_rule_title(r);
		table_add(&t, guarantee_info(r->guarantee)->name);
		table_add(&t, level_name(plan->rules[i].level));
		add_by(&t, plan, plan->rules[i].by);
		table_add(&t, title);
		table_add(&t, r->origin);
		add_list(&t, &plan->rules[i].caveats);
	}
	str_add(to, "\n");
	table_print(to, &t, screen);
	table_release(&t);
}

static int print_text(const struct options *o, const struct plan *plan, const struct host *h)
{
	const struct screen screen = screen_probe(o->color);
	struct str text = STR_INIT;

	add_host(&text, h, &screen);
	if (o->verbose)
		add_tried(&text, h, &screen);
	add_mechanisms(&text, plan, &screen);
	add_guarantees(&text, plan, &screen);
	if (o->rules)
		add_rules(&text, plan, &screen);
	return output_text(&text);
}

/* ---- the command ---- */

/* 1: a run with these options would be refused. */
static int judge_requirements(const struct plan *plan)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;

	if (plan_check_required(plan, &err) == 0)
		return 0;
	say_err(&err);
	return 1;
}

int cmd_status(const struct options *o)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	char *no_command[] = { NULL };
	struct launch l = { .argv = no_command, .environ = environ };
	struct plan plan;
	int code;

	if (o->n_operands) {
		err_set(&err, -EINVAL, "status takes no operand, '%s' is one", o->operands[0]);
		err_hint(&err, "hurdle explain PATH says what is decided about a path");
	}
	if (err.text || prepare_plan(o, &l, &plan, &err) < 0) {
		say_err(&err);
		return EXIT_REFUSED;
	}
	output_warnings(l.policy);
	if (self_attack_plan(&l, &plan, true, &err) < 0) {
		say_err(&err);
		prepare_release(&l, &plan);
		return EXIT_REFUSED;
	}
	host_try(l.host, HOST_ALL);
	host_describe(l.host);
	code = o->json ? output_json(report_plan(&plan, l.host)) : print_text(o, &plan, l.host);
	if (code == 0)
		code = judge_requirements(&plan);
	prepare_release(&l, &plan);
	return code;
}
