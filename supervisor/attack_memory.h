/* What the self-attack found, for as long as nothing that it depends on changes. A file in the user's cache, which no policy lets the
 * command write; where one would, nothing is remembered. */
#pragma once
#include "platform/mechanism/attack.h"
#include "supervisor/plan.h"

/* Boot, user, namespaces, filters that are on us already, the mechanisms in use with their levels, every rule, the build. Owned, 64 hexadecimal digits. */
char *attack_memory_key(const struct launch *l, const struct plan *plan);
bool attack_memory_find(const struct launch *l, const char *key, char ret_outcome[ATTACK_COUNT]);
/* Never fails: what could not be remembered is tried again. */
void attack_memory_add(const struct launch *l, const char *key, const char outcome[ATTACK_COUNT]);
