#include "supervisor/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/options_table.h"

enum { FD_MAX = 1 << 20 };

/* ---- finding ---- */

static const struct option_row *row_by_name(enum command command, const char *name, size_t n)
{
	for (size_t i = 0; i < n_option_rows; i++) {
		const struct option_row *row = &option_rows[i];

		if ((row->commands & 1u << command) && strlen(row->name) == n && !memcmp(row->name, name, n))
			return row;
	}
	return NULL;
}

static const struct option_row *row_by_letter(enum command command, const char *arg)
{
	for (size_t i = 0; i < n_option_rows; i++)
		if ((option_rows[i].commands & 1u << command) && option_rows[i].letter && option_rows[i].letter == arg[1] && !arg[2])
			return &option_rows[i];
	return NULL;
}

static void hint_for_unknown(enum command command, const char *name, struct err *err)
{
	const char *names[OPTION_COUNT], *nearest;
	size_t n = 0;

	for (size_t i = 0; i < n_option_rows; i++)
		if (option_rows[i].commands & 1u << command)
			names[n++] = option_rows[i].name;
	nearest = str_nearest(name, names, n);
	if (nearest)
		err_hint(err, "did you mean '--%s'?", nearest);
	else
		err_hint(err, "hurdle %s --help lists the options", command_name(command));
}

static int unknown_option(enum command command, const char *arg, struct err *err)
{
	_cleanup_free_ char *name = strf("%.*s", (int)strcspn(arg, "="), arg);

	hint_for_unknown(command, name + (arg[1] == '-' ? 2 : 1), err);
	return err_set(err, -EINVAL, "unknown option '%s'", name);
}

/* ---- values ---- */

static int choose(const struct option_row *row, const char *value, int *ret, struct err *err)
{
	_cleanup_(strv_free) struct strv values = { 0 };
	_cleanup_free_ char *list = NULL;
	const char *nearest;

	option_values(row, &values);
	for (size_t i = 0; i < values.n; i++) {
		if (!strcmp(values.v[i], value)) {
			*ret = (int)i;
			return 0;
		}
	}
	list = option_alternatives(&values);
	err_set(err, -EINVAL, "option '--%s' takes %s, not '%s'", row->name, list, value);
	nearest = str_nearest(value, (const char *const *)values.v, values.n);
	if (nearest)
		err_hint(err, "did you mean '--%s=%s'?", row->name, nearest);
	return -EINVAL;
}

static int add_path(struct options *o, enum rule_kind kind, const struct option_row *row, const char *value, struct err *err)
{
	if (!*value)
		return err_set(err, -EINVAL, "option '--%s': the path is empty", row->name);
	o->paths = xreallocarray(o->paths, o->n_paths + 1, sizeof(*o->paths));
	o->paths[o->n_paths++] = (struct option_path){ .kind = kind, .path = value, .option = row->name };
	return 0;
}

/* Names only: what an assignment says may be a secret, so no message repeats it. */
static int add_name(struct strv *list, const struct option_row *row, const char *value, struct err *err)
{
	if (!*value || strchr(value, '=')) {
		err_set(err, -EINVAL, "option '--%s' takes the name of a variable", row->name);
		err_hint(err, "--env NAME=VALUE sets one");
		return -EINVAL;
	}
	strv_add(list, value);
	return 0;
}

static int add_assignment(struct strv *list, const struct option_row *row, const char *value, const char *example, struct err *err)
{
	const char *equals = strchr(value, '=');

	if (!equals || equals == value) {
		err_set(err, -EINVAL, "option '--%s' takes %s", row->name, row->argument);
		err_hint(err, "such as --%s %s", row->name, example);
		return -EINVAL;
	}
	strv_add(list, value);
	return 0;
}

/* The last one counts, as everywhere where there is one value. */
static int set_backends(struct strv *list, const struct option_row *row, const char *value, struct err *err)
{
	strv_free(list);
	for (const char *s = value;; s++) {
		size_t n = strcspn(s, ",");
		_cleanup_free_ char *name = strf("%.*s", (int)n, s);

		if (!n)
			return err_set(err, -EINVAL, "option '--%s': a name is empty", row->name);
		strv_add(list, name);
		s += n;
		if (!*s)
			return 0;
	}
}

