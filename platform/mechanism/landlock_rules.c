#include "platform/mechanism/landlock_rules.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/mechanism/pattern_matches.h"

/* ---- rights ---- */

uint64_t landlock_write_handled(int abi)
{
	/* making devices is handled, and granted to nobody */
	uint64_t rights = LL_WRITE_FILE | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_MAKE_CHAR | LL_MAKE_DIR | LL_MAKE_REG | LL_MAKE_SOCK | LL_MAKE_FIFO |
			  LL_MAKE_BLOCK | LL_MAKE_SYM;
	rights |= abi >= LL_ABI_REFER ? LL_REFER : 0;
	rights |= abi >= LL_ABI_TRUNCATE ? LL_TRUNCATE : 0;
	rights |= abi >= LL_ABI_IOCTL_DEV ? LL_IOCTL_DEV : 0;
	return rights;
}

/* What may be read may be run: who runs a file has its bytes. Listing is not handled: it would be refused on the whole way down. */
static const uint64_t reading = LL_READ_FILE | LL_EXECUTE;

uint64_t landlock_granted(const struct landlock_rules *r, enum grant_kind kind, bool dir)
{
	uint64_t rights = kind == GRANT_READ ? reading : r->handled & ~(LL_MAKE_CHAR | LL_MAKE_BLOCK);
	return rights & r->handled & (dir ? ~UINT64_C(0) : LL_OF_FILES);
}

char *landlock_right_names(uint64_t rights)
{
	static const char *const names[] = { "execute", "write-file", "read-file", "read-dir", "remove-dir", "remove-file", "make-char", "make-dir",
					     "make-reg", "make-sock", "make-fifo", "make-block", "make-sym", "refer", "truncate", "ioctl-dev" };
	struct str s = STR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (rights >> i & 1)
			str_addf(&s, "%s%s", s.len ? " " : "", names[i]);
	return str_take(&s);
}

static void grant(struct landlock_rules *r, enum grant_kind kind, const char *path)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 64;
		r->grants = xreallocarray(r->grants, r->cap, sizeof *r->grants);
	}
	r->grants[r->n++] = (struct landlock_grant){ xstrdup(path), kind };
}

/* ---- the policy's word ---- */

static bool allowed(const struct image *img, enum access access, const char *path)
{
	struct verdict v;
	policy_decide(img, access, path, strlen(path), &v);
	return v.outcome == OUTCOME_ALLOW;
}

bool landlock_under_root(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		_cleanup_free_ char *dir = pattern_root(r);
		if (dir && path_under(path, dir))
			return true;
		if ((r->kind == RULE_ALLOW_WRITE || r->kind == RULE_TMPDIR) && !r->pattern && path_under(path, r->path))
			return true;
	}
	return false;
}

/* ---- writing ---- */

/* Which names a pattern will match nobody knows yet: what it could reach is granted, and the next mechanism holds the rest. */
static void add_pattern_root(const struct image *img, const struct rule *rule, struct landlock_rules *r)
{
	_cleanup_free_ char *dir = pattern_root(rule);
	struct verdict v = { 0 };
	if (!dir)
		return;
	policy_decide(img, ACCESS_WRITE, dir, strlen(dir), &v);
	/* who may write may read there, by Landlock */
	if ((v.outcome == OUTCOME_ALLOW || v.rule == IMAGE_NONE) && allowed(img, ACCESS_READ, dir))
		grant(r, GRANT_OPTIONAL, dir);
}

static void add_roots(const struct policy *p, const struct image *img, struct landlock_rules *r)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *rule = &p->rules[i];
		bool root = rule->kind == RULE_ALLOW_WRITE || rule->kind == RULE_TMPDIR;
		if (root && rule->pattern)
			add_pattern_root(img, rule, r);
		if (!root || rule->pattern || !allowed(img, ACCESS_WRITE, rule->path))
			continue;
		grant(r, rule->layer != LAYER_DEFAULT ? GRANT_WRITE : path_under(rule->path, "/dev") ? GRANT_OPTIONAL : GRANT_CACHE, rule->path);
	}
}

/* ---- reading: the paths that rules name ---- */

struct spot { char *path; bool denied; };
struct spots { struct spot *v; size_t n, cap; };

