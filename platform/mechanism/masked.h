/* Copies of denied files without their secrets, so that the programs they belong to still have their settings. */
#pragma once
#include "platform/base/str.h"
#include "platform/mechanism/mechanism.h"

/*
 * Writes the copies below the session's TMPDIR and adds their variables to l->extra_env. A file that can be read, does not exist or
 * is of another form than expected has none, and so has one whose variable is set already. Called once, before the environment is
 * built; nothing of it stops a start.
 */
void masked_prepare(struct launch *l);
/* The variable that leads to the copy of path (real), or NULL. */
const char *masked_variable(const struct policy *p, const char *path);

/* The text without lines whose key or value is a secret, and without passwords in URLs. Pure; owned. */
char *masked_lines(const char *text);
/* The same of a JSON document; NULL when it is none. */
char *masked_object(const char *text, size_t len);
