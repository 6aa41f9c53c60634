/* Strings and regular expressions of the Seatbelt profile: against the matcher of globs, and against a reader of strings. */
#include <regex.h>
#include <stdio.h>

#include "platform/mechanism/seatbelt.h"
#include "tests/unit/image_help.h"
#include "tests/unit/sbpl.h"

TestSuite(seatbelt_text, .timeout = 110);

enum { GLOBS = 60000 };

static uint64_t state = 1;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static void random_text(char *to, unsigned most, const char *alphabet)
{
	unsigned n = below(most + 1);

	for (unsigned i = 0; i < n; i++)
		to[i] = alphabet[below((unsigned)strlen(alphabet))];
	to[n] = '\0';
}

/* As a path is asked about: no empty component. */
static void tidy_path(char *s)
{
	char *to = s + 1;

	for (char *from = s + 1; *from; from++)
		if (*from != '/' || to[-1] != '/')
			*to++ = *from;
	while (to > s + 1 && to[-1] == '/')
		to--;
	*to = '\0';
}

static bool regex_matches(const char *regex, const char *path)
{
	regex_t r;

	cr_assert_eq(regcomp(&r, regex, REG_EXTENDED | REG_NOSUB), 0, "no regular expression: %s", regex);
	bool found = !regexec(&r, path, 0, NULL, 0);
	regfree(&r);
	return found;
}

static unsigned components(const char *s, size_t n)
{
	unsigned count = 0;

	for (size_t i = 0; i + 1 < n; i++)
		count += s[i] == '/';
	return count;
}

/* Does the glob match path[0..end) for an end that the tail allows, with so many components? The root has no name. */
static bool glob_covers(const char *glob, const char *path, bool icase, unsigned at_least, enum seatbelt_tail tail)
{
	size_t n = strlen(path);

	for (size_t end = 2; end <= n; end++) {
		if (path[end] && path[end] != '/')
			continue;
		if ((tail == SEATBELT_AT && end != n) || (tail == SEATBELT_BELOW && end == n) || components(path, end) < at_least)
			continue;
		if (glob_match(glob, strlen(glob), path, end, icase))
			return true;
	}
	return false;
}

static bool regexes_match(struct seatbelt_glob g, const char *path)
{
	for (g.way = 0; g.way < seatbelt_glob_ways(g.text, g.at_least); g.way++) {
		_cleanup_(str_free) struct str regex = STR_INIT;
		seatbelt_add_glob_regex(&regex, &g);
		if (regex_matches(regex.s, path))
			return true;
	}
	return false;
}

static void random_components(char *to, size_t size, const char *const *list, unsigned n)
{
	size_t len = 0;

	for (unsigned i = 1 + below(6); i; i--)
		len += (size_t)snprintf(to + len, size - len, "/%s", list[below(n)]);
}

static void random_pair(char *glob, char *path, size_t size)
{
	static const char *const parts[] = { "a", "b", "**", "*", "**", "a*" }, *const names[] = { "a", "b", "ab" };

	if (below(2)) {
		random_components(glob, size, parts, 6);
		random_components(path, size, names, 3);
		return;
	}
	glob[0] = path[0] = '/';
	random_text(glob + 1, 12, below(3) ? "ab*?/" : "aAb.-!^[]\\*?/*/+(|${");
	random_text(path + 1, 10, below(2) ? "ab/" : "aAbB.-]\\/^+({\n");
	tidy_path(path);
}

Test(seatbelt_text, globs)
{
	size_t matched = 0, deep = 0;

	for (int i = 0; i < GLOBS; i++) {
		char glob[32], path[32];
		struct seatbelt_glob g = { .text = glob, .icase = below(2), .at_least = below(3) ? 0 : below(6), .tail = (enum seatbelt_tail)below(3) };

		random_pair(glob, path, sizeof(glob));
		if (!glob[1 + strspn(glob + 1, "/")] || seatbelt_glob_ways(glob, g.at_least) > SEATBELT_WAYS_MAX)
			continue;
		bool want = glob_covers(glob, path, g.icase, g.at_least, g.tail);
		cr_assert_eq(regexes_match(g, path), want, "number %d: %s, %s: tail %d, icase %d, at least %u: should be %d", i, glob, path, g.tail,
			     g.icase, g.at_least, want);
		matched += want;
		deep += want && g.at_least > 1;
	}
	cr_assert(matched > GLOBS / 20 && deep > GLOBS / 200, "%zu match, %zu of them with many components", matched, deep);
}

