#include <stdlib.h>
#include <string.h>

#include "platform/base/str.h"
#include "supervisor/decide/lexer_private.h"

bool lex_fail(struct lex *x, uint32_t start, uint32_t end, const char *error)
{
	if (!x->sh->error) {
		x->sh->error = error;
		x->sh->error_at = (struct place){ start, end < x->sh->len ? end : (uint32_t)x->sh->len };
	}
	return false;
}

/* ---- arrays ---- */

static void *grow(void *array, uint32_t n, uint32_t *cap, size_t size)
{
	if (n < *cap)
		return array;
	*cap = *cap ? *cap * 2 : 32;
	return xreallocarray(array, *cap, size);
}

struct mark *lex_mark(struct lex *x, enum mark_kind kind, uint32_t start, uint32_t end)
{
	struct shell *sh = x->sh;

	sh->marks = grow(sh->marks, sh->n_marks, &sh->cap_marks, sizeof(*sh->marks));
	sh->marks[sh->n_marks] = (struct mark){
		.kind = kind, .at = { start, end }, .word = x->word, .command = x->command, .outer = x->subst, .first = NO_INDEX, .end = NO_INDEX,
	};
	return &sh->marks[sh->n_marks++];
}

uint32_t lex_new_word(struct lex *x)
{
	struct shell *sh = x->sh;

	sh->words = grow(sh->words, sh->n_words, &sh->cap_words, sizeof(*sh->words));
	sh->words[sh->n_words] = (struct word){ .next = NO_INDEX, .before = NO_INDEX, .command = NO_INDEX };
	return sh->n_words++;
}

uint32_t lex_new_command(struct lex *x, enum shell_kind kind)
{
	struct shell *sh = x->sh;

	sh->commands = grow(sh->commands, sh->n_commands, &sh->cap_commands, sizeof(*sh->commands));
	sh->commands[sh->n_commands] = (struct shell_command){
		.kind = kind, .raw = { x->i, x->i }, .first = NO_INDEX, .last = NO_INDEX, .name = NO_INDEX, .subst = x->subst, .in_function = x->in_function,
	};
	return sh->n_commands++;
}

uint32_t lex_new_redirect(struct lex *x)
{
	struct shell *sh = x->sh;

	sh->redirects = grow(sh->redirects, sh->n_redirects, &sh->cap_redirects, sizeof(*sh->redirects));
	sh->redirects[sh->n_redirects] = (struct redirect){ .target = NO_INDEX, .command = x->command };
	if (x->command != NO_INDEX && !sh->commands[x->command].n_redirects++)
		sh->commands[x->command].redirect = sh->n_redirects;
	return sh->n_redirects++;
}

uint32_t lex_add_text(struct lex *x, const char *s, size_t n)
{
	struct shell *sh = x->sh;
	const uint32_t at = sh->n_text;

	if (n + 1 > sh->cap_text - sh->n_text) {
		sh->cap_text = (sh->cap_text + (uint32_t)n + 1) * 2;
		sh->text = xreallocarray(sh->text, sh->cap_text, 1);
	}
	if (n)
		memcpy(sh->text + at, s, n);
	sh->text[at + n] = '\0';
	sh->n_text += (uint32_t)n + 1;
	return at;
}

void lex_put(struct lex *x, char c)
{
	if (x->n_buf == x->cap_buf) {
		x->cap_buf = x->cap_buf ? x->cap_buf * 2 : 256;
		x->buf = xreallocarray(x->buf, x->cap_buf, 1);
	}
	x->buf[x->n_buf++] = c;
}

/* ---- between tokens ---- */

bool lex_is_break(int c)
{
	return c < 0 || c == ' ' || c == '\t' || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '(' ||
	       c == ')';
}

bool lex_is_joined(const struct lex *x, uint32_t i)
{
	return lex_at(x, i) == '\\' && lex_at(x, i + 1) == '\n';
}

bool lex_blanks(struct lex *x)
{
	for (;;) {
		const int c = lex_peek(x);

		if (c == ' ' || c == '\t') {
			x->i++;
		} else if (lex_is_joined(x, x->i)) {
			x->i += 2;
		} else if (c == '#') {
			const char *newline = memchr(x->s + x->i, '\n', x->end - x->i);
			const uint32_t to = newline ? (uint32_t)(newline - x->s) : x->end;

			lex_mark(x, MARK_COMMENT, x->i, to);
			x->i = to;
		} else {
			return true;
		}
	}
}

/* bash looks for the second character of an operator past a joined line. Nobody writes that. */
bool lex_operator_ends(struct lex *x)
{
	uint32_t i = x->i;
	int c;

	if (!lex_is_joined(x, i))
		return true;
	while (lex_is_joined(x, i))
		i += 2;
	c = lex_at(x, i);
	return c >= 0 && strchr("<>&|;(-", c) ? lex_fail(x, x->i, i + 1, "an operator that goes on in the next line") : true;
}

/* ---- here-documents ---- */

/* Bytes up to the newline, which is not one of them, or to the end. */
static uint32_t line_end(const struct lex *x, uint32_t i)
{
	const char *newline = memchr(x->s + i, '\n', x->end - i);

	return newline ? (uint32_t)(newline - x->s) : x->end;
}

