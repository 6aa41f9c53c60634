/* Values that are secrets by their own format. One pass over the value; nothing is decoded before a prefix has matched. */
#include <stdint.h>
#include <string.h>

#include "envscrub/scrub.h"

enum tail { WORD, ALNUM, HEX, URL64, BASE64, DOTTED, AWS_ID, OPENAI, JWT, PEM64 };

static const struct shape {
	const char *prefix;
	uint8_t len, min;
	enum tail tail;
	const char *why;
} shapes[] = {
#define SHAPE(prefix, tail, min, whose) { prefix, sizeof(prefix) - 1, min, tail, "value looks like " whose },
#include "envscrub/shapes.def"
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes), CHAINS = 256 };

/* What a byte can belong to, as bits. */
enum { B_ALNUM = 1, B_HEX = 2, B_UNDERSCORE = 4, B_DASH = 8, B_BASE64 = 16, B_DOT = 32, B_BASE32 = 64, B_HINT = 128 };
static const uint8_t bytes[256] = {
	['0' ... '1'] = B_ALNUM | B_HEX,
	['2' ... '7'] = B_ALNUM | B_HEX | B_BASE32,
	['8' ... '9'] = B_ALNUM | B_HEX,
	['a' ... 'f'] = B_ALNUM | B_HEX,
	['g' ... 'z'] = B_ALNUM,
	['A' ... 'F'] = B_ALNUM | B_HEX | B_BASE32,
	['G' ... 'Z'] = B_ALNUM | B_BASE32,
	['_'] = B_UNDERSCORE,
	['-'] = B_DASH | B_HINT,
	['+'] = B_BASE64, ['/'] = B_BASE64,
	['='] = B_BASE64 | B_HINT,
	['.'] = B_DOT,
	[':'] = B_HINT, ['~'] = B_HINT,
};
static const uint8_t tails[] = {
	[WORD] = B_ALNUM | B_UNDERSCORE,
	[ALNUM] = B_ALNUM,
	[HEX] = B_HEX,
	[URL64] = B_ALNUM | B_UNDERSCORE | B_DASH,
	[BASE64] = B_ALNUM | B_UNDERSCORE | B_DASH | B_BASE64,
	[DOTTED] = B_ALNUM | B_UNDERSCORE | B_DASH | B_DOT,
	[AWS_ID] = B_BASE32,
	[OPENAI] = B_ALNUM | B_UNDERSCORE | B_DASH,
	[JWT] = B_ALNUM | B_UNDERSCORE | B_DASH,
	[PEM64] = B_ALNUM | B_UNDERSCORE | B_DASH | B_BASE64,
};

static inline uint8_t byte_is(const char *p)
{
	return bytes[(unsigned char)*p];
}

/* Bytes of the set at p, counted up to most: with that bound no value can make the scan quadratic. */
static size_t run(const char *p, const char *end, uint8_t set, size_t most)
{
	const char *start = p;

	if ((size_t)(end - p) > most)
		end = p + most;
	while (p < end && byte_is(p) & set)
		p++;
	return (size_t)(p - start);
}

static inline char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Does text, in any case, end right before p? low is lower case. */
static bool ends_with(const char *start, const char *p, const char *low)
{
	size_t n = strlen(low);

	if ((size_t)(p - start) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (lower(p[i - n]) != low[i])
			return false;
	return true;
}

/* ---- base64 ---- */

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Decodes either alphabet until the first other byte or until out is full, and ends it with a NUL; the number of bytes. */
static size_t base64_decode(const char *p, const char *end, char *out, size_t room)
{
	uint32_t bits = 0;
	unsigned have = 0;
	size_t n = 0;

	for (; p < end && base64_digit(*p) >= 0 && n + 1 < room; p++) {
		bits = bits << 6 | (uint32_t)base64_digit(*p);
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (char)(bits >> have);
		}
	}
	out[n] = '\0';
	return n;
}

