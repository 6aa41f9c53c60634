/* Addresses as bytes: their text, their classes, and the IPv4 addresses that IPv6 ones carry. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/hosts.h"

static const uint8_t mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };

struct address address_from_bytes(int family, const void *bytes)
{
	struct address a = { .family = (uint8_t)family };

	if (family == 6 && !memcmp(bytes, mapped_prefix, sizeof(mapped_prefix))) {
		a.family = 4;
		memcpy(a.bytes, (const uint8_t *)bytes + 12, 4);
	} else {
		memcpy(a.bytes, bytes, family == 4 ? 4 : 16);
	}
	return a;
}

bool address_equal(const struct address *a, const struct address *b)
{
	return a->family == b->family && !memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16);
}

bool address_in(const struct address *a, const struct address *net, unsigned prefix)
{
	const unsigned whole = prefix / 8, rest = prefix % 8;

	if (a->family != net->family || prefix > (a->family == 4 ? 32u : 128u) || memcmp(a->bytes, net->bytes, whole))
		return false;
	return !rest || (a->bytes[whole] ^ net->bytes[whole]) >> (8 - rest) == 0;
}

/* ---- text ---- */

/* One number of inet_aton(3): 0x… is hexadecimal, 0… octal. -1: none, or too large for 32 bits. */
static int64_t number(const char *s, size_t len)
{
	unsigned base = 10;
	uint64_t n = 0;

	if (len > 1 && s[0] == '0') {
		base = s[1] == 'x' || s[1] == 'X' ? 16 : 8;
		s += base == 16 ? 2 : 1;
		len -= base == 16 ? 2 : 1;
	}
	for (size_t i = 0; i < len; i++) {
		const unsigned c = (unsigned char)s[i];
		const unsigned digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;

		if (digit >= base)
			return -1;
		n = n * base + digit;
		if (n > UINT32_MAX)
			return -1;
	}
	return len ? (int64_t)n : -1;
}

