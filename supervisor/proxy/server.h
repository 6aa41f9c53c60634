/*
 * Inside the proxy's process. Each connection has two sides and one function that goes on with it: whatever happens to either side,
 * the event only notes what has become possible (epoll's edges) and calls that function, which goes as far as it can.
 */
#pragma once
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/event_struct.h>

#include "supervisor/proxy/http_body.h"
#include "supervisor/proxy/parent.h"
#include "supervisor/proxy/proxy.h"
#include "supervisor/proxy/socks.h"

enum { PIPES_MAX = 32, PIPE_BYTES = 1 << 20, COPY_BYTES = 64 * 1024 };

struct pipe_pair { int fd[2]; size_t bytes; }; /* bytes in it */

struct server {
	struct proxy_options o;
	struct event_base *base;
	struct evdns_base *dns;  /* NULL: no resolver could be set up */
	struct record *record;
	struct event *accept_event, *resume_event, *control_event, *turn_event;
	char *expected;          /* "user:token" in base64 */
	size_t clients;
	bool accepting, no_splice;
	struct pipe_pair pipes[PIPES_MAX];
	unsigned free_pipes[PIPES_MAX], n_free_pipes, n_pipes;
	struct conn *turn;       /* those that have more to do, after the others had their turn */
	struct conn *dead;       /* closed, not yet freed */
	struct parent_proxy parent_http, parent_https;
	char copy[COPY_BYTES];
};

struct conn;
typedef void conn_step(struct conn *c);

struct side {
	int fd;               /* -1: none */
	struct event event;
	struct conn *conn;
	bool readable, writable, eof, shut; /* shut: nothing more is sent to it */
};

/* One direction of a tunnel. */
struct way { int pipe; /* index, -1: none */ bool done; };

/* What is known of a connection before its tunnel stands. Freed then. */
struct talk {
	char *in;             /* what the client sent and nobody took yet */
	size_t n_in, cap_in, scanned;
	unsigned socks;       /* 4 or 5; 0: HTTP */
	bool authorized;
	struct http_head head;
	struct http_target target; /* host and port also for SOCKS */
	size_t head_len;      /* of the request in in */
	const struct parent_proxy *parent;
	struct dial *dial;
	struct exchange *exchange;
	struct str out;       /* to the origin, or to a parent proxy, before the tunnel stands */
	size_t out_at;
};

struct conn {
	struct server *server;
	struct side client, origin;
	conn_step *step;
	struct event timer;
	time_t active;        /* when something last moved */
	unsigned idle;        /* seconds after which nothing moving ends it */
	unsigned host;        /* index in the record, RECORD_HOSTS: none */
	struct talk *talk;    /* NULL in a tunnel */
	struct way up, down;
	struct conn *next_turn;
	bool in_turn, counted, lingering;
};

/* ---- conn.c: sides, time, the end ---- */
void conn_accept(struct server *s, int fd);
/* Closes both sides; from then on its step does nothing, and conn_bury() frees it. */
void conn_close(struct conn *c);
void conn_abort(struct conn *c);  /* likewise, with a reset to both sides: what was sent is not whole */
/* Sends nothing more to the client, and waits until it has read the answer; then closes. */
void conn_linger(struct conn *c);
void conn_bury(struct server *s);
void conn_deadline(struct conn *c, unsigned seconds); /* from now on, whatever moves */
void conn_idle(struct conn *c, unsigned seconds);     /* after the last movement */
void conn_moved(struct conn *c);
void conn_take_turn(struct conn *c);  /* calls step again when the others had theirs */
int conn_attach_origin(struct conn *c, int fd);
void conn_drop_origin(struct conn *c);
void talk_free(struct conn *c);
/* > 0 bytes, 0 at the end, -EAGAIN (and not readable or writable any more), or a negative errno. */
ssize_t side_read(struct side *s, void *buffer, size_t len);
ssize_t side_write(struct side *s, const void *data, size_t len);
/* Writes all of it, as it is little and the socket is new; false: it could not be. */
bool side_say(struct side *s, const void *data, size_t len);
void count_sent(struct conn *c, size_t n);
void count_received(struct conn *c, size_t n);

/* ---- client.c: from the first byte to the request ---- */
void client_first(struct conn *c);       /* step */
void client_request(struct conn *c);     /* step: the next request of a connection that stays */
void client_refuse(struct conn *c, int status, enum socks_reply reply, const char *why);
/* The host was dialled; status 0, or what to answer. Called by dial.c. */
void client_dialled(struct conn *c, int fd, int status, enum socks_reply reply, const char *why);

/* ---- dial.c: look up, judge, connect ---- */
void dial_start(struct conn *c);
void dial_cancel(struct dial *d);

/* ---- parent.c: a proxy above ---- */
bool parent_bypassed(const char *no_proxy, const struct hostname *h, uint16_t port);
void parent_begin(struct conn *c);       /* the origin side is the parent: ask it for the tunnel */

/* ---- tunnel.c, exchange.c ---- */
void tunnel_begin(struct conn *c);       /* what the client sent early is in talk->in */
void tunnel_drop_pipes(struct conn *c);
void exchange_begin(struct conn *c);     /* one http: request */
void exchange_free(struct exchange *e);
