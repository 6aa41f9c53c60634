/*
 * Which environment variables a child may see.
 *
 * The decision is pure: it looks at names and values only. In this order, the first that applies decides:
 *   keep by the user > drop by the user > loader injection > exceptions > listed names > words > value shapes
 * A listed or excepted name stands in one of the .def tables beside this file, which also say why. An exception that is a
 * path, a URL or a command speaks for the name only: its value is still judged by its shape. Two groups of names only work
 * together (GIT_CONFIG_*, the AWS credentials): they stay or go whole, and keeping one keeps the group.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct scrub_options {
	const char *const *keep; /* names or globs (* ? [set]), NULL-terminated, case-sensitive; NULL: none */
	const char *const *drop; /* likewise */
	bool drop_handles;       /* also what leads to a socket or an agent: SSH_AUTH_SOCK, DOCKER_HOST, ... */
	const char *const *with; /* NAME=VALUE, put in after the scrub, in place of every entry of that name */
};

enum scrub_reason {
	SCRUB_BY_USER,   /* --drop */
	SCRUB_INJECTION, /* makes a loader or interpreter run foreign code */
	SCRUB_LISTED,    /* the name is in a table */
	SCRUB_WORD,      /* the name contains a word of words.def */
	SCRUB_VALUE,     /* the value has the shape of a secret */
	SCRUB_HANDLE,    /* drop_handles */
	SCRUB_CARRIER,   /* repeats other variables, of which one was dropped */
	SCRUB_FAMILY,    /* only works together with another that was dropped */
	SCRUB_DUPLICATE, /* another entry of this name was dropped for its value */
};

struct scrub_drop {
	char *name; /* unescaped; never the value, and a placeholder for an entry that is no NAME=VALUE */
	enum scrub_reason reason;
	const char *why; /* words for people, constant: "name contains TOKEN", "listed: llm key" */
};

struct scrub_result {
	char **envp;              /* NULL-terminated: the caller's own strings, in order, then the additions */
	size_t n_kept;            /* how many of them are the caller's */
	struct scrub_drop *drops; /* every name once, in order of appearance */
	size_t n_drops;
	char **dropped_;  /* the entries that scrub_wipe overwrites, in order */
	size_t n_dropped_;
	char *text_; /* memory of the names and the additions */
};

/*
 * Decides on every entry of envp (which may be NULL). The result points into envp's strings, so it lives no longer than they do;
 * release it with scrub_result_clear. Returns 0, or -EINVAL when an entry of with has no name or no '='.
 */
int scrub_env(const struct scrub_options *options, char *const envp[], struct scrub_result *ret);
void scrub_result_clear(struct scrub_result *result);

/*
 * Overwrites in place the values of the entries that were dropped. Given the environ that main() got, before any setenv(3),
 * this is the memory that /proc/PID/environ shows (proc(5)); a copy that setenv made elsewhere is not reached.
 */
void scrub_wipe(char *const envp[], const struct scrub_result *result);

/* Does the value look like a secret? The words for it, constant, or NULL. Pure; n bytes, which may be any. */
const char *scrub_value_shape(const char *value, size_t n);
