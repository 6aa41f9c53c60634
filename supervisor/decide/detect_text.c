/* Detectors that look at the text itself: what a person, or a program that reads less exactly, would see in it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "supervisor/decide/detect_private.h"

/* ---- the beginning ---- */

enum decision detect_incomplete(struct looking *l)
{
	const struct shell *sh = l->sh;
	uint32_t i = 0;

	if (!sh->error && !sh->n_commands)
		return found(l, DECISION_ALLOW, 0, (uint32_t)sh->len, "there is nothing in it to run");
	if (source_at(sh, 0) == '\t')
		return found(l, DECISION_ASK, 0, 1, "it begins with a tab, so it may be part of another text");
	while (isspace((unsigned char)source_at(sh, i)))
		i++;
	if (source_at(sh, i) == '-' && (isalnum((unsigned char)source_at(sh, i + 1)) || source_at(sh, i + 1) == '-'))
		return found(l, DECISION_ASK, i, i + 1, "it begins with an option, so the command is missing");
	if (i < sh->len && strchr("&|;<>)", source_at(sh, i)))
		return found(l, DECISION_ASK, i, i + 1, "it begins with an operator, so what stands before that is missing");
	return DECISION_PASS;
}

enum decision detect_newlines(struct looking *l)
{
	for (uint32_t i = 0; i < l->sh->n_marks; i++)
		if (l->sh->marks[i].kind == MARK_NEWLINE)
			return ask(l, l->sh->marks[i].at, "a second command stands on a line of its own");
	return DECISION_PASS;
}

/* ---- what is not understood ---- */

enum decision detect_malformed(struct looking *l)
{
	const struct shell *sh = l->sh;

	if (sh->error)
		return ask(l, sh->error_at, sh->error);
	for (uint32_t i = 0; i < sh->n_words && sh->n_commands > 1; i++)
		if ((sh->words[i].flags & (WORD_OPEN_BRACE | WORD_CLOSE_BRACE)) && sh->words[i].command != NO_INDEX)
			return ask(l, sh->words[i].raw, "a brace without its other half looks like the shell's grouping, and is none");
	return DECISION_PASS;
}

/* ---- backslashes ---- */

static bool is_name_of(const struct shell *sh, uint32_t word)
{
	const uint32_t command = sh->words[word].command;

	return command != NO_INDEX && sh->commands[command].kind == SHELL_SIMPLE && sh->commands[command].name == word;
}

enum decision detect_escaped_blank(struct looking *l)
{
	const struct shell *sh = l->sh;
	uint32_t word = NO_INDEX;
	bool climbs = false;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];
		const char blank = source_at(sh, m->at.start + 1);

		if (m->kind != MARK_ESCAPE || (blank != ' ' && blank != '\t') || m->word == NO_INDEX)
			continue;
		const struct word *w = &sh->words[m->word];
		if (word != m->word)
			climbs = strstr(word_value(sh, w), "/../");
		word = m->word;
		if (blank == '\t' || is_name_of(sh, m->word) || m->at.start == w->raw.start || m->at.end == w->raw.end || word_value(sh, w)[0] == '-' ||
		    climbs)
			return ask(l, m->at, "a backslash hides a blank, so the words are not the ones that they seem to be");
	}
	return DECISION_PASS;
}

/* Programs for which an operator behind a backslash is an operand. */
static bool takes_operators(struct looking *l, const struct word *w, char operator)
{
	static const struct { const char *name, *operators; } programs[] = {
		{ "find", ";()" }, { "test", "()<>" }, { "[", "()<>" }, { "expr", "()<>|&" }, { "dpkg-query", "" },
	};
	const uint32_t command = w->command;
	const struct shell *sh = l->sh;

	if (command == NO_INDEX)
		return false;
	if (sh->commands[command].kind == SHELL_COND)
		return true;
	for (size_t i = 0; l->programs[command] != NO_INDEX && i < ARRAY_SIZE(programs); i++)
		if (word_names(sh, &sh->words[l->programs[command]], programs[i].name))
			return strchr(programs[i].operators, operator);
	return false;
}

