/* The command line: exact names, where options end, and what is said about mistakes. */
#include <criterion/criterion.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/options_table.h"

#define ARGV(...) ((char *const[]){ __VA_ARGS__ __VA_OPT__(,) NULL })
#define A(text) ((char[]){ text })

static void parses(enum command command, char *const argv[], struct options *o)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;

	cr_assert_eq(options_parse(command, argv, o, &err), 0, "%s", err.text ? err.text : "");
	cr_assert_null(err.text, "no words on success");
}

static void refuses(enum command command, char *const argv[], const char *text, const char *hint)
{
	_cleanup_(options_release) struct options o;
	_cleanup_(err_clear) struct err err = ERR_NONE;

	cr_assert_lt(options_parse(command, argv, &o, &err), 0, "'%s' was taken", argv[0]);
	cr_assert_str_eq(err.text, text);
	if (hint)
		cr_assert_str_eq(err.hint ? err.hint : "", hint);
}

Test(options, both_spellings_of_a_value)
{
	_cleanup_(options_release) struct options o;

	parses(COMMAND_RUN, ARGV(A("--allow-write"), A("/a"), A("--allow-write=/b"), A("--deny-read=c=d"), A("true")), &o);
	cr_assert_eq(o.n_paths, 3);
	cr_assert_str_eq(o.paths[0].path, "/a");
	cr_assert_eq(o.paths[0].kind, RULE_ALLOW_WRITE);
	cr_assert_str_eq(o.paths[1].path, "/b");
	cr_assert_str_eq(o.paths[2].path, "c=d");
	cr_assert_eq(o.paths[2].kind, RULE_DENY_READ);
	cr_assert_str_eq(o.paths[2].option, "deny-read");
}

Test(options, a_value_may_begin_with_a_dash)
{
	_cleanup_(options_release) struct options o;

	parses(COMMAND_RUN, ARGV(A("--allow-write"), A("--"), A("--report"), A("-q"), A("-q"), A("true")), &o);
	cr_assert_str_eq(o.paths[0].path, "--");
	cr_assert_str_eq(o.report, "-q");
	cr_assert(o.quiet);
	cr_assert_eq(o.n_operands, 1);
}

Test(options, the_first_operand_of_run_ends_the_options)
{
	_cleanup_(options_release) struct options o;

	parses(COMMAND_RUN, ARGV(A("-q"), A("ls"), A("--json"), A("--"), A("-q")), &o);
	cr_assert_eq(o.n_operands, 4);
	cr_assert_str_eq(o.operands[0], "ls");
	cr_assert_str_eq(o.operands[2], "--");
	cr_assert_null(o.operands[4]);
}

Test(options, two_dashes_end_the_options)
{
	_cleanup_(options_release) struct options o;

	parses(COMMAND_RUN, ARGV(A("--"), A("--quiet"), A("--")), &o);
	cr_assert_eq(o.n_operands, 2);
	cr_assert_str_eq(o.operands[0], "--quiet");
	cr_assert_not(o.quiet);
}

Test(options, options_may_follow_the_operand_of_other_commands)
{
	_cleanup_(options_release) struct options o;

	parses(COMMAND_EXPLAIN, ARGV(A("/x"), A("--json"), A("--write"), A("--"), A("--read")), &o);
	cr_assert_eq(o.n_operands, 2);
	cr_assert(o.json && o.write && !o.read);
	cr_assert_str_eq(o.operands[1], "--read");
}

Test(options, a_lone_dash_and_nothing_are_operands)
{
	_cleanup_(options_release) struct options o, none;

	parses(COMMAND_RUN, ARGV(A("-"), A("")), &o);
	cr_assert_eq(o.n_operands, 2);
	parses(COMMAND_STATUS, ARGV(NULL), &none);
	cr_assert_eq(none.n_operands, 0);
	cr_assert_null(none.operands[0]);
}

