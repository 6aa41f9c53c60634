/* What patterns that open something mean to mechanisms that know no patterns. */
#pragma once
#include "platform/policy/policy.h"

/* The directory that a pattern cannot lead out of, "/" at worst. Owned. */
char *pattern_fixed_part(const char *pattern);
/* The directory that has to be writable as a whole so that a pattern of allowWrite can match in it. Owned; NULL: there is none. */
char *pattern_root(const struct rule *r);
/*
 * Calls each with what r's pattern matches now, where a literal denyRead rule meets it: elsewhere nothing is hidden. Links are not
 * followed; a walk ends at a depth and a number of entries that a start can wait for.
 */
void pattern_hidden_matches(const struct policy *p, const struct rule *r, void (*each)(void *data, const char *path), void *data);
