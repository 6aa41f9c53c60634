/* hurdle decide: should a command be sandboxed, allowed, asked about or denied. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "supervisor/commands.h"
#include "supervisor/decide/decide.h"
#include "supervisor/output.h"
#include "supervisor/policy_build.h"
#include "supervisor/prepare.h"
#include "supervisor/report_json.h"

extern char **environ;

enum { CODE_ASK = 1, CODE_DENY = 2 };

/* The policy, and the plan when somebody asks for it: it opens a session and proves the shim, which most answers do not need. */
struct context {
	const struct options *o;
	struct policy *policy;
	struct image *image;
	bool planned, has_plan;
	enum level levels[G_COUNT];
	struct decider decider;
};

static void context_release(struct context *c)
{
	free(c->image);
	if (c->policy)
		policy_free(c->policy);
}

/* Windows has its own kernel under both kinds of WSL, which say so here (proc(5)). */
static const char *platform_name(void)
{
	_cleanup_free_ char *version = NULL;
	size_t len;

	if (read_file("/proc/version", 1 << 16, &version, &len) < 0)
		return "linux";
	return strcasestr(version, "microsoft") ? "wsl" : "linux";
}

static void make_plan(struct context *c)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	char *no_command[] = { NULL };
	struct launch l = { .argv = no_command, .environ = environ };
	struct plan plan;

	c->planned = true;
	if (prepare_plan(c->o, &l, &plan, &err) < 0) {
		say_err(&err);
		return;
	}
	for (int g = 0; g < G_COUNT; g++)
		c->levels[g] = plan.guarantees[g].level;
	c->has_plan = true;
	prepare_release(&l, &plan);
}

static enum level level_of(void *context, enum guarantee g)
{
	struct context *c = context;

	if (!c->planned)
		make_plan(c);
	return c->has_plan ? c->levels[g] : LEVEL_NONE;
}

static int context_init(struct context *c, const struct options *o, struct err *err)
{
	size_t size;
	int r;

	*c = (struct context){ .o = o };
	r = policy_build(o, &c->policy, err);
	if (r < 0)
		return r;
	if (!c->policy->scrub_only) {
		const struct image_options options = { .supervisor = (uint32_t)getpid() };

		r = policy_compile(c->policy, &options, &c->image, &size, err);
	}
	c->decider = (struct decider){
		.policy = c->policy, .image = c->image, .platform = platform_name(), .level = level_of, .context = c,
	};
	return r;
}

/* ---- answers ---- */

static json_t *span_json(struct place at)
{
	return json_pack("[i,i]", (int)at.start, (int)at.end);
}

static json_t *by_json(const struct answer *a)
{
	json_t *by = json_object();

	json_object_set_new(by, "kind", json_text(decided_by_name(a->by)));
	json_object_set_new(by, "rule", json_text(a->rule));
	json_object_set_new(by, "origin", json_text(a->origin));
	if (a->detector >= 0) {
		json_object_set_new(by, "detector", json_text(detectors[a->detector].id));
		json_object_set_new(by, "number", json_integer(detectors[a->detector].number));
		json_object_set_new(by, "group", json_text(detectors[a->detector].group));
	}
	return by;
}

static json_t *sandbox_json(const struct answer *a)
{
	json_t *sandbox = json_object(), *guarantees = json_object();

	json_object_set_new(sandbox, "use", json_boolean(a->sandbox));
	json_object_set_new(sandbox, "reason", json_text(a->sandbox_reason));
	for (size_t i = 0; a->fenced && i < FENCES; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "level", json_text(level_name(a->fences[i].has)));
		json_object_set_new(one, "wanted", json_text(level_name(a->fences[i].wanted)));
		json_object_set_new(guarantees, guarantee_info(a->fences[i].guarantee)->name, one);
	}
	json_object_set_new(sandbox, "guarantees", guarantees);
	return sandbox;
}

