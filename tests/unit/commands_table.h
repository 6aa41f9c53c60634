/* tests/tables/commands.tsv, for the tests that go through it. */
#pragma once
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "platform/base/str.h"
#include "platform/base/sys.h"

struct table_row { char *command; size_t len; const char *verdict, *detector; int line; };
struct table_rows { struct table_row *v; size_t n; char *text; };

/* In place: \n \t \\ and \xHH. Returns the length. */
static inline size_t table_unescape(char *s)
{
	char *to = s, *start = s;

	for (; *s; s++) {
		if (*s != '\\') {
			*to++ = *s;
			continue;
		}
		s++;
		cr_assert(*s == 'n' || *s == 't' || *s == '\\' || *s == 'x', "an unknown escape: \\%c", *s);
		if (*s == 'x') {
			const char digits[3] = { s[1], s[2], '\0' };

			*to++ = (char)strtol(digits, NULL, 16);
			s += 2;
		} else {
			*to++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : '\\';
		}
	}
	*to = '\0';
	return (size_t)(to - start);
}

static inline void table_read(struct table_rows *ret)
{
	char *line, *rest;
	size_t len;
	int number = 0;

	*ret = (struct table_rows){ 0 };
	cr_assert_eq(read_file("tests/tables/commands.tsv", 1 << 22, &ret->text, &len), 0, "tests run in the top directory");
	for (rest = ret->text; (line = strsep(&rest, "\n"));) {
		char *verdict = strchr(line, '\t'), *detector = verdict ? strchr(verdict + 1, '\t') : NULL;

		number++;
		if (!detector)
			continue;
		*verdict = *detector = '\0';
		ret->v = xreallocarray(ret->v, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = (struct table_row){ line, table_unescape(line), verdict + 1, detector + 1, number };
	}
}

static inline void table_free(struct table_rows *t)
{
	free(t->v);
	free(t->text);
}
