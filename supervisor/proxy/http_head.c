#include "supervisor/proxy/http_head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "platform/base/cleanup.h"

/* ---- bytes ---- */

/* RFC 9110 §5.6.2 */
static bool is_token_byte(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!is_token_byte(s.s[i]))
			return false;
	return s.len > 0;
}

static bool is_value(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (((unsigned char)s.s[i] < ' ' && s.s[i] != '\t') || s.s[i] == 0x7f)
			return false;
	return true;
}

static bool same(struct span s, const char *text)
{
	return s.len == strlen(text) && !strncasecmp(s.s, text, s.len);
}

static struct span trim(struct span s)
{
	while (s.len && (s.s[0] == ' ' || s.s[0] == '\t'))
		s.s++, s.len--;
	while (s.len && (s.s[s.len - 1] == ' ' || s.s[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static int refuse(const char **ret_why, int status, const char *why)
{
	*ret_why = why;
	return status;
}

size_t http_head_end(const char *s, size_t len)
{
	/* a bare LF may end a line in what others accept: the parser must see, and refuse, such a head rather than wait for more */
	for (const char *p = s, *end = s + len; (p = memchr(p, '\n', (size_t)(end - p))); p++) {
		const size_t left = (size_t)(end - p);

		if (left > 1 && p[1] == '\n')
			return (size_t)(p + 2 - s);
		if (left > 2 && p[1] == '\r' && p[2] == '\n')
			return (size_t)(p + 3 - s);
	}
	return 0;
}

/* ---- lines ---- */

/* Up to the next CR LF; s then points behind it. False: there is none, or a CR or LF stands alone. */
static bool take_line(struct span *s, struct span *ret)
{
	const char *lf = memchr(s->s, '\n', s->len);

	if (!lf || lf == s->s || lf[-1] != '\r')
		return false;
	*ret = (struct span){ s->s, (size_t)(lf - 1 - s->s) };
	s->len -= (size_t)(lf + 1 - s->s);
	s->s = lf + 1;
	return !memchr(ret->s, '\r', ret->len);
}

static bool take_word(struct span *line, struct span *ret)
{
	const char *blank = memchr(line->s, ' ', line->len);

	if (!blank)
		return false;
	*ret = (struct span){ line->s, (size_t)(blank - line->s) };
	line->len -= ret->len + 1;
	line->s = blank + 1;
	return true;
}

static bool parse_version(struct span s, unsigned *ret_minor)
{
	if (s.len != 8 || memcmp(s.s, "HTTP/1.", 7) || (s.s[7] != '0' && s.s[7] != '1'))
		return false;
	*ret_minor = (unsigned)(s.s[7] - '0');
	return true;
}

/* ---- fields ---- */

static int parse_field(struct span line, struct http_head *h, const char **ret_why)
{
	const char *colon = memchr(line.s, ':', line.len);
	struct field f;

	if (line.len && (line.s[0] == ' ' || line.s[0] == '\t'))
		return refuse(ret_why, 400, "a folded header line");
	if (!colon)
		return refuse(ret_why, 400, "a header line without a colon");
	f.name = (struct span){ line.s, (size_t)(colon - line.s) };
	f.value = trim((struct span){ colon + 1, (size_t)(line.s + line.len - colon - 1) });
	if (!is_token(f.name))
		return refuse(ret_why, 400, "a header name with a byte that none has");
	if (!is_value(f.value))
		return refuse(ret_why, 400, "a header value with a control character");
	if (h->n_fields == FIELDS_MAX)
		return refuse(ret_why, 431, "more than 100 header lines");
	h->field[h->n_fields++] = f;
	return 0;
}

static int parse_fields(struct span s, struct http_head *h, const char **ret_why)
{
	struct span line;

	while (take_line(&s, &line)) {
		int r = line.len ? parse_field(line, h, ret_why) : 0;

		if (r)
			return r;
		if (!line.len)
			return s.len ? refuse(ret_why, 400, "bytes behind the head") : 0;
	}
	return refuse(ret_why, 400, "a line that does not end in CR LF");
}

/* One field of this name. *ret_n: how many there are. */
static struct span find(const struct http_head *h, const char *name, size_t *ret_n)
{
	struct span found = { 0 };

	*ret_n = 0;
	for (size_t i = 0; i < h->n_fields; i++)
		if (same(h->field[i].name, name)) {
			found = h->field[i].value;
			++*ret_n;
		}
	return found;
}

/* A member of a comma-separated list; *at goes on behind it. */
static bool next_member(struct span *at, struct span *ret)
{
	const char *comma = memchr(at->s, ',', at->len);
	const size_t n = comma ? (size_t)(comma - at->s) : at->len;

	if (!at->s || (!at->len && !comma))
		return false;
	*ret = trim((struct span){ at->s, n });
	at->s += comma ? n + 1 : n;
	at->len -= comma ? n + 1 : n;
	return true;
}

static bool connection_names(const struct http_head *h, struct span name)
{
	for (size_t i = 0; i < h->n_fields; i++) {
		struct span rest = h->field[i].value, member;

		if (!same(h->field[i].name, "connection") && !same(h->field[i].name, "proxy-connection"))
			continue;
		while (next_member(&rest, &member))
			if (member.len == name.len && !strncasecmp(member.s, name.s, name.len))
				return true;
	}
	return false;
}

static bool connection_says(const struct http_head *h, const char *word)
{
	return connection_names(h, (struct span){ word, strlen(word) });
}

static bool parse_length(struct span s, uint64_t *ret)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (s.s[i] < '0' || s.s[i] > '9')
			return false;
		n = n * 10 + (uint64_t)(s.s[i] - '0');
	}
	*ret = n;
	return s.len > 0 && s.len <= 18;
}

static const char *find_framing(struct http_head *h)
{
	size_t n_length, n_coding;
	const struct span length = find(h, "content-length", &n_length), coding = find(h, "transfer-encoding", &n_coding);

	if (n_length && n_coding)
		return "both Content-Length and Transfer-Encoding";
	if (n_length > 1 || n_coding > 1)
		return "two header lines about the length";
	if (n_coding && (!same(coding, "chunked") || h->minor == 0))
		return "a transfer coding other than chunked";
	if (n_length && !parse_length(length, &h->length))
		return "a Content-Length that is no number";
	h->framing = n_coding ? FRAMING_CHUNKED : n_length ? FRAMING_LENGTH : FRAMING_NONE;
	return NULL;
}

/* ---- requests ---- */

static int parse_request_line(struct span line, struct http_head *h, const char **ret_why)
{
	if (line.len > REQUEST_LINE_MAX)
		return refuse(ret_why, 431, "a request line longer than 8 KiB");
	if (!take_word(&line, &h->method) || !take_word(&line, &h->target) || !is_token(h->method) || !h->target.len)
		return refuse(ret_why, 400, "not an HTTP request line");
	for (size_t i = 0; i < h->target.len; i++)
		if ((unsigned char)h->target.s[i] <= ' ' || h->target.s[i] == 0x7f)
			return refuse(ret_why, 400, "a control character in the request target");
	if (!parse_version(line, &h->minor))
		return line.len > 5 && !memcmp(line.s, "HTTP/", 5) ? refuse(ret_why, 505, "not HTTP/1.0 or HTTP/1.1") : refuse(ret_why, 400, "not an HTTP request line");
	return 0;
}

/* Host "example.com:80": what it says does not matter, but it must be something that a host can be. */
static bool is_host_value(struct span s)
{
	struct hostname name;
	uint16_t port;
	size_t n = s.len;

	if (!s.len)
		return true;
	if (memchr(s.s, ':', s.len) && s.s[s.len - 1] != ']' && authority_split(s.s, s.len, &n, &port, NULL) < 0)
		return false;
	return hostname_parse(s.s, n, &name, NULL) == 0;
}

static int check_single_fields(struct http_head *h, const char **ret_why)
{
	size_t n_host, n_authorization;

	h->host = find(h, "host", &n_host);
	h->authorization = find(h, "proxy-authorization", &n_authorization);
	if (n_host > 1)
		return refuse(ret_why, 400, "more than one Host");
	if (!n_host && h->minor == 1)
		return refuse(ret_why, 400, "no Host");
	if (n_host && !is_host_value(h->host))
		return refuse(ret_why, 400, "a Host that is none");
	if (n_authorization > 1)
		return refuse(ret_why, 400, "more than one Proxy-Authorization");
	return 0;
}

int http_parse_request(const char *s, size_t len, struct http_head *ret, const char **ret_why)
{
	struct span rest = { s, len }, line;
	const char *why;
	int r;

	memset(ret, 0, offsetof(struct http_head, field));
	ret->n_fields = 0;
	ret->framing = FRAMING_NONE;
	ret->length = 0;
	if (memchr(s, '\0', len))
		return refuse(ret_why, 400, "a NUL byte");
	if (!take_line(&rest, &line))
		return refuse(ret_why, 400, "a line that does not end in CR LF");
	r = parse_request_line(line, ret, ret_why);
	if (r == 0)
		r = parse_fields(rest, ret, ret_why);
	if (r == 0)
		r = check_single_fields(ret, ret_why);
	if (r)
		return r;
	why = find_framing(ret);
	if (why)
		return refuse(ret_why, 400, why);
	ret->close = ret->minor == 0 ? !connection_says(ret, "keep-alive") : connection_says(ret, "close");
	return same(ret->method, "trace") || same(ret->method, "track") ? refuse(ret_why, 405, "a method that echoes the request") : 0;
}

/* ---- targets ---- */

static int parse_connect(const struct http_head *h, struct http_target *t, const char **ret_why)
{
	size_t host_len;

	t->connect = true;
	if (h->framing == FRAMING_CHUNKED || h->length)
		return refuse(ret_why, 400, "CONNECT with a body");
	if (authority_split(h->target.s, h->target.len, &host_len, &t->port, ret_why) < 0 ||
	    hostname_parse(h->target.s, host_len, &t->host, ret_why) < 0)
		return 400;
	return 0;
}

static int parse_authority(struct span s, struct http_target *t, const char **ret_why)
{
	size_t n = s.len;
	const bool has_port = memchr(s.s, ':', s.len) && s.s[s.len - 1] != ']';

	if (memchr(s.s, '@', s.len))
		return refuse(ret_why, 400, "a user name in the address");
	t->port = 80;
	if (has_port && authority_split(s.s, s.len, &n, &t->port, ret_why) < 0)
		return 400;
	return hostname_parse(s.s, n, &t->host, ret_why) < 0 ? 400 : 0;
}

int http_parse_target(const struct http_head *h, struct http_target *ret, const char **ret_why)
{
	struct http_target t = { 0 };
	struct span rest = h->target;
	int r;

	if (same(h->method, "connect")) {
		r = parse_connect(h, &t, ret_why);
		if (r == 0)
			*ret = t;
		return r;
	}
	if (rest.len < 7 || strncasecmp(rest.s, "http://", 7)) {
		const char *colon = memchr(rest.s, ':', rest.len);

		if (rest.s[0] == '/' || rest.s[0] == '*' || !colon || (size_t)(colon - rest.s) + 2 >= rest.len || colon[1] != '/' || colon[2] != '/')
			return refuse(ret_why, 400, "this is a proxy: the request must name the whole URL");
		return refuse(ret_why, 501, "only http: is fetched by the proxy; other schemes go through CONNECT");
	}
	if (memchr(rest.s, '#', rest.len))
		return refuse(ret_why, 400, "a fragment in the address");
	rest.s += 7;
	rest.len -= 7;
	size_t n = 0;
	while (n < rest.len && rest.s[n] != '/' && rest.s[n] != '?')
		n++;
	if (!n)
		return refuse(ret_why, 400, "the name is empty");
	r = parse_authority((struct span){ rest.s, n }, &t, ret_why);
	if (r)
		return r;
	t.path = (struct span){ rest.s + n, rest.len - n };
	*ret = t;
	return 0;
}

/* ---- responses ---- */

static bool parse_status_line(struct span line, struct http_head *h)
{
	struct span version;

	if (!take_word(&line, &version) || !parse_version(version, &h->minor) || line.len < 3)
		return false;
	for (int i = 0; i < 3; i++) {
		if (line.s[i] < '0' || line.s[i] > '9')
			return false;
		h->status = h->status * 10 + (unsigned)(line.s[i] - '0');
	}
	if (line.len > 3 && line.s[3] != ' ')
		return false;
	h->reason = line.len > 4 ? (struct span){ line.s + 4, line.len - 4 } : (struct span){ "", 0 };
	return h->status >= 100 && h->status <= 599 && is_value(h->reason);
}

int http_parse_response(const char *s, size_t len, bool to_head, struct http_head *ret, const char **ret_why)
{
	struct span rest = { s, len }, line;
	const char *why;

	memset(ret, 0, offsetof(struct http_head, field));
	ret->n_fields = 0;
	ret->framing = FRAMING_NONE;
	ret->length = 0;
	if (memchr(s, '\0', len) || !take_line(&rest, &line) || !parse_status_line(line, ret))
		return refuse(ret_why, 502, "the host's answer is not HTTP");
	if (parse_fields(rest, ret, ret_why))
		return 502;
	if (ret->status == 101)
		return refuse(ret_why, 502, "the host changes to a protocol that nobody asked for");
	why = find_framing(ret);
	if (why)
		return refuse(ret_why, 502, why);
	if (to_head || ret->status < 200 || ret->status == 204 || ret->status == 304)
		ret->framing = FRAMING_NONE;
	else if (ret->framing == FRAMING_NONE)
		ret->framing = FRAMING_CLOSE;
	return 0;
}

/* ---- writing ---- */

void http_add_authority(struct str *to, const struct hostname *h, uint16_t port, bool always_port)
{
	const bool v6 = h->address.family == 6;

	str_addf(to, "%s%s%s", v6 ? "[" : "", h->text, v6 ? "]" : "");
	if (always_port || port != 80)
		str_addf(to, ":%u", (unsigned)port);
}

/* Of one hop only, or written anew: RFC 9110 §7.6.1. */
static bool is_own_business(const struct http_head *h, struct span name)
{
	static const char *const names[] = {
		"connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length",
		"proxy-authorization", "proxy-authenticate", "proxy-authentication-info", "http2-settings",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (same(name, names[i]))
			return true;
	return connection_names(h, name);
}

static void write_fields(struct str *to, const struct http_head *h, const char *but)
{
	for (size_t i = 0; i < h->n_fields; i++) {
		const struct field *f = &h->field[i];

		if (is_own_business(h, f->name) || (but && same(f->name, but)))
			continue;
		str_addn(to, f->name.s, f->name.len);
		str_add(to, ": ");
		str_addn(to, f->value.s, f->value.len);
		str_add(to, "\r\n");
	}
}

void http_write_request(struct str *to, const struct http_head *h, const struct http_target *t, bool to_proxy, const char *credential)
{
	str_addn(to, h->method.s, h->method.len);
	str_add(to, " ");
	if (to_proxy) {
		str_add(to, "http://");
		http_add_authority(to, &t->host, t->port, false);
	}
	if (!t->path.len || t->path.s[0] == '?')
		str_add(to, !to_proxy && !t->path.len && same(h->method, "options") ? "*" : "/");
	str_addn(to, t->path.s ? t->path.s : "", t->path.len);
	str_add(to, " HTTP/1.1\r\nHost: ");
	http_add_authority(to, &t->host, t->port, false);
	str_add(to, "\r\n");
	write_fields(to, h, "host");
	if (h->framing == FRAMING_CHUNKED)
		str_add(to, "Transfer-Encoding: chunked\r\n");
	else if (h->framing == FRAMING_LENGTH)
		str_addf(to, "Content-Length: %llu\r\n", (unsigned long long)h->length);
	if (credential)
		str_addf(to, "Proxy-Authorization: Basic %s\r\n", credential);
	str_add(to, "Connection: close\r\n\r\n");
}

void http_write_response(struct str *to, const struct http_head *h, bool chunked, bool keep)
{
	size_t n;

	str_addf(to, "HTTP/1.1 %03u ", h->status);
	str_addn(to, h->reason.s, h->reason.len);
	str_add(to, "\r\n");
	write_fields(to, h, NULL);
	if (chunked)
		str_add(to, "Transfer-Encoding: chunked\r\n");
	else if (h->framing == FRAMING_LENGTH)
		str_addf(to, "Content-Length: %llu\r\n", (unsigned long long)h->length);
	else if (h->framing == FRAMING_NONE && h->status >= 200 && h->status != 204 && find(h, "content-length", &n).s && n == 1)
		str_addf(to, "Content-Length: %llu\r\n", (unsigned long long)h->length); /* of what a GET would have brought */
	if (h->status >= 200)
		str_addf(to, "Connection: %s\r\n", keep ? "keep-alive" : "close");
	str_add(to, "\r\n");
}
