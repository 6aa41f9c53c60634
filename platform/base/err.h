/*
 * Errors that a user reads. Functions below the commands return a negative errno and, where a person needs words,
 * fill a struct err; only commands print and exit.
 */
#pragma once

/* Exit codes of env(1), timeout(1) and ours: the tool itself refused or failed before the command ran. */
enum { EXIT_REFUSED = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

struct err {
	char *text; /* owned; "FILE:LINE:COLUMN: what: why", without the program's name; NULL: no error */
	char *hint; /* owned; what to do about it, or NULL */
};
#define ERR_NONE ((struct err){ 0 })

/* Replaces the text of *err (err may be NULL). Returns code, which is a negative errno, for `return err_set(...)`. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
void err_hint(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
void err_clear(struct err *err);

/* Name that messages begin with: "hurdle" (default) or "scrub-run". Not owned. */
void say_name(const char *name);
/* Print "NAME: text" to standard error in one write, control characters escaped; then "NAME: hint: ..." if any. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_err(const struct err *err);
