/*
 * Reading one settings file: text to JSON, the walk over its objects, and messages that say where. What each key does is in
 * settings_keys.c, the list of keys in settings_keys.def.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/settings_private.h"

/* More is a mistake or an attack: what looks through lists may take the square of it. */
enum { ENTRIES_MAX = 16384 };

/* ---- messages ---- */

/* "NAME:LINE:COLUMN" */
static void add_position(struct reader *r, const struct json_step *at, struct str *to)
{
	unsigned line, column;

	str_add(to, r->name);
	if (!json_position_next(&r->cursor, r->text, r->len, at, &line, &column))
		return;
	str_add(to, ":");
	json_add_number(to, line);
	str_add(to, ":");
	json_add_number(to, column);
}

static char *position(struct reader *r, const struct json_step *at)
{
	struct str b = STR_INIT;

	add_position(r, at, &b);
	return str_take(&b);
}

char *settings_origin(struct reader *r, const struct json_step *at)
{
	struct str b = STR_INIT;

	add_position(r, at, &b);
	str_add(&b, ": ");
	json_add_step_name(&b, at);
	return str_take(&b);
}

int settings_error(struct reader *r, const struct json_step *at, const char *format, ...)
{
	_cleanup_free_ char *where = position(r, at), *key = json_step_name(at), *words = NULL;
	struct str b = STR_INIT;
	va_list ap;

	va_start(ap, format);
	str_vaddf(&b, format, ap);
	va_end(ap);
	words = str_take(&b);
	return err_set(r->err, -EINVAL, "%s: %s%s%s", where, key, *key ? ": " : "", words);
}

void settings_warn(struct reader *r, const struct json_step *at, const char *format, ...)
{
	_cleanup_free_ char *origin = NULL, *words = NULL;
	struct str b = STR_INIT;
	va_list ap;

	if (r->p->warnings.n > WARNINGS_MAX)
		return;
	origin = settings_origin(r, at);

	va_start(ap, format);
	str_vaddf(&b, format, ap);
	va_end(ap);
	words = str_take(&b);
	policy_warn(r->p, "%s: %s", origin, words);
}

static const char *type_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:  return "an object";
	case JSON_ARRAY:   return "an array";
	case JSON_STRING:  return "a string";
	case JSON_INTEGER:
	case JSON_REAL:    return "a number";
	case JSON_TRUE:    return "true";
	case JSON_FALSE:   return "false";
	default:           return "null";
	}
}

int settings_wrong_type(struct reader *r, const struct json_step *at, const json_t *found, const char *expected)
{
	return settings_error(r, at, "found %s, expected %s", type_of(found), expected);
}

/* ---- unknown keys ---- */

/* A key of another object, put into the wrong one. */
static const char *same_name_elsewhere(const char *key)
{
	for (size_t i = 0; i < n_settings_keys; i++) {
		const char *dot = strrchr(settings_keys[i].path, '.');

		if (!strcmp(dot ? dot + 1 : settings_keys[i].path, key))
			return settings_keys[i].path;
	}
	return NULL;
}

void settings_unknown(struct reader *r, const struct json_step *at, const char *const *names, size_t n)
{
	const char *hint = str_nearest(at->key, names, n);

	if (!hint)
		hint = same_name_elsewhere(at->key);
	if (hint)
		settings_warn(r, at, "unknown key; did you mean \"%s\"?", hint);
	else
		settings_warn(r, at, "unknown key; it is ignored");
}

/* ---- the walk ---- */

/* The table's keys that stand directly in the object called prefix ("" or "filesystem."), without it. */
static size_t keys_of(const char *prefix, const char **names)
{
	const size_t n = strlen(prefix);
	size_t found = 0;

	for (size_t i = 0; i < n_settings_keys; i++)
		if (!strncmp(settings_keys[i].path, prefix, n) && !strchr(settings_keys[i].path + n, '.'))
			names[found++] = settings_keys[i].path + n;
	return found;
}

static const struct settings_key *find_key(const char *prefix, const char *name)
{
	const size_t n = strlen(prefix);

	for (size_t i = 0; i < n_settings_keys; i++)
		if (!strncmp(settings_keys[i].path, prefix, n) && !strcmp(settings_keys[i].path + n, name))
			return &settings_keys[i];
	return NULL;
}

static const char *expected(enum value_type type)
{
	switch (type) {
	case BOOL:    return "true or false";
	case NUMBER:  return "a number";
	case STRING:  return "a string";
	case OBJECT:  return "an object";
	case STRINGS: return "an array of strings";
	case PATHS:   return "an array of paths";
	default:      return "an array";
	}
}

