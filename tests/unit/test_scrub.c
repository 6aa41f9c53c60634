#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "envscrub/names.h"
#include "envscrub/report.h"
#include "envscrub/scrub.h"
#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "platform/base/sys.h"

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static char *text(const char *s) /* the environment is char *const[], and nothing writes to it */
{
	union { const char *in; char *out; } u = { s };

	return u.out;
}

static struct scrub_result scrub(const struct scrub_options *o, const char *const *entries)
{
	struct scrub_result r;
	char *envp[64] = { NULL };

	for (size_t i = 0; entries[i]; i++)
		envp[i] = text(entries[i]);
	cr_assert_eq(scrub_env(o, envp, &r), 0, "scrub_env");
	return r;
}

static bool has(const struct scrub_result *r, const char *entry)
{
	for (size_t i = 0; r->envp[i]; i++)
		if (!strcmp(r->envp[i], entry))
			return true;
	return false;
}

static const struct scrub_drop *dropped(const struct scrub_result *r, const char *name)
{
	for (size_t i = 0; i < r->n_drops; i++)
		if (!strcmp(r->drops[i].name, name))
			return &r->drops[i];
	return NULL;
}

/* One environment, one set of options, what is left of it: names separated by blanks. */
static void expect(const struct scrub_options *o, const char *const *entries, const char *left)
{
	struct scrub_result r = scrub(o, entries);
	struct str names = STR_INIT;

	for (size_t i = 0; r.envp[i]; i++) {
		str_add(&names, i ? " " : "");
		str_addn(&names, r.envp[i], strcspn(r.envp[i], "="));
	}
	cr_assert_str_eq(names.s ? names.s : "", left, "%s ...: left '%s', want '%s'", entries[0], names.s, left);
	str_free(&names);
	scrub_result_clear(&r);
}

/* ---- tests/tables/env.tsv ---- */

struct row { char *name, *value, *verdict, *group, *reason; };
typedef void row_fn(const struct row *row, void *data);

/* <a36> and \n of the table. */
static char *expand(const char *s)
{
	struct str b = STR_INIT;

	while (*s) {
		char *end;

		if (s[0] == '<' && s[1] && s[2] >= '1' && s[2] <= '9') {
			for (long n = strtol(s + 2, &end, 10); n > 0; n--)
				str_addn(&b, s + 1, 1);
			s = end + 1;
		} else if (s[0] == '\\' && s[1] == 'n') {
			str_add(&b, "\n");
			s += 2;
		} else {
			str_addn(&b, s++, 1);
		}
	}
	return str_take(&b);
}

static size_t for_each_row(row_fn *fn, void *data)
{
	_cleanup_free_ char *file = NULL;
	char *lines, *line;
	size_t n = 0;

	cr_assert_eq(read_file("tests/tables/env.tsv", 1 << 20, &file, NULL), 0, "tests run in the top directory");
	lines = file;
	while ((line = strsep(&lines, "\n"))) {
		struct row row;

		if (!*line || *line == '#')
			continue;
		row = (struct row){ strsep(&line, "\t"), strsep(&line, "\t"), strsep(&line, "\t"), strsep(&line, "\t"), line };
		cr_assert(row.reason && !strchr(row.reason, '\t'), "five columns: %s", row.name);
		fn(&row, data);
		n++;
	}
	return n;
}

struct counts { size_t secrets, secrets_dropped, harmless, harmless_dropped, wrong; };

static void check_row(const struct row *row, void *data)
{
	struct counts *c = data;
	_cleanup_free_ char *value = expand(row->value), *entry = strf("%s=%s", row->name, value);
	const char *const entries[] = { "PATH=/bin", entry, "COMPANION_TOKEN=1", NULL };
	bool gone[2];

	for (int handles = 0; handles < 2; handles++) {
		struct scrub_options o = { .drop_handles = handles };
		struct scrub_result r = scrub(&o, entries);

		gone[handles] = !has(&r, entry);
		cr_assert_eq(gone[handles], dropped(&r, row->name) != NULL, "%s: reported when dropped", row->name);
		for (size_t i = 0; i < r.n_drops; i++)
			cr_assert_not(strstr(r.drops[i].why, "canary"), "%s: no value in a reason", row->name);
		scrub_result_clear(&r);
	}
	c->secrets += !strcmp(row->group, "secret");
	c->secrets_dropped += !strcmp(row->group, "secret") && gone[0];
	c->harmless += !strcmp(row->group, "harmless");
	c->harmless_dropped += !strcmp(row->group, "harmless") && gone[0];
	if (gone[0] != !strcmp(row->verdict, "drop") || gone[1] != (strcmp(row->verdict, "keep") != 0)) {
		c->wrong++;
		cr_log_error("%s=%s: want %s (%s)", row->name, row->value, row->verdict, row->reason);
	}
}

