/* The parts of JSON documents that status, explain and --report share. Their names are stable; see docs/man/hurdle.1. */
#pragma once
#include <jansson.h>
#include "supervisor/plan.h"

enum { REPORT_SCHEMA = 1 };

/* JSON is Unicode: a byte that is no UTF-8 becomes U+0080 to U+00FF. NULL becomes null. Never fails. */
json_t *json_text(const char *s);
json_t *json_text_list(const struct strv *list);
/* The names of the mechanisms in by. */
json_t *json_mechanisms(unsigned by);
/* {schema, host, mechanisms, guarantees, rules} */
json_t *report_plan(const struct plan *plan, struct host *h);

/* Is the rule one that reports list? hurdle's own files and the TMPDIR are not. */
bool report_lists(const struct rule *r);
/* "denyRead ~/.netrc"; for rules that have no path their text alone. Owned. */
char *report_rule_title(const struct rule *r);
/* "flags" */
const char *report_layer_name(enum layer layer);
/* It was looked for in vain, and capability_package() would bring it. */
bool report_could_be_installed(const struct host *h, enum capability c);
