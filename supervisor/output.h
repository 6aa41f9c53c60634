/* What the sub-commands print to standard output: text, JSON, tables. */
#pragma once
#include <stdbool.h>
#include <jansson.h>
#include "supervisor/options.h"

/* Writes all of it and frees it. 0, or an exit code after a message. */
int output_text(struct str *text);
/* The same for a JSON document, which is freed. */
int output_json(json_t *document);
void output_warnings(const struct policy *p);

enum { TABLE_COLUMNS = 8 };

/*
 * Columns are as wide as their widest cell, but for the last, which takes the rest of the line and wraps. A table that is cut has
 * one line for each row: what is too wide ends with an ellipsis.
 */
struct table {
	bool cut;
	size_t n_columns;
	const char *title[TABLE_COLUMNS];
	int level_column;      /* whose words are levels, and coloured; -1: none */
	char **cells;          /* owned, row by row */
	size_t n_cells;
};

struct screen {
	bool terminal;         /* aligned and headed; else cells between tabs, never cut, and no heading */
	bool color;
	size_t width;
};

/* Of standard output: TIOCGWINSZ, else COLUMNS, else 80; NO_COLOR (no-color.org) and TERM=dumb. */
struct screen screen_probe(enum color wish);

/* Adds a cell; text is copied, and escaped: it may hold names that others chose. A row is n_columns of them. */
void table_add(struct table *t, const char *text);
void table_print(struct str *to, const struct table *t, const struct screen *screen);
void table_release(struct table *t);