enum decision detect_escaped_operator(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];
		const char c = source_at(sh, m->at.start + 1);

		if (m->kind != MARK_ESCAPE || !c || !strchr(";|&<>()", c) || m->word == NO_INDEX)
			continue;
		const struct word *w = &sh->words[m->word];
		if ((m->at.start != w->raw.start && m->at.end != w->raw.end) || takes_operators(l, w, c))
			continue;
		return ask(l, m->at, "a backslash makes plain text of an operator, which another reader may take for one");
	}
	return DECISION_PASS;
}

/* ---- braces ---- */

/* {1..40}: at most a thousand words. */
static bool is_long_range(const char *s, const char *end)
{
	long from, to;
	const char *dots = memmem(s, (size_t)(end - s), "..", 2);

	if (!dots || !(isdigit((unsigned char)*s) || *s == '-'))
		return false;
	if (end - s > 20)
		return true;
	from = strtol(s, NULL, 10);
	to = strtol(dots + 2, NULL, 10);
	return (from > to ? from - to : to - from) > 1000;
}

/* The word that is run, also behind sudo and its kind. */
static bool is_program(struct looking *l, uint32_t word)
{
	const uint32_t command = l->sh->words[word].command;

	return command != NO_INDEX && (is_name_of(l->sh, word) || l->programs[command] == word);
}

static const char *brace_problem(struct looking *l, const struct mark *m)
{
	const struct shell *sh = l->sh;
	const struct word *w = &sh->words[m->word];
	const char *s = sh->source + m->at.start + 1, *end = sh->source + m->at.end - 1;
	const bool begins = m->at.start == w->raw.start;

	if (is_program(l, m->word))
		return "braces make the name of the command";
	if (is_long_range(s, end))
		return "braces make a very large number of words";
	for (const char *c = s; c < end; c++) {
		if (!isalnum((unsigned char)*c) && !(*c & 0x80) && !strchr("_.,/+-@:={}~%^", *c))
			return "braces hold quotes, patterns or expansions";
		if (begins && *c == '-' && (c == s || c[-1] == ',') && !memmem(s, (size_t)(end - s), "..", 2))
			return "braces make options";
	}
	return NULL;
}

enum decision detect_braces(struct looking *l)
{
	const struct shell *sh = l->sh;
	uint32_t word = NO_INDEX;
	int several = 0;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];

		if (m->kind != MARK_BRACES || m->word == NO_INDEX || (sh->words[m->word].flags & WORD_ASSIGNMENT))
			continue;
		several = m->word == word ? several + 1 : 1;
		word = m->word;
		if (several > 4)
			return ask(l, m->at, "braces make a very large number of words");
		const char *problem = brace_problem(l, m);
		if (problem)
			return ask(l, m->at, problem);
	}
	return DECISION_PASS;
}

/* ---- characters ---- */

static enum decision look_at_control(struct looking *l, uint32_t i, unsigned char c, unsigned char next)
{
	if (c == '\r' && (next == '\n' || !next))
		return found(l, DECISION_ASK, i, i + 1, "a carriage return at the end of a line, as other systems write it, is part of the word before it");
	if (c == '\033' || c == '\b' || c == '\r' || c == 0x7f || c == '\v' || c == '\f')
		return found(l, DECISION_DENY, i, i + 1, "a character that can rewrite the line on a terminal, so nobody sees what is asked; write it as an escape");
	return found(l, DECISION_ASK, i, i + 1, "a control character that does not show");
}

enum decision detect_control(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->len; i++) {
		const unsigned char c = (unsigned char)sh->source[i], next = (unsigned char)source_at(sh, i + 1);

		if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
			return look_at_control(l, i, c, next);
		if (c == 0xc2 && next >= 0x80 && next < 0xa0)
			return found(l, DECISION_DENY, i, i + 2, "a control character of terminals, so nobody sees what is asked");
	}
	return DECISION_PASS;
}

