#include <criterion/criterion.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/err.h"
#include "platform/base/str.h"

Test(str, builds)
{
	struct str b = STR_INIT;
	char *s;

	s = str_take(&b);
	cr_assert_str_eq(s, "", "nothing added: the empty text, not NULL");
	free(s);
	for (int i = 0; i < 1000; i++)
		str_addf(&b, "%d,", i);
	str_addn(&b, "xyz", 2);
	str_addn(&b, NULL, 0);
	str_addf(&b, "%s", "");
	cr_assert_eq(b.len, strlen(b.s), "the length is the text's");
	cr_assert_str_eq(b.s + b.len - 7, ",999,xy", "the end is there: %s", b.s + b.len - 7);
	s = str_take(&b);
	cr_assert(b.s == NULL && b.len == 0, "taken: empty again");
	free(s);
	s = strf("%s-%d", "a", 7);
	cr_assert_str_eq(s, "a-7", "strf");
	free(s);
}

Test(str, escapes)
{
	static const struct { const char *in, *out; } rows[] = {
		{ "plain text", "plain text" },
		{ "a\nb\tc\rd", "a\\nb\\tc\\rd" },
		{ "\x1b[31m", "\\033[31m" },
		{ "\x7f", "\\177" },
		{ "back\\slash", "back\\\\slash" },
		{ "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80" },
		{ "\xff", "\\M^?" },
		{ "\xe9t\xe9", "\\M-it\\M-i" },
		{ "\xa0", "\\240" },
		{ "\x80", "\\M^@" },
		{ "\xc3", "\\M-C" },                         /* cut off */
		{ "\xc0\xaf", "\\M-@\\M-/" },                /* overlong */
		{ "\xed\xa0\x80", "\\M-m\\240\\M^@" },       /* surrogate */
		{ "\xf4\x90\x80\x80", "\\M-t\\M^P\\M^@\\M^@" }, /* above U+10FFFF */
		{ "\xc2\x9b" "31m", "\\M-B\\M^[31m" },       /* CSI as C1 */
		{ "a\xe2\x80\xae" "b", "a\\M-b\\M^@\\M-.b" }, /* right-to-left override */
		{ "a\xe2\x80\xa8" "b", "a\\M-b\\M^@\\M-(b" }, /* line separator */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *s = str_escape(rows[i].in);

		cr_assert_str_eq(s, rows[i].out, "row %zu: got %s, want %s", i, s, rows[i].out);
		free(s);
	}
}

Test(str, visible_keeps_backslashes)
{
	struct str b = STR_INIT;

	str_add_visible(&b, "a\\033\n");
	cr_assert_str_eq(b.s, "a\\033\\n", "got %s", b.s);
	str_free(&b);
}

Test(str, nearest)
{
	static const char *const names[] = { "keep", "drop", "no-handles", "list", "with-fd" };
	static const struct { const char *in, *out; } rows[] = {
		{ "keep", "keep" }, { "kep", "keep" }, { "lsit", "list" }, { "no-handels", "no-handles" }, { "nohandles", "no-handles" },
		{ "withfd", "with-fd" }, { "xy", NULL }, { "", NULL }, { "kxxp", NULL }, { "something-else", NULL },
		{ "a-name-that-is-longer-than-any-option-could-possibly-be-and-still-goes-on", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *got = str_nearest(rows[i].in, names, ARRAY_SIZE(names));

		cr_assert(rows[i].out ? got && !strcmp(got, rows[i].out) : !got, "%s: got %s, want %s", rows[i].in, got ? got : "none",
		          rows[i].out ? rows[i].out : "none");
	}
}

Test(str, lists)
{
	struct strv l = { 0 };

	cr_assert_not(strv_has(&l, "a"), "empty");
	strv_add(&l, "a");
	strv_add(&l, "b");
	cr_assert(l.n == 2 && !l.v[2] && strv_has(&l, "b") && !strv_has(&l, "c"), "two entries, then NULL");
	strv_free(&l);
	cr_assert(!l.v && !l.n, "freed: empty again");
}

Test(err, replaces_text)
{
	struct err e = ERR_NONE;

	cr_assert_eq(err_set(&e, -22, "first %d", 1), -22, "the code comes back");
	cr_assert_eq(err_set(&e, -1, "second, after %s", e.text), -1, "may print the old text");
	cr_assert_str_eq(e.text, "second, after first 1", "got %s", e.text);
	err_hint(&e, "try %s", "that");
	cr_assert_str_eq(e.hint, "try that", "got %s", e.hint);
	err_clear(&e);
	cr_assert(!e.text && !e.hint, "cleared");
	cr_assert_eq(err_set(NULL, -5, "nobody reads"), -5, "no error object");
	err_hint(NULL, "nobody reads");
}
