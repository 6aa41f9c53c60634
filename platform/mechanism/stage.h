/*
 * The last steps to the command, as data: one block of memory with everything that its process does to itself before exec.
 * hurdle's own child carries it out, and so does, inside another mechanism's walls (bwrap), a small program of its own which is
 * given the block as a file. Freestanding: stage.c is compiled into both.
 */
#pragma once
#include <stdint.h>

#define STAGE_MAGIC 0x73647268u /* "hrds" */

/* Where it ended, when it did not end in the command. */
enum stage_step {
	STAGE_STEP_NONE, STAGE_STEP_DESCRIPTORS, STAGE_STEP_CAPABILITIES, STAGE_STEP_NO_NEW_PRIVS, STAGE_STEP_LANDLOCK, STAGE_STEP_FILTER,
	STAGE_STEP_DIRECTORY, STAGE_STEP_FORK, STAGE_STEP_HELLO, STAGE_STEP_EXEC, STAGE_STEP_COUNT,
};

/* Offsets are from the start of the block; 0: none. */
struct stage {
	uint32_t magic, size;
	uint64_t drop_caps;        /* bit n: capability n */
	uint64_t signal_mask;      /* of the command; until then everything is blocked */
	int32_t  landlock_fd;      /* -1: none */
	int32_t  events_fd;        /* the page of events, which learns the command's pid; -1: none */
	int32_t  report_fd;        /* a socket for struct stage_report; -1: the caller is told instead */
	int32_t  stderr_fd;        /* becomes descriptor 2, which was the walls' own until now; -1: it is already */
	uint32_t main_pid_at;      /* offset in the page of events */
	uint32_t one_by_one;       /* 1: close_range is not to be called here; whoever does may be killed for it */
	uint32_t want_no_new_privs; /* 1: it works on this host, so its failure ends the start */
	uint32_t filter, n_filter; /* struct sock_filter[] */
	uint32_t keep, n_keep;     /* int32_t[], ascending: descriptors from 3 up that stay open: the above, and what is inherited */
	uint32_t close_low;        /* bit n: descriptor n (0, 1, 2) was closed when hurdle started */
	uint32_t cwd;              /* text; 0: stay */
	uint32_t program;          /* text */
	uint32_t argv, envp;       /* uint64_t[], ended by 0: offsets of texts, made pointers in place */
	uint32_t shell_argv;       /* likewise, for a program without a magic number: /bin/sh PROGRAM ... */
};

/*
 * What is said through report_fd. HELLO comes from the command's own process just before exec, so that the credentials of the
 * message are its own, and is answered by any message; the others from the program inside, which waits for it.
 */
enum stage_report_kind { STAGE_HELLO, STAGE_FAILED, STAGE_STOPPED, STAGE_EXITED };
struct stage_report { uint32_t kind, step; int32_t value; /* errno; wait status */ };

/*
 * Carries the block out; does not come back when the command was started. Else -errno with the step in *ret_step. Writes
 * into the block (pointers), so a block serves once. Safe after vfork: no libc, no allocation.
 */
long stage_enter(struct stage *s, enum stage_step *ret_step);
/* The rights alone, for a child that measures: capabilities dropped, no_new_privs where there is such a thing. */
long stage_drop_rights(uint64_t drop_caps);
/* Every descriptor from 3 up is closed but those in keep, ascending. one_by_one: without close_range. */
void stage_close_descriptors(const int32_t *keep, uint32_t n_keep, uint32_t one_by_one);
/* True when the block is whole as far as its own size says. */
int stage_valid(const struct stage *s, uint64_t size);
