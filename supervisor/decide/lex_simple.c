/* Simple commands: assignments, words, redirections; and the name of a function, which begins like one. */
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/decide/lexer_private.h"

/* name= name+= name[...]= at the beginning of the raw word: offset after the "=", or 0. */
static uint32_t assignment_length(const struct lex *x, const struct word *w)
{
	const char *s = x->s + w->raw.start;
	const uint32_t n = w->raw.end - w->raw.start;
	uint32_t k = 0;

	while (k < n && lex_is_name(s[k]) && (k || !lex_is_digit(s[k])))
		k++;
	if (k && k < n && s[k] == '[') {
		while (k < n && s[k] != ']')
			k++;
		k += k < n;
	}
	k += k && k + 1 < n && s[k] == '+' && s[k + 1] == '=';
	return k && k < n && s[k] == '=' ? k + 1 : 0;
}

/* Words in parentheses after name=, up to the closing one. */
static bool array(struct lex *x, uint32_t owner)
{
	const uint32_t start = x->i++;

	if (x->timed) /* which bash 5.2 takes or not, depending on where it stands */
		return lex_fail(x, start, x->i, "a list of values after time");
	for (;;) {
		uint32_t word;

		if (!lex_newlines(x, NULL))
			return false;
		if (lex_peek(x) < 0)
			return lex_fail(x, start, x->end, "a parenthesis that is not closed");
		if (lex_peek(x) == ')')
			break;
		if (!lex_word(x, MODE_PLAIN, &word))
			return false;
		const struct word *w = &x->sh->words[word];
		if (x->s[w->raw.start] == '[' && !memchr(x->s + w->raw.start, ']', w->raw.end - w->raw.start))
			return lex_fail(x, w->raw.start, w->raw.end, "a subscript that is more than a name or a number");
		lex_link(x, word, owner, WORD_ARRAY);
	}
	x->i++;
	return lex_is_break(lex_peek(x)) && lex_peek(x) != '(' ? true : lex_unexpected(x);
}

/* What bash itself reads as declarations, so that lists in parentheses are arguments of it. */
static bool declares(const struct lex *x, const struct shell_command *c)
{
	static const char *const names[] = { "declare", "typeset", "local", "export", "readonly", "alias" };
	const struct word *name = c->name == NO_INDEX ? NULL : &x->sh->words[c->name];

	for (size_t k = 0; name && k < ARRAY_SIZE(names); k++)
		if (names[k][0] == word_value(x->sh, name)[0] && !(name->flags & WORD_QUOTED) && word_is(x->sh, name, names[k]))
			return true;
	return false;
}

/* A word that may be an assignment: it stands before the name, or after a declaration. */
static bool maybe_assignment(struct lex *x, uint32_t owner, uint32_t word, bool before, bool *ret)
{
	const struct word *w = &x->sh->words[word];
	const uint32_t n = assignment_length(x, w);
	const char *s = x->s + w->raw.start;
	const uint32_t len = w->raw.end - w->raw.start;
	bool simple = true;

	*ret = n > 0;
	if ((w->flags & WORD_JOINED) && memchr(word_value(x->sh, w), '=', w->len))
		return lex_fail(x, w->raw.start, w->raw.end, "an assignment over two lines");
	for (uint32_t k = 0; k < len && simple; k++) {
		/* bash reads a subscript up to its bracket, blanks and all */
		if (s[k] == '[')
			return n || !k || !lex_is_identifier(s, k) || memchr(s + k, ']', len - k) ? true :
				lex_fail(x, w->raw.start, w->raw.end, "a subscript that is more than a name or a number");
		simple = lex_is_name(s[k]);
	}
	if (!n || n != len || lex_peek(x) != '(')
		return true;
	lex_link(x, word, owner, before ? WORD_ASSIGNMENT : 0);
	return array(x, owner);
}

/* At the parenthesis after the first word of what would have been a simple command. */
static bool function(struct lex *x, uint32_t owner)
{
	struct shell_command *c = &x->sh->commands[owner];
	const struct word *w = &x->sh->words[c->first];

	if (c->first != c->last || c->raw.start != w->raw.start || (w->flags & (WORD_QUOTED | WORD_UNKNOWN | WORD_GLOB | WORD_BRACES | WORD_TILDE)))
		return lex_unexpected(x);
	x->i++;
	if (!lex_blanks(x) || lex_peek(x) != ')')
		return lex_unexpected(x);
	x->i++;
	c->kind = SHELL_FUNCTION;
	c->raw.end = x->i;
	x->sh->words[c->first].flags |= WORD_PLACE;
	return lex_function_body(x);
}

/* Moves to it over blanks, or stays. */
static bool parenthesis_follows(struct lex *x)
{
	uint32_t i = x->i;

	while (lex_at(x, i) == ' ' || lex_at(x, i) == '\t' || lex_is_joined(x, i))
		i += lex_at(x, i) == '\\' ? 2 : 1;
	if (lex_at(x, i) != '(')
		return false;
	x->i = i;
	return true;
}

/* One word of a simple command, with what it turns out to be. *ret_stop: it was a function's name, and all of that was read. */
static bool simple_word(struct lex *x, uint32_t owner, bool *ret_stop)
{
	const bool before = !x->sh->commands[owner].n_words;
	uint32_t word;
	bool assigns = false;

	if (!lex_word(x, MODE_PLAIN, &word))
		return false;
	const struct word *w = &x->sh->words[word];
	if ((lex_peek(x) == '<' || lex_peek(x) == '>') && (lex_is_number(x, w) || lex_is_descriptor_variable(x, w)) && lex_begins_redirect(x))
		return lex_redirect(x, w->raw.start);
	if ((before || declares(x, &x->sh->commands[owner])) && !maybe_assignment(x, owner, word, before, &assigns))
		return false;
	if (x->sh->words[word].command == owner)
		return true;
	lex_link(x, word, owner, before && assigns ? WORD_ASSIGNMENT : 0);
	if (!before || assigns)
		return true;
	/* over two lines; or after a redirection, and bash prints what is inside $( ) with redirections last before it reads it again */
	if (!(x->sh->words[word].flags & WORD_QUOTED) && lex_is_reserved(x, &x->sh->words[word]))
		return lex_fail(x, x->sh->words[word].raw.start, x->i, "a word of the shell's own at an unusual place");
	*ret_stop = parenthesis_follows(x);
	return !*ret_stop || function(x, owner);
}

bool lex_simple(struct lex *x)
{
	const uint32_t owner = lex_new_command(x, SHELL_SIMPLE), outer = x->command, first_redirect = x->sh->n_redirects;
	uint32_t end = x->i;
	bool stop = false;

	x->command = owner;
	while (!stop) {
		if (!lex_blanks(x))
			return false;
		if (lex_begins_redirect(x)) {
			if (!lex_redirect(x, x->i))
				return false;
		} else if (lex_is_break(lex_peek(x)) && !((lex_peek(x) == '<' || lex_peek(x) == '>') && lex_at(x, x->i + 1) == '(')) {
			break;
		} else if (!simple_word(x, owner, &stop)) {
			return false;
		}
		end = stop ? end : x->i;
	}
	x->command = outer;
	if (stop)
		return true;
	/* lex_blanks went on to the operator */
	x->sh->commands[owner].raw.end = end;
	if (x->sh->commands[owner].first == NO_INDEX && x->sh->n_redirects == first_redirect)
		return lex_unexpected(x);
	return lex_peek(x) == '(' ? lex_unexpected(x) : true;
}
