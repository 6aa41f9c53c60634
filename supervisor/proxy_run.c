#include "supervisor/proxy_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/base/cleanup.h"

/* ---- a proxy above ---- */

/* What hurdle itself was told to use, as curl would understand it: lower case first. */
static const char *from_environment(const struct launch *l, const char *lower, const char *upper)
{
	const char *const names[] = { lower, upper };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const size_t n = strlen(names[i]);

		for (char *const *e = l->environ; e && *e; e++)
			if (!strncmp(*e, names[i], n) && (*e)[n] == '=' && (*e)[n + 1])
				return *e + n + 1;
	}
	return NULL;
}

/* Without a setting the environment counts: who needs a proxy to get out needs it inside as well. */
static void set_parents(const struct launch *l, struct proxy_options *o)
{
	const struct policy *p = l->policy;
	const bool said = p->parent_http || p->parent_https;

	o->parent_http = said ? p->parent_http : from_environment(l, "http_proxy", "HTTP_PROXY");
	o->parent_https = !said ? from_environment(l, "https_proxy", "HTTPS_PROXY") : p->parent_https ? p->parent_https : p->parent_http;
	o->parent_no_proxy = p->parent_no_proxy ? p->parent_no_proxy : from_environment(l, "no_proxy", "NO_PROXY");
}

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

/* ---- its life ---- */

static int say_parent(const struct launch *l, int r, struct err *err)
{
	const struct policy *p = l->policy;

	/* the URL may hold a password, so it is not repeated */
	err_set(err, r, "cannot use the proxy above (%s): %s", p->parent_http || p->parent_https ? "network.parentProxy" : "https_proxy or http_proxy",
		r == -EPROTONOSUPPORT ? "only http: and socks5: are spoken to it" : r == -ENOTSUP ? "no password is sent to a SOCKS proxy" : "not a URL of a host");
	err_hint(err, "network.parentProxy in a settings file names another");
	return r;
}

int proxy_run_prepare(struct launch *l, struct err *err)
{
	struct proxy_options o = { .listen_fd = -1 };
	int r;

	proxy_run_release(l);
	if (!l->route.port || l->route.external)
		return 0;
	set_parents(l, &o);
	r = proxy_check_parents(&o);
	if (r < 0)
		return say_parent(l, r, err);
	l->proxy = xcalloc(1, sizeof(*l->proxy));
	*l->proxy = PROXY_NONE;
	l->proxy->parent_http = copy(o.parent_http);
	l->proxy->parent_https = copy(o.parent_https);
	l->proxy->parent_no_proxy = copy(o.parent_no_proxy);
	return 0;
}

int proxy_run_start(struct launch *l, struct err *err)
{
	struct proxy_options o = { .listen_fd = l->route.listen_fd };
	struct egress *egress = NULL;
	int r;

	if (!l->proxy || l->route.listen_fd < 0)
		return 0;
	r = egress_compile(l->policy, &egress, err);
	if (r < 0)
		return r;
	o.egress = egress;
	o.parent_http = l->proxy->parent_http;
	o.parent_https = l->proxy->parent_https;
	o.parent_no_proxy = l->proxy->parent_no_proxy;
	strlcpy(o.token, l->route.token, sizeof(o.token));
	r = proxy_start(l->proxy, &o);
	egress_free(egress);
	close(l->route.listen_fd);
	l->route.listen_fd = -1;
	return r < 0 ? err_set(err, r, "cannot start the proxy: %s", strerror(-r)) : 0;
}

void proxy_run_reaped(struct launch *l, pid_t pid)
{
	if (l->proxy)
		proxy_reaped(l->proxy, pid);
}

void proxy_run_stop(struct launch *l)
{
	if (l->proxy)
		proxy_stop(l->proxy);
}

void proxy_run_release(struct launch *l)
{
	if (l->proxy)
		proxy_release(l->proxy);
	free(l->proxy);
	l->proxy = NULL;
}

bool proxy_run_died(const struct launch *l)
{
	return l->proxy && l->proxy->died;
}

const struct record *proxy_run_record(const struct launch *l)
{
	return l->proxy ? l->proxy->record : NULL;
}

/* ---- what it refused ---- */

/* The record is another process's word: its texts may want their ends. */
static char *bounded(const char *s, size_t size)
{
	return strf("%.*s", (int)strnlen(s, size), s);
}

static void add_denial(struct violations *to, const struct record_denial *d)
{
	_cleanup_free_ char *host = bounded(d->host, sizeof(d->host)), *reason = bounded(d->reason, sizeof(d->reason));
	_cleanup_free_ char *rule = bounded(d->rule, sizeof(d->rule));
	struct violation *v = &to->list[to->n];

	*v = (struct violation){ .action = "network-outbound", .mechanism = "proxyroute", .time_ms = d->time_ms };
	v->target = d->port ? strf(strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, (unsigned)d->port) : xstrdup(host);
	v->rule = strf("%s: %s", rule, reason);
	v->raw = xstrdup("");
	v->program = xstrdup("");
	to->n++;
}

static void drop_oldest(struct violations *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v->list[i].target);
		free(v->list[i].rule);
		free(v->list[i].raw);
		free(v->list[i].program);
	}
	memmove(v->list, v->list + n, (v->n - n) * sizeof(*v->list));
	v->n -= n;
}

void proxy_run_add_violations(const struct launch *l, struct violations *to)
{
	const struct record *r = proxy_run_record(l);
	const size_t kept = !r ? 0 : r->denials < RECORD_DENIALS ? (size_t)r->denials : RECORD_DENIALS;

	if (!kept)
		return;
	if (!to->list)
		to->list = xcalloc(VIOLATIONS_KEPT, sizeof(*to->list));
	if (to->n + kept > VIOLATIONS_KEPT)
		drop_oldest(to, to->n + kept - VIOLATIONS_KEPT);
	to->total += r->denials;
	for (uint64_t i = r->denials - kept; i < r->denials; i++)
		add_denial(to, &r->denial[i % RECORD_DENIALS]);
}
