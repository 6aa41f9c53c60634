#include "supervisor/proxy/record.h"

#include <string.h>
#include <time.h>

unsigned record_host(struct record *r, const struct hostname *h, uint16_t port, bool allowed)
{
	for (unsigned i = 0; i < r->n_hosts; i++) {
		struct record_host *e = &r->host[i];

		if (e->port == port && e->allowed == allowed && !strcmp(e->host, h->text)) {
			e->times++;
			return i;
		}
	}
	if (r->n_hosts == RECORD_HOSTS) {
		r->lost_hosts++;
		return RECORD_HOSTS;
	}
	struct record_host *e = &r->host[r->n_hosts];
	strlcpy(e->host, h->text, sizeof(e->host));
	e->port = port;
	e->allowed = allowed;
	e->times = 1;
	return r->n_hosts++;
}

void record_denial(struct record *r, const struct hostname *host, uint16_t port, const char *reason, const char *rule)
{
	struct record_denial *d = &r->denial[r->denials % RECORD_DENIALS];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	strlcpy(d->host, host ? host->text : "?", sizeof(d->host));
	d->port = port;
	strlcpy(d->reason, reason, sizeof(d->reason));
	strlcpy(d->rule, rule, sizeof(d->rule));
	d->time_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	r->denials++;
}