Test(options, choices_are_the_enums)
{
	static const struct { const char *net, *caches, *from, *profile; int n, c, f, p; } rows[] = {
		{ "--net=filter", "--caches=private", "--exec-from=any", "--profile=default",
		  NET_FILTER, CACHES_PRIVATE, EXEC_FROM_ANY, PROFILE_DEFAULT },
		{ "--net=off", "--caches=shared", "--exec-from=outside-roots", "--profile=strict",
		  NET_OFF, CACHES_SHARED, EXEC_FROM_OUTSIDE_ROOTS, PROFILE_STRICT },
		{ "--net=open", "--caches=none", "--exec-from=any", "--profile=scrub", NET_OPEN, CACHES_NONE, EXEC_FROM_ANY, PROFILE_SCRUB },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(options_release) struct options o;
		_cleanup_free_ char *net = xstrdup(rows[i].net), *caches = xstrdup(rows[i].caches), *from = xstrdup(rows[i].from),
				    *profile = xstrdup(rows[i].profile);

		parses(COMMAND_RUN, ARGV(net, caches, from, profile), &o);
		cr_assert_eq(o.net, rows[i].n);
		cr_assert_eq(o.caches, rows[i].c);
		cr_assert_eq(o.exec_from, rows[i].f);
		cr_assert_eq(o.profile, rows[i].p);
	}
}

Test(options, what_is_not_said_is_unset)
{
	_cleanup_(options_release) struct options o;

	parses(COMMAND_RUN, ARGV(A("true")), &o);
	cr_assert_eq(o.net, CHOICE_UNSET);
	cr_assert_eq(o.caches, CHOICE_UNSET);
	cr_assert_eq(o.exec_from, CHOICE_UNSET);
	cr_assert_eq(o.profile, CHOICE_UNSET);
	cr_assert_eq(o.color, COLOR_AUTO);
}

Test(options, names_are_exact)
{
	refuses(COMMAND_RUN, ARGV(A("--alow-write"), A("x")), "unknown option '--alow-write'", "did you mean '--allow-write'?");
	refuses(COMMAND_RUN, ARGV(A("--alow-write=x")), "unknown option '--alow-write'", "did you mean '--allow-write'?");
	refuses(COMMAND_RUN, ARGV(A("--allow-wri=x")), "unknown option '--allow-wri'", "did you mean '--allow-write'?");
	refuses(COMMAND_RUN, ARGV(A("--ne=off")), "unknown option '--ne'", NULL);
	refuses(COMMAND_RUN, ARGV(A("--zzzzzzzz")), "unknown option '--zzzzzzzz'", "hurdle run --help lists the options");
	refuses(COMMAND_RUN, ARGV(A("-x")), "unknown option '-x'", NULL);
	refuses(COMMAND_RUN, ARGV(A("-qh")), "unknown option '-qh'", NULL);
	refuses(COMMAND_RUN, ARGV(A("-quiet")), "unknown option '-quiet'", "did you mean '--quiet'?");
}

Test(options, each_command_has_its_own)
{
	refuses(COMMAND_RUN, ARGV(A("--json")), "unknown option '--json'", NULL);
	refuses(COMMAND_STATUS, ARGV(A("--report=x")), "unknown option '--report'", NULL);
	refuses(COMMAND_STATUS, ARGV(A("--write")), "unknown option '--write'", NULL);
	refuses(COMMAND_EXPLAIN, ARGV(A("--rules")), "unknown option '--rules'", NULL);
	refuses(COMMAND_PROFILE, ARGV(A("-q")), "unknown option '-q'", NULL);
}

Test(options, arguments_where_they_belong)
{
	refuses(COMMAND_RUN, ARGV(A("--deny-read")), "option '--deny-read' needs an argument, PATH", NULL);
	refuses(COMMAND_RUN, ARGV(A("--strict=yes")), "option '--strict' takes no argument", NULL);
	refuses(COMMAND_RUN, ARGV(A("--allow-write=")), "option '--allow-write': the path is empty", NULL);
	refuses(COMMAND_RUN, ARGV(A("--report="), A("x")), "option '--report': the name of the file is empty", NULL);
	refuses(COMMAND_RUN, ARGV(A("--net=closed")), "option '--net' takes filter, off or open, not 'closed'", "");
	refuses(COMMAND_RUN, ARGV(A("--profile=strikt")), "option '--profile' takes default, strict or scrub, not 'strikt'",
		"did you mean '--profile=strict'?");
	refuses(COMMAND_RUN, ARGV(A("--require=fs.write")), "option '--require' takes GUARANTEE=LEVEL", NULL);
}

