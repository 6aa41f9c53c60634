/* Names of hosts: their canonical form. */
#include <errno.h>
#include <string.h>
#include "platform/base/str.h"
#include "platform/policy/hosts.h"

static int malformed(const char **ret_why, const char *why)
{
	if (ret_why)
		*ret_why = why;
	return -EINVAL;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* The last label is one that a resolver may take for a number, so the whole must be an address or nothing. */
static bool ends_in_number(const char *s, size_t len)
{
	const char *dot = memrchr(s, '.', len), *label = dot ? dot + 1 : s, *end = s + len, *c = label;

	if (end - label >= 2 && c[0] == '0' && (c[1] | 32) == 'x') {
		for (c += 2; c < end && is_hex(*c); c++)
			;
		return c == end;
	}
	while (c < end && is_digit(*c))
		c++;
	return c == end && c > label;
}

static int take_address(const struct address *a, struct hostname *ret)
{
	struct hostname h = { .address = *a };

	address_text(a, h.text);
	*ret = h;
	return 0;
}

/* ---- names ---- */

static int check_label(const char *s, size_t len, const char **ret_why)
{
	if (!len)
		return malformed(ret_why, "a label is empty");
	if (len > LABEL_MAX)
		return malformed(ret_why, "a label is longer than 63 bytes");
	if (s[0] == '-' || s[len - 1] == '-')
		return malformed(ret_why, "a label begins or ends with '-'");
	return 0;
}

static int check_labels(const char *s, size_t len, const char **ret_why)
{
	for (const char *end = s + len;; s++) {
		const char *dot = memchr(s, '.', (size_t)(end - s));
		int r = check_label(s, (size_t)((dot ? dot : end) - s), ret_why);

		if (r < 0 || !dot)
			return r;
		s = dot;
	}
}

/* ASCII only: no locale may have a say here. */
static int fold(const char *s, size_t len, char *to)
{
	for (size_t i = 0; i < len; i++) {
		const char c = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + 32) : s[i];

		if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '.' && c != '-' && c != '_')
			return -EINVAL;
		to[i] = c;
	}
	to[len] = '\0';
	return 0;
}

static int parse_v6(const char *s, size_t len, struct hostname *ret, const char **ret_why)
{
	struct address a;

	if (len >= 2 && s[0] == '[' && s[len - 1] == ']') {
		s++;
		len -= 2;
	}
	if (!memchr(s, ':', len))
		return malformed(ret_why, "only an IPv6 address may stand in brackets");
	if (memchr(s, '%', len))
		return malformed(ret_why, "an address with a zone");
	return address_parse(s, len, &a) < 0 ? malformed(ret_why, "not an IPv6 address") : take_address(&a, ret);
}

int hostname_parse(const char *s, size_t len, struct hostname *ret, const char **ret_why)
{
	struct hostname h = { 0 };
	int r;

	if (len && (s[0] == '[' || memchr(s, ':', len)))
		return parse_v6(s, len, ret, ret_why);
	if (len && s[len - 1] == '.')
		len--;
	if (!len)
		return malformed(ret_why, "the name is empty");
	if (len > HOST_MAX)
		return malformed(ret_why, "the name is longer than 253 bytes");
	if (fold(s, len, h.text) < 0)
		return malformed(ret_why, "a byte that is in no host name");
	if (ends_in_number(h.text, len))
		return address_parse(h.text, len, &h.address) < 0 ? malformed(ret_why, "a number that is no address") : take_address(&h.address, ret);
	r = check_labels(h.text, len, ret_why);
	if (r == 0)
		*ret = h;
	return r;
}

bool hostname_is_localhost(const struct hostname *h)
{
	static const char name[] = "localhost";
	const size_t len = strlen(h->text), n = sizeof(name) - 1;

	return !h->address.family && len >= n && !strcmp(h->text + len - n, name) && (len == n || h->text[len - n - 1] == '.');
}

/* ---- with a port ---- */

int port_parse(const char *s, size_t len, uint16_t *ret)
{
	unsigned n = 0;

	if (!len || len > 5 || s[0] == '0')
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(s[i]))
			return -EINVAL;
		n = n * 10 + (unsigned)(s[i] - '0');
	}
	if (n > UINT16_MAX)
		return -EINVAL;
	*ret = (uint16_t)n;
	return 0;
}

