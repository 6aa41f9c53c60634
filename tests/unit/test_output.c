/* Tables on a terminal and in a pipe, and text that becomes JSON. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/output.h"
#include "supervisor/report_json.h"

static const struct screen pipe_screen = { .width = 10 };

static struct table sample(bool cut)
{
	struct table t = { .cut = cut, .n_columns = 3, .title = { "ID", "LEVEL", "MORE" }, .level_column = 1 };

	table_add(&t, "a");
	table_add(&t, "kernel");
	table_add(&t, "one two three four five six seven");
	table_add(&t, "bb");
	table_add(&t, "n/a");
	table_add(&t, "");
	return t;
}

static void prints(struct table t, struct screen screen, const char *expected)
{
	_cleanup_(str_free) struct str b = STR_INIT;

	table_print(&b, &t, &screen);
	table_release(&t);
	cr_assert_str_eq(b.s, expected);
}

Test(output, a_pipe_gets_everything_between_tabs)
{
	prints(sample(false), pipe_screen, "a\tkernel\tone two three four five six seven\nbb\tn/a\t\n");
	prints(sample(true), pipe_screen, "a\tkernel\tone two three four five six seven\nbb\tn/a\t\n");
}

Test(output, the_last_column_wraps)
{
	prints(sample(false), (struct screen){ .terminal = true, .width = 37 },
	       "ID  LEVEL   MORE\n"
	       "a   kernel  one two three four five\n"
	       "            six seven\n"
	       "bb  n/a\n");
}

Test(output, or_is_cut)
{
	prints(sample(true), (struct screen){ .terminal = true, .width = 37 },
	       "ID  LEVEL   MORE\n"
	       "a   kernel  one two three four five …\n"
	       "bb  n/a\n");
}

Test(output, colour_is_for_levels_and_headings)
{
	_cleanup_(str_free) struct str b = STR_INIT;
	struct table t = sample(false);

	table_print(&b, &t, &(struct screen){ .terminal = true, .color = true, .width = 100 });
	table_release(&t);
	cr_assert(strstr(b.s, "\033[1mID\033[0m  "), "%s", b.s);
	cr_assert(strstr(b.s, "a   \033[32mkernel\033[0m  one"), "%s", b.s);
	cr_assert(strstr(b.s, "bb  \033[2mn/a\033[0m"), "%s", b.s);
}

Test(output, names_are_escaped_and_measured)
{
	struct table t = { .n_columns = 2, .title = { "A", "B" }, .level_column = -1 };

	table_add(&t, "\xe6\xbc\xa2\xe5\xad\x97"); /* two wide characters */
	table_add(&t, "x\ny\033");
	table_add(&t, "abcd");
	table_add(&t, "\xff");
	prints(t, (struct screen){ .terminal = true, .width = 80 }, "A     B\n\xe6\xbc\xa2\xe5\xad\x97  x\\ny\\033\nabcd  \\M^?\n");
}

Test(output, a_word_longer_than_the_line)
{
	struct table t = { .n_columns = 2, .title = { "A", "B" }, .level_column = -1 };

	table_add(&t, "a");
	table_add(&t, "0123456789012345678901234567890123456789");
	prints(t, (struct screen){ .terminal = true, .width = 10 }, "A  B\na  012345678901234567890123\n   4567890123456789\n");
}

Test(output, json_is_unicode)
{
	static const struct { const char *text, *json; } rows[] = {
		{ "", "\"\"" }, { "a\"\\\n", "\"a\\\"\\\\\\n\"" }, { "\xc3\xa4", "\"\\u00E4\"" }, { "a\xff", "\"a\\u00FF\"" },
		{ "\xc3", "\"\\u00C3\"" }, { "\xed\xa0\x80", "\"\\u00ED\\u00A0\\u0080\"" }, { "\xf0\x9f\x98\x80", "\"\\uD83D\\uDE00\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *text = json_text(rows[i].text);
		_cleanup_free_ char *dump = json_dumps(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

		cr_assert_str_eq(dump, rows[i].json);
		json_decref(text);
	}
	cr_assert(json_is_null(json_text(NULL)));
}
