/* bash as the judge of the shell lexer: which words does it pass, and which texts does it take. */
#pragma once
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "platform/base/sys.h"
#include "supervisor/decide/lexer.h"

enum { JUDGE_WORDS = 512 };

/* ---- what the lexer says that bash will do ---- */

/* A variable of it may have a value. */
static inline bool sets_variables(const struct shell *sh)
{
	for (uint32_t i = 0; i < sh->n_commands; i++)
		if (sh->commands[i].kind == SHELL_LOOP || (sh->commands[i].first != NO_INDEX && sh->commands[i].first != sh->commands[i].name))
			return true;
	return false;
}

/* Every expansion of the word becomes nothing there: the value is the word. */
static inline bool is_predictable(const struct shell *sh, uint32_t index)
{
	const struct word *w = &sh->words[index];

	if (w->flags & (WORD_ARITH | WORD_TILDE))
		return false;
	if (!(w->flags & WORD_UNKNOWN))
		return true;
	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];
		const char *name = sh->source + m->name.start;

		if (m->word != index)
			continue;
		if (m->kind == MARK_PROCESS)
			return false;
		/* lower case names are not set */
		if (m->kind == MARK_PARAM && (sets_variables(sh) || sh->source[m->at.start + 1] == '{' || !(*name >= 'a' && *name <= 'z')))
			return false;
	}
	return true;
}

/* It leaves a word although it is empty. */
static inline bool stays(const struct word *w)
{
	return w->len || (w->flags & WORD_QUOTED);
}

struct recorded { size_t n; const char *words[JUDGE_WORDS]; };

static inline bool words_match(const struct shell *sh, const struct word *const *words, size_t n, const struct recorded *r, size_t at)
{
	for (size_t i = 0; i < n; i++) {
		const struct word *w = words[i];

		if (is_predictable(sh, (uint32_t)(w - sh->words))) {
			if (!stays(w) && (w->flags & WORD_UNKNOWN))
				continue;
			if (at >= r->n || strlen(r->words[at]) != w->len || memcmp(r->words[at], word_value(sh, w), w->len))
				return false;
			at++;
			continue;
		}
		for (size_t k = at; k <= r->n; k++)
			if (words_match(sh, words + i + 1, n - i - 1, r, k))
				return true;
		return false;
	}
	return at == r->n;
}

/* Every simple command of it is run exactly once. */
static inline bool runs_all(const struct shell *sh)
{
	for (uint32_t i = 0; i < sh->n_commands; i++)
		if (sh->commands[i].kind != SHELL_SIMPLE || sh->commands[i].in_function ||
		    (sh->commands[i].n_words && !word_is_static(&sh->words[sh->commands[i].name])))
			return false;
	for (uint32_t i = 0; i < sh->n_marks; i++)
		if ((sh->marks[i].kind == MARK_PARAM && sh->source[sh->marks[i].at.start + 1] == '{') || sh->marks[i].kind == MARK_PROCESS)
			return false;
	for (uint32_t i = 0; i < sh->n_words; i++)
		if (sh->words[i].flags & (WORD_ARITH | WORD_ARRAY | WORD_TILDE))
			return false;
	return true;
}

/* ---- what is put before bash ---- */

/*
 * Redirections but for here-documents go, since nothing may be read or written; a slash in a command's name becomes another
 * character, since a restricted shell refuses it. What the lexer does not see stays, and the restricted shell stops it.
 */
static inline char *for_bash(const struct shell *sh, struct shell *changed)
{
	char *text = strf("%.*s", (int)sh->len, sh->source);

	for (uint32_t i = 0; i < sh->n_redirects; i++) {
		const struct redirect *r = &sh->redirects[i];

		if (r->kind == REDIRECT_HERE_DOC || r->kind == REDIRECT_HERE_STRING)
			continue;
		memset(text + r->op.start, ' ', sh->words[r->target].raw.end - r->op.start);
	}
	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const struct word *w = sh->commands[i].name == NO_INDEX ? NULL : &sh->words[sh->commands[i].name];

		for (uint32_t k = w && sh->commands[i].kind == SHELL_SIMPLE ? w->raw.start : 0; w && sh->commands[i].kind == SHELL_SIMPLE && k < w->raw.end; k++)
			text[k] = text[k] == '/' ? ':' : text[k];
	}
	if (!shell_parse(changed, text, strlen(text))) {
		shell_release(changed);
		free(text);
		return NULL;
	}
	return text;
}

/* ---- talking to it ---- */

struct judge { char dir[64]; FILE *texts; char *answer; size_t answer_len, at; };

static inline bool judge_begin(struct judge *j)
{
	*j = (struct judge){ .dir = "/tmp/hurdle-test-XXXXXX" };
	if (access("/bin/bash", X_OK) < 0)
		return false;
	cr_assert(mkdtemp(j->dir));
	_cleanup_free_ char *path = strf("%s/texts", j->dir);
	j->texts = fopen(path, "we");
	cr_assert(j->texts);
	return true;
}

