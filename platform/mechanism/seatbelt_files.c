/*
 * The file rules of the profile. Reading is one nested filter, made from the least specific rules to the most specific, since there the
 * deepest match decides. Writing is a sequence in which the last match decides. Every operation that is named beside its family
 * (file-write-unlink beside file-write*) has a sequence of its own that is complete, so that it does not matter whether the family's
 * rules count for it as well.
 *
 * What moves are: the name is unlinked (file-write-unlink) and made (file-write-create), and the profile cannot see both at once. So a
 * name on the way to what is denied is neither removed nor, where what lies below must not be written, made.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/mechanism/seatbelt.h"

/* Deeper than this, an allowRead by pattern no longer beats a denyRead by pattern. */
enum { READ_LEVELS = 20 };

enum { LAYER_OWN = LAYER_COUNT }; /* of the session's temporary directory: above every rule of the user's at the same place */

/* A rule that names files. Rules of one policy may become several: other spellings, and what widens a tree. */
struct place {
	enum rule_kind kind;
	int layer;
	bool pattern, icase;
	bool in_roots;       /* only where the command may write */
	char *path;          /* owned */
	unsigned depth;      /* components of the shortest match */
	bool variable;       /* there are longer ones */
	unsigned said;       /* read_levels: how many steps of the other kind there were when it was said last */
};

struct files {
	const struct policy *policy;
	const struct seatbelt_options *options;
	struct place *places;
	size_t n, cap;
	struct str *to;
};

/* ---- the list ---- */

static bool denies_writing(enum rule_kind k)
{
	return k == RULE_DENY_WRITE || k == RULE_DENY_DELETE;
}

static void add_place(struct files *f, struct place p, const char *path, size_t len)
{
	if (f->n == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 256;
		f->places = xreallocarray(f->places, f->cap, sizeof *f->places);
	}
	p.path = strf("%.*s", (int)len, path);
	if (p.pattern) {
		p.depth = seatbelt_glob_depth(p.path, &p.variable);
	} else {
		for (const char *s = p.path; *s; s++)
			p.depth += s[0] == '/' && s[1] && s[1] != '/';
	}
	f->places[f->n++] = p;
}

/* /tmp, /var and /etc are links into /private there; the kernel asks about what they lead to. */
static void add_spellings(struct files *f, struct place p, const char *path)
{
	static const char *const linked[] = { "/tmp", "/var", "/etc" };
	const bool private = strncmp(path, "/private/", 9) == 0;
	const char *s = private ? path + 8 : path;
	add_place(f, p, path, strlen(path));
	for (size_t i = 0; i < ARRAY_SIZE(linked); i++) {
		if (strncmp(s, linked[i], 4) != 0 || (s[4] && s[4] != '/'))
			continue;
		_cleanup_free_ char *other = private ? xstrdup(s) : strf("/private%s", s);
		add_place(f, p, other, strlen(other));
	}
}

/*
 * A directory may be moved out of "/p" with files that match "/p/[two stars]/x" in it; so the end of such a pattern holds in every place
 * that the directory could be moved to. Not an end of nothing but stars: it matches the directory as well, which then stays.
 */
static void add_widened(struct files *f, struct place p, const char *path)
{
	const char *tail = NULL;
	for (const char *s = path; (s = strstr(s, "/**/")); s += 3)
		if (s[strspn(s, "/*")])
			tail = s;
	if (!tail || tail == path)
		return;
	p.in_roots = true;
	add_place(f, p, tail, strlen(tail));
}

static bool has_files(const struct rule *r)
{
	/* there is no /proc */
	return r->path && r->kind <= RULE_TMPDIR && !path_under(r->path, "/proc");
}

