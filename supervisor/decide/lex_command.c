/* The grammar of commands (POSIX XCU 2.10, bash's parse.y), as far as it tells what is a command and what is not. */
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/decide/lexer_private.h"

bool lex_function_body(struct lex *x)
{
	const bool outer = x->in_function;
	const enum reserved r = (enum reserved)(lex_newlines(x, NULL) ? lex_peek_reserved(x) : R_NONE);
	bool fine;

	if (lex_peek(x) != '(' && (r == R_NONE || r >= R_FUNCTION))
		return lex_unexpected(x);
	x->in_function = true;
	fine = lex_command(x);
	x->in_function = outer;
	return fine;
}

/* ---- compound commands ---- */

/* Words up to the end of the line or ";" of "for x in". */
static bool loop_words(struct lex *x, uint32_t owner)
{
	for (;;) {
		uint32_t word;

		if (!lex_blanks(x))
			return false;
		if (lex_peek(x) == ';' || lex_peek(x) == '\n')
			return true;
		if (!lex_word(x, MODE_PLAIN, &word))
			return false;
		lex_link(x, word, owner, 0);
	}
}

/* "do list done", or the braces that bash takes as well. */
static bool loop_body(struct lex *x)
{
	unsigned end;

	if (lex_take_reserved(x, R_DO))
		return lex_list(x, END_DONE, &end);
	if (lex_take_reserved(x, R_OPEN))
		return lex_list(x, END_BRACE, &end);
	return lex_unexpected(x);
}

static bool arithmetic_for(struct lex *x)
{
	const uint32_t start = x->i;
	int semicolons = 0;

	x->i += 2;
	if (!lex_arithmetic(x))
		return false;
	for (uint32_t i = start; i < x->i; i++)
		semicolons += x->s[i] == ';';
	if (semicolons != 2)
		return lex_fail(x, start, x->i, "a loop without its three expressions");
	if (!lex_blanks(x))
		return false;
	if (lex_peek(x) == ';' && lex_at(x, x->i + 1) != ';')
		x->i++;
	return lex_newlines(x, NULL) && loop_body(x);
}

static bool for_loop(struct lex *x)
{
	const uint32_t owner = lex_new_command(x, SHELL_LOOP), outer = x->command;
	uint32_t name;
	bool newline = false;

	x->command = owner;
	if (!lex_blanks(x))
		return false;
	if (lex_looking_at(x, "(("))
		return arithmetic_for(x);
	if (!lex_word(x, MODE_PLAIN, &name))
		return false;
	if (!lex_is_identifier(word_value(x->sh, &x->sh->words[name]), x->sh->words[name].len) || (x->sh->words[name].flags & WORD_QUOTED))
		return lex_fail(x, x->sh->words[name].raw.start, x->sh->words[name].raw.end, "a loop without the name of a variable");
	x->sh->words[name].flags |= WORD_PLACE;
	if (!lex_newlines(x, &newline))
		return false;
	if (lex_take_reserved(x, R_IN)) {
		if (!loop_words(x, owner))
			return false;
		x->i += lex_peek(x) == ';' && lex_at(x, x->i + 1) != ';';
	} else if (lex_peek(x) == ';' && !newline) {
		x->i++;
	}
	x->sh->commands[owner].raw.end = x->i;
	x->command = outer;
	return lex_newlines(x, NULL) && loop_body(x);
}

/* One clause after its patterns' parenthesis. *ret_last: it ended with esac. */
static bool clause_list(struct lex *x, bool *ret_last)
{
	unsigned end;
	bool newline;

	/* an empty list is allowed here, and only here */
	if (!lex_newlines(x, &newline))
		return false;
	if (lex_looking_at(x, ";;") || lex_looking_at(x, ";&")) {
		x->i += lex_looking_at(x, ";;&") ? 3 : 2;
		return true;
	}
	*ret_last = lex_take_reserved(x, R_ESAC);
	if (*ret_last)
		return true;
	if (!lex_list(x, END_CLAUSE | END_ESAC, &end))
		return false;
	*ret_last = end == END_ESAC;
	return true;
}

