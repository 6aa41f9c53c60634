#include <sys/types.h>

#include "supervisor/proxy/http_body.h"

#include <errno.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, TRAILERS_MAX = 16 * 1024, CHUNK_MAX_DIGITS = 8 };

void http_body_begin(struct http_body *b, const struct http_head *h, bool chunked_out)
{
	*b = (struct http_body){ .framing = h->framing, .chunked_out = chunked_out, .left = h->framing == FRAMING_LENGTH ? h->length : 0 };
	b->done = b->framing == FRAMING_NONE || (b->framing == FRAMING_LENGTH && !b->left);
}

static void send_data(struct http_body *b, const char *s, size_t len, struct str *to)
{
	if (b->chunked_out && b->framing == FRAMING_CHUNKED)
		str_addf(to, "%zx\r\n", len);
	str_addn(to, s, len);
	if (b->chunked_out && b->framing == FRAMING_CHUNKED)
		str_add(to, "\r\n");
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* One byte of "1a;extension CR LF". */
static int take_size(struct http_body *b, char c)
{
	if (++b->line > LINE_MAX_BYTES)
		return -EBADMSG;
	if (b->cr) {
		if (c != '\n')
			return -EBADMSG;
		b->state = b->left ? CHUNK_DATA : CHUNK_TRAILER;
		b->cr = b->digits = false;
		b->line = 0;
		return 0;
	}
	if (!b->digits && b->line <= CHUNK_MAX_DIGITS && hex(c) >= 0) {
		b->left = b->left * 16 + (unsigned)hex(c);
		return 0;
	}
	if (b->line == 1) /* no digit at all */
		return -EBADMSG;
	if (!b->digits && c != '\r' && c != ';' && c != ' ' && c != '\t')
		return -EBADMSG;
	b->digits = true;
	b->cr = c == '\r';
	return (unsigned char)c < ' ' && c != '\r' && c != '\t' ? -EBADMSG : 0;
}

/* CR LF behind the data of a chunk. */
static int take_end(struct http_body *b, char c)
{
	if (c != (b->cr ? '\n' : '\r'))
		return -EBADMSG;
	b->state = b->cr ? CHUNK_SIZE : CHUNK_END;
	b->cr = !b->cr;
	return 0;
}

/* Lines up to an empty one; they are not passed on. line counts all, left the bytes of this line. */
static int take_trailer(struct http_body *b, char c, struct str *to)
{
	if (++b->line > TRAILERS_MAX || !c || (b->cr && c != '\n') || (!b->cr && c == '\n'))
		return -EBADMSG;
	if (c == '\n' && !b->left) {
		b->done = true;
		if (b->chunked_out)
			str_add(to, "0\r\n\r\n");
	}
	b->cr = c == '\r';
	if (c == '\n')
		b->left = 0;
	else if (c != '\r')
		b->left++;
	return 0;
}

static ssize_t take_chunked(struct http_body *b, const char *s, size_t len, struct str *to)
{
	size_t i = 0;

	while (i < len && !b->done) {
		int r = 0;

		if (b->state == CHUNK_DATA) {
			const size_t n = b->left < len - i ? (size_t)b->left : len - i;

			send_data(b, s + i, n, to);
			b->left -= n;
			i += n;
			b->state = b->left ? CHUNK_DATA : CHUNK_END;
			continue;
		}
		r = b->state == CHUNK_SIZE ? take_size(b, s[i]) : b->state == CHUNK_END ? take_end(b, s[i]) : take_trailer(b, s[i], to);
		if (r < 0)
			return r;
		i++;
	}
	return (ssize_t)i;
}

ssize_t http_body_take(struct http_body *b, const char *s, size_t len, struct str *to)
{
	if (b->done)
		return 0;
	if (b->framing == FRAMING_CHUNKED)
		return take_chunked(b, s, len, to);
	if (b->framing == FRAMING_LENGTH && len > b->left)
		len = (size_t)b->left;
	send_data(b, s, len, to);
	if (b->framing == FRAMING_LENGTH) {
		b->left -= len;
		b->done = !b->left;
	}
	return (ssize_t)len;
}

bool http_body_ends_here(struct http_body *b)
{
	b->done |= b->framing == FRAMING_CLOSE;
	return b->done;
}
