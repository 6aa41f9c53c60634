/* hurdle: which sub-command. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "envscrub/command.h"
#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "supervisor/commands.h"

static int (*const run_command[COMMAND_COUNT])(const struct options *) = {
	[COMMAND_RUN] = cmd_run, [COMMAND_STATUS] = cmd_status, [COMMAND_EXPLAIN] = cmd_explain, [COMMAND_PROFILE] = cmd_profile,
	[COMMAND_TRUST] = cmd_trust, [COMMAND_SETTINGS] = cmd_settings, [COMMAND_CONNECT] = cmd_connect,
	[COMMAND_DECIDE] = cmd_decide,
};

static int print(struct str *text)
{
	int r = write_all(STDOUT_FILENO, text->s, text->len);

	str_free(text);
	if (r < 0)
		say("cannot write to standard output: %s", strerror(-r));
	return r < 0 ? EXIT_REFUSED : 0;
}

static int show_version(void)
{
	struct str text = STR_INIT;

	str_add(&text, "hurdle " HURDLE_VERSION "\n");
	return print(&text);
}

static bool find_command(const char *name, enum command *ret)
{
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(name, command_name((enum command)i))) {
			*ret = (enum command)i;
			return true;
		}
	}
	return false;
}

static int refuse_command(const char *name)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;

	options_unknown_command(name, &err);
	say_err(&err);
	return EXIT_REFUSED;
}

/* name: NULL for the overview. */
static int show_help(const char *name)
{
	struct str text = STR_INIT;
	enum command command;

	if (!name)
		options_overview(&text);
	else if (find_command(name, &command))
		options_help(&text, command);
	else
		return refuse_command(name);
	return print(&text);
}

static int dispatch(enum command command, char *argv[])
{
	_cleanup_(options_release) struct options o;
	_cleanup_(err_clear) struct err err = ERR_NONE;

	if (options_parse(command, argv, &o, &err) < 0) {
		say_err(&err);
		return EXIT_REFUSED;
	}
	if (o.help)
		return show_help(command_name(command));
	return o.version ? show_version() : run_command[command](&o);
}

static bool is_called(const char *program, const char *name)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, name);
}

static int no_command(void)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;

	err_set(&err, -1, "no command given");
	err_hint(&err, "hurdle run -- COMMAND runs one; hurdle --help lists the others");
	say_err(&err);
	return EXIT_REFUSED;
}

int main(int argc, char *argv[])
{
	enum command command;

	if (argc > 0 && is_called(argv[0], "scrub-run"))
		return scrub_run_main(argc, argv);
	if (argc < 2)
		return no_command();
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version"))
		return show_version();
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return show_help(NULL);
	if (!strcmp(argv[1], "help"))
		return show_help(argv[2]);
	if (!find_command(argv[1], &command))
		return refuse_command(argv[1]);
	return dispatch(command, argv + 2);
}
