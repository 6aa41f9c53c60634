/*
 * The way to the proxy: the port that it listens on, the credential of the run, and the variables that tell tools of both. The proxy
 * itself is a process of the supervisor's (supervisor/proxy); what keeps programs from going another way is for other mechanisms.
 */
#include "platform/mechanism/mechanism.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/cleanup.h"

enum { BACKLOG = 1024, INSIDE_PORT = 3128 };

static const struct { const char *name, *value; } variables[] = {
#define PROXY_VARIABLE(name, value, reader) { name, value },
#include "platform/mechanism/proxy_variables.def"
#undef PROXY_VARIABLE
};

static bool is_external(const struct policy *p)
{
	return p->http_proxy_port || p->socks_proxy_port;
}

/* ---- the port ---- */

static int listen_on_loopback(struct route *r)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, BACKLOG) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
		int error = errno;
		close(fd);
		return -error;
	}
	r->listen_fd = fd;
	r->port = ntohs(a.sin_port);
	return 0;
}

/* Others on this machine reach the port as well. */
static int make_token(struct route *r)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[ROUTE_TOKEN / 2];
	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return -errno;
	for (size_t i = 0; i < sizeof bytes; i++) {
		r->token[2 * i] = digits[bytes[i] >> 4];
		r->token[2 * i + 1] = digits[bytes[i] & 15];
	}
	return 0;
}

void route_release(struct route *r)
{
	if (r->listen_fd >= 0)
		close(r->listen_fd);
	*r = ROUTE_NONE;
}

/* ---- the variables ---- */

static char *credential(const struct route *r)
{
	return r->token[0] ? strf(ROUTE_USER ":%s@", r->token) : xstrdup("");
}

static bool has_variable(const struct launch *l, const char *name)
{
	size_t n = strlen(name);
	for (char *const *e = l->environ; e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return true;
	return false;
}

/* ssh runs hurdle's own small client in place of a connection. "": the user has a command already, or this one could not be quoted. */
static char *ssh_command(const struct launch *l)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0 || has_variable(l, "GIT_SSH_COMMAND") || has_variable(l, "GIT_SSH"))
		return xstrdup("");
	self[n] = '\0';
	return strpbrk(self, "'\"\\ \t\n%$`") ? xstrdup("") : strf("ssh -o ProxyCommand='%s connect %%h %%p'", self);
}

static char *expand(const struct launch *l, const char *value)
{
	const struct route *r = &l->route;
	_cleanup_free_ char *before = credential(r);
	switch (value[0] == '%' ? value[1] : 0) {
	case 'U': return strf("http://%s127.0.0.1:%u", before, (unsigned)r->port);
	case 'S': return strf("socks5h://%s127.0.0.1:%u", before, (unsigned)(r->socks_port ? r->socks_port : r->port));
	case 'A': return strf("%s127.0.0.1:%u", before, (unsigned)r->port);
	case 'G': return r->external ? xstrdup("") : ssh_command(l);
	case 'h': return xstrdup("127.0.0.1");
	case 'p': return strf("%u", (unsigned)r->port);
	case 'u': return xstrdup(r->token[0] ? ROUTE_USER : "");
	case 't': return xstrdup(r->token);
	default:  return xstrdup(value);
	}
}

static void add_variables(struct launch *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		_cleanup_free_ char *value = expand(l, variables[i].value), *s = strf("%s=%s", variables[i].name, value);
		if (*value)
			strv_add(&l->extra_env, s);
	}
	/* servers of the run's own are reached without it */
	strv_add(&l->extra_env, "NO_PROXY=localhost,127.0.0.1,::1");
	strv_add(&l->extra_env, "no_proxy=localhost,127.0.0.1,::1");
}

/* With the network off, a program that asks for a proxy is led to a port where nothing listens, and fails at once. */
void proxyroute_add_black_hole(struct strv *env)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *v = variables[i].value;
		if (v[0] != '%' || !strchr("USA", v[1]))
			continue;
		_cleanup_free_ char *s = strf("%s=%s127.0.0.1:9", variables[i].name, v[1] == 'A' ? "" : "http://");
		strv_add(env, s);
	}
	strv_add(env, "NO_PROXY=localhost,127.0.0.1,::1");
	strv_add(env, "no_proxy=localhost,127.0.0.1,::1");
}

/* ---- the mechanism ---- */

static int set_external(struct launch *l)
{
	const struct policy *p = l->policy;
	l->route.external = true;
	l->route.port = p->http_proxy_port ? p->http_proxy_port : p->socks_proxy_port;
	l->route.socks_port = p->socks_proxy_port ? p->socks_proxy_port : p->http_proxy_port;
	add_variables(l);
	return 0;
}

static int proxyroute_prepare(struct launch *l, struct err *err)
{
	int r = 0;
	route_release(&l->route);
	if (is_external(l->policy))
		return set_external(l);
	if (l->walls.own_network) { /* the program inside the walls listens there, where no one else is */
		l->route.port = INSIDE_PORT;
	} else {
		r = make_token(&l->route);
		if (r == 0)
			r = listen_on_loopback(&l->route);
	}
	if (r < 0)
		return err_set(err, r, "cannot listen for the proxy on loopback: %s", strerror(-r));
	add_variables(l);
	return 0;
}

static bool proxyroute_available(struct host *h, const struct policy *p, char **ret_evidence)
{
	(void)h;
	const bool wanted = p->net == NET_FILTER && !p->scrub_only;
	*ret_evidence = !wanted ? xstrdup("not used: the network is not filtered") :
			is_external(p) ? strf("the proxy that listens on port %u", (unsigned)(p->http_proxy_port ? p->http_proxy_port : p->socks_proxy_port)) :
					 xstrdup("a proxy of hurdle's own on loopback");
	return wanted;
}

static enum extent proxyroute_holds(const struct view *v, const struct rule *r, struct strv *caveats)
{
	if (r->guarantee != G_net_domains)
		return HOLDS_NOT;
	if (is_external(v->policy)) {
		strv_add(caveats, "another program's proxy decides, which hurdle knows nothing of");
		return HOLDS_NOT;
	}
	strv_add(caveats, "an allowed host sees what it is sent, and can pass it on");
	strv_add(caveats, "what goes through a tunnel is not looked at: another site behind the same address is reached");
	return HOLDS_WHOLE;
}

static char *proxyroute_profile(struct launch *l)
{
	struct str s = STR_INIT;
	str_addf(&s, "listens: 127.0.0.1, HTTP and SOCKS on one port%s\n", is_external(l->policy) ? " (a program of the user's)" : ", with a credential of the run");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		str_addf(&s, "set: %s\n", variables[i].name);
	return str_take(&s);
}

const struct mechanism mechanism_proxyroute = {
	.name = "proxyroute", .what = "leads tools to the filtering proxy, which decides by host", .level = LEVEL_SUPERVISED, .role = ROLE_BASE,
	.available = proxyroute_available, .holds = proxyroute_holds, .prepare = proxyroute_prepare, .profile = proxyroute_profile,
};