int authority_split(const char *s, size_t len, size_t *ret_host_len, uint16_t *ret_port, const char **ret_why)
{
	const char *colon = memrchr(s, ':', len);
	uint16_t port;

	if (!colon || (s[0] == '[' && colon > s && colon[-1] != ']'))
		return malformed(ret_why, "no port");
	if (s[0] != '[' && memchr(s, ':', (size_t)(colon - s)))
		return malformed(ret_why, "an IPv6 address without brackets");
	if (port_parse(colon + 1, (size_t)(s + len - colon - 1), &port) < 0)
		return malformed(ret_why, "no valid port");
	*ret_host_len = (size_t)(colon - s);
	*ret_port = port;
	return 0;
}

/* ---- other scripts ---- */

/* Letters that no step of IDNA changes: neither case, nor width, nor composition, nor the exceptions ß and ς. */
static const struct { uint32_t from, to; } stable[] = {
	{ 0xe0, 0xf6 }, { 0xf8, 0xff }, { 0x3ac, 0x3c1 }, { 0x3c3, 0x3ce }, { 0x430, 0x45f }, { 0x561, 0x586 }, { 0x5d0, 0x5ea },
	{ 0x621, 0x63a }, { 0x641, 0x64a }, { 0x905, 0x939 }, { 0xe01, 0xe30 }, { 0x10d0, 0x10fa }, { 0x3041, 0x3096 }, { 0x30a1, 0x30fa },
	{ 0x4e00, 0x9fa5 }, { 0xac00, 0xd7a3 },
};

static bool is_stable(uint32_t c)
{
	for (size_t i = 0; i < sizeof(stable) / sizeof(stable[0]); i++)
		if (c >= stable[i].from && c <= stable[i].to)
			return true;
	return false;
}

/* RFC 3492 §6.1 */
static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta = first ? delta / 700 : delta / 2;
	for (delta += delta / points; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static void add_variable(struct str *to, uint32_t q, uint32_t bias)
{
	for (uint32_t k = 36;; k += 36) {
		const uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias, digit = q < t ? q : t + (q - t) % (36 - t);
		const char c = (char)(digit < 26 ? 'a' + digit : '0' + digit - 26);

		str_addn(to, &c, 1);
		if (q < t)
			return;
		q = (q - t) / (36 - t);
	}
}

/* RFC 3492 §6.3; a label of at most 63 code points cannot overflow. */
static void add_punycode(struct str *to, const uint32_t *points, size_t n)
{
	uint32_t code = 128, delta = 0, bias = 72, done = 0;

	str_add(to, "xn--");
	for (size_t i = 0; i < n; i++) {
		const char c = (char)points[i];

		if (points[i] >= 128)
			continue;
		str_addn(to, &c, 1);
		done++;
	}
	const uint32_t basic = done;
	if (basic)
		str_add(to, "-");
	for (; done < n; delta++, code++) {
		uint32_t next = UINT32_MAX;

		for (size_t i = 0; i < n; i++)
			if (points[i] >= code && points[i] < next)
				next = points[i];
		delta += (next - code) * (done + 1);
		code = next;
		for (size_t i = 0; i < n; i++) {
			delta += points[i] < code;
			if (points[i] != code)
				continue;
			add_variable(to, delta, bias);
			done++;
			bias = adapt(delta, done, done == basic + 1);
			delta = 0;
		}
	}
}

static int add_label(struct str *to, const char *s, size_t len, const char **ret_why)
{
	uint32_t points[LABEL_MAX];
	size_t n = 0;
	bool ascii = true;

	for (size_t i = 0; i < len; n++) {
		const size_t bytes = str_utf8(s + i, &points[n < LABEL_MAX ? n : 0]);

		if (n >= LABEL_MAX)
			return malformed(ret_why, "a label is longer than 63 bytes");
		if (!bytes || i + bytes > len || (points[n] >= 128 && !is_stable(points[n])))
			return malformed(ret_why, "a character whose form in host names is not plain: write the label as \"xn--...\"");
		ascii &= points[n] < 128;
		if (points[n] >= 'A' && points[n] <= 'Z')
			points[n] += 32;
		i += bytes;
	}
	if (ascii)
		str_addn(to, s, len);
	else
		add_punycode(to, points, n);
	return 0;
}

int hostname_parse_written(const char *s, size_t len, struct hostname *ret, const char **ret_why)
{
	struct str ascii = STR_INIT;
	int r = 0;

	for (const char *end = s + len; r == 0; s++) {
		const char *dot = memchr(s, '.', (size_t)(end - s));

		r = add_label(&ascii, s, (size_t)((dot ? dot : end) - s), ret_why);
		if (!dot)
			break;
		str_add(&ascii, ".");
		s = dot;
	}
	if (r == 0)
		r = hostname_parse(ascii.s ? ascii.s : "", ascii.len, ret, ret_why);
	str_free(&ascii);
	return r;
}
