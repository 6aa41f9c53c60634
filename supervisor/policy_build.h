/* From the command line and the settings files that it names to the policy. */
#pragma once
#include "supervisor/options.h"

/*
 * The working directory and the home directory, settings files, options, and defaults, in this order. The rules of the session
 * itself are added by who knows the host (policy_add_session_rules). *ret is owned by the caller (policy_free). Returns 0, or a
 * negative errno with words: nothing may be started then.
 */
int policy_build(const struct options *o, struct policy **ret, struct err *err);

/* Where hurdle's own settings and its list of trusted files are; home may be NULL. Owned, or NULL: nowhere. */
char *config_directory(const char *home);

/*
 * session_rules.c: the rules that have no path, one for each guarantee that is not about named files, so that each has a row in
 * the plan. Called once, after policy_build. wsl: Windows programs can be started here.
 */
void policy_add_session_rules(struct policy *p, bool wsl);