static bool has_type(const json_t *value, enum value_type type)
{
	switch (type) {
	case ANY:    return true;
	case BOOL:   return json_is_boolean(value);
	case NUMBER: return json_is_number(value);
	case STRING: return json_is_string(value);
	case OBJECT: return json_is_object(value);
	default:     return json_is_array(value);
	}
}

static int check_strings(struct reader *r, const struct json_step *at, json_t *array)
{
	struct json_step element = { .parent = at };
	json_t *value;

	json_array_foreach(array, element.index, value)
		if (!json_is_string(value))
			return settings_wrong_type(r, &element, value, "a string");
	return 0;
}

static int read_member(struct reader *r, const char *prefix, const struct json_step *at, json_t *value)
{
	/* a dot in the key itself must not look like the way to another one */
	const struct settings_key *key = strchr(at->key, '.') ? NULL : find_key(prefix, at->key);
	int code = 0;

	if (!key) {
		const char **names = xcalloc(n_settings_keys, sizeof(*names));
		settings_unknown(r, at, names, keys_of(prefix, names));
		free(names);
		return 0;
	}
	if (json_is_null(value))
		return 0;
	if (!has_type(value, key->type))
		return settings_wrong_type(r, at, value, expected(key->type));
	if (json_array_size(value) > ENTRIES_MAX || json_object_size(value) > ENTRIES_MAX)
		return settings_error(r, at, "found more than %d entries", ENTRIES_MAX);
	if (key->type == STRINGS)
		code = check_strings(r, at, value);
	json_cursor_reset(&r->cursor);
	if (code == 0 && settings_may(r, key, at, value))
		code = key->read(r, key, at, value);
	json_cursor_reset(&r->cursor);
	return code;
}

int settings_read_object(struct reader *r, const struct json_step *at, json_t *object)
{
	_cleanup_free_ char *name = json_step_name(at), *prefix = NULL;
	struct json_step member = { .parent = at };
	json_t *value;

	const char *below = name;

	if (r->form == FORM_CLAUDE && !strncmp(name, "sandbox", 7) && (!name[7] || name[7] == '.'))
		below = name + (name[7] ? 8 : 7);
	prefix = strf("%s%s", below, *below ? "." : "");
	json_object_foreach(object, member.key, value) {
		int code = read_member(r, prefix, &member, value);

		if (code < 0)
			return code;
	}
	return 0;
}

/* ---- the text ---- */

static bool is_blank(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n'))
		i++;
	return i == len;
}

/* jansson's words: "... near 'x'", without the position, which it tells apart. */
static int not_json(struct reader *r, const json_error_t *e)
{
	const int line = e->line < 1 ? 1 : e->line, column = e->column < 1 ? 1 : e->column;

	if (json_error_code(e) == json_error_duplicate_key) {
		const char *near = strstr(e->text, "near ");
		return err_set(r->err, -EINVAL, "%s:%d:%d: found the key %s twice, expected it once", r->name, line, column, near ? near + 5 : "");
	}
	if (json_error_code(e) == json_error_null_character || json_error_code(e) == json_error_null_byte_in_key)
		return err_set(r->err, -EINVAL, "%s:%d:%d: found a NUL character in a string, expected none", r->name, line, column);
	err_set(r->err, -EINVAL, "%s:%d:%d: not JSON: %s", r->name, line, column, e->text);
	if (strstr(e->text, "near '/'"))
		err_hint(r->err, "JSON has no comments");
	return -EINVAL;
}

static int read_text(struct reader *r)
{
	json_error_t e;
	json_t *root;
	int code;

	if (is_blank(r->text, r->len))
		return err_set(r->err, -EINVAL, "%s:1:1: the file is empty, expected a JSON object", r->name);
	root = json_loadb(r->text, r->len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
	if (!root)
		return not_json(r, &e);
	code = json_is_object(root) ? settings_read_document(r, root) : settings_wrong_type(r, NULL, root, "an object");
	json_decref(root);
	return code;
}

int settings_read_text(struct reader *r)
{
	if (r->len >= 3 && !memcmp(r->text, "\xef\xbb\xbf", 3)) { /* editors on Windows put a byte order mark first */
		r->text += 3;
		r->len -= 3;
	}
	return read_text(r);
}

int policy_read_settings_text(struct policy *p, const char *text, size_t len, const char *name, enum layer layer, struct err *err)
{
	struct reader r = {
		.p = p, .name = name, .layer = layer, .text = text, .len = len, .err = err,
		.tighten_only = layer == LAYER_PROJECT || layer == LAYER_LOCAL,
	};

	return settings_read_text(&r);
}
