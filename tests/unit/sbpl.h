/*
 * A reader and judge of Seatbelt profiles, for machines that have no Seatbelt. It knows what is known of SBPL from these, and refuses
 * a profile that holds anything else, so that a misspelt word is an error here as it is there:
 *
 *   Apple's profiles as published with its open-source programs, and those of Chromium, Firefox, Bazel, Nix, Codex and sandbox-runtime:
 *     operations, filters, `define`, `param`, `string-append`, `(if (defined? 'x) ...)`; "#"..." for text without escapes.
 *   "Apple Sandbox Guide" v1.0 (2011) and D. Blazakis, "The Apple Sandbox" (2011): the language is TinyScheme; several filters in one
 *     rule are alternatives, require-all and require-not combine; the last rule that matches decides; `default` is asked last.
 *   Nix denies file-write-setugid before it allows file* and relies on it: there the rule for the single operation counts more, wherever
 *     it stands. Both readings are here (enum sbpl_order); a profile should not need one of them.
 *   Tests that others ran on macOS: a host may only be called * or localhost; a rename asks for file-write-unlink on the old name and
 *     file-write-create on the new one; TIOCSTI is known since macOS 13.
 *
 * Regular expressions are POSIX extended ones here, in bytes.
 */
#pragma once
#include <stdbool.h>

struct sbpl;

struct sbpl_query {
	const char *operation;
	const char *path;        /* of the file, or of the unix socket */
	const char *type;        /* of the file: "DIRECTORY", "CHARACTER-DEVICE", ...; NULL: a regular one */
	const char *name;        /* of a service, a sysctl, an IPC object */
	bool unix_socket;        /* a network operation on path */
	const char *remote, *local; /* "localhost" or an address; NULL: the operation has none */
	unsigned port;           /* of the remote, or of the local where there is no remote */
	const char *target;      /* of a signal: "self", "same-sandbox", "others" */
	const char *extension;   /* that the process holds for the file */
	const char *command;     /* of an ioctl */
	const char *domain;      /* of a new socket: "AF_UNIX" */
	int protocol;
};

enum sbpl_order { SBPL_LAST_MATCH, SBPL_MOST_SPECIFIC };

/* parameters: "NAME=VALUE", as after -D; NULL at the end, or NULL. missing: one name that this macOS does not know, or NULL.
 * NULL: the profile is refused; *ret_error (owned) says why. */
struct sbpl *sbpl_read(const char *text, const char *const *parameters, const char *missing, char **ret_error);
void sbpl_free(struct sbpl *p);
bool sbpl_allows(const struct sbpl *p, const struct sbpl_query *q, enum sbpl_order order);
/* The message of the rule that denies; NULL: none, or it allows. */
const char *sbpl_message(const struct sbpl *p, const struct sbpl_query *q, enum sbpl_order order);
/* Each regular expression of the profile. */
void sbpl_each_regex(const struct sbpl *p, void (*f)(const char *regex));
