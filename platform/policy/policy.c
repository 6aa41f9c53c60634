/* The policy object: its life, its warnings, what it requires, and the names of guarantees and levels. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/policy.h"

static const struct guarantee_info guarantees[] = {
#define GUARANTEE(id, name, best, text) { name, best, text },
#include "platform/policy/guarantees.def"
#undef GUARANTEE
};

static const char *const levels[] = {
	[LEVEL_NONE] = "none", [LEVEL_APPLICATION] = "application", [LEVEL_SUPERVISED] = "supervised", [LEVEL_KERNEL] = "kernel",
	[LEVEL_NA] = "n/a",
};

const struct guarantee_info *guarantee_info(enum guarantee g)
{
	return &guarantees[g];
}

const char *level_name(enum level level)
{
	return levels[level];
}

int level_parse(const char *name, enum level *ret)
{
	for (enum level l = LEVEL_NONE; l <= LEVEL_KERNEL; l++) {
		if (strcmp(name, levels[l]) == 0) {
			*ret = l;
			return 0;
		}
	}
	return -EINVAL;
}

int guarantee_parse(const char *name, enum guarantee *ret)
{
	for (size_t i = 0; i < G_COUNT; i++) {
		if (strcmp(name, guarantees[i].name) == 0) {
			*ret = (enum guarantee)i;
			return 0;
		}
	}
	return -EINVAL;
}

struct policy *policy_new(const char *cwd, const char *home)
{
	struct policy *p = xcalloc(1, sizeof(*p));

	p->cwd = xstrdup(cwd);
	p->home = home ? xstrdup(home) : NULL;
	p->allow_unsandboxed = p->auto_allow_bash = true; /* as Claude Code has them */
	if (strcmp(cwd, "/"))
		strv_add(&p->real_dirs, cwd);
	if (home && strcmp(home, "/"))
		strv_add(&p->real_dirs, home);
	return p;
}

void rule_release(struct rule *r)
{
	free(r->text);
	free(r->path);
	free(r->written);
	free(r->origin);
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_rules; i++)
		rule_release(&p->rules[i]);
	for (size_t i = 0; i < p->n_required; i++)
		free(p->required[i].origin);
	free(p->rules);
	policy_forget_index(p);
	free(p->required);
	free(p->cwd);
	free(p->home);
	free(p->scrub_only_origin);
	strv_free(&p->env_keep);
	strv_free(&p->env_drop);
	strv_free(&p->env_set);
	strv_free(&p->warnings);
	strv_free(&p->settings_files);
	strv_free(&p->listed);
	strv_free(&p->backends);
	strv_free(&p->real_dirs);
	strv_free(&p->icase_mounts);
	strv_free(&p->loosening);
	free(p->config);
	free(p->trusted);
	policy_lists_release(p);
	free(p);
}

void policy_warn(struct policy *p, const char *format, ...)
{
	struct str b = STR_INIT;
	va_list ap;

	va_start(ap, format);
	str_vaddf(&b, format, ap);
	va_end(ap);
	if (p->warnings.n == WARNINGS_MAX)
		strv_add(&p->warnings, "more warnings are left out");
	else if (b.len && p->warnings.n < WARNINGS_MAX && !strv_has(&p->warnings, b.s))
		strv_add(&p->warnings, b.s);
	str_free(&b);
}

/* ---- --require ---- */

static enum level required_level(const struct required *r)
{
	return r->best ? guarantees[r->guarantee].best : r->level;
}

/* One entry per guarantee, the strongest that anybody asked for: a second voice can raise a demand, not lower it. */
static void require(struct policy *p, const struct required *new, const char *origin)
{
	struct required *r = NULL;

	for (size_t i = 0; i < p->n_required; i++)
		if (p->required[i].guarantee == new->guarantee)
			r = &p->required[i];
	if (r && required_level(r) >= required_level(new))
		return;
	if (!r) {
		p->required = xreallocarray(p->required, p->n_required + 1, sizeof(*p->required));
		r = &p->required[p->n_required++];
		r->origin = NULL;
	}
	free(r->origin);
	*r = *new;
	r->origin = xstrdup(origin);
}

static int unknown_guarantee(const char *name, const char *origin, struct err *err)
{
	const char *names[G_COUNT + 1] = { [G_COUNT] = "all" }, *nearest;

	for (size_t i = 0; i < G_COUNT; i++)
		names[i] = guarantees[i].name;
	err_set(err, -EINVAL, "%s: unknown guarantee '%s'", origin, name);
	nearest = str_nearest(name, names, ARRAY_SIZE(names));
	if (nearest)
		err_hint(err, "did you mean \"%s\"?", nearest);
	else
		err_hint(err, "'hurdle status' lists the guarantees; 'all' stands for every one of them");
	return -EINVAL;
}

int policy_require(struct policy *p, const char *guarantee, const char *level, const char *origin, struct err *err)
{
	struct required new = { .best = strcmp(level, "best") == 0 };
	const bool all = strcmp(guarantee, "all") == 0;

	if (!all && guarantee_parse(guarantee, &new.guarantee) < 0)
		return unknown_guarantee(guarantee, origin, err);
	if (!new.best && level_parse(level, &new.level) < 0) {
		err_set(err, -EINVAL, "%s: unknown level '%s'", origin, level);
		err_hint(err, "levels are none, application, supervised, kernel, and best");
		return -EINVAL;
	}
	for (size_t i = 0; all && i < G_COUNT; i++) {
		new.guarantee = (enum guarantee)i;
		require(p, &new, origin);
	}
	if (!all)
		require(p, &new, origin);
	return 0;
}
