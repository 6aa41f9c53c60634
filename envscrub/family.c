/* Variables that only work together: all of a family stay, or all go. Keeping one by name keeps its family. */
#include <stdlib.h>
#include <string.h>

#include "envscrub/judge.h"

static bool is_number(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < '0' || p[i] > '9')
			return false;
	return n > 0;
}

static bool begins(const struct item *it, const char *prefix, size_t n)
{
	return it->name_len >= n && !memcmp(it->text, prefix, n);
}
#define BEGINS(it, prefix) begins(it, prefix, sizeof(prefix) - 1)
#define IS(it, name) ((it)->name_len == sizeof(name) - 1 && BEGINS(it, name))

enum git_part { GIT_NONE, GIT_COUNT, GIT_KEY, GIT_VALUE };

/* git-config(1), ENVIRONMENT: the count, and as many KEY_n and VALUE_n; one missing ends git with an error. */
static enum git_part git_part(const struct item *it)
{
	const char *end = it->text + it->name_len;

	if (IS(it, "GIT_CONFIG_COUNT"))
		return GIT_COUNT;
	if (BEGINS(it, "GIT_CONFIG_KEY_") && is_number(it->text + 15, (size_t)(end - it->text) - 15))
		return GIT_KEY;
	if (BEGINS(it, "GIT_CONFIG_VALUE_") && is_number(it->text + 17, (size_t)(end - it->text) - 17))
		return GIT_VALUE;
	return GIT_NONE;
}

enum family family_of(const struct item *it)
{
	if (it->text[0] == 'G' && BEGINS(it, "GIT_CONFIG_") && git_part(it) != GIT_NONE)
		return GIT_CONFIG;
	if (it->text[0] == 'A' && (IS(it, "AWS_ACCESS_KEY_ID") || IS(it, "AWS_SECRET_ACCESS_KEY") ||
	                           IS(it, "AWS_SESSION_TOKEN") || IS(it, "AWS_SECURITY_TOKEN")))
		return AWS;
	return NO_FAMILY;
}

/* Settings that git gets through the environment may stay when all of them are known to be harmless, and none is missing. */
static bool git_family_is_plain(const struct item *items, size_t n)
{
	size_t count = 0, seen[GIT_VALUE + 1] = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct item *it = &items[i];
		enum git_part part = it->family == GIT_CONFIG ? git_part(it) : GIT_NONE;

		seen[part]++;
		if (part == GIT_COUNT)
			count = is_number(it->value, it->value_len) && it->value_len < 6 ? strtoul(it->value, NULL, 10) : SIZE_MAX;
		else if (part == GIT_KEY && !name_git_setting_is_plain(it->value, it->value_len))
			return false;
	}
	return seen[GIT_COUNT] == 1 && seen[GIT_KEY] == count && seen[GIT_VALUE] == count;
}

static void settle(struct item *items, size_t n, enum family family, bool keep)
{
	static const char *const why[] = {
		[GIT_CONFIG] = "settings for git: may hold a credential, and git needs all of them or none",
		[AWS] = "goes with the rest of the AWS credentials",
	};

	for (size_t i = 0; i < n; i++) {
		if (items[i].family != family)
			continue;
		if (keep)
			items[i].verdict = KEEP_BY_USER;
		else if (items[i].verdict == KEEP)
			judge_drop(&items[i], SCRUB_FAMILY, why[family]);
	}
}

void settle_families(struct item *items, size_t n)
{
	bool seen[FAMILIES] = { false }, kept[FAMILIES] = { false }, dropped[FAMILIES] = { false };

	for (size_t i = 0; i < n; i++) {
		seen[items[i].family] = true;
		kept[items[i].family] |= items[i].verdict == KEEP_BY_USER;
		dropped[items[i].family] |= items[i].verdict == DROP;
	}
	if (seen[GIT_CONFIG] && !kept[GIT_CONFIG] && !dropped[GIT_CONFIG])
		dropped[GIT_CONFIG] = !git_family_is_plain(items, n);
	for (enum family f = NO_FAMILY + 1; f < FAMILIES; f++)
		if (kept[f] || dropped[f])
			settle(items, n, f, kept[f]);
}