static int set_file(const char **file, const struct option_row *row, const char *value, struct err *err)
{
	if (!*value)
		return err_set(err, -EINVAL, "option '--%s': the name of the file is empty", row->name);
	*file = value;
	return 0;
}

/* strtonum(3) takes blanks and signs; a descriptor is digits only, so that a mistyped one is no other descriptor. */
static int add_fd(struct options *o, const char *value, struct err *err)
{
	const char *why = NULL;
	int fd = (int)strtonum(value, 3, FD_MAX, &why);
	size_t at = 0;

	if (!*value || value[strspn(value, "0123456789")])
		why = "not a number";
	if (why) {
		err_set(err, -EINVAL, "option '--pass-fd': '%s' is %s", value, why);
		err_hint(err, "0, 1 and 2 are inherited anyway; others are 3 and above");
		return -EINVAL;
	}
	while (at < o->n_pass_fds && o->pass_fds[at] < fd)
		at++;
	if (at < o->n_pass_fds && o->pass_fds[at] == fd)
		return 0;
	o->pass_fds = xreallocarray(o->pass_fds, o->n_pass_fds + 1, sizeof(*o->pass_fds));
	memmove(o->pass_fds + at + 1, o->pass_fds + at, (o->n_pass_fds++ - at) * sizeof(*o->pass_fds));
	o->pass_fds[at] = fd;
	return 0;
}

/* long: one case for each option, and nothing to see in it but which field it fills. */
static int apply(struct options *o, const struct option_row *row, const char *value, struct err *err)
{
	int choice, r;

	switch (row->id) {
	case OPTION_ALLOW_WRITE:      return add_path(o, RULE_ALLOW_WRITE, row, value, err);
	case OPTION_DENY_WRITE:       return add_path(o, RULE_DENY_WRITE, row, value, err);
	case OPTION_DENY_DELETE:      return add_path(o, RULE_DENY_DELETE, row, value, err);
	case OPTION_ALLOW_READ:       return add_path(o, RULE_ALLOW_READ, row, value, err);
	case OPTION_DENY_READ:        return add_path(o, RULE_DENY_READ, row, value, err);
	case OPTION_DENY_EXEC:        return add_path(o, RULE_DENY_EXEC, row, value, err);
	case OPTION_EXEC_GRANT:       return add_path(o, RULE_GRANT_EXEC, row, value, err);
	case OPTION_ALLOW_UNIX:       return add_path(o, RULE_ALLOW_SOCKET, row, value, err);
	case OPTION_SETTINGS:         strv_add(&o->settings, value); return 0;
	case OPTION_KEEP:             return add_name(&o->keep, row, value, err);
	case OPTION_DROP:             return add_name(&o->drop, row, value, err);
	case OPTION_ENV:              return add_assignment(&o->set, row, value, "CI=1", err);
	case OPTION_BACKEND:          return set_backends(&o->backends, row, value, err);
	case OPTION_ALLOW_DOMAIN:     strv_add(&o->allow_domains, value); return 0;
	case OPTION_DENY_DOMAIN:      strv_add(&o->deny_domains, value); return 0;
	case OPTION_REQUIRE:          return add_assignment(&o->require, row, value, "fs.write=kernel", err);
	case OPTION_REPORT:           return set_file(&o->report, row, value, err);
	case OPTION_CWD_FILE:         return set_file(&o->cwd_file, row, value, err);
	case OPTION_PASS_FD:          return add_fd(o, value, err);
	case OPTION_NET:              return choose(row, value, &o->net, err);
	case OPTION_CACHES:           return choose(row, value, &o->caches, err);
	case OPTION_EXEC_FROM:        return choose(row, value, &o->exec_from, err);
	case OPTION_PROFILE:          return choose(row, value, &o->profile, err);
	case OPTION_COLOR:
		r = choose(row, value, &choice, err);
		o->color = r < 0 ? o->color : (enum color)choice;
		return r;
	case OPTION_ALLOW_GIT_CONFIG: o->allow_git_config = true; return 0;
	case OPTION_ALLOW_ALL_UNIX:   o->allow_all_unix = true; return 0;
	case OPTION_NO_HANDLES:       o->no_handles = true; return 0;
	case OPTION_NO_SANDBOX:       o->no_sandbox = true; return 0;
	case OPTION_NO_SETTINGS:      o->no_settings = true; return 0;
	case OPTION_STRICT_SETTINGS:  o->strict_settings = true; return 0;
	case OPTION_REVOKE:           o->revoke = true; return 0;
	case OPTION_STRICT:           o->strict = true; return 0;
	case OPTION_QUIET:            o->quiet = true; return 0;
	case OPTION_WRITE:            o->write = true; return 0;
	case OPTION_READ:             o->read = true; return 0;
	case OPTION_EXEC:             o->exec = true; return 0;
	case OPTION_DELETE:           o->delete = true; return 0;
	case OPTION_HOST:             o->host = true; return 0;
	case OPTION_RULES:            o->rules = true; return 0;
	case OPTION_VERBOSE:          o->verbose = true; return 0;
	case OPTION_JSON:             o->json = true; return 0;
	case OPTION_COMMAND:          o->command_text = value; return 0;
	case OPTION_CWD:              return set_file(&o->cwd, row, value, err);
	case OPTION_TOOL:             o->tool = value; return 0;
	case OPTION_PATH:             return set_file(&o->path, row, value, err);
	case OPTION_UNSANDBOXED:      o->unsandboxed = true; return 0;
	case OPTION_HELP:             o->help = true; return 0;
	case OPTION_VERSION:          o->version = true; return 0;
	case OPTION_COUNT:            break;
	}
	return 0;
}

