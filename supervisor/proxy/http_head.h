/*
 * The head of an HTTP/1.x message, read strictly (RFC 9112): what two programs could read in two ways is an error. No bare CR or LF, no
 * NUL, no blank before a colon, no folded line, no second Host or Content-Length, no Content-Length beside Transfer-Encoding, no
 * coding but chunked. Pure; texts point into the caller's buffer.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/str.h"
#include "platform/policy/hosts.h"

enum { HEAD_MAX = 64 * 1024, REQUEST_LINE_MAX = 8 * 1024, FIELDS_MAX = 100 };

struct span { const char *s; size_t len; };
struct field { struct span name, value; };

enum framing { FRAMING_NONE, FRAMING_LENGTH, FRAMING_CHUNKED, FRAMING_CLOSE };

struct http_head {
	struct span method, target;      /* of a request */
	unsigned status;                 /* of a response */
	struct span reason;
	unsigned minor;                  /* HTTP/1.minor */
	struct field field[FIELDS_MAX];
	size_t n_fields;
	enum framing framing;            /* of the body; FRAMING_CLOSE only of a response */
	uint64_t length;                 /* FRAMING_LENGTH */
	struct span host, authorization; /* Host, Proxy-Authorization; s is NULL where there is none */
	bool close;                      /* the connection ends after this message */
};

/* The length of a whole head at the beginning of the buffer, the empty line included; 0: not all of it is there. */
size_t http_head_end(const char *s, size_t len);
/* s[0..len) is one whole head. 0, or the status to answer with (400, 405, 431, 501, 505) and constant words. */
int http_parse_request(const char *s, size_t len, struct http_head *ret, const char **ret_why);
/* to_head: the request was HEAD. 0, or 502. */
int http_parse_response(const char *s, size_t len, bool to_head, struct http_head *ret, const char **ret_why);

/* The target of a request to a proxy. */
struct http_target {
	bool connect;          /* authority-form, else absolute-form with http: */
	struct hostname host;
	uint16_t port;
	struct span path;      /* with the query; "" where there was none */
};
/* 0, or the status to answer with. */
int http_parse_target(const struct http_head *h, struct http_target *ret, const char **ret_why);

/* The request as it is sent on: origin-form, Host from the target, one framing, nothing that concerns one hop. For a proxy
 * above (to_proxy): absolute-form, with its credential, which may be NULL. */
void http_write_request(struct str *to, const struct http_head *h, const struct http_target *t, bool to_proxy, const char *credential);
/* The response as it is passed on. chunked: its body is sent so; keep: the connection to the client stays. */
void http_write_response(struct str *to, const struct http_head *h, bool chunked, bool keep);
/* "example.com:8080" as a Host field has it: no port where it is 80, brackets around IPv6. */
void http_add_authority(struct str *to, const struct hostname *h, uint16_t port, bool always_port);
