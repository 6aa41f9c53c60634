/* A scanner that skips over JSON. See json_position.h. */
#include <stdint.h>
#include <string.h>
#include "platform/base/str.h"
#include "platform/policy/json_position.h"

struct scanner { const char *s, *end; };

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct scanner *c)
{
	while (c->s < c->end && is_space(*c->s))
		c->s++;
}

static bool take(struct scanner *c, char want)
{
	skip_space(c);
	if (c->s >= c->end || *c->s != want)
		return false;
	c->s++;
	return true;
}

/* From the opening quote to behind the closing one. */
static bool skip_string(struct scanner *c)
{
	if (!take(c, '"'))
		return false;
	while (c->s < c->end && *c->s != '"')
		c->s += *c->s == '\\' && c->end - c->s > 1 ? 2 : 1;
	return take(c, '"');
}

/* Without recursion: a document may nest deeply. */
static bool skip_value(struct scanner *c)
{
	size_t depth = 0;

	skip_space(c);
	while (c->s < c->end) {
		if (*c->s == '"') {
			if (!skip_string(c))
				return false;
			continue;
		}
		if (depth == 0 && (*c->s == ',' || *c->s == '}' || *c->s == ']'))
			return true;
		if (*c->s == '{' || *c->s == '[')
			depth++;
		else if (*c->s == '}' || *c->s == ']')
			depth--;
		c->s++;
	}
	return depth == 0;
}

/* ---- keys, which may be written with escapes ---- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The four digits at c->s, or -1. */
static int32_t take_hex4(struct scanner *c)
{
	int32_t n = 0;

	if (c->end - c->s < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex(*c->s++);

		if (digit < 0)
			return -1;
		n = n * 16 + digit;
	}
	return n;
}

static void add_utf8(struct str *b, uint32_t u)
{
	const char lead[] = { 0, (char)0xc0, (char)0xe0, (char)0xf0 };
	const int more = u < 0x80 ? 0 : u < 0x800 ? 1 : u < 0x10000 ? 2 : 3;
	char bytes[4];

	bytes[0] = (char)(lead[more] | (char)(u >> (6 * more)));
	for (int i = 1; i <= more; i++)
		bytes[i] = (char)(0x80 | ((u >> (6 * (more - i))) & 0x3f));
	str_addn(b, bytes, (size_t)more + 1);
}

/* After "\u". */
static bool add_unicode(struct scanner *c, struct str *b)
{
	int32_t high = take_hex4(c), low;

	if (high < 0)
		return false;
	if (high >= 0xd800 && high < 0xdc00 && c->end - c->s >= 6 && c->s[0] == '\\' && c->s[1] == 'u') {
		c->s += 2;
		low = take_hex4(c);
		if (low < 0xdc00 || low > 0xdfff)
			return false;
		high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	add_utf8(b, (uint32_t)high);
	return true;
}

static bool add_escape(struct scanner *c, struct str *b)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *known;

	if (c->s >= c->end)
		return false;
	if (*c->s == 'u') {
		c->s++;
		return add_unicode(c, b);
	}
	known = *c->s ? strchr(from, *c->s) : NULL;
	str_addn(b, known ? &to[known - from] : c->s, 1);
	c->s++;
	return true;
}

/* Takes a string and tells in *ret_same whether it is key. */
static bool take_key(struct scanner *c, const char *key, bool *ret_same)
{
	struct str b = STR_INIT;
	bool ok = take(c, '"');

	while (ok && c->s < c->end && *c->s != '"') {
		if (*c->s == '\\') {
			c->s++;
			ok = add_escape(c, &b);
		} else {
			str_addn(&b, c->s++, 1);
		}
	}
	ok = ok && take(c, '"');
	*ret_same = ok && b.len == strlen(key) && !memcmp(b.len ? b.s : "", key, b.len);
	str_free(&b);
	return ok;
}

/* ---- the way ---- */

static bool enter_object(struct scanner *c, const char *key)
{
	bool same;

	if (!take(c, '{'))
		return false;
	do {
		skip_space(c);
		if (!take_key(c, key, &same) || !take(c, ':'))
			return false;
		if (same)
			return true;
		if (!skip_value(c))
			return false;
	} while (take(c, ','));
	return false;
}

static bool enter(struct scanner *c, const char *text, const struct json_step *at, struct json_cursor *cursor);

/* Resumes at the element that was found last, if it is of the same array and not behind the one that is wanted. */
static bool enter_element(struct scanner *c, const char *text, const struct json_step *at, struct json_cursor *cursor)
{
	size_t from = 0;

	if (cursor && cursor->array == at->parent && cursor->index <= at->index) {
		c->s = text + cursor->at;
		from = cursor->index;
	} else if (!enter(c, text, at->parent, NULL) || !take(c, '[')) {
		return false;
	}
	for (; from < at->index; from++)
		if (!skip_value(c) || !take(c, ','))
			return false;
	skip_space(c);
	if (cursor && at->parent) {
		cursor->array = at->parent;
		cursor->index = at->index;
		cursor->at = (size_t)(c->s - text);
	}
	return true;
}

static bool enter(struct scanner *c, const char *text, const struct json_step *at, struct json_cursor *cursor)
{
	if (!at)
		return true;
	if (!at->key)
		return enter_element(c, text, at, cursor);
	return enter(c, text, at->parent, cursor) && enter_object(c, at->key);
}

static void count(const char *text, const char *to, unsigned *line, unsigned *column)
{
	for (; text < to; text++) {
		if (*text == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)*text & 0xc0) != 0x80) { /* not inside of a UTF-8 character */
			++*column;
		}
	}
}

void json_cursor_reset(struct json_cursor *cursor)
{
	cursor->array = NULL;
}

bool json_position_next(struct json_cursor *cursor, const char *text, size_t len, const struct json_step *at, unsigned *ret_line,
			unsigned *ret_column)
{
	struct scanner c = { text, text + len };
	size_t to;

	if (!enter(&c, text, at, cursor))
		return false;
	skip_space(&c);
	to = (size_t)(c.s - text);
	if (!cursor->line || cursor->counted > to)
		*cursor = (struct json_cursor){ .array = cursor->array, .index = cursor->index, .at = cursor->at, .line = 1, .column = 1 };
	count(text + cursor->counted, c.s, &cursor->line, &cursor->column);
	cursor->counted = to;
	*ret_line = cursor->line;
	*ret_column = cursor->column;
	return true;
}

bool json_position(const char *text, size_t len, const struct json_step *at, unsigned *ret_line, unsigned *ret_column)
{
	struct json_cursor cursor = { 0 };

	return json_position_next(&cursor, text, len, at, ret_line, ret_column);
}

void json_add_number(struct str *b, unsigned long n)
{
	char digits[24];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	str_addn(b, digits + i, sizeof(digits) - i);
}

/* Without printf, since every entry of every file has its place told. */
void json_add_step_name(struct str *b, const struct json_step *at)
{
	const size_t begin = b->len;

	if (!at)
		return;
	json_add_step_name(b, at->parent);
	if (at->key) {
		if (b->len > begin)
			str_add(b, ".");
		str_add(b, at->key);
	} else {
		str_add(b, "[");
		json_add_number(b, at->index);
		str_add(b, "]");
	}
}

char *json_step_name(const struct json_step *at)
{
	struct str b = STR_INIT;

	json_add_step_name(&b, at);
	return str_take(&b);
}
