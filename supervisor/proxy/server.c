/* The event loop of the proxy's process: the listening socket, the resolver, turns, the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "supervisor/proxy/base64.h"
#include "supervisor/proxy/server.h"

enum { ACCEPT_A_TURN = 64, RESUME_MS = 50, OWN_DESCRIPTORS = 32 + 2 * PIPES_MAX, CLIENTS_MAX = 4096 };

/* ---- accepting ---- */

static void pause_accepting(struct server *s, bool for_a_moment)
{
	event_del(s->accept_event);
	s->accepting = false;
	if (for_a_moment)
		event_add(s->resume_event, &(struct timeval){ .tv_usec = RESUME_MS * 1000 });
}

static void on_accept(evutil_socket_t fd, short what, void *argument)
{
	struct server *s = argument;

	(void)what;
	for (int i = 0; i < ACCEPT_A_TURN; i++) {
		int client = s->clients < s->o.clients_max ? accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC) : -1;

		if (client < 0) {
			/* without a free place, or a descriptor, those who knock wait in the kernel's queue */
			if (s->clients >= s->o.clients_max)
				pause_accepting(s, false);
			else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				pause_accepting(s, true);
			break;
		}
		conn_accept(s, client);
	}
	conn_bury(s);
}

static void on_resume(evutil_socket_t fd, short what, void *argument)
{
	struct server *s = argument;

	(void)fd, (void)what;
	if (!s->accepting)
		s->accepting = event_add(s->accept_event, NULL) == 0;
}

/* ---- turns ---- */

static void on_turn(evutil_socket_t fd, short what, void *argument)
{
	struct server *s = argument;
	struct conn *list = s->turn;

	(void)fd, (void)what;
	s->turn = NULL;
	while (list) {
		struct conn *c = list;

		list = c->next_turn;
		c->in_turn = false;
		c->step(c);
	}
	conn_bury(s);
}

/* ---- the end ---- */

static void on_control(evutil_socket_t fd, short what, void *argument)
{
	struct server *s = argument;
	char byte;

	(void)what;
	if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0)
		event_base_loopbreak(s->base);
}

/* ---- the beginning ---- */

static void open_resolver(struct server *s)
{
	s->dns = evdns_base_new(s->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (!s->dns)
		return;
	evdns_base_load_hosts(s->dns, s->o.hosts_file ? s->o.hosts_file : "/etc/hosts");
	if (evdns_base_resolv_conf_parse(s->dns, DNS_OPTIONS_ALL, s->o.resolv_conf ? s->o.resolv_conf : "/etc/resolv.conf") != 0 &&
	    !evdns_base_count_nameservers(s->dns))
		evdns_base_nameserver_ip_add(s->dns, "127.0.0.1");
	/* what was decided about is what is asked for, and nothing with a domain behind it */
	evdns_base_search_clear(s->dns);
	evdns_base_set_option(s->dns, "getaddrinfo-allow-skew:", "1");
}

static unsigned or_default(unsigned value, unsigned otherwise)
{
	return value ? value : otherwise;
}

/* Two descriptors for each connection, and while several addresses are tried a few more. */
static unsigned clients_allowed(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return 64;
	l.rlim_cur = l.rlim_max;
	if (l.rlim_cur > OWN_DESCRIPTORS + 4 * CLIENTS_MAX)
		l.rlim_cur = OWN_DESCRIPTORS + 4 * CLIENTS_MAX;
	setrlimit(RLIMIT_NOFILE, &l);
	return l.rlim_cur > OWN_DESCRIPTORS + 16 ? (unsigned)(l.rlim_cur - OWN_DESCRIPTORS) / 4 : 4;
}

static int set_parents(struct server *s)
{
	int r = s->o.parent_http ? parent_parse(s->o.parent_http, &s->parent_http) : 0;

	return r == 0 && s->o.parent_https ? parent_parse(s->o.parent_https, &s->parent_https) : r;
}

static int set_up(struct server *s, int control_fd)
{
	struct event_config *config = event_config_new();

	if (config)
		event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	s->base = config ? event_base_new_with_config(config) : NULL;
	event_config_free(config);
	if (!s->base || set_parents(s) < 0)
		return -EINVAL;
	if (s->o.token[0]) {
		_cleanup_free_ char *pair = strf("hurdle:%s", s->o.token);
		s->expected = base64(pair, strlen(pair));
	}
	evutil_make_socket_nonblocking(s->o.listen_fd);
	s->accept_event = event_new(s->base, s->o.listen_fd, EV_READ | EV_PERSIST, on_accept, s);
	s->resume_event = evtimer_new(s->base, on_resume, s);
	s->turn_event = evtimer_new(s->base, on_turn, s);
	s->control_event = event_new(s->base, control_fd, EV_READ | EV_PERSIST, on_control, s);
	if (!s->accept_event || !s->resume_event || !s->turn_event || !s->control_event)
		return -ENOMEM;
	s->accepting = event_add(s->accept_event, NULL) == 0;
	event_add(s->control_event, NULL);
	open_resolver(s);
	return 0;
}

int proxy_serve(const struct proxy_options *o, struct record *record, int control_fd, int (*confine)(pid_t), pid_t supervisor)
{
	struct server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->record = record;
	s->o.first_byte_seconds = or_default(o->first_byte_seconds, 10);
	s->o.head_seconds = or_default(o->head_seconds, 30);
	s->o.dial_seconds = or_default(o->dial_seconds, 30);
	s->o.idle_seconds = or_default(o->idle_seconds, 15 * 60);
	s->o.linger_seconds = or_default(o->linger_seconds, 5);
	const unsigned allowed = clients_allowed();
	s->o.clients_max = o->clients_max && o->clients_max < allowed ? o->clients_max : allowed;
	r = set_up(s, control_fd);
	if (r == 0)
		r = confine(supervisor);
	if (r == 0 && event_base_dispatch(s->base) < 0)
		r = -EIO;
	return r; /* the process ends with it, and takes the rest along */
}
