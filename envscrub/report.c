#include "envscrub/report.h"

#include <errno.h>
#include <unistd.h>

void report_text(struct str *to, const struct scrub_result *result)
{
	for (size_t i = 0; i < result->n_drops; i++) {
		str_add_escaped(to, result->drops[i].name);
		str_addf(to, "\t%s\n", result->drops[i].why);
	}
}

/* Control characters are escaped for the terminal's sake too: JSON itself would let 0x7f to 0x9f pass. */
static void json_string(struct str *to, const char *s)
{
	str_add(to, "\"");
	while (*s) {
		uint32_t code = (unsigned char)*s;
		size_t n = str_utf8(s, &code);

		if (*s == '"' || *s == '\\')
			str_addf(to, "\\%c", *s);
		else if (n == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
			str_addf(to, "\\u%04x", code);
		else
			str_addn(to, s, n);
		s += n ? n : 1;
	}
	str_add(to, "\"");
}

void report_json(struct str *to, const struct scrub_result *result)
{
	str_add(to, "{\"schema\":1,\"dropped\":[");
	for (size_t i = 0; i < result->n_drops; i++) {
		str_add(to, i ? ",{\"name\":" : "{\"name\":");
		json_string(to, result->drops[i].name);
		str_add(to, ",\"reason\":");
		json_string(to, result->drops[i].why);
		str_add(to, "}");
	}
	str_addf(to, "],\"kept\":%zu}\n", result->n_kept);
}

int report_write(int fd, const struct str *text)
{
	size_t done = 0;

	while (done < text->len) {
		ssize_t n = write(fd, text->s + done, text->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}
