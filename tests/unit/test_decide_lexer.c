/* The shell lexer: what it makes of texts, what it does not understand and where, and that its time is linear. */
#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "supervisor/decide/lexer.h"

TestSuite(decide_lexer, .timeout = 100);

/* "name arg|name arg" of the simple commands; words between brackets where their value is not known, redirections after them. */
static char *dump(const struct shell *sh)
{
	struct str s = STR_INIT;

	for (uint32_t i = 0; i < sh->n_commands; i++) {
		if (sh->commands[i].kind != SHELL_SIMPLE)
			continue;
		str_add(&s, s.len ? "|" : "");
		for (uint32_t k = sh->commands[i].first; k != NO_INDEX; k = sh->words[k].next) {
			const struct word *w = &sh->words[k];

			str_addf(&s, "%s%s%s%s", k == sh->commands[i].first ? "" : " ", w->flags & WORD_UNKNOWN ? "[" : "", word_value(sh, w),
				 w->flags & WORD_UNKNOWN ? "]" : "");
		}
		for (uint32_t k = 0; k < sh->n_redirects; k++)
			if (sh->redirects[k].command == i)
				str_addf(&s, " %.*s%s", (int)(sh->redirects[k].op.end - sh->redirects[k].op.start), sh->source + sh->redirects[k].op.start,
					 word_value(sh, &sh->words[sh->redirects[k].target]));
	}
	return str_take(&s);
}

