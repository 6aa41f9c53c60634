/* Between rules.c and patterns.c: an entry on its way to becoming a rule. */
#pragma once
#include "platform/policy/policy.h"

/* What policy_add() was called with. */
struct entry {
	struct policy *p;
	enum rule_kind kind;
	enum layer layer;
	const char *text, *base, *origin;
	unsigned flags;
	struct err *err;
	char *stripped; /* path_strip() of text; owned */
};

bool rule_kind_denies(enum rule_kind kind);
/* path_resolve() with the policy's memory of real directories. */
int rule_resolve(struct policy *p, const char *absolute, char **ret, bool *ret_exists);
/* A rule for exactly this path, or NULL. */
const struct rule *rule_find_literal(struct policy *p, enum rule_kind kind, const char *path, size_t len);
/* Takes path and written over. 1, or -ENAMETOOLONG. */
int rule_append(const struct entry *e, char *path, char *written, bool pattern);
/* What the caller returns when there is no home directory, or a path is too long. */
int rule_no_home(const struct entry *e);
int rule_too_long(const struct entry *e);

int rule_add_literal(const struct entry *e); /* rules.c */
int rule_add_pattern(const struct entry *e); /* patterns.c */
