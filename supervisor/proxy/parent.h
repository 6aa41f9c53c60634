/* The URL of a proxy, as in HTTPS_PROXY. */
#pragma once
#include "platform/policy/hosts.h"

struct parent_proxy {
	struct hostname host;
	uint16_t port;
	char *credential; /* base64; owned; NULL: none */
	bool socks, set;
};

/* "http://[USER:PASSWORD@]HOST[:PORT]", "socks5://", "socks5h://", or without a scheme. -EPROTONOSUPPORT: another scheme; -ENOTSUP: a password
 * for SOCKS; -EINVAL. */
int parent_parse(const char *url, struct parent_proxy *ret);
