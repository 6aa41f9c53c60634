/* What the built-in defaults tell the supervisor besides their rules. */
#pragma once
#include "platform/policy/policy.h"

/*
 * Caches of tools, with caches=private: NAME=VALUE for each variable that leads a tool to the private cache root, appended to
 * *ret_assignments, and that root in *ret_root (owned; NULL when there is none: other modes, or no home directory). The caller
 * creates the root; the tools make what is below. Returns 0, or -ELOOP or -ENAMETOOLONG when the root cannot be resolved.
 * policy_add_defaults() adds the rule that makes the root writable.
 */
int policy_cache_environment(const struct policy *p, struct strv *ret_assignments, char **ret_root);

/* GIT_CONFIG_COUNT is set, in envp or by the settings, so git.safeDirectories cannot use it. */
bool policy_has_git_variables(const struct policy *p, char *const envp[]);
