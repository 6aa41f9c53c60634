/* hurdle trust: shows what a project's settings file would loosen, and remembers that this very content may. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/trust.h"
#include "supervisor/commands.h"
#include "supervisor/output.h"
#include "supervisor/policy_build.h"

enum { FILE_MAX = 1 << 20 };

/* A settings file of a project, taken apart: /home/u/project and .claude/settings.json. */
struct subject { char *project; const char *name; char *text; size_t len; };

static void subject_release(struct subject *s)
{
	free(s->project);
	free(s->text);
}

static int not_a_project_file(const char *file, struct err *err)
{
	err_set(err, -EINVAL, "'%s' is no settings file that a project brings", file);
	err_hint(err, "those are .hurdle.json, .claude/settings.json and .claude/settings.local.json; every other one is trusted when you name it");
	return -EINVAL;
}

/* The project is told by the text alone; links in it count for where it is, not for what the file is called. */
static int find_project(const char *file, struct subject *s, struct err *err)
{
	_cleanup_free_ char *cwd = realpath(".", NULL), *absolute = cwd ? path_absolute(file, cwd, NULL) : NULL;
	const size_t len = absolute ? strlen(absolute) : 0;

	for (const char *const *name = trust_names; absolute && *name; name++) {
		const size_t n = strlen(*name);

		if (len <= n || absolute[len - n - 1] != '/' || strcmp(absolute + len - n, *name))
			continue;
		absolute[len > n + 1 ? len - n - 1 : 1] = '\0';
		s->project = realpath(absolute, NULL);
		s->name = *name;
		return s->project ? 0 : err_set(err, -errno, "cannot find '%s': %s", absolute, strerror(errno));
	}
	return absolute ? not_a_project_file(file, err) : err_set(err, -errno, "cannot find the working directory: %s", strerror(errno));
}

static int read_subject(const char *file, struct subject *s, struct err *err)
{
	int r = find_project(file, s, err);

	if (r < 0)
		return r;
	r = read_regular_file(file, FILE_MAX, &s->text, &s->len);
	return r < 0 ? err_set(err, r, "cannot read '%s': %s", file, r == -EINVAL ? "it is no regular file" : strerror(-r)) : 0;
}

/* The policy that a run in the project would have had from this file, as long as it is not trusted: what it refused is the answer. */
static int list_loosening(const struct subject *s, const char *file, struct strv *ret, struct err *err)
{
	_cleanup_free_ char *home = home_directory(), *real = home ? realpath(home, NULL) : NULL;
	struct policy *p = policy_new(s->project, real);
	int r = policy_read_settings_text(p, s->text, s->len, file, LAYER_PROJECT, err);

	if (r == 0)
		r = policy_add_defaults(p, err);
	for (size_t i = 0; r == 0 && i < p->loosening.n; i++)
		strv_add(ret, p->loosening.v[i]);
	policy_free(p);
	return r;
}

static int say_trusted(const char *file, const struct strv *loosening)
{
	struct str text = STR_INIT;

	str_add_escaped(&text, file);
	str_add(&text, loosening->n ? ": trusted until it changes. It loosens:\n" : ": trusted until it changes. It loosens nothing.\n");
	for (size_t i = 0; i < loosening->n; i++) {
		str_add(&text, "  ");
		str_add_escaped(&text, loosening->v[i]);
		str_add(&text, "\n");
	}
	return output_text(&text);
}

static int trust_one(const char *config, const char *file, struct err *err)
{
	_cleanup_(subject_release) struct subject s = { 0 };
	_cleanup_(strv_free) struct strv loosening = { 0 };
	_cleanup_free_ char *key = NULL;
	char digest[TRUST_DIGEST_SIZE];
	int r = read_subject(file, &s, err);

	if (r == 0)
		r = list_loosening(&s, file, &loosening, err);
	if (r < 0)
		return r;
	key = trust_key(s.project, s.name);
	trust_digest(s.text, s.len, digest); /* of what was just shown */
	r = trust_set(config, key, digest, err);
	return r < 0 ? r : say_trusted(file, &loosening);
}

static int revoke_one(const char *config, const char *file, struct err *err)
{
	_cleanup_(subject_release) struct subject s = { 0 };
	_cleanup_free_ char *key = NULL;
	int r = find_project(file, &s, err);

	if (r < 0)
		return r;
	key = trust_key(s.project, s.name);
	return trust_set(config, key, NULL, err);
}

static int check(const struct options *o, const char *config, struct err *err)
{
	if (!config)
		return err_set(err, -ENOENT, "cannot remember what is trusted: there is no home directory");
	if (o->n_operands)
		return 0;
	err_set(err, -EINVAL, "trust takes the settings files of a project");
	err_hint(err, "such as: hurdle trust .hurdle.json");
	return -EINVAL;
}

int cmd_trust(const struct options *o)
{
	_cleanup_(err_clear) struct err err = ERR_NONE;
	_cleanup_free_ char *home = home_directory(), *config = config_directory(home);
	int r = check(o, config, &err);

	for (size_t i = 0; r == 0 && i < o->n_operands; i++)
		r = o->revoke ? revoke_one(config, o->operands[i], &err) : trust_one(config, o->operands[i], &err);
	if (r < 0)
		say_err(&err);
	return r < 0 ? EXIT_REFUSED : r;
}
