/* Rules that are patterns: what they are anchored to, and symlinks in the plain directories that they begin with. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "platform/base/cleanup.h"
#include "platform/policy/paths.h"
#include "platform/policy/rules_private.h"

/* Matching tries every place for each "**"; more than a handful in one pattern is a mistake or an attack. */
enum { DOUBLE_STARS_MAX = 8 };

static bool holds_everywhere(const struct entry *e, const char *text)
{
	if (e->kind == RULE_PROTECT_NAME)
		return true;
	if (!rule_kind_denies(e->kind) || text[0] == '/' || text[0] == '~')
		return false;
	if (!strncmp(text, "**/", 3))
		return true;
	return (e->flags & ADD_ANYWHERE) && strncmp(text, "./", 2) && strncmp(text, "../", 3);
}

/* Length of the leading components that hold no special character, slash included. */
static size_t plain_prefix(const char *text)
{
	size_t special = strcspn(text, "*?[\\");

	while (special && text[special - 1] != '/')
		special--;
	return special;
}

static int check_pattern(const struct entry *e, const char *special)
{
	int double_stars = 0;

	for (const char *s = special; *s; s += strspn(s, "/")) {
		size_t n = strcspn(s, "/");

		if (n == 2 && !strncmp(s, "..", 2))
			return err_set(e->err, -EINVAL, "%s: '%s': '..' cannot follow a wildcard", e->origin, e->text);
		if (n == 2 && !strncmp(s, "**", 2) && ++double_stars > DOUBLE_STARS_MAX)
			return err_set(e->err, -EINVAL, "%s: '%.60s' has more than %d '**'", e->origin, e->text, DOUBLE_STARS_MAX);
		s += n;
	}
	return 0;
}

/* Appends "/component" for each component of text but "." and empty ones. */
static void add_pattern_components(struct str *b, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "/");

		if (n && !(n == 1 && text[0] == '.')) {
			str_add(b, "/");
			str_addn(b, text, n);
		}
		text += n + (text[n] == '/');
	}
}

/* The plain directories that a pattern begins with, real, and escaped: a project may stand in "/home/u/[old]". */
static int add_pattern_root(const struct entry *e, size_t plain, struct str *b)
{
	_cleanup_free_ char *prefix = strndup(e->stripped, plain), *absolute = NULL, *resolved = NULL;
	bool exists;
	int r;

	absolute = path_absolute(prefix, e->base, e->p->home);
	if (!absolute)
		return rule_no_home(e);
	r = rule_resolve(e->p, absolute, &resolved, &exists);
	if (r == -ELOOP && e->layer == LAYER_DEFAULT)
		resolved = xstrdup(absolute);
	else if (r == -ELOOP)
		return err_set(e->err, -ELOOP, "%s: '%s' begins with a cycle of symbolic links", e->origin, e->text);
	else if (r < 0)
		return rule_too_long(e);
	if (strcmp(resolved, "/"))
		path_add_glob_escaped(b, resolved);
	return 1;
}

static int add_anchored(const struct entry *e)
{
	struct str b = STR_INIT;
	const char *special = e->stripped;
	int r;

	if (holds_everywhere(e, e->stripped)) {
		str_add(&b, "/**");
		while (!strncmp(special, "**/", 3))
			special += 3;
	} else {
		size_t plain = plain_prefix(e->stripped);

		r = add_pattern_root(e, plain, &b);
		if (r <= 0) {
			str_free(&b);
			return r;
		}
		special += plain;
	}
	r = check_pattern(e, special);
	if (r < 0) {
		str_free(&b);
		return r;
	}
	add_pattern_components(&b, special);
	return rule_append(e, str_take(&b), NULL, true);
}

/*
 * "app/[id]" is a pattern and may be the name of a directory. A deny means both; where it would open something, the
 * pattern stands and the user hears of it.
 */
static int add_file_of_that_name(const struct entry *e)
{
	_cleanup_free_ char *absolute = NULL;
	struct stat st;

	if (e->layer == LAYER_DEFAULT || e->kind == RULE_PROTECT_NAME)
		return 0;
	absolute = path_absolute(e->stripped, e->base, e->p->home);
	if (!absolute || lstat(absolute, &st) < 0)
		return 0;
	if (rule_kind_denies(e->kind))
		return rule_add_literal(e);
	policy_warn(e->p, "%s: '%s' is taken as a pattern, though a file has that very name; say {\"path\": ..., \"literal\": true} for it",
		    e->origin, e->text);
	return 0;
}

int rule_add_pattern(const struct entry *e)
{
	int r = add_anchored(e), also = r < 0 ? 0 : add_file_of_that_name(e);

	return also < 0 ? also : r;
}
