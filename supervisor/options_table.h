/* options.def as a table: between options.c, which parses, and options_help.c, which prints. */
#pragma once
#include "supervisor/options.h"

enum option_id {
#define OPTION(id, name, letter, argument, commands, section, help, manual) OPTION_##id,
#include "supervisor/options.def"
	OPTION_COUNT,
};

enum option_section {
#define SECTION(id, title) SECTION_##id,
#include "supervisor/options.def"
	SECTION_COUNT,
};

struct option_row {
	enum option_id id;
	const char *name;
	char letter;          /* 0: none */
	const char *argument; /* NULL: none */
	unsigned commands;    /* bit of each enum command */
	enum option_section section;
	const char *help, *manual;
};

extern const struct option_row option_rows[];
extern const size_t n_option_rows;
extern const char *const option_sections[];

/* The values of an argument that is a choice; none when it is not. */
void option_values(const struct option_row *row, struct strv *ret);
/* "filter, off or open"; owned. */
char *option_alternatives(const struct strv *values);
