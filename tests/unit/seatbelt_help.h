/* A policy, its image, and its Seatbelt profile with a judge. */
#pragma once
#include "platform/mechanism/seatbelt.h"
#include "tests/unit/image_help.h"
#include "tests/unit/sbpl.h"

struct pair {
	struct policy *policy;
	struct image *image;
	char *profile;
	struct sbpl *judge;
};

static const struct seatbelt_options plain = { .tag = "tag", .proxy_port = 3128 };

static inline struct pair pair_of(struct policy *p, const struct seatbelt_options *o)
{
	struct pair pair = { .policy = p };
	size_t size;
	char *error = NULL;

	pair.image = image_from(p, &size);
	pair.profile = seatbelt_profile(p, o);
	pair.judge = sbpl_read(pair.profile, NULL, NULL, &error);
	cr_assert(pair.judge, "%s\n%s", error, pair.profile);
	return pair;
}

static inline void pair_release(struct pair *p)
{
	policy_free(p->policy);
	free(p->image);
	free(p->profile);
	sbpl_free(p->judge);
}

/* Both readings of the order of rules must agree. */
static inline bool asks(const struct pair *p, const struct sbpl_query *q)
{
	bool last = sbpl_allows(p->judge, q, SBPL_LAST_MATCH);

	cr_assert_eq(last, sbpl_allows(p->judge, q, SBPL_MOST_SPECIFIC), "%s %s depends on the order: %d", q->operation, q->path, last);
	return last;
}

static inline bool seatbelt(const struct pair *p, const char *operation, const char *path)
{
	const struct sbpl_query q = {
		.operation = operation, .path = path, .unix_socket = !strncmp(operation, "network", 7),
	};
	return asks(p, &q);
}

static inline bool policy_allows(const struct pair *p, enum access access, const char *path)
{
	struct verdict v;

	policy_decide(p->image, access, path, strlen(path), &v);
	return v.outcome == OUTCOME_ALLOW; /* Seatbelt knows no birth times: protected names are denied everywhere */
}
