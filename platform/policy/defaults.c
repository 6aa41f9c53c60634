/* What holds without any setting: write roots, devices, protected names, secret files. The tables are the .def files. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/defaults.h"
#include "platform/policy/defaults_private.h"
#include "platform/policy/paths.h"

static int add(struct policy *p, enum rule_kind kind, const char *text, struct err *err)
{
	return policy_add(p, kind, LAYER_DEFAULT, text, NULL, 0, "default", err);
}

int default_rule(struct policy *p, enum rule_kind kind, const char *text, struct err *err)
{
	int r = policy_add(p, kind, LAYER_DEFAULT, text, NULL, ADD_LITERAL, "default", err);

	return r < 0 ? r : 0;
}

/* Adds a row of texts that the tables and this file wrote themselves. */
static int add_all(struct policy *p, enum rule_kind kind, const char *const *texts, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = add(p, kind, texts[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

bool default_is_writable(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];

		if (r->kind != RULE_ALLOW_WRITE)
			continue;
		if (r->pattern ? glob_match(r->path, strlen(r->path), path, strlen(path), r->icase) : path_under(path, r->path))
			return true;
	}
	return false;
}

/* ---- write roots ---- */

bool default_cwd_may_be_root(const struct policy *p)
{
	return strcmp(p->cwd, "/") && !(p->home && path_under(p->home, p->cwd));
}

/* A sandbox-runtime file that has allowWrite names all there is; else the working directory is writable. */
static int add_cwd(struct policy *p, struct err *err)
{
	if (default_cwd_may_be_root(p) && !p->write_list)
		return default_rule(p, RULE_ALLOW_WRITE, ".", err);
	p->no_cwd_root = !default_is_writable(p, p->cwd);
	return 0;
}

/*
 * Always writable. Links among them (/dev/stdout, /dev/fd) lead to whatever the process has open, so they are taken by name:
 * resolved here they would name hurdle's own files.
 */
static int add_devices(struct policy *p, struct err *err)
{
	static const char *const devices[] = {
		"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts",
		"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd",
	};

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		policy_add_exact(p, RULE_ALLOW_WRITE, LAYER_DEFAULT, devices[i], "default");
	return default_rule(p, RULE_ALLOW_WRITE, "/dev/shm", err);
}

/* ---- protected names ---- */

static int add_protected(struct policy *p, struct err *err)
{
	enum { GIT_CONFIG = 1 };
	static const struct { const char *name; unsigned flags; } names[] = {
#define PROTECTED(name, flags, reason) { name, flags },
#include "platform/policy/protected.def"
#undef PROTECTED
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if ((names[i].flags & GIT_CONFIG) && p->allow_git_config)
			continue;
		int r = policy_add(p, RULE_PROTECT_NAME, LAYER_DEFAULT, names[i].name, NULL, ADD_ICASE, "default", err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A file HEAD, with directories objects and refs, makes cwd a bare repository whose config git obeys. */
static int add_head(struct policy *p, struct err *err)
{
	_cleanup_free_ char *head = strf("%s/HEAD", p->cwd);
	struct stat st;

	if (!default_is_writable(p, p->cwd) || !strcmp(p->cwd, "/") || lstat(head, &st) == 0 || errno != ENOENT)
		return 0;
	return default_rule(p, RULE_DENY_WRITE, head, err);
}

static int add_settings_files(struct policy *p, struct err *err)
{
	for (size_t i = 0; i < p->settings_files.n; i++) {
		int r = policy_add(p, RULE_DENY_WRITE, LAYER_DEFAULT, p->settings_files.v[i], NULL, ADD_LITERAL, "settings file of this run", err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Who may write there decides what later runs trust, and the managed file is above every user. */
static int protect(struct policy *p, const char *path, struct err *err)
{
	int r = policy_add(p, RULE_DENY_WRITE, LAYER_DEFAULT, path, NULL, ADD_LITERAL, "hurdle's own configuration", err);

	return r < 0 ? r : 0;
}

static int add_config(struct policy *p, struct err *err)
{
	_cleanup_free_ char *account = account_home();
	_cleanup_free_ char *store = p->config ? strf("%s/trusted", p->config) : NULL;
	_cleanup_free_ char *of_account = account && account[0] == '/' ? strf("%s/.config/hurdle", account) : NULL;
	const char *const places[] = { "/etc/hurdle", p->config, store /* it may be a link */, of_account };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(places) && r == 0; i++)
		r = places[i] ? protect(p, places[i], err) : 0;
	return r;
}

static int drop_loosening_roots(struct policy *p, struct err *err)
{
	(void)err;
	policy_drop_loosening_roots(p);
	return 0;
}

/* ---- secrets ---- */

static const char *const secrets[] = {
#define SECRET(path, class, reason) path,
#define READABLE(path, reason)
#include "platform/policy/secret_paths.def"
#undef SECRET
#undef READABLE
};

static const char *const readable[] = {
#define SECRET(path, class, reason)
#define READABLE(path, reason) path,
#include "platform/policy/secret_paths.def"
#undef SECRET
#undef READABLE
};

static int add_secrets(struct policy *p, struct err *err)
{
	/* of processes outside the run: the shim lets a process of the run read its own and its siblings' */
	static const char *const environments[] = { "/proc/*/environ", "/proc/*/task/*/environ", "/proc/*/mem", "/proc/*/task/*/mem" };
	int r = add_all(p, RULE_DENY_READ, secrets, ARRAY_SIZE(secrets), err);

	if (r == 0)
		r = add_all(p, RULE_ALLOW_READ, readable, ARRAY_SIZE(readable), err);
	return r < 0 ? r : add_all(p, RULE_DENY_READ, environments, ARRAY_SIZE(environments), err);
}

/* HOME may point elsewhere; the keys stay where the account has them. */
static int add_account_secrets(struct policy *p, struct err *err)
{
	_cleanup_free_ char *account = account_home(), *home = NULL;
	char *own = p->home;

	if (!account || account[0] != '/' || path_resolve(account, &home) < 0 || (own && !strcmp(own, home)))
		return 0;
	p->home = home;
	int r = add_all(p, RULE_DENY_READ, secrets, ARRAY_SIZE(secrets), err);
	if (r == 0)
		r = add_all(p, RULE_ALLOW_READ, readable, ARRAY_SIZE(readable), err);
	p->home = own;
	return r;
}

/* With all of HOME writable, what must not be read must not be replaced either, nor what programs start from. */
static int add_home_denies(struct policy *p, struct err *err)
{
	static const char *const places[] = { "~/.config", "~/.local/bin", "~/.local/share/systemd" };
	int r;

	if (!p->home || !default_is_writable(p, p->home))
		return 0;
	r = add_all(p, RULE_DENY_WRITE, secrets, ARRAY_SIZE(secrets), err);
	return r < 0 ? r : add_all(p, RULE_DENY_WRITE, places, ARRAY_SIZE(places), err);
}

static int add_strict(struct policy *p, struct err *err)
{
	static const char *const unreadable[] = { "/**/.env", "/**/.env.*", "/**/id_rsa*", "/**/id_ed25519*", "/**/.aws" };
	static const char *const samples[] = { "/**/.env.example", "/**/.env.sample", "/**/.env.template" };
	static const char *const unwritable[] = { "/**/.env", "/**/*.key", "/**/*.pem" };
	int r;

	if (!p->profile_strict)
		return 0;
	p->strict = true;
	r = add_all(p, RULE_DENY_READ, unreadable, ARRAY_SIZE(unreadable), err);
	if (r == 0)
		r = add_all(p, RULE_ALLOW_READ, samples, ARRAY_SIZE(samples), err);
	return r < 0 ? r : add_all(p, RULE_DENY_WRITE, unwritable, ARRAY_SIZE(unwritable), err);
}

int policy_add_defaults(struct policy *p, struct err *err)
{
	/* in this order: the later ones ask what is writable by then */
	static int (*const parts[])(struct policy *, struct err *) = {
		add_cwd, default_add_caches, add_devices, add_protected, add_head, add_settings_files, add_config, add_secrets,
		add_account_secrets, add_strict, drop_loosening_roots, add_home_denies, default_add_repositories,
	};

	if (p->scrub_only)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int r = parts[i](p, err);

		if (r < 0)
			return r;
	}
	policy_warn_of_shadows(p);
	return 0;
}
