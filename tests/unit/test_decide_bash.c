/*
 * The shell lexer against bash, over generated texts: where the lexer understands a text, bash takes it and passes the same words to
 * the same commands; where bash does not take it, the lexer did not understand it.
 * HURDLE_TEXTS says how many (tests/run does not, so a few thousand); `make check-decide` takes a hundred thousand.
 */
#include "tests/unit/bash_words.h"
#include "tests/unit/commands_table.h"

TestSuite(decide_bash, .timeout = 3600);

static uint64_t state;

static unsigned dice(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static const char *pick(const char *const *list, size_t n)
{
	return list[dice((unsigned)n)];
}
#define PICK(...) ({ static const char *const list_[] = { __VA_ARGS__ }; pick(list_, ARRAY_SIZE(list_)); })

static void list(struct str *s, int depth);
static struct str here; /* bodies that wait for the end of the line */

static void end_line(struct str *s)
{
	str_add(s, "\n");
	str_addn(s, here.s, here.len);
	str_free(&here);
}

static void in_double(struct str *s, int depth)
{
	for (unsigned n = dice(5); n; n--)
		str_add(s, PICK("a", "b c", "\\\"", "\\$", "\\\\", "\\n", "$v", "'", "#", ";", "&&", "|", "\\\n", "\n", "$", "*", "{a,b}", "é", "~", "!", ">", "(", ")",
				"${v}", "$'", "\\`", "\t", "\\ ", "日本", "$1", "$?"));
	if (depth > 0 && !dice(6)) {
		str_add(s, "$(");
		list(s, depth - 1);
		str_add(s, ")");
	}
}

static void piece(struct str *s, int depth)
{
	switch (dice(14)) {
	case 0:
		str_add(s, "'");
		str_add(s, PICK("a b", "\\", "\"", "$v", "`", "#x", "a\nb", ";", "", "(", "é", "*", "!"));
		str_add(s, "'");
		break;
	case 1:
		str_add(s, "\"");
		in_double(s, depth);
		str_add(s, "\"");
		break;
	case 2:
		str_add(s, PICK("$'a\\tb'", "$'\\''", "$'\\x41'", "$'\\101\\n'", "$'\\u00e9'", "$'a b'", "$\"x y\"", "$'\\\\'", "$'\\e[0m'", "$'\"'", "$'\\cA'", "$'\\q'", "$'\\0'",
				"$'\\U1F600'", "$'\\x4g'", "$'\\1'"));
		break;
	case 3:
		str_add(s, PICK("\\ ", "\\;", "\\|", "\\&", "\\\"", "\\'", "\\\\", "\\$", "\\#", "\\\n", "\\a", "\\(", "\\)", "\\<", "\\>", "\\`", "\\~", "\\*", "\\é", "\\{"));
		break;
	case 4:
		str_add(s, PICK("$v", "${v}", "$vx", "$1", "$?", "$", "${v:-x}", "${#v}", "$v$w", "${v%%.*}", "${v/a/b}", "${v:1:2}", "$#", "$@", "${v[0]}", "${!v}",
				"${v:-'a b'}", "${v:-\"}\"}", "${v:+$w}", "${v-}}", "${", "${v", "${a b}", "${v@Q}", "$-", "${#}", "$$", "${v^^}"));
		break;
	case 5:
		if (depth > 0) {
			str_add(s, PICK("$(", "$("));
			list(s, depth - 1);
			str_add(s, ")");
		} else {
			str_add(s, PICK("`a`", "`a b`", "$(a)", "$((1+2))", "$((v*(3)))", "`a | b`", "`a;b`", "`a \\$v`", "$(a\n)", "$( )", "``", "$((1)", "$(a"));
		}
		break;
	case 6:
		str_add(s, PICK("#", "a#b", "=", "a=b", "-x", "--long=1", "{", "}", "{a,b}", "{1..3}", "*", "?", "[a-z]", "~", "~/x", "!", "@", "a%", "^", ",", ".", "..", "/", ":"));
		break;
	case 7:
		str_add(s, PICK("é", "日本", "\xc2\xa0", "ñ", "→", "\r", "\x01", "\x7f", "\xff"));
		break;
	default:
		str_add(s, PICK("a", "b", "ls", "foo", "x1", "file.txt", "a/b", "1", "12", "echo", "if", "then", "do", "done", "in", "esac", "time", "function", "]]", "for", "X",
				"long-word", "printf", "_v", "a+", "case"));
	}
}

static void word(struct str *s, int depth)
{
	for (unsigned n = 1 + (dice(3) ? 0 : dice(4)); n; n--)
		piece(s, depth);
}

static void blank(struct str *s)
{
	str_add(s, dice(12) ? " " : PICK("  ", "\t", " \\\n", " \\\n ", "\\\n "));
}

static void redirection(struct str *s, int depth)
{
	switch (dice(10)) {
	case 0: case 1: {
		const char *end = PICK("E", "EOF", "'E'", "\"E\"", "\\E", "E", "-E", "-'E'");
		const char *plain = *end == '-' ? end + 1 : end;
		plain += *plain == '\'' || *plain == '"' || *plain == '\\';

		str_addf(s, "<<%s", end);
		for (unsigned n = dice(4); n; n--)
			str_addf(&here, "%s%s\n", *end == '-' && dice(2) ? "\t" : "",
				 PICK("text", "$v", "$(a b)", "`a`", "it's", "\"", "\\$x", " E", "E ", "", "a\\", "# c", "${v}", "é", "EO", "$(a", ")", "\\\\", "`"));
		str_addf(&here, "%s%.*s\n", *end == '-' ? "\t" : "", (int)strcspn(plain, "'\""), plain);
		break;
	}
	case 1 + 1:
		str_add(s, "<<<");
		word(s, depth);
		break;
	default:
		str_add(s, PICK(">", ">>", "2>", "<", "2>&1", ">&2", "&>", "&>>", ">|", "<>", "3<", "2>&1", "{fd}>", "<&", ">&", "12>"));
		if (s->s[s->len - 1] == '>' || s->s[s->len - 1] == '<' || s->s[s->len - 1] == '|') {
			if (dice(2))
				str_add(s, " ");
			str_add(s, PICK("f", "/dev/null", "\"f g\"", "$v", "f", "&", ""));
		}
	}
}

static void simple(struct str *s, int depth)
{
	if (!dice(12)) {
		str_add(s, PICK("u=", "u=1", "u='a b'", "u+=x", "u[0]=1", "u=(a b)", "u=(\na\n'b c' )", "u=$w", "1u=2", "u=\"$(a)\"", "u[a b]=1", "'u'=1", "u=a\\ b"));
		blank(s);
	}
	if (!dice(20)) {
		redirection(s, depth);
		blank(s);
	}
	if (dice(4))
		str_add(s, PICK("a", "b", "echo", "git commit", "ls -l", "printf", "x", "\"a b\"", "foo.sh", "declare", "export", "[", "./run", "/bin/cat", "ca\\\nt"));
	else
		word(s, depth);
	for (unsigned n = dice(5); n; n--) {
		blank(s);
		if (dice(9))
			word(s, depth);
		else
			redirection(s, depth);
	}
	if (!dice(30))
		str_add(s, PICK(" #comment", " # it's", " #\"", " # $(a)", "#x"));
}

static void compound(struct str *s, int depth)
{
	switch (dice(11)) {
	case 0: str_add(s, "("); list(s, depth); str_add(s, ")"); break;
	case 1: str_add(s, "{ "); list(s, depth); str_add(s, PICK("; }", "; }", "\n}", " }", ";}")); break;
	case 2: str_add(s, "if "); list(s, depth); str_add(s, PICK("; then ", "\nthen\n", " then ")); list(s, depth);
		str_add(s, PICK("; fi", "\nfi", "; else b; fi", "; elif c; then d; fi", "; else; fi", " fi")); break;
	case 3: str_add(s, PICK("for u in a; do ", "for u in 'a b' $w\ndo ", "for u; do ", "for u do ", "for ((u=0;u<1;u++)); do ", "for 1 in a; do ", "for u in\ndo "));
		list(s, depth); str_add(s, PICK("; done", "\ndone", "; done >f", "; done | x", " done")); break;
	case 4: str_add(s, PICK("case a in a) ", "case $v in\n(a|b) ", "case 'a b' in *) ", "case a in ", "case a in if) "));
		list(s, depth); str_add(s, PICK(";; esac", "\nesac", ";; b) c ;; esac", ";& *) d;; esac", "; esac", ";;\n\nesac", ";; b) esac")); break;
	case 5: str_add(s, PICK("[[ a == b ]]", "[[ -f $v && ! -d x ]]", "[[ a =~ ^(a|b)$ ]]", "[[ ( a < b ) || c ]]", "[[ a == @(x|y)* ]]", "[[ -n \"$v\" ]]", "[[ a ]] && b", "[[ a b ]]",
				"[[ a =~ [[:space:]]+x ]]", "[[ $v == 'x y' ]]", "[[ ! a ]]", "[[ a -eq 1 ]]", "[[ -f ]]", "[[ a\n]]", "[[\na ]]", "[[ a &&\nb ]]", "[[ a =~ a|b ]]")); break;
	case 6: str_add(s, PICK("((v=1+2))", "(( v > 3 ))", "((a);b)", "((v<<2))", "(( (1) ))", "((v))x", "(('a'))")); break;
	case 7: str_add(s, PICK("f() ", "function f ", "f () ", "function f() ", "f ( ) ", "f()\n", "\"f\"() ", "if() ")); str_add(s, PICK("{ ", "( ", "{\n"));
		list(s, depth); str_add(s, PICK("; }", ")", "\n}", "; } >f")); break;
	case 8: str_add(s, PICK("! ", "time ", "time -p ", "! ! ", "coproc ", "!")); simple(s, depth); break;
	case 9: str_add(s, "{ "); list(s, depth); str_add(s, PICK("; } >f", "; } 2>&1", "; } <f x", "; } | x", "; } && y", "; } 2> f")); break;
	default: str_add(s, PICK("if a; then b; fi c", "( a ) b", "{ a }", "()", "{ }", "then", "}", ")", "fi", "a() b", "if", "while", ";;", "&", "a &", "a & b", "a;; b", "if a; then fi", "select v in a; do b; done"));
	}
}

static void list(struct str *s, int depth)
{
	for (unsigned n = 1 + dice(3); n; n--) {
		if (depth > 0 && !dice(4))
			compound(s, depth - 1);
		else
			simple(s, depth);
		if (n > 1)
			str_add(s, PICK(";", "; ", " && ", " | ", " ; ", "&&", "|", " && \\\n ", " |\n", "&& \n ", "|& ", " || "));
		if (here.len || !dice(15))
			end_line(s);
	}
	if (here.len)
		end_line(s);
}

static void damage(struct str *s)
{
	for (unsigned n = dice(4) ? 0 : 1 + dice(3); n && s->len; n--) {
		const size_t at = dice((unsigned)s->len);

		switch (dice(3)) {
		case 0:
			s->s[at] = *PICK("'", "\"", "\\", "$", "(", ")", "`", "{", "}", ";", "|", "&", "\n", "#", " ", "<", ">", "=", "[", "]");
			break;
		case 1:
			memmove(s->s + at, s->s + at + 1, s->len - at);
			s->len--;
			break;
		default:
			s->len = at;
			s->s[at] = '\0';
		}
	}
}

/*
 * With && and || between commands some are not run; while and until might go on for ever; a variable may be one of bash's own, and a text
 * that is a number somewhere is evaluated. */
static bool may_run(const char *text)
{
	static const char *const words[] = { "while", "until", "((", "select", "coproc", "builtin", "<(", ">(", "PATH", "IFS", "BASH", "exec ", "[$(", "@P" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(text, words[i]))
			return false;
	/* a command in the background may write after the end of its text */
	for (const char *s = strchr(text, '&'); s; s = strchr(s + 1, '&'))
		if (s[1] != '&' && s[1] != '>' && (s == text || !strchr("&|<>\\", s[-1])))
			return false;
	return true;
}

struct sample { char *text, *given; struct shell shell, changed; bool understood; };

static void make_sample(struct sample *s, char *text, struct judge *j)
{
	*s = (struct sample){ .text = text };
	s->understood = shell_parse(&s->shell, s->text, strlen(s->text));
	s->given = s->understood && may_run(s->text) ? for_bash(&s->shell, &s->changed) : NULL;
	judge_ask(j, 's', s->text, strlen(s->text));
	if (s->given)
		judge_ask(j, 'w', s->given, strlen(s->given));
}

static char *generate(void)
{
	struct str text = STR_INIT;

	list(&text, 2);
	str_free(&here);
	damage(&text);
	return str_take(&text);
}

struct totals { size_t texts, understood, refused, compared; };

static void judge_sample(struct sample *s, struct judge *j, struct totals *t)
{
	struct recorded none;
	bool taken, ran = true;

	cr_assert_not(judge_next(j, &none, &taken), "bash wrote late: '%s' '%s', before\n%s", none.words[0], none.n > 1 ? none.words[1] : "", s->text);
	_cleanup_free_ char *shown = str_escape(s->text);
	cr_assert(taken || !s->understood, "understood, but bash -n does not take it:\n%s", shown);
	t->understood += s->understood;
	t->refused += taken && !s->understood;
	if (getenv("HURDLE_SHOW") && taken && !s->understood)
		fprintf(stderr, "REFUSED %s: %.60s\n", s->shell.error, s->text + s->shell.error_at.start);
	if (s->given)
		t->compared += judge_compare(j, &s->changed, s->given, &ran);
	shell_release(&s->shell);
	shell_release(&s->changed);
	free(s->text);
	free(s->given);
}

static void one_round(size_t n, struct totals *t)
{
	_cleanup_free_ struct sample *samples = xcalloc(n, sizeof(*samples));
	struct judge j;

	if (!judge_begin(&j))
		cr_skip("no bash here");
	for (size_t i = 0; i < n; i++)
		make_sample(&samples[i], generate(), &j);
	judge_run(&j);
	for (size_t i = 0; i < n; i++)
		judge_sample(&samples[i], &j, t);
	judge_end(&j);
}

Test(decide_bash, generated_texts_have_the_words_that_bash_passes)
{
	const char *wish = getenv("HURDLE_TEXTS"), *seed = getenv("HURDLE_SEED");
	const size_t n = wish ? strtoul(wish, NULL, 10) : 2000;
	struct totals t = { 0 };

	state = seed ? strtoull(seed, NULL, 10) : 1;
	for (t.texts = 0; t.texts < n; t.texts += 1000)
		one_round(1000, &t);
	if (wish)
		fprintf(stderr, "%zu texts: %zu understood, %zu of bash's not; %zu words compared\n", t.texts, t.understood, t.refused, t.compared);
	cr_assert_gt(t.understood * 3, t.texts, "%zu of %zu understood", t.understood, t.texts);
	cr_assert_lt(t.refused * 5, t.texts, "%zu of %zu refused although bash takes them", t.refused, t.texts);
	cr_assert_gt(t.compared, t.texts, "%zu words compared", t.compared);
}

/* What bash takes and the lexer does not, in the table: each is meant, and says so there by the detector "malformed". */
Test(decide_bash, rows_of_the_table_have_the_words_that_bash_passes)
{
	struct totals t = { 0 };
	struct table_rows rows;
	struct judge j;

	if (!judge_begin(&j))
		cr_skip("no bash here");
	table_read(&rows);
	_cleanup_free_ struct sample *samples = xcalloc(rows.n, sizeof(*samples));
	for (size_t i = 0; i < rows.n; i++) {
		if (memchr(rows.v[i].command, '\0', rows.v[i].len))
			rows.v[i].command[0] = '\0';
		make_sample(&samples[i], xstrdup(rows.v[i].command), &j);
		cr_assert(samples[i].understood || !strcmp(rows.v[i].detector, "malformed") || !strcmp(rows.v[i].detector, "incomplete"), "line %d: %s", rows.v[i].line,
			  samples[i].shell.error);
	}
	judge_run(&j);
	for (size_t i = 0; i < rows.n; i++)
		judge_sample(&samples[i], &j, &t);
	judge_end(&j);
	cr_assert_gt(t.understood, rows.n * 9 / 10, "%zu of %zu", t.understood, rows.n);
	cr_assert_lt(t.refused, 20, "%zu", t.refused);
	cr_assert_gt(t.compared, rows.n, "%zu words", t.compared);
	table_free(&rows);
}
