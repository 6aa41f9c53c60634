/* From a client's first byte to the request, and the answers to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "platform/base/cleanup.h"
#include "supervisor/proxy/server.h"

enum { FIRST_READ = 2048 };

/* ---- answers ---- */

static const char *reason_phrase(int status)
{
	switch (status) {
	case 400: return "Bad Request";
	case 403: return "Forbidden";
	case 405: return "Method Not Allowed";
	case 407: return "Proxy Authentication Required";
	case 408: return "Request Timeout";
	case 431: return "Request Header Fields Too Large";
	case 501: return "Not Implemented";
	case 502: return "Bad Gateway";
	case 504: return "Gateway Timeout";
	case 505: return "HTTP Version Not Supported";
	default:  return "Error";
	}
}

/* Reasons come from settings, too: one line, whatever they hold. */
static void add_line(struct str *to, const char *text)
{
	for (; *text; text++)
		str_addn(to, (unsigned char)*text < ' ' || *text == 0x7f ? " " : text, 1);
}

/* Some tools show only the reason phrase, some only the body; so both say why. */
static void say_http(struct conn *c, int status, const char *why)
{
	const struct talk *t = c->talk;
	struct str text = STR_INIT, s = STR_INIT;

	if (t->target.host.text[0] && (status == 403 || status == 502 || status == 504)) {
		http_add_authority(&text, &t->target.host, t->target.port, true);
		str_add(&text, ": ");
	}
	add_line(&text, why);
	str_addf(&s, "HTTP/1.1 %d %s%s\r\n", status, status == 403 ? "Blocked by sandbox: " : reason_phrase(status), status == 403 ? text.s : "");
	if (status == 407)
		str_add(&s, "Proxy-Authenticate: Basic realm=\"hurdle\"\r\n");
	if (status == 403)
		str_add(&s, "X-Proxy-Error: blocked-by-allowlist\r\n");
	str_addf(&s, "Content-Type: text/plain\r\nContent-Length: %zu\r\nConnection: close\r\n\r\nhurdle: %s\n", text.len + 9, text.s);
	side_say(&c->client, s.s, s.len);
	str_free(&text);
	str_free(&s);
}

static void say_socks(struct conn *c, enum socks_reply reply)
{
	unsigned char bytes[10];

	side_say(&c->client, bytes, socks_write_reply(c->talk->socks, reply, bytes));
}

void client_refuse(struct conn *c, int status, enum socks_reply reply, const char *why)
{
	if (c->talk->socks == 4 || (c->talk->socks && c->talk->authorized))
		say_socks(c, reply);
	else if (!c->talk->socks && (c->talk->n_in || c->talk->head_len))
		say_http(c, status, why);
	talk_free(c);
	conn_linger(c);
}

static void malformed(struct conn *c, int status, const char *why, bool names_host)
{
	if (names_host)
		record_denial(c->server->record, NULL, 0, why, "a malformed host");
	client_refuse(c, status, SOCKS_DENIED, why);
}

/* ---- the decision ---- */

static void decide(struct conn *c)
{
	struct server *s = c->server;
	struct talk *t = c->talk;
	struct egress_verdict v;

	egress_decide(s->o.egress, &t->target.host, t->target.port, &v);
	c->host = record_host(s->record, &t->target.host, t->target.port, v.outcome == EGRESS_ALLOW);
	if (v.outcome != EGRESS_ALLOW) {
		_cleanup_free_ char *rule = v.text ? strf("deniedDomains %s (%s)", v.text, v.origin) : xstrdup("not in allowedDomains");
		_cleanup_free_ char *why = v.unlisted ? strf("%s; --allow-domain %s allows it", v.reason, t->target.host.text) : xstrdup(v.reason);

		record_denial(s->record, &t->target.host, t->target.port, why, rule);
		return client_refuse(c, 403, SOCKS_DENIED, why);
	}
	const struct parent_proxy *parent = t->socks || t->target.connect ? &s->parent_https : &s->parent_http;
	t->parent = parent->set && !parent_bypassed(s->o.parent_no_proxy, &t->target.host, t->target.port) ? parent : NULL;
	conn_deadline(c, s->o.dial_seconds);
	dial_start(c);
}

