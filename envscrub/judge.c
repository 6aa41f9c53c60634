#include "envscrub/judge.h"

#include <string.h>

void judge_drop(struct item *it, enum scrub_reason reason, const char *why)
{
	it->verdict = DROP;
	it->reason = reason;
	it->why = why;
}

/* An entry without '=', or with nothing before it, has no name to speak of: the whole text is both name and value. */
static void split(struct item *it, const char *text)
{
	const char *eq = strchr(text, '=');
	size_t len = eq ? (size_t)(eq - text) : 0;

	it->text = text;
	it->nameless = !len;
	it->name_len = len ? len : strlen(text);
	it->value = len ? eq + 1 : text;
	it->value_len = strlen(it->value);
	it->hash = name_hash(text, it->name_len);
}

/* ---- one entry ---- */

static bool any_glob(const char *const *globs, const char *name, size_t n)
{
	for (; globs && *globs; globs++)
		if (name_glob(*globs, name, n, false))
			return true;
	return false;
}

static void judge(const struct scrub_options *options, struct item *it);

/* A word that assigns: what stands before the '=', back to a blank, quote or other separator, is the name. Make writes
 * "NAME=v" and "NAME:=v", and behind a backslash a blank belongs to the value (POSIX make, MAKEFLAGS). */
static void split_assignment(struct item *it, const char *start, const char *eq, const char *end)
{
	const char *name = eq, *name_end = eq, *p;

	while (name_end > start && strchr(":+?!", name_end[-1]))
		name_end--;
	for (name = name_end; name > start && !strchr(" \t\r\n=\"',;", name[-1]); name--)
		;
	for (p = eq + 1; p < end && !(strchr(" \t\r\n", *p) && p[-1] != '\\'); p++)
		;
	*it = (struct item){ .text = name, .name_len = (size_t)(name_end - name), .value = eq + 1, .value_len = (size_t)(p - eq - 1) };
	it->hash = name_hash(name, it->name_len);
}

static void judge_assignments(const struct scrub_options *options, struct item *it)
{
	const char *end = it->value + it->value_len, *p = it->value;

	for (; (p = memchr(p, '=', (size_t)(end - p))); p++) {
		struct item inner;

		split_assignment(&inner, it->value, p, end);
		if (!inner.name_len)
			continue;
		inner.row = name_find(inner.text, inner.name_len, inner.hash);
		if (inner.row && inner.row->class == NAME_ASSIGNMENTS) /* one level is enough, and ends */
			continue;
		judge(options, &inner);
		if (inner.verdict == DROP) {
			judge_drop(it, SCRUB_CARRIER, it->row->why);
			return;
		}
	}
}

/* One URL, host with port, or path, with no user part. "name=" may stand before it (uv names its indexes). */
static bool is_plain_url(const char *p, const char *end)
{
	const char *scheme = memmem(p, (size_t)(end - p), "://", 3), *q;

	if (memchr(p, '@', (size_t)(end - p)))
		return false;
	if (scheme)
		return scheme > p;
	if (*p == '/' || *p == '.')
		return true;
	for (q = p; q < end && (*q == '.' || *q == '-' || *q == '_' || *q == ':' || *q == '[' || *q == ']' ||
	                        (*q >= '0' && *q <= '9') || ((*q | 32) >= 'a' && (*q | 32) <= 'z')); q++)
		;
	/* A bare word could as well be a password: a host shows by its dot, its port, or by being this one. */
	return (q == end || *q == '/') &&
	       (memchr(p, '.', (size_t)(q - p)) || memchr(p, ':', (size_t)(q - p)) || (q - p == 9 && !memcmp(p, "localhost", 9)));
}

static bool is_plain_urls(const char *value, size_t n)
{
	const char *p = value, *end = value + n;

	while (p < end) {
		const char *stop = p;

		while (stop < end && !strchr(" \t\r\n", *stop))
			stop++;
		if (stop > p && !is_plain_url(p, stop))
			return false;
		p = stop + 1;
	}
	return true;
}

/* Decides by the row of the name; false leaves the value to be judged. */
static bool judge_row(const struct scrub_options *options, struct item *it)
{
	switch (it->row->class) {
	case NAME_HARMLESS:
		return true;
	case NAME_INJECTION:
		judge_drop(it, SCRUB_INJECTION, it->row->why);
		return true;
	case NAME_SECRET:
		judge_drop(it, SCRUB_LISTED, it->row->why);
		return true;
	case NAME_HANDLE:
		if (options->drop_handles)
			judge_drop(it, SCRUB_HANDLE, it->row->why);
		break;
	case NAME_ASSIGNMENTS:
		judge_assignments(options, it);
		break;
	case NAME_URL:
		if (!is_plain_urls(it->value, it->value_len))
			judge_drop(it, SCRUB_VALUE, it->row->why);
		break;
	case NAME_LOCATOR:
	case NAME_COPY: /* decided in drop_copies, once all the others are */
		break;
	}
	return it->verdict == DROP;
}

static void judge_value(struct item *it)
{
	const char *why = scrub_value_shape(it->value, it->value_len);

	if (why)
		judge_drop(it, SCRUB_VALUE, why);
}

static void judge(const struct scrub_options *options, struct item *it)
{
	const char *word;

	if (any_glob(options->keep, it->text, it->name_len)) {
		it->verdict = KEEP_BY_USER;
		return;
	}
	if (any_glob(options->drop, it->text, it->name_len)) {
		judge_drop(it, SCRUB_BY_USER, "dropped by the user");
		return;
	}
	if (it->row) {
		if (!judge_row(options, it))
			judge_value(it);
		return;
	}
	if (it->family != GIT_CONFIG && (word = name_word(it->text, it->name_len)))
		judge_drop(it, SCRUB_WORD, word);
	else
		judge_value(it);
}

void judge_entry(const struct scrub_options *options, const char *text, struct item *it)
{
	split(it, text);
	it->family = family_of(it);
	if (it->family != GIT_CONFIG) /* its KEY_n have a word in them that means nothing */
		it->row = name_find(it->text, it->name_len, it->hash);
	judge(options, it);
}