enum glyph { GLYPH_SEEN, GLYPH_BLANK, GLYPH_JOINER, GLYPH_HIDDEN, GLYPH_TURNS };

/* Unicode 15: White_Space, Default_Ignorable_Code_Point, Bidi_Control. */
static enum glyph glyph_of(uint32_t c)
{
	static const struct { uint32_t from, to; enum glyph glyph; } ranges[] = {
		{ 0xa0, 0xa0, GLYPH_BLANK }, { 0xad, 0xad, GLYPH_HIDDEN }, { 0x34f, 0x34f, GLYPH_HIDDEN }, { 0x61c, 0x61c, GLYPH_JOINER },
		{ 0x115f, 0x1160, GLYPH_HIDDEN }, { 0x1680, 0x1680, GLYPH_BLANK }, { 0x17b4, 0x17b5, GLYPH_HIDDEN }, { 0x180b, 0x180f, GLYPH_HIDDEN },
		{ 0x2000, 0x200a, GLYPH_BLANK }, { 0x200b, 0x200b, GLYPH_HIDDEN }, { 0x200c, 0x200f, GLYPH_JOINER }, { 0x2028, 0x2029, GLYPH_HIDDEN },
		{ 0x202a, 0x202e, GLYPH_TURNS }, { 0x202f, 0x202f, GLYPH_BLANK }, { 0x205f, 0x205f, GLYPH_BLANK }, { 0x2060, 0x2065, GLYPH_HIDDEN },
		{ 0x2066, 0x2069, GLYPH_TURNS }, { 0x206a, 0x206f, GLYPH_HIDDEN }, { 0x3000, 0x3000, GLYPH_BLANK }, { 0x3164, 0x3164, GLYPH_HIDDEN },
		{ 0xfe00, 0xfe0f, GLYPH_JOINER }, { 0xfeff, 0xfeff, GLYPH_HIDDEN }, { 0xffa0, 0xffa0, GLYPH_HIDDEN }, { 0xfff0, 0xfff8, GLYPH_HIDDEN },
		{ 0x1d173, 0x1d17a, GLYPH_HIDDEN }, { 0xe0000, 0xe0fff, GLYPH_HIDDEN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return ranges[i].glyph;
	return GLYPH_SEEN;
}

/* Bytes that stand inside quotes, comments or here-documents. */
static unsigned char *quoted_bytes(const struct shell *sh)
{
	unsigned char *table = xcalloc(1, sh->len + 1);

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];

		if (m->kind == MARK_SINGLE || m->kind == MARK_DOUBLE || m->kind == MARK_ANSI || m->kind == MARK_COMMENT)
			memset(table + m->at.start, 1, m->at.end - m->at.start);
	}
	for (uint32_t i = 0; i < sh->n_redirects; i++)
		memset(table + sh->redirects[i].body.start, 1, sh->redirects[i].body.end - sh->redirects[i].body.start);
	return table;
}

static enum decision look_at_glyph(struct looking *l, enum glyph g, uint32_t i, uint32_t n, bool quoted)
{
	const struct shell *sh = l->sh;
	/* a joiner joins two letters of a script that has them, or makes a picture of a sign */
	const bool joins = i && (sh->source[i - 1] & 0x80);

	if (g == GLYPH_TURNS)
		return found(l, DECISION_DENY, i, i + n, "a character that changes the direction of text, so what is seen is not what runs");
	if (g == GLYPH_HIDDEN)
		return found(l, DECISION_ASK, i, i + n, "a character that does not show");
	if (g == GLYPH_BLANK && !quoted)
		return found(l, DECISION_ASK, i, i + n, "a blank that the shell takes for a letter");
	if (g == GLYPH_JOINER && !joins)
		return found(l, DECISION_ASK, i, i + n, "a character that does not show");
	return DECISION_PASS;
}

enum decision detect_unicode(struct looking *l)
{
	const struct shell *sh = l->sh;
	_cleanup_free_ unsigned char *quoted = NULL;

