/* hurdle explain: which rule decides about a path, a host, a socket or a variable, where it is from, and at which level it holds. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/base/cleanup.h"
#include "supervisor/commands.h"
#include "supervisor/explain.h"
#include "supervisor/output.h"
#include "supervisor/prepare.h"
#include "supervisor/self_attack.h"
#include "supervisor/report_json.h"

extern char **environ;

enum { EXPLAIN_MAX = 5 };

/* ---- paths ---- */

static json_t *access_json(const struct explained *e)
{
	json_t *one = json_object();

	json_object_set_new(one, "access", json_text(e->access));
	json_object_set_new(one, "allowed", json_boolean(e->allowed));
	json_object_set_new(one, "rule", json_text(e->rule));
	json_object_set_new(one, "origin", json_text(e->origin));
	json_object_set_new(one, "layer", json_text(e->layer));
	json_object_set_new(one, "level", json_text(level_name(e->level)));
	json_object_set_new(one, "by", json_mechanisms(e->by));
	json_object_set_new(one, "note", json_text(e->note));
	json_object_set_new(one, "over", json_text(e->over));
	json_object_set_new(one, "change", json_text(e->change));
	return one;
}

static int print_path_json(const char *asked, const char *path, bool exists, const struct explained *list, size_t n)
{
	json_t *document = json_object(), *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, access_json(&list[i]));
	json_object_set_new(document, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(document, "path", json_text(asked));
	json_object_set_new(document, "resolved", json_text(path));
	json_object_set_new(document, "exists", json_boolean(exists));
	json_object_set_new(document, "decisions", array);
	return output_json(document);
}

static void add_access(struct table *t, const struct plan *plan, const struct explained *e)
{
	_cleanup_free_ char *by = plan_mechanism_names(plan, e->by, "+");

	table_add(t, e->access);
	table_add(t, e->allowed ? "allowed" : "denied");
	table_add(t, e->allowed ? "-" : level_name(e->level));
	table_add(t, *by ? by : "-");
	table_add(t, e->origin ? e->origin : "-");
	table_add(t, e->layer ? e->layer : "-");
	table_add(t, e->rule);
	table_add(t, e->note ? e->note : "");
}

/* Below the table, since few rows have them: what lost, and what would change the verdict. */
static void add_more(struct str *to, const struct explained *e)
{
	if (e->over) {
		str_addf(to, "%s: against ", e->access);
		str_add_escaped(to, e->over);
		str_add(to, "\n");
	}
	if (e->change) {
		str_addf(to, "%s: to allow it: ", e->access);
		str_add_escaped(to, e->change);
		str_add(to, "\n");
	}
}

static int print_path_text(const struct plan *plan, const char *asked, const char *path, bool exists, const struct explained *list, size_t n)
{
	struct table t = {
		.n_columns = 8, .title = { "ACCESS", "VERDICT", "LEVEL", "BY", "ORIGIN", "LAYER", "RULE", "NOTE" }, .level_column = 2,
	};
	const struct screen screen = screen_probe(COLOR_AUTO);
	struct str text = STR_INIT;

	str_add_escaped(&text, path);
	if (strcmp(asked, path)) {
		str_add(&text, ", which is what ");
		str_add_escaped(&text, asked);
		str_add(&text, " leads to");
	}
	str_add(&text, exists ? "\n" : " (does not exist)\n");
	for (size_t i = 0; i < n; i++)
		add_access(&t, plan, &list[i]);
	table_print(&text, &t, &screen);
	table_release(&t);
	for (size_t i = 0; i < n; i++)
		add_more(&text, &list[i]);
	return output_text(&text);
}

/* Which accesses were asked for. */
static bool asks_for_access(const struct options *o)
{
	return o->read || o->write || o->exec || o->delete;
}