static bool patterns(struct lex *x, uint32_t owner)
{
	for (;;) {
		uint32_t word;

		if (!lex_blanks(x) || !lex_word(x, MODE_PLAIN, &word))
			return false;
		lex_link(x, word, owner, WORD_PLACE);
		if (!lex_blanks(x))
			return false;
		if (lex_peek(x) != '|')
			break;
		x->i++;
	}
	if (lex_peek(x) != ')')
		return lex_unexpected(x);
	x->i++;
	return true;
}

static bool case_command(struct lex *x)
{
	const uint32_t owner = lex_new_command(x, SHELL_CASE), outer = x->command;
	uint32_t word;
	bool last = false;

	x->command = owner;
	if (!lex_blanks(x) || !lex_word(x, MODE_PLAIN, &word) || !lex_newlines(x, NULL))
		return false;
	lex_link(x, word, owner, 0);
	if (!lex_take_reserved(x, R_IN))
		return lex_unexpected(x);
	while (!last) {
		if (!lex_newlines(x, NULL))
			return false;
		last = lex_take_reserved(x, R_ESAC);
		if (last)
			break;
		x->i += lex_peek(x) == '(';
		x->command = owner;
		if (!patterns(x, owner))
			return false;
		x->sh->commands[owner].raw.end = x->i;
		x->command = NO_INDEX;
		if (!clause_list(x, &last))
			return false;
	}
	x->command = outer;
	return true;
}

static bool if_command(struct lex *x)
{
	unsigned end = END_ELIF;

	while (end == END_ELIF)
		if (!lex_list(x, END_THEN, &end) || !lex_list(x, END_ELIF | END_ELSE | END_FI, &end))
			return false;
	return end == END_FI || lex_list(x, END_FI, &end);
}

static bool while_loop(struct lex *x)
{
	unsigned end;

	return lex_list(x, END_DO, &end) && lex_list(x, END_DONE, &end);
}

/* ---- [[ ]] ---- */

static bool cond_or(struct lex *x, uint32_t owner);

static bool cond_word(struct lex *x, uint32_t owner, enum word_mode mode, uint32_t *ret)
{
	if (!lex_blanks(x))
		return false;
	if (lex_is_break(lex_peek(x)) && !(mode == MODE_REGEX && lex_peek(x) == '('))
		return lex_unexpected(x);
	if (!lex_word(x, mode, ret))
		return false;
	lex_link(x, *ret, owner, WORD_PLACE);
	return word_is(x->sh, &x->sh->words[*ret], "]]") ? lex_unexpected(x) : true;
}

static bool is_unary(const struct lex *x, const struct word *w)
{
	const char *s = word_value(x->sh, w);

	return w->flags == WORD_PLACE && w->len == 2 && s[0] == '-' && strchr("abcdefghknoprstuvwxzGLNORS", s[1]);
}

static bool is_binary(const struct lex *x, const struct word *w, enum word_mode *ret)
{
	static const char *const operators[] = { "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef" };

	*ret = MODE_PLAIN;
	if (w->flags != WORD_PLACE)
		return false;
	for (size_t k = 0; k < ARRAY_SIZE(operators); k++)
		if (word_is(x->sh, w, operators[k]))
			return true;
	*ret = word_is(x->sh, w, "=~") ? MODE_REGEX : MODE_PATTERN;
	return *ret == MODE_REGEX || word_is(x->sh, w, "=") || word_is(x->sh, w, "==") || word_is(x->sh, w, "!=");
}

/* After a first operand: nothing, or an operator and a second one. */
static bool cond_binary(struct lex *x, uint32_t owner)
{
	enum word_mode mode = MODE_PLAIN;
	uint32_t word = 0, end;

	if (!lex_blanks(x))
		return false;
	if ((lex_peek(x) == '<' || lex_peek(x) == '>') && lex_at(x, x->i + 1) != '(') {
		x->i++;
		return lex_operator_ends(x) && cond_word(x, owner, MODE_PLAIN, &word);
	}
	if (lex_is_break(lex_peek(x)))
		return true;
	end = x->i;
	if (lex_looking_at(x, "]]") && lex_is_break(lex_at(x, x->i + 2)))
		return true;
	if (!cond_word(x, owner, MODE_PLAIN, &word))
		return false;
	if (!is_binary(x, &x->sh->words[word], &mode))
		return lex_fail(x, end, x->i, "a word that is no operator inside [[ ]]");
	return cond_word(x, owner, mode, &word);
}