Test(scrub, table)
{
	struct counts c = { 0 };
	size_t n = for_each_row(check_row, &c);

	cr_assert_geq(n, 550, "rows: %zu", n);
	cr_assert_eq(c.wrong, 0, "%zu rows with another verdict", c.wrong);
	cr_assert(c.secrets >= 335 && c.secrets_dropped == c.secrets, "secrets dropped: %zu of %zu", c.secrets_dropped, c.secrets);
	cr_assert(c.harmless >= 99 && c.harmless_dropped <= 1, "harmless lost: %zu of %zu", c.harmless_dropped, c.harmless);
}

/* ---- order ---- */

Test(scrub, order)
{
	expect(&(struct scrub_options){ 0 }, LIST("A=1", "GITHUB_TOKEN=x", "B=2"), "A B");
	expect(&(struct scrub_options){ .keep = LIST("GITHUB_TOKEN"), .drop = LIST("*") }, LIST("A=1", "GITHUB_TOKEN=x"), "GITHUB_TOKEN");
	expect(&(struct scrub_options){ .drop = LIST("GPG_KEY", "P*") }, LIST("GPG_KEY=x", "PATH=/bin", "A=1"), "A");
	expect(&(struct scrub_options){ .keep = LIST("LD_*") }, LIST("LD_PRELOAD=x", "BASH_ENV=y"), "LD_PRELOAD");
	expect(&(struct scrub_options){ .keep = LIST("A") }, LIST("A=https://u:p@example.org/", "B=https://u:p@example.org/"), "A");
	expect(&(struct scrub_options){ .keep = LIST("a_token") }, LIST("A_TOKEN=x", "a_token=y"), "a_token");
	expect(&(struct scrub_options){ .drop_handles = true, .keep = LIST("SSH_AUTH_SOCK") }, LIST("SSH_AUTH_SOCK=x", "TMUX=y"), "SSH_AUTH_SOCK");
	expect(&(struct scrub_options){ .keep = LIST("A_TOKEN") }, LIST("A_TOKEN=x", "MAKEFLAGS= -- A_TOKEN=x"), "A_TOKEN MAKEFLAGS");
	expect(&(struct scrub_options){ .drop = LIST("PLAIN") }, LIST("A=1", "MAKEFLAGS= -- PLAIN=x"), "A");
}

Test(scrub, reasons)
{
	static const struct { const char *entry; enum scrub_reason reason; const char *why; } rows[] = {
		{ "OPENAI_API_KEY=x", SCRUB_LISTED, "listed: llm key" },
		{ "MY_TOKEN=x", SCRUB_WORD, "name contains TOKEN" },
		{ "my_passwd=x", SCRUB_WORD, "name contains PASSWD" },
		{ "A=AKIAAAAAAAAAAAAAAAAA", SCRUB_VALUE, "value looks like an AWS key id" },
		{ "A=x://u:p@h", SCRUB_VALUE, "value is a URL with a password" },
		{ "LD_PRELOAD=x", SCRUB_INJECTION, "the dynamic loader runs or searches what it names" },
		{ "DROPPED=x", SCRUB_BY_USER, "dropped by the user" },
		{ "TMUX=x", SCRUB_HANDLE, "handle: terminal multiplexer: types into other panes" },
		{ "MAKEFLAGS= -- A_TOKEN=x", SCRUB_CARRIER, "repeats a variable that is dropped (make NAME=VALUE exports it)" },
		{ "GIT_CONFIG_COUNT=1", SCRUB_FAMILY, "settings for git: may hold a credential, and git needs all of them or none" },
	};
	struct scrub_options o = { .drop = LIST("DROPPED"), .drop_handles = true };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scrub_result r = scrub(&o, LIST(rows[i].entry));

		cr_assert(r.n_drops == 1 && r.n_kept == 0, "%s is dropped", rows[i].entry);
		cr_assert_eq(r.drops[0].reason, rows[i].reason, "%s: reason %d", rows[i].entry, (int)r.drops[0].reason);
		cr_assert_str_eq(r.drops[0].why, rows[i].why, "%s: %s", rows[i].entry, r.drops[0].why);
		scrub_result_clear(&r);
	}
}