static void add_rule(struct files *f, const struct rule *r)
{
	struct place p = { .kind = r->kind, .layer = (int)r->layer, .pattern = r->pattern, .icase = r->icase };
	const bool denies = r->kind == RULE_DENY_READ || r->kind == RULE_DENY_EXEC || denies_writing(r->kind);
	if (r->kind == RULE_PROTECT_NAME)
		p.pattern = true;
	if (r->kind == RULE_TMPDIR)
		p.layer = LAYER_OWN;
	p.icase |= f->options->any_case && denies_writing(r->kind);
	add_spellings(f, p, r->path);
	if (denies && r->written)
		add_spellings(f, p, r->written);
	if (denies && r->pattern && r->kind != RULE_DENY_EXEC) /* a copy of a program runs as well as one that was moved */
		add_widened(f, p, r->path);
}

static void files_release(struct files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->places[i].path);
	free(f->places);
}

/* ---- filters ---- */

static char *path_filter(const struct place *p, enum seatbelt_tail tail)
{
	struct str s = STR_INIT, regex = STR_INIT;
	if (!p->icase && tail != SEATBELT_BELOW) {
		str_add(&s, tail == SEATBELT_AT ? "(literal " : "(subpath ");
		seatbelt_add_string(&s, p->path, strlen(p->path));
	} else {
		seatbelt_add_path_regex(&regex, p->path, p->icase, tail);
		str_add(&s, "(regex ");
		seatbelt_add_string(&s, regex.s, regex.len);
	}
	str_add(&s, ")");
	str_free(&regex);
	return str_take(&s);
}

static char *glob_filter(const struct place *p, enum seatbelt_tail tail, unsigned at_least, unsigned way)
{
	const struct seatbelt_glob g = {
		.text = p->path, .icase = p->icase, .ordinary = p->kind == RULE_PROTECT_NAME, .at_least = at_least, .way = way, .tail = tail,
	};
	struct str s = STR_INIT, regex = STR_INIT;
	seatbelt_add_glob_regex(&regex, &g);
	str_add(&s, "(regex ");
	seatbelt_add_string(&s, regex.s, regex.len);
	str_add(&s, ")");
	str_free(&regex);
	return str_take(&s);
}

static void add_owned(struct strv *to, char *filter)
{
	strv_add(to, filter);
	free(filter);
}

static void add_filter(struct strv *to, const struct place *p, enum seatbelt_tail tail)
{
	add_owned(to, p->pattern ? glob_filter(p, tail, 0, 0) : path_filter(p, tail));
}

static void add_all(const struct files *f, struct strv *to, enum rule_kind kind, enum seatbelt_tail tail)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->places[i].kind == kind && !f->places[i].in_roots)
			add_filter(to, &f->places[i], tail);
}

static char *join(const char *word, const struct strv *filters)
{
	struct str s = STR_INIT;
	str_addf(&s, "(%s", word);
	for (size_t i = 0; i < filters->n; i++)
		str_addf(&s, " %s", filters->v[i]);
	str_add(&s, ")");
	return str_take(&s);
}

/* Where directories could be moved to. NULL: nowhere. */
static char *writable_places(const struct files *f)
{
	_cleanup_(strv_free) struct strv roots = { 0 };
	for (size_t i = 0; i < f->n; i++)
		if ((f->places[i].kind == RULE_ALLOW_WRITE && strncmp(f->places[i].path, "/dev/", 5) != 0) || f->places[i].kind == RULE_TMPDIR)
			add_filter(&roots, &f->places[i], SEATBELT_COVERS);
	return roots.n ? join("require-any", &roots) : NULL;
}

/* Each of filters, narrowed to places; and emptied. */
static void add_narrowed(struct strv *to, struct strv *filters, const char *places)
{
	for (size_t i = 0; places && i < filters->n; i++)
		add_owned(to, strf("(require-all %s %s)", places, filters->v[i]));
	strv_free(filters);
}