static bool ends_joined(const struct lex *x, uint32_t start, uint32_t end)
{
	uint32_t i = end;

	while (i > start && x->s[i - 1] == '\\')
		i--;
	return ((end - i) & 1) != 0;
}

/* The line at x->i, joined lines with it; leaves x->i at the next one. *ret: it is the delimiter. */
static bool here_line(struct lex *x, const struct redirect *r, const char *delimiter, size_t n, bool *ret)
{
	uint32_t start = x->i, to;

	while (r->tabs && lex_at(x, start) == '\t')
		start++;
	to = line_end(x, start);
	*ret = to - start == n && !memcmp(x->s + start, delimiter, n);
	while (!r->quoted && !*ret && to < x->end && ends_joined(x, start, to)) {
		if (to - start - 1 <= n && !memcmp(x->s + start, delimiter, to - start - 1))
			return lex_fail(x, start, to, "a here-document's end that may be spread over two lines");
		start = to + 1;
		to = line_end(x, start);
	}
	x->i = to < x->end ? to + 1 : to;
	return true;
}

static bool here_document(struct lex *x, uint32_t index)
{
	const struct word *delimiter = &x->sh->words[x->sh->redirects[index].target];
	const struct redirect r = x->sh->redirects[index];
	const uint32_t start = x->i;
	bool found = false;

	while (!found) {
		const uint32_t at = x->i;

		if (at >= x->end)
			return lex_fail(x, r.op.start, delimiter->raw.end, "a here-document without its end");
		if (!here_line(x, &r, x->sh->text + delimiter->value, delimiter->len, &found))
			return false;
		x->sh->redirects[index].body = (struct place){ start, at };
	}
	return r.quoted || lex_here_body(x, index);
}

/*
 * Inside $( ): bash 5.2 prints the list and reads it again, and after a here-document "a; b" has become "a b". So nothing may
 * follow but the end.
 */
static bool here_document_is_last(struct lex *x)
{
	uint32_t i = x->i;

	while (lex_at(x, i) == ' ' || lex_at(x, i) == '\t' || lex_at(x, i) == '\n')
		i++;
	return lex_at(x, i) < 0 || lex_at(x, i) == ')' ? true :
		lex_fail(x, i, i + 1, "more commands after a here-document inside a substitution");
}

static bool here_documents(struct lex *x)
{
	const size_t n = x->n_pending;

	x->n_pending = 0;
	for (size_t k = 0; k < n; k++) {
		const uint32_t index = x->pending[k].redirect;

		if (x->pending[k].substs != x->substs)
			return lex_fail(x, x->sh->redirects[index].op.start, x->i, "a here-document that begins inside something else");
		if (!here_document(x, index))
			return false;
	}
	return !x->substs || here_document_is_last(x);
}

bool lex_newlines(struct lex *x, bool *ret_any)
{
	bool any = false;

	for (;;) {
		if (!lex_blanks(x))
			return false;
		if (lex_peek(x) != '\n')
			break;
		x->i++;
		any = true;
		if (x->n_pending && !here_documents(x))
			return false;
	}
	if (ret_any)
		*ret_any = any;
	return true;
}

/* ---- all of it ---- */

bool shell_parse(struct shell *ret, const char *source, size_t len)
{
	*ret = (struct shell){ .source = source, .len = len };
	struct lex x = { .sh = ret, .s = source, .end = (uint32_t)len, .word = NO_INDEX, .command = NO_INDEX, .subst = NO_INDEX };
	const char *nul = len ? memchr(source, '\0', len) : NULL;
	unsigned end;

	if (len > SHELL_TEXT_MAX)
		return lex_fail(&x, 0, SHELL_TEXT_MAX, "more text than is looked at");
	if (nul)
		return lex_fail(&x, (uint32_t)(nul - source), (uint32_t)(nul - source) + 1, "a NUL byte, where every shell stops reading");
	if (lex_list(&x, END_TEXT | END_EMPTY, &end) && x.n_pending)
		lex_fail(&x, ret->redirects[x.pending[0].redirect].op.start, (uint32_t)len, "a here-document without its end");
	free(x.buf);
	free(x.pending);
	return !ret->error;
}

void shell_release(struct shell *sh)
{
	free(sh->words);
	free(sh->commands);
	free(sh->redirects);
	free(sh->marks);
	free(sh->text);
	*sh = (struct shell){ 0 };
}

bool word_is(const struct shell *sh, const struct word *w, const char *text)
{
	return !(w->flags & WORD_UNKNOWN) && text[0] == word_value(sh, w)[0] && strlen(text) == w->len && !memcmp(word_value(sh, w), text, w->len);
}

size_t command_words(const struct shell *sh, const struct shell_command *c, const struct word **ret, size_t max)
{
	size_t n = 0;

	for (uint32_t i = c->first; i != NO_INDEX && n < max; i = sh->words[i].next)
		if (!(sh->words[i].flags & (WORD_ASSIGNMENT | WORD_ARRAY)))
			ret[n++] = &sh->words[i];
	return n;
}
