/* What run, status and profile have in common: from options to a plan that was proven on this host. */
#pragma once
#include "supervisor/options.h"
#include "supervisor/plan.h"

/*
 * Builds the policy, opens a session directory, compiles, proves the shim, and makes the plan. On failure everything is
 * released and removed again. l must be zeroed but for argv, environ and pass_fds.
 */
int prepare_plan(const struct options *o, struct launch *l, struct plan *plan, struct err *err);
/*
 * The walls did not come up, for the reason in err: the plan anew, without them; says so when loud. -ENOTSUP when they were asked
 * for by name, which is not replaced by something else.
 */
int prepare_without_walls(struct launch *l, struct plan *plan, bool loud, struct err *err);
/* Removes the session directory and frees all of it. */
void prepare_release(struct launch *l, struct plan *plan);
