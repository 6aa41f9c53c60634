/* What clients and hosts send to the proxy, after a byte that says what it is: heads, bodies, SOCKS. What is written anew is read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "supervisor/proxy/http_body.h"
#include "supervisor/proxy/socks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct http_head head, again;

static void fuzz_request(const char *s, size_t n)
{
	struct http_target target, target_again;
	const char *why = NULL;
	struct str out = STR_INIT;
	int r = http_parse_request(s, n, &head, &why);

	if ((r != 0) != (why != NULL))
		abort();
	if (r || http_parse_target(&head, &target, &why))
		return;
	if (!target.connect) {
		http_write_request(&out, &head, &target, true, NULL);
		/* one head, whole, about the same host, with the same body */
		if (http_head_end(out.s, out.len) != out.len || http_parse_request(out.s, out.len, &again, &why) || http_parse_target(&again, &target_again, &why))
			abort();
		if (strcmp(target.host.text, target_again.host.text) || target.port != target_again.port || head.framing != again.framing || head.length != again.length)
			abort();
	}
	str_free(&out);
}

static void fuzz_response(const char *s, size_t n)
{
	const char *why;
	struct str out = STR_INIT;

	if (http_parse_response(s, n, false, &head, &why))
		return;
	http_write_response(&out, &head, head.framing == FRAMING_CHUNKED, true);
	if (http_head_end(out.s, out.len) != out.len || http_parse_response(out.s, out.len, false, &again, &why))
		abort();
	if (head.status != again.status || (head.framing != FRAMING_NONE && head.framing != again.framing))
		abort();
	str_free(&out);
}

/* In two pieces or in one: the same comes out, and it is a body of the same form again. */
static void fuzz_body(const char *s, size_t n)
{
	struct http_body whole, parts, second;
	struct str a = STR_INIT, b = STR_INIT, c = STR_INIT;
	const size_t half = n / 2;
	ssize_t taken, first;

	head.framing = FRAMING_CHUNKED;
	http_body_begin(&whole, &head, false);
	http_body_begin(&parts, &head, false);
	taken = http_body_take(&whole, s, n, &a);
	first = http_body_take(&parts, s, half, &b);
	if (first >= 0 && !parts.done)
		first = http_body_take(&parts, s + half, n - half, &b);
	if ((taken < 0) != (first < 0) || (taken >= 0 && (a.len != b.len || (a.len && memcmp(a.s, b.s, a.len)))))
		abort();
	if (taken >= 0 && whole.done) {
		http_body_begin(&whole, &head, true);
		http_body_take(&whole, s, n, &c);
		http_body_begin(&second, &head, false);
		b.len = 0;
		if (http_body_take(&second, c.s, c.len, &b) != (ssize_t)c.len || !second.done || b.len != a.len)
			abort();
	}
	str_free(&a);
	str_free(&b);
	str_free(&c);
}

static void fuzz_socks(const unsigned char *s, size_t n)
{
	struct hostname h;
	const unsigned char *text;
	const char *why;
	enum socks_reply reply;
	unsigned char method;
	uint16_t port;
	size_t len;
	ssize_t r = socks5_parse_greeting(s, n, true, &method);

	if (r > (ssize_t)n || socks5_parse_password(s, n, &text, &len) > (ssize_t)n)
		abort();
	if (socks5_parse_request(s, n, &h, &port, &reply, &why) > (ssize_t)n || socks4_parse_request(s, n, &h, &port, &text, &len, &reply, &why) > (ssize_t)n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data + 1;

	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:  fuzz_request(s, size - 1); break;
	case 1:  fuzz_response(s, size - 1); break;
	case 2:  fuzz_body(s, size - 1); break;
	default: fuzz_socks(data + 1, size - 1); break;
	}
	return 0;
}
