#include "supervisor/decide/decide.h"

#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/decide/detect_private.h"
#include "supervisor/decide/paths.h"
#include "supervisor/decide/rules.h"

const char *decided_by_name(enum decided_by by)
{
	static const char *const names[] = {
		[BY_RULE] = "rule", [BY_EXCLUDED] = "excludedCommands", [BY_SANDBOX] = "sandbox", [BY_DETECTOR] = "detector",
		[BY_READ_ONLY] = "read-only", [BY_PATH] = "path", [BY_DEFAULT] = "default",
	};

	return names[by];
}

void answer_release(struct answer *a)
{
	free(a->reason);
	free(a->sandbox_reason);
	*a = (struct answer){ 0 };
}

/* One question on its way through the steps. */
struct question {
	const struct decider *d;
	struct shell sh;
	struct answer *a;
	bool unsandboxed, mixed; /* mixed: some of the commands are excluded, others not */
	const struct item *excluded;
	uint32_t part;           /* the one that is excluded */
};

static bool settle(struct question *q, enum decision decision, enum decided_by by, struct place at, char *reason)
{
	q->a->decision = decision;
	q->a->by = by;
	q->a->at = at;
	q->a->reason = reason;
	return true;
}

static struct place whole(const struct question *q)
{
	return (struct place){ 0, (uint32_t)q->sh.len };
}

/* What a sentence says of a command: its text, if that is short. */
static char *shown(const struct shell *sh, uint32_t part)
{
	const struct place at = sh->commands[part].raw;
	const size_t n = at.end - at.start;
	_cleanup_free_ char *text = strf("%.*s", (int)(n < 60 ? n : 60), sh->source + at.start);
	struct str s = STR_INIT;

	str_add(&s, "'");
	str_add_visible(&s, text);
	str_add(&s, n < 60 ? "'" : "...'");
	return str_take(&s);
}

/* ---- sandbox or not ---- */

static size_t count_excluded(struct question *q, size_t *ret_parts)
{
	const struct items *list = &q->d->policy->lists[LIST_EXCLUDED_COMMANDS];
	size_t excluded = 0;

	*ret_parts = 0;
	for (uint32_t i = 0; i < q->sh.n_commands; i++) {
		const struct item *hit = NULL;

		if (q->sh.commands[i].kind != SHELL_SIMPLE)
			continue;
		++*ret_parts;
		for (size_t k = 0; k < list->n && !hit; k++) {
			const char *text = list->v[k].text;
			/* "Bash(x)" and "x" are the same */
			const bool wrapped = !strncmp(text, "Bash(", 5) && text[strlen(text) - 1] == ')';
			_cleanup_free_ char *inner = wrapped ? strf("%.*s", (int)strlen(text) - 6, text + 5) : xstrdup(text);

			hit = command_matches(&q->sh, i, inner, false) ? &list->v[k] : NULL;
		}
		if (!hit)
			continue;
		q->excluded = hit;
		q->part = i;
		excluded++;
	}
	return excluded;
}

static bool platform_enabled(const struct question *q)
{
	const struct items *list = &q->d->policy->lists[LIST_PLATFORMS];
	bool enabled = !list->given;

	for (size_t i = 0; i < list->n; i++)
		enabled |= !strcmp(list->v[i].text, q->d->platform);
	return enabled;
}

/* NULL: it is sandboxed. */
static char *why_no_sandbox(struct question *q)
{
	const struct policy *p = q->d->policy;
	size_t parts, excluded;

	if (p->scrub_only)
		return strf("the sandbox is turned off by %s", p->scrub_only_origin ? p->scrub_only_origin : "the settings");
	if (q->unsandboxed && p->allow_unsandboxed)
		return xstrdup("a run without the sandbox was asked for, and the settings allow that");
	if (!q->sh.error && !q->sh.n_commands)
		return xstrdup("there is no command");
	excluded = q->sh.error ? 0 : count_excluded(q, &parts);
	if (excluded && excluded == parts)
		return strf("%s is in excludedCommands (%s)", q->excluded->text, q->excluded->origin);
	q->mixed = excluded != 0;
	return platform_enabled(q) ? NULL : strf("enabledPlatforms does not name %s", q->d->platform);
}

static void choose_sandbox(struct question *q)
{
	char *why = why_no_sandbox(q);

	q->a->sandbox = !why;
	q->a->sandbox_reason = why ? why : xstrdup(q->unsandboxed ? "a run without the sandbox was asked for, but allowUnsandboxedCommands is false" :
						   "commands run in the sandbox");
}

