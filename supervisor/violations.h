/*
 * What was denied during the run, and what ran uncovered, as the shims wrote it into the shared page. The confined side can
 * write anything there, so it is a message for people: bounded, escaped when printed, and never an input to a decision.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "platform/base/str.h"
#include "platform/policy/policy.h"
#include "platform/policy/wire.h"

enum { VIOLATIONS_KEPT = 100, UNCOVERED_KEPT = 64 };

struct violation {
	const char *action;    /* "file-write-create"; constant */
	const char *mechanism; /* "preload"; constant */
	char *target, *rule, *raw, *program; /* owned, unescaped; raw: as the program said it, "" when that is not known */
	int32_t pid;
	int64_t time_ms;       /* CLOCK_REALTIME */
	bool unruled;          /* no rule was hit: none allows it */
};

struct uncovered {
	char *program;         /* owned, unescaped; several runs of one program are one entry */
	const char *reason;    /* constant words */
	bool refused;
};

struct violations {
	struct violation *list;  /* owned: the newest VIOLATIONS_KEPT, oldest first */
	size_t n;
	uint64_t total;          /* that happened; n <= total */
	struct uncovered *uncovered; /* owned */
	size_t n_uncovered;
	uint64_t lost;           /* starts of programs of which it is not known whether they were covered */
};

/* Reads a page that nobody else can change any more (session_freeze); NULL: there is none. rule words come from p. *ret is released by the caller. */
void violations_read(const struct wire_page *page, const struct policy *p, struct violations *ret);
/* Takes away what ignoreViolations names for this command (argv), from the list and from the number. */
void violations_ignore(struct violations *v, const struct policy *p, char *const argv[]);
void violations_release(struct violations *v);

/* The <sandbox_violations> block; nothing when there is none. tmpdir: for the hint about /tmp, or NULL. */
void violations_print(struct str *to, const struct violations *v, const char *tmpdir);
/* One line for each program that ran, or was refused, uncovered: "PROGRAM: reason"; nothing when there is none. */
void violations_print_uncovered(struct str *to, const struct violations *v);
