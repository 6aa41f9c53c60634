#include "supervisor/policy_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "envscrub/names.h"
#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/egress.h"
#include "platform/policy/defaults.h"

static void policy_freep(struct policy **p)
{
	policy_free(*p);
}

/* ---- where we are ---- */

/* "(unreachable)/x" is what getcwd(2) says below another root. */
static int current_directory(char **ret, struct err *err)
{
	_cleanup_free_ char *cwd = getcwd(NULL, 0);

	if (cwd && cwd[0] == '/') {
		*ret = TAKE_PTR(cwd);
		return 0;
	}
	if (cwd || errno == ENOENT) {
		err_set(err, -ENOENT, "cannot find the working directory: it was removed, or moved out of reach");
		err_hint(err, "change to a directory that exists, such as: cd \"$HOME\"");
		return -ENOENT;
	}
	return err_set(err, -errno, "cannot find the working directory: %s", strerror(errno));
}

/* A home that does not exist holds nothing to protect, but ~ in a rule must mean something: it stays as it is written. */
static char *real_home(void)
{
	_cleanup_free_ char *home = home_directory(), *real = NULL;

	if (!home || home[0] != '/')
		return NULL;
	real = realpath(home, NULL);
	return real ? TAKE_PTR(real) : path_absolute(home, "/", NULL);
}

/* ---- options ---- */

