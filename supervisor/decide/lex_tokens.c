/* Reserved words and redirections: what commands of every kind are made of besides words. */
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "supervisor/decide/lexer_private.h"

static const struct { const char *text; enum reserved id; unsigned end; } reserved_words[] = {
	{ "if", R_IF, 0 }, { "while", R_WHILE, 0 }, { "until", R_UNTIL, 0 }, { "for", R_FOR, 0 }, { "select", R_SELECT, 0 },
	{ "case", R_CASE, 0 }, { "{", R_OPEN, 0 }, { "[[", R_COND, 0 }, { "function", R_FUNCTION, 0 }, { "coproc", R_COPROC, 0 },
	{ "time", R_TIME, 0 }, { "!", R_NOT, 0 }, { "then", R_THEN, END_THEN }, { "else", R_ELSE, END_ELSE }, { "elif", R_ELIF, END_ELIF },
	{ "fi", R_FI, END_FI }, { "do", R_DO, END_DO }, { "done", R_DONE, END_DONE }, { "}", R_CLOSE, END_BRACE },
	{ "esac", R_ESAC, END_ESAC }, { "]]", R_COND_END, 0 }, { "in", R_IN, 0 },
};

/* The reserved word at the place, which is not taken; an index into the table, or -1. Only plain letters make one. */
int lex_reserved_at(const struct lex *x, uint32_t *ret_end)
{
	uint32_t n = 0, to;

	for (int c = lex_peek(x); n <= 8 && ((c >= 'a' && c <= 'z') || c == '{' || c == '}' || c == '[' || c == ']' || c == '!'); c = lex_at(x, x->i + n))
		n++;
	for (to = x->i + n; lex_is_joined(x, to);)
		to += 2;
	if (!n || !lex_is_break(lex_at(x, to)))
		return -1;
	for (size_t k = 0; k < ARRAY_SIZE(reserved_words); k++) {
		if (reserved_words[k].text[0] == x->s[x->i] && strlen(reserved_words[k].text) == n && !memcmp(reserved_words[k].text, x->s + x->i, n)) {
			*ret_end = x->i + n;
			return (int)k;
		}
	}
	return -1;
}

enum reserved lex_peek_reserved(const struct lex *x)
{
	uint32_t end;
	const int k = lex_reserved_at(x, &end);

	return k < 0 ? R_NONE : reserved_words[k].id;
}

bool lex_take_reserved(struct lex *x, enum reserved wanted)
{
	uint32_t end;
	const int k = lex_reserved_at(x, &end);

	if (k < 0 || reserved_words[k].id != wanted)
		return false;
	x->i = end;
	return true;
}

bool lex_unexpected(struct lex *x)
{
	return lex_fail(x, x->i, x->i + (x->i < x->end), x->i < x->end ? "something that does not belong here" : "an end in the middle of a command");
}

bool lex_looking_at(const struct lex *x, const char *text)
{
	const size_t n = strlen(text);

	return x->end - x->i >= n && !memcmp(x->s + x->i, text, n);
}

bool lex_is_identifier(const char *s, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (!lex_is_name(s[k]))
			return false;
	return n > 0 && !lex_is_digit(s[0]);
}

unsigned lex_reserved_end(int k)
{
	return reserved_words[k].end;
}

enum reserved lex_reserved_id(int k)
{
	return reserved_words[k].id;
}

bool lex_is_reserved(const struct lex *x, const struct word *w)
{
	for (size_t k = 0; k < ARRAY_SIZE(reserved_words); k++)
		if (word_value(x->sh, w)[0] == reserved_words[k].text[0] && word_is(x->sh, w, reserved_words[k].text))
			return true;
	return false;
}

/* ---- redirections ---- */

bool lex_begins_redirect(const struct lex *x)
{
	const int c = lex_peek(x), next = lex_at(x, x->i + 1);

	return ((c == '<' || c == '>') && next != '(') || (c == '&' && next == '>');
}