static bool cond_term(struct lex *x, uint32_t owner)
{
	uint32_t word = 0;

	if (++x->depth > SHELL_DEPTH_MAX)
		return lex_fail(x, x->i, x->i, "more levels of nesting than are looked at");
	if (!lex_newlines(x, NULL))
		return false;
	if (lex_peek(x) == '(') {
		x->i++;
		if (!cond_or(x, owner) || lex_peek(x) != ')')
			return lex_unexpected(x);
		x->i++;
	} else if (lex_take_reserved(x, R_NOT)) {
		if (!cond_term(x, owner))
			return false;
	} else {
		if (!cond_word(x, owner, MODE_PLAIN, &word))
			return false;
		if (!(is_unary(x, &x->sh->words[word]) ? cond_word(x, owner, MODE_PLAIN, &word) : cond_binary(x, owner)))
			return false;
	}
	x->depth--;
	return lex_blanks(x);
}

static bool cond_or(struct lex *x, uint32_t owner)
{
	do {
		if (!cond_term(x, owner))
			return false;
	} while ((lex_looking_at(x, "&&") || lex_looking_at(x, "||")) && (x->i += 2));
	return true;
}

static bool cond(struct lex *x)
{
	const uint32_t owner = lex_new_command(x, SHELL_COND), outer = x->command;

	x->command = owner;
	if (!cond_or(x, owner))
		return false;
	if (!lex_looking_at(x, "]]") || !lex_is_break(lex_at(x, x->i + 2)))
		return lex_unexpected(x);
	x->i += 2;
	x->sh->commands[owner].raw.end = x->i;
	x->command = outer;
	return true;
}

/* ---- commands ---- */

static bool parentheses(struct lex *x)
{
	const uint32_t start = x->i;
	unsigned end;

	if (!lex_looking_at(x, "((")) {
		x->i++;
		return lex_list(x, END_PAREN, &end);
	}
	const uint32_t owner = lex_new_command(x, SHELL_ARITH), outer = x->command;
	x->command = owner;
	x->i += 2;
	if (!lex_arithmetic(x))
		return false;
	x->sh->commands[owner].raw = (struct place){ start, x->i };
	x->command = outer;
	return true;
}

static bool named_function(struct lex *x)
{
	const uint32_t owner = lex_new_command(x, SHELL_FUNCTION);
	uint32_t word;

	if (!lex_blanks(x) || !lex_word(x, MODE_PLAIN, &word))
		return false;
	if (x->sh->words[word].flags & ~(unsigned)WORD_JOINED)
		return lex_unexpected(x);
	lex_link(x, word, owner, WORD_PLACE);
	x->sh->commands[owner].raw.end = x->i;
	if (!lex_blanks(x))
		return false;
	if (lex_peek(x) == '(') {
		x->i++;
		if (!lex_blanks(x) || lex_peek(x) != ')')
			return lex_unexpected(x);
		x->i++;
	}
	return lex_function_body(x);
}

static bool compound(struct lex *x, enum reserved r)
{
	unsigned end;

	switch (r) {
	case R_IF:       return if_command(x);
	case R_WHILE:
	case R_UNTIL:    return while_loop(x);
	case R_FOR:
	case R_SELECT:   return for_loop(x);
	case R_CASE:     return case_command(x);
	case R_OPEN:     return lex_list(x, END_BRACE, &end);
	case R_COND:     return cond(x);
	case R_FUNCTION: return named_function(x);
	default:         return parentheses(x);
	}
}

bool lex_command(struct lex *x)
{
	uint32_t end = x->i;
	const int k = lex_reserved_at(x, &end);
	const enum reserved r = k < 0 ? R_NONE : lex_reserved_id(k);

	if (lex_peek(x) != '(' && r == R_NONE)
		return lex_simple(x);
	if (r > R_FUNCTION)
		return lex_unexpected(x);
	if (++x->depth > SHELL_DEPTH_MAX)
		return lex_fail(x, x->i, x->i + 1, "more levels of nesting than are looked at");
	if (r != R_NONE)
		x->i = end;
	x->lists++;
	if (!compound(x, r))
		return false;
	x->lists--;
	x->depth--;
	return lex_redirects(x);
}