/* A JWT is three parts of base64url of which the first is a JSON object with "alg" (RFC 7515 section 4.1.1). */
static bool is_jwt(const char *p, const char *end)
{
	char header[512];
	const char *dot = p + run(p, end, tails[URL64], 2048), *alg;
	size_t payload, n;

	if (dot >= end || *dot != '.')
		return false;
	payload = run(dot + 1, end, tails[URL64], 65536);
	if (!payload || dot + 1 + payload >= end || dot[1 + payload] != '.')
		return false;
	n = base64_decode(p, dot, header, sizeof(header));
	if (n < 2 || header[0] != '{' || (n + 1 < sizeof(header) && header[n - 1] != '}'))
		return false;
	alg = strstr(header, "\"alg\"");
	return alg && alg[5 + strspn(alg + 5, " \t\r\n")] == ':';
}

static bool is_private_pem64(const char *p, const char *end)
{
	char text[64];

	base64_decode(p, end, text, sizeof(text));
	return strstr(text, "PRIVATE KEY") != NULL;
}

/* ---- prefixes ---- */

static uint8_t chain_head[CHAINS], chain_next[SHAPES]; /* shape + 1 */
static bool chained;

static inline uint8_t chain_of(const char *p)
{
	return (uint8_t)((unsigned char)p[0] * 7 + (unsigned char)p[1]);
}

static void chain_shapes(void)
{
	_Static_assert(SHAPES < 255, "chains hold shape numbers in a byte");
	for (size_t i = 0; i < SHAPES; i++) {
		uint8_t *head = &chain_head[chain_of(shapes[i].prefix)];

		chain_next[i] = *head;
		*head = (uint8_t)(i + 1);
	}
	chained = true;
}

static bool tail_fits(const struct shape *s, const char *start, const char *end)
{
	const char *p = start + s->len;
	size_t n = run(p, end, tails[s->tail], s->tail == OPENAI ? 512 : s->min);

	if (n < s->min)
		return false;
	switch (s->tail) {
	case AWS_ID: /* an id that goes on is something else, such as base64 */
		return p + n == end || !(byte_is(p + n) & (B_ALNUM | B_UNDERSCORE | B_BASE64));
	case OPENAI:
		return memmem(p, n, "T3BlbkFJ", 8) != NULL;
	case JWT:
		return is_jwt(start, end);
	case PEM64:
		return is_private_pem64(start, end);
	default:
		return true;
	}
}

static const char *prefix_at(const char *p, const char *end)
{
	if (end - p < 3)
		return NULL;
	for (uint8_t i = chain_head[chain_of(p)]; i; i = chain_next[i - 1]) {
		const struct shape *s = &shapes[i - 1];

		if (p[2] == s->prefix[2] && (size_t)(end - p) > s->len && !memcmp(p, s->prefix, s->len) && tail_fits(s, p, end))
			return s->why;
	}
	return NULL;
}

/* ---- shapes that hang on a punctuation mark ---- */

/* "scheme://user:password@host": p is at the colon. The last '@' before the path ends the user part (WHATWG URL). */
static bool url_has_password(const char *start, const char *p, const char *end)
{
	const char *user = p + 3, *at = NULL, *colon = NULL;

	if (p == start || !(byte_is(p - 1) & B_ALNUM) || end - p < 6 || p[1] != '/' || p[2] != '/')
		return false;
	for (const char *q = user; q < end && !strchr("/?#\\\"'<> \t\r\n", *q); q++) {
		if (*q == '@')
			at = q;
		else if (*q == ':' && !colon)
			colon = q;
	}
	return at && colon && colon + 1 < at;
}

/* "-----BEGIN ... PRIVATE KEY": the label ends at the next dashes (RFC 7468). */
static bool is_private_pem(const char *p, const char *end)
{
	static const char begin[] = "-----BEGIN ";
	const char *label = p + sizeof(begin) - 1, *close;

	if ((size_t)(end - p) < sizeof(begin) || memcmp(p, begin, sizeof(begin) - 1))
		return false;
	close = memmem(label, (size_t)(end - label), "-----", 5);
	return memmem(label, (size_t)((close ? close : end) - label), "PRIVATE KEY", 11) != NULL;
}

