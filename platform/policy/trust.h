/* Which project files the user trusts, with which content. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "platform/base/err.h"

enum { TRUST_DIGEST_SIZE = 65 }; /* SHA-256 in hexadecimal digits, and NUL */
#define TRUST_FILE "trusted"     /* in hurdle's configuration directory */

/* The names below a project's directory that its settings files may have, NULL-terminated. */
extern const char *const trust_names[];

/* What stands for a file: the real path of its project and its name there, since the same text means other paths elsewhere. Owned. */
char *trust_key(const char *project, const char *name);
void trust_digest(const char *text, size_t len, char ret[TRUST_DIGEST_SIZE]);
/* store: the text of the file, or NULL. Pure. */
bool trust_holds(const char *store, const char *key, const char *digest);
/*
 * Touches the disk: config is made if need be, and its file replaced by one in which key has this digest and no other; digest NULL:
 * none. 0 or a negative errno with words.
 */
int trust_set(const char *config, const char *key, const char *digest, struct err *err);
/* The text of config's file, owned; NULL when there is none, or when others than its owner may write it (then *ret_why says so). */
char *trust_read(const char *config, const char **ret_why);
