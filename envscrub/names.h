/* What the tables say about a name. Pure; names are bytes, folded in ASCII only (a locale must not decide about secrets). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum name_class {
	NAME_INJECTION,   /* goes, whatever the value */
	NAME_HARMLESS,    /* stays, whatever the value */
	NAME_LOCATOR,     /* a path, a URL, a choice: stays, unless the value has the shape of a secret */
	NAME_URL,         /* stays only when the value is plainly a URL or host without credentials */
	NAME_HANDLE,      /* leads to a socket or an agent: the caller's choice */
	NAME_ASSIGNMENTS, /* repeats NAME=VALUE words: goes when one of those would */
	NAME_COPY,        /* repeats variables in a form that is not looked into: goes when any variable went */
	NAME_SECRET,      /* goes, whatever the value */
};

struct name_row {
	const char *name; /* or a glob */
	const char *why;
	enum name_class class;
	unsigned char len; /* of the name */
};

uint32_t name_hash(const char *name, size_t n);
/* The row of this very name, else of the first glob that matches, else NULL. hash is name_hash's. */
const struct name_row *name_find(const char *name, size_t n, uint32_t hash);
/* "name contains KEY" and its kind, or NULL. */
const char *name_word(const char *name, size_t n);
/* Is this git setting (section.key, the value of GIT_CONFIG_KEY_n) one that holds no credentials? */
bool name_git_setting_is_plain(const char *key, size_t n);
/* Globs: * any bytes, ? one byte, [abc] [a-c] [!a] a set. fold ignores ASCII case. */
bool name_glob(const char *glob, const char *name, size_t n, bool fold);
/* All rows, for tests. */
const struct name_row *name_rows(size_t *ret_n);
