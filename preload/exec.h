/* Inside the exec family only. */
#pragma once
#include "preload/coverage.h"
#include "preload/shim.h"

/* The environment of a new program: the caller's, with the shim first in LD_PRELOAD and a ticket. */
struct environment {
	char **entries;        /* NULL-terminated */
	size_t size;           /* bytes mapped for entries; 0: the caller's room */
	struct text preload;   /* "LD_PRELOAD=..." */
	char ticket[40];       /* "HURDLE_TICKET=N" */
	uint32_t number;       /* of the ticket; WIRE_TICKETS: none */
};
size_t environment_room(char *const *from); /* entries that the array needs */
/* class: whose shim. room: where to put the array (environment_room entries), or NULL: a mapping. program: NULL takes no ticket. */
int environment_build(struct environment *e, char *const *from, const char *program, enum shim_class class, char **room);
void environment_release(struct environment *e, bool started);
/* Puts the shim back into the process's own environment, for functions that take it from there (system, popen, wordexp). */
void environment_repair(enum shim_class class);

/* spawn.c: where the program of a posix_spawn starts. unknown: in a directory that cannot be told before. */
struct spawn_start { int directory; bool owned, unknown; };
/* Judges what the child is to open. 0, or a negative errno: the first refusal, or what the child would fail with. */
int spawn_judge(const void *actions, struct spawn_start *s);
void spawn_start_release(struct spawn_start *s);
