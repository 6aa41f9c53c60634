/*
 * The command line of the sub-commands, from one table: options.def feeds the parser, --help, the suggestions for mistyped
 * names and the manual page. Names are exact, never abbreviated: an option must not change its meaning when another is added.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "platform/base/err.h"
#include "platform/base/str.h"
#include "platform/policy/policy.h"

enum command { COMMAND_RUN, COMMAND_STATUS, COMMAND_EXPLAIN, COMMAND_PROFILE, COMMAND_TRUST, COMMAND_SETTINGS, COMMAND_CONNECT, COMMAND_DECIDE, COMMAND_COUNT };

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum profile { PROFILE_DEFAULT, PROFILE_STRICT, PROFILE_SCRUB };
enum exec_from { EXEC_FROM_ANY, EXEC_FROM_OUTSIDE_ROOTS };
enum { CHOICE_UNSET = -1 }; /* the option was not given, so settings files decide */

/* One path option, in the order of the command line. The texts are borrowed. */
struct option_path { enum rule_kind kind; const char *path, *option; };

struct options {
	enum command command;
	bool help, version;            /* one of them was asked for: nothing else was looked at after it */

	struct option_path *paths;     /* owned */
	size_t n_paths;
	struct strv settings;          /* files */
	struct strv keep, drop, set;   /* names, globs, NAME=VALUE */
	struct strv allow_domains, deny_domains;
	struct strv require;           /* GUARANTEE=LEVEL */
	struct strv backends;          /* names of mechanisms; none: not given */
	int net, caches, exec_from, profile; /* enum net_mode, cache_mode, exec_from, profile; or CHOICE_UNSET */
	bool no_settings, strict_settings;
	bool revoke;                   /* trust */
	bool no_sandbox, strict, allow_git_config, allow_all_unix, no_handles;

	bool quiet;                    /* run */
	const char *report, *cwd_file; /* borrowed; NULL: none */
	int *pass_fds;                 /* owned, ascending, no repeats, each >= 3 */
	size_t n_pass_fds;

	bool json, rules, verbose;     /* status, explain */
	enum color color;
	bool read, write, exec, delete; /* explain: which accesses; none: all of them */
	bool host;                     /* explain: the operand is one */
	const char *command_text, *cwd, *tool, *path; /* decide; borrowed; NULL: not given */
	bool unsandboxed;

	char **operands;               /* owned array of borrowed texts, NULL-terminated: for run the command and its arguments */
	size_t n_operands;
};

/*
 * Parses what follows the name of the sub-command, argv being NULL-terminated. The texts of argv are borrowed by *ret, which
 * options_release frees also after a failure. Returns 0, or -EINVAL with words and mostly a hint. Whether there are as many
 * operands as the command wants is the command's business.
 */
int options_parse(enum command command, char *const argv[], struct options *ret, struct err *err);
void options_release(struct options *o);

/* "run", ... */
const char *command_name(enum command);
/* The text of `hurdle COMMAND --help`, and of `hurdle --help`. */
void options_help(struct str *to, enum command command);
void options_overview(struct str *to);
/* err becomes "unknown command 'stauts'" with a hint. -EINVAL. */
int options_unknown_command(const char *name, struct err *err);
