/* Where a value stands in the text of a JSON document: jansson knows positions of syntax errors only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "platform/base/str.h"

/* The way to a value, from the inside out; the root has no step. */
struct json_step {
	const struct json_step *parent; /* NULL: the root */
	const char *key;                /* NULL: an element of an array */
	size_t index;
};

/*
 * Line and column (both from 1, in characters) of the first character of the value. The text need not be valid; nothing
 * beyond len is read. False when the way leads nowhere.
 */
bool json_position(const char *text, size_t len, const struct json_step *at, unsigned *ret_line, unsigned *ret_column);

/*
 * The same for many entries of one array in their order, without going through the whole text for each. Zero it at first, and
 * again (json_cursor_reset) before the next array: the step that stands for an array is known by its address.
 */
struct json_cursor {
	const struct json_step *array; /* NULL: nothing is known */
	size_t index, at;              /* where this element begins */
	size_t counted;                /* line and column of this place are known */
	unsigned line, column;
};
void json_cursor_reset(struct json_cursor *);
bool json_position_next(struct json_cursor *, const char *text, size_t len, const struct json_step *at, unsigned *ret_line, unsigned *ret_column);

/* "filesystem.denyRead[2]"; owned; "" for the root. */
char *json_step_name(const struct json_step *at);
/* The same, appended; and a number in decimal digits. */
void json_add_step_name(struct str *b, const struct json_step *at);
void json_add_number(struct str *b, unsigned long n);
