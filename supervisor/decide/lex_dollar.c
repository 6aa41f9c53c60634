/* What expands: parameters, substitutions, arithmetic. Nothing of it has a value here; what counts is where it ends. */
#include <string.h>

#include "supervisor/decide/lexer_private.h"

/* From here on the value is not known. */
static void unknown(const struct lex *x, struct word_state *w, unsigned flag, bool quoted)
{
	if (w->known == SIZE_MAX)
		w->known = x->n_buf - w->base;
	w->flags |= flag | (quoted ? 0u : (unsigned)WORD_SPLITS);
}

/* ---- substitutions ---- */

/* The list inside a substitution, with its commands apart from those outside. */
static bool subst(struct lex *x, enum mark_kind kind, uint32_t start, bool quoted, unsigned ends)
{
	const uint32_t word = x->word, command = x->command, outer = x->subst, mark = x->sh->n_marks;
	unsigned end;

	if (++x->depth > SHELL_DEPTH_MAX)
		return lex_fail(x, start, x->i, "more levels of nesting than are looked at");
	lex_mark(x, kind, start, x->i)->quoted = quoted;
	x->sh->marks[mark].first = x->sh->n_commands;
	x->word = x->command = NO_INDEX;
	x->subst = mark;
	x->substs++;
	x->lists++;
	if (!lex_list(x, ends | END_EMPTY, &end))
		return false;
	for (size_t k = 0; k < x->n_pending; k++)
		if (x->pending[k].substs == x->substs)
			return lex_fail(x, start, x->i, "a here-document without its end");
	x->lists--;
	x->substs--;
	x->depth--;
	x->word = word;
	x->command = command;
	x->subst = outer;
	x->sh->marks[mark].end = x->sh->n_commands;
	x->sh->marks[mark].at.end = x->i;
	return true;
}

/* bash takes everything up to the next backtick that no backslash precedes, then removes backslashes: without any it is one reading. */
bool lex_backtick(struct lex *x, struct word_state *w, bool quoted)
{
	const uint32_t start = x->i, outer_end = x->end, mark = x->sh->n_marks;
	const char *close = memchr(x->s + start + 1, '`', x->end - start - 1), *escaped;

	if (!close)
		return lex_fail(x, start, x->end, "a backtick that is not closed");
	escaped = memchr(x->s + start + 1, '\\', (size_t)(close - (x->s + start + 1)));
	if (escaped)
		return lex_fail(x, (uint32_t)(escaped - x->s), (uint32_t)(escaped - x->s) + 1, "a backslash inside backticks");
	unknown(x, w, WORD_SUBST, quoted);
	x->i = start + 1;
	x->end = (uint32_t)(close - x->s);
	if (!subst(x, MARK_BACKTICK, start, quoted, END_TEXT))
		return false;
	x->end = outer_end;
	x->i++;
	x->sh->marks[mark].at.end = x->i;
	return true;
}

bool lex_process(struct lex *x, struct word_state *w)
{
	const uint32_t start = x->i;

	unknown(x, w, WORD_SUBST, true); /* one word, always */
	x->i += 2;
	return subst(x, MARK_PROCESS, start, false, END_PAREN);
}

/* ---- arithmetic: quotes and backslashes have readings of their own there, so there are none ---- */

bool lex_arithmetic(struct lex *x)
{
	const uint32_t start = x->i - 2;
	struct word_state scratch = { .base = x->n_buf };
	uint32_t depth = 0;

	if (++x->depth > SHELL_DEPTH_MAX)
		return lex_fail(x, start, x->i, "more levels of nesting than are looked at");
	for (;;) {
		const int c = lex_peek(x);

		if (c < 0)
			return lex_fail(x, start, x->end, "arithmetic that is not closed");
		if (c == '\'' || c == '"' || c == '\\')
			return lex_fail(x, x->i, x->i + 1, "a quote inside arithmetic");
		if (c == '$' || c == '`') {
			if (!(c == '$' ? lex_dollar(x, &scratch, true) : lex_backtick(x, &scratch, true)))
				return false;
			x->n_buf = scratch.base;
			continue;
		}
		x->i++;
		if (c == '(')
			depth++;
		if (c == ')' && !depth--)
			break;
	}
	if (lex_peek(x) != ')')
		return lex_fail(x, start, x->i, "two parentheses that may be arithmetic or not");
	x->i++;
	x->depth--;
	return true;
}

/* ---- parameters ---- */

/* What follows the operator in ${x:-...}, up to the brace. */
static bool parameter_word(struct lex *x, struct word_state *w, uint32_t start, bool quoted)
{
	while (lex_peek(x) != '}') {
		const int c = lex_peek(x);
		bool fine = true;

		if (c < 0)
			return lex_fail(x, start, x->end, "a ${ that is not closed");
		if (c == '\'' && quoted)
			return lex_fail(x, x->i, x->i + 1, "a single quote inside ${ } inside double quotes");
		if ((c == '<' || c == '>') && lex_at(x, x->i + 1) == '(')
			return lex_fail(x, x->i, x->i + 2, "a process substitution inside ${ }");
		if (c == '\\' && lex_at(x, x->i + 1) >= 0)
			x->i += 2;
		else if (c == '\'')
			fine = lex_single_quotes(x, w);
		else if (c == '"')
			fine = lex_double_quotes(x, w);
		else if (c == '$')
			fine = lex_dollar(x, w, quoted);
		else if (c == '`')
			fine = lex_backtick(x, w, quoted);
		else
			x->i++;
		if (!fine)
			return false;
	}
	return true;
}

