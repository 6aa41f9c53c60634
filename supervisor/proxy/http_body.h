/*
 * The body of a message on its way: how many of the bytes that come belong to it, and what is sent on. Chunks are decoded and written
 * anew, so that what leaves has one form only: extensions and trailers stay behind. Pure.
 */
#pragma once
#include "supervisor/proxy/http_head.h"

struct http_body {
	enum framing framing;
	bool chunked_out;   /* FRAMING_CHUNKED: written as chunks, else as they come */
	uint64_t left;      /* bytes of the body, or of the chunk, that are still to come */
	enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_TRAILER } state;
	unsigned line;      /* bytes of a size line or of the trailers so far */
	bool cr, digits, done;
};

void http_body_begin(struct http_body *b, const struct http_head *h, bool chunked_out);
/* Takes bytes of s and appends what is to be sent. Returns how many were taken (less than len once the body is done), or -EBADMSG. */
ssize_t http_body_take(struct http_body *b, const char *s, size_t len, struct str *to);
/* The peer sent its last byte: true when that is how this body ends. */
bool http_body_ends_here(struct http_body *b);
