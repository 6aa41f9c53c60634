#include "platform/base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void no_memory(void)
{
	static const char text[] = "out of memory\n";

	/* Not stdio, which may want memory of its own. */
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abort();
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		no_memory();
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	/* Not reallocarray(3): glibc has it from 2.26 and musl from 1.2.2 only. */
	if (__builtin_mul_overflow(n, size, &bytes))
		no_memory();
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		no_memory();
	return p;
}

char *xstrdup(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		no_memory();
	return copy;
}

/* ---- the growing buffer ---- */

static void reserve(struct str *b, size_t more)
{
	size_t need = b->len + more + 1;

	if (need <= b->len)
		no_memory();
	if (need <= b->cap)
		return;
	b->cap = need < 64 ? 64 : need + need / 2;
	b->s = xreallocarray(b->s, b->cap, 1);
}

void str_addn(struct str *b, const char *s, size_t n)
{
	reserve(b, n);
	if (n)
		memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void str_add(struct str *b, const char *s)
{
	str_addn(b, s, strlen(s));
}

void str_vaddf(struct str *b, const char *format, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, ap);
	if (n > 0) {
		reserve(b, (size_t)n);
		vsnprintf(b->s + b->len, (size_t)n + 1, format, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void str_addf(struct str *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	str_vaddf(b, format, ap);
	va_end(ap);
}

void str_free(struct str *b)
{
	free(b->s);
	*b = STR_INIT;
}

char *str_take(struct str *b)
{
	char *s = b->s ? b->s : xstrdup("");

	*b = STR_INIT;
	return s;
}

char *strf(const char *format, ...)
{
	struct str b = STR_INIT;
	va_list ap;

	va_start(ap, format);
	str_vaddf(&b, format, ap);
	va_end(ap);
	return str_take(&b);
}

/* ---- escaping ---- */

/* Table 3-7 of the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF. The terminating NUL is no
 * continuation byte, so it stops every read. */
size_t str_utf8(const char *text, uint32_t *ret_code)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	uint32_t code = n == 1 ? s[0] : s[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if ((n == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) || (n == 4 && (code < 0x10000 || code > 0x10ffff)))
		return 0;
	if (n)
		*ret_code = code;
	return n;
}

/* Can this character move the cursor, end a line or reorder what stands beside it? C0, DEL, C1, the line and paragraph
 * separators, the bidirectional controls (UAX #9) and the byte order mark. */
bool str_drives_terminal(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* One byte as vis(3) spells it: \n and its kind, \033, \M-x and \M^x above 0x7f. */
static void add_vis(struct str *b, unsigned char c)
{
	static const char letters[] = "abtnvfr"; /* from \a, 7, to \r, 13 */
	unsigned char low = c & 0x7f;

	if (c >= 7 && c <= 13)
		str_addf(b, "\\%c", letters[c - 7]);
	else if (c < 0x80)
		str_addf(b, "\\%03o", c);
	else if (low > 0x20 && low < 0x7f)
		str_addf(b, "\\M-%c", low);
	else if (low == 0x20)
		str_addf(b, "\\%03o", c);
	else
		str_addf(b, "\\M^%c", low == 0x7f ? '?' : low + '@');
}

static void add_visible(struct str *b, const char *text, bool double_backslash)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		uint32_t code = 0;
		size_t n = str_utf8((const char *)s, &code);

		if (n && !str_drives_terminal(code)) {
			if (double_backslash && *s == '\\')
				str_add(b, "\\");
			str_addn(b, (const char *)s, n);
			s += n;
			continue;
		}
		for (n = n ? n : 1; n; n--)
			add_vis(b, *s++);
	}
}

void str_add_escaped(struct str *b, const char *s)
{
	add_visible(b, s, true);
}

void str_add_visible(struct str *b, const char *s)
{
	add_visible(b, s, false);
}

char *str_escape(const char *s)
{
	struct str b = STR_INIT;

	str_add_escaped(&b, s);
	return str_take(&b);
}

/* ---- nearest match ---- */

enum { NEAREST_MAX = 63 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edits from a to b, where two swapped neighbours are one edit: the slip that people make most. */
static unsigned edits(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[3][NEAREST_MAX + 1];

	for (unsigned j = 0; j <= nb; j++)
		row[0][j] = j;
	for (unsigned i = 1; i <= na; i++) {
		unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];

		now[0] = i;
		for (unsigned j = 1; j <= nb; j++) {
			now[j] = min3(before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && earlier[j - 2] + 1 < now[j])
				now[j] = earlier[j - 2] + 1;
		}
	}
	return row[na % 3][nb];
}

const char *str_nearest(const char *s, const char *const *names, size_t n)
{
	size_t len = strlen(s);
	unsigned best = (unsigned)(len / 3) + 1;
	const char *nearest = NULL;

	if (len > NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t other = strlen(names[i]);
		unsigned d = other > NEAREST_MAX ? best : edits(s, len, names[i], other);

		if (d < best) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}

/* ---- lists ---- */

void strv_add(struct strv *l, const char *s)
{
	l->v = xreallocarray(l->v, l->n + 2, sizeof(*l->v));
	l->v[l->n++] = xstrdup(s);
	l->v[l->n] = NULL;
}

void strv_free(struct strv *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct strv){ 0 };
}

bool strv_has(const struct strv *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], s))
			return true;
	return false;
}
