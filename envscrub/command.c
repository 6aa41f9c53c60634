#include "envscrub/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "envscrub/report.h"
#include "envscrub/scrub.h"
#include "platform/base/cleanup.h"
#include "platform/base/err.h"
#include "platform/base/str.h"

extern char **environ;

enum { VALUE_MAX = 1 << 20 }; /* of --with-fd, in bytes */

enum option_id {
#define OPTION(id, name, argument, help) OPT_##id,
#include "envscrub/options.def"
	N_OPTIONS,
};

static const struct option { const char *name, *argument, *help; } options[N_OPTIONS] = {
#define OPTION(id, name, argument, help) [OPT_##id] = { name, argument, help },
#include "envscrub/options.def"
};

struct command {
	struct strv keep, drop, with;
	bool no_handles, list, json, done; /* done: help or version was shown */
	char **argv; /* of the command to run; NULL-terminated, maybe empty */
};

static void command_clear(struct command *c)
{
	strv_free(&c->keep);
	strv_free(&c->drop);
	strv_free(&c->with);
}

/* ---- options ---- */

static void show_help(void)
{
	_cleanup_(str_free) struct str b = STR_INIT;

	str_add(&b, "usage: scrub-run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	            "       scrub-run --list|--json [OPTION]...\n\n"
	            "Run COMMAND without the secrets of this environment.\n\n");
	for (size_t i = 0; i < N_OPTIONS; i++) {
		_cleanup_free_ char *left = strf("--%s %s", options[i].name, options[i].argument ? options[i].argument : "");

		str_addf(&b, "  %-20s %s\n", left, options[i].help);
	}
	report_write(STDOUT_FILENO, &b);
}

static int unknown_option(const char *name, struct err *err)
{
	const char *names[N_OPTIONS], *nearest;

	for (size_t i = 0; i < N_OPTIONS; i++)
		names[i] = options[i].name;
	nearest = str_nearest(name, names, N_OPTIONS);
	err_set(err, -EINVAL, "unknown option '--%s'", name);
	if (nearest)
		err_hint(err, "did you mean --%s?", nearest);
	else
		err_hint(err, "scrub-run --help lists the options; put -- before a command that begins with a dash");
	return -EINVAL;
}

/* Finds the option at arg ("--name" or "--name=value") by its exact name. */
static int find_option(const char *arg, const char **ret_value, struct err *err)
{
	const char *name = arg[1] == '-' ? arg + 2 : arg + 1;
	size_t n = strcspn(name, "=");
	_cleanup_free_ char *alone = strf("%.*s", (int)n, name);

	*ret_value = name[n] ? name + n + 1 : NULL;
	for (int i = 0; i < N_OPTIONS; i++)
		if (arg[1] == '-' && !strcmp(options[i].name, alone))
			return i;
	return unknown_option(alone, err);
}

