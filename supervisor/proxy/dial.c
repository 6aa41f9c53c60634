/*
 * From a host that may be connected to, to a connection: looked up once, each address judged, and only judged addresses dialled. The
 * next address is tried when one fails, or has not answered for a quarter of a second (RFC 8305).
 */
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "supervisor/proxy/server.h"

enum { ADDRESSES_MAX = 16, ATTEMPTS_MAX = 4, NEXT_MS = 250 };

struct attempt { int fd; struct event event; struct dial *dial; };

struct dial {
	struct conn *conn;      /* NULL: nobody waits any more */
	struct server *server;
	struct evdns_getaddrinfo_request *request;
	const struct hostname *host;
	uint16_t port;
	struct address address[ADDRESSES_MAX];
	size_t n, next;
	struct attempt attempt[ATTEMPTS_MAX];
	struct event timer;
	const char *refused;    /* why an address was left out */
	int error;              /* of the last attempt */
};

/* ---- the end ---- */

static void close_attempt(struct attempt *a)
{
	if (a->fd < 0)
		return;
	event_del(&a->event);
	close(a->fd);
	a->fd = -1;
}

static void dial_free(struct dial *d)
{
	for (size_t i = 0; i < ATTEMPTS_MAX; i++)
		close_attempt(&d->attempt[i]);
	event_del(&d->timer);
	free(d);
}

void dial_cancel(struct dial *d)
{
	d->conn = NULL;
	if (d->request)
		evdns_getaddrinfo_cancel(d->request); /* its callback frees */
	else
		dial_free(d);
}

static enum socks_reply reply_for(int error)
{
	switch (error) {
	case ECONNREFUSED: return SOCKS_REFUSED;
	case ENETUNREACH:  return SOCKS_NET_UNREACHABLE;
	case ETIMEDOUT:    return SOCKS_TIMEOUT;
	default:           return SOCKS_HOST_UNREACHABLE;
	}
}

static void finish(struct dial *d, int fd, int status, enum socks_reply reply, const char *why)
{
	struct conn *c = d->conn;

	dial_free(d);
	client_dialled(c, fd, status, reply, why);
}

/* ---- dialling ---- */

static socklen_t fill(const struct address *a, uint16_t port, struct sockaddr_storage *to)
{
	struct sockaddr_in *in = (struct sockaddr_in *)to;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;

	memset(to, 0, sizeof(*to));
	if (a->family == 4) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, a->bytes, 4);
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	memcpy(&in6->sin6_addr, a->bytes, 16);
	return sizeof(*in6);
}

static void try_next(struct dial *d);

static void on_attempt(evutil_socket_t fd, short what, void *argument)
{
	struct attempt *a = argument;
	struct dial *d = a->dial;
	struct server *s = d->server;
	socklen_t len = sizeof(int);
	int error = 0;

	(void)what;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error) {
		d->error = error;
		close_attempt(a);
		try_next(d);
	} else {
		event_del(&a->event);
		a->fd = -1;
		finish(d, fd, 0, SOCKS_OK, NULL);
	}
	conn_bury(s);
}

/* 1: connected at once, in *ret; 0: on its way; negative: not to be had. */
static int begin_attempt(struct dial *d, struct attempt *a, const struct address *to, int *ret)
{
	struct sockaddr_storage address;
	const socklen_t len = fill(to, d->port, &address);
	int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, len) == 0) {
		*ret = fd;
		return 1;
	}
	if (errno != EINPROGRESS) {
		int r = -errno;

		close(fd);
		return r;
	}
	a->fd = fd;
	a->dial = d;
	event_assign(&a->event, d->server->base, fd, EV_WRITE, on_attempt, a);
	event_add(&a->event, NULL);
	return 0;
}

static struct attempt *free_attempt(struct dial *d, bool *ret_busy)
{
	struct attempt *found = NULL;

	*ret_busy = false;
	for (size_t i = 0; i < ATTEMPTS_MAX; i++) {
		if (d->attempt[i].fd < 0)
			found = &d->attempt[i];
		else
			*ret_busy = true;
	}
	return found;
}

static void fail(struct dial *d)
{
	if (d->refused)
		record_denial(d->server->record, d->host, d->port, d->refused, "addresses of names");
	if (d->refused && !d->error)
		return finish(d, -1, 403, SOCKS_DENIED, d->refused);
	finish(d, -1, d->error == ETIMEDOUT ? 504 : 502, reply_for(d->error), d->error ? strerror(d->error) : "no address");
}

static void try_next(struct dial *d)
{
	struct attempt *a;
	bool busy;
	int fd = -1;

	while ((a = free_attempt(d, &busy)) && d->next < d->n) {
		int r = begin_attempt(d, a, &d->address[d->next++], &fd);

		if (r > 0)
			return finish(d, fd, 0, SOCKS_OK, NULL);
		if (r == 0) {
			evtimer_add(&d->timer, &(struct timeval){ .tv_usec = NEXT_MS * 1000 });
			return;
		}
		d->error = -r;
	}
	if (!busy)
		fail(d);
}