static void add_all_widened(const struct files *f, struct strv *to, enum rule_kind kind)
{
	_cleanup_free_ char *places = NULL;
	struct strv filters = { 0 };
	for (size_t i = 0; i < f->n; i++)
		if (f->places[i].kind == kind && f->places[i].in_roots)
			add_filter(&filters, &f->places[i], SEATBELT_COVERS);
	if (filters.n)
		places = writable_places(f);
	add_narrowed(to, &filters, places);
}

/* All matches with so many components or more. too_many: what to say where that takes too many regular expressions. */
static void add_at_least(struct strv *to, const struct place *p, unsigned at_least, bool or_any)
{
	unsigned ways = seatbelt_glob_ways(p->path, at_least);
	if (ways > SEATBELT_WAYS_MAX)
		ways = or_any ? seatbelt_glob_ways(p->path, at_least = 0) : 0;
	for (unsigned i = 0; i < ways; i++)
		add_owned(to, glob_filter(p, SEATBELT_COVERS, at_least, i));
}

/* A region of hurdle's own, without what lies deeper and is of the other kind. */
static void add_own(const struct files *f, struct strv *to, const struct place *p)
{
	_cleanup_(strv_free) struct strv parts = { 0 };
	const enum rule_kind other = p->kind == RULE_INTERNAL ? RULE_TMPDIR : RULE_INTERNAL;
	add_filter(&parts, p, SEATBELT_COVERS);
	for (size_t i = 0; i < f->n; i++) {
		const struct place *q = &f->places[i];
		if (q->kind != other || q->depth < p->depth || (q->depth == p->depth && other == RULE_INTERNAL))
			continue;
		_cleanup_(strv_free) struct strv one = { 0 };
		add_filter(&one, q, SEATBELT_COVERS);
		add_owned(&parts, strf("(require-not %s)", one.v[0]));
	}
	add_owned(to, parts.n > 1 ? join("require-all", &parts) : xstrdup(parts.v[0]));
}

static void add_owns(const struct files *f, struct strv *to, enum rule_kind kind)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->places[i].kind == kind)
			add_own(f, to, &f->places[i]);
}

/* ---- rules ---- */