static int add_paths(struct policy *p, const struct options *o, struct err *err)
{
	for (size_t i = 0; i < o->n_paths; i++) {
		_cleanup_free_ char *origin = strf("--%s", o->paths[i].option);
		int r = policy_add(p, o->paths[i].kind, LAYER_FLAGS, o->paths[i].path, NULL, 0, origin, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static void choose_profile(struct policy *p, const struct options *o)
{
	const char *origin = o->no_sandbox ? "--no-sandbox" : "--profile";
	const int profile = o->no_sandbox ? PROFILE_SCRUB : o->profile;

	if (profile == CHOICE_UNSET)
		return;
	policy_decided(p, SCALAR_PROFILE, LAYER_FLAGS, origin);
	policy_decided(p, SCALAR_ENABLED, LAYER_FLAGS, origin);
	p->profile_strict = profile == PROFILE_STRICT;
	p->scrub_only = profile == PROFILE_SCRUB;
	free(p->scrub_only_origin);
	p->scrub_only_origin = p->scrub_only ? xstrdup(origin) : NULL;
}

/* Values that are set one at a time. What the command line does not say is left as the files have it. */
static void choose_scalars(struct policy *p, const struct options *o)
{
	choose_profile(p, o);
	if (o->net != CHOICE_UNSET) {
		p->net = (enum net_mode)o->net;
		p->net_layer = LAYER_FLAGS;
		policy_decided(p, SCALAR_NET, LAYER_FLAGS, "--net");
	}
	if (o->caches != CHOICE_UNSET) {
		p->caches = (enum cache_mode)o->caches;
		policy_decided(p, SCALAR_CACHES, LAYER_FLAGS, "--caches");
	}
	if (o->exec_from != CHOICE_UNSET) {
		p->exec_outside_roots = o->exec_from == EXEC_FROM_OUTSIDE_ROOTS;
		policy_decided(p, SCALAR_EXEC_FROM, LAYER_FLAGS, "--exec-from");
	}
	if (o->backends.n) {
		strv_free(&p->backends);
		for (size_t i = 0; i < o->backends.n; i++)
			strv_add(&p->backends, o->backends.v[i]);
		p->set_by[SCALAR_BACKEND] = LAYER_FLAGS;
	}
	p->strict |= o->strict;
	p->allow_git_config |= o->allow_git_config;
	p->unix_open |= o->allow_all_unix;
	p->no_handles |= o->no_handles;
}

static int add_domains(struct policy *p, const struct options *o, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < o->allow_domains.n; i++)
		policy_add_item(p, LIST_ALLOWED_DOMAINS, LAYER_FLAGS, o->allow_domains.v[i], NULL, "--allow-domain");
	for (size_t i = 0; i < o->deny_domains.n; i++)
		policy_add_item(p, LIST_DENIED_DOMAINS, LAYER_FLAGS, o->deny_domains.v[i], NULL, "--deny-domain");
	return 0;
}

/* What is no host stops the start, whether or not anything will ask for one; what is odd is a warning. */
static int check_domains(struct policy *p, struct err *err)
{
	struct egress *e = NULL;
	int r = egress_compile(p, &e, err);

	egress_free(e);
	return r;
}

static int add_requirements(struct policy *p, const struct options *o, struct err *err)
{
	for (size_t i = 0; i < o->require.n; i++) {
		const char *text = o->require.v[i], *equals = strchr(text, '=');
		_cleanup_free_ char *guarantee = strf("%.*s", (int)(equals - text), text);
		int r = policy_require(p, guarantee, equals + 1, "--require", err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- environment ---- */

static void add_names(struct strv *to, const struct strv *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (!strv_has(to, from->v[i]))
			strv_add(to, from->v[i]);
}

/* The path of the socket that a handle's value names: "/run/x", "unix:/run/x", "unix:path=/run/x,guid=...". Owned, or NULL. */
static char *socket_path(const char *value)
{
	static const char *const prefixes[] = { "unix:path=", "unix://", "unix:" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (!strncmp(value, prefixes[i], strlen(prefixes[i]))) {
			value += strlen(prefixes[i]);
			break;
		}
	}
	/* what follows is a D-Bus guid (","), or a tmux client and pane (",123,0") */
	return value[0] == '/' ? strf("%.*s", (int)strcspn(value, ","), value) : NULL;
}

static bool is_handle(const char *entry, size_t n)
{
	const struct name_row *row = name_find(entry, n, name_hash(entry, n));

	return row && row->class == NAME_HANDLE;
}

/* Who keeps the variable means what it leads to. */
static int open_kept_socket(struct policy *p, const char *keep, enum layer layer, struct err *err)
{
	extern char **environ;

	for (char **e = environ; e && *e; e++) {
		size_t n = strcspn(*e, "=");
		_cleanup_free_ char *path = NULL, *origin = NULL;
		int r;

		if (!(*e)[n] || !name_glob(keep, *e, n, false) || !is_handle(*e, n))
			continue;
		path = socket_path(*e + n + 1);
		if (!path)
			continue;
		origin = strf("--keep %.*s", (int)n, *e);
		r = policy_add(p, RULE_ALLOW_SOCKET, layer, path, NULL, ADD_LITERAL, origin, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_environment(struct policy *p, const struct options *o, struct err *err)
{
	for (size_t i = 0; i < o->keep.n; i++) {
		int r = open_kept_socket(p, o->keep.v[i], LAYER_FLAGS, err);

		if (r < 0)
			return r;
	}
	add_names(&p->env_keep, &o->keep);
	add_names(&p->env_drop, &o->drop);
	for (size_t i = 0; i < o->set.n; i++)
		policy_set_variable(p, o->set.v[i]);
	return 0;
}

/* ---- all of it ---- */

/* The base directory specification says to ignore relative values. */
static char *directory_of(const char *variable, const char *home, const char *below_home, const char *name)
{
	const char *value = getenv(variable);

	if (value && value[0] == '/')
		return strf("%s%s", value, name);
	return home ? strf("%s%s%s", home, below_home, name) : NULL;
}

char *config_directory(const char *home)
{
	return directory_of("XDG_CONFIG_HOME", home, "/.config", "/hurdle");
}

static int read_settings(struct policy *p, const struct options *o, struct err *err)
{
	_cleanup_free_ char *config = config_directory(p->home), *claude = directory_of("CLAUDE_CONFIG_DIR", p->home, "/.claude", "");
	const struct layer_files files = {
		.config = config, .claude = claude, .managed = MANAGED_SETTINGS, .named = &o->settings, .only_named = o->no_settings,
	};

	if (config)
		policy_use_config(p, config);
	return policy_read_layers(p, &files, err);
}

static void warn_of_git(struct policy *p)
{
	extern char **environ;
	const struct items *dirs = &p->lists[LIST_SAFE_DIRECTORIES];

	if (dirs->n && policy_has_git_variables(p, environ))
		policy_warn(p, "%s: is ignored: GIT_CONFIG_COUNT is set already", dirs->v[0].origin);
}

/* --strict-settings: what changes nothing is a mistake. */
static int refuse_warnings(const struct policy *p, struct err *err)
{
	if (!p->warnings.n)
		return 0;
	err_set(err, -EINVAL, "%s", p->warnings.v[0]);
	err_hint(err, "--strict-settings makes an error of it");
	return -EINVAL;
}

/* ---- the environment alone ---- */

/* Nobody who asks for a level means that it may be given up, so that takes no n/a for an answer. */
static int refuse_requirements(const struct policy *p, struct err *err)
{
	for (size_t i = 0; i < p->n_required; i++) {
		const struct required *q = &p->required[i];

		if (q->guarantee == G_env_secrets || q->guarantee == G_env_ancestors || (!q->best && q->level == LEVEL_NONE))
			continue;
		err_set(err, -EPERM, "%s wants %s, which %s gives up", q->origin, guarantee_info(q->guarantee)->name, p->scrub_only_origin);
		err_hint(err, "take one of the two away");
		return -EPERM;
	}
	return 0;
}

/* Rules that nothing would hold are no rules; those of the command line are missed by who wrote them. */
static void drop_path_rules(struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		struct rule *r = &p->rules[i];

		if (r->layer == LAYER_FLAGS)
			policy_warn(p, "%s: '%s' changes nothing: %s leaves the environment alone under rules", r->origin, r->text,
				    p->scrub_only_origin);
		free(r->text);
		free(r->path);
		free(r->written);
		free(r->origin);
	}
	p->n_rules = 0;
	policy_forget_index(p);
}

static int finish_scrub_only(struct policy *p, struct err *err)
{
	drop_path_rules(p);
	return refuse_requirements(p, err);
}

int policy_build(const struct options *o, struct policy **ret, struct err *err)
{
	/* in this order: the command line has the last word, and the defaults ask what is writable by then */
	static int (*const parts[])(struct policy *, const struct options *, struct err *) = {
		read_settings, add_paths, add_domains, add_requirements, add_environment,
	};
	_cleanup_(policy_freep) struct policy *p = NULL;
	_cleanup_free_ char *cwd = NULL, *home = real_home();
	int r = current_directory(&cwd, err);

	if (r < 0)
		return r;
	p = policy_new(cwd, home);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		r = parts[i](p, o, err);
		if (r < 0)
			return r;
	}
	choose_scalars(p, o);
	policy_apply_managed(p);
	warn_of_git(p);
	r = p->scrub_only ? finish_scrub_only(p, err) : policy_add_defaults(p, err);
	if (r == 0)
		r = check_domains(p, err);
	if (r == 0 && o->strict_settings)
		r = refuse_warnings(p, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}