Test(seatbelt_text, sets)
{
	static const char members[] = "]^-[\\a/";

	/* every set of these, in every order of up to four */
	for (int i = 0; i < 7 * 7 * 7 * 7 * 2; i++) {
		int n = i / 2;
		char glob[12];
		snprintf(glob, sizeof(glob), "/[%s%c%c%c%c]", i % 2 ? "!" : "", members[n % 7], members[n / 7 % 7], members[n / 49 % 7], members[n / 343]);
		const struct seatbelt_glob g = { .text = glob };
		if (strchr(glob + 1, '/'))
			continue;
		for (const char *c = "]^-[\\ab\n\xc3"; *c; c++) {
			const char path[] = { '/', *c, '\0' };
			cr_assert_eq(regexes_match(g, path), glob_match(glob, strlen(glob), path, 2, false), "%s, %s", glob, path);
		}
	}
}

Test(seatbelt_text, literal_paths)
{
	for (int i = 0; i < 20000; i++) {
		char path[16] = "/", other[24] = "/";
		const enum seatbelt_tail tail = (enum seatbelt_tail)below(3);
		const bool icase = below(2);
		_cleanup_(str_free) struct str regex = STR_INIT;

		random_text(path + 1, 5, "ab/A.*[({\\^$");
		tidy_path(path);
		random_text(other + 1, 10, "ab/A.*[({\\^$");
		if (below(2))
			snprintf(other, sizeof(other), "%s%s", path[1] ? path : "", below(2) ? "/x" : path[1] ? "" : "/");
		tidy_path(other);
		size_t n = path[1] ? strlen(path) : 0;
		bool same = icase ? !strncasecmp(path, other, n) : !strncmp(path, other, n);
		bool at = same && (n ? !other[n] : !other[1]), under = same && other[n] == '/' && other[n + 1];
		seatbelt_add_path_regex(&regex, path, icase, tail);
		cr_assert_eq(regex_matches(regex.s, other), tail == SEATBELT_AT ? at : tail == SEATBELT_BELOW ? under : at || under, "%s, %s: tail %d",
			     path, other, tail);
	}
}

/* ---- names other than node_modules ---- */

Test(seatbelt_text, ordinary_names)
{
	_cleanup_(str_free) struct str name = STR_INIT;
	_cleanup_free_ char *whole = NULL;

	seatbelt_add_ordinary(&name);
	whole = strf("^%s$", name.s);
	cr_expect_not(regex_matches(whole, "node_modules"));
	cr_expect_not(regex_matches(whole, ""));
	cr_expect_not(regex_matches(whole, "a/b"));
	for (const char *other = "Node_modules\0node_modules2\0node_module\0n\0no\0node\0anode_modules\0node_modulez\0m\0.git\0node-modules\0nnode_modules\0";
	     *other; other += strlen(other) + 1)
		cr_expect(regex_matches(whole, other), "%s", other);
}

/* ---- strings ---- */

static bool reads_back(const char *text)
{
	struct str s = STR_INIT;
	char *error = NULL;
	const struct sbpl_query q = { .operation = "file-read-data", .path = text };

	str_add(&s, "(version 1) (deny default) (allow file-read* (literal ");
	seatbelt_add_string(&s, text, strlen(text));
	str_add(&s, "))");
	for (const char *c = s.s; *c; c++)
		cr_assert(((unsigned char)*c >= ' ' && *c != 0x7f), "byte %02x is not escaped: %s", (unsigned char)*c, s.s);
	struct sbpl *p = sbpl_read(s.s, NULL, NULL, &error);
	cr_assert(p, "%s: %s", s.s, error);
	bool same = sbpl_allows(p, &q, SBPL_LAST_MATCH);
	sbpl_free(p);
	str_free(&s);
	return same;
}

Test(seatbelt_text, strings)
{
	char all[256], longest[1200];

	for (unsigned c = 1; c < 256; c++)
		all[c - 1] = (char)c;
	all[255] = '\0';
	cr_expect(reads_back(all));
	cr_expect(reads_back("/a\"b\\c"));
	cr_expect(reads_back("/\")) (allow default) ; "));
	cr_expect(reads_back("/tab\there\nand \x1b[2J there"));
	cr_expect(reads_back("/m\xc3\xa4rz/\xe2\x82\xac/\xf0\x9f\x98\x80"));
	cr_expect(reads_back("/\xc3/\xff\xfe/\xe2\x80\xae" "right to left"));
	cr_expect(reads_back("/x\\x41\\n"));
	memset(longest, '/', sizeof(longest));
	for (size_t i = 0; i < sizeof(longest) - 1; i++)
		longest[i] = "/\\\"\n\xc3\xa4z"[i % 7];
	longest[sizeof(longest) - 1] = '\0';
	cr_expect(reads_back(longest), "long");
}

Test(seatbelt_text, plain_strings_stay_readable)
{
	_cleanup_(str_free) struct str s = STR_INIT;

	seatbelt_add_string(&s, "/Users/u/m\xc3\xa4rz x", 16);
	cr_expect_str_eq(s.s, "\"/Users/u/m\xc3\xa4rz x\"");
}