/* ---- what goes together ---- */

Test(scrub, families)
{
	const char *const git[] = { "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=/src",
	                            "GIT_CONFIG_KEY_1=user.name", "GIT_CONFIG_VALUE_1=u", "GIT_DIR=/src/.git", NULL };
	const char *const aws[] = { "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=y", "AWS_SESSION_TOKEN=z", "AWS_REGION=r", NULL };
	const char *const header[] = { "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=/src",
	                               "GIT_CONFIG_KEY_1=http.extraHeader", "GIT_CONFIG_VALUE_1=canary", "GIT_DIR=/src/.git", NULL };

	expect(&(struct scrub_options){ 0 }, git, "GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_CONFIG_KEY_1 GIT_CONFIG_VALUE_1 GIT_DIR");
	expect(&(struct scrub_options){ 0 }, header, "GIT_DIR");
	expect(&(struct scrub_options){ .drop = LIST("GIT_CONFIG_KEY_1") }, git, "GIT_DIR");
	expect(&(struct scrub_options){ .keep = LIST("GIT_CONFIG_COUNT") }, header,
	       "GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_CONFIG_KEY_1 GIT_CONFIG_VALUE_1 GIT_DIR");
	/* a gap, or a count that is none, takes the rest */
	expect(&(struct scrub_options){ 0 }, LIST("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name"), "");
	expect(&(struct scrub_options){ 0 }, LIST("GIT_CONFIG_COUNT=x", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=u"), "");
	expect(&(struct scrub_options){ 0 }, LIST("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=x://u:p@h"), "");
	expect(&(struct scrub_options){ 0 }, LIST("GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"), "GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM");
	expect(&(struct scrub_options){ 0 }, aws, "AWS_REGION");
	expect(&(struct scrub_options){ .keep = LIST("AWS_SECRET_ACCESS_KEY") }, aws,
	       "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION");
}

Test(scrub, copies)
{
	expect(&(struct scrub_options){ 0 }, LIST("A=1", "DIRENV_DIFF=x", "SUDO_COMMAND=/bin/ls"), "A DIRENV_DIFF SUDO_COMMAND");
	expect(&(struct scrub_options){ 0 }, LIST("A_KEY=1", "DIRENV_DIFF=x", "SUDO_COMMAND=/bin/ls"), "");
	expect(&(struct scrub_options){ .keep = LIST("DIRENV_DIFF") }, LIST("A_KEY=1", "DIRENV_DIFF=x"), "DIRENV_DIFF");
}

Test(scrub, duplicates_and_odd_entries)
{
	struct scrub_options o = { 0 };
	struct scrub_result r;

	expect(&o, LIST("A_KEY=1", "B=2", "A_KEY=3"), "B");
	expect(&o, LIST("A=plain", "B=2", "A=x://u:p@h", "A=other"), "B");
	expect(&o, LIST("A=1", "A=2"), "A A");
	expect(&o, LIST("JUSTTEXT", "SOMETOKEN", "=GITHUB_TOKEN=x", "=C:=path", ""), "JUSTTEXT  ");
	expect(&o, LIST("\xff\xfe=1", "K\xc3\x89Y=2", "\xffToKeN=3", "a.b/c:d=4"), "\xff\xfe K\xc3\x89Y a.b/c:d");
	r = scrub(&o, LIST("A_KEY=1", "A=x://u:p@h", "A_KEY=2", "A=1"));
	cr_assert(r.n_drops == 2 && !strcmp(r.drops[0].name, "A_KEY") && !strcmp(r.drops[1].name, "A"), "each name once, in order");
	scrub_result_clear(&r);
	r = scrub(&o, LIST("SOMETOKEN canary", "=A_KEY=canary", "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	cr_assert(r.n_drops == 3 && r.n_kept == 0, "judged by the whole text");
	for (size_t i = 0; i < r.n_drops; i++)
		cr_assert_str_eq(r.drops[i].name, "(entry without a name)", "nothing of it is shown: %s", r.drops[i].name);
	scrub_result_clear(&r);
	cr_assert(scrub_env(&o, NULL, &r) == 0 && !r.envp[0] && !r.n_drops, "no environment at all");
	scrub_result_clear(&r);
}

Test(scrub, additions)
{
	struct scrub_options o = { .with = LIST("A=new", "C_TOKEN=added", "A=newest", "EMPTY=") };
	struct scrub_result r = scrub(&o, LIST("A=old", "B=1", "A=older", "C_TOKEN=was", "AB=1"));

	cr_assert(has(&r, "A=newest") && has(&r, "C_TOKEN=added") && has(&r, "EMPTY=") && has(&r, "AB=1"), "added");
	cr_assert_not(has(&r, "A=old") || has(&r, "A=older") || has(&r, "A=new") || has(&r, "C_TOKEN=was"), "replaced");
	cr_assert(r.n_kept == 2 && r.n_drops == 1 && dropped(&r, "C_TOKEN"), "what is replaced is not reported, a secret is");
	scrub_result_clear(&r);
	cr_assert_eq(scrub_env(&(struct scrub_options){ .with = LIST("NOVALUE") }, NULL, &r), -EINVAL, "no '='");
	cr_assert_eq(scrub_env(&(struct scrub_options){ .with = LIST("=x") }, NULL, &r), -EINVAL, "no name");
}

Test(scrub, keeps_pointers_and_order)
{
	char *envp[5001], storage[5000][32];
	struct scrub_options o = { 0 };
	struct scrub_result r;
	size_t at = 0;

	for (size_t i = 0; i < 5000; i++) {
		snprintf(storage[i], sizeof(storage[i]), i % 3 ? "VAR_%zu=%zu" : "TOKEN_%zu=%zu", i, i * i);
		envp[i] = storage[i];
	}
	envp[5000] = NULL;
	cr_assert_eq(scrub_env(&o, envp, &r), 0, "5,000 variables");
	for (size_t i = 0; i < 5000; i++)
		if (i % 3)
			cr_assert_eq(r.envp[at++], envp[i], "the caller's own string, in order: %zu", i);
	cr_assert(at == r.n_kept && !r.envp[at] && r.n_drops == 5000 - at, "nothing else");
	scrub_wipe(envp, &r);
	for (size_t i = 0; i < 5000; i++)
		cr_assert(i % 3 ? strlen(strchr(envp[i], '=')) > 1 : !strcmp(strchr(envp[i], '='), "="), "wiped or whole: %s", envp[i]);
	scrub_result_clear(&r);
}

Test(scrub, wipes_whole_text)
{
	char a[] = "SOMETOKEN", b[] = "=A_TOKEN=x", c[] = "B_KEY=canary", d[] = "C=canary", *envp[] = { a, b, c, d, NULL };
	struct scrub_result r;

	cr_assert_eq(scrub_env(&(struct scrub_options){ 0 }, envp, &r), 0, "scrub_env");
	scrub_wipe(envp, &r);
	cr_assert(!memcmp(a, "\0\0\0\0\0\0\0\0\0", 9) && !b[0] && !b[9], "entries without a name");
	cr_assert(!memcmp(c, "B_KEY=\0\0\0\0\0\0", 12) && !strcmp(d, "C=canary"), "values");
	cr_assert_str_eq(r.drops[2].name, "B_KEY", "the report outlives it");
	scrub_result_clear(&r);
}

/* ---- values ---- */

Test(scrub, large_values)
{
	static const char *const pieces[] = { "a", "eyJ-", "x=sig=", "1Q~aa1Q~", "-----BEGIN ", "a://b", "://", "=", "password= ", "Q~", "SG.", "\xff" };
	size_t size = 1 << 20;
	_cleanup_free_ char *value = xcalloc(size + 64, 1);

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t n = strlen(pieces[i]);

		for (size_t at = 0; at + n < size; at += n)
			memcpy(value + at, pieces[i], n);
		(void)scrub_value_shape(value, size);
	}
	memset(value, ' ', size);
	cr_assert(!scrub_value_shape(value, size), "1 MiB of nothing");
	memcpy(value + size - 14, "AKIAAAAAAAAAAAAAAAAA", 20);
	cr_assert(!scrub_value_shape(value, size), "cut off");
	cr_assert(scrub_value_shape(value, size + 6), "at the very end");
}

/* Every prefix of the table is found with a tail of the length it asks for, and not with one byte less. */
Test(scrub, shapes)
{
	enum { WORD, ALNUM, HEX, URL64, BASE64, DOTTED, AWS_ID, OPENAI, JWT, PEM64 };
	static const struct { const char *prefix; int tail; size_t min; } rows[] = {
#define SHAPE(prefix, tail, min, whose) { prefix, tail, min },
#include "envscrub/shapes.def"
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(str_free) struct str b = STR_INIT;
		size_t n;

		if (rows[i].tail >= OPENAI)
			continue;
		str_add(&b, "see ");
		str_add(&b, rows[i].prefix);
		n = b.len;
		while (b.len < n + rows[i].min)
			str_add(&b, rows[i].tail == AWS_ID ? "A" : "a");
		cr_assert(scrub_value_shape(b.s, b.len), "%s with %zu bytes", rows[i].prefix, rows[i].min);
		cr_assert(!scrub_value_shape(b.s, b.len - 1), "%s with %zu bytes", rows[i].prefix, rows[i].min - 1);
	}
}

/* ---- names ---- */

Test(names, tables_are_sound)
{
	size_t n, globs = 0;
	const struct name_row *rows = name_rows(&n);

	cr_assert_geq(n, 480, "rows: %zu", n);
	for (size_t i = 0; i < n; i++) {
		cr_assert(rows[i].why && *rows[i].why, "%s: a reason", rows[i].name);
		cr_assert_eq(rows[i].len, strlen(rows[i].name), "%s: its length", rows[i].name);
		cr_assert(!strpbrk(rows[i].name, "?[="), "%s: '*' is the only wildcard here", rows[i].name);
		if (strchr(rows[i].name, '*')) {
			globs++;
			cr_assert(rows[i].name[0] != '*' || rows[i].name[rows[i].len - 1] != '*', "%s: one end is fixed", rows[i].name);
			continue;
		}
		cr_assert_eq(name_find(rows[i].name, rows[i].len, name_hash(rows[i].name, rows[i].len)), &rows[i], "%s: twice", rows[i].name);
	}
	cr_assert_leq(globs, 96, "as many globs as names.c has room for: %zu", globs);
}

Test(names, globs)
{
	static const struct { const char *glob, *name; bool fold, match; } rows[] = {
		{ "", "", false, true },          { "", "a", false, false },        { "*", "", false, true },
		{ "*", "abc", false, true },      { "a*", "abc", false, true },     { "a*", "bc", false, false },
		{ "*c", "abc", false, true },     { "*c", "abcd", false, false },   { "a*c*e", "abcde", false, true },
		{ "a*c*e", "abcdef", false, false }, { "**", "x", false, true },    { "a?c", "abc", false, true },
		{ "a?c", "ac", false, false },    { "ABC", "abc", false, false },   { "ABC", "abc", true, true },
		{ "[a-c]x", "bx", false, true },  { "[a-c]x", "dx", false, false }, { "[!a-c]x", "dx", false, true },
		{ "[^a-c]x", "bx", false, false }, { "[]a]x", "]x", false, true },  { "[A-C]", "b", true, true },
		{ "[ab", "[ab", false, true },    { "a[", "a[", false, true },      { "[!", "[!", false, true },
		{ "[a-]", "-", false, true },     { "*_*_*", "a_b_c", false, true }, { "*aab", "aaaaab", false, true },
		{ "\xff*", "\xff\xfe", false, true }, { "?", "\xff", false, true }, { "a*", "a", false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(name_glob(rows[i].glob, rows[i].name, strlen(rows[i].name), rows[i].fold), rows[i].match, "%s ~ %s",
		             rows[i].glob, rows[i].name);
}

/* ---- reports ---- */

Test(report, is_escaped)
{
	struct scrub_result r = scrub(&(struct scrub_options){ 0 }, LIST("A\nTOKEN\x1b[=x", "\xff\"TOKEN\xc3\xa9\xc2\x9b=x", "B=1"));
	struct str b = STR_INIT;

	report_text(&b, &r);
	cr_assert_str_eq(b.s, "A\\nTOKEN\\033[\tname contains TOKEN\n\\M^?\"TOKEN\xc3\xa9\\M-B\\M^[\tname contains TOKEN\n", "%s", b.s);
	b.len = 0;
	report_json(&b, &r);
	cr_assert_str_eq(b.s,
	                 "{\"schema\":1,\"dropped\":[{\"name\":\"A\\u000aTOKEN\\u001b[\",\"reason\":\"name contains TOKEN\"},"
	                 "{\"name\":\"\\u00ff\\\"TOKEN\xc3\xa9\\u009b\",\"reason\":\"name contains TOKEN\"}],\"kept\":1}\n",
	                 "%s", b.s);
	str_free(&b);
	scrub_result_clear(&r);
}
