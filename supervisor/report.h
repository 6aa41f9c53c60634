/* --report FILE: the plan and the outcome of one run as JSON. */
#pragma once
#include <sys/types.h>
#include "supervisor/plan.h"
#include "supervisor/proxy/record.h"
#include "supervisor/violations.h"

struct run_report {
	const struct plan *plan;
	struct host *host;
	char *const *command;             /* NULL-terminated */
	int exit;                         /* hurdle's exit code for it */
	int signal;                       /* that ended the command; 0: none */
	double duration;                  /* seconds */
	const char *cwd;                  /* of the command at its end; NULL: not known */
	const struct violations *violations;
	const struct scrub_result *scrubbed;
	const struct record *hosts;       /* what the proxy saw; NULL: there was none */
	const struct strv *repositories;  /* that the run created; NULL: none */
};

/*
 * Opened before the command starts, so that a report that cannot be written stops the run: created 0600 where it is new, a
 * symlink is not followed, *ret_fd is close-on-exec. Returns 0 or a negative errno with words.
 */
int report_open(const char *path, int *ret_fd, struct err *err);
/* Writes the whole of it; path is for words. Returns 0 or a negative errno with words. The descriptor stays the caller's. */
int report_finish(int fd, const char *path, const struct run_report *report, struct err *err);
