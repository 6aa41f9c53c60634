/* From the text of an entry to a rule: symlinks, and what must warn or stop. The contract is in policy.h, patterns in patterns.c. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/paths.h"
#include "platform/policy/rules_private.h"

enum { REAL_DIRS_MAX = 48 }; /* a look through them must stay cheaper than a system call */

bool rule_kind_denies(enum rule_kind kind)
{
	return kind == RULE_DENY_WRITE || kind == RULE_DENY_DELETE || kind == RULE_DENY_READ || kind == RULE_DENY_EXEC ||
	       kind == RULE_PROTECT_NAME;
}

static enum guarantee kind_guarantee(enum rule_kind kind, bool pattern)
{
	switch (kind) {
	case RULE_DENY_WRITE:
	case RULE_DENY_DELETE:   return pattern ? G_fs_write_names : G_fs_write_deny;
	case RULE_PROTECT_NAME:  return G_fs_write_names;
	case RULE_ALLOW_READ:
	case RULE_DENY_READ:     return pattern ? G_fs_read_names : G_fs_read_deny;
	case RULE_DENY_EXEC:
	case RULE_GRANT_EXEC:    return G_fs_exec;
	case RULE_ALLOW_SOCKET:  return G_net_unix;
	case RULE_NET:           return G_net_egress;
	case RULE_ENV:           return G_env_secrets;
	case RULE_SESSION:       return G_proc_lifetime;
	default:                 return G_fs_write;
	}
}

/* ---- names without case ---- */

/* Only WSL mounts Windows drives, and its kernels say so in their release. */
static void find_icase_mounts(struct policy *p)
{
	_cleanup_free_ char *mounts = NULL;
	struct utsname name;
	size_t len;

	p->icase_known = true;
	if (uname(&name) < 0 || (!strstr(name.release, "icrosoft") && !strstr(name.version, "icrosoft")))
		return;
	if (read_file("/proc/self/mounts", 1 << 20, &mounts, &len) >= 0)
		path_icase_mounts(mounts, &p->icase_mounts);
}

static bool on_icase_mount(struct policy *p, const char *path)
{
	if (!p->icase_known)
		find_icase_mounts(p);
	for (size_t i = 0; i < p->icase_mounts.n; i++)
		if (path_under(path, p->icase_mounts.v[i]))
			return true;
	return false;
}

/* ---- symlinks, with a memory ---- */

static size_t known_prefix(const struct policy *p, const char *path)
{
	size_t best = 0;

	for (size_t i = 0; i < p->real_dirs.n; i++) {
		size_t n = strlen(p->real_dirs.v[i]);

		if (n > best && path_under(path, p->real_dirs.v[i]))
			best = n;
	}
	return best;
}

static void remember_real(struct policy *p, const char *path, size_t n)
{
	_cleanup_free_ char *dir = NULL;

	if (n < 2 || p->real_dirs.n >= REAL_DIRS_MAX)
		return;
	dir = strndup(path, n);
	if (dir && !strv_has(&p->real_dirs, dir))
		strv_add(&p->real_dirs, dir);
}

int rule_resolve(struct policy *p, const char *absolute, char **ret, bool *ret_exists)
{
	size_t real = 0;
	int r = path_resolve_below(absolute, known_prefix(p, absolute), ret, ret_exists, &real);

	if (r == 0)
		remember_real(p, *ret, real);
	return r;
}

/* ---- the list ---- */

void policy_forget_index(struct policy *p)
{
	free(p->index_heads);
	free(p->index_next);
	p->index_heads = p->index_next = NULL;
	p->index_size = p->indexed = 0;
}

static uint32_t *head_of(const struct policy *p, const char *path)
{
	return &p->index_heads[image_hash(path, strlen(path)) & (p->index_size - 1)];
}

/* Files may have thousands of entries, so a new one is not compared with each. */
static void index_rules(struct policy *p)
{
	if (p->n_rules * 2 >= p->index_size || p->indexed > p->n_rules) {
		const size_t size = p->index_size ? p->index_size * 4 : 1024;

		policy_forget_index(p);
		for (p->index_size = size; p->index_size <= p->n_rules * 2;)
			p->index_size *= 4;
		p->index_heads = xreallocarray(NULL, p->index_size, sizeof(*p->index_heads));
		p->index_next = xreallocarray(NULL, p->index_size, sizeof(*p->index_next));
		memset(p->index_heads, 0xff, p->index_size * sizeof(*p->index_heads));
	}
	for (; p->indexed < p->n_rules; p->indexed++) {
		const char *path = p->rules[p->indexed].path;
		uint32_t *head = path ? head_of(p, path) : NULL;

		if (!head)
			continue;
		p->index_next[p->indexed] = *head;
		*head = (uint32_t)p->indexed;
	}
}

