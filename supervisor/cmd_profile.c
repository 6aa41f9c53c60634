/* hurdle profile: what one mechanism would be given for a run with these options. Runs nothing. */
#include <errno.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "supervisor/commands.h"
#include "supervisor/output.h"
#include "supervisor/prepare.h"

extern char **environ;

static const struct mechanism *find_mechanism(const char *name)
{
	for (size_t i = 0; i < n_mechanisms; i++)
		if (!strcmp(mechanisms[i]->name, name))
			return mechanisms[i];
	return NULL;
}

static void list_mechanisms(struct err *err)
{
	_cleanup_(str_free) struct str names = STR_INIT;

	for (size_t i = 0; i < n_mechanisms; i++)
		str_addf(&names, "%s%s", i == 0 ? "" : i + 1 == n_mechanisms ? " and " : ", ", mechanisms[i]->name);
	err_hint(err, "mechanisms are %s", names.s);
}

static int choose(const struct options *o, const struct mechanism **ret, struct err *err)
{
	if (o->n_operands != 1) {
		err_set(err, -EINVAL, o->n_operands ? "profile takes one mechanism" : "profile: which mechanism?");
		list_mechanisms(err);
		return -EINVAL;
	}
	*ret = find_mechanism(o->operands[0]);
	if (*ret)
		return 0;
	err_set(err, -EINVAL, "unknown mechanism '%s'", o->operands[0]);
	list_mechanisms(err);
	return -EINVAL;
}

static int print_profile(const struct mechanism *m, struct launch *l)
{
	_cleanup_free_ char *profile = m->profile ? m->profile(l) : NULL;
	struct str text = STR_INIT;

	str_add(&text, profile ? profile : "");
	if (text.len && text.s[text.len - 1] != '\n')
		str_add(&text, "\n");
	if (!profile)
		say("%s is given nothing that could be shown", m->name);
	return output_text(&text);
}

int cmd_profile(const struct options *o)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	const struct mechanism *m;
	char *no_command[] = { NULL };
	struct launch l = { .argv = no_command, .environ = environ };
	struct plan plan;
	int code;

	if (choose(o, &m, &err) < 0 || prepare_plan(o, &l, &plan, &err) < 0) {
		say_err(&err);
		return EXIT_REFUSED;
	}
	output_warnings(l.policy);
	code = print_profile(m, &l);
	prepare_release(&l, &plan);
	return code;
}
