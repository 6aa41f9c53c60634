/*
 * One http: request and its response. Heads and bodies are read, understood, and written anew, so that client and host agree with the
 * proxy about where each message ends; one block of each direction is in memory at a time. When all of it is through, the client may
 * ask for the next thing, which is decided anew; the connection to the host is not used again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/proxy/server.h"

enum { BLOCK = 16 * 1024, ROUNDS_A_TURN = 16 };

struct pending { struct str s; size_t at; };

struct exchange {
	struct http_body request, response;
	struct pending to_origin, to_client;
	struct http_head *head;   /* of the response, while it is read */
	char *in;                 /* from the origin, not yet taken */
	size_t n_in, cap_in, scanned;
	bool to_head, answered, chunked, keep, answered_all, sent_all;
};

void exchange_free(struct exchange *e)
{
	str_free(&e->to_origin.s);
	str_free(&e->to_client.s);
	free(e->head);
	free(e->in);
	free(e);
}

/* ---- writing what is pending ---- */

/* True: nothing is pending any more. Negative errno in *ret_error where the side is broken. */
static bool flush(struct pending *p, struct side *to, int *ret_error)
{
	while (p->at < p->s.len) {
		ssize_t n = to->writable ? side_write(to, p->s.s + p->at, p->s.len - p->at) : -EAGAIN;

		if (n < 0) {
			*ret_error = n == -EAGAIN ? 0 : (int)n;
			return false;
		}
		p->at += (size_t)n;
	}
	p->s.len = p->at = 0;
	return true;
}

/* ---- the request's way ---- */

static void drop_taken(struct talk *t, size_t n)
{
	memmove(t->in, t->in + n, t->n_in - n);
	t->n_in -= n;
}

/* 1: something moved; 0: nothing now; negative: broken. */
static int send_request(struct conn *c)
{
	struct talk *t = c->talk;
	struct exchange *e = t->exchange;
	int error = 0;

	if (!flush(&e->to_origin, &c->origin, &error))
		return error;
	if (e->request.done) {
		e->sent_all = true;
		return 0;
	}
	if (!t->n_in && c->client.readable) {
		ssize_t n = side_read(&c->client, t->in, t->cap_in < BLOCK ? t->cap_in : BLOCK);

		if (n == 0)
			return -ECONNRESET; /* in the middle of a body */
		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		t->n_in = (size_t)n;
		conn_moved(c);
	}
	if (!t->n_in)
		return 0;
	ssize_t taken = http_body_take(&e->request, t->in, t->n_in < BLOCK ? t->n_in : BLOCK, &e->to_origin.s);
	if (taken < 0)
		return (int)taken;
	count_sent(c, (size_t)taken);
	drop_taken(t, (size_t)taken);
	return 1;
}

/* ---- the response's way ---- */

static int read_origin(struct conn *c)
{
	struct exchange *e = c->talk->exchange;
	ssize_t n;

	if (e->n_in == e->cap_in) {
		const size_t cap = e->cap_in ? e->cap_in * 2 : BLOCK;
		char *in = cap <= HEAD_MAX * 2 ? realloc(e->in, cap) : NULL;

		if (!in)
			return -EMSGSIZE;
		e->in = in;
		e->cap_in = cap;
	}
	n = side_read(&c->origin, e->in + e->n_in, e->cap_in - e->n_in);
	if (n > 0) {
		e->n_in += (size_t)n;
		conn_moved(c);
	}
	return n > 0 ? 1 : (int)n; /* 0: the end */
}

static void take_in(struct exchange *e, size_t n)
{
	memmove(e->in, e->in + n, e->n_in - n);
	e->n_in -= n;
	e->scanned = 0;
}

static int take_head(struct conn *c, size_t len)
{
	struct exchange *e = c->talk->exchange;
	const unsigned client_minor = c->talk->head.minor;
	const char *why;

	if (!e->head)
		e->head = malloc(sizeof(*e->head));
	if (!e->head || http_parse_response(e->in, len, e->to_head, e->head, &why))
		return -EBADMSG;
	if (e->head->status >= 200) {
		e->chunked = e->head->framing == FRAMING_CHUNKED && client_minor == 1;
		e->keep = !c->talk->head.close && client_minor == 1 && e->head->framing != FRAMING_CLOSE;
		http_body_begin(&e->response, e->head, e->chunked);
		e->answered = true;
	}
	if (client_minor == 1 || e->answered) /* HTTP/1.0 knows no interim response */
		http_write_response(&e->to_client.s, e->head, e->chunked, e->keep);
	take_in(e, len);
	return 1;
}

