/* Detectors that look at what programs are given: jq, options, shells, git, the names of zsh's commands. */
#include <ctype.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/policy/image.h"
#include "supervisor/decide/detect_private.h"

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* ---- jq ---- */

static bool is_jq(const struct shell *sh, uint32_t program)
{
	const struct word *w = program == NO_INDEX ? NULL : &sh->words[program];

	return w && (word_names(sh, w, "jq") || word_names(sh, w, "gojq") || word_names(sh, w, "jaq"));
}

static bool calls_system(const char *s)
{
	for (const char *at = strstr(s, "system"); at; at = strstr(at + 1, "system")) {
		const char *after = at + strlen("system");

		if (at > s && (isalnum((unsigned char)at[-1]) || strchr("_.$", at[-1])))
			continue;
		after += strspn(after, " \t\n");
		if (*after == '(')
			return true;
	}
	return false;
}

enum decision detect_jq_system(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_commands; i++) {
		if (!is_jq(sh, l->programs[i]))
			continue;
		for (uint32_t k = l->programs[i]; k != NO_INDEX; k = sh->words[k].next)
			if (calls_system(word_value(sh, &sh->words[k])))
				return ask(l, sh->words[k].raw, "a jq program that calls system() runs another program");
	}
	return DECISION_PASS;
}

/* How many words after this option belong to it. */
static int jq_values(const char *option)
{
	return !strcmp(option, "--arg") || !strcmp(option, "--argjson") ? 2 : !strcmp(option, "--indent") ? 1 : 0;
}

static bool is_jq_file_option(const char *s)
{
	static const char *const names[] = { "--from-file", "--slurpfile", "--rawfile", "--argfile", "--library-path", "--run-tests" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(s, names[i]) || (starts(s, names[i]) && s[strlen(names[i])] == '='))
			return true;
	if (s[0] != '-' || !s[1] || s[1] == '-')
		return false;
	/* letters together, "-rf"; what follows L is its directory */
	for (s++; isalpha((unsigned char)*s); s++)
		if (*s == 'f' || *s == 'L')
			return true;
	return false;
}

enum decision detect_jq_files(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_commands; i++) {
		int skip = 0;

		if (!is_jq(sh, l->programs[i]))
			continue;
		for (uint32_t k = sh->words[l->programs[i]].next; k != NO_INDEX; k = sh->words[k].next) {
			const char *value = word_value(sh, &sh->words[k]);

			if (skip && skip--)
				continue;
			if (!strcmp(value, "--"))
				break;
			if (is_jq_file_option(value))
				return ask(l, sh->words[k].raw, "this option lets jq read its program or other data from a file");
			skip = jq_values(value);
		}
	}
	return DECISION_PASS;
}

/* ---- options ---- */

/* Programs whose arguments are text or operands, so that a quoted "-x" is no option of anything. */
static bool takes_text(const struct shell *sh, const struct word *name)
{
	static const char *const names[] = { "echo", "printf", "test", "[", "expr", "logger", "say", "notify-send" };

	for (size_t i = 0; name && i < ARRAY_SIZE(names); i++)
		if (word_names(sh, name, names[i]))
			return true;
	return false;
}

/* The word before says that a value follows: "-e", "-m", "--", "--body", "=". */
static bool wants_value(const struct shell *sh, const struct word *before)
{
	const char *s = before ? word_value(sh, before) : "";

	return !strcmp(s, "--") || !strcmp(s, "=") || !strcmp(s, "!=") || !strcmp(s, "==") || (s[0] == '-' && s[1] == '-') ||
	       (s[0] == '-' && isalpha((unsigned char)s[1]) && !s[2] && strchr("emdFpstcgvkAxPDHu", s[1]));
}

/* All of it is one option's name, and perhaps a value: nothing that only text has. */
static bool reads_as_option(const char *s)
{
	s += s[0] == '-' && s[1] == '-' ? 2 : 1;
	if (!isalpha((unsigned char)*s))
		return false;
	while (isalnum((unsigned char)*s) || *s == '-' || *s == '_')
		s++;
	return !*s || *s == '=';
}