/* ---- rules ---- */

/* The first rule of that list that means some part of the command. Text that was not understood is matched as a whole. */
static const struct permission *find_rule(const struct question *q, enum permission_list list, bool wide, uint32_t *ret_part)
{
	const struct policy *p = q->d->policy;

	for (size_t k = 0; k < p->n_permissions; k++) {
		const struct permission *r = &p->permissions[k];

		if (r->list != list || !permission_is_bash(r))
			continue;
		for (uint32_t i = 0; i < q->sh.n_commands; i++) {
			*ret_part = i;
			if (command_matches(&q->sh, i, r->argument, wide))
				return r;
		}
	}
	return NULL;
}

static bool by_rule(struct question *q, enum permission_list list)
{
	uint32_t part;
	const struct permission *r = find_rule(q, list, true, &part);

	if (!r)
		return false;
	_cleanup_free_ char *text = shown(&q->sh, part);
	q->a->rule = r->text;
	q->a->origin = r->origin;
	return settle(q, list == PERMISSION_DENY ? DECISION_DENY : DECISION_ASK, BY_RULE, q->sh.commands[part].raw,
		      strf("%s matches the %s rule %s", text, list == PERMISSION_DENY ? "deny" : "ask", r->text));
}

static bool deny_rule(struct question *q) { return by_rule(q, PERMISSION_DENY); }
static bool ask_rule(struct question *q) { return by_rule(q, PERMISSION_ASK); }

/* A rule that forbids cannot be applied to text that was not understood. */
static bool unclear_for_rules(struct question *q)
{
	const struct policy *p = q->d->policy;
	bool any = false;

	for (size_t k = 0; k < p->n_permissions; k++)
		any |= permission_is_bash(&p->permissions[k]) && p->permissions[k].list != PERMISSION_ALLOW;
	if (!q->sh.error || !any)
		return false;
	q->a->detector = DETECTOR_malformed;
	return settle(q, DECISION_ASK, BY_DETECTOR, q->sh.error_at, strf("there are rules about commands, and this text is not understood: %s", q->sh.error));
}

static bool excluded_in_part(struct question *q)
{
	if (!q->mixed)
		return false;
	_cleanup_free_ char *text = shown(&q->sh, q->part);
	q->a->rule = q->excluded->text;
	q->a->origin = q->excluded->origin;
	return settle(q, DECISION_ASK, BY_EXCLUDED, q->sh.commands[q->part].raw,
		      strf("%s is in excludedCommands and the rest is not: the whole stays in the sandbox; run it by itself", text));
}

/* ---- what the sandbox is worth ---- */

/* require, when it names the guarantee; else supervised: a fence inside the program buys no approval. */
static enum level wanted_level(const struct policy *p, enum guarantee g)
{
	enum level level = LEVEL_NONE;
	bool named = false;

	for (size_t i = 0; i < p->n_required; i++) {
		const struct required *r = &p->required[i];
		const enum level one = r->best ? guarantee_info(g)->best : r->level;

		if (r->guarantee != g)
			continue;
		named = true;
		level = one > level ? one : level;
	}
	return named ? level : LEVEL_SUPERVISED;
}

static void look_at_fences(struct question *q)
{
	static const enum guarantee guarantees[FENCES] = { G_fs_write, G_net_egress };

	if (!q->a->sandbox || q->a->fenced || !q->d->level)
		return;
	for (size_t i = 0; i < FENCES; i++)
		q->a->fences[i] = (struct fence){ guarantees[i], q->d->level(q->d->context, guarantees[i]), wanted_level(q->d->policy, guarantees[i]) };
	q->a->fenced = true;
}

static bool holds(const struct fence *f)
{
	return f->has != LEVEL_NA && f->has >= f->wanted;
}

static bool by_sandbox(struct question *q)
{
	if (!q->a->sandbox || !q->d->policy->auto_allow_bash)
		return false;
	look_at_fences(q);
	if (!q->a->fenced)
		return false;
	for (size_t i = 0; i < FENCES; i++) {
		if (holds(&q->a->fences[i]))
			continue;
		free(q->a->sandbox_reason);
		q->a->sandbox_reason = strf("commands run in the sandbox, but that is no approval: %s is %s here, and %s is wanted",
					    guarantee_info(q->a->fences[i].guarantee)->name, level_name(q->a->fences[i].has), level_name(q->a->fences[i].wanted));
		return false;
	}
	return settle(q, DECISION_ALLOW, BY_SANDBOX, whole(q), xstrdup("the sandbox holds files and network well enough here to run it without a question"));
}