static size_t choose(const struct options *o, const char *path, enum access accesses[EXPLAIN_MAX])
{
	const bool all = !asks_for_access(o);
	struct stat st;
	size_t n = 0;

	if (all || o->read)
		accesses[n++] = ACCESS_READ;
	if (all || o->write)
		accesses[n++] = ACCESS_WRITE;
	if (all || o->delete)
		accesses[n++] = ACCESS_DELETE;
	if (all || o->exec)
		accesses[n++] = ACCESS_EXEC;
	if (all && lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		accesses[n++] = ACCESS_CONNECT;
	return n;
}

static int explain_path(const struct options *o, const struct launch *l, const struct plan *plan, struct err *err)
{
	const char *asked = o->operands[0];
	_cleanup_free_ char *path = NULL;
	enum access accesses[EXPLAIN_MAX];
	struct explained list[EXPLAIN_MAX];
	size_t n;
	bool exists;
	int code;

	if (explain_resolve(l->policy, asked, &path, &exists, err) < 0)
		return EXIT_REFUSED;
	n = choose(o, path, accesses);
	for (size_t i = 0; i < n; i++) {
		explain_access(plan, l->image, accesses[i], path, exists, &list[i]);
		explain_try_change(o, &list[i], path);
	}
	code = o->json ? print_path_json(asked, path, exists, list, n) : print_path_text(plan, asked, path, exists, list, n);
	/* an exit code can only answer one question */
	if (code == 0 && n == 1 && !list[0].allowed)
		code = 1;
	for (size_t i = 0; i < n; i++)
		explained_release(&list[i]);
	return code;
}

/* ---- variables ---- */

/* A plain word may be either; it is a variable where one of that name is set, or it is written as they mostly are. */
static bool looks_like_variable(const struct options *o)
{
	const char *name = o->operands[0];
	bool lower = false;
	struct stat st;

	if (asks_for_access(o) || lstat(name, &st) == 0 || isdigit((unsigned char)*name))
		return false;
	for (const char *s = name; *s; s++) {
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
		lower |= islower((unsigned char)*s) != 0;
	}
	return !lower || getenv(name);
}

static int print_variable(const struct options *o, const struct explained_variable *v)
{
	struct str text = STR_INIT;
	json_t *document;

	if (!o->json) {
		str_addf(&text, "%s %s", o->operands[0], v->dropped ? "would be dropped" : "would be kept");
		str_addf(&text, "%s%s%s\n", v->reason ? ": " : "", v->reason ? v->reason : "", v->set ? "" : " (it is not set now)");
		return output_text(&text);
	}
	document = json_object();
	json_object_set_new(document, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(document, "variable", json_text(o->operands[0]));
	json_object_set_new(document, "set", json_boolean(v->set));
	json_object_set_new(document, "dropped", json_boolean(v->dropped));
	json_object_set_new(document, "reason", json_text(v->reason));
	return output_json(document);
}

static int explain_name(const struct options *o, const struct policy *p, struct err *err)
{
	struct explained_variable v;
	int r = explain_variable(p, environ, o->operands[0], &v);

	if (r < 0) {
		err_set(err, r, "cannot judge the environment: %s", strerror(-r));
		return EXIT_REFUSED;
	}
	r = print_variable(o, &v);
	free(v.reason);
	return r;
}

/* ---- hosts ---- */

static int print_host(const struct options *o, const struct plan *plan, const struct explained_host *h)
{
	_cleanup_free_ char *by = plan_mechanism_names(plan, h->verdict.by, "+");
	struct str text = STR_INIT;
	json_t *document;

	if (!o->json) {
		str_addf(&text, "%s:%u %s at level %s%s%s: ", h->host, h->port, h->verdict.allowed ? "is allowed" : "is denied",
			 level_name(h->verdict.level), *by ? " by " : "", by);
		str_add_escaped(&text, h->verdict.rule);
		str_add(&text, "\n");
		add_more(&text, &h->verdict);
		return output_text(&text);
	}
	document = access_json(&h->verdict);
	json_object_set_new(document, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(document, "host", json_text(h->host));
	json_object_set_new(document, "port", json_integer(h->port));
	return output_json(document);
}

static int ask_host(const struct options *o, const struct plan *plan, struct err *err)
{
	struct explained_host h;
	int code;

	if (explain_host(plan, o->operands[0], &h, err) < 0)
		return EXIT_REFUSED;
	code = print_host(o, plan, &h);
	if (code == 0 && !h.verdict.allowed)
		code = 1;
	explained_host_release(&h);
	return code;
}

/* ---- the command ---- */

static int explain(const struct options *o, const struct launch *l, const struct plan *plan, struct err *err)
{
	if (o->host || (!asks_for_access(o) && explain_looks_like_host(o->operands[0])))
		return ask_host(o, plan, err);
	return looks_like_variable(o) ? explain_name(o, l->policy, err) : explain_path(o, l, plan, err);
}

int cmd_explain(const struct options *o)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	char *no_command[] = { NULL };
	struct launch l = { .argv = no_command, .environ = environ };
	struct plan plan;
	int code = EXIT_REFUSED;

	if (o->n_operands != 1 || !*o->operands[0]) {
		err_set(&err, -EINVAL, "explain takes one path, host, or name of a variable");
		err_hint(&err, "such as: hurdle explain ~/.npmrc");
	} else if (prepare_plan(o, &l, &plan, &err) == 0) {
		output_warnings(l.policy);
		code = self_attack_plan(&l, &plan, false, &err) < 0 ? EXIT_REFUSED : explain(o, &l, &plan, &err);
		prepare_release(&l, &plan);
	}
	say_err(&err);
	return code;
}