/* One to four numbers; the last one fills what is left of the address. */
static int parse_v4(const char *s, size_t len, struct address *ret)
{
	uint64_t value = 0;
	unsigned parts = 0;

	for (const char *end = s + len; ; s++) {
		const char *dot = memchr(s, '.', (size_t)(end - s));
		const int64_t n = number(s, (size_t)((dot ? dot : end) - s));

		if (n < 0 || ++parts > 4 || (dot && n > 255))
			return -EINVAL;
		if (!dot && (uint64_t)n >> (8 * (5 - parts)))
			return -EINVAL;
		value |= (uint64_t)n << (dot ? 8 * (4 - parts) : 0);
		if (!dot)
			break;
		s = dot;
	}
	*ret = (struct address){ .family = 4, .bytes = { (uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value } };
	return 0;
}

int address_parse(const char *s, size_t len, struct address *ret)
{
	char text[ADDRESS_TEXT];
	uint8_t bytes[16];

	if (!memchr(s, ':', len))
		return parse_v4(s, len, ret);
	/* inet_pton(3) takes no zone */
	if (len >= sizeof(text) || memchr(s, '\0', len))
		return -EINVAL;
	memcpy(text, s, len);
	text[len] = '\0';
	if (inet_pton(AF_INET6, text, bytes) != 1)
		return -EINVAL;
	*ret = address_from_bytes(6, bytes);
	return 0;
}

/* The longest run of two or more zero groups; RFC 5952 §4.2. */
static int longest_zeros(const unsigned group[8], int *ret_len)
{
	int at = -1;

	*ret_len = 1;
	for (int i = 0; i < 8; i++) {
		int n = 0;

		while (i + n < 8 && !group[i + n])
			n++;
		if (n > *ret_len) {
			at = i;
			*ret_len = n;
		}
	}
	return at;
}

void address_text(const struct address *a, char ret[static ADDRESS_TEXT])
{
	unsigned group[8];
	int zeros, n_zeros;
	size_t n = 0;

	if (a->family == 4) {
		snprintf(ret, ADDRESS_TEXT, "%u.%u.%u.%u", a->bytes[0], a->bytes[1], a->bytes[2], a->bytes[3]);
		return;
	}
	for (int i = 0; i < 8; i++)
		group[i] = a->bytes[2 * i] * 256u + a->bytes[2 * i + 1];
	zeros = longest_zeros(group, &n_zeros);
	for (int i = 0; i < 8; i++) {
		if (i == zeros) {
			n += (size_t)snprintf(ret + n, ADDRESS_TEXT - n, "::");
			i += n_zeros - 1;
		} else {
			n += (size_t)snprintf(ret + n, ADDRESS_TEXT - n, "%s%x", i && ret[n - 1] != ':' ? ":" : "", group[i]);
		}
	}
}

/* ---- classes ---- */

static const struct { enum address_class class; struct address net; uint8_t prefix; } rows[] = {
#define V4(class, a, b, c, d, prefix, why) { ADDRESS_##class, { 4, { a, b, c, d } }, prefix },
#define G(g) (g) >> 8, (g) & 255
#define V6(class, a, b, c, d, e, f, g, h, prefix, why) \
	{ ADDRESS_##class, { 6, { G(a), G(b), G(c), G(d), G(e), G(f), G(g), G(h) } }, prefix },
#include "platform/policy/addresses.def"
#undef V4
#undef V6
#undef G
};

static enum address_class plain_class(const struct address *a)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (address_in(a, &rows[i].net, rows[i].prefix))
			return rows[i].class;
	return ADDRESS_PUBLIC;
}

/* Where an IPv4 address lies in an IPv6 one that begins so. RFC 4291, 6052, 3056, 4380, 2765. A site's NAT64 may have it in any of
 * four places; those that hold 0.x.x.x are not the one. */
static const struct { struct address net; uint8_t prefix, at[4], flip; bool guess; } embedded[] = {
	{ { 6, { 0 } },                         96, { 12, 13, 14, 15 }, 0, false },    /* compatible */
	{ { 6, { [8] = 0xff, [9] = 0xff } },    96, { 12, 13, 14, 15 }, 0, false },    /* translated (SIIT) */
	{ { 6, { 0, 0x64, 0xff, 0x9b } },       96, { 12, 13, 14, 15 }, 0, false },    /* NAT64 */
	{ { 6, { 0, 0x64, 0xff, 0x9b, 0, 1 } }, 48, { 6, 7, 9, 10 }, 0, true },        /* NAT64 of a site, /48 */
	{ { 6, { 0, 0x64, 0xff, 0x9b, 0, 1 } }, 48, { 7, 9, 10, 11 }, 0, true },       /* ... /56 */
	{ { 6, { 0, 0x64, 0xff, 0x9b, 0, 1 } }, 48, { 9, 10, 11, 12 }, 0, true },      /* ... /64 */
	{ { 6, { 0, 0x64, 0xff, 0x9b, 0, 1 } }, 48, { 12, 13, 14, 15 }, 0, true },     /* ... /96 */
	{ { 6, { 0x20, 0x02 } },                16, { 2, 3, 4, 5 }, 0, false },        /* 6to4 */
	{ { 6, { 0x20, 0x01 } },                32, { 12, 13, 14, 15 }, 0xff, false }, /* Teredo: the client */
	{ { 6, { 0x20, 0x01 } },                32, { 4, 5, 6, 7 }, 0, false },        /* Teredo: the server */
};

static bool is_isatap(const struct address *a)
{
	return a->family == 6 && (a->bytes[8] & 0xfd) == 0 && a->bytes[9] == 0 && a->bytes[10] == 0x5e && a->bytes[11] == 0xfe;
}

static enum address_class stronger(enum address_class a, enum address_class b)
{
	return b > a ? b : a;
}

enum address_class address_class(const struct address *a)
{
	enum address_class class = plain_class(a);

	for (size_t i = 0; i < ARRAY_SIZE(embedded) && a->family == 6; i++) {
		struct address inner = { .family = 4 };

		if (!address_in(a, &embedded[i].net, embedded[i].prefix))
			continue;
		for (int n = 0; n < 4; n++)
			inner.bytes[n] = a->bytes[embedded[i].at[n]] ^ embedded[i].flip;
		if (!embedded[i].guess || inner.bytes[0])
			class = stronger(class, plain_class(&inner));
	}
	if (is_isatap(a)) { /* RFC 5214 */
		const struct address inner = address_from_bytes(4, a->bytes + 12);
		class = stronger(class, plain_class(&inner));
	}
	return class;
}

const char *address_class_words(enum address_class class)
{
	static const char *const words[] = {
		[ADDRESS_PUBLIC] = "a public address", [ADDRESS_LOOPBACK] = "a loopback address",
		[ADDRESS_UNSPECIFIED] = "an unspecified address", [ADDRESS_LINK_LOCAL] = "a link-local address",
		[ADDRESS_MULTICAST] = "a multicast address", [ADDRESS_METADATA] = "a cloud's metadata service",
	};

	return words[class];
}