/* ---- the classifier, and what is left ---- */

/* The user has written this very text into a rule. */
static bool exact_rule(struct question *q)
{
	const struct policy *p = q->d->policy;

	for (size_t k = 0; k < p->n_permissions; k++) {
		const struct permission *r = &p->permissions[k];

		if (r->list != PERMISSION_ALLOW || !permission_is_bash(r) || !r->argument || strchr(r->argument, '*') || strlen(r->argument) != q->sh.len ||
		    memcmp(r->argument, q->sh.source, q->sh.len))
			continue;
		q->a->rule = r->text;
		q->a->origin = r->origin;
		return settle(q, DECISION_ALLOW, BY_RULE, whole(q), strf("the allow rule %s is this very command", r->text));
	}
	return false;
}

static bool by_detector(struct question *q)
{
	const struct path_judge judge = { q->d->image ? decide_may_access : NULL, (void *)(uintptr_t)q->d };
	const struct finding f = detect(&q->sh, &judge);

	if (f.decision == DECISION_PASS)
		return false;
	q->a->detector = f.detector;
	return settle(q, f.decision, BY_DETECTOR, f.at, strf("%s: %s", detectors[f.detector].name, f.message));
}

static bool by_read_only(struct question *q)
{
	const struct path_judge judge = { q->d->image ? decide_may_access : NULL, (void *)(uintptr_t)q->d };

	return only_reads(&q->sh, &judge) && settle(q, DECISION_ALLOW, BY_READ_ONLY, whole(q), xstrdup("all of it only reads, or writes where a command in the sandbox may"));
}

/* Every part has an allow rule, or only reads. What has neither is left in *ret_part. */
static bool all_allowed(const struct question *q, const struct permission **ret_rule, uint32_t *ret_part)
{
	const struct path_judge judge = { q->d->image ? decide_may_access : NULL, (void *)(uintptr_t)q->d };
	const struct policy *p = q->d->policy;
	struct finding unused;
	const struct looking l = { .sh = &q->sh, .judge = &judge, .found = &unused, .moved = changes_directory(&q->sh) };

	for (uint32_t i = 0; i < q->sh.n_commands; i++) {
		bool allowed = false;

		for (size_t k = 0; k < p->n_permissions && !allowed; k++) {
			const struct permission *r = &p->permissions[k];

			allowed = r->list == PERMISSION_ALLOW && permission_is_bash(r) && command_matches(&q->sh, i, r->argument, false);
			if (allowed)
				*ret_rule = r;
		}
		*ret_part = i;
		if (!allowed && !command_only_reads(&l, i))
			return false;
	}
	return true;
}

static bool by_allow_rules(struct question *q)
{
	const struct permission *r = NULL;
	uint32_t part = 0;

	if (all_allowed(q, &r, &part) && r) {
		q->a->rule = r->text;
		q->a->origin = r->origin;
		return settle(q, DECISION_ALLOW, BY_RULE, whole(q), strf("every part of it has an allow rule (%s) or only reads", r->text));
	}
	_cleanup_free_ char *text = q->sh.n_commands ? shown(&q->sh, part) : xstrdup("it");
	return settle(q, DECISION_ASK, BY_DEFAULT, q->sh.n_commands ? q->sh.commands[part].raw : whole(q),
		      strf("no rule allows %s, and it is not known to only read", text));
}

void decide_command(const struct decider *d, const char *command, size_t len, bool unsandboxed, struct answer *ret)
{
	/* the first that settles it */
	static bool (*const steps[])(struct question *) = {
		deny_rule, ask_rule, unclear_for_rules, excluded_in_part, by_sandbox, exact_rule, by_detector, by_read_only, by_allow_rules,
	};
	struct question q = { .d = d, .a = ret, .unsandboxed = unsandboxed };

	*ret = (struct answer){ .detector = -1 };
	shell_parse(&q.sh, command, len);
	choose_sandbox(&q);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i](&q))
			break;
	if (ret->decision != DECISION_DENY)
		look_at_fences(&q);
	shell_release(&q.sh);
}
