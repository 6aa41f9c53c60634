/* The settings of all layers in one list, for hurdle settings: every entry with its key, its value and where it is from. Pure. */
#pragma once
#include "platform/policy/policy.h"

struct merged_entry { const char *key; char *value; const char *origin; enum layer layer; }; /* value: owned; the rest borrowed */
struct merged { struct merged_entry *v; size_t n; };

/* p is borrowed as long as *ret is used. builtin: also the rules that nobody wrote. */
void merged_make(const struct policy *p, bool builtin, struct merged *ret);
void merged_release(struct merged *m);
