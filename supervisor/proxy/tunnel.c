/*
 * A tunnel: bytes from each side to the other until both have ended. They go through a pipe with splice(2), without being copied
 * here. Pipes are lent to directions that have something in flight only; where all are out, what the kernel holds is looked at,
 * sent, and taken as far as it was sent. So nothing is ever stored here, and a side that does not read holds back the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/proxy/server.h"

enum { ROUNDS_A_TURN = 8 };

/* ---- pipes ---- */

static int new_pipe(struct server *s)
{
	struct pipe_pair *p = &s->pipes[s->n_pipes];

	if (s->n_pipes == PIPES_MAX || pipe2(p->fd, O_NONBLOCK | O_CLOEXEC) < 0)
		return -1;
	fcntl(p->fd[1], F_SETPIPE_SZ, PIPE_BYTES); /* beyond the user's share it stays at 64 KiB */
	p->bytes = 0;
	return (int)s->n_pipes++;
}

static bool borrow(struct server *s, struct way *w)
{
	if (w->pipe < 0)
		w->pipe = s->n_free_pipes ? (int)s->free_pipes[--s->n_free_pipes] : new_pipe(s);
	return w->pipe >= 0;
}

static void give_back(struct server *s, struct way *w)
{
	if (w->pipe < 0)
		return;
	s->free_pipes[s->n_free_pipes++] = (unsigned)w->pipe;
	w->pipe = -1;
}

/* Bytes that are left in it are of a connection that is gone: the pipe is made anew. */
static void drop(struct server *s, struct way *w)
{
	struct pipe_pair *p;

	if (w->pipe < 0)
		return;
	p = &s->pipes[w->pipe];
	if (p->bytes) {
		close(p->fd[0]);
		close(p->fd[1]);
		if (pipe2(p->fd, O_NONBLOCK | O_CLOEXEC) < 0) {
			/* no descriptors: the place is lost, which only costs speed */
			w->pipe = -1;
			return;
		}
		fcntl(p->fd[1], F_SETPIPE_SZ, PIPE_BYTES);
		p->bytes = 0;
	}
	give_back(s, w);
}

void tunnel_drop_pipes(struct conn *c)
{
	drop(c->server, &c->up);
	drop(c->server, &c->down);
}

/* ---- moving ---- */

static ssize_t failed(bool *flag)
{
	if (errno == EAGAIN)
		*flag = false;
	return errno == EINTR || errno == EAGAIN ? -EAGAIN : -errno;
}

/* What is in the pipe goes out. */
static ssize_t drain(struct pipe_pair *p, struct side *to)
{
	ssize_t n = splice(p->fd[0], NULL, to->fd, NULL, p->bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (n <= 0)
		return failed(&to->writable);
	p->bytes -= (size_t)n;
	return n;
}

/* The number of bytes that came; 0: the end. Only into an empty pipe, so that EAGAIN can only mean the socket. */
static ssize_t fill(struct server *s, struct pipe_pair *p, struct side *from)
{
	ssize_t n = splice(from->fd, NULL, p->fd[1], NULL, PIPE_BYTES, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (n < 0 && (errno == EINVAL || errno == ENOSYS)) {
		s->no_splice = true;
		return -EAGAIN;
	}
	if (n < 0)
		return failed(&from->readable);
	from->eof = n == 0;
	p->bytes = (size_t)n;
	return n;
}

/* Without a pipe: look, send, take what was sent. */
static ssize_t copy(struct server *s, struct side *from, struct side *to)
{
	ssize_t n = recv(from->fd, s->copy, sizeof(s->copy), MSG_PEEK | MSG_DONTWAIT), sent;

	if (n < 0)
		return failed(&from->readable);
	if (n == 0) {
		from->eof = true;
		return 0;
	}
	sent = side_write(to, s->copy, (size_t)n);
	return sent > 0 ? recv(from->fd, s->copy, (size_t)sent, MSG_DONTWAIT) : sent;
}

/* Counted before it goes out: who got the last byte may end the run, and the proxy with it, at once. */
static ssize_t move_once(struct conn *c, struct way *w, struct side *from, struct side *to, void (*count)(struct conn *, size_t))
{
	struct server *s = c->server;
	struct pipe_pair *p;
	ssize_t n;

	if (s->no_splice || !borrow(s, w)) {
		n = from->readable && to->writable ? copy(s, from, to) : -EAGAIN;
		count(c, n > 0 ? (size_t)n : 0);
		return n;
	}
	p = &s->pipes[w->pipe];
	if (!p->bytes) {
		n = from->readable ? fill(s, p, from) : -EAGAIN;
		if (n <= 0)
			return n;
		count(c, (size_t)n);
	}
	return to->writable ? drain(p, to) : -EAGAIN;
}

/* 1: there may be more, after the others; 0: nothing now, or the end; negative: broken. */
static int move(struct conn *c, struct way *w, struct side *from, struct side *to, void (*count)(struct conn *, size_t))
{
	struct server *s = c->server;
	ssize_t n = -EAGAIN;

	if (w->done)
		return 0;
	for (int i = 0; i < ROUNDS_A_TURN; i++) {
		n = move_once(c, w, from, to, count);
		if (n <= 0)
			break;
		conn_moved(c);
	}
	if (w->pipe >= 0 && !s->pipes[w->pipe].bytes)
		give_back(s, w);
	if (n > 0)
		return 1;
	if (n == 0) {
		w->done = true;
		shutdown(to->fd, SHUT_WR);
	}
	return n == 0 || n == -EAGAIN ? 0 : (int)n;
}

static void tunnel(struct conn *c)
{
	int up = move(c, &c->up, &c->client, &c->origin, count_sent), down;

	down = up < 0 ? up : move(c, &c->down, &c->origin, &c->client, count_received);
	if (up < 0 || down < 0)
		return conn_abort(c);
	if (c->up.done && c->down.done)
		return conn_close(c);
	if (up > 0 || down > 0 || (c->server->no_splice && !c->up.done && c->client.readable && c->origin.writable))
		conn_take_turn(c);
}

/* ---- the beginning ---- */

static bool say_established(struct conn *c)
{
	static const char ok[] = "HTTP/1.1 200 Connection established\r\n\r\n";
	unsigned char reply[10];

	if (c->talk->socks)
		return side_say(&c->client, reply, socks_write_reply(c->talk->socks, SOCKS_OK, reply));
	return side_say(&c->client, ok, sizeof(ok) - 1);
}

/* What the client sent before it was answered. The socket is new, so that its buffer takes more than is ever there; should it not, a
 * pipe holds the rest. */
static bool send_early(struct conn *c)
{
	const struct talk *t = c->talk;
	const size_t from = t->socks ? 0 : t->head_len, n = t->n_in - from;
	ssize_t sent = 0;

	if (!n)
		return true;
	sent = side_write(&c->origin, t->in + from, n);
	if (sent == -EAGAIN)
		sent = 0;
	if (sent < 0)
		return false;
	count_sent(c, n);
	if ((size_t)sent == n)
		return true;
	if (!borrow(c->server, &c->up))
		return false;
	struct pipe_pair *p = &c->server->pipes[c->up.pipe];
	ssize_t held = write(p->fd[1], t->in + from + sent, n - (size_t)sent);
	p->bytes = held > 0 ? (size_t)held : 0;
	return held == (ssize_t)(n - (size_t)sent);
}

void tunnel_begin(struct conn *c)
{
	if (!say_established(c) || !send_early(c))
		return conn_abort(c);
	talk_free(c);
	c->step = tunnel;
	conn_idle(c, c->server->o.idle_seconds);
	tunnel(c);
}
