/* From a launch to the block that stage.c carries out. */
#pragma once
#include "platform/mechanism/mechanism.h"
#include "platform/mechanism/stage.h"

struct stage_options {
	uint64_t signal_mask;
	uint32_t close_low;      /* bit n: descriptor n was closed when hurdle started */
	int events_fd, report_fd, stderr_fd; /* -1: none */
	const char *cwd;         /* NULL: stay */
};

/* Owned memory (free), in one piece of ret->size bytes. argv, the environment, the program and the confinement are l's. */
struct stage *stage_block(const struct launch *l, const struct stage_options *o);
/* "cannot enter the working directory", "cannot load the filter": what did not work in that step. Static. */
const char *stage_step_words(enum stage_step step);