Test(decide_lexer, commands_and_words)
{
	static const struct { const char *text, *want; } rows[] = {
		{ "", "" }, { "  # nothing", "" }, { "ls", "ls" }, { "ls -l  'a b'\tc\\ d", "ls -l a b c d" },
		{ "a;b&&c||d|e&f", "a|b|c|d|e|f" }, { "a\nb", "a|b" }, { "a \\\n b", "a b" }, { "a\\\nb", "ab" },
		{ "echo \"x\\\"y\\$z\\q\"", "echo x\"y$z\\q" }, { "echo $'a\\tb\\x41\\101\\u00e9'", "echo a\tbAA\xc3\xa9" },
		{ "echo a#b # c", "echo a#b" }, { "x=1 y='2 3' cmd z=4", "x=1 y=2 3 cmd z=4" }, { "x=1", "x=1" },
		{ "echo $x \"$x\" a$x", "echo [] [] [a]" }, { "echo $(a b) c", "echo [] c|a b" }, { "echo `a b`", "echo []|a b" },
		{ "echo $((1+2))", "echo []" }, { "diff <(a) <(b)", "diff [] []|a|b" }, { "a 2>&1 >f <g", "a 2>&1 >f <g" }, { "a >'f g'", "a >f g" },
		{ "a {fd}>x", "a {fd}>x" }, { "a 2 >x", "a 2 >x" }, { "cat <<E\nx $(y)\nE\nz", "cat <<E|y|z" }, { "cat <<'E'\n$(y)\nE", "cat <<E" },
		{ "cat <<-E\n\tx\n\tE", "cat <<-E" }, { "a <<A; b <<B\n1\nA\n2\nB\nc", "a <<A|b <<B|c" },
		{ "if a; then b; elif c; then d; else e; fi", "a|b|c|d|e" }, { "for x in 1 2; do a; done; b", "a|b" }, { "while a; do b; done", "a|b" },
		{ "case x in a|b) c;; *) d; esac", "c|d" }, { "f() { a; }; g", "a|g" }, { "function f { a; }", "a" }, { "(a; b) | c", "a|b|c" },
		{ "{ a; } >x", "a" }, { "[[ -f x && $y == (z) ]]", NULL }, { "[[ -f x && $y =~ ^(a|b)$ ]] && c", "c" }, { "((x=1)); a", "a" },
		{ "! a", "a" }, { "time -p a", "a" }, { "time -- a", "a" }, { "a=(b 'c d')", "a= b c d" }, { "declare a=(b)", "declare a= b" },
		{ "echo ${x:-$(y)} ${x%\"a\"}", "echo [] []|y" }, { "echo \"${x:-a b}\"", "echo []" }, { "awk '{print $1}' f", "awk {print $1} f" },
		{ "find . -exec rm {} \\;", "find . -exec rm {} ;" }, { "echo \"$(echo \"$(a)\")\"", "echo []|echo []|a" },
		{ "for i in a; do\\\n\tb; done", "b" }, { "if\\\n a; then b; fi", "a|b" }, { "a <<<\"b c\"", "a <<<b c" }, { "a &>x", "a &>x" }, { "echo \\\xc3\xa9", "echo \xc3\xa9" }, { "echo $", "echo $" }, { "echo \"$\"", "echo $" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shell sh;
		const bool understood = shell_parse(&sh, rows[i].text, strlen(rows[i].text));
		_cleanup_free_ char *got = dump(&sh);

		cr_assert_eq(understood, rows[i].want != NULL, "%s: %s", rows[i].text, sh.error ? sh.error : "understood");
		cr_assert(!rows[i].want || !strcmp(got, rows[i].want), "%s:\n got: %s\nwant: %s", rows[i].text, got, rows[i].want);
		shell_release(&sh);
	}
}

/* What bash does not take, and what is not guessed; the place is where a person should look. */
Test(decide_lexer, what_is_not_understood)
{
	static const struct { const char *text; uint32_t start, end; } rows[] = {
		{ "echo 'a", 5, 7 }, { "echo \"a", 5, 7 }, { "echo `a", 5, 7 }, { "echo $(a", 8, 8 }, { "echo ${a", 5, 8 }, { "a |", 3, 3 }, { "a &&", 4, 4 },
		{ "| a", 0, 1 }, { "a ;; b", 2, 3 }, { "(a", 2, 2 }, { "a)", 1, 2 }, { "{ a", 3, 3 }, { "if a; then b", 12, 12 }, { "fi", 0, 1 }, { "a (b)", 3, 4 },
		{ "a >", 3, 3 }, { "cat <<E\nx", 4, 7 }, { "a\\", 1, 2 }, { "echo `a \\$x`", 8, 9 }, { "echo $((1)", 6, 10 }, { "((a); b)", 0, 4 },
		{ "echo $[1]", 5, 7 }, { "echo $'\\0'", 7, 9 }, { "echo $'\\c'", 7, 9 }, { "coproc a", 0, 1 }, { "a |\\\n| b", 3, 6 }, { "echo \"${x:-'a'}\"", 11, 12 },
		{ "x[1 2]=3", 0, 3 }, { "echo ${a b}", 5, 9 }, { "i\\\nf a", 0, 4 }, { "\"f\"() { a; }", 3, 4 }, { "echo $(cat <<E\nx\nE\na)", 19, 20 }, { "]]", 0, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shell sh;

		cr_assert_not(shell_parse(&sh, rows[i].text, strlen(rows[i].text)), "%s: understood", rows[i].text);
		cr_assert(sh.error_at.start == rows[i].start && sh.error_at.end == rows[i].end, "%s: %s at %u-%u", rows[i].text, sh.error, sh.error_at.start,
			  sh.error_at.end);
		shell_release(&sh);
	}
}

Test(decide_lexer, nul_bytes_and_length)
{
	struct shell sh;
	char *large = xcalloc(1, SHELL_TEXT_MAX + 1);

	cr_assert_not(shell_parse(&sh, "ls\0rm", 5));
	cr_assert(sh.error_at.start == 2 && sh.error_at.end == 3);
	shell_release(&sh);
	memset(large, 'a', SHELL_TEXT_MAX + 1);
	cr_assert_not(shell_parse(&sh, large, SHELL_TEXT_MAX + 1));
	shell_release(&sh);
	free(large);
}

Test(decide_lexer, nesting_is_bounded)
{
	static const char *const openings[] = { "$(", "(", "{ ", "\"$(", "${a:-", "if ", "$((", "[[ ( ", "<(", "! (", "f() {", "\"${x:-\"", "case a in a) ", "a=$(" };

	for (size_t i = 0; i < ARRAY_SIZE(openings); i++) {
		struct str s = STR_INIT;
		struct shell sh;

		for (int n = 0; n < 100000; n++)
			str_add(&s, openings[i]);
		cr_assert_not(shell_parse(&sh, s.s, s.len), "%s", openings[i]);
		shell_release(&sh);
		str_free(&s);
	}
}

static double seconds(const char *piece, size_t size, bool understood)
{
	struct timespec a, b;
	struct str s = STR_INIT;
	struct shell sh;

	while (s.len < size)
		str_add(&s, piece);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	cr_assert_eq(shell_parse(&sh, s.s, s.len), understood, "%s: %s", piece, sh.error ? sh.error : "understood");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	shell_release(&sh);
	str_free(&s);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

/* Eight times the text may take eight times as long, and with what a busy machine adds not 40 times. Squared it would be 64. */
Test(decide_lexer, time_is_linear)
{
	static const struct { const char *piece; bool understood; } rows[] = {
		{ "echo a b; ", true }, { "'a' ", true }, { "\"a $x\" ", true }, { "$(a) ", true }, { "`a` ", true }, { "<<E ", false }, { "cat <<E\nE\n", true }, { "a=1 ", true },
		{ "{a,", true }, { "{a,b}", true }, { "#", true }, { "\\\n", true }, { "\\ ", true }, { ">f ", true }, { "a | ", false }, { "declare a=(b) ", true }, { "a ''#'' ", true },
		{ "${a}", true }, { "[a]", true }, { "a\n", true }, { "# c\n", true }, { "((a)) \n", true }, { "'", true }, { "f() { a; }\n", true }, { "\xc3\xa9", true }, { "$((1)) ", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double small = 1, large = 1e9;

		for (int n = 0; n < 5; n++) {
			const double t = seconds(rows[i].piece, 40000, rows[i].understood), u = seconds(rows[i].piece, 320000, rows[i].understood);

			small = t < small ? t : small;
			large = u < large ? u : large;
		}
		cr_assert_lt(large, small * 40 + 0.002, "'%s': %.6f s, and %.6f s for eight times as much", rows[i].piece, small, large);
	}
}