static void add_message(const struct files *f)
{
	if (!f->options->tag)
		return;
	str_add(f->to, "\n  (with message ");
	seatbelt_add_string(f->to, f->options->tag, strlen(f->options->tag));
	str_add(f->to, ")");
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A rule with any of these filters; they are used up. No filter: no rule. */
static void rule(const struct files *f, const char *action, const char *operations, struct strv *filters)
{
	if (filters->n) {
		qsort(filters->v, filters->n, sizeof *filters->v, compare);
		str_addf(f->to, "(%s %s", action, operations);
		for (size_t i = 0; i < filters->n; i++)
			if (i == 0 || strcmp(filters->v[i], filters->v[i - 1]) != 0)
				str_addf(f->to, "\n  %s", filters->v[i]);
		if (action[0] == 'd')
			add_message(f);
		str_add(f->to, ")\n");
	}
	strv_free(filters);
}

/* ---- the ways to denied places ---- */

static bool is_tree(const char *s, size_t len)
{
	return len >= 3 && strncmp(s + len - 3, "/**", 3) == 0;
}

/* Each directory on the way to p, as it is written: names, and patterns of names. Trees are not names; see add_widened(). */
static void add_way(struct strv *to, const struct place *p)
{
	for (const char *s = strchr(p->path + 1, '/'); s; s = strchr(s + 1, '/')) {
		size_t len = (size_t)(s - p->path);
		struct place way = *p;
		if (p->pattern && is_tree(p->path, len))
			continue;
		way.path = strf("%.*s", (int)len, p->path);
		way.pattern = p->pattern && strpbrk(way.path, "*?[]\\");
		add_filter(to, &way, SEATBELT_AT);
		free(way.path);
	}
}

static void add_ways(const struct files *f, struct strv *to, enum rule_kind kind)
{
	struct strv widened = { 0 };
	_cleanup_free_ char *places = NULL;
	for (size_t i = 0; i < f->n; i++)
		if (f->places[i].kind == kind)
			add_way(f->places[i].in_roots ? &widened : to, &f->places[i]);
	if (widened.n)
		places = writable_places(f);
	add_narrowed(to, &widened, places);
}

/* ---- reading ---- */

static bool read_rule(const struct place *p, bool deny)
{
	if (deny)
		return p->kind == RULE_DENY_READ;
	/* a write root counts as an allowRead of its path */
	return p->kind == RULE_ALLOW_READ || p->kind == RULE_ALLOW_WRITE || p->kind == RULE_TMPDIR;
}

struct reading {
	struct files *f;
	struct str refused;  /* a filter: what may not be read, by the rules so far; empty: nothing */
	unsigned steps[2];   /* of allowing, of denying */
	char *places;        /* writable_places() */
};

static void widen(struct reading *r, struct strv *filters)
{
	struct str s = STR_INIT;
	if (!filters->n)
		return;
	r->steps[1]++;
	str_add(&s, "(require-any");
	for (size_t i = 0; i < filters->n; i++)
		str_addf(&s, "\n  %s", filters->v[i]);
	if (r->refused.len)
		str_addf(&s, "\n  %s", r->refused.s);
	str_add(&s, ")");
	str_free(&r->refused);
	r->refused = s;
	strv_free(filters);
}

static void narrow(struct reading *r, struct strv *filters)
{
	struct str s = STR_INIT;
	if (filters->n && r->refused.len) {
		r->steps[0]++;
		str_add(&s, "(require-all");
		for (size_t i = 0; i < filters->n; i++)
			str_addf(&s, "\n  (require-not %s)", filters->v[i]);
		str_addf(&s, "\n  %s)", r->refused.s);
		str_free(&r->refused);
		r->refused = s;
	}
	strv_free(filters);
}

/* What a rule says at this level: where it has this depth; or, when it may match deeper, that what was said against it since does not
 * count for its deeper matches. */
static void add_level(struct reading *r, struct strv *to, struct place *p, bool deny, unsigned level)
{
	struct strv filters = { 0 };
	if (p->depth > level || (p->depth < level && (!p->variable || p->said == r->steps[!deny])))
		return;
	p->said = r->steps[!deny];
	if (!p->pattern || p->depth == level)
		add_filter(&filters, p, SEATBELT_COVERS);
	else
		add_at_least(&filters, p, level, deny);
	if (p->in_roots) {
		add_narrowed(to, &filters, r->places);
		return;
	}
	for (size_t i = 0; i < filters.n; i++)
		strv_add(to, filters.v[i]);
	strv_free(&filters);
}

static void read_step(struct reading *r, unsigned level, int layer, bool deny)
{
	struct strv filters = { 0 };
	for (size_t i = 0; i < r->f->n; i++)
		if (r->f->places[i].layer == layer && read_rule(&r->f->places[i], deny))
			add_level(r, &filters, &r->f->places[i], deny, level);
	if (deny)
		widen(r, &filters);
	else
		narrow(r, &filters);
}

static unsigned last_level(const struct files *f)
{
	unsigned last = 0;
	bool variable[2] = { false, false };
	for (size_t i = 0; i < f->n; i++)
		for (int deny = 0; deny < 2; deny++)
			if (read_rule(&f->places[i], deny)) {
				last = f->places[i].depth > last ? f->places[i].depth : last;
				variable[deny] |= f->places[i].variable;
			}
	return variable[0] && variable[1] && last < READ_LEVELS ? READ_LEVELS : last + 1;
}

/* A filter; owned; "": everything may be read. */
static char *refused_reads(struct files *f)
{
	struct reading r = { .f = f, .places = writable_places(f) };
	struct strv own = { 0 };
	unsigned last = last_level(f);
	for (unsigned level = 0; level <= last; level++)
		for (int layer = 0; layer <= LAYER_OWN; layer++) {
			read_step(&r, level, layer, true);
			read_step(&r, level, layer, false);
		}
	for (int layer = 0; layer <= LAYER_OWN; layer++)
		read_step(&r, last + 1, layer, true); /* so that beyond the last level more is denied rather than less */
	add_owns(f, &own, RULE_INTERNAL);
	narrow(&r, &own);
	free(r.places);
	return str_take(&r.refused);
}

static bool has_variable_deny_read(const struct files *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->places[i].kind == RULE_DENY_READ && f->places[i].variable)
			return true;
	return false;
}

