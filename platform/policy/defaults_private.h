/* Between defaults.c and its neighbours caches.c and repositories.c. */
#pragma once
#include "platform/policy/policy.h"

/* One literal rule of the built-in layer. 0, or a negative errno with words. */
int default_rule(struct policy *p, enum rule_kind kind, const char *text, struct err *err);
/* Does some write root hold path (real, absolute)? */
bool default_is_writable(const struct policy *p, const char *path);

int default_add_caches(struct policy *p, struct err *err);       /* caches.c */
int default_add_repositories(struct policy *p, struct err *err); /* repositories.c */
/* cwd is no write root by itself when it is /, the home directory or above it. */
bool default_cwd_may_be_root(const struct policy *p);
/* settings_trust.c: the write roots of untrusted project files that would open more than the project; warns of each. */
void policy_drop_loosening_roots(struct policy *p);
/* shadows.c: warns of entries of the user's that change nothing. */
void policy_warn_of_shadows(struct policy *p);