/* The root is "", so that every path below is its own and a slash. */
static void add_spot(struct spots *s, const char *path, bool denied)
{
	path = strcmp(path, "/") == 0 ? "" : path;
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 64;
		s->v = xreallocarray(s->v, s->cap, sizeof *s->v);
	}
	s->v[s->n++] = (struct spot){ xstrdup(path), denied };
}

/* A file of another that permissions refuse: the command has no way to change that. */
static bool refused_anyway(const struct stat *st, const char *path, bool root)
{
	return !root && st->st_uid != geteuid() && access(path, R_OK) < 0 && (!S_ISDIR(st->st_mode) || access(path, X_OK) < 0);
}

static bool is_empty(const char *dir)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	size_t n = 0;
	while (d && n <= 2 && readdir(d))
		n++;
	return d && n <= 2;
}

/* An empty directory (/etc/apt/auth.conf.d) is as good as none, and not worth all that stands beside it. */
static bool can_deny(const struct policy *p, const char *path, const struct stat *st, bool root)
{
	if (S_ISLNK(st->st_mode) || path_under(path, "/proc") || landlock_under_root(p, path) || refused_anyway(st, path, root))
		return false;
	return !S_ISDIR(st->st_mode) || !is_empty(path);
}

static void add_path(struct spots *s, const struct policy *p, const struct image *img, const char *path, bool root)
{
	struct stat st;
	if (lstat(path, &st) < 0)
		return;
	/* what can be read can be run, by way of a copy or of the loader */
	bool denied = !allowed(img, ACCESS_READ, path) || (S_ISREG(st.st_mode) && !p->exec_outside_roots && !allowed(img, ACCESS_EXEC, path));
	if (!denied || can_deny(p, path, &st, root))
		add_spot(s, path, denied);
}

struct found { struct spots *spots; const struct policy *p; const struct image *img; bool root; };

static void add_found(void *data, const char *path)
{
	const struct found *f = data;
	add_path(f->spots, f->p, f->img, path, f->root);
}

/* What lies below a path comes right behind it: '/' before any other byte. */
static int compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	const int x = *a == '/' ? 1 : *a ? (unsigned char)*a + 1 : 0, y = *b == '/' ? 1 : *b ? (unsigned char)*b + 1 : 0;
	return x - y;
}

static int by_path(const void *a, const void *b)
{
	return compare(((const struct spot *)a)->path, ((const struct spot *)b)->path);
}

static void collect_spots(struct spots *s, const struct policy *p, const struct image *img, bool root)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		bool wanted = r->kind == RULE_DENY_READ || r->kind == RULE_ALLOW_READ || r->kind == RULE_ALLOW_WRITE || r->kind == RULE_DENY_EXEC ||
			      r->kind == RULE_INTERNAL || r->kind == RULE_TMPDIR;
		if (wanted && !r->pattern)
			add_path(s, p, img, r->path, root);
		else if (r->kind == RULE_ALLOW_READ || r->kind == RULE_ALLOW_WRITE)
			pattern_hidden_matches(p, r, add_found, &(struct found){ s, p, img, root });
	}
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, by_path);
}

/* ---- reading: the walk ---- */

struct walk { const struct spots *spots; struct landlock_rules *to; };
struct range { size_t first, end; };

static bool lies_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

static size_t first_from(const struct spots *s, struct range in, const char *path)
{
	while (in.first < in.end) {
		size_t middle = in.first + (in.end - in.first) / 2;
		if (compare(s->v[middle].path, path) < 0)
			in.first = middle + 1;
		else
			in.end = middle;
	}
	return in.first;
}

static bool any(const struct spots *s, struct range in, bool denied)
{
	for (size_t i = in.first; i < in.end; i++)
		if (s->v[i].denied == denied)
			return true;
	return false;
}

static void visit(struct walk *w, struct range in, const char *path, bool denied);

/* What rules name below dir, and nothing else of it. */
static void visit_named(struct walk *w, struct range in, const char *dir, bool denied)
{
	size_t n = strlen(dir) + 1;
	for (size_t i = in.first; i < in.end;) {
		const char *path = w->spots->v[i].path;
		_cleanup_free_ char *child = strf("%.*s", (int)(n + strcspn(path + n, "/")), path);
		visit(w, in, child, denied);
		while (i < in.end && (strcmp(w->spots->v[i].path, child) == 0 || lies_below(w->spots->v[i].path, child)))
			i++;
	}
}

