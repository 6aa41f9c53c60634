#include "supervisor/proxy/socks.h"

#include <errno.h>
#include <string.h>

ssize_t socks5_parse_greeting(const unsigned char *s, size_t len, bool password, unsigned char *ret_method)
{
	if (len < 2)
		return 0;
	if (s[0] != 5 || !s[1])
		return -EBADMSG;
	if (len < 2u + s[1])
		return 0;
	/* who only offers a password where none is wanted may give any */
	*ret_method = memchr(s + 2, 2, s[1]) && (password || !memchr(s + 2, 0, s[1])) ? 2 : !password && memchr(s + 2, 0, s[1]) ? 0 : 0xff;
	return 2 + s[1];
}

ssize_t socks5_parse_password(const unsigned char *s, size_t len, const unsigned char **ret, size_t *ret_len)
{
	size_t user;

	if (len < 2)
		return 0;
	if (s[0] != 1)
		return -EBADMSG;
	user = s[1];
	if (len < 2 + user + 1 || len < 2 + user + 1 + s[2 + user])
		return 0;
	*ret = s + 2 + user + 1;
	*ret_len = s[2 + user];
	return (ssize_t)(2 + user + 1 + *ret_len);
}

static void take_address(int family, const unsigned char *bytes, struct hostname *ret)
{
	*ret = (struct hostname){ .address = address_from_bytes(family, bytes) };
	address_text(&ret->address, ret->text);
}

ssize_t socks5_parse_request(const unsigned char *s, size_t len, struct hostname *ret, uint16_t *ret_port, enum socks_reply *ret_reply, const char **ret_why)
{
	size_t n;

	if (len < 5)
		return 0;
	if (s[0] != 5 || s[2] != 0)
		return -EBADMSG;
	n = s[3] == 1 ? 4 : s[3] == 4 ? 16 : s[3] == 3 ? 1u + s[4] : 0;
	*ret_reply = s[1] != 1 ? SOCKS_NO_COMMAND : !n ? SOCKS_NO_TYPE : SOCKS_OK;
	*ret_why = s[1] != 1 ? "only CONNECT is spoken" : "an unknown type of address";
	if (*ret_reply != SOCKS_OK)
		return (ssize_t)len;
	if (len < 4 + n + 2)
		return 0;
	*ret_port = (uint16_t)(s[4 + n] << 8 | s[5 + n]);
	if (s[3] != 3)
		take_address(s[3] == 1 ? 4 : 6, s + 4, ret);
	else if (hostname_parse((const char *)s + 5, s[4], ret, ret_why) < 0)
		*ret_reply = SOCKS_DENIED;
	if (*ret_reply == SOCKS_OK && !*ret_port) {
		*ret_reply = SOCKS_DENIED;
		*ret_why = "no valid port";
	}
	return (ssize_t)(4 + n + 2);
}

ssize_t socks4_parse_request(const unsigned char *s, size_t len, struct hostname *ret, uint16_t *ret_port, const unsigned char **ret_user,
			     size_t *ret_user_len, enum socks_reply *ret_reply, const char **ret_why)
{
	const unsigned char *end = len > 8 ? memchr(s + 8, 0, len - 8) : NULL, *name_end = end;

	if (len && s[0] != 4)
		return -EBADMSG;
	if (!end)
		return len > 8 + 255 ? -EBADMSG : 0;
	const bool named = !s[4] && !s[5] && !s[6] && s[7]; /* 4a: 0.0.0.x */
	if (named)
		name_end = memchr(end + 1, 0, len - (size_t)(end + 1 - s));
	if (!name_end)
		return len > SOCKS_MAX / 2 ? -EBADMSG : 0;
	*ret_user = s + 8;
	*ret_user_len = (size_t)(end - (s + 8));
	*ret_port = (uint16_t)(s[2] << 8 | s[3]);
	*ret_reply = s[1] != 1 ? SOCKS_NO_COMMAND : *ret_port ? SOCKS_OK : SOCKS_DENIED;
	*ret_why = s[1] != 1 ? "only CONNECT is spoken" : "no valid port";
	if (!named)
		take_address(4, s + 4, ret);
	else if (hostname_parse((const char *)end + 1, (size_t)(name_end - end - 1), ret, ret_why) < 0)
		*ret_reply = SOCKS_DENIED;
	return name_end + 1 - s;
}

size_t socks_write_reply(unsigned version, enum socks_reply reply, unsigned char ret[static 10])
{
	memset(ret, 0, 10);
	if (version == 4) {
		ret[1] = reply == SOCKS_OK ? 0x5a : 0x5b;
		return 8;
	}
	ret[0] = 5;
	ret[1] = (unsigned char)reply;
	ret[3] = 1;
	return 10;
}
