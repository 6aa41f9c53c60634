/* What run, status and profile have in common: from options to a plan that was proven on this host. */
#pragma once
#include "supervisor/options.h"
#include "supervisor/plan.h"

/*
 * Builds the policy, opens a session directory, compiles, proves the shim, and makes the plan. On failure everything is
 * released and removed again. l must be zeroed but for argv, environ and pass_fds.
 */
int prepare_plan(const struct options *o, struct launch *l, struct plan *plan, struct err *err);
/* The plan anew, after the host has turned out to be another than was thought. */
int prepare_again(struct launch *l, struct plan *plan, struct err *err);
/* Removes the session directory and frees all of it. */
void prepare_release(struct launch *l, struct plan *plan);