/* Symlinks are nothing to grant: what they lead to stands elsewhere. -EMFILE: too many entries, -errno: cannot be listed. */
static int list_entries(const char *dir, struct strv *ret)
{
	_cleanup_closedir_ DIR *d = opendir(*dir ? dir : "/");
	if (!d)
		return -errno;
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_type == DT_LNK || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (ret->n == LANDLOCK_CROWD)
			return -EMFILE;
		strv_add(ret, e->d_name);
	}
	return 0;
}

static void visit_entries(struct walk *w, struct range in, const char *dir)
{
	struct strv names = { 0 };
	int r = list_entries(dir, &names);
	if (r == -EMFILE) {
		grant(w->to, GRANT_READ, dir);
		strv_add(&w->to->crowded, dir);
	} else if (r < 0) {
		/* who lies beside the denied one is not known, so nobody there is granted but whom a rule names */
		visit_named(w, in, dir, false);
	}
	for (size_t i = 0; i < names.n && r == 0; i++) {
		_cleanup_free_ char *path = strf("%s/%s", dir, names.v[i]);
		visit(w, in, path, false);
	}
	strv_free(&names);
}

static void visit(struct walk *w, struct range in, const char *path, bool denied)
{
	const struct spots *s = w->spots;
	struct range inside = { first_from(s, in, path), 0 };
	for (; inside.first < in.end && strcmp(s->v[inside.first].path, path) == 0; inside.first++)
		denied = s->v[inside.first].denied;
	for (inside.end = inside.first; inside.end < in.end && lies_below(s->v[inside.end].path, path);)
		inside.end++;
	if (denied && any(s, inside, false))
		visit_named(w, inside, path, true);
	else if (!denied && any(s, inside, true))
		visit_entries(w, inside, path);
	else if (!denied)
		grant(w->to, GRANT_READ, path);
}

static void add_reading(const struct policy *p, const struct image *img, bool root, struct landlock_rules *r)
{
	struct spots spots = { 0 };
	collect_spots(&spots, p, img, root);
	struct walk w = { &spots, r };
	struct range all = { 0, spots.n };
	if (any(&spots, all, true)) {
		r->handled |= reading;
		visit(&w, all, "", false);
	}
	for (size_t i = 0; i < spots.n; i++)
		free(spots.v[i].path);
	free(spots.v);
}

enum landlock_read landlock_read_state(const struct landlock_rules *r, const struct policy *p, const char *path)
{
	struct stat st;
	if (path_under(path, "/proc") || landlock_under_root(p, path))
		return LANDLOCK_READ_NOT;
	for (size_t i = 0; i < r->crowded.n; i++)
		if (path_under(path, *r->crowded.v[i] ? r->crowded.v[i] : "/"))
			return LANDLOCK_READ_NOT;
	return lstat(path, &st) < 0 || (S_ISDIR(st.st_mode) && is_empty(path)) ? LANDLOCK_READ_ABSENT : LANDLOCK_READ_HELD;
}

/* ---- all of it ---- */

int landlock_rules_make(const struct policy *p, const struct landlock_terms *t, struct landlock_rules *ret)
{
	*ret = (struct landlock_rules){ 0 };
	if (t->abi >= LL_ABI_SCOPE)
		ret->scoped = LL_SCOPE_SIGNAL | (p->unix_open ? 0 : LL_SCOPE_ABSTRACT_UNIX);
	if (t->walls)
		return 0;
	_cleanup_free_ struct image *img = NULL;
	size_t size;
	int r = policy_compile(p, &(struct image_options){ 0 }, &img, &size, NULL);
	if (r < 0)
		return r;
	ret->handled = landlock_write_handled(t->abi);
	add_roots(p, img, ret);
	add_reading(p, img, t->root, ret);
	return 0;
}

void landlock_rules_release(struct landlock_rules *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->grants[i].path);
	free(r->grants);
	strv_free(&r->crowded);
	*r = (struct landlock_rules){ 0 };
}