static int find_head(struct conn *c)
{
	struct exchange *e = c->talk->exchange;
	const size_t from = e->scanned > 3 ? e->scanned - 3 : 0, n = http_head_end(e->in ? e->in + from : "", e->n_in - from);

	e->scanned = e->n_in;
	if (n)
		return from + n <= HEAD_MAX ? take_head(c, from + n) : -EMSGSIZE;
	return e->n_in > HEAD_MAX ? -EMSGSIZE : 0;
}

static int take_response(struct conn *c)
{
	struct exchange *e = c->talk->exchange;
	ssize_t taken;

	if (!e->n_in)
		return 0;
	if (!e->answered)
		return find_head(c);
	taken = http_body_take(&e->response, e->in, e->n_in, &e->to_client.s);
	if (taken < 0)
		return (int)taken;
	count_received(c, (size_t)taken);
	take_in(e, (size_t)taken);
	return taken > 0;
}

static int pass_response(struct conn *c)
{
	struct exchange *e = c->talk->exchange;
	int error = 0, r;

	if (!flush(&e->to_client, &c->client, &error))
		return error;
	if (e->answered && e->response.done) {
		e->answered_all = true;
		return 0;
	}
	r = take_response(c);
	if (r || !c->origin.readable)
		return r;
	r = read_origin(c);
	if (r == 0 && e->answered && http_body_ends_here(&e->response))
		return 1;
	return r == 0 ? -ECONNRESET : r == -EAGAIN ? 0 : r;
}

/* ---- both ---- */

static void end_exchange(struct conn *c)
{
	struct talk *t = c->talk;
	const bool keep = t->exchange->keep && t->exchange->sent_all;

	exchange_free(t->exchange);
	t->exchange = NULL;
	conn_drop_origin(c);
	if (!keep) {
		talk_free(c);
		return conn_linger(c);
	}
	client_request(c);
}

/* Nothing of an answer went out yet: say why there is none. */
static void break_off(struct conn *c, int error)
{
	struct exchange *e = c->talk->exchange;
	const bool said = e->answered || e->to_client.at || e->to_client.s.len;
	const bool theirs = error == -EBADMSG && !e->request.done && !e->n_in;

	if (said || c->client.eof)
		return conn_abort(c);
	exchange_free(e);
	c->talk->exchange = NULL;
	client_refuse(c, theirs ? 400 : 502, SOCKS_FAILED, theirs ? "a body that is not chunked as it says" : "the host did not answer as HTTP wants it");
}

static void exchange(struct conn *c)
{
	int up = 1, down = 1;

	for (int i = 0; i < ROUNDS_A_TURN && (up > 0 || down > 0); i++) {
		up = send_request(c);
		/* a host may answer, and close, before it has read the whole request */
		if (up < 0 && (up == -EPIPE || up == -ECONNRESET) && c->origin.fd >= 0 && !c->client.eof)
			up = 0;
		down = up < 0 ? up : pass_response(c);
		if (up < 0 || down < 0)
			return break_off(c, up < 0 ? up : down);
		if (c->talk->exchange->answered_all)
			return end_exchange(c);
	}
	if (up > 0 || down > 0)
		conn_take_turn(c);
}

void exchange_begin(struct conn *c)
{
	struct talk *t = c->talk;
	struct exchange *e = calloc(1, sizeof(*e));
	const bool to_parent = t->parent && !t->parent->socks;

	if (!e)
		return conn_abort(c);
	t->exchange = e;
	e->to_head = t->head.method.len == 4 && !strncasecmp(t->head.method.s, "head", 4);
	http_write_request(&e->to_origin.s, &t->head, &t->target, to_parent, to_parent ? t->parent->credential : NULL);
	http_body_begin(&e->request, &t->head, true);
	drop_taken(t, t->head_len); /* the texts of the head are not looked at any more */
	t->head_len = 1;
	c->step = exchange;
	conn_idle(c, c->server->o.idle_seconds);
	exchange(c);
}
