#include "platform/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/base/str.h"

static const char *program = "hurdle";

void say_name(const char *name)
{
	program = name;
}

/* The new text may print the old one, so it is made before that is freed. */
static void __attribute__((format(printf, 2, 0))) replace(char **text, const char *format, va_list ap)
{
	struct str b = STR_INIT;

	str_vaddf(&b, format, ap);
	free(*text);
	*text = str_take(&b);
}

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, format);
	replace(&err->text, format, ap);
	va_end(ap);
	return code;
}

void err_hint(struct err *err, const char *format, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, format);
	replace(&err->hint, format, ap);
	va_end(ap);
}

void err_clear(struct err *err)
{
	free(err->text);
	free(err->hint);
	*err = ERR_NONE;
}

static void add_line(struct str *b, const char *label, const char *text)
{
	str_add_visible(b, program);
	str_add(b, ": ");
	str_add(b, label);
	str_add_visible(b, text);
	str_add(b, "\n");
}

/* One write(2), so that lines of several processes on one terminal or log never mix. A message that cannot be written
 * has nobody to be told about; errno is the caller's. */
static void emit(struct str *b)
{
	int saved = errno;
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(STDERR_FILENO, b->s + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	str_free(b);
	errno = saved;
}

void say(const char *format, ...)
{
	struct str text = STR_INIT, line = STR_INIT;
	va_list ap;

	va_start(ap, format);
	str_vaddf(&text, format, ap);
	va_end(ap);
	add_line(&line, "", text.s ? text.s : "");
	str_free(&text);
	emit(&line);
}

void say_err(const struct err *err)
{
	struct str lines = STR_INIT;

	if (!err->text)
		return;
	add_line(&lines, "", err->text);
	if (err->hint)
		add_line(&lines, "hint: ", err->hint);
	emit(&lines);
}
