/*
 * Seatbelt, macOS's sandbox: the policy as a profile for sandbox-exec(1), and what the kernel's log says about denials. All of it is
 * text and pure; seatbelt.c starts the program.
 *
 * What SBPL is, as others use and measured it (tests/unit/sbpl.h has the list with its sources): a rule names operations and filters,
 * any of which may match; the last rule that matches decides. Whether a rule for file-write-unlink stands before or beside one for
 * file-write* differs between descriptions, so the profile is written to mean the same either way.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "platform/base/str.h"
#include "platform/policy/policy.h"

struct seatbelt_options {
	const char *tag;     /* ends the log line of each denial; NULL: none */
	uint16_t proxy_port; /* on loopback; 0: not known yet, the profile asks for -D PROXY_PORT=N */
	bool any_case;       /* what must not be written is compared without case, as most Macs' volumes do */
};

/* Owned. Holds no byte that a terminal would obey. */
char *seatbelt_profile(const struct policy *p, const struct seatbelt_options *o);
/* What the profile does not say as the policy does; for holds() and the documents. Constant texts. */
void seatbelt_caveats(const struct policy *p, const struct rule *r, struct strv *to);

/* ---- seatbelt_text.c ---- */

/* How a path filter ends: the place itself, it and all below, only what is below. */
enum seatbelt_tail { SEATBELT_AT, SEATBELT_COVERS, SEATBELT_BELOW };

/* In a regular expression that is being built: a component that is not called node_modules (the variable of that name). */
#define SEATBELT_ORDINARY '\0'

/* As a string of SBPL; long ones in pieces. */
void seatbelt_add_string(struct str *to, const char *s, size_t len);
void seatbelt_add_path_regex(struct str *to, const char *path, bool icase, enum seatbelt_tail tail);
/*
 * Of a glob (image.h). "At least five components" is, where a glob has several "**", the union of several regular expressions: way
 * counts them. No more than SEATBELT_WAYS_MAX are of use to anybody.
 */
enum { SEATBELT_WAYS_MAX = 40 };
struct seatbelt_glob {
	const char *text;
	bool icase, ordinary; /* ordinary: "**" and "*" stand for SEATBELT_ORDINARY, but for the last name */
	unsigned at_least;    /* components of the match; 0: any number */
	unsigned way;         /* below seatbelt_glob_ways() */
	enum seatbelt_tail tail;
};
void seatbelt_add_glob_regex(struct str *to, const struct seatbelt_glob *g);
/* 0: no match has so many; SEATBELT_WAYS_MAX + 1: more ways than that. */
unsigned seatbelt_glob_ways(const char *glob, unsigned at_least);
/* Components that a match has at least; *ret_variable: it may have more. */
unsigned seatbelt_glob_depth(const char *glob, bool *ret_variable);
/* The value of the variable. */
void seatbelt_add_ordinary(struct str *to);

/* ---- seatbelt_files.c ---- */

void seatbelt_add_file_rules(struct str *to, const struct policy *p, const struct seatbelt_options *o);

/* ---- seatbelt_log.c: what `log stream --style compact` prints ---- */

struct seatbelt_denial {
	char *program, *action, *target; /* owned; target: "" when the line names none */
	int pid;
};
/* One line of the log. False: it tells of no denial, or of one that is known to be harmless. */
bool seatbelt_log_read(const char *line, struct seatbelt_denial *ret);
void seatbelt_denial_release(struct seatbelt_denial *d);
/* argv of log(1) for the denials of one profile; the predicate is its tag. */
void seatbelt_log_command(struct strv *to, const char *tag);

/* ---- seatbelt.c: for its tests ---- */

/* Runs a shell under the program with a profile that refuses one write. True: it was refused, and another one was not. */
bool seatbelt_try(const char *program, char **ret_evidence);
/* argv that runs the command (a path) with its own argv[1..] under the profile in a file. */
void seatbelt_command(struct strv *to, const char *program, const char *profile, const char *command, char *const *argv);