static void on_next(evutil_socket_t fd, short what, void *argument)
{
	struct dial *d = argument;
	struct server *s = d->server;

	(void)fd, (void)what;
	if (d->next < d->n)
		try_next(d);
	conn_bury(s);
}

/* ---- looking up ---- */

static bool is_own(const struct ifaddrs *list, const struct address *a)
{
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		const int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
		struct address own = { 0 };

		if (family == AF_INET)
			own = address_from_bytes(4, &((const struct sockaddr_in *)i->ifa_addr)->sin_addr);
		else if (family == AF_INET6)
			own = address_from_bytes(6, &((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr);
		if (own.family && address_equal(&own, a))
			return true;
	}
	return false;
}

/* A proxy above is the user's word, and no address of the run's choice. */
static void judge(struct dial *d)
{
	struct ifaddrs *own = NULL;
	size_t kept = 0;

	if (d->conn->talk->parent)
		return;
	if (getifaddrs(&own) < 0) {
		d->refused = "the addresses of this machine are not known";
		d->n = 0;
		return;
	}
	for (size_t i = 0; i < d->n; i++) {
		const char *why = egress_refuses_address(d->server->o.egress, d->host, &d->address[i], d->port, is_own(own, &d->address[i]));

		if (why)
			d->refused = why;
		else
			d->address[kept++] = d->address[i];
	}
	freeifaddrs(own);
	d->n = kept;
}

/* One of each family in turn, so that a family without a route costs little. */
static void interleave(struct dial *d)
{
	struct address sorted[ADDRESSES_MAX] = { { 0 } };
	size_t at[2] = { 0, 0 }, n = 0;

	for (size_t turn = 0; n < d->n; turn++) {
		size_t *i = &at[turn % 2];

		while (*i < d->n && (d->address[*i].family == 6) == (turn % 2 == 1))
			++*i;
		if (*i < d->n)
			sorted[n++] = d->address[(*i)++];
	}
	memcpy(d->address, sorted, n * sizeof(*sorted));
}

static void found(struct dial *d)
{
	interleave(d);
	judge(d);
	try_next(d);
}

static void on_lookup(int result, struct evutil_addrinfo *list, void *argument)
{
	struct dial *d = argument;
	struct server *s = d->server;
	const bool later = d->request != NULL; /* else evdns_getaddrinfo() itself calls, and its caller still holds the connection */

	d->request = NULL;
	for (struct evutil_addrinfo *i = result ? NULL : list; i && d->n < ADDRESSES_MAX; i = i->ai_next) {
		if (i->ai_family == AF_INET)
			d->address[d->n++] = address_from_bytes(4, &((struct sockaddr_in *)i->ai_addr)->sin_addr);
		else if (i->ai_family == AF_INET6)
			d->address[d->n++] = address_from_bytes(6, &((struct sockaddr_in6 *)i->ai_addr)->sin6_addr);
	}
	if (list)
		evutil_freeaddrinfo(list);
	if (!d->conn)
		dial_free(d);
	else if (!d->n)
		finish(d, -1, 502, SOCKS_HOST_UNREACHABLE, result == EVUTIL_EAI_CANCEL ? "cancelled" : "the name cannot be looked up");
	else
		found(d);
	if (later)
		conn_bury(s);
}

static void look_up(struct dial *d)
{
	const struct evutil_addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP };
	struct evdns_getaddrinfo_request *request;

	if (!d->server->dns)
		return finish(d, -1, 502, SOCKS_HOST_UNREACHABLE, "there is no name server");
	request = evdns_getaddrinfo(d->server->dns, d->host->text, NULL, &hints, on_lookup, d);
	if (request) /* else it was answered, and d is gone */
		d->request = request;
}

void dial_start(struct conn *c)
{
	static const unsigned char local4[4] = { 127, 0, 0, 1 }, local6[16] = { [15] = 1 };
	const struct talk *t = c->talk;
	struct dial *d = calloc(1, sizeof(*d));

	if (!d)
		return client_refuse(c, 502, SOCKS_FAILED, "out of memory");
	d->conn = c;
	d->server = c->server;
	d->host = t->parent ? &t->parent->host : &t->target.host;
	d->port = t->parent ? t->parent->port : t->target.port;
	for (size_t i = 0; i < ATTEMPTS_MAX; i++)
		d->attempt[i].fd = -1;
	evtimer_assign(&d->timer, c->server->base, on_next, d);
	c->talk->dial = d;
	if (d->host->address.family) {
		d->address[d->n++] = d->host->address;
	} else if (hostname_is_localhost(d->host)) { /* RFC 6761 §6.3 */
		d->address[d->n++] = address_from_bytes(4, local4);
		d->address[d->n++] = address_from_bytes(6, local6);
	} else {
		return look_up(d);
	}
	found(d);
}