/* A value may be a secret: no message repeats it. */
Test(options, values_of_variables_stay_unsaid)
{
	refuses(COMMAND_RUN, ARGV(A("--env=hunter2")), "option '--env' takes NAME=VALUE", "such as --env CI=1");
	refuses(COMMAND_RUN, ARGV(A("--keep=NAME=hunter2")), "option '--keep' takes the name of a variable", "--env NAME=VALUE sets one");
}

Test(options, descriptors)
{
	_cleanup_(options_release) struct options o;
	static const char *const wrong[] = { "-1", "2", "+3", " 3", "3x", "", "0x3", "99999999999999999999", "1048577" };

	parses(COMMAND_RUN, ARGV(A("--pass-fd=9"), A("--pass-fd=3"), A("--pass-fd=9"), A("--pass-fd"), A("7"), A("true")), &o);
	cr_assert_eq(o.n_pass_fds, 3);
	cr_assert(o.pass_fds[0] == 3 && o.pass_fds[1] == 7 && o.pass_fds[2] == 9);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_(options_release) struct options bad;
		_cleanup_free_ char *arg = strf("--pass-fd=%s", wrong[i]);

		cr_assert_lt(options_parse(COMMAND_RUN, ARGV(arg), &bad, NULL), 0, "%s was taken", arg);
	}
}

Test(options, help_and_version_stop_the_reading)
{
	_cleanup_(options_release) struct options o, v;

	parses(COMMAND_RUN, ARGV(A("-h"), A("--no-such-option")), &o);
	cr_assert(o.help);
	parses(COMMAND_PROFILE, ARGV(A("--version"), A("--no-such-option")), &v);
	cr_assert(v.version);
}

/* The table itself: names once, in sections, and each shown in the help of each of its commands. */
Test(options, every_row_is_in_the_help)
{
	for (int command = 0; command < COMMAND_COUNT; command++) {
		_cleanup_(str_free) struct str help = STR_INIT;

		options_help(&help, (enum command)command);
		for (size_t i = 0; i < n_option_rows; i++) {
			const struct option_row *row = &option_rows[i];
			_cleanup_free_ char *shown = strf(" --%s%s%s", row->name, row->argument ? " " : "", row->argument ? row->argument : "");
			bool found = false;

			for (const char *s = strstr(help.s, shown); s && !found; s = strstr(s + 1, shown))
				found = s[strlen(shown)] == ' ' || s[strlen(shown)] == '\n';
			cr_assert_eq(found, (row->commands >> command) & 1, "--%s in the help of %s", row->name, command_name((enum command)command));
			cr_assert_eq(row->id, i, "--%s", row->name);
			cr_assert(*row->help && row->help[strlen(row->help) - 1] != '.', "--%s", row->name);
		}
	}
}

Test(options, an_option_of_each_row_is_taken)
{
	for (size_t i = 0; i < n_option_rows; i++) {
		const struct option_row *row = &option_rows[i];
		const char *value = !row->argument ? NULL : !strcmp(row->argument, "N") ? "5" : !strcmp(row->argument, "NAME=VALUE") ? "A=b" :
				    !strcmp(row->argument, "GUARANTEE=LEVEL") ? "all=none" : "x";

		for (int command = 0; command < COMMAND_COUNT; command++) {
			_cleanup_(options_release) struct options o;
			_cleanup_(strv_free) struct strv values = { 0 };
			_cleanup_free_ char *arg = NULL;

			option_values(row, &values);
			arg = value ? strf("--%s=%s", row->name, values.n ? values.v[0] : value) : strf("--%s", row->name);
			cr_assert_eq(options_parse((enum command)command, ARGV(arg), &o, NULL) == 0, (row->commands >> command) & 1, "%s", arg);
		}
	}
}

Test(options, unknown_commands)
{
	_cleanup_(err_clear) struct err near = ERR_NONE, far = ERR_NONE;

	options_unknown_command("stauts", &near);
	cr_assert_str_eq(near.text, "unknown command 'stauts'");
	cr_assert_str_eq(near.hint, "did you mean 'status'?");
	options_unknown_command("npm-install", &far);
	cr_assert(strstr(far.hint, "hurdle run -- npm-install"));
}