static inline void judge_ask(struct judge *j, char kind, const char *text, size_t len)
{
	cr_assert(!memchr(text, '\0', len));
	fputc(kind, j->texts);
	fwrite(text, 1, len, j->texts);
	fputc('\0', j->texts);
}

static inline void judge_child(const struct judge *j, const char *texts, const char *records)
{
	static char path[] = "PATH=/usr/bin:/bin", lang[] = "LANG=C.UTF-8";
	char *const envp[] = { path, lang, NULL };
	_cleanup_free_ char *script = realpath("tests/unit/record_words.bash", NULL);

	if (!script || chdir(j->dir) < 0 || mkdir("empty", 0700) < 0 || chdir("empty") < 0)
		_exit(1);
	if (dup2(open(texts, O_RDONLY), 0) < 0 || dup2(open(records, O_WRONLY | O_CREAT | O_APPEND, 0600), 1) < 0 ||
	    dup2(open("/dev/null", O_WRONLY), 2) < 0)
		_exit(1);
	setsid();
	execle("/bin/bash", "bash", "--norc", "--noprofile", script, "/bin/bash", NULL, envp);
	_exit(127);
}

static inline void judge_run(struct judge *j)
{
	_cleanup_free_ char *texts = strf("%s/texts", j->dir), *records = strf("%s/records", j->dir);
	int status;

	fclose(j->texts);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid)
		judge_child(j, texts, records);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "bash: status %x", status);
	cr_assert_eq(read_file(records, 1u << 30, &j->answer, &j->answer_len), 0);
}

static inline const char *judge_text(struct judge *j)
{
	const char *s = j->answer + j->at;

	cr_assert_lt(j->at, j->answer_len, "bash stopped early");
	j->at += strlen(s) + 1;
	return s;
}

/* The next recorded command; false at the end of the text's, with whether bash takes the text. */
static inline bool judge_next(struct judge *j, struct recorded *ret, bool *ret_taken)
{
	const char *s = judge_text(j);

	if (!strcmp(s, "end")) {
		*ret_taken = !strcmp(judge_text(j), "0");
		return false;
	}
	ret->n = (size_t)atoi(s);
	cr_assert(ret->n > 0 && ret->n < JUDGE_WORDS, "a record of '%s' words", s);
	for (size_t i = 0; i < ret->n; i++)
		ret->words[i] = judge_text(j);
	return true;
}

static inline void judge_end(struct judge *j)
{
	free(j->answer);
	cr_assert_geq(remove_tree(j->dir), 0);
}

/* The command that was recorded, of those that were not yet; exact: all of its words are known. */
static inline bool judge_find(const struct shell *sh, const struct recorded *r, bool *seen, bool once, bool exact)
{
	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const struct shell_command *c = &sh->commands[i];
		const struct word *words[JUDGE_WORDS];
		const size_t n = command_words(sh, c, words, JUDGE_WORDS);
		bool known = true;

		for (size_t k = 0; k < n; k++)
			known &= is_predictable(sh, (uint32_t)(words[k] - sh->words));
		if (c->kind != SHELL_SIMPLE || (seen[i] && once) || (exact && !known) || !words_match(sh, words, n, r, 0))
			continue;
		seen[i] = true;
		return true;
	}
	return false;
}

/* Each recorded command is one that the lexer has; all of the lexer's are recorded where all are run. Returns words compared. */
static inline size_t judge_compare(struct judge *j, const struct shell *sh, const char *text, bool *ret_taken)
{
	_cleanup_free_ bool *seen = xcalloc(sh->n_commands + 1, sizeof(*seen));
	_cleanup_free_ char *shown = str_escape(text);
	const bool all = runs_all(sh);
	struct recorded r;
	size_t compared = 0;

	while (judge_next(j, &r, ret_taken)) {
		const bool found = judge_find(sh, &r, seen, all, true) || judge_find(sh, &r, seen, all, false);

		cr_assert(found, "bash ran a command that the lexer does not have: '%s' ('%s' '%s') of\n%s", r.words[0], r.n > 1 ? r.words[1] : "",
			  r.n > 2 ? r.words[2] : "", shown);
		compared += r.n;
	}
	if (!*ret_taken || !all || strstr(text, "||") || strchr(text, '!') || strstr(text, "else") || strstr(text, "elif"))
		return compared;
	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const struct word *words[JUDGE_WORDS];
		const struct recorded none = { 0 };
		const size_t n = command_words(sh, &sh->commands[i], words, JUDGE_WORDS);

		cr_assert(seen[i] || words_match(sh, words, n, &none, 0), "bash did not run '%.*s' of\n%s",
			  (int)(sh->commands[i].raw.end - sh->commands[i].raw.start), sh->source + sh->commands[i].raw.start, shown);
	}
	return compared;
}