	for (uint32_t i = 0; i < sh->len;) {
		char bytes[5] = { 0 };
		uint32_t code = 0;
		size_t n;

		if (!(sh->source[i] & 0x80)) {
			i++;
			continue;
		}
		memcpy(bytes, sh->source + i, sh->len - i < 4 ? sh->len - i : 4);
		n = str_utf8(bytes, &code);
		if (!n)
			return found(l, DECISION_ASK, i, i + 1, "a byte that is no UTF-8, so every terminal shows it in another way");
		const enum glyph g = glyph_of(code);
		if (g != GLYPH_SEEN && !quoted)
			quoted = quoted_bytes(sh);
		if (g != GLYPH_SEEN && look_at_glyph(l, g, i, (uint32_t)n, quoted[i]) != DECISION_PASS)
			return l->found->decision;
		i += (uint32_t)n;
	}
	return DECISION_PASS;
}

/* ---- comments ---- */

/* The rest of the line, after the word, has more than blanks. */
static bool goes_on(const struct shell *sh, uint32_t i)
{
	while (i < sh->len && strchr(" \t;)}", sh->source[i]))
		i++;
	return i < sh->len && sh->source[i] != '\n';
}

/* s#a#b# is a common way to write it. */
static bool is_sed(const struct shell *sh, const struct word *w)
{
	const uint32_t name = w->command == NO_INDEX ? NO_INDEX : sh->commands[w->command].name;

	return name != NO_INDEX && (word_names(sh, &sh->words[name], "sed") || word_names(sh, &sh->words[name], "perl"));
}

enum decision detect_hash(struct looking *l)
{
	const struct shell *sh = l->sh;
	uint32_t checked = NO_INDEX;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];

		if (m->kind != MARK_HASH || m->word == NO_INDEX || m->word == checked)
			continue;
		const struct word *w = &sh->words[m->word];
		const char before = m->at.start > w->raw.start ? sh->source[m->at.start - 1] : ' ', after = source_at(sh, m->at.end);
		if (!strchr("'\"`)}\\", before) && m->at.end != w->raw.end && after != '\'' && after != '"' && after != '\\')
			continue;
		checked = m->word;
		if (!goes_on(sh, w->raw.end) || strstr(word_value(sh, w), "://") || is_sed(sh, w))
			continue;
		return ask(l, m->at, "this # is part of a word, and what follows is no comment although it looks like one");
	}
	return DECISION_PASS;
}

static bool has_open_quote(const char *s, const char *end)
{
	int single = 0, twice = 0, back = 0;

	for (; s < end; s++) {
		single += *s == '\'';
		twice += *s == '"';
		back += *s == '`';
	}
	return (single | twice | back) & 1;
}

static bool only_blanks(const struct shell *sh, uint32_t i)
{
	while (i < sh->len && isspace((unsigned char)sh->source[i]))
		i++;
	return i == sh->len;
}

enum decision detect_comment(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];

		if (m->kind == MARK_COMMENT && has_open_quote(sh->source + m->at.start, sh->source + m->at.end) && !only_blanks(sh, m->at.end))
			return ask(l, m->at, "the quote in this comment is none, but who counts quotes reads the commands after it as text");
	}
	return DECISION_PASS;
}

/* The last line of what is quoted begins with "#". */
static bool ends_like_comment(const struct shell *sh, const struct mark *m)
{
	const char *start = sh->source + m->at.start, *newline = memrchr(start, '\n', m->at.end - m->at.start);

	if (!newline)
		return false;
	newline += 1 + strspn(newline + 1, " \t");
	return newline < sh->source + m->at.end && *newline == '#';
}

enum decision detect_quoted_comment(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];

		if ((m->kind == MARK_SINGLE || m->kind == MARK_DOUBLE || m->kind == MARK_ANSI) && ends_like_comment(sh, m) && goes_on(sh, m->at.end))
			return ask(l, m->at, "the end of this quoted text looks like a comment, and more of the command follows it");
	}
	return DECISION_PASS;
}
