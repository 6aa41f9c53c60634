#include "supervisor/decide/rules.h"

#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "supervisor/decide/detect_private.h"

enum { CODE_DEPTH = 3 };

/* ---- patterns ---- */

/* Every * of the pattern is any text; two pointers, so no more than pattern times text. */
static bool wildcard(const char *p, const char *end, const char *s)
{
	const char *star = NULL, *back = NULL;

	while (*s) {
		if (p < end && *p == '*') {
			star = ++p;
			back = s;
		} else if (p < end && *p == *s) {
			p++;
			s++;
		} else if (star) {
			p = star;
			s = ++back;
		} else {
			return false;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

bool command_pattern_matches(const char *pattern, const char *text)
{
	size_t n = strlen(pattern);
	const bool arguments = n >= 2 && pattern[n - 1] == '*' && (pattern[n - 2] == ':' || pattern[n - 2] == ' ');

	if (!arguments)
		return wildcard(pattern, pattern + n, text);
	n -= 2;
	if (wildcard(pattern, pattern + n, text))
		return true;
	/* the prefix, a blank, and anything */
	_cleanup_free_ char *longer = strf("%.*s *", (int)n, pattern);
	return wildcard(longer, longer + n + 2, text);
}

/* ---- the texts of a command ---- */

static bool needs_quotes(const struct shell *sh, const struct word *w)
{
	return (w->flags & WORD_UNKNOWN) || !w->len || strpbrk(word_value(sh, w), " \t\n'\"\\");
}

/* The words with one blank between; bare: the first without its directory. */
static char *render(const struct shell *sh, const struct word *const *words, size_t from, size_t n, bool bare)
{
	struct str s = STR_INIT;

	for (size_t i = from; i < n; i++) {
		const char *value = word_value(sh, words[i]), *slash = bare && i == from ? strrchr(value, '/') : NULL;

		if (i > from)
			str_add(&s, " ");
		if (needs_quotes(sh, words[i]))
			str_addn(&s, sh->source + words[i]->raw.start, words[i]->raw.end - words[i]->raw.start);
		else
			str_add(&s, slash ? slash + 1 : value);
	}
	return str_take(&s);
}

static bool rendered_matches(const struct shell *sh, const struct word *const *words, size_t from, size_t n, bool bare, const char *pattern)
{
	_cleanup_free_ char *text = render(sh, words, from, n, bare);

	return command_pattern_matches(pattern, text);
}

static bool code_matches(const char *code, const char *pattern, int depth);

static size_t place_of(const struct shell *sh, const struct word *const *words, size_t n, uint32_t word)
{
	size_t i = 0;

	while (i < n && words[i] != sh->words + word)
		i++;
	return i;
}

/* What the words from there on run: directly, behind find -exec, or as the text of another shell. */
static bool inner_matches(const struct shell *sh, const struct word *const *words, size_t n, const char *pattern, int depth)
{
	for (size_t i = 0; i + 1 < n; i++) {
		const char *value = word_value(sh, words[i]);

		if ((!strcmp(value, "-exec") || !strcmp(value, "-execdir") || !strcmp(value, "-ok") || !strcmp(value, "-okdir")) &&
		    rendered_matches(sh, words, place_of(sh, words, n, unwrap(sh, (uint32_t)(words[i + 1] - sh->words))), n, true, pattern))
			return true;
		if (depth < CODE_DEPTH && ((is_shell_name(sh, words[i]) && i + 2 < n && word_value(sh, words[i + 1])[0] == '-' &&
					    code_matches(word_value(sh, words[i + 2]), pattern, depth + 1)) ||
					   (word_names(sh, words[i], "eval") && code_matches(word_value(sh, words[i + 1]), pattern, depth + 1))))
			return true;
	}
	return false;
}

static bool wide_matches(const struct shell *sh, uint32_t command, const char *pattern, int depth)
{
	const struct word *words[WORDS_MAX];
	const size_t n = sh->commands[command].kind == SHELL_SIMPLE ? command_words(sh, &sh->commands[command], words, WORDS_MAX) : 0;
	const size_t first = n ? place_of(sh, words, n, program_of(sh, command)) : 0;

	if (!n)
		return false;
	return rendered_matches(sh, words, 0, n, false, pattern) || rendered_matches(sh, words, 0, n, true, pattern) ||
	       (first && first < n && rendered_matches(sh, words, first, n, true, pattern)) || inner_matches(sh, words, n, pattern, depth);
}

static bool code_matches(const char *code, const char *pattern, int depth)
{
	struct shell sh;
	bool matches = false;

	shell_parse(&sh, code, strlen(code));
	for (uint32_t i = 0; i < sh.n_commands && !matches; i++)
		matches = wide_matches(&sh, i, pattern, depth);
	shell_release(&sh);
	return matches;
}

static bool narrow_matches(const struct shell *sh, uint32_t command, const char *pattern)
{
	const struct shell_command *c = &sh->commands[command];
	const struct word *words[WORDS_MAX];
	const size_t n = command_words(sh, c, words, WORDS_MAX);

	/* variables before it may change what it does */
	return n && c->first == c->name && c->n_words <= WORDS_MAX && rendered_matches(sh, words, 0, n, false, pattern);
}

bool command_matches(const struct shell *sh, uint32_t command, const char *pattern, bool wide)
{
	const struct shell_command *c = &sh->commands[command];

	if (!pattern)
		return true;
	if (c->kind != SHELL_SIMPLE)
		return false;
	_cleanup_free_ char *raw = strf("%.*s", (int)(c->raw.end - c->raw.start), sh->source + c->raw.start);
	return command_pattern_matches(pattern, raw) || (wide ? wide_matches(sh, command, pattern, 0) : narrow_matches(sh, command, pattern));
}

bool permission_is_bash(const struct permission *r)
{
	return !strcmp(r->tool, "Bash");
}
