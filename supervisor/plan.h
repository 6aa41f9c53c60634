/*
 * The plan: for every rule the mechanisms that hold it, the level that this gives, and what still gets through. The
 * launcher executes it, status prints it, --require judges it: one object, so that no report can say what is not done.
 */
#pragma once
#include "platform/mechanism/mechanism.h"

struct plan_rule {
	enum level level;
	unsigned by;            /* bit i: mechanisms[i] */
	struct strv caveats;
};

struct plan_guarantee {
	enum level level;       /* the minimum over its rules; LEVEL_NA with none */
	unsigned by;
	struct strv caveats;    /* of its rules, without repeats */
};

struct plan_mechanism { bool available; char *evidence; };

struct plan {
	const struct policy *policy;
	struct plan_rule *rules;          /* one for each of policy->rules */
	struct plan_guarantee guarantees[G_COUNT];
	struct plan_mechanism *mechanisms; /* one for each of mechanisms[] */
	unsigned chosen;                  /* bit i: mechanisms[i] is in use */
};

/*
 * Chooses the mechanisms (those that policy->backends names; else every layer that is available and the first wall that is) and
 * asks each about every rule. Never fails: what nothing holds has LEVEL_NONE.
 */
void plan_make(struct plan *plan, const struct policy *p, struct host *h);
/* A mechanism that was asked for by name and is not to be had: -ENOTSUP with words. */
int plan_check_backends(const struct plan *plan, struct err *err);
/* What turned out not to be true: no rule of this guarantee is above application, which is what the shim can still hold. */
void plan_lower(struct plan *plan, enum guarantee g, const char *caveat);
void plan_release(struct plan *plan);

/* --require: 0, or -EPERM with one line for each guarantee that falls short and the rules that make it so. */
int plan_check_required(const struct plan *plan, struct err *err);
/* "session+env+preload": the mechanisms that hold anything; owned. */
char *plan_mechanism_names(const struct plan *plan, unsigned by, const char *separator);
