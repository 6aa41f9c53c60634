/* A proxy above this one: which it is, for which hosts, and how it is asked for a tunnel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "platform/base/cleanup.h"
#include "supervisor/proxy/base64.h"
#include "supervisor/proxy/server.h"

enum { ANSWER_MAX = 16 * 1024 };

/* ---- the URL ---- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static char *percent_decode(const char *s, size_t len)
{
	struct str to = STR_INIT;

	for (size_t i = 0; i < len; i++) {
		const bool coded = s[i] == '%' && i + 2 < len && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0;
		const char c = coded ? (char)(hex(s[i + 1]) * 16 + hex(s[i + 2])) : s[i];

		str_addn(&to, &c, 1);
		i += coded ? 2 : 0;
	}
	return str_take(&to);
}

int parent_parse(const char *url, struct parent_proxy *ret)
{
	static const struct { const char *scheme; bool socks; uint16_t port; } schemes[] = {
		{ "http://", false, 80 }, { "socks5h://", true, 1080 }, { "socks5://", true, 1080 },
	};
	struct parent_proxy p = { .set = true, .port = 80 };
	size_t host_len;
	bool known = !strstr(url, "://");

	for (size_t i = 0; i < ARRAY_SIZE(schemes) && !known; i++) {
		if (strncasecmp(url, schemes[i].scheme, strlen(schemes[i].scheme)))
			continue;
		known = true;
		p.socks = schemes[i].socks;
		p.port = schemes[i].port;
		url += strlen(schemes[i].scheme);
	}
	const size_t len = strcspn(url, "/?#");
	const char *at = memrchr(url, '@', len), *host = at ? at + 1 : url;
	const size_t rest = (size_t)(url + len - host);
	if (!known)
		return -EPROTONOSUPPORT;
	host_len = rest;
	if (rest && memchr(host, ':', rest) && host[rest - 1] != ']' && authority_split(host, rest, &host_len, &p.port, NULL) < 0)
		return -EINVAL;
	if (hostname_parse(host, host_len, &p.host, NULL) < 0 || (p.socks && at))
		return p.socks && at ? -ENOTSUP : -EINVAL;
	if (at) {
		_cleanup_free_ char *userinfo = percent_decode(url, (size_t)(at - url));

		p.credential = base64(userinfo, strlen(userinfo));
	}
	*ret = p;
	return 0;
}

int proxy_check_parents(const struct proxy_options *o)
{
	const char *const urls[] = { o->parent_http, o->parent_https };

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct parent_proxy p = { .credential = NULL };
		int r = urls[i] ? parent_parse(urls[i], &p) : 0;

		free(p.credential);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- NO_PROXY ---- */

/* "example.com" and ".example.com": it and all below; "*"; an address or a network. A port is not looked at. */
static bool entry_covers(const char *s, size_t len, const struct hostname *h)
{
	_cleanup_free_ char *entry = strndup(s, len);
	const char *why, *hint, *text = entry;
	struct host_pattern p;

	if (!entry)
		return false;
	if (!strcmp(entry, "*"))
		return true;
	if (!strncmp(text, "*.", 2))
		text++;
	if (host_pattern_parse(text, true, &p, &why, &hint) < 0)
		return false;
	if (p.form == FORM_EXACT)
		p.form = FORM_TREE;
	return host_pattern_matches(&p, h);
}

bool parent_bypassed(const char *no_proxy, const struct hostname *h, uint16_t port)
{
	(void)port;
	if (hostname_is_localhost(h) || (h->address.family && address_class(&h->address) == ADDRESS_LOOPBACK))
		return true;
	for (const char *s = no_proxy; s && *s;) {
		s += strspn(s, ", \t");
		const size_t n = strcspn(s, ", \t");

		if (n && entry_covers(s, n, h))
			return true;
		s += n;
	}
	return false;
}

/* ---- asking ---- */

static void ready(struct conn *c)
{
	if (!c->talk->socks && !c->talk->target.connect)
		exchange_begin(c);
	else
		tunnel_begin(c);
}