static json_t *answer_json(const struct answer *a)
{
	json_t *document = json_object();

	json_object_set_new(document, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(document, "decision", json_text(decision_name(a->decision)));
	json_object_set_new(document, "reason", json_text(a->reason));
	json_object_set_new(document, "by", by_json(a));
	json_object_set_new(document, "span", span_json(a->at));
	json_object_set_new(document, "sandbox", sandbox_json(a));
	return document;
}

static int print_line(json_t *document)
{
	_cleanup_free_ char *text = json_dumps(document, JSON_COMPACT | JSON_ENSURE_ASCII);
	struct str line = STR_INIT;

	json_decref(document);
	str_addf(&line, "%s\n", text ? text : "{}");
	return output_text(&line);
}

/* The offending part of the command, if it is not all of it. */
static void add_part(struct str *to, const struct answer *a, const char *command)
{
	const size_t n = a->at.end - a->at.start;

	if (!command || !n || n > 200 || n == strlen(command))
		return;
	_cleanup_free_ char *part = strf("%.*s", (int)n, command + a->at.start);
	str_addf(to, "  at %u-%u: ", a->at.start, a->at.end);
	str_add_visible(to, part);
	str_add(to, "\n");
}

static int print_text(const struct answer *a, const char *command)
{
	struct str s = STR_INIT;

	str_addf(&s, "%s: ", decision_name(a->decision));
	str_add_visible(&s, a->reason);
	str_add(&s, "\n");
	add_part(&s, a, command);
	if (a->detector >= 0)
		str_addf(&s, "  detector: %d, %s (%s)\n", detectors[a->detector].number, detectors[a->detector].id, detectors[a->detector].group);
	if (a->rule) {
		str_add(&s, "  rule: ");
		str_add_escaped(&s, a->rule);
		str_add(&s, " (");
		str_add_escaped(&s, a->origin ? a->origin : "default");
		str_add(&s, ")\n");
	}
	str_addf(&s, "  sandbox: %s; ", a->sandbox ? "yes" : "no");
	str_add_visible(&s, a->sandbox_reason);
	for (size_t i = 0; a->fenced && i < FENCES; i++)
		str_addf(&s, "%s %s %s", i ? "," : "; here:", guarantee_info(a->fences[i].guarantee)->name, level_name(a->fences[i].has));
	str_add(&s, "\n");
	return output_text(&s);
}

static int code_of(const struct answer *a)
{
	return a->decision == DECISION_ALLOW ? 0 : a->decision == DECISION_DENY ? CODE_DENY : CODE_ASK;
}

static int print_answer(const struct options *o, const struct answer *a, const char *command)
{
	const int failed = o->json ? output_json(answer_json(a)) : print_text(a, command);

	return failed ? failed : code_of(a);
}

/* ---- one question, or many ---- */

static int decide_one(struct context *c)
{
	struct answer a = { 0 };
	int code;

	decide_command(&c->decider, c->o->command_text, strlen(c->o->command_text), c->o->unsandboxed, &a);
	code = print_answer(c->o, &a, c->o->command_text);
	answer_release(&a);
	return code;
}

static int decide_path(struct context *c, struct err *err)
{
	struct answer a = { 0 };
	int code;

	if (decide_tool(&c->decider, c->o->tool, c->o->path, &a, err) < 0)
		return EXIT_REFUSED;
	code = print_answer(c->o, &a, NULL);
	answer_release(&a);
	return code;
}

static json_t *bad_line(const char *why)
{
	json_t *document = json_object();

	json_object_set_new(document, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(document, "decision", json_text(decision_name(DECISION_ASK)));
	json_object_set_new(document, "reason", json_text("the line is no JSON string, so there is no command to decide about"));
	json_object_set_new(document, "error", json_text(why));
	return document;
}

/* A JSON string may hold \u0000, which a text with an end could not. */
static int decide_line(struct context *c, const char *line, size_t len)
{
	json_error_t error;
	json_t *value = json_loadb(line, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	struct answer a = { 0 };
	int code;

	if (!json_is_string(value)) {
		code = print_line(bad_line(value ? "it is another kind of value" : error.text));
		json_decref(value);
		return code;
	}
	decide_command(&c->decider, json_string_value(value), json_string_length(value), c->o->unsandboxed, &a);
	code = print_line(answer_json(&a));
	answer_release(&a);
	json_decref(value);
	return code;
}

/* Each line is answered before the next one is read. */
static int decide_lines(struct context *c)
{
	_cleanup_free_ char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int code = 0;

	while (!code && (n = getline(&line, &cap, stdin)) > 0)
		code = decide_line(c, line, (size_t)n);
	return code;
}

static int check_options(const struct options *o, struct err *err)
{
	if (o->n_operands) {
		err_set(err, -EINVAL, "decide takes no operand, such as '%s'", o->operands[0]);
		err_hint(err, "a command is one argument: hurdle decide -c 'make test'");
		return -EINVAL;
	}
	if ((o->tool != NULL) != (o->path != NULL)) {
		err_set(err, -EINVAL, "--tool and --path go together");
		err_hint(err, "such as: hurdle decide --tool Write --path src/main.c");
		return -EINVAL;
	}
	if (o->tool && o->command_text)
		return err_set(err, -EINVAL, "-c and --tool are two questions; ask one of them");
	if (o->cwd && chdir(o->cwd) < 0)
		return err_set(err, -errno, "cannot change to '%s': %s", o->cwd, strerror(errno));
	return 0;
}

int cmd_decide(const struct options *o)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	_cleanup_(context_release) struct context c = { 0 };
	int code = EXIT_REFUSED;

	if (check_options(o, &err) == 0 && context_init(&c, o, &err) == 0) {
		output_warnings(c.policy);
		code = o->tool ? decide_path(&c, &err) : o->command_text ? decide_one(&c) : decide_lines(&c);
	}
	say_err(&err);
	return code;
}