/* Quotes or backslashes stand inside the option's name, in the raw text that begins with "-". */
static bool name_is_broken(const char *s, size_t n, bool is_find)
{
	size_t i = 1;

	i += i < n && s[i] == '-';
	if (i < n && strchr("'\"\\", s[i]))
		return n > i + 1;
	while (i < n && (isalnum((unsigned char)s[i]) || s[i] == '-' || s[i] == '_'))
		i++;
	if (i >= n || !strchr("'\"\\$", s[i]) || (s[i] == '$' && (i + 1 >= n || s[i + 1] != '\'')))
		return false;
	if (s[1] == '-' || is_find || s[i] == '\\' || s[i] == '$')
		return s[i] != '\\' || (i + 1 < n && isalnum((unsigned char)s[i + 1]));
	/* -m"text" is a value; -e''x and -e"x"ec go on with the name */
	const char *close = memchr(s + i + 1, s[i], n - i - 1);
	if (!close)
		return false;
	for (const char *q = s + i + 1; q < close; q++)
		if (!isalpha((unsigned char)*q))
			return false;
	return close + 1 < s + n && (isalpha((unsigned char)close[1]) || close[1] == '\'' || close[1] == '"');
}

static enum decision look_at_option(struct looking *l, const struct word *w, const struct word *name, const struct word *before)
{
	const struct shell *sh = l->sh;
	const char *raw = sh->source + w->raw.start, *value = word_value(sh, w);
	const size_t n = w->raw.end - w->raw.start;

	if (value[0] != '-' || !value[1] || !(w->flags & WORD_QUOTED) || !w->known)
		return DECISION_PASS;
	if (raw[0] == '-')
		return name_is_broken(raw, n, name && word_names(sh, name, "find")) ? ask(l, w->raw, "quotes inside an option's name hide which option it is") :
			DECISION_PASS;
	if (takes_text(sh, name) || wants_value(sh, before) || !reads_as_option(value))
		return DECISION_PASS;
	return ask(l, w->raw, "an option that is written in quotes or behind a backslash");
}

enum decision detect_obfuscated_flags(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const struct shell_command *c = &sh->commands[i];
		const struct word *before = NULL;

		if (c->kind != SHELL_SIMPLE || c->name == NO_INDEX)
			continue;
		for (uint32_t k = sh->words[c->name].next; k != NO_INDEX; k = sh->words[k].next) {
			if (!(sh->words[k].flags & WORD_ARRAY) &&
			    look_at_option(l, &sh->words[k], &sh->words[c->name], before) != DECISION_PASS)
				return l->found->decision;
			before = &sh->words[k];
		}
	}
	return DECISION_PASS;
}

/* ---- text for another shell ---- */

static bool has_operators(const char *s)
{
	return strpbrk(s, ";|&<>\n`") || strstr(s, "$(");
}

static bool is_code_option(const char *s)
{
	const size_t n = strlen(s);

	return s[0] == '-' && s[1] != '-' && n > 1 && s[n - 1] == 'c' && strspn(s + 1, "abcefhiklmnprstuvxBCEHPT") == n - 1;
}

static bool runs_from_awk(const char *s)
{
	return calls_system(s) || strstr(s, "| \"") || strstr(s, "|\"") || strstr(s, "|& \"") || (strstr(s, "getline") && strchr(s, '|'));
}

static bool is_git_alias(const char *s)
{
	const char *bang = strchr(s, '!');

	return starts(s, "alias.") ? bang != NULL : (starts(s, "core.") || starts(s, "diff.") || starts(s, "credential.")) && strpbrk(s, ";|&`$");
}

enum reader { READS_NOTHING, READS_ALL, READS_AWK, READS_OPTION };

/* Programs that read arguments as shell text: all of them, or what follows -c. */
static enum reader reader_of(const struct shell *sh, const struct word *w)
{
	static const struct { const char *name; enum reader reader; } readers[] = {
		{ "eval", READS_ALL }, { "watch", READS_ALL }, { "ssh", READS_ALL }, { "parallel", READS_ALL }, { "trap", READS_ALL }, { "sem", READS_ALL },
		{ "entr", READS_ALL }, { "awk", READS_AWK }, { "gawk", READS_AWK }, { "mawk", READS_AWK }, { "nawk", READS_AWK }, { "su", READS_OPTION },
		{ "script", READS_OPTION }, { "runuser", READS_OPTION }, { "flock", READS_OPTION }, { "sg", READS_OPTION }, { "sh", READS_OPTION },
		{ "bash", READS_OPTION }, { "dash", READS_OPTION }, { "zsh", READS_OPTION }, { "ksh", READS_OPTION }, { "ash", READS_OPTION },
		{ "mksh", READS_OPTION }, { "fish", READS_OPTION }, { "rbash", READS_OPTION },
	};
	const char *value = word_value(sh, w), *slash = memrchr(value, '/', w->len), *base = slash ? slash + 1 : value;

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (readers[i].name[0] == base[0] && !strcmp(readers[i].name, base))
			return readers[i].reader;
	return READS_NOTHING;
}

