/* From a plan to a running command, and from a running command to its end. */
#pragma once
#include "platform/mechanism/mechanism.h"
#include "platform/mechanism/stage_block.h"

/* Looks argv[0] up in the PATH that the command will have, into l->program. -ENOENT, -EACCES with words. */
int launch_find_program(struct launch *l, struct err *err);
/* prepare() of every mechanism that is in use. */
int launch_prepare(struct launch *l, struct err *err);
/* Frees what that made, so that it can be done again with other mechanisms. */
void launch_unprepare(struct launch *l);
/*
 * Forks and starts the command; l->pid. Signals that watch_run handles are blocked in the supervisor from here on. -EAGAIN:
 * the walls did not come up, with the reason in err; nothing was started.
 */
int launch_start(struct launch *l, struct err *err);
/* Says what kept the command from starting; the exit code that goes with it. */
int launch_say_failure(const struct launch *l, enum stage_step step, int error);

/* Descriptors 0, 1, 2 that were closed when hurdle started: taken by /dev/null meanwhile, closed again for the command. */
void launch_hold_closed_descriptors(void);

struct outcome_of_run { int exit, signal; };
/* Waits for the command, forwards signals and stops, then ends what it left behind: SIGTERM, 5 s, SIGKILL. */
void watch_run(struct launch *l, struct outcome_of_run *ret);
