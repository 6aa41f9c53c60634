/* Words: quotes, escapes, braces. POSIX XCU 2.2 and 2.6, and bash's parse.y where it has more. */
#include <string.h>

#include "supervisor/decide/lexer_private.h"

static void take(struct lex *x)
{
	lex_put(x, x->s[x->i++]);
}

/* ---- quotes ---- */

bool lex_single_quotes(struct lex *x, struct word_state *w)
{
	const uint32_t start = x->i++;
	const char *close = memchr(x->s + x->i, '\'', x->end - x->i);

	if (!close)
		return lex_fail(x, start, x->end, "a single quote that is not closed");
	while (x->s + x->i < close)
		take(x);
	x->i++;
	w->flags |= WORD_SINGLE;
	lex_mark(x, MARK_SINGLE, start, x->i);
	return true;
}

static void put_utf8(struct lex *x, uint32_t c)
{
	if (c < 0x80) {
		lex_put(x, (char)c);
	} else if (c < 0x800) {
		lex_put(x, (char)(0xc0 | c >> 6));
		lex_put(x, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		lex_put(x, (char)(0xe0 | c >> 12));
		lex_put(x, (char)(0x80 | (c >> 6 & 0x3f)));
		lex_put(x, (char)(0x80 | (c & 0x3f)));
	} else {
		lex_put(x, (char)(0xf0 | c >> 18));
		lex_put(x, (char)(0x80 | (c >> 12 & 0x3f)));
		lex_put(x, (char)(0x80 | (c >> 6 & 0x3f)));
		lex_put(x, (char)(0x80 | (c & 0x3f)));
	}
}

/* Up to max digits of that base; how many there were. */
static int number(struct lex *x, unsigned base, int max, uint32_t *ret)
{
	int n = 0;

	*ret = 0;
	for (; n < max; n++, x->i++) {
		const int c = lex_peek(x);
		const unsigned digit = lex_is_digit(c) ? (unsigned)c - '0' : c >= 'a' && c <= 'f' ? (unsigned)c - 'a' + 10 :
			c >= 'A' && c <= 'F' ? (unsigned)c - 'A' + 10 : 99;

		if (digit >= base)
			break;
		*ret = *ret * base + digit;
	}
	return n;
}

/* After the backslash inside $'...'. A NUL would end the text early, and code points are written as the locale has it: not guessed. */
static bool ansi_escape(struct lex *x)
{
	static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	const uint32_t start = x->i - 1;
	const int c = lex_peek(x);
	const char *known = c > 0 ? strchr(from, c) : NULL;
	uint32_t value = 0;

	if (known) {
		lex_put(x, to[known - from]);
		x->i++;
		return true;
	}
	if (lex_is_digit(c) && c < '8') {
		number(x, 8, 3, &value);
		value &= 0xff;
	} else if (c == 'x' || c == 'u' || c == 'U') {
		x->i++;
		if (!number(x, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8, &value))
			return lex_fail(x, start, x->i, "an escape without its digits");
		if (c != 'x' && (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)))
			return lex_fail(x, start, x->i, "an escape that is no character");
	} else {
		return lex_fail(x, start, x->i + 1, "an escape that shells read in different ways");
	}
	if (!value)
		return lex_fail(x, start, x->i, "an escaped NUL, where bash drops the rest");
	if (c == 'u' || c == 'U')
		put_utf8(x, value);
	else
		lex_put(x, (char)value);
	return true;
}

static bool ansi_quotes(struct lex *x, struct word_state *w)
{
	const uint32_t start = x->i;

	x->i += 2;
	w->flags |= WORD_ANSI;
	while (lex_peek(x) != '\'') {
		if (lex_peek(x) < 0)
			return lex_fail(x, start, x->end, "a $' quote that is not closed");
		if (lex_peek(x) != '\\') {
			take(x);
			continue;
		}
		x->i++;
		if (!ansi_escape(x))
			return false;
	}
	x->i++;
	lex_mark(x, MARK_ANSI, start, x->i);
	return true;
}