/* ---- the line ---- */

/* One option at *argv, which moves past what it took. */
static int parse_option(struct options *o, char *const **argv, struct err *err)
{
	const char *arg = *(*argv)++, *value = NULL;
	const struct option_row *row;

	if (arg[1] == '-') {
		size_t n = strcspn(arg + 2, "=");

		row = row_by_name(o->command, arg + 2, n);
		value = arg[2 + n] ? arg + 2 + n + 1 : NULL;
	} else {
		row = row_by_letter(o->command, arg);
	}
	if (!row)
		return unknown_option(o->command, arg, err);
	if (row->argument && !value && !(value = *(*argv)++)) {
		(*argv)--;
		return err_set(err, -EINVAL, "option '--%s' needs an argument, %s", row->name, row->argument);
	}
	if (!row->argument && value)
		return err_set(err, -EINVAL, "option '--%s' takes no argument", row->name);
	return apply(o, row, value ? value : "", err);
}

static void add_operand(struct options *o, char *arg)
{
	o->operands = xreallocarray(o->operands, o->n_operands + 2, sizeof(*o->operands));
	o->operands[o->n_operands++] = arg;
	o->operands[o->n_operands] = NULL;
}

int options_parse(enum command command, char *const argv[], struct options *ret, struct err *err)
{
	bool ended = false;

	*ret = (struct options){
		.command = command, .net = CHOICE_UNSET, .caches = CHOICE_UNSET, .exec_from = CHOICE_UNSET, .profile = CHOICE_UNSET,
	};
	ret->operands = xcalloc(1, sizeof(*ret->operands));
	while (*argv && !ret->help && !ret->version) {
		const char *arg = *argv;
		int r = 0;

		if (!ended && !strcmp(arg, "--")) {
			ended = true;
			argv++;
		} else if (!ended && arg[0] == '-' && arg[1]) {
			r = parse_option(ret, &argv, err);
		} else {
			/* what follows the command that run starts belongs to it */
			ended |= command == COMMAND_RUN;
			add_operand(ret, *argv++);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

void options_release(struct options *o)
{
	free(o->paths);
	free(o->pass_fds);
	free(o->operands);
	strv_free(&o->settings);
	strv_free(&o->backends);
	strv_free(&o->keep);
	strv_free(&o->drop);
	strv_free(&o->set);
	strv_free(&o->allow_domains);
	strv_free(&o->deny_domains);
	strv_free(&o->require);
	*o = (struct options){ 0 };
}
