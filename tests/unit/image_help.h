/*
 * Policies as text, for the tests of the compiled image: rules between "; ", each "KIND[:icase][@LAYER] PATH", as in "allowWrite /p" or
 * "denyRead:icase@managed /p/x". A path with one of * ? [ \ is a pattern. Words alone: outsideRoots, unixOpen, scrub.
 */
#pragma once
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/policy/policy.h"

static const struct { const char *name; enum rule_kind kind; } kind_words[] = {
	{ "allowWrite", RULE_ALLOW_WRITE }, { "denyWrite", RULE_DENY_WRITE }, { "denyDelete", RULE_DENY_DELETE },
	{ "allowRead", RULE_ALLOW_READ }, { "denyRead", RULE_DENY_READ }, { "denyExec", RULE_DENY_EXEC }, { "grantExec", RULE_GRANT_EXEC },
	{ "allowSocket", RULE_ALLOW_SOCKET }, { "protect", RULE_PROTECT_NAME }, { "internal", RULE_INTERNAL }, { "tmpdir", RULE_TMPDIR },
};
static const char *const layer_words[LAYER_COUNT] = { "default", "user", "project", "local", "flags", "managed" };

static inline void rule_in(struct policy *p, enum rule_kind kind, enum layer layer, bool icase, const char *path)
{
	policy_add_exact(p, kind, layer, path, "test");
	struct rule *r = &p->rules[p->n_rules - 1];
	r->pattern = strpbrk(path, "*?[\\") != NULL;
	r->icase = icase;
}

static inline enum rule_kind kind_of(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_words); i++)
		if (strlen(kind_words[i].name) == n && !strncmp(kind_words[i].name, word, n))
			return kind_words[i].kind;
	cr_assert_fail("no such kind of rule: %.*s", (int)n, word);
	return RULE_KIND_COUNT;
}

static inline enum layer layer_of_word(const char *word, size_t n)
{
	for (size_t i = 0; i < LAYER_COUNT; i++)
		if (strlen(layer_words[i]) == n && !strncmp(layer_words[i], word, n))
			return (enum layer)i;
	cr_assert_fail("no such layer: %.*s", (int)n, word);
	return LAYER_DEFAULT;
}

static inline void one_rule(struct policy *p, const char *text)
{
	const char *path = strchr(text, ' '), *end = path ? path : text + strlen(text), *word = text;
	size_t n = strcspn(text, ":@ ");
	bool icase = false;
	enum layer layer = LAYER_DEFAULT;

	if (!path) {
		cr_assert(!strcmp(text, "outsideRoots") || !strcmp(text, "unixOpen") || !strcmp(text, "scrub"), "no such word: %s", text);
		p->exec_outside_roots |= *text == 'o';
		p->unix_open |= *text == 'u';
		p->scrub_only |= *text == 's';
		return;
	}
	for (const char *s = text + n; s < end; s += 1 + strcspn(s + 1, ":@ ")) {
		size_t len = strcspn(s + 1, ":@ ");

		if (*s == ':')
			icase = true;
		else
			layer = layer_of_word(s + 1, len);
	}
	if (n == 6 && !strncmp(word, "listed", n))
		strv_add(&p->listed, path + 1);
	else
		rule_in(p, kind_of(word, n), layer, icase, path + 1);
}

static inline struct policy *policy_from(const char *text)
{
	struct policy *p = policy_new("/nowhere", NULL);
	_cleanup_free_ char *copy = xstrdup(text);

	for (char *s = copy, *end; s; s = end) {
		end = strstr(s, "; ");
		if (end) {
			*end = '\0';
			end += 2;
		}
		one_rule(p, s);
	}
	return p;
}

static inline struct image *image_from(const struct policy *p, size_t *ret_size)
{
	const struct image_options options = { .start_sec = 1000 };
	struct image *img = NULL;

	cr_assert_eq(policy_compile(p, &options, &img, ret_size, NULL), 0);
	cr_assert(image_valid(img, *ret_size));
	return img;
}
