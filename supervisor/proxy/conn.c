/* Connections: their two sides, their time, their end. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/proxy/server.h"

enum { LINGER_BYTES_A_TURN = 256 * 1024 };

static time_t now(const struct conn *c)
{
	struct timeval t;

	event_base_gettimeofday_cached(c->server->base, &t);
	return t.tv_sec;
}

/* ---- sides ---- */

static void on_side(evutil_socket_t fd, short what, void *argument)
{
	struct side *s = argument;
	struct server *server = s->conn->server;

	(void)fd;
	s->readable |= (what & EV_READ) != 0;
	s->writable |= (what & EV_WRITE) != 0;
	s->conn->step(s->conn);
	conn_bury(server);
}

static int side_open(struct conn *c, struct side *s, int fd)
{
	const int on = 1;

	s->fd = fd;
	s->conn = c;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return event_assign(&s->event, c->server->base, fd, EV_READ | EV_WRITE | EV_PERSIST | EV_ET, on_side, s) < 0 ||
	       event_add(&s->event, NULL) < 0 ? -ENOMEM : 0;
}

static void side_close(struct side *s, bool reset)
{
	if (s->fd < 0)
		return;
	if (event_initialized(&s->event))
		event_del(&s->event);
	if (reset)
		setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
	close(s->fd);
	*s = (struct side){ .fd = -1 };
}

ssize_t side_read(struct side *s, void *buffer, size_t len)
{
	ssize_t n = recv(s->fd, buffer, len, 0);

	if (n > 0)
		return n;
	if (n == 0) {
		s->eof = true;
		return 0;
	}
	if (errno == EAGAIN || errno == EINTR)
		s->readable = errno == EINTR;
	return errno == EINTR ? -EAGAIN : -errno;
}

ssize_t side_write(struct side *s, const void *data, size_t len)
{
	ssize_t n = send(s->fd, data, len, MSG_NOSIGNAL);

	if (n >= 0)
		return n;
	if (errno == EAGAIN || errno == EINTR)
		s->writable = errno == EINTR;
	return errno == EINTR ? -EAGAIN : -errno;
}

bool side_say(struct side *s, const void *data, size_t len)
{
	return side_write(s, data, len) == (ssize_t)len;
}

int conn_attach_origin(struct conn *c, int fd)
{
	c->origin = (struct side){ .fd = -1 };
	return side_open(c, &c->origin, fd);
}

void conn_drop_origin(struct conn *c)
{
	side_close(&c->origin, false);
}

/* ---- counting ---- */

static struct record_host *entry(const struct conn *c)
{
	return c->host < RECORD_HOSTS ? &c->server->record->host[c->host] : NULL;
}

void count_sent(struct conn *c, size_t n)
{
	if (entry(c))
		entry(c)->sent += n;
}

void count_received(struct conn *c, size_t n)
{
	if (entry(c))
		entry(c)->received += n;
}

/* ---- time ---- */

static void set_timer(struct conn *c, long seconds)
{
	evtimer_add(&c->timer, &(struct timeval){ .tv_sec = seconds });
}

void conn_deadline(struct conn *c, unsigned seconds)
{
	c->idle = 0;
	set_timer(c, seconds);
}

void conn_idle(struct conn *c, unsigned seconds)
{
	c->idle = seconds;
	c->active = now(c);
	set_timer(c, seconds);
}

/* The timer is not moved for each byte: it looks back when it fires. */
void conn_moved(struct conn *c)
{
	c->active = now(c);
}

static void on_timer(evutil_socket_t fd, short what, void *argument)
{
	struct conn *c = argument;
	struct server *s = c->server;
	const long left = c->idle ? c->active + (long)c->idle - now(c) : 0;

	(void)fd, (void)what;
	if (left > 0)
		return set_timer(c, left);
	if (c->lingering || !c->talk)
		conn_close(c);
	else if (c->talk->exchange)
		conn_abort(c);
	else /* a client that never finished its request is told, if it has said enough to be told in its own language */
		client_refuse(c, c->step == client_request || !c->talk->target.port ? 408 : 504, SOCKS_TIMEOUT, "it took too long");
	conn_bury(s);
}

/* ---- turns ---- */

void conn_take_turn(struct conn *c)
{
	struct server *s = c->server;

	if (c->in_turn)
		return;
	c->in_turn = true;
	c->next_turn = s->turn;
	s->turn = c;
	event_add(s->turn_event, &(struct timeval){ 0 });
}

static void leave_turn(struct conn *c)
{
	for (struct conn **p = &c->server->turn; c->in_turn && *p; p = &(*p)->next_turn)
		if (*p == c) {
			*p = c->next_turn;
			c->in_turn = false;
			return;
		}
}

/* ---- beginning and end ---- */

void conn_accept(struct server *s, int fd)
{
	struct conn *c = calloc(1, sizeof(*c));
	struct talk *talk = calloc(1, sizeof(*talk));

	if (!c || !talk) {
		free(c);
		free(talk);
		close(fd);
		return;
	}
	*c = (struct conn){ .server = s, .talk = talk, .step = client_first, .host = RECORD_HOSTS, .counted = true };
	c->client.fd = c->origin.fd = c->up.pipe = c->down.pipe = -1;
	s->clients++;
	evtimer_assign(&c->timer, s->base, on_timer, c);
	conn_deadline(c, s->o.first_byte_seconds);
	if (side_open(c, &c->client, fd) < 0)
		conn_close(c);
}

void talk_free(struct conn *c)
{
	struct talk *t = c->talk;

	c->talk = NULL;
	if (!t)
		return;
	if (t->dial)
		dial_cancel(t->dial);
	if (t->exchange)
		exchange_free(t->exchange);
	str_free(&t->out);
	free(t->in);
	free(t);
}

static void gone(struct conn *c)
{
	(void)c;
}

/* Freed when nobody on the way here looks at it any more. */
static void end(struct conn *c, bool reset)
{
	struct server *s = c->server;

	if (c->step == gone)
		return;

	leave_turn(c);
	tunnel_drop_pipes(c);
	talk_free(c);
	side_close(&c->client, reset);
	side_close(&c->origin, reset);
	event_del(&c->timer);
	s->clients--;
	if (!s->accepting && s->clients < s->o.clients_max && !event_pending(s->resume_event, EV_TIMEOUT, NULL))
		event_add(s->resume_event, &(struct timeval){ 0 });
	c->step = gone;
	c->next_turn = s->dead;
	s->dead = c;
}

void conn_bury(struct server *s)
{
	while (s->dead) {
		struct conn *c = s->dead;

		s->dead = c->next_turn;
		free(c);
	}
}

void conn_close(struct conn *c)
{
	end(c, false);
}

void conn_abort(struct conn *c)
{
	end(c, true);
}

/* A close with unread bytes would be a reset, and could overtake the answer. */
static void linger_step(struct conn *c)
{
	size_t taken = 0;

	while (taken < LINGER_BYTES_A_TURN) {
		ssize_t n = side_read(&c->client, c->server->copy, sizeof(c->server->copy));

		if (n == -EAGAIN)
			return;
		if (n <= 0)
			return conn_close(c);
		taken += (size_t)n;
	}
	conn_take_turn(c);
}

void conn_linger(struct conn *c)
{
	conn_drop_origin(c);
	shutdown(c->client.fd, SHUT_WR);
	c->lingering = true;
	c->step = linger_step;
	conn_deadline(c, c->server->o.linger_seconds);
	linger_step(c);
}
