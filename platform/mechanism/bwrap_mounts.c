#include "platform/mechanism/bwrap_mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/mechanism/pattern_matches.h"

struct mounts { struct bwrap_mount *v; size_t n, cap; };

void bwrap_mounts_free(struct bwrap_mount *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(m[i].path);
	free(m);
}

/* bwrap makes these two anew. */
static bool is_fresh(const char *path)
{
	return path_under(path, "/proc") || path_under(path, "/dev");
}

bool bwrap_can_hide(const struct host *h, const char *path)
{
	struct stat st;
	if (path_under(path, "/proc") || lstat(path, &st) < 0)
		return false;
	/* another's file that permissions refuse: the command has no way to change that */
	return h->root || st.st_uid == geteuid() || access(path, R_OK) == 0 || (S_ISDIR(st.st_mode) && access(path, X_OK) == 0);
}

static bool is_root_of(const struct rule *r, const char *path)
{
	_cleanup_free_ char *dir = pattern_root(r);
	return r->pattern ? dir && path_under(path, dir) : path_under(path, r->path);
}

static bool under_write_root(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == RULE_ALLOW_WRITE && is_root_of(&p->rules[i], path))
			return true;
	return false;
}

bool bwrap_cannot_appear(const struct policy *p, const char *path)
{
	_cleanup_free_ char *parent = xstrdup(path);
	struct stat st;
	for (char *slash; (slash = strrchr(parent, '/')) && slash != parent;) {
		*slash = '\0';
		if (lstat(parent, &st) == 0)
			break;
	}
	return !under_write_root(p, parent);
}

/* ---- candidates ---- */

static void add(struct mounts *list, const char *path)
{
	struct stat st;
	if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode) || strcmp(path, "/") == 0)
		return;
	if (list->n == list->cap)
		list->v = xreallocarray(list->v, list->cap = list->cap ? list->cap * 2 : 64, sizeof *list->v);
	list->v[list->n++] = (struct bwrap_mount){
		.path = xstrdup(path), .dir = S_ISDIR(st.st_mode), .device = path_under(path, "/dev") && !S_ISDIR(st.st_mode),
	};
}

static void add_found(void *list, const char *path)
{
	add(list, path);
}

/* A protected name where it exists in a directory that is old by now: cwd and the repositories found. */
static void add_protected(struct mounts *list, const struct policy *p, const struct rule *r)
{
	const char *tail = strncmp(r->path, "/**/", 4) == 0 ? r->path + 4 : NULL;
	if (!tail || strpbrk(tail, "*?[\\"))
		return;
	for (size_t i = 0; i <= p->listed.n; i++) {
		_cleanup_free_ char *path = strf("%s/%s", i ? p->listed.v[i - 1] : p->cwd, tail);
		add(list, path);
	}
}

/* Which names it will match nobody knows yet: what it could reach is writable, and the next mechanism holds the rest. */
static void add_writable(struct mounts *list, const struct rule *r)
{
	_cleanup_free_ char *dir = pattern_root(r);
	size_t before = list->n;
	if (dir && !is_fresh(dir))
		add(list, dir);
	if (list->n > before)
		list->v[before].forced = true;
}

static void add_rule(struct mounts *list, const struct launch *l, const struct rule *r)
{
	switch (r->kind) {
	case RULE_ALLOW_WRITE:
		if (r->pattern) {
			add_writable(list, r);
			pattern_hidden_matches(l->policy, r, add_found, list); /* what may be written may be read */
		}
		/* the default devices are those of a fresh /dev, and its shm is private */
		if (!r->pattern && !(r->layer == LAYER_DEFAULT && is_fresh(r->path)) && !path_under(r->path, "/proc"))
			add(list, r->path);
		break;
	case RULE_DENY_READ:
		if (!r->pattern && bwrap_can_hide(l->host, r->path))
			add(list, r->path);
		break;
	case RULE_DENY_WRITE:
		if (!r->pattern && !is_fresh(r->path))
			add(list, r->path);
		break;
	case RULE_DENY_EXEC:
		if (!r->pattern && bwrap_can_hide(l->host, r->path))
			add(list, r->path);
		break;
	case RULE_ALLOW_READ:
		if (r->pattern)
			pattern_hidden_matches(l->policy, r, add_found, list);
		else
			add(list, r->path);
		break;
	case RULE_PROTECT_NAME:
		add_protected(list, l->policy, r);
		break;
	default:
		break;
	}
}

/* What contains goes first: '/' before any other byte. */
static int by_path(const void *a, const void *b)
{
	const unsigned char *x = (const void *)((const struct bwrap_mount *)a)->path, *y = (const void *)((const struct bwrap_mount *)b)->path;
	while (*x && *x == *y) {
		x++;
		y++;
	}
	return (*x == '/' ? 1 : *x ? *x + 1 : 0) - (*y == '/' ? 1 : *y ? *y + 1 : 0);
}

/* ---- what the policy says about each ---- */

static bool allowed(const struct image *img, enum access access, const char *path)
{
	struct verdict v;
	policy_decide(img, access, path, strlen(path), &v);
	return v.outcome == OUTCOME_ALLOW;
}

/* A file that may not be run is hidden: what can be read can be run by way of a copy or of the loader. */
static void decide(const struct launch *l, struct bwrap_mount *m)
{
	m->read = allowed(l->image, ACCESS_READ, m->path) && (m->dir || allowed(l->image, ACCESS_EXEC, m->path) || l->policy->exec_outside_roots);
	struct verdict v;
	policy_decide(l->image, ACCESS_WRITE, m->path, strlen(m->path), &v);
	m->write = v.outcome == OUTCOME_ALLOW || (m->forced && v.rule == IMAGE_NONE);
}

/* Drops repeats, and what says the same as the nearest mount around it. Marks hidden directories that hold something visible. */
static size_t reduce(struct bwrap_mount *v, size_t n)
{
	const struct bwrap_mount ground = { .read = true };
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		const struct bwrap_mount *around = &ground;
		struct bwrap_mount *hidden = NULL;
		for (size_t j = kept; j-- > 0;)
			if (path_under(v[i].path, v[j].path)) {
				around = &v[j];
				hidden = v[j].read ? NULL : &v[j];
				break;
			}
		/* what is hidden cannot be written either */
		bool same = v[i].read == around->read && (v[i].write == around->write || !v[i].read);
		bool again = around != &ground && strcmp(around->path, v[i].path) == 0;
		if (again && v[i].write)
			v[kept - 1].write = true;
		if (same || again) {
			free(v[i].path);
			continue;
		}
		if (hidden)
			hidden->holds_more = true;
		v[kept++] = v[i];
	}
	return kept;
}

void bwrap_mounts(const struct launch *l, struct bwrap_mount **ret, size_t *ret_n)
{
	struct mounts list = { 0 };
	for (size_t i = 0; i < l->policy->n_rules; i++)
		add_rule(&list, l, &l->policy->rules[i]);
	if (l->session.top) {
		add(&list, l->session.top);
		add(&list, l->session.tmpdir);
	}
	for (size_t i = 0; i < list.n; i++)
		decide(l, &list.v[i]);
	if (list.n)
		qsort(list.v, list.n, sizeof *list.v, by_path);
	*ret_n = reduce(list.v, list.n);
	*ret = list.v;
}