static bool subscript(struct lex *x, uint32_t start)
{
	x->i++;
	while (lex_peek(x) != ']') {
		const int c = lex_peek(x);

		if (!lex_is_name(c) && (c < 0 || !strchr("$@*+-#!%/ ", c)))
			return lex_fail(x, start, x->i, "a subscript that is more than a name or a number");
		x->i++;
	}
	x->i++;
	return true;
}

static bool parameter_name(struct lex *x, uint32_t start, struct place *ret)
{
	const int c = lex_peek(x);

	ret->start = x->i;
	if (lex_is_name_start(c)) {
		while (lex_is_name(lex_peek(x)))
			x->i++;
	} else if (lex_is_digit(c)) {
		while (lex_is_digit(lex_peek(x)))
			x->i++;
	} else if (c > 0 && strchr("@*#?$!-", c)) {
		x->i++;
	} else {
		return lex_fail(x, start, x->i + 1, "a ${ that names no parameter");
	}
	ret->end = x->i;
	return lex_peek(x) != '[' || subscript(x, start);
}

static bool braced_parameter(struct lex *x, struct word_state *w, bool quoted)
{
	const uint32_t start = x->i, mark = x->sh->n_marks;
	const size_t value = x->n_buf;
	const unsigned flags = w->flags;
	struct place name;
	int c;

	if (++x->depth > SHELL_DEPTH_MAX)
		return lex_fail(x, start, x->i, "more levels of nesting than are looked at");
	lex_mark(x, MARK_PARAM, start, x->i)->quoted = quoted;
	x->i += 2;
	c = lex_peek(x);
	/* ${#x} ${!x}; but ${#} ${#-x} ${!} are parameters of one character */
	if ((c == '#' || c == '!') && (lex_is_name(lex_at(x, x->i + 1)) || (c == '#' && lex_at(x, x->i + 1) > 0 && strchr("@*", lex_at(x, x->i + 1)))))
		x->i++;
	if (!parameter_name(x, start, &name))
		return false;
	c = lex_peek(x);
	if (c != '}' && (c < 0 || !strchr(":-=+?#%/^,@*", c)))
		return lex_fail(x, start, x->i + 1, "a ${ with something in it that is no operator");
	if (!parameter_word(x, w, start, quoted))
		return false;
	x->i++;
	x->depth--;
	x->n_buf = value;
	/* quotes inside do not quote the word, and the substitutions inside are counted */
	w->flags = flags | (w->flags & (WORD_UNKNOWN | WORD_SPLITS));
	x->sh->marks[mark].at.end = x->i;
	x->sh->marks[mark].name = name;
	return true;
}

static bool plain_parameter(struct lex *x, bool quoted)
{
	const uint32_t start = x->i++;
	struct mark *m;

	if (lex_is_name_start(lex_peek(x)))
		while (lex_is_name(lex_peek(x)))
			x->i++;
	else
		x->i++;
	/* in double quotes bash reads the second half of "$$(" once more */
	if (x->s[x->i - 1] == '$' && lex_peek(x) > 0 && strchr("({['\"", lex_peek(x)))
		return lex_fail(x, start, x->i + 1, "two dollar signs before a bracket or a quote");
	m = lex_mark(x, MARK_PARAM, start, x->i);
	m->name = (struct place){ start + 1, x->i };
	m->quoted = quoted;
	return lex_is_joined(x, x->i) && lex_is_name(lex_at(x, x->i + 2)) ? lex_fail(x, start, x->i + 3, "a name over two lines") : true;
}

bool lex_dollar(struct lex *x, struct word_state *w, bool quoted)
{
	const uint32_t start = x->i;
	const int next = lex_at(x, start + 1);

	if (next == '(' && lex_at(x, start + 2) == '(') {
		unknown(x, w, WORD_ARITH, quoted);
		x->i += 3;
		return lex_arithmetic(x);
	}
	if (next == '(') {
		unknown(x, w, WORD_SUBST, quoted);
		x->i += 2;
		return subst(x, MARK_DOLLAR_SUBST, start, quoted, END_PAREN);
	}
	if (next == '{' || lex_is_name(next) || (next > 0 && strchr("@*#?$!-", next))) {
		unknown(x, w, WORD_PARAM, quoted);
		return next == '{' ? braced_parameter(x, w, quoted) : plain_parameter(x, quoted);
	}
	if (next == '[')
		return lex_fail(x, start, start + 2, "$[, which is arithmetic in some shells only");
	if (lex_is_joined(x, start + 1))
		return lex_fail(x, start, start + 3, "a dollar sign at the end of a joined line");
	lex_put(x, x->s[x->i++]);
	return true;
}

bool lex_here_body(struct lex *x, uint32_t redirect)
{
	const uint32_t i = x->i, end = x->end, word = x->word, n_marks = x->sh->n_marks;
	const struct place body = x->sh->redirects[redirect].body;
	struct word_state w = { .base = x->n_buf };
	bool fine = true;

	x->word = x->sh->redirects[redirect].target;
	for (x->i = body.start, x->end = body.end; fine && x->i < x->end;) {
		const int c = lex_peek(x);

		if (c == '$')
			fine = lex_dollar(x, &w, true);
		else if (c == '`')
			fine = lex_backtick(x, &w, true);
		else
			x->i += c == '\\' ? 2 : 1;
		x->n_buf = w.base;
	}
	x->i = i;
	x->end = end;
	x->word = word;
	x->sh->redirects[redirect].expands = x->sh->n_marks > n_marks || x->sh->words[x->sh->redirects[redirect].target].flags & WORD_UNKNOWN || w.flags;
	return fine;
}
