/*
 * The filtering proxy: a process of its own between the run and the network. One port speaks HTTP (CONNECT, and http: in
 * absolute-form), SOCKS 4, 4a and 5; the first byte tells. It decides about the host that it will connect to, looks it up once, judges
 * the addresses, and dials one that it judged.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/policy/egress.h"
#include "supervisor/proxy/record.h"

enum { PROXY_TOKEN = 32 };

struct proxy_options {
	const struct egress *egress;
	int listen_fd;              /* a listening TCP socket, in whatever network namespace */
	char token[PROXY_TOKEN + 1]; /* what clients must show; "": nothing, since the port is the run's alone */
	const char *parent_http, *parent_https, *parent_no_proxy; /* a proxy above this one, as URLs; NULL: none */
	const char *resolv_conf, *hosts_file; /* NULL: those of the system */
	/* Seconds, and numbers of connections; 0: the default. */
	unsigned first_byte_seconds, head_seconds, dial_seconds, idle_seconds, linger_seconds, clients_max;
};

struct proxy {
	pid_t pid;             /* 0: it does not run */
	int control_fd;        /* the proxy ends when this is closed; -1: none */
	struct record *record; /* NULL: never started */
	char *parent_http, *parent_https, *parent_no_proxy; /* owned copies; NULL: not said */
	bool died;             /* it ended by itself: the run has had no network from then on */
};
#define PROXY_NONE ((struct proxy){ .control_fd = -1 })

/* 0, or why the proxies above cannot be used: -EPROTONOSUPPORT, -ENOTSUP (a password for SOCKS), -EINVAL. */
int proxy_check_parents(const struct proxy_options *o);
/* Forks the process. The socket stays the caller's, who may close it. 0 or a negative errno. */
int proxy_start(struct proxy *p, const struct proxy_options *o);
/* The caller's waitpid() has seen this process end. True: it was the proxy. */
bool proxy_reaped(struct proxy *p, pid_t pid);
/* Ends it; the record stays to be read. */
void proxy_stop(struct proxy *p);
void proxy_release(struct proxy *p);

/* server.c: what the process does. confine is called once all files were read, before the first client is heard. Returns when the control
 * descriptor says so, or a negative errno. */
int proxy_serve(const struct proxy_options *o, struct record *record, int control_fd, int (*confine)(pid_t supervisor), pid_t supervisor);
