/*
 * A base and a text, between them a newline: what path_strip(), path_absolute() and the patterns of rules make of it is canonical, and
 * agrees with a slow reading of the text. Also the store of trust: a key in it is found as it was put there.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/policy/paths.h"
#include "platform/policy/policy.h"
#include "platform/policy/trust.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
	if (!truth)
		abort();
}

static bool is_canonical(const char *path)
{
	if (path[0] != '/')
		return false;
	for (const char *s = path; *s;) {
		const size_t n = strcspn(s + 1, "/");

		if ((!n && path[1]) || (n == 1 && s[1] == '.') || (n == 2 && s[1] == '.' && s[2] == '.'))
			return false;
		s += 1 + n;
	}
	return true;
}

/* The names one by one on a pile, which ".." takes from. */
static char *slow_absolute(const char *base, const char *text)
{
	_cleanup_free_ char *all = strf("%s/%s", text[0] == '/' ? "" : base, text);
	_cleanup_(strv_free) struct strv pile = { 0 };
	struct str b = STR_INIT;
	char *name, *rest = all;

	while ((name = strsep(&rest, "/"))) {
		if (!strcmp(name, "..")) {
			if (pile.n)
				free(pile.v[--pile.n]);
		} else if (*name && strcmp(name, ".")) {
			strv_add(&pile, name);
		}
	}
	for (size_t i = 0; i < pile.n; i++)
		str_addf(&b, "/%s", pile.v[i]);
	if (!b.len)
		str_add(&b, "/");
	return str_take(&b);
}

static void check_paths(const char *base, const char *text)
{
	_cleanup_free_ char *stripped = path_strip(text, false), *restripped = path_strip(stripped, false), *literal = path_strip(text, true);
	_cleanup_free_ char *absolute = path_absolute(stripped, base, "/home"), *slow = NULL, *twice = NULL;

	must(!strcmp(stripped, restripped) && strlen(literal) >= strlen(stripped));
	must(is_canonical(absolute));
	twice = path_absolute(absolute, "/elsewhere", NULL);
	must(!strcmp(absolute, twice) && path_under(absolute, absolute) && path_under(absolute, "/"));
	if (stripped[0] == '~' && (stripped[1] == '/' || !stripped[1]))
		return;
	slow = slow_absolute(base, stripped);
	must(!strcmp(absolute, slow));
}

/* Escaped, a path is a pattern of itself alone. */
static void check_escape(const char *path)
{
	struct str b = STR_INIT;

	path_add_glob_escaped(&b, path);
	must(glob_match(b.s ? b.s : "", b.len, path, strlen(path), false));
	str_free(&b);
}

static void check_trust(const char *project, const char *name)
{
	static const char digest[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	_cleanup_free_ char *key = trust_key(project, name), *store = strf("%s x/y\n%s %s\n", digest, digest, key), *other = NULL;

	must(trust_holds(store, key, digest) && !strpbrk(key, " \n\t"));
	other = strf("%sx", key);
	must(!trust_holds(store, other, digest));
	trust_holds(project, name, digest); /* a store of any text */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *all = malloc(size + 1), *base = NULL;
	char *text;

	memcpy(all, data, size);
	all[size] = '\0';
	text = strchr(all, '\n');
	if (!text || !text[1])
		return 0;
	*text++ = '\0';
	base = strf("/%s", all);
	check_paths(base, text);
	check_escape(text);
	check_trust(base, text);
	return 0;
}