/* Reads to the end of a descriptor that is ours from now on. */
static int read_value(int fd, struct str *value)
{
	_cleanup_close_ int owned = fd;
	const size_t head = value->len;

	for (;;) {
		char chunk[4096];
		ssize_t n = read(owned, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		if (memchr(chunk, '\0', (size_t)n))
			return -EILSEQ;
		str_addn(value, chunk, (size_t)n);
		if (value->len - head > VALUE_MAX + 1) /* one for the newline that goes */
			return -EFBIG;
	}
}

static const char *why_unreadable(int r)
{
	return r == -EFBIG ? "longer than 1 MiB" : r == -EILSEQ ? "it contains a NUL byte" : strerror(-r);
}

/* A descriptor number: digits only, so that a mistyped one is no other descriptor. */
static int parse_fd(const char *s)
{
	char *end;
	long n = *s >= '0' && *s <= '9' ? strtol(s, &end, 10) : -1;

	return n < 0 || n > 1 << 20 || *end ? -1 : (int)n;
}

static int add_from_fd(struct command *c, const char *arg, struct err *err)
{
	_cleanup_(str_free) struct str entry = STR_INIT;
	const char *eq = strchr(arg, '=');
	int fd = eq && eq > arg ? parse_fd(eq + 1) : -1, r;
	size_t head;

	if (fd < 0)
		return err_set(err, -EINVAL, "--with-fd wants NAME=N, a name and a descriptor number");
	str_addn(&entry, arg, (size_t)(eq - arg) + 1);
	head = entry.len;
	r = read_value(fd, &entry);
	if (r == 0 && entry.len > head && entry.s[entry.len - 1] == '\n')
		entry.s[--entry.len] = '\0';
	if (r == 0 && entry.len - head > VALUE_MAX)
		r = -EFBIG;
	if (r == 0)
		strv_add(&c->with, entry.s);
	else
		err_set(err, r, "cannot read a value from descriptor %d: %s", fd, why_unreadable(r));
	explicit_bzero(entry.s, entry.len);
	return r;
}

/* The value is not repeated in the message: it may be a secret that only lacks its name. */
static int add_with(struct command *c, const char *arg, struct err *err)
{
	if (!strchr(arg, '=') || *arg == '=')
		return err_set(err, -EINVAL, "--with wants NAME=VALUE");
	strv_add(&c->with, arg);
	return 0;
}

static int apply(struct command *c, enum option_id id, const char *value, struct err *err)
{
	switch (id) {
	case OPT_KEEP:
		strv_add(&c->keep, value);
		break;
	case OPT_DROP:
		strv_add(&c->drop, value);
		break;
	case OPT_NO_HANDLES:
		c->no_handles = true;
		break;
	case OPT_WITH:
		return add_with(c, value, err);
	case OPT_WITH_FD:
		return add_from_fd(c, value, err);
	case OPT_LIST:
		c->list = true;
		break;
	case OPT_JSON:
		c->json = true;
		break;
	case OPT_HELP:
		show_help();
		c->done = true;
		break;
	case OPT_VERSION: {
		_cleanup_(str_free) struct str b = STR_INIT;

		str_add(&b, "scrub-run " HURDLE_VERSION "\n");
		report_write(STDOUT_FILENO, &b);
		c->done = true;
		break;
	}
	case N_OPTIONS:
		break;
	}
	return 0;
}

static int parse(struct command *c, struct err *err)
{
	while (*c->argv && !c->done) {
		const char *arg = *c->argv, *value;
		int id, r;

		if (arg[0] != '-' || !arg[1])
			break;
		c->argv++;
		if (!strcmp(arg, "--"))
			break;
		id = find_option(arg, &value, err);
		if (id < 0)
			return id;
		if (options[id].argument && !value && !(value = *c->argv++))
			return err_set(err, -EINVAL, "option '--%s' needs an argument, %s", options[id].name, options[id].argument);
		if (!options[id].argument && value)
			return err_set(err, -EINVAL, "option '--%s' takes no argument", options[id].name);
		r = apply(c, (enum option_id)id, value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- running ---- */

/* The codes of env(1). exec has replaced nothing when it returns, so the reason can still be said. */
static int run(char *argv[])
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	int code;

	execvp(argv[0], argv); /* searches the PATH of the new environ */
	code = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	err_set(&err, -errno, "cannot run '%s': %s", argv[0], strerror(errno));
	if (errno == E2BIG)
		err_hint(&err, "one variable or argument takes at most 128 KiB (execve(2))");
	say_err(&err);
	return code;
}

static int list(const struct command *c, const struct scrub_result *result)
{
	_cleanup_(str_free) struct str b = STR_INIT;

	if (c->json)
		report_json(&b, result);
	else
		report_text(&b, result);
	/* Standard output belongs to the command, when there is one. */
	return report_write(*c->argv ? STDERR_FILENO : STDOUT_FILENO, &b);
}

static int scrub_and_run(const struct command *c)
{
	const struct scrub_options o = {
		.keep = (const char *const *)c->keep.v,
		.drop = (const char *const *)c->drop.v,
		.with = (const char *const *)c->with.v,
		.drop_handles = c->no_handles,
	};
	_cleanup_(scrub_result_clear) struct scrub_result result = { 0 };
	int r = scrub_env(&o, environ, &result);

	if (r == 0 && (c->list || c->json))
		r = list(c, &result);
	if (r < 0) {
		say("cannot list the variables: %s", strerror(-r));
		return EXIT_REFUSED;
	}
	if (!*c->argv)
		return 0;
	environ = result.envp;
	return run(c->argv);
}

int scrub_run_main(int argc, char *argv[])
{
	_cleanup_(command_clear) struct command c = { .argv = argv + (argc > 0) };
	_cleanup_(err_clear) struct err err = ERR_NONE;

	say_name("scrub-run");
	if (parse(&c, &err) < 0) {
		say_err(&err);
		return EXIT_REFUSED;
	}
	if (c.done)
		return 0;
	if (!*c.argv && !c.list && !c.json) {
		err_set(&err, -EINVAL, "no command given");
		err_hint(&err, "scrub-run [OPTION]... COMMAND [ARGUMENT]..., or --list to see what would be dropped");
		say_err(&err);
		return EXIT_REFUSED;
	}
	return scrub_and_run(&c);
}