static enum redirect_kind redirect_operator(struct lex *x, bool *ret_tabs)
{
	/* longest first */
	static const struct { const char *text; enum redirect_kind kind; } operators[] = {
		{ "<<<", REDIRECT_HERE_STRING }, { "<<-", REDIRECT_HERE_DOC }, { "<<", REDIRECT_HERE_DOC }, { "<&", REDIRECT_DUP_IN },
		{ "<>", REDIRECT_IN_OUT }, { "<", REDIRECT_IN }, { ">>", REDIRECT_APPEND }, { ">&", REDIRECT_DUP_OUT },
		{ ">|", REDIRECT_CLOBBER }, { ">", REDIRECT_OUT }, { "&>>", REDIRECT_BOTH_APPEND }, { "&>", REDIRECT_BOTH },
	};
	size_t k = 0;

	while (!lex_looking_at(x, operators[k].text))
		k++;
	x->i += (uint32_t)strlen(operators[k].text);
	*ret_tabs = k == 1;
	return operators[k].kind;
}

/* Its value as written: nothing expands in it, so what would have to is not looked at. */
static bool delimiter(struct lex *x, uint32_t redirect)
{
	struct redirect *r = &x->sh->redirects[redirect];
	const struct word *w = &x->sh->words[r->target];

	if ((w->flags & WORD_UNKNOWN) || memchr(x->s + w->raw.start, '$', w->raw.end - w->raw.start) ||
	    memchr(word_value(x->sh, w), '\n', w->len))
		return lex_fail(x, w->raw.start, w->raw.end, "a here-document with an unusual end");
	r->quoted = w->flags & WORD_QUOTED;
	if (x->n_pending == x->cap_pending) {
		x->cap_pending = x->cap_pending ? x->cap_pending * 2 : 4;
		x->pending = xreallocarray(x->pending, x->cap_pending, sizeof(*x->pending));
	}
	x->pending[x->n_pending].redirect = redirect;
	x->pending[x->n_pending++].substs = x->substs;
	return true;
}

bool lex_is_number(const struct lex *x, const struct word *w)
{
	if ((w->flags & ~(unsigned)WORD_JOINED) || !w->len)
		return false;
	for (uint32_t k = 0; k < w->len; k++)
		if (!lex_is_digit(word_value(x->sh, w)[k]))
			return false;
	return true;
}

/* {name}> opens a descriptor and sets the variable. */
bool lex_is_descriptor_variable(const struct lex *x, const struct word *w)
{
	const char *s = word_value(x->sh, w);

	return !(w->flags & WORD_QUOTED) && w->len > 2 && s[0] == '{' && s[w->len - 1] == '}' && lex_is_identifier(s + 1, w->len - 2);
}

/* start: where the number of a descriptor before it begins. */
bool lex_redirect(struct lex *x, uint32_t start)
{
	const uint32_t index = lex_new_redirect(x);
	bool tabs = false;
	uint32_t word;
	const enum redirect_kind kind = redirect_operator(x, &tabs);

	x->sh->redirects[index].kind = kind;
	x->sh->redirects[index].tabs = tabs;
	x->sh->redirects[index].op = (struct place){ start, x->i };
	if (!lex_operator_ends(x) || !lex_blanks(x) || !lex_word(x, MODE_PLAIN, &word))
		return false;
	/* "> 2> x": the 2 belongs to the second one, so the first has no file */
	if ((lex_peek(x) == '<' || lex_peek(x) == '>') && (lex_is_number(x, &x->sh->words[word]) || lex_is_descriptor_variable(x, &x->sh->words[word])))
		return lex_unexpected(x);
	x->sh->redirects[index].target = word;
	x->sh->words[word].flags |= WORD_TARGET;
	x->sh->words[word].command = x->command;
	return kind == REDIRECT_HERE_DOC ? delimiter(x, index) : true;
}

/* After a compound command. What follows them must be an operator or the end: a reserved word is none there. */
bool lex_redirects(struct lex *x)
{
	bool any = false;

	x->command = NO_INDEX;
	for (;;) {
		uint32_t start;

		if (!lex_blanks(x))
			return false;
		start = x->i;
		while (lex_is_digit(lex_peek(x)))
			x->i++;
		if (!lex_begins_redirect(x) || (x->i != start && lex_peek(x) == '&')) {
			if (x->i != start || (any && !lex_is_break(lex_peek(x))))
				return lex_unexpected(x);
			return true;
		}
		any = true;
		if (!lex_redirect(x, start))
			return false;
	}
}