bool lex_double_quotes(struct lex *x, struct word_state *w)
{
	const uint32_t start = x->i++;

	w->flags |= WORD_DOUBLE;
	while (lex_peek(x) != '"') {
		const int c = lex_peek(x), next = lex_at(x, x->i + 1);

		if (c < 0)
			return lex_fail(x, start, x->end, "a double quote that is not closed");
		if (c == '\\' && next == '\n') {
			x->i += 2;
		} else if (c == '\\' && next > 0 && strchr("$`\"\\", next)) {
			x->i++;
			take(x);
		} else if (c == '$') {
			if (!lex_dollar(x, w, true))
				return false;
		} else if (c == '`') {
			if (!lex_backtick(x, w, true))
				return false;
		} else {
			take(x);
		}
	}
	x->i++;
	lex_mark(x, MARK_DOUBLE, start, x->i);
	return true;
}

static bool escape(struct lex *x, struct word_state *w)
{
	if (lex_is_joined(x, x->i)) {
		x->i += 2;
		w->flags |= WORD_JOINED;
		return true;
	}
	if (lex_at(x, x->i + 1) < 0)
		return lex_fail(x, x->i, x->i + 1, "a backslash with nothing after it");
	lex_mark(x, MARK_ESCAPE, x->i, x->i + 2);
	w->flags |= WORD_ESCAPE;
	x->i++;
	take(x);
	return true;
}

/* ---- braces ---- */

/* What stands between {a..b}: two numbers or two letters, and perhaps a step. */
static bool is_range(const char *s, const char *end)
{
	int parts = 0;

	for (;;) {
		const bool letter = s < end && lex_is_name_start(*s) && *s != '_';

		s += letter || (s < end && (*s == '-' || *s == '+'));
		if (!letter && (s >= end || !lex_is_digit((unsigned char)*s)))
			return false;
		while (!letter && s < end && lex_is_digit((unsigned char)*s))
			s++;
		parts++;
		if (s == end)
			return parts == 2 || parts == 3;
		if (end - s < 2 || s[0] != '.' || s[1] != '.')
			return false;
		s += 2;
	}
}

static void open_brace(struct lex *x, struct word_state *w)
{
	if (w->depth < BRACE_DEPTH) {
		w->brace[w->depth].at = x->i;
		w->brace[w->depth].comma = w->brace[w->depth].dots = false;
	}
	w->depth++;
}

static void close_brace(struct lex *x, struct word_state *w)
{
	if (!w->depth) {
		w->flags |= WORD_CLOSE_BRACE;
		return;
	}
	if (--w->depth >= BRACE_DEPTH) {
		w->flags |= WORD_BRACES;
		return;
	}
	const uint32_t at = w->brace[w->depth].at;
	if (!w->brace[w->depth].comma && !(w->brace[w->depth].dots && is_range(x->s + at + 1, x->s + x->i)))
		return;
	w->flags |= WORD_BRACES;
	lex_mark(x, MARK_BRACES, at, x->i + 1);
}

static void look_at_brace(struct lex *x, struct word_state *w, int c)
{
	if (c == '{')
		open_brace(x, w);
	else if (c == '}')
		close_brace(x, w);
	else if (w->depth && w->depth <= BRACE_DEPTH && c == ',')
		w->brace[w->depth - 1].comma = true;
	else if (w->depth && w->depth <= BRACE_DEPTH && c == '.' && lex_at(x, x->i + 1) == '.')
		w->brace[w->depth - 1].dots = true;
}

/* ---- the word ---- */

/* In patterns and regular expressions: a parenthesis and all up to the one that closes it. */
static bool group(struct lex *x, struct word_state *w)
{
	const uint32_t start = x->i;
	uint32_t depth = 0;

	do {
		const int c = lex_peek(x);

		if (c < 0)
			return lex_fail(x, start, x->end, "a parenthesis that is not closed");
		if (c == '\'' || c == '"' || c == '`' || c == '\\' || c == '\n')
			return lex_fail(x, x->i, x->i + 1, "a quote inside the parentheses of a pattern");
		if (c == '$' && lex_at(x, x->i + 1) != ')' && lex_at(x, x->i + 1) != '|') {
			if (!lex_dollar(x, w, true))
				return false;
			continue;
		}
		depth += c == '(';
		depth -= c == ')';
		take(x);
	} while (depth);
	return true;
}

