/* Commands that only read, from readonly.def: the options that are in the table, and operands that may be read. */
#include <ctype.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/decide/detect_private.h"

enum operands { NONE, WORDS, TEXT, NAMES, FILES, PATTERN, OUTPUT, LIST };

static const struct row { const char *name; enum operands operands; const char *letters, *options; } rows[] = {
#define READ_ONLY(name, operands, letters, options, reason) { name, operands, letters, options },
#include "supervisor/decide/readonly.def"
};

/* ---- options ---- */

/* How the table has the long option: 0 not at all, 1 without a value, 2 with one after "=". */
static int long_option(const struct row *row, const char *name, size_t n, bool has_value)
{
	for (const char *s = row->options; *s;) {
		const size_t len = strcspn(s, " "), bare = strcspn(s, " =");

		if (bare == n && !memcmp(s, name, n) && (bare < len) == has_value)
			return has_value ? 2 : 1;
		s += len + strspn(s + len, " ");
	}
	return 0;
}

/* "-la", "-n5", "-n" and its value in the next word. *ret_takes: that word belongs to it. */
static bool short_options(const struct row *row, const char *s, bool *ret_takes)
{
	for (s++; *s; s++) {
		const char *at = strchr(row->letters, *s);

		if (!at || *s == ':')
			return false;
		if (at[1] != ':')
			continue;
		*ret_takes = !s[1];
		return true;
	}
	return true;
}

static bool known_option(const struct row *row, const char *s, bool *ret_takes)
{
	const char *equals = strchr(s, '=');

	*ret_takes = false;
	if (s[1] != '-')
		return short_options(row, s, ret_takes);
	return long_option(row, s + 2, equals ? (size_t)(equals - s - 2) : strlen(s + 2), equals != NULL) != 0;
}

/* ---- operands ---- */

static bool is_plain(const struct word *w)
{
	return !(w->flags & (WORD_UNKNOWN | WORD_BRACES));
}

/* git, test and their kind take any text; a value that only the shell knows is text as well, but it may be an option. */
static bool operand(const struct looking *l, const struct row *row, const struct word *w, size_t index)
{
	const char *value = word_value(l->sh, w);

	switch (row->operands) {
	case NONE:    return false;
	case WORDS:   return true;
	case TEXT:    return is_plain(w) || (w->known && value[0] != '-') || !(w->flags & WORD_SPLITS);
	case LIST:    return is_plain(w) && value[0] == '+'; /* date +%F */
	case NAMES:   return is_plain(w);
	case PATTERN: return index == 0 ? !(w->flags & WORD_BRACES) && (is_plain(w) || w->known) : may_access(l, false, w);
	case OUTPUT:  return index == 0 && may_access(l, false, w);
	case FILES:   return may_access(l, false, w);
	}
	return false;
}

/* Of these programs two options alone do something: printf -v sets a variable, and test -v evaluates a name, as -R does. */
static bool words_only(const struct shell *sh, const struct row *row, const struct word *const *words, size_t n)
{
	const bool is_test = !strcmp(row->name, "test") || !strcmp(row->name, "["), is_printf = !strcmp(row->name, "printf");

	for (size_t i = 0; i < n; i++) {
		const char *value = word_value(sh, words[i]);

		if ((is_test || is_printf) && ((words[i]->flags & WORD_SPLITS) || !strncmp(value, "-v", 2)))
			return false;
		if (is_test && !strcmp(value, "-R"))
			return false;
	}
	return true;
}

/* Without a file, grep -r and rg read everything below the directory. */
static bool searches_here(const struct looking *l, const struct row *row, const struct shell_command *c, size_t operands)
{
	return row->operands == PATTERN && strcmp(row->name, "jq") != 0 && operands < 2 && !c->piped_from &&
	       (l->moved || !l->judge || !l->judge->may || !l->judge->may(l->judge->context, false, "."));
}

static bool arguments(const struct looking *l, const struct row *row, const struct shell_command *c, const struct word *const *words, size_t n)
{
	const struct shell *sh = l->sh;
	size_t operands = 0;

	if (row->operands == WORDS)
		return words_only(sh, row, words, n);
	bool ended = false, takes = false, given = false;

	for (size_t i = 0; i < n; i++) {
		const char *value = word_value(sh, words[i]);

		if (takes) { /* of an option: text, such as a number or a pattern */
			takes = false;
			if (!is_plain(words[i]))
				return false;
			continue;
		}
		if (!ended && value[0] == '-' && value[1] && words[i]->known) {
			ended = !strcmp(value, "--");
			if (!ended && (!word_is_static(words[i]) || !known_option(row, value, &takes)))
				return false;
			/* the pattern stands in an option */
			given |= value[1] == 'e' || !strncmp(value, "--regexp", 8);
			continue;
		}
		if (!operand(l, row, words[i], operands + (row->operands == PATTERN && given)))
			return false;
		operands++;
	}
	return !searches_here(l, row, c, operands + given);
}

/* ---- the ones that need more than the table ---- */

static bool has_word(const struct shell *sh, const struct word *const *words, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (word_is(sh, words[i], text))
			return true;
	return false;
}

