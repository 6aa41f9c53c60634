/*
 * The quick self-attack: before a claim is made, a program with the command's rights tries what the claim rules out, and what
 * succeeds lowers the claim. Once per boot, user, namespaces, plan, policy and build; the answer is remembered in the user's cache.
 */
#pragma once
#include "supervisor/plan.h"

/*
 * Lowers plan by what succeeds. 0, also where nothing but the shim holds anything, which no raw system call could tell more about;
 * -EAGAIN when the walls did not come up (as launch_start); another negative errno with words. fresh: do not ask the memory.
 */
int self_attack(const struct launch *l, struct plan *plan, bool fresh, struct err *err);
/* The same for who starts nothing: where the walls do not come up, *plan becomes one without them. */
int self_attack_plan(struct launch *l, struct plan *plan, bool fresh, struct err *err);
