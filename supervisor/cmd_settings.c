/* hurdle settings: the merged settings of all layers, each entry with its origin. Starts nothing and tries nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/commands.h"
#include "supervisor/merged.h"
#include "supervisor/output.h"
#include "supervisor/policy_build.h"
#include "supervisor/report_json.h"

static int print_json(const struct policy *p, const struct merged *m)
{
	const struct items *read = &p->lists[LIST_FILES];
	json_t *document = json_object(), *files = json_array(), *entries = json_array();

	for (size_t i = 0; i < read->n; i++)
		json_array_append_new(files, json_pack("{s:o, s:o, s:b}", "file", json_text(read->v[i].text), "layer",
						       json_text(report_layer_name(read->v[i].layer)), "trusted", !read->v[i].value));
	for (size_t i = 0; i < m->n; i++)
		json_array_append_new(entries, json_pack("{s:o, s:o, s:o, s:o}", "key", json_text(m->v[i].key), "value", json_text(m->v[i].value),
							 "origin", json_text(m->v[i].origin), "layer", json_text(report_layer_name(m->v[i].layer))));
	json_object_set_new(document, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(document, "files", files);
	json_object_set_new(document, "entries", entries);
	json_object_set_new(document, "warnings", json_text_list(&p->warnings));
	return output_json(document);
}

static void add_files(struct str *to, const struct policy *p, const struct screen *screen)
{
	struct table t = { .n_columns = 3, .title = { "FILE", "LAYER", "" }, .level_column = -1 };
	const struct items *read = &p->lists[LIST_FILES];

	for (size_t i = 0; i < read->n; i++) {
		table_add(&t, read->v[i].text);
		table_add(&t, report_layer_name(read->v[i].layer));
		table_add(&t, read->v[i].value ? "not trusted: it may only tighten" : "");
	}
	if (!read->n)
		str_add(to, "no settings file was read\n");
	table_print(to, &t, screen);
	table_release(&t);
	str_add(to, "\n");
}

static int print_text(const struct policy *p, const struct merged *m)
{
	struct table t = { .n_columns = 4, .title = { "KEY", "VALUE", "LAYER", "ORIGIN" }, .level_column = -1 };
	const struct screen screen = screen_probe(COLOR_AUTO);
	struct str text = STR_INIT;

	add_files(&text, p, &screen);
	for (size_t i = 0; i < m->n; i++) {
		table_add(&t, m->v[i].key);
		table_add(&t, m->v[i].value);
		table_add(&t, report_layer_name(m->v[i].layer));
		table_add(&t, m->v[i].origin);
	}
	table_print(&text, &t, &screen);
	table_release(&t);
	return output_text(&text);
}

int cmd_settings(const struct options *o)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	struct policy *p;
	struct merged m;
	int code = EXIT_REFUSED;

	if (o->n_operands) {
		err_set(&err, -EINVAL, "settings takes no operand");
		err_hint(&err, "--settings FILE reads one file more; hurdle explain PATH asks about a path");
	} else if (policy_build(o, &p, &err) == 0) {
		if (!o->json)
			output_warnings(p);
		merged_make(p, o->rules, &m);
		code = o->json ? print_json(p, &m) : print_text(p, &m);
		merged_release(&m);
		policy_free(p);
	}
	say_err(&err);
	return code;
}
