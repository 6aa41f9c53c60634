/* Detectors that look at where data comes from and goes to: redirections, pipes, substitutions. */
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/decide/detect_private.h"

static const struct word *target_of(const struct shell *sh, const struct redirect *r)
{
	return &sh->words[r->target];
}

static bool is_here(const struct redirect *r)
{
	return r->kind == REDIRECT_HERE_DOC || r->kind == REDIRECT_HERE_STRING;
}

static struct place whole(const struct shell *sh, const struct redirect *r)
{
	return (struct place){ r->op.start, target_of(sh, r)->raw.end };
}

/* ---- variables ---- */

enum decision detect_variables(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_redirects; i++)
		if (!is_here(&sh->redirects[i]) && (target_of(sh, &sh->redirects[i])->flags & WORD_PARAM))
			return ask(l, whole(sh, &sh->redirects[i]), "only a variable says which file this redirection means");
	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const struct shell_command *c = &sh->commands[i];

		if (c->kind == SHELL_SIMPLE && c->name != NO_INDEX && (c->piped_from || c->piped_to) &&
		    (sh->words[c->name].flags & (WORD_PARAM | WORD_SUBST)))
			return ask(l, sh->words[c->name].raw, "only a variable says which program stands in this pipe");
	}
	return DECISION_PASS;
}

/* ---- redirections ---- */

/* A descriptor, "-", or a device that is one. */
static bool is_descriptor(const struct shell *sh, const struct redirect *r)
{
	static const char *const devices[] = { "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full" };
	const struct word *w = target_of(sh, r);
	const char *s = word_value(sh, w);

	if (!word_is_static(w))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		if (!strcmp(s, devices[i]))
			return true;
	if (!strncmp(s, "/dev/fd/", 8))
		return s[8] && strspn(s + 8, "0123456789") == w->len - 8;
	if (r->kind != REDIRECT_DUP_IN && r->kind != REDIRECT_DUP_OUT)
		return false;
	return w->len && (strspn(s, "0123456789") == w->len || !strcmp(s, "-") || (strspn(s, "0123456789") == w->len - 1 && s[w->len - 1] == '-'));
}

/* Names that bash itself takes for connections. */
static bool is_network(const struct shell *sh, const struct redirect *r)
{
	const char *s = word_value(sh, target_of(sh, r));

	return !strncmp(s, "/dev/tcp/", 9) || !strncmp(s, "/dev/udp/", 9);
}

static bool reads(const struct redirect *r)
{
	return r->kind == REDIRECT_IN || r->kind == REDIRECT_IN_OUT || r->kind == REDIRECT_DUP_IN;
}

enum decision detect_input_redirection(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_redirects; i++) {
		const struct redirect *r = &sh->redirects[i];

		if (!reads(r) || is_descriptor(sh, r) || means_environ(word_value(sh, target_of(sh, r))) ||
		    (!is_network(sh, r) && may_access(l, false, target_of(sh, r))))
			continue;
		return ask(l, whole(sh, r), l->judge && l->judge->may ? "what is read here is not known to be readable by the rules" :
			   "a file is read here, and nobody judged which");
	}
	return DECISION_PASS;
}

enum decision detect_output_redirection(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_redirects; i++) {
		const struct redirect *r = &sh->redirects[i];

		if (is_here(r) || r->kind == REDIRECT_IN || r->kind == REDIRECT_DUP_IN || is_descriptor(sh, r) ||
		    (!is_network(sh, r) && may_access(l, true, target_of(sh, r))))
			continue;
		return ask(l, whole(sh, r), l->judge && l->judge->may ? "what is written here is not known to be writable by the rules" :
			   "a file is written here, and nobody judged which");
	}
	return DECISION_PASS;
}

/* ---- substitutions ---- */

/* =ls is the path of ls in zsh. */
static bool is_zsh_path(const struct shell *sh, const struct word *w)
{
	const char next = source_at(sh, w->raw.start + 1);

	return source_at(sh, w->raw.start) == '=' && ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z')) && !(w->flags & WORD_TARGET);
}

/* Only its arguments: what a substitution prints as a command's name is run. */
static bool only_informs(const struct looking *l, const struct mark *m)
{
	const struct shell *sh = l->sh;

	if (m->kind == MARK_PROCESS && source_at(sh, m->at.start) == '>')
		return false;
	if (m->command != NO_INDEX && sh->commands[m->command].kind == SHELL_SIMPLE && sh->commands[m->command].name == m->word)
		return false;
	for (uint32_t i = m->first; i < m->end; i++)
		if (!command_only_reads(l, i))
			return false;
	return true;
}

/* What stands in the message, at any depth, is left to the detector of messages. */
static bool in_git_message(struct looking *l, const struct mark *m)
{
	for (;;) {
		if (is_git_message(l, m->command, m->word))
			return true;
		if (m->outer == NO_INDEX)
			return false;
		m = &l->sh->marks[m->outer];
	}
}

enum decision detect_substitution(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];

		if (m->kind != MARK_DOLLAR_SUBST && m->kind != MARK_BACKTICK && m->kind != MARK_PROCESS)
			continue;
		if (in_git_message(l, m) || only_informs(l, m))
			continue;
		return ask(l, m->at, "a command inside this one, whose output becomes part of it");
	}
	for (uint32_t i = 0; i < sh->n_commands; i++)
		for (uint32_t k = sh->commands[i].kind == SHELL_SIMPLE ? sh->commands[i].name : NO_INDEX; k != NO_INDEX; k = sh->words[k].next)
			if (is_zsh_path(sh, &sh->words[k]))
				return ask(l, sh->words[k].raw, "in zsh this word is the path of a program");
	return DECISION_PASS;
}