/* ---- writing ---- */

/*
 * Patterns hold in the temporary directory as well, where they match below it: a directory may be moved there and back. For protected
 * names that is left open: programs make repositories of their own there.
 */
static void add_in_tmpdir(const struct files *f, struct strv *to, enum rule_kind kind)
{
	for (size_t t = 0; t < f->n; t++) {
		if (f->places[t].kind != RULE_TMPDIR)
			continue;
		_cleanup_(strv_free) struct strv tmp = { 0 };
		struct strv filters = { 0 };
		add_filter(&tmp, &f->places[t], SEATBELT_COVERS);
		for (size_t i = 0; i < f->n; i++)
			if (f->places[i].kind == kind && f->places[i].pattern)
				add_at_least(&filters, &f->places[i], f->places[t].depth + 1, true);
		add_narrowed(to, &filters, tmp.v[0]);
	}
}

#define WRITES "file-write* file-write-create file-link"

static void add_writes(const struct files *f)
{
	struct strv v = { 0 };
	add_all(f, &v, RULE_ALLOW_WRITE, SEATBELT_COVERS);
	rule(f, "allow", WRITES, &v);
	add_all(f, &v, RULE_DENY_WRITE, SEATBELT_COVERS);
	add_all_widened(f, &v, RULE_DENY_WRITE);
	add_all(f, &v, RULE_PROTECT_NAME, SEATBELT_COVERS);
	rule(f, "deny", WRITES, &v);
	add_ways(f, &v, RULE_PROTECT_NAME);
	rule(f, "deny", "file-write-create", &v);
	add_all(f, &v, RULE_TMPDIR, SEATBELT_COVERS);
	rule(f, "allow", WRITES, &v);
	add_in_tmpdir(f, &v, RULE_DENY_WRITE);
	add_owns(f, &v, RULE_INTERNAL);
	rule(f, "deny", WRITES, &v);
	add_ways(f, &v, RULE_DENY_WRITE);
	if (has_variable_deny_read(f))
		add_ways(f, &v, RULE_ALLOW_READ);
	rule(f, "deny", "file-write-create", &v);
}

/* Removing, and one half of moving. A root itself is an entry of the directory above it. */
static void add_unlinks(const struct files *f)
{
	static const enum rule_kind ruled[] = {
		RULE_DENY_WRITE, RULE_DENY_DELETE, RULE_DENY_READ, RULE_DENY_EXEC, RULE_INTERNAL, RULE_TMPDIR,
	};
	struct strv v = { 0 };
	str_add(f->to, "(deny file-write-unlink");
	add_message(f);
	str_add(f->to, ")\n");
	add_all(f, &v, RULE_ALLOW_WRITE, SEATBELT_BELOW);
	rule(f, "allow", "file-write-unlink", &v);
	for (int i = 0; i < 2; i++) {
		add_all(f, &v, ruled[i], SEATBELT_COVERS);
		add_all_widened(f, &v, ruled[i]);
	}
	add_all(f, &v, RULE_PROTECT_NAME, SEATBELT_COVERS);
	add_ways(f, &v, RULE_PROTECT_NAME);
	rule(f, "deny", "file-write-unlink", &v);
	add_all(f, &v, RULE_TMPDIR, SEATBELT_BELOW);
	rule(f, "allow", "file-write-unlink", &v);
	for (size_t i = 0; i < ARRAY_SIZE(ruled); i++)
		add_ways(f, &v, ruled[i]);
	add_all(f, &v, RULE_TMPDIR, SEATBELT_AT);
	add_in_tmpdir(f, &v, RULE_DENY_WRITE);
	add_in_tmpdir(f, &v, RULE_DENY_DELETE);
	add_owns(f, &v, RULE_INTERNAL);
	rule(f, "deny", "file-write-unlink", &v);
}