static void refused(struct conn *c)
{
	client_refuse(c, 502, SOCKS_FAILED, "the proxy above refuses");
}

/* Byte for byte, so that nothing of what follows the answer is taken: it belongs to the client. */
static ssize_t read_answer(struct conn *c, size_t upto)
{
	struct talk *t = c->talk;

	while (t->out.len < upto) {
		char byte;
		ssize_t n = c->origin.readable ? side_read(&c->origin, &byte, 1) : -EAGAIN;

		if (n <= 0)
			return n == -EAGAIN ? -EAGAIN : -ECONNRESET;
		str_addn(&t->out, &byte, 1);
		if (upto == ANSWER_MAX && byte == '\n' && http_head_end(t->out.s, t->out.len))
			break;
	}
	return (ssize_t)t->out.len;
}

static void http_answer(struct conn *c)
{
	struct talk *t = c->talk;
	ssize_t n = read_answer(c, ANSWER_MAX);

	if (n == -EAGAIN)
		return;
	if (n < 13 || n == ANSWER_MAX || strncmp(t->out.s, "HTTP/1.", 7) || t->out.s[8] != ' ' || t->out.s[9] != '2')
		return refused(c);
	ready(c);
}

static void ask_http(struct conn *c)
{
	const struct talk *t = c->talk;
	struct str s = STR_INIT;
	bool said;

	str_add(&s, "CONNECT ");
	http_add_authority(&s, &t->target.host, t->target.port, true);
	str_add(&s, " HTTP/1.1\r\nHost: ");
	http_add_authority(&s, &t->target.host, t->target.port, true);
	str_add(&s, "\r\n");
	if (t->parent->credential)
		str_addf(&s, "Proxy-Authorization: Basic %s\r\n", t->parent->credential);
	str_add(&s, "\r\n");
	said = side_say(&c->origin, s.s, s.len);
	str_free(&s);
	if (!said)
		return refused(c);
	c->step = http_answer;
	http_answer(c);
}

/* 05 00, then 05 00 00 TYPE address port. */
static void socks_answer(struct conn *c)
{
	struct talk *t = c->talk;
	size_t want = 2 + 5;
	ssize_t n = read_answer(c, want);

	if (n >= (ssize_t)want) {
		const unsigned char *s = (unsigned char *)t->out.s;

		want = 2 + 4 + 2 + (s[5] == 1 ? 4 : s[5] == 4 ? 16 : 1u + s[6]);
		if (s[0] != 5 || s[1] != 0 || s[2] != 5 || s[3] != 0)
			return refused(c);
		n = read_answer(c, want);
	}
	if (n == -EAGAIN)
		return;
	if (n < (ssize_t)want)
		return refused(c);
	ready(c);
}

static void ask_socks(struct conn *c)
{
	const struct http_target *target = &c->talk->target;
	const unsigned char port[2] = { (unsigned char)(target->port >> 8), (unsigned char)target->port };
	struct str s = STR_INIT;
	bool said;

	str_addn(&s, "\5\1\0\5\1\0", 6); /* no credential, and the request at once */
	if (target->host.address.family) {
		str_addn(&s, target->host.address.family == 4 ? "\1" : "\4", 1);
		str_addn(&s, (const char *)target->host.address.bytes, target->host.address.family == 4 ? 4 : 16);
	} else {
		const unsigned char type[2] = { 3, (unsigned char)strlen(target->host.text) };

		str_addn(&s, (const char *)type, 2);
		str_add(&s, target->host.text);
	}
	str_addn(&s, (const char *)port, 2);
	said = side_say(&c->origin, s.s, s.len);
	str_free(&s);
	if (!said)
		return refused(c);
	c->step = socks_answer;
	socks_answer(c);
}

void parent_begin(struct conn *c)
{
	if (c->talk->parent->socks)
		ask_socks(c);
	else
		ask_http(c);
}
