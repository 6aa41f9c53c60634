/* SOCKS 4, 4a and 5: what the client says, and what it is answered. RFC 1928, RFC 1929. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/policy/hosts.h"

enum { SOCKS_MAX = 1024 }; /* more than any message of it */

enum socks_reply { SOCKS_OK, SOCKS_FAILED, SOCKS_DENIED, SOCKS_NET_UNREACHABLE, SOCKS_HOST_UNREACHABLE, SOCKS_REFUSED, SOCKS_TIMEOUT,
	SOCKS_NO_COMMAND, SOCKS_NO_TYPE };

/*
 * Each takes the message at the beginning of the buffer: the number of its bytes, 0 when not all of it is there, -EBADMSG when it is
 * none. Where the request can be answered although it cannot be done, *ret_reply says how.
 */
/* 5: the methods. *ret_method: 2 (a password is asked for), 0 (nothing is), 0xff (none that fits). */
ssize_t socks5_parse_greeting(const unsigned char *s, size_t len, bool password, unsigned char *ret_method);
ssize_t socks5_parse_password(const unsigned char *s, size_t len, const unsigned char **ret, size_t *ret_len);
ssize_t socks5_parse_request(const unsigned char *s, size_t len, struct hostname *ret, uint16_t *ret_port, enum socks_reply *ret_reply, const char **ret_why);
/* 4 and 4a: the user is where a credential may stand. */
ssize_t socks4_parse_request(const unsigned char *s, size_t len, struct hostname *ret, uint16_t *ret_port, const unsigned char **ret_user,
			     size_t *ret_user_len, enum socks_reply *ret_reply, const char **ret_why);
/* The bytes of an answer in ret, which has room for 10; their number. */
size_t socks_write_reply(unsigned version, enum socks_reply, unsigned char ret[static 10]);
