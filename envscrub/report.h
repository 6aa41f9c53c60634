/* What was dropped, for people and for programs: names and reasons, never a value. */
#pragma once
#include "envscrub/scrub.h"
#include "platform/base/str.h"

/* "NAME<TAB>reason" lines, names escaped. */
void report_text(struct str *to, const struct scrub_result *result);
/* {"schema":1,"dropped":[{"name":...,"reason":...}],"kept":N} and a newline. A byte that is not UTF-8 becomes \u00XX, since JSON
 * is text (RFC 8259 section 8.1). */
void report_json(struct str *to, const struct scrub_result *result);
/* Writes all of it. 0 or a negative errno. */
int report_write(int fd, const struct str *text);
