/* The table of options, and what --help makes of it. */
#include <errno.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/options_table.h"

#define R (1u << COMMAND_RUN)
#define S (1u << COMMAND_STATUS)
#define E (1u << COMMAND_EXPLAIN)
#define P (1u << COMMAND_PROFILE)
#define T (1u << COMMAND_TRUST)
#define G (1u << COMMAND_SETTINGS)
#define C (1u << COMMAND_CONNECT)
#define D (1u << COMMAND_DECIDE)
#define POLICY (R | S | E | P | G | D)
#define ALL (POLICY | T | C)

const struct option_row option_rows[] = {
#define OPTION(id, name, letter, argument, commands, section, help, manual) \
	{ OPTION_##id, name, letter, argument, commands, SECTION_##section, help, manual },
#include "supervisor/options.def"
};
const size_t n_option_rows = ARRAY_SIZE(option_rows);

const char *const option_sections[] = {
#define SECTION(id, title) title,
#include "supervisor/options.def"
};

static const struct { const char *name, *usage, *what; } commands[COMMAND_COUNT] = {
	[COMMAND_RUN]     = { "run", "[OPTION]... [--] COMMAND [ARGUMENT]...", "run a command behind the strongest fence of this host" },
	[COMMAND_STATUS]  = { "status", "[OPTION]...", "what this host can enforce, rule by rule" },
	[COMMAND_EXPLAIN] = { "explain", "[OPTION]... PATH|HOST|NAME", "which rule decides about a path, a host or a variable" },
	[COMMAND_PROFILE] = { "profile", "[OPTION]... MECHANISM", "what one mechanism is given; runs nothing" },
	[COMMAND_SETTINGS] = { "settings", "[OPTION]...", "the settings of all layers, each with where it is from" },
	[COMMAND_CONNECT] = { "connect", "HOST PORT", "inside of a run: a tunnel through its proxy, for ssh" },
	[COMMAND_DECIDE]  = { "decide", "[OPTION]... [-c COMMAND]", "should a command be sandboxed, allowed, asked about or denied" },
	[COMMAND_TRUST]   = { "trust", "[OPTION]... FILE...", "let a project's settings file loosen what holds" },
};

const char *command_name(enum command command)
{
	return commands[command].name;
}

/* ---- values ---- */

void option_values(const struct option_row *row, struct strv *ret)
{
	const char *s = row->argument;

	while (s && strchr(row->argument, '|')) {
		size_t n = strcspn(s, "|");
		_cleanup_free_ char *value = strf("%.*s", (int)n, s);

		strv_add(ret, value);
		s = s[n] ? s + n + 1 : NULL;
	}
}

char *option_alternatives(const struct strv *values)
{
	struct str b = STR_INIT;

	for (size_t i = 0; i < values->n; i++)
		str_addf(&b, "%s%s", i == 0 ? "" : i + 1 == values->n ? " or " : ", ", values->v[i]);
	return str_take(&b);
}

/* ---- help ---- */

enum { HELP_COLUMN = 34 };

static void add_row(struct str *to, const struct option_row *row)
{
	_cleanup_(str_free) struct str left = STR_INIT;

	str_addf(&left, row->letter ? "  -%c, " : "      ", row->letter);
	str_addf(&left, "--%s%s%s", row->name, row->argument ? " " : "", row->argument ? row->argument : "");
	if (left.len + 2 > HELP_COLUMN)
		str_addf(to, "%s\n%*s%s\n", left.s, HELP_COLUMN, "", row->help);
	else
		str_addf(to, "%-*s%s\n", HELP_COLUMN, left.s, row->help);
}

static void add_section(struct str *to, enum command command, enum option_section section)
{
	bool titled = false;

	for (size_t i = 0; i < n_option_rows; i++) {
		if (option_rows[i].section != section || !(option_rows[i].commands & 1u << command))
			continue;
		if (!titled)
			str_addf(to, "\n%s:\n", option_sections[section]);
		titled = true;
		add_row(to, &option_rows[i]);
	}
}

void options_help(struct str *to, enum command command)
{
	str_addf(to, "usage: hurdle %s %s\n\n%c%s.\n", commands[command].name, commands[command].usage,
		 commands[command].what[0] - 'a' + 'A', commands[command].what + 1);
	for (int section = 0; section < SECTION_COUNT; section++)
		add_section(to, command, (enum option_section)section);
}

void options_overview(struct str *to)
{
	str_add(to, "usage: hurdle COMMAND [OPTION]...\n\n"
		    "Run a command behind the strongest fence that this host can put up.\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		str_addf(to, "  %-9s %s\n", commands[i].name, commands[i].what);
	str_addf(to, "  %-9s %s\n  %-9s %s\n", "help", "show this help, or that of a command", "version", "show the version");
	str_add(to, "\nhurdle COMMAND --help lists the options of each.\n"
		    "Exit status: the command's own; 128+N when signal N ended it; 125 when hurdle refused or failed before the\n"
		    "command ran; 126 when it cannot be run; 127 when it is not found.\n");
}

int options_unknown_command(const char *name, struct err *err)
{
	const char *names[COMMAND_COUNT + 2] = { [COMMAND_COUNT] = "help", [COMMAND_COUNT + 1] = "version" }, *nearest;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	err_set(err, -EINVAL, "unknown command '%s'", name);
	nearest = str_nearest(name, names, ARRAY_SIZE(names));
	if (nearest)
		err_hint(err, "did you mean '%s'?", nearest);
	else
		err_hint(err, "hurdle --help lists the commands; to run one: hurdle run -- %s", name);
	return -EINVAL;
}
