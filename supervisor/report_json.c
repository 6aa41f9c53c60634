#include "supervisor/report_json.h"

#include <string.h>

#include "platform/base/cleanup.h"

json_t *json_text(const char *s)
{
	struct str b = STR_INIT;
	json_t *text;

	if (!s)
		return json_null();
	for (size_t n; *s; s += n) {
		uint32_t code;

		n = str_utf8(s, &code);
		if (n) {
			str_addn(&b, s, n);
		} else {
			unsigned char byte = (unsigned char)*s;

			n = 1;
			str_addf(&b, "%c%c", 0xc0 | byte >> 6, 0x80 | (byte & 0x3f));
		}
	}
	text = json_stringn(b.s ? b.s : "", b.len);
	str_free(&b);
	return text;
}

json_t *json_text_list(const struct strv *list)
{
	json_t *array = json_array();

	for (size_t i = 0; list && i < list->n; i++)
		json_array_append_new(array, json_text(list->v[i]));
	return array;
}

json_t *json_mechanisms(unsigned by)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n_mechanisms; i++)
		if (by & 1u << i)
			json_array_append_new(array, json_text(mechanisms[i]->name));
	return array;
}

bool report_lists(const struct rule *r)
{
	return r->kind != RULE_INTERNAL && r->kind != RULE_TMPDIR;
}

char *report_rule_title(const struct rule *r)
{
	return r->path ? strf("%s %s", rule_kind_name(r->kind), r->text) : xstrdup(r->text);
}

const char *report_layer_name(enum layer layer)
{
	static const char *const names[LAYER_COUNT] = {
		[LAYER_DEFAULT] = "default", [LAYER_USER] = "user", [LAYER_PROJECT] = "project", [LAYER_LOCAL] = "local",
		[LAYER_FLAGS] = "flags", [LAYER_MANAGED] = "managed",
	};

	return names[layer];
}

bool report_could_be_installed(const struct host *h, enum capability c)
{
	return h->caps[c].tried && !h->caps[c].available && capability_package(c);
}

/* ---- the plan ---- */

/* What a package would bring. */
static json_t *missing_json(const struct host *h)
{
	json_t *list = json_array();

	for (int c = 0; c < CAP_COUNT; c++) {
		json_t *one;

		if (!report_could_be_installed(h, (enum capability)c))
			continue;
		one = json_object();
		json_object_set_new(one, "capability", json_text(capability_name((enum capability)c)));
		json_object_set_new(one, "package", json_text(capability_package((enum capability)c)));
		json_object_set_new(one, "text", json_text(capability_text((enum capability)c)));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *bwrap_json(const struct host *h)
{
	json_t *bwrap = json_object();

	json_object_set_new(bwrap, "path", json_text(h->bwrap));
	json_object_set_new(bwrap, "version", json_text(h->bwrap_version));
	json_object_set_new(bwrap, "setuid", json_boolean(h->bwrap_setuid));
	return bwrap;
}

/* status has looked for these, a run has not */
static void add_names(json_t *host, const struct host *h)
{
	json_object_set_new(host, "container", json_text(h->container));
	json_object_set_new(host, "libc", json_text(h->shell_libc));
	json_object_set_new(host, "yama", h->yama < 0 ? json_null() : json_integer(h->yama));
	json_object_set_new(host, "bwrap", h->bwrap ? bwrap_json(h) : json_null());
}

static json_t *host_json(struct host *h)
{
	json_t *host = json_object(), *list = json_array();

	json_object_set_new(host, "platform", json_text(h->platform));
	json_object_set_new(host, "root", json_boolean(h->root));
	if (h->described)
		add_names(host, h);
	if (h->caps[CAP_LANDLOCK].tried)
		json_object_set_new(host, "landlockABI", json_integer(h->landlock_abi));
	for (int c = 0; c < CAP_COUNT; c++) {
		json_t *one;

		/* a run tries what its plan asks for; status has tried all */
		if (!h->caps[c].tried)
			continue;
		one = json_object();

		json_object_set_new(one, "name", json_text(capability_name((enum capability)c)));
		json_object_set_new(one, "available", json_boolean(h->caps[c].available));
		json_object_set_new(one, "evidence", json_text(h->caps[c].evidence));
		json_object_set_new(one, "text", json_text(capability_text((enum capability)c)));
		json_array_append_new(list, one);
	}
	json_object_set_new(host, "capabilities", list);
	json_object_set_new(host, "requiresInstall", missing_json(h));
	return host;
}

static json_t *mechanisms_json(const struct plan *plan)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n_mechanisms; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "name", json_text(mechanisms[i]->name));
		json_object_set_new(one, "available", json_boolean(plan->mechanisms[i].available));
		json_object_set_new(one, "evidence", json_text(plan->mechanisms[i].evidence));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *guarantees_json(const struct plan *plan)
{
	json_t *list = json_array();

	for (int g = 0; g < G_COUNT; g++) {
		json_t *one = json_object();

		json_object_set_new(one, "id", json_text(guarantee_info((enum guarantee)g)->name));
		json_object_set_new(one, "level", json_text(level_name(plan->guarantees[g].level)));
		json_object_set_new(one, "by", json_mechanisms(plan->guarantees[g].by));
		json_object_set_new(one, "caveats", json_text_list(&plan->guarantees[g].caveats));
		json_object_set_new(one, "text", json_text(guarantee_info((enum guarantee)g)->text));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *rules_json(const struct plan *plan)
{
	json_t *list = json_array();

	for (size_t i = 0; i < plan->policy->n_rules; i++) {
		const struct rule *r = &plan->policy->rules[i];
		_cleanup_free_ char *title = NULL;
		json_t *one;

		if (!report_lists(r))
			continue;
		title = report_rule_title(r);
		one = json_object();
		json_object_set_new(one, "guarantee", json_text(guarantee_info(r->guarantee)->name));
		json_object_set_new(one, "rule", json_text(title));
		json_object_set_new(one, "origin", json_text(r->origin));
		json_object_set_new(one, "layer", json_text(report_layer_name(r->layer)));
		json_object_set_new(one, "level", json_text(level_name(plan->rules[i].level)));
		json_object_set_new(one, "by", json_mechanisms(plan->rules[i].by));
		json_object_set_new(one, "caveats", json_text_list(&plan->rules[i].caveats));
		json_array_append_new(list, one);
	}
	return list;
}

json_t *report_plan(const struct plan *plan, struct host *h)
{
	json_t *document = json_object();

	json_object_set_new(document, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(document, "host", host_json(h));
	json_object_set_new(document, "mechanisms", mechanisms_json(plan));
	json_object_set_new(document, "guarantees", guarantees_json(plan));
	json_object_set_new(document, "rules", rules_json(plan));
	return document;
}