static bool find_only_reads(const struct looking *l, const struct word *const *words, size_t n)
{
	static const char *const tests[] = {
		"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-type", "-xtype", "-size", "-mtime", "-mmin", "-atime", "-ctime", "-newer", "-perm", "-user",
		"-group", "-maxdepth", "-mindepth", "-printf", "-links", "-samefile", "-regextype", "-not", "!", "-a", "-o", "-and", "-or", "(", ")", "-print", "-print0",
		"-ls", "-prune", "-empty", "-executable", "-readable", "-writable", "-depth", "-xdev", "-mount", "-follow", "-L", "-H", "-P", "-quit", "-true", "-false", ",",
		"-daystart", "-wholename", "-iwholename",
	};

	for (size_t i = 0; i < n; i++) {
		const char *value = word_value(l->sh, words[i]);
		bool known = value[0] != '-';

		if ((words[i]->flags & (WORD_UNKNOWN | WORD_BRACES)) && !(words[i]->known && value[0] != '-'))
			return false;
		for (size_t k = 0; k < ARRAY_SIZE(tests) && !known; k++)
			known = !strcmp(value, tests[k]);
		/* "-5" is a number that a test takes */
		if (!known && !isdigit((unsigned char)value[1]))
			return false;
	}
	return true;
}

/* sed -n 5,10p FILE */
static bool sed_only_reads(const struct looking *l, const struct word *const *words, size_t n)
{
	const char *script;
	size_t len;

	if (n < 2 || !word_is(l->sh, words[0], "-n") || !word_is_static(words[1]))
		return false;
	script = word_value(l->sh, words[1]);
	len = strlen(script);
	if (len < 2 || script[len - 1] != 'p' || strspn(script, "0123456789,$") != len - 1)
		return false;
	for (size_t i = 2; i < n; i++)
		if (word_value(l->sh, words[i])[0] == '-' || !may_access(l, false, words[i]))
			return false;
	return true;
}

/* awk '{ print $1 }' FILE: a program that neither runs, writes, includes nor looks at the environment. */
static bool awk_only_reads(const struct looking *l, const struct word *const *words, size_t n)
{
	static const char *const forbidden[] = { "system", "getline", "ENVIRON", "PROCINFO" };
	const struct shell *sh = l->sh;
	const char *program;
	size_t i = 0;

	while (i < n && word_is_static(words[i]) && (!strncmp(word_value(sh, words[i]), "-F", 2) || word_is(sh, words[i], "-v")))
		i += word_is(sh, words[i], "-F") || word_is(sh, words[i], "-v") ? 2 : 1;
	if (i >= n || (words[i]->flags & (WORD_UNKNOWN | WORD_BRACES)))
		return false;
	program = word_value(sh, words[i]);
	if (program[0] == '-' || strpbrk(program, "|>@"))
		return false;
	for (size_t k = 0; k < ARRAY_SIZE(forbidden); k++)
		if (strstr(program, forbidden[k]))
			return false;
	for (i++; i < n; i++)
		if (word_value(sh, words[i])[0] == '-' || !may_access(l, false, words[i]))
			return false;
	return true;
}

/* jq's programs reach the environment and other files by name. */
static bool jq_only_reads(const struct shell *sh, const struct word *const *words, size_t n)
{
	static const char *const forbidden[] = { "env", "ENV", "import", "include", "modulemeta" };

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(forbidden); k++)
			if (strstr(word_value(sh, words[i]), forbidden[k]))
				return false;
	return true;
}

/* Any program that says its version and does nothing else. */
static bool asks_version(const struct shell *sh, const struct word *const *words, size_t n)
{
	static const char *const names[] = {
		"python", "python3", "node", "npm", "npx", "yarn", "pnpm", "go", "cargo", "rustc", "gcc", "cc", "g++", "clang", "make", "cmake", "java", "javac", "ruby", "perl", "php",
		"git", "bash", "docker", "kubectl", "pip", "pip3", "uv", "deno", "bun", "tsc", "jq", "curl", "wget", "sqlite3", "psql", "gh", "hurdle",
	};

	if (n != 2 || !(word_is(sh, words[1], "--version") || word_is(sh, words[1], "-V") || word_is(sh, words[1], "version") || word_is(sh, words[1], "-v")))
		return false;
	/* what other programs do with one letter or a bare word is not known */
	if (!word_is(sh, words[1], "--version") && !word_is(sh, words[0], "go") && !word_is(sh, words[0], "node") && !word_is(sh, words[0], "npm"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (word_is(sh, words[0], names[i]))
			return true;
	return false;
}

static const struct row *find_row(const struct shell *sh, const struct word *const *words, size_t n, size_t *ret_taken)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *name = rows[i].name, *second = strchr(name, ' ');

		*ret_taken = second ? 2 : 1;
		if (name[0] == word_value(sh, words[0])[0] && n >= *ret_taken && words[0]->len == (size_t)(second ? second - name : (ptrdiff_t)strlen(name)) &&
		    !memcmp(word_value(sh, words[0]), name, words[0]->len) && (!second || word_is(sh, words[1], second + 1)))
			return &rows[i];
	}
	return NULL;
}