static const struct { const char *name; size_t min; const char *why; } assignments[] = {
	{ "password",        1,  "value contains password=" },
	{ "passwd",          1,  "value contains passwd=" },
	{ "accountkey",      40, "value looks like a storage connection string" },
	{ "sharedaccesskey", 40, "value looks like a storage connection string" },
	{ "sig",             40, "value looks like a signed URL" },
	{ "x-amz-signature", 64, "value looks like a signed URL" },
};

/* At least min bytes that are no template: what begins a substitution (${PASSWORD}, %s, <password>) or is empty is none. */
static bool is_assigned(const char *p, const char *end, size_t min)
{
	size_t n = 0;

	if (p < end && (*p == '"' || *p == '\''))
		p++;
	if (p == end || strchr("$%{<*", *p))
		return false;
	while (n < min && p + n < end && !strchr(" \t\r\n;&,\"'", p[n]))
		n++;
	return n == min;
}

/* "password=..." and its kind, in connection strings and options. p is at the '='. */
static const char *assignment_shape(const char *start, const char *p, const char *end)
{
	if (p == start || !(byte_is(p - 1) & B_ALNUM))
		return NULL;
	for (size_t i = 0; i < sizeof(assignments) / sizeof(*assignments); i++)
		if (ends_with(start, p, assignments[i].name) && is_assigned(p + 1, end, assignments[i].min))
			return assignments[i].why;
	return NULL;
}

/* "Authorization: Basic|Bearer|token ...", as in git's http.extraHeader. p is at the colon. */
static bool is_authorization(const char *start, const char *p, const char *end)
{
	const char *scheme, *credentials;

	if (!ends_with(start, p, "authorization"))
		return false;
	for (scheme = p + 1; scheme < end && *scheme == ' '; scheme++)
		;
	credentials = scheme + run(scheme, end, B_ALNUM, 16);
	return ends_with(scheme, credentials, "basic") || ends_with(scheme, credentials, "bearer") ||
	       ends_with(scheme, credentials, "token");
}

/* Entra client secrets: three bytes, a digit, "Q~", 31 to 34 more. p is at the '~'. */
static bool is_entra_secret(const char *start, const char *p, const char *end)
{
	const char *q = p + 1, *stop = end - q > 40 ? q + 40 : end;

	if (p - start < 5 || p[-1] != 'Q' || p[-2] < '0' || p[-2] > '9')
		return false;
	while (q < stop && (*q == '~' || byte_is(q) & tails[DOTTED]))
		q++;
	return q - p - 1 >= 31 && q - p - 1 <= 34;
}

static const char *hint_at(const char *start, const char *p, const char *end)
{
	switch (*p) {
	case ':':
		if (url_has_password(start, p, end))
			return "value is a URL with a password";
		return is_authorization(start, p, end) ? "value is an authorization header" : NULL;
	case '=':
		return assignment_shape(start, p, end);
	case '-':
		return is_private_pem(p, end) ? "value is a private key" : NULL;
	case '~':
		return is_entra_secret(start, p, end) ? "value looks like an Azure client secret" : NULL;
	}
	return NULL;
}

const char *scrub_value_shape(const char *value, size_t n)
{
	const char *end = value + n;
	bool inside = false; /* a word: letters, digits, '_' */

	if (!chained)
		chain_shapes();
	for (const char *p = value; p < end; p++) {
		uint8_t is = byte_is(p);
		const char *why = NULL;

		if (is & (B_ALNUM | B_UNDERSCORE)) {
			if (!inside)
				why = prefix_at(p, end);
			inside = true;
		} else {
			inside = false;
			if (is & B_HINT)
				why = hint_at(value, p, end);
		}
		if (why)
			return why;
	}
	return NULL;
}
