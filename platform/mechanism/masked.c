#include "platform/mechanism/masked.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "envscrub/scrub.h"
#include "platform/base/cleanup.h"
#include "platform/base/sys.h"

enum { SIZE_LIMIT = 1 << 20 };
enum form { LINES, OBJECT };
enum named { A_FILE, A_DIRECTORY };

static const struct { const char *path, *variable; enum form form; enum named named; } rows[] = {
#define MASKED(path, variable, form, named, program) { path, variable, form, named },
#include "platform/mechanism/masked.def"
#undef MASKED
};

/* ---- what is a secret ---- */

static bool holds(const char *s, size_t n, const char *word)
{
	const size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++)
		if (!strncasecmp(s + i, word, len))
			return true;
	return false;
}

static bool is(const char *s, size_t n, const char *word)
{
	return n == strlen(word) && !strncasecmp(s, word, n);
}

static bool is_secret_key(const char *s, size_t n)
{
	static const char *const parts[] = { "_auth", "token", "passw", "secret", "apikey", "api_key", "api-key", "access_key", "key-data", "private" };
	static const char *const whole[] = { "auth", "key", "cert", "authorization", "httpheaders" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (holds(s, n, parts[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (is(s, n, whole[i]))
			return true;
	return false;
}

/* ---- lines ---- */

/* "scheme://user:password@host" without the middle, wherever in the line. */
static void add_without_userinfo(struct str *to, const char *s, size_t n)
{
	const char *end = s + n, *scheme;

	while (s < end && (scheme = memmem(s, (size_t)(end - s), "://", 3))) {
		const char *host = scheme + 3, *at = NULL;

		for (const char *c = host; c < end && !strchr("/?# \t\"'<>", *c); c++)
			if (*c == '@')
				at = c;
		str_addn(to, s, (size_t)(host - s));
		s = at ? at + 1 : host;
	}
	str_addn(to, s, (size_t)(end - s));
}

/* The key of "key = value", "key: value", "- key: value" or "key value"; a colon in "//host/:_authToken=x" is part of it. */
static size_t key_of(const char *line, size_t n, const char **ret)
{
	size_t i = 0, end;

	while (i < n && (line[i] == ' ' || line[i] == '\t' || line[i] == '"' || line[i] == '\'' || line[i] == '-'))
		i++;
	for (end = i; end < n && line[end] != '=' && !(line[end] == ':' && (end + 1 == n || line[end + 1] == ' ')); end++)
		;
	while (end > i && (isspace((unsigned char)line[end - 1]) || line[end - 1] == '"' || line[end - 1] == '\''))
		end--;
	*ret = line + i;
	return end - i;
}

static bool is_secret_line(const char *line, size_t n)
{
	const char *key;
	const size_t key_len = key_of(line, n, &key);
	const char *value = key + key_len;
	const char *const end = line + n;

	/* without a value the line is a section or a part of a longer value, of which the shape decides */
	if (value < end && *key != '#' && *key != ';' && is_secret_key(key, key_len))
		return true;
	while (value < end && strchr(" \t=:\"'", *value))
		value++;
	return scrub_value_shape(value, (size_t)(end - value)) || scrub_value_shape(key, (size_t)(end - key));
}

static size_t indentation(const char *line, size_t n)
{
	size_t i = 0;

	while (i < n && (line[i] == ' ' || line[i] == '\t'))
		i++;
	return i;
}

char *masked_lines(const char *text)
{
	struct str out = STR_INIT, clean = STR_INIT;
	size_t dropped = SIZE_MAX; /* indentation of a line that is gone: what is deeper belonged to it */

	for (const char *line = text, *next; *line; line = next) {
		const size_t whole = strcspn(line, "\n"), n = whole && line[whole - 1] == '\r' ? whole - 1 : whole, depth = indentation(line, n);

		next = line + whole + (line[whole] == '\n');
		if (dropped != SIZE_MAX && depth > dropped && depth < n)
			continue;
		dropped = SIZE_MAX;
		clean.len = 0;
		add_without_userinfo(&clean, line, n);
		if (n && is_secret_line(clean.s, clean.len))
			dropped = depth;
		else if (n)
			str_addf(&out, "%s\n", clean.s);
		else
			str_add(&out, "\n");
	}
	if (clean.s)
		explicit_bzero(clean.s, clean.cap);
	str_free(&clean);
	return str_take(&out);
}

/* ---- JSON ---- */

static bool is_secret_value(const json_t *value)
{
	return json_is_string(value) && scrub_value_shape(json_string_value(value), json_string_length(value));
}

static void mask(json_t *value)
{
	const char *key;
	json_t *member;
	void *next;
	size_t i;

	json_object_foreach_safe(value, next, key, member) {
		if (is_secret_key(key, strlen(key)) || is_secret_value(member))
			json_object_del(value, key);
		else
			mask(member);
	}
	for (i = json_array_size(value); i-- > 0;) {
		if (is_secret_value(json_array_get(value, i)))
			json_array_remove(value, i);
		else
			mask(json_array_get(value, i));
	}
}

char *masked_object(const char *text, size_t len)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	char *out = NULL;

	if (json_is_object(root)) {
		mask(root);
		out = json_dumps(root, JSON_INDENT(2));
	}
	json_decref(root);
	return out;
}

/* ---- files ---- */

static bool is_set(const struct launch *l, const char *variable)
{
	const size_t n = strlen(variable);
	const struct strv *lists[] = { &l->policy->env_set, &l->extra_env };

	for (char *const *e = l->environ; e && *e; e++)
		if (!strncasecmp(*e, variable, n) && (*e)[n] == '=') /* npm takes it in either case */
			return true;
	for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
		for (size_t i = 0; i < lists[k]->n; i++)
			if (!strncmp(lists[k]->v[i], variable, n) && lists[k]->v[i][n] == '=')
				return true;
	return false;
}

static bool covers(const struct rule *r, const char *path)
{
	if (!r->pattern)
		return path_under(path, r->path) || (r->written && path_under(path, r->written));
	for (size_t n = 1; n <= strlen(path); n++)
		if ((path[n] == '/' || !path[n]) && glob_match(r->path, strlen(r->path), path, n, r->icase))
			return true;
	return false;
}

/* The name may be a link, to a key for instance: what another rule hides is not copied, whatever it is called here. */
static bool leads_elsewhere(const struct policy *p, const char *path, const char *real)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == RULE_DENY_READ && covers(&p->rules[i], real) && !covers(&p->rules[i], path))
			return true;
	return false;
}

/* NULL: the file needs no copy, or cannot have one. */
static char *copy_of(const struct launch *l, const char *path, enum form form)
{
	_cleanup_free_ char *real = NULL, *text = NULL;
	struct verdict v;
	char *out;
	size_t len;

	if (path_resolve(path, &real) < 0)
		return NULL;
	policy_decide(l->image, ACCESS_READ, real, strlen(real), &v);
	if (v.outcome != OUTCOME_DENY || leads_elsewhere(l->policy, path, real) || read_regular_file(real, SIZE_LIMIT, &text, &len) < 0)
		return NULL;
	out = form == OBJECT ? masked_object(text, len) : strlen(text) == len ? masked_lines(text) : NULL;
	explicit_bzero(text, len);
	return out;
}

static int open_place(const struct launch *l, size_t row)
{
	_cleanup_free_ char *top = strf("%s/.masked", l->session.tmpdir), *place = strf("%s/%zu", top, row);

	if ((mkdir(top, 0700) < 0 && errno != EEXIST) || mkdir(place, 0700) < 0)
		return -errno;
	return open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void add_copy(struct launch *l, size_t row, const char *text)
{
	const char *name = strrchr(rows[row].path, '/') + 1;
	_cleanup_close_ int dir = open_place(l, row);
	_cleanup_free_ char *assignment = strf("%s=%s/.masked/%zu%s%s", rows[row].variable, l->session.tmpdir, row,
					       rows[row].named == A_FILE ? "/" : "", rows[row].named == A_FILE ? name : "");

	if (dir >= 0 && write_new_file_at(dir, name, 0600, text, strlen(text)) == 0)
		strv_add(&l->extra_env, assignment);
}

void masked_prepare(struct launch *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = path_absolute(rows[i].path, "/", l->policy->home), *text = NULL;

		if (!path || !l->image || !l->session.tmpdir || is_set(l, rows[i].variable))
			continue;
		text = copy_of(l, path, rows[i].form);
		if (text)
			add_copy(l, i, text);
	}
}

const char *masked_variable(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *absolute = path_absolute(rows[i].path, "/", p->home), *real = NULL;

		if (absolute && path_resolve(absolute, &real) == 0 && !strcmp(real, path))
			return rows[i].variable;
	}
	return NULL;
}