/* before: the word before it, or NULL; reader: what the program before it, wherever it stands, does with its arguments. */
static bool is_shell_text(const struct shell *sh, const struct word *w, const struct word *before, enum reader reader)
{
	const char *s = word_value(sh, w), *option = before ? word_value(sh, before) : "";

	if (reader == READS_AWK)
		return runs_from_awk(s);
	if (reader == READS_ALL || (reader == READS_OPTION && (is_code_option(option) || !strcmp(option, "--command"))))
		return has_operators(s) || (w->flags & WORD_UNKNOWN);
	if (!strcmp(option, "-c") && is_git_alias(s))
		return true;
	if (!strcmp(option, "-S") || !strcmp(option, "--split-string"))
		return has_operators(s);
	return (starts(s, "--to-command=") || starts(s, "--checkpoint-action=exec") || starts(s, "ProxyCommand=") || starts(s, "-oProxyCommand=") ||
		starts(s, "--use-compress-program=") || starts(s, "--rsh=")) && has_operators(s);
}

enum decision detect_shell_text(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const struct word *before = NULL;
		enum reader reader = READS_NOTHING;

		if (sh->commands[i].kind != SHELL_SIMPLE)
			continue;
		for (uint32_t k = sh->commands[i].name; k != NO_INDEX; k = sh->words[k].next) {
			const struct word *w = &sh->words[k];
			const enum reader now = w->flags & WORD_UNKNOWN ? READS_NOTHING : reader_of(sh, w);

			if ((w->flags & WORD_QUOTED) && before && is_shell_text(sh, w, before, reader))
				return ask(l, w->raw, "this quoted text is read by a shell again, with operators that are commands there");
			reader = now != READS_NOTHING ? now : reader;
			before = w;
		}
	}
	return DECISION_PASS;
}

/* ---- IFS ---- */

static bool sets_ifs(const struct shell *sh, const struct word *w)
{
	return starts(word_value(sh, w), "IFS=") || starts(word_value(sh, w), "IFS+=");
}

enum decision detect_ifs(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct place name = sh->marks[i].name;

		if (sh->marks[i].kind == MARK_PARAM && name.end - name.start == 3 && !memcmp(sh->source + name.start, "IFS", 3))
			return ask(l, sh->marks[i].at, "$IFS stands for blanks, which hides where words end");
	}
	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const struct shell_command *c = &sh->commands[i];
		static const char *const keep[] = { "export", "declare", "typeset", "readonly", "local" };
		bool stays = c->n_words == 0;

		for (size_t k = 0; k < ARRAY_SIZE(keep) && c->name != NO_INDEX; k++)
			stays |= word_is(sh, &sh->words[c->name], keep[k]);
		for (uint32_t k = c->kind == SHELL_SIMPLE && stays ? c->first : NO_INDEX; k != NO_INDEX; k = sh->words[k].next)
			if (sets_ifs(sh, &sh->words[k]))
				return ask(l, sh->words[k].raw, "IFS stays changed, so later words are split elsewhere");
	}
	return DECISION_PASS;
}

/* ---- git ---- */

/* $(cat <<'EOF' ...): the text of the here-document and nothing else. */
static bool is_quoted_text(const struct shell *sh, const struct mark *m)
{
	const struct shell_command *c = &sh->commands[m->first];
	const struct redirect *here = m->end == m->first + 1 && c->n_redirects == 1 ? &sh->redirects[c->redirect] : NULL;

	return m->kind == MARK_DOLLAR_SUBST && here && here->kind == REDIRECT_HERE_DOC && !here->expands && c->n_words == 1 && c->first == c->name &&
	       word_is(sh, &sh->words[c->name], "cat");
}

static bool records(const struct shell *sh, uint32_t program)
{
	static const char *const commands[] = { "commit", "tag", "notes", "merge", "stash" };
	const uint32_t at = git_command(sh, program);

	for (size_t i = 0; at != NO_INDEX && i < ARRAY_SIZE(commands); i++)
		if (word_is(sh, &sh->words[at], commands[i]))
			return true;
	return false;
}

bool is_git_message(struct looking *l, uint32_t command, uint32_t word)
{
	const struct shell *sh = l->sh;
	const char *before, *value;

	if (command == NO_INDEX || word == NO_INDEX || sh->words[word].before == NO_INDEX)
		return false;
	if (l->git_of != command)
		l->git_records = records(sh, l->programs[command]);
	l->git_of = command;
	if (!l->git_records)
		return false;
	before = word_value(sh, &sh->words[sh->words[word].before]);
	value = word_value(sh, &sh->words[word]);
	return (before[0] == '-' && before[1] != '-' && before[strlen(before) - 1] == 'm') || !strcmp(before, "--message") ||
	       starts(value, "--message=") || (value[0] == '-' && value[1] == 'm');
}

enum decision detect_git_message(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_marks; i++) {
		const struct mark *m = &sh->marks[i];