/* Names and stat stay visible. What may not be read gets no other name either, by a move or a link. */
static void add_reads(struct files *f)
{
	_cleanup_free_ char *refused = refused_reads(f);
	struct strv v = { 0 };
	str_add(f->to, "(allow file-read* file-read-data file-read-xattr file-test-existence)\n");
	if (*refused)
		strv_add(&v, refused);
	rule(f, "deny", "file-read-data file-read-xattr file-link file-write-unlink", &v);
}

/* ---- programs and sockets ---- */

#define RUNS "process-exec* file-map-executable"

static void add_exec(const struct files *f)
{
	struct strv v = { 0 };
	str_add(f->to, "(allow " RUNS ")\n");
	if (f->policy->exec_outside_roots) {
		add_all(f, &v, RULE_ALLOW_WRITE, SEATBELT_COVERS);
		add_owns(f, &v, RULE_TMPDIR);
		rule(f, "deny", RUNS, &v);
		add_all(f, &v, RULE_GRANT_EXEC, SEATBELT_COVERS);
		rule(f, "allow", RUNS, &v);
	}
	add_all(f, &v, RULE_DENY_EXEC, SEATBELT_COVERS);
	rule(f, "deny", RUNS, &v);
	add_owns(f, &v, RULE_INTERNAL);
	rule(f, "allow", RUNS, &v);
}

#define CONNECTS "network-outbound network-bind"

/* A path filter in a rule for network-outbound is about unix sockets alone. */
static void add_sockets(const struct files *f)
{
	struct strv v = { 0 };
	if (f->policy->unix_open) {
		str_add(f->to, "(allow network-outbound (remote unix-socket))\n(allow network-bind (local unix-socket))\n");
	} else {
		add_all(f, &v, RULE_ALLOW_WRITE, SEATBELT_COVERS);
		rule(f, "allow", CONNECTS, &v);
		add_all(f, &v, RULE_DENY_WRITE, SEATBELT_COVERS);
		add_all_widened(f, &v, RULE_DENY_WRITE);
		rule(f, "deny", CONNECTS, &v);
		add_all(f, &v, RULE_ALLOW_SOCKET, SEATBELT_COVERS);
		add_all(f, &v, RULE_TMPDIR, SEATBELT_COVERS);
		rule(f, "allow", CONNECTS, &v);
	}
	add_owns(f, &v, RULE_INTERNAL);
	rule(f, "deny", CONNECTS, &v);
}

void seatbelt_add_file_rules(struct str *to, const struct policy *p, const struct seatbelt_options *o)
{
	_cleanup_(files_release) struct files f = { .policy = p, .options = o, .to = to };
	for (size_t i = 0; i < p->n_rules; i++)
		if (has_files(&p->rules[i]))
			add_rule(&f, &p->rules[i]);
	str_add(to, "\n; programs\n");
	add_exec(&f);
	str_add(to, "\n; unix sockets\n");
	add_sockets(&f);
	str_add(to, "\n; files: writing\n(define ordinary ");
	struct str name = STR_INIT;
	seatbelt_add_ordinary(&name);
	seatbelt_add_string(to, name.s, name.len);
	str_free(&name);
	str_add(to, ") ; a name other than node_modules\n");
	add_writes(&f);
	add_unlinks(&f);
	str_add(to, "\n; files: reading\n");
	add_reads(&f);
}