/* ---- lists ---- */

static bool take_option(struct lex *x, const char *option)
{
	if (!lex_blanks(x))
		return false;
	if (lex_looking_at(x, option) && lex_is_break(lex_at(x, x->i + 2)))
		x->i += 2;
	return true;
}

static bool prefixes(struct lex *x)
{
	x->timed = false;
	for (;;) {
		if (!lex_blanks(x))
			return false;
		if (lex_take_reserved(x, R_TIME)) {
			x->timed = true;
			if (!take_option(x, "-p") || !take_option(x, "--"))
				return false;
		} else if (!lex_take_reserved(x, R_NOT)) {
			return true;
		}
	}
}

static bool pipeline(struct lex *x)
{
	bool from = false;

	if (!prefixes(x))
		return false;
	for (;;) {
		const uint32_t first = x->sh->n_commands;
		const bool direct = lex_peek(x) != '(' && lex_peek_reserved(x) == R_NONE;

		if (!lex_command(x) || !lex_blanks(x))
			return false;
		/* the first of what it added is the command itself; those of its substitutions follow */
		if (direct && from)
			x->sh->commands[first].piped_from = true;
		if (lex_peek(x) != '|' || lex_at(x, x->i + 1) == '|')
			return true;
		if (direct)
			x->sh->commands[first].piped_to = true;
		x->i += lex_at(x, x->i + 1) == '&' ? 2 : 1;
		from = true;
		if (!lex_operator_ends(x) || !lex_newlines(x, NULL))
			return false;
	}
}

static bool and_or(struct lex *x)
{
	for (;;) {
		if (!pipeline(x) || !lex_blanks(x))
			return false;
		if (!lex_looking_at(x, "&&") && !lex_looking_at(x, "||"))
			return true;
		x->i += 2;
		if (!lex_newlines(x, NULL))
			return false;
	}
}

/* What ends a list at this place, taken; 0 when nothing does. */
static unsigned take_end(struct lex *x)
{
	uint32_t end = x->i;
	int k;

	if (lex_peek(x) < 0)
		return END_TEXT;
	if (lex_peek(x) == ')') {
		x->i++;
		return END_PAREN;
	}
	if (lex_looking_at(x, ";;") || lex_looking_at(x, ";&")) {
		x->i += lex_looking_at(x, ";;&") ? 3 : 2;
		return END_CLAUSE;
	}
	k = lex_reserved_at(x, &end);
	if (k < 0 || !lex_reserved_end(k))
		return 0;
	x->i = end;
	return lex_reserved_end(k);
}

/* After a command: the ";", "&" or newlines that let another one follow. */
static bool separator(struct lex *x, bool *ret)
{
	const int c = lex_peek(x);

	*ret = false;
	if ((c == ';' && lex_at(x, x->i + 1) != ';' && lex_at(x, x->i + 1) != '&') || (c == '&' && lex_at(x, x->i + 1) != '&')) {
		x->i++;
		*ret = true;
		return lex_operator_ends(x);
	}
	*ret = c == '\n';
	return true;
}

bool lex_list(struct lex *x, unsigned ends, unsigned *ret)
{
	bool separated = true, any = false, newline;

	for (;;) {
		const uint32_t before = x->i;

		if (!lex_newlines(x, &newline))
			return false;
		const uint32_t at = x->i;
		const unsigned end = take_end(x);
		if (end & ends) {
			*ret = end;
			return any || (ends & END_EMPTY) ? true : lex_unexpected(x);
		}
		if (end || !(separated || newline)) {
			x->i = at;
			return lex_unexpected(x);
		}
		if (any && newline && !x->lists)
			lex_mark(x, MARK_NEWLINE, before, at);
		any = true;
		if (!and_or(x) || !separator(x, &separated))
			return false;
	}
}
