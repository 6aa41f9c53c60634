/* The settings files of a run, in the order of their layers, and what only the managed one may say of the others. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/settings_private.h"
#include "platform/policy/trust.h"

enum { FILE_MAX = 1 << 20 };

/* ---- one file ---- */

struct file {
	const char *path, *shown; /* shown: for messages; NULL: path */
	enum layer layer;
	const char *base;    /* for relative paths in a Claude Code file */
	const char *project; /* its name in the project, for trust; NULL: not of a project */
	bool named;          /* by the user, so it must exist, and may be a pipe */
};

static void add_once(struct strv *list, const char *text)
{
	if (!strv_has(list, text))
		strv_add(list, text);
}

/* The file is protected in the run that it governs, and so is a link that leads to it. A pipe cannot be changed into another one. */
static void remember_file(struct policy *p, const char *file)
{
	_cleanup_free_ char *absolute = path_absolute(file, p->cwd, NULL), *real = NULL;
	struct stat st;

	if (stat(file, &st) < 0 || !S_ISREG(st.st_mode) || path_resolve(absolute, &real) < 0)
		return;
	add_once(&p->settings_files, real);
	add_once(&p->settings_files, absolute);
}

static int cannot_read(const struct file *f, int r, struct err *err)
{
	if (r == -EFBIG)
		return err_set(err, r, "%s: the settings file is larger than %d bytes", f->path, FILE_MAX);
	err_set(err, r, "cannot read the settings file '%s': %s", f->path, r == -EINVAL ? "it is no regular file" : strerror(-r));
	if (!f->named)
		err_hint(err, "--no-settings runs without it");
	return r;
}

static int read_layer(struct policy *p, const struct file *f, struct err *err)
{
	struct reader r = { .p = p, .name = f->shown ? f->shown : f->path, .layer = f->layer, .base = f->base, .err = err };
	_cleanup_free_ char *text = NULL;
	int code = f->named ? read_file(f->path, FILE_MAX, &text, &r.len) : read_regular_file(f->path, FILE_MAX, &text, &r.len);

	if (!f->named && (code == -ENOENT || code == -ENOTDIR))
		return 0;
	if (code < 0)
		return cannot_read(f, code, err);
	remember_file(p, f->path);
	r.text = text;
	r.tighten_only = (f->layer == LAYER_PROJECT || f->layer == LAYER_LOCAL) && !(f->project && settings_trusted(p, f->project, text, r.len));
	policy_add_item(p, LIST_FILES, f->layer, r.name, r.tighten_only ? "untrusted" : NULL, r.name);
	return settings_read_text(&r);
}

int policy_read_settings(struct policy *p, const char *file, enum layer layer, struct err *err)
{
	const struct file f = { .path = file, .layer = layer, .named = true };

	return read_layer(p, &f, err);
}

/* ---- all of them ---- */

static int read_below(struct policy *p, const char *directory, const char *name, const char *base, struct err *err)
{
	_cleanup_free_ char *path = directory ? strf("%s/%s", directory, name) : NULL;
	const struct file f = { .path = path, .layer = LAYER_USER, .base = base };

	return path ? read_layer(p, &f, err) : 0;
}

/* In the home directory the project's file would be the user's own. */
static bool was_read(const struct policy *p, const char *name)
{
	_cleanup_free_ char *absolute = path_absolute(name, p->cwd, NULL), *real = NULL;

	return path_resolve(absolute, &real) == 0 && strv_has(&p->settings_files, real);
}

static int read_project(struct policy *p, const char *name, enum layer layer, struct err *err)
{
	_cleanup_free_ char *path = strf("%s/%s", strcmp(p->cwd, "/") ? p->cwd : "", name);
	const struct file f = { .path = path, .shown = name, .layer = layer, .project = name };

	return was_read(p, name) ? 0 : read_layer(p, &f, err);
}

static int read_implied(struct policy *p, const struct layer_files *files, struct err *err)
{
	int r = read_below(p, files->config, "settings.json", NULL, err);

	if (r == 0)
		r = read_below(p, files->claude, "settings.json", files->claude, err);
	if (r == 0)
		r = read_project(p, ".claude/settings.json", LAYER_PROJECT, err);
	if (r == 0)
		r = read_project(p, ".hurdle.json", LAYER_PROJECT, err);
	return r < 0 ? r : read_project(p, ".claude/settings.local.json", LAYER_LOCAL, err);
}

static int read_managed(struct policy *p, const char *path, struct err *err)
{
	const struct file f = { .path = path, .layer = LAYER_MANAGED };

	return path ? read_layer(p, &f, err) : 0;
}

static void keep_managed_domains(struct policy *p)
{
	struct items *domains = &p->lists[LIST_ALLOWED_DOMAINS];
	size_t kept = 0;

	for (size_t i = 0; i < domains->n; i++) {
		struct item *d = &domains->v[i];

		if (d->layer == LAYER_MANAGED) {
			domains->v[kept++] = *d;
			continue;
		}
		policy_warn(p, "%s: '%s' is ignored: allowManagedDomainsOnly", d->origin, d->text);
		item_release(d);
	}
	domains->n = kept;
	domains->given = true;
}

static void keep_managed_reads(struct policy *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_rules; i++) {
		struct rule *r = &p->rules[i];

		if (r->kind != RULE_ALLOW_READ || r->layer == LAYER_MANAGED) {
			p->rules[kept++] = *r;
			continue;
		}
		policy_warn(p, "%s: '%s' is ignored: allowManagedReadPathsOnly", r->origin, r->text);
		rule_release(r);
	}
	p->n_rules = kept;
	policy_forget_index(p);
}

int policy_read_layers(struct policy *p, const struct layer_files *files, struct err *err)
{
	int r = files->only_named ? 0 : read_implied(p, files, err);

	for (size_t i = 0; r == 0 && files->named && i < files->named->n; i++)
		r = policy_read_settings(p, files->named->v[i], LAYER_FLAGS, err);
	return r < 0 ? r : read_managed(p, files->managed, err);
}

void policy_apply_managed(struct policy *p)
{
	if (p->managed_domains_only)
		keep_managed_domains(p);
	if (p->managed_read_only)
		keep_managed_reads(p);
}

void policy_use_config(struct policy *p, const char *config)
{
	const char *why;

	p->config = xstrdup(config);
	p->trusted = trust_read(config, &why);
	if (why)
		policy_warn(p, "%s/" TRUST_FILE ": %s, so no project's file is trusted", config, why);
}