static bool git_needs_more(const struct shell *sh, const struct row *row, const struct word *const *words, size_t n)
{
	if (!strcmp(row->name, "git stash"))
		return n == 3 && (word_is(sh, words[2], "list") || word_is(sh, words[2], "show")) ? false : true;
	if (!strcmp(row->name, "git config"))
		return !has_word(sh, words + 2, n - 2, "--get") && !has_word(sh, words + 2, n - 2, "--list") && !has_word(sh, words + 2, n - 2, "-l") &&
		       !has_word(sh, words + 2, n - 2, "--get-all") && !has_word(sh, words + 2, n - 2, "--get-regexp");
	return false;
}

/* Variables that change what a program says, not what it does. */
static bool harmless_assignments(const struct shell *sh, const struct shell_command *c)
{
	static const char *const names[] = { "LC_ALL=", "LANG=", "LC_COLLATE=", "TZ=", "NO_COLOR=", "COLUMNS=", "TERM=" };

	for (uint32_t k = c->first; k != NO_INDEX; k = sh->words[k].next) {
		const struct word *w = &sh->words[k];
		bool known = !(w->flags & (WORD_ASSIGNMENT | WORD_ARRAY));

		for (size_t i = 0; i < ARRAY_SIZE(names) && !known; i++)
			known = !strncmp(word_value(sh, w), names[i], strlen(names[i]));
		/* alone they set a variable of the shell's: one in small letters is nobody else's */
		if (!known && (c->n_words || !islower((unsigned char)word_value(sh, w)[0]) || (w->flags & WORD_ARRAY)))
			return false;
	}
	return true;
}

/* bash evaluates such text when it is a number somewhere: x='a[$(id)]'; echo $((x)). */
static bool may_be_evaluated(const struct shell *sh, const struct shell_command *c)
{
	for (uint32_t k = c->first; k != NO_INDEX; k = sh->words[k].next)
		if (strpbrk(word_value(sh, &sh->words[k]), "$`") || (c->kind != SHELL_COND && c->kind != SHELL_CASE && strchr(word_value(sh, &sh->words[k]), '[')))
			return true;
	return false;
}

/* A variable whose value is no secret, in a form that does not evaluate it. */
static bool harmless_parameter(const struct shell *sh, const struct mark *m)
{
	static const char *const names[] = {
		"HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "HOSTNAME", "TERM", "TMPDIR", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "PPID",
	};
	const char *name = sh->source + m->name.start, *text = sh->source + m->at.start;
	const size_t n = m->name.end - m->name.start, len = m->at.end - m->at.start;

	/* @P evaluates, != and := assign, ! takes another variable */
	if (text[1] == '{' && (memchr(text + 2, '@', len - 2) || memchr(text + 2, '=', len - 2) || text[2] == '!'))
		return false;
	if (!isupper((unsigned char)*name))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && !memcmp(name, names[i], n))
			return true;
	return false;
}

bool command_only_reads(const struct looking *l, uint32_t command)
{
	const struct shell *sh = l->sh;
	const struct shell_command *c = &sh->commands[command];
	const struct word *words[WORDS_MAX];
	const size_t n = command_words(sh, c, words, WORDS_MAX);
	const struct row *row;
	size_t taken;

	if (c->kind != SHELL_SIMPLE)
		return c->kind != SHELL_FUNCTION && !may_be_evaluated(sh, c);
	if (c->n_words >= WORDS_MAX || !harmless_assignments(sh, c))
		return false;
	if (!n)
		return !may_be_evaluated(sh, c);
	if (!word_is_static(words[0]))
		return false;
	if (word_is(sh, words[0], "find"))
		return find_only_reads(l, words + 1, n - 1);
	if (word_is(sh, words[0], "sed"))
		return sed_only_reads(l, words + 1, n - 1);
	if (word_is(sh, words[0], "awk"))
		return awk_only_reads(l, words + 1, n - 1);
	if (n == 2 && word_is(sh, words[0], "ps") && (word_is(sh, words[1], "aux") || word_is(sh, words[1], "ax")))
		return true;
	if (asks_version(sh, words, n))
		return true;
	row = find_row(sh, words, n, &taken);
	if (!row || git_needs_more(sh, row, words, n) || (!strcmp(row->name, "jq") && !jq_only_reads(sh, words, n)))
		return false;
	return !strcmp(row->name, "git stash") || arguments(l, row, c, words + taken, n - taken);
}

bool only_reads(const struct shell *sh, const struct path_judge *judge)
{
	struct finding unused;
	const struct looking l = { .sh = sh, .judge = judge, .found = &unused, .moved = changes_directory(sh) };

	if (sh->error)
		return false;
	for (uint32_t i = 0; i < sh->n_commands; i++)
		if (!command_only_reads(&l, i))
			return false;
	for (uint32_t i = 0; i < sh->n_marks; i++)
		if (sh->marks[i].kind == MARK_PARAM && !harmless_parameter(sh, &sh->marks[i]))
			return false;
	return true;
}