static bool opens_group(const struct lex *x, enum word_mode mode, uint32_t start)
{
	if (lex_peek(x) != '(')
		return false;
	if (mode == MODE_REGEX)
		return true;
	return mode == MODE_PATTERN && x->i > start && strchr("@?*+!", x->s[x->i - 1]);
}

/* One character, or one quoted or expanding thing. */
static bool piece(struct lex *x, struct word_state *w, int c)
{
	switch (c) {
	case '\\': return escape(x, w);
	case '\'': return lex_single_quotes(x, w);
	case '"':  return lex_double_quotes(x, w);
	case '`':  return lex_backtick(x, w, false);
	case '<':
	case '>':  return lex_process(x, w);
	case '$':
		if (lex_at(x, x->i + 1) == '\'')
			return ansi_quotes(x, w);
		if (lex_at(x, x->i + 1) == '"') { /* translated, which by default changes nothing */
			x->i++;
			return lex_double_quotes(x, w);
		}
		return lex_dollar(x, w, false);
	case '#':
		lex_mark(x, MARK_HASH, x->i, x->i + 1);
		break;
	case '*': case '?':
		w->flags |= WORD_GLOB;
		break;
	case '[':
		w->bracket = true;
		break;
	case ']': /* a "[" that nothing closes is itself */
		w->flags |= w->bracket ? WORD_GLOB : 0;
		break;
	case '{': case '}': case ',': case '.':
		look_at_brace(x, w, c);
		break;
	default:
		break;
	}
	take(x);
	return true;
}

static bool pieces(struct lex *x, struct word_state *w, enum word_mode mode)
{
	for (;;) {
		const int c = lex_peek(x);

		if (opens_group(x, mode, w->start)) {
			w->flags |= WORD_GLOB;
			if (!group(x, w))
				return false;
			continue;
		}
		if (mode == MODE_REGEX && c == '|') {
			take(x);
			continue;
		}
		if (lex_is_break(c) && !((c == '<' || c == '>') && lex_at(x, x->i + 1) == '('))
			return true;
		if (!piece(x, w, c))
			return false;
	}
}

bool lex_word(struct lex *x, enum word_mode mode, uint32_t *ret)
{
	const uint32_t outer = x->word, index = lex_new_word(x);
	struct word_state w = { .base = x->n_buf, .known = SIZE_MAX, .start = x->i };
	struct word *word;

	x->word = index;
	w.flags = lex_peek(x) == '~' ? WORD_TILDE : 0;
	if (!pieces(x, &w, mode))
		return false;
	if (x->i == w.start)
		return lex_fail(x, x->i, x->i + (x->i < x->end), "a word is missing here");
	w.flags |= w.depth ? WORD_OPEN_BRACE : 0;
	word = &x->sh->words[index];
	word->raw = (struct place){ w.start, x->i };
	word->len = (uint32_t)(x->n_buf - w.base);
	word->value = lex_add_text(x, x->buf + w.base, word->len);
	word->known = w.known == SIZE_MAX ? word->len : (uint32_t)w.known;
	word->flags = w.flags;
	x->n_buf = w.base;
	x->word = outer;
	*ret = index;
	return true;
}

void lex_link(struct lex *x, uint32_t word, uint32_t command, unsigned flags)
{
	struct shell_command *c = &x->sh->commands[command];

	x->sh->words[word].flags |= flags;
	x->sh->words[word].command = command;
	x->sh->words[word].before = c->last;
	if (c->first == NO_INDEX)
		c->first = word;
	else
		x->sh->words[c->last].next = word;
	c->last = word;
	if (flags & (WORD_ASSIGNMENT | WORD_ARRAY))
		return;
	if (!c->n_words++)
		c->name = word;
}