		if ((m->kind != MARK_DOLLAR_SUBST && m->kind != MARK_BACKTICK) || !is_git_message(l, m->command, m->word) || is_quoted_text(sh, m))
			continue;
		return ask(l, m->at, m->kind == MARK_BACKTICK ? "backticks in a commit message run what stands between them" :
			   "this part of the commit message is what a command prints");
	}
	return DECISION_PASS;
}

/* ---- /proc/PID/environ ---- */

/* The next component of a path: its length; *s is moved past slashes to it. */
static size_t component(const char **s)
{
	*s += strspn(*s, "/");
	return strcspn(*s, "/ \t\n'\"),;|&:");
}

static bool means(const char *s, size_t n, const char *name)
{
	return glob_match(s, n, name, strlen(name), false);
}

enum { BELOW_PROC = 8 }; /* how deep an environ may stand, /proc/PID/task/TID/environ and a few detours */

/* At a slash: "/proc/" something "/environ", also through "." and ".." and patterns. */
bool means_environ(const char *s)
{
	size_t n = component(&s);
	bool in_proc = false;

	for (int left = BELOW_PROC; n && left; left--) {
		const char *next = s + n;
		const size_t n_next = *next == '/' ? component(&next) : 0;

		if (!in_proc && means(s, n, "proc"))
			in_proc = true;
		else if (in_proc && n >= 3 && means(s, n, "environ"))
			return true;
		else if (!in_proc && !(n == 1 && s[0] == '.') && !(n == 2 && s[0] == '.' && s[1] == '.') && !(n_next == 2 && next[0] == '.' && next[1] == '.'))
			return false;
		s = next;
		n = n_next;
	}
	return false;
}

static bool names_environ(const struct shell *sh, const struct word *w, bool text)
{
	const char *s = word_value(sh, w);

	for (const char *at = strchr(s, '/'); at; at = strchr(at + 1, '/')) {
		if (at > s && !strchr("=:@'\"(<", at[-1]) && !(at == s + 2 && s[0] == '-') && !(!text && isspace((unsigned char)at[-1])))
			continue;
		if (means_environ(at))
			return true;
	}
	return false;
}

static bool is_below_proc(const struct shell *sh, const struct shell_command *c)
{
	const uint32_t to = c->name == NO_INDEX ? NO_INDEX : sh->words[c->name].next;

	return to != NO_INDEX && (word_is(sh, &sh->words[c->name], "cd") || word_is(sh, &sh->words[c->name], "pushd")) &&
	       starts(word_value(sh, &sh->words[to]), "/proc");
}

enum decision detect_proc_environ(struct looking *l)
{
	const struct shell *sh = l->sh;
	bool below = false;

	for (uint32_t i = 0; i < sh->n_commands; i++)
		below |= is_below_proc(sh, &sh->commands[i]);
	for (uint32_t i = 0; i < sh->n_words; i++) {
		const struct word *w = &sh->words[i];

		if (!w->raw.end || (!below && !memchr(word_value(sh, w), '/', w->len)))
			continue;
		const uint32_t name = w->command == NO_INDEX ? NO_INDEX : sh->commands[w->command].name;
		const bool text = name != NO_INDEX && (takes_text(sh, &sh->words[name]) || word_names(sh, &sh->words[name], "git") ||
						       word_names(sh, &sh->words[name], "gh"));

		if (names_environ(sh, w, text) || (below && word_names(sh, w, "environ")))
			return ask(l, w->raw, "the environment of a process holds its secrets");
	}
	return DECISION_PASS;
}

/* ---- zsh ---- */

static bool is_zsh_command(const char *s)
{
	static const char *const names[] = {
		"zmodload", "emulate", "ztcp", "zsocket", "zpty", "zselect", "zsystem", "zftp", "zcompile", "zstat", "sysopen", "sysread", "syswrite", "sysseek",
		"zf_chgrp", "zf_chmod", "zf_chown", "zf_ln", "zf_mkdir", "zf_mv", "zf_rm", "zf_rmdir", "zf_sync",
	};

	for (size_t i = 0; (s[0] == 'z' || s[0] == 's' || s[0] == 'e') && i < ARRAY_SIZE(names); i++)
		if (!strcmp(s, names[i]))
			return true;
	return false;
}

enum decision detect_zsh(struct looking *l)
{
	const struct shell *sh = l->sh;

	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const uint32_t program = l->programs[i];

		if (program != NO_INDEX && is_zsh_command(word_value(sh, &sh->words[program])))
			return ask(l, sh->words[program].raw, "this command of zsh reaches files, sockets or terminals without a program");
	}
	return DECISION_PASS;
}
