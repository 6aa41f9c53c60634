/* The verdict on one entry of the environment, and on the groups of entries that go together. Pure; internal to this room. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "envscrub/names.h"
#include "envscrub/scrub.h"

enum verdict { KEEP, KEEP_BY_USER, DROP, REPLACED };
enum family { NO_FAMILY, GIT_CONFIG, AWS, FAMILIES };

struct item {
	const char *text; /* the entry */
	const char *value;
	size_t name_len, value_len;
	uint32_t hash; /* of the name */
	enum verdict verdict;
	enum family family;
	enum scrub_reason reason;
	const char *why;
	const struct name_row *row;
	bool nameless; /* the text is no NAME=VALUE: nothing of it may be shown */
	bool listed; /* the first dropped entry of its name: this one is reported */
};

/* Fills *it from the text of an entry and decides. Copies of other variables (NAME_COPY) are left as they are: what becomes of
 * them depends on all the others. */
void judge_entry(const struct scrub_options *options, const char *text, struct item *it);
void judge_drop(struct item *it, enum scrub_reason reason, const char *why);
/* Of the name in *it. */
enum family family_of(const struct item *it);
/* Makes the verdicts on the members of each family agree. */
void settle_families(struct item *items, size_t n);