const struct rule *rule_find_literal(struct policy *p, enum rule_kind kind, const char *path, size_t len)
{
	_cleanup_free_ char *text = strndup(path, len);

	index_rules(p);
	for (uint32_t i = *head_of(p, text); i != IMAGE_NONE; i = p->index_next[i])
		if (p->rules[i].kind == kind && !p->rules[i].pattern && !strcmp(p->rules[i].path, text))
			return &p->rules[i];
	return NULL;
}

/* Two ways to one file are two rules: the link of the second one may not be replaced either. */
static bool same_spelling(const struct rule *r, const struct rule *new)
{
	return !new->written || (r->written && !strcmp(r->written, new->written));
}

/* Repeats change nothing. */
static bool have_rule(struct policy *p, const struct rule *new)
{
	index_rules(p);
	for (uint32_t i = *head_of(p, new->path); i != IMAGE_NONE; i = p->index_next[i]) {
		const struct rule *r = &p->rules[i];

		if (r->kind == new->kind && r->layer >= new->layer && (!r->untrusted || new->untrusted) &&
		    r->pattern == new->pattern && r->icase == new->icase && !strcmp(r->path, new->path) && same_spelling(r, new))
			return true;
	}
	return false;
}

static void append(struct policy *p, const struct rule *r)
{
	if (p->n_rules == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 128;
		p->rules = xreallocarray(p->rules, p->cap, sizeof(*p->rules));
	}
	p->rules[p->n_rules++] = *r;
}

int rule_too_long(const struct entry *e)
{
	return err_set(e->err, -ENAMETOOLONG, "%s: the path, or a name in it, is too long (the limit is %d bytes): '%.60s...'", e->origin,
		       RULE_PATH_MAX, e->text);
}

int rule_append(const struct entry *e, char *path, char *written, bool pattern)
{
	struct rule r = {
		.kind = e->kind, .guarantee = kind_guarantee(e->kind, pattern), .layer = e->layer, .pattern = pattern,
		.icase = (e->flags & ADD_ICASE) || on_icase_mount(e->p, path), .path = path, .written = written,
		.untrusted = e->flags & ADD_UNTRUSTED,
	};

	if (strlen(path) > RULE_PATH_MAX) {
		int code = rule_too_long(e);

		free(path);
		free(written);
		return code;
	}
	if (have_rule(e->p, &r)) {
		free(path);
		free(written);
		return 1;
	}
	r.text = xstrdup(e->text);
	r.origin = xstrdup(e->origin);
	append(e->p, &r);
	return 1;
}

/* ---- what may go wrong ---- */

int rule_no_home(const struct entry *e)
{
	if (e->layer == LAYER_DEFAULT)
		return 0;
	return err_set(e->err, -EINVAL, "%s: '%s' needs a home directory, and HOME is not set", e->origin, e->text);
}

static int does_nothing(const struct entry *e, const char *why)
{
	if (e->layer != LAYER_DEFAULT)
		policy_warn(e->p, "%s: '%s' %s; the entry is ignored", e->origin, e->text, why);
	return 0;
}

/* What somebody typed for this very run must hold or stop it. */
static bool on_command_line(const struct entry *e)
{
	return e->layer == LAYER_FLAGS && !(e->flags & ADD_OF_FILE);
}

static int link_cycle(const struct entry *e, const char *absolute)
{
	/* A built-in rule names a file that the user did not think of; the kernel refuses to follow the cycle as well. */
	if (e->layer == LAYER_DEFAULT)
		return rule_kind_denies(e->kind) ? rule_append(e, xstrdup(absolute), NULL, false) : 0;
	if (!rule_kind_denies(e->kind) && !on_command_line(e))
		return does_nothing(e, "is a cycle of symbolic links");
	return err_set(e->err, -ELOOP, "%s: '%s' is a cycle of symbolic links", e->origin, e->text);
}

static int missing_root(const struct entry *e, const char *absolute)
{
	if (!on_command_line(e))
		return does_nothing(e, "does not exist");
	err_set(e->err, -ENOENT, "%s: '%s' does not exist", e->origin, e->text);
	err_hint(e->err, "make it first: mkdir -p '%s'", absolute);
	return -ENOENT;
}

/*
 * A root that a symlink takes elsewhere would open what nobody named: the target is chosen by whoever may write the
 * directory that the link stands in. For a relative root that is every link below its base.
 */
static bool leaves(const struct entry *e, const char *dir, const char *resolved)
{
	_cleanup_free_ char *real = NULL;
	bool exists;

	return rule_resolve(e->p, dir, &real, &exists) < 0 || !path_under(resolved, real);
}

