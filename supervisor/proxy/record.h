/*
 * What the proxy saw, in memory that it shares with the supervisor alone: every host that was asked for, and the newest denials. The
 * supervisor reads it when the proxy is gone. What it says was asked by programs of the run, so it is for people, bounded, and
 * escaped when printed.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "platform/policy/egress.h"

enum { RECORD_HOSTS = 512, RECORD_DENIALS = 100 };

struct record_host {
	char host[HOST_MAX + 1];
	uint16_t port;
	bool allowed;
	uint32_t times;
	uint64_t sent, received; /* bytes of the client and of the host */
};

struct record_denial {
	char host[HOST_MAX + 1]; /* canonical, or "?" where what was asked for is no host */
	uint16_t port;
	char reason[120], rule[160];
	int64_t time_ms;         /* CLOCK_REALTIME */
};

struct record {
	uint32_t n_hosts, lost_hosts; /* lost: asked for when the table was full */
	uint64_t denials;             /* ever */
	struct record_host host[RECORD_HOSTS];
	struct record_denial denial[RECORD_DENIALS]; /* number i stands at i % RECORD_DENIALS */
};

/* The index of the entry for this host, port and verdict, or RECORD_HOSTS when there is no place. */
unsigned record_host(struct record *r, const struct hostname *h, uint16_t port, bool allowed);
/* host NULL: what was asked for is none. */
void record_denial(struct record *r, const struct hostname *host, uint16_t port, const char *reason, const char *rule);