void client_dialled(struct conn *c, int fd, int status, enum socks_reply reply, const char *why)
{
	struct talk *t = c->talk;

	t->dial = NULL;
	if (status)
		return client_refuse(c, status, reply, why);
	if (conn_attach_origin(c, fd) < 0) {
		conn_drop_origin(c);
		return client_refuse(c, 502, SOCKS_FAILED, "out of memory");
	}
	if (t->parent && (t->parent->socks || t->socks || t->target.connect))
		return parent_begin(c);
	if (!t->socks && !t->target.connect)
		return exchange_begin(c);
	tunnel_begin(c);
}

/* While the host is looked up and dialled the client is only watched for its end. */
static void waiting(struct conn *c)
{
	char byte;
	ssize_t n = c->client.readable ? recv(c->client.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) : 1;

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		conn_close(c);
}

/* ---- HTTP ---- */

/* Not a single comparison tells by its time how much was right. */
static bool same_secret(const char *a, const char *b, size_t len)
{
	unsigned char difference = 0;

	for (size_t i = 0; i < len; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return !difference;
}

static bool is_authorized(const struct server *s, const struct span *value)
{
	static const char scheme[] = "Basic ";
	const size_t n = sizeof(scheme) - 1, len = s->expected ? strlen(s->expected) : 0;

	if (!s->expected)
		return true;
	return value->s && value->len == n + len && !strncasecmp(value->s, scheme, n) && same_secret(value->s + n, s->expected, len);
}

static void take_request(struct conn *c, size_t len)
{
	struct talk *t = c->talk;
	const char *why = NULL;
	int status;

	t->head_len = len;
	memset(&t->target, 0, sizeof(t->target));
	status = http_parse_request(t->in, len, &t->head, &why);
	if (status)
		return malformed(c, status, why, false);
	if (!is_authorized(c->server, &t->head.authorization))
		return client_refuse(c, 407, SOCKS_FAILED, "the credential of the run is missing");
	status = http_parse_target(&t->head, &t->target, &why);
	if (status)
		return malformed(c, status, why, status == 400);
	c->step = waiting;
	decide(c);
}

static void look_for_head(struct conn *c)
{
	struct talk *t = c->talk;
	const size_t from = t->scanned > 3 ? t->scanned - 3 : 0, n = http_head_end(t->in + from, t->n_in - from);

	t->scanned = t->n_in;
	if (n && from + n <= HEAD_MAX)
		return take_request(c, from + n);
	if (n || t->n_in >= HEAD_MAX)
		return malformed(c, 431, "a head longer than 64 KiB", false);
}

/* ---- SOCKS ---- */

static void drop_input(struct talk *t, size_t n)
{
	memmove(t->in, t->in + n, t->n_in - n);
	t->n_in -= n;
}

static bool is_token(const struct server *s, const unsigned char *text, size_t len)
{
	return !s->expected || (len == PROXY_TOKEN && same_secret((const char *)text, s->o.token, PROXY_TOKEN));
}

static void take_socks_request(struct conn *c, ssize_t n, enum socks_reply reply, const char *why)
{
	if (n < 0 || (n == 0 && c->talk->n_in >= SOCKS_MAX))
		return conn_close(c);
	if (n == 0)
		return;
	if (reply != SOCKS_OK) {
		if (reply == SOCKS_DENIED)
			record_denial(c->server->record, NULL, 0, why, "a malformed host");
		return client_refuse(c, 400, reply, why);
	}
	drop_input(c->talk, (size_t)n);
	c->step = waiting;
	decide(c);
}

static void socks4(struct conn *c)
{
	struct talk *t = c->talk;
	const unsigned char *user;
	enum socks_reply reply = SOCKS_OK;
	const char *why = "";
	size_t user_len;
	ssize_t n = socks4_parse_request((unsigned char *)t->in, t->n_in, &t->target.host, &t->target.port, &user, &user_len, &reply, &why);

	if (n > 0 && !is_token(c->server, user, user_len))
		return client_refuse(c, 407, SOCKS_DENIED, "");
	take_socks_request(c, n, reply, why);
}

static void socks5_request(struct conn *c)
{
	struct talk *t = c->talk;
	enum socks_reply reply = SOCKS_OK;
	const char *why = "";

	ssize_t n = socks5_parse_request((unsigned char *)t->in, t->n_in, &t->target.host, &t->target.port, &reply, &why);

	take_socks_request(c, n, reply, why);
}

static void socks5_password(struct conn *c)
{
	struct talk *t = c->talk;
	const unsigned char *password;
	size_t len;
	ssize_t n = socks5_parse_password((unsigned char *)t->in, t->n_in, &password, &len);
	bool good;

	if (n == 0)
		return;
	good = n > 0 && is_token(c->server, password, len);
	if (n > 0)
		side_say(&c->client, good ? "\1\0" : "\1\1", 2);
	if (!good) {
		talk_free(c);
		return conn_linger(c);
	}
	drop_input(t, (size_t)n);
	t->authorized = true;
	if (t->n_in)
		socks5_request(c);
}

static void socks5_greeting(struct conn *c)
{
	struct talk *t = c->talk;
	unsigned char method, answer[2] = { 5 };
	ssize_t n = socks5_parse_greeting((unsigned char *)t->in, t->n_in, c->server->expected != NULL, &method);

	if (n == 0)
		return;
	if (n < 0)
		return conn_close(c);
	answer[1] = method;
	side_say(&c->client, answer, sizeof(answer));
	if (method == 0xff) {
		talk_free(c);
		return conn_linger(c);
	}
	drop_input(t, (size_t)n);
	t->socks = 5;
	t->head_len = 1; /* the greeting is over */
	t->authorized = method == 0;
	if (t->n_in)
		t->authorized ? socks5_request(c) : socks5_password(c);
}

static void socks5(struct conn *c)
{
	struct talk *t = c->talk;

	if (!t->head_len)
		socks5_greeting(c);
	else if (!t->authorized)
		socks5_password(c);
	else
		socks5_request(c);
}

/* ---- reading ---- */

/* 1: there is more; 0: not now; negative: the client is gone, and so is the connection. */
static int read_more(struct conn *c)
{
	struct talk *t = c->talk;
	ssize_t n;

	if (t->n_in == t->cap_in) {
		const size_t cap = t->cap_in ? t->cap_in * 4 : FIRST_READ;
		char *in = cap <= HEAD_MAX * 2 ? realloc(t->in, cap) : NULL;

		if (!in) {
			conn_close(c);
			return -1;
		}
		t->in = in;
		t->cap_in = cap;
	}
	n = side_read(&c->client, t->in + t->n_in, t->cap_in - t->n_in);
	if (n == -EAGAIN)
		return 0;
	if (n <= 0) {
		conn_close(c);
		return -1;
	}
	t->n_in += (size_t)n;
	return 1;
}

/* What is there so far is looked at; the step that comes next was chosen by the first byte. */
static void go_on(struct conn *c)
{
	struct talk *t = c->talk;

	if (t->socks == 4)
		socks4(c);
	else if (t->socks == 5)
		socks5(c);
	else
		look_for_head(c);
}

static void client_head(struct conn *c)
{
	int r;

	do {
		r = c->client.readable ? read_more(c) : 0;
		if (r > 0)
			go_on(c);
	} while (r > 0 && c->step == client_head); /* else another step further, or gone */
}

void client_first(struct conn *c)
{
	struct talk *t = c->talk;
	int r = c->client.readable ? read_more(c) : 0;

	if (r <= 0)
		return;
	const unsigned char first = (unsigned char)t->in[0];
	if (first == 4 || first == 5)
		t->socks = first;
	else if (!((first | 32) >= 'a' && (first | 32) <= 'z'))
		return conn_close(c);
	conn_deadline(c, c->server->o.head_seconds);
	c->step = client_head;
	go_on(c);
	if (c->step == client_head)
		client_head(c);
}

void client_request(struct conn *c)
{
	c->talk->scanned = c->talk->head_len = 0;
	c->step = client_head;
	conn_deadline(c, c->server->o.head_seconds);
	if (c->talk->n_in)
		look_for_head(c);
	if (c->step == client_head)
		client_head(c);
}