static bool leaves_its_place(const struct entry *e, const char *absolute, const char *resolved)
{
	const bool relative = e->stripped[0] != '/' && e->stripped[0] != '~';
	_cleanup_free_ char *parent = NULL;

	if (!strcmp(absolute, resolved))
		return false;
	if (relative && path_under(absolute, e->base) && leaves(e, e->base, resolved))
		return true;
	parent = xstrdup(absolute);
	*strrchr(parent, '/') = '\0';
	return *parent && leaves(e, parent, resolved);
}

/* ---- literal paths ---- */

/* "link/../x" is a sibling of the link's target for the kernel, and of the link for who reads the text. */
static int resolve_as_kernel(const struct entry *e, const char *absolute, char **ret, bool *ret_exists)
{
	_cleanup_free_ char *raw = NULL;
	int r;

	if (!strstr(e->stripped, "..") || e->stripped[0] == '~')
		return rule_resolve(e->p, absolute, ret, ret_exists);
	raw = e->stripped[0] == '/' ? xstrdup(e->stripped) : strf("%s/%s", e->base, e->stripped);
	r = rule_resolve(e->p, raw, ret, ret_exists);
	if (r < 0 || *ret_exists)
		return r;
	free(*ret);
	return rule_resolve(e->p, absolute, ret, ret_exists);
}

/* /proc/self is whoever asks: resolved here, it would name hurdle. */
static bool names_the_asker(const char *absolute)
{
	return path_under(absolute, "/proc/self") || path_under(absolute, "/proc/thread-self");
}

/* Sockets below a write root may be connected to as well. */
static void warn_of_engine(const struct entry *e, const char *absolute, const char *resolved)
{
	if (e->layer == LAYER_DEFAULT || (e->kind != RULE_ALLOW_SOCKET && e->kind != RULE_ALLOW_WRITE))
		return;
	if (path_opens_container_engine(absolute) || path_opens_container_engine(resolved))
		policy_warn(e->p, "%s: '%s' opens the socket of a container engine: who may talk to it is root on this host, outside every rule",
			    e->origin, e->text);
}

int rule_add_literal(const struct entry *e)
{
	_cleanup_free_ char *absolute = path_absolute(e->stripped, e->base, e->p->home);
	_cleanup_free_ char *resolved = NULL;
	bool exists = false, differs;
	int r;

	if (!absolute)
		return rule_no_home(e);
	if (names_the_asker(absolute))
		return does_nothing(e, "means another file in each process; name it as /proc/*/...");
	r = resolve_as_kernel(e, absolute, &resolved, &exists);
	if (r == -ELOOP)
		return link_cycle(e, absolute);
	if (r < 0)
		return rule_too_long(e);
	if (e->kind == RULE_ALLOW_WRITE && !exists)
		return missing_root(e, absolute);
	if (e->kind == RULE_ALLOW_WRITE && e->layer != LAYER_DEFAULT && leaves_its_place(e, absolute, resolved))
		return does_nothing(e, "is a symbolic link that leads out of the directory it stands in");
	warn_of_engine(e, absolute, resolved);
	differs = strcmp(absolute, resolved) != 0;
	return rule_append(e, TAKE_PTR(resolved), differs ? TAKE_PTR(absolute) : NULL, false);
}

static int add_entry(const struct entry *e)
{
	const char *s = e->stripped;

	if (s[0] == '~' && s[1] != '/' && s[1] != '\0') {
		err_set(e->err, -EINVAL, "%s: '%s': other users' home directories are not looked up", e->origin, e->text);
		err_hint(e->err, "write the path in full, or ./%s for a file of that name", s);
		return -EINVAL;
	}
	if (e->kind != RULE_PROTECT_NAME && ((e->flags & ADD_LITERAL) || !path_is_pattern(s)))
		return rule_add_literal(e);
	return rule_add_pattern(e);
}

int policy_add(struct policy *p, enum rule_kind kind, enum layer layer, const char *text, const char *base, unsigned flags,
	       const char *origin, struct err *err)
{
	struct entry e = {
		.p = p, .kind = kind, .layer = layer, .text = text, .base = base ? base : p->cwd, .origin = origin, .flags = flags, .err = err,
	};
	int r;

	if (!text || !*text)
		return err_set(err, -EINVAL, "%s: the path is empty", origin);
	if (strlen(text) > RULE_PATH_MAX)
		return rule_too_long(&e);
	e.stripped = path_strip(text, flags & ADD_LITERAL);
	r = add_entry(&e);
	free(e.stripped);
	return r;
}

void policy_add_exact(struct policy *p, enum rule_kind kind, enum layer layer, const char *path, const char *origin)
{
	struct rule r = {
		.kind = kind, .guarantee = kind_guarantee(kind, false), .layer = layer, .icase = on_icase_mount(p, path),
		.text = xstrdup(path), .path = xstrdup(path), .origin = xstrdup(origin),
	};

	append(p, &r);
}
