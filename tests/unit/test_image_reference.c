/*
 * The compiled policy against settings.md read slowly: every decision about random paths under random rules is made once more
 * by going through all rules, and must be the same. HURDLE_SEED=N repeats a failure.
 */
#include <stdio.h>

#include "tests/unit/image_help.h"
#include "tests/unit/slow_glob.h"

TestSuite(reference, .timeout = 110);

enum { POLICIES = 8000, PATHS = 20, GLOBS = 400000 };

static uint64_t state;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static uint64_t begin(void)
{
	const char *seed = getenv("HURDLE_SEED");

	state = seed ? strtoull(seed, NULL, 10) : 1;
	return state;
}

/* ---- globs ---- */

static void random_text(char *to, unsigned most, const char *alphabet)
{
	unsigned n = below(most + 1);

	for (unsigned i = 0; i < n; i++)
		to[i] = alphabet[below((unsigned)strlen(alphabet))];
	to[n] = '\0';
}

Test(reference, globs)
{
	uint64_t seed = begin(), matches = 0;

	for (int i = 0; i < GLOBS; i++) {
		char p[24] = "/", s[24] = "/";
		bool icase = below(2);

		random_text(p + 1, 10, below(2) ? "ab*?/" : "aAb.-!^[]\\*?/*/");
		random_text(s + 1, 10, below(2) ? "ab/" : "aAbB.-]\\/");
		bool want = slow_glob(p, p + strlen(p), s, s + strlen(s), icase);
		bool got = glob_match(p, strlen(p), s, strlen(s), icase);
		matches += want;
		cr_assert_eq(got, want, "HURDLE_SEED=%lu, number %d: glob %s, path %s, icase %d: %d", (unsigned long)seed, i, p, s, icase, got);
	}
	cr_assert_gt(matches, GLOBS / 100, "only %lu match", (unsigned long)matches);
}

/* ---- random policies ---- */

static const char *const names[] = { "a", "b", "A", "ab", "a.b", "x.pem", ".git", "hooks", "node_modules", "B" };
static const char *const globs[] = { "*", "?", "**", "[ab]", "*.pem", "a*", "[!a]", "**", "*.[pb]*", "a[.x]b" };

static void random_path(char *to, size_t size, bool pattern)
{
	unsigned depth = below(40) ? 1 + below(4) : 0;
	size_t n = 0;

	snprintf(to, size, "/");
	for (unsigned i = 0; i < depth; i++)
		n += (size_t)snprintf(to + n, size - n, "/%s",
				      pattern && below(2) ? globs[below(ARRAY_SIZE(globs))] : names[below(below(2) ? 4 : ARRAY_SIZE(names))]);
}

static struct policy *random_policy(void)
{
	/* unnamed kinds are rarer */
	static const enum rule_kind often[] = { RULE_ALLOW_WRITE, RULE_ALLOW_WRITE, RULE_DENY_WRITE, RULE_ALLOW_READ, RULE_DENY_READ, RULE_DENY_READ };
	struct policy *p = policy_new("/nowhere", NULL);
	char path[128];

	p->exec_outside_roots = below(2);
	p->unix_open = !below(4);
	p->scrub_only = !below(30);
	for (unsigned n = 1 + below(9); n; n--) {
		const enum rule_kind kind = below(3) ? often[below(ARRAY_SIZE(often))] : kind_words[below(ARRAY_SIZE(kind_words))].kind;
		const bool own = kind == RULE_INTERNAL || kind == RULE_TMPDIR;
		const enum layer layer = below(2) ? LAYER_DEFAULT : (enum layer)below(LAYER_COUNT);

		if (kind == RULE_PROTECT_NAME)
			snprintf(path, sizeof(path), "/**/%s%s", below(2) ? ".git/" : below(2) ? "a/" : "", names[below(ARRAY_SIZE(names))]);
		else
			random_path(path, sizeof(path), !own && below(2));
		if (own && !strcmp(path, "/"))
			continue;
		rule_in(p, kind, layer, below(4) == 0, path);
	}
	return p;
}

/* ---- the same decision, from the rules ---- */

static const char *next_end(const char *end)
{
	const char *s = end + 1;

	while (*s && *s != '/')
		s++;
	return s;
}

static bool literal_covers(const struct rule *r, const char *path, size_t n)
{
	return strlen(r->path) == n && (r->icase ? !strncasecmp(r->path, path, n) : !strncmp(r->path, path, n));
}

static bool matches_at(const struct rule *r, const char *path, size_t n)
{
	return r->pattern ? slow_glob(r->path, r->path + strlen(r->path), path, path + n, r->icase) : literal_covers(r, path, n);
}

static bool in_node_modules(const char *path, size_t n)
{
	_cleanup_free_ char *text = strndup(path, n), *whole = strf("%s/", text);

	return strstr(whole, "/node_modules/") != NULL;
}

/* Patterns are asked about names, of which the root directory has none. */
static bool holds_at(const struct rule *r, const char *path, size_t n)
{
	if (r->pattern && n == 1 && path[0] == '/')
		return false;
	if (r->kind == RULE_PROTECT_NAME) {
		size_t parent = n;
		while (path[parent - 1] != '/')
			parent--;
		if (in_node_modules(path, parent - 1))
			return false;
	}
	return matches_at(r, path, n);
}

/* How deep a rule holds on the way to path (the longest prefix, or with shallow the shortest); 0: not. */
static size_t depth(const struct rule *r, const char *path, bool shallow)
{
	size_t found = holds_at(r, path, 1) && path[0] == '/' ? 1 : 0;

	if (!path[1])
		return found;
	for (const char *s = path; *s;) {
		s = next_end(s);
		if (holds_at(r, path, (size_t)(s - path)) && (!found || !shallow))
			found = (size_t)(s - path);
	}
	return found;
}

struct best { size_t depth; enum layer layer; bool any; };

static struct best best_of(const struct policy *p, enum rule_kind kind, const char *path)
{
	struct best b = { 0 };

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		size_t d = r->kind == kind ? depth(r, path, false) : 0;

		if (d && (!b.any || d > b.depth || (d == b.depth && r->layer > b.layer)))
			b = (struct best){ d, r->layer, true };
	}
	return b;
}

static bool has_kind(const struct policy *p, enum rule_kind kind)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == kind)
			return true;
	return false;
}

static bool has_pattern(const struct policy *p, enum rule_kind kind)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == kind && p->rules[i].pattern)
			return true;
	return false;
}

static bool slow_read_denied(const struct policy *p, const char *path)
{
	struct best no = best_of(p, RULE_DENY_READ, path), yes = best_of(p, RULE_ALLOW_READ, path), root = best_of(p, RULE_ALLOW_WRITE, path);

	if (!no.any)
		return false;
	if (root.any && (!yes.any || root.depth > yes.depth || (root.depth == yes.depth && root.layer > yes.layer)))
		yes = root;
	return !yes.any || no.depth > yes.depth || (no.depth == yes.depth && no.layer > yes.layer);
}

static bool special(const char *s, size_t n)
{
	return memchr(s, '*', n) || memchr(s, '?', n) || memchr(s, '[', n) || memchr(s, ']', n) || memchr(s, '\\', n);
}

static bool is_prefix(const char *dir, const char *path, size_t n, bool icase, bool or_equal)
{
	size_t len = strlen(dir);

	if (!strcmp(dir, "/"))
		return n > 1 || or_equal;
	return (len < n || (or_equal && len == n)) && (icase ? !strncasecmp(dir, path, len) : !strncmp(dir, path, len)) && (len == n || path[len] == '/');
}

/* What a rule says about directories on the way to what it names: f is asked about each proper prefix of a pattern. */
typedef bool prefix_question(const struct rule *r, size_t prefix, const char *a, const char *b);

static bool any_prefix(const struct rule *r, prefix_question *f, const char *a, const char *b)
{
	for (const char *s = strchr(r->path + 1, '/'); s; s = strchr(s + 1, '/'))
		if (!(s - r->path == 3 && !strncmp(r->path, "/**", 3)) && f(r, (size_t)(s - r->path), a, b))
			return true;
	return false;
}

static bool is_tree(const struct rule *r, size_t n)
{
	return n >= 3 && !strncmp(r->path + n - 3, "/**", 3);
}

static bool prefix_matches(const struct rule *r, size_t n, const char *path)
{
	return slow_glob(r->path, r->path + n, path, path + strlen(path), r->icase);
}

static bool above_plain(const struct rule *r, size_t n, const char *path, const char *unused)
{
	(void)unused;
	return !special(r->path, n) && is_prefix(path, r->path, n, r->icase, true);
}

static bool names_directory(const struct rule *r, size_t n, const char *path, const char *unused)
{
	(void)unused;
	return special(r->path, n) && !is_tree(r, n) && prefix_matches(r, n, path);
}

static bool leaves_tree(const struct rule *r, size_t n, const char *from, const char *to)
{
	return special(r->path, n) && is_tree(r, n) && prefix_matches(r, n, from) && !prefix_matches(r, n, to);
}

static bool comes_under(const struct rule *r, size_t n, const char *from, const char *to)
{
	return special(r->path, n) && !prefix_matches(r, n, from) && prefix_matches(r, n, to);
}

static bool above(const struct rule *r, const char *path)
{
	return r->pattern ? any_prefix(r, above_plain, path, NULL) : is_prefix(path, r->path, strlen(r->path), r->icase, false);
}

static bool is_deny(enum rule_kind k)
{
	return k == RULE_DENY_WRITE || k == RULE_DENY_DELETE || k == RULE_DENY_READ || k == RULE_DENY_EXEC;
}

static bool move_denied(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];

		if ((r->kind == RULE_INTERNAL || r->kind == RULE_TMPDIR || is_deny(r->kind)) && above(r, path))
			return true;
		if (r->pattern && is_deny(r->kind) && path[1] && any_prefix(r, names_directory, path, NULL))
			return true;
	}
	return slow_read_denied(p, path);
}

/* The directory that holds the first component of a name, for all but .git's; n: of the rule's text that matched path up to end. */
static size_t first_holder(const struct rule *r, size_t n, const char *path, size_t end)
{
	size_t up = 1;

	for (size_t i = 4; i < n && strncasecmp(r->path, "/**/.git/", 9); i++)
		up += r->path[i] == '/';
	for (; up; up--)
		while (end > 0 && path[--end] != '/')
			;
	return end ? end : 1;
}

/* Holders of protected names on the way: the outermost and the innermost. */
static void slow_holders(const struct policy *p, const char *path, bool move, size_t *outer, size_t *inner)
{
	*outer = *inner = 0;
	for (const char *s = path; s[0] && path[1];) {
		const char *start = s;
		s = next_end(s);
		for (size_t i = 0; i < p->n_rules; i++) {
			const struct rule *r = &p->rules[i];
			_cleanup_free_ char *here = strndup(path, (size_t)(s - path));
			if (r->kind != RULE_PROTECT_NAME || in_node_modules(path, (size_t)(start - path)))
				continue;
			const bool holds = holds_at(r, path, (size_t)(s - path));
			if (!holds && !(move && !*s && any_prefix(r, names_directory, here, NULL)))
				continue;
			/* here all have one or two components, and the prefix has one */
			size_t first = first_holder(r, holds ? strlen(r->path) : (size_t)(strchr(r->path + 4, '/') - r->path), path, (size_t)(s - path));
			*inner = start > path ? (size_t)(start - path) : 1;
			*outer = !*outer || first < *outer ? first : *outer;
		}
	}
}

static const struct rule *own(const struct policy *p, const char *path)
{
	const struct rule *found = NULL;

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		size_t d = r->kind == RULE_INTERNAL || r->kind == RULE_TMPDIR ? depth(r, path, false) : 0;

		/* at one place the temporary directory counts */
		if (d && (!found || d > depth(found, path, false) || (d == depth(found, path, false) && r->kind == RULE_TMPDIR)))
			found = r;
	}
	return found;
}

static size_t shallow_root(const struct policy *p, const char *path)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < p->n_rules; i++) {
		size_t d = p->rules[i].kind == RULE_ALLOW_WRITE ? depth(&p->rules[i], path, true) : 0;

		least = d && d < least ? d : least;
	}
	return least;
}

static void slow_write(const struct policy *p, enum access access, const char *path, struct verdict *v)
{
	const bool takes = access == ACCESS_DELETE || access == ACCESS_MOVE;
	size_t outer, inner;

	v->outcome = OUTCOME_ALLOW;
	if (p->scrub_only)
		return;
	if (best_of(p, RULE_DENY_WRITE, path).any || !best_of(p, RULE_ALLOW_WRITE, path).any ||
	    (takes && (shallow_root(p, path) >= strlen(path) || best_of(p, RULE_DENY_DELETE, path).any)) ||
	    (access == ACCESS_MOVE && move_denied(p, path))) {
		v->outcome = OUTCOME_DENY;
		return;
	}
	slow_holders(p, path, access == ACCESS_MOVE, &outer, &inner);
	if (outer)
		*v = (struct verdict){ .outcome = OUTCOME_DENY_IF_OLD, .holder_len = (uint32_t)outer, .inner_len = (uint32_t)inner };
}

static bool slow_exec_denied(const struct policy *p, const char *path, bool in_tmp)
{
	return best_of(p, RULE_DENY_EXEC, path).any ||
	       (p->exec_outside_roots && (in_tmp || best_of(p, RULE_ALLOW_WRITE, path).any) && !best_of(p, RULE_GRANT_EXEC, path).any);
}

static bool slow_connect_denied(const struct policy *p, const char *path)
{
	if (p->unix_open || p->scrub_only || best_of(p, RULE_ALLOW_SOCKET, path).any)
		return false;
	return best_of(p, RULE_DENY_WRITE, path).any || !best_of(p, RULE_ALLOW_WRITE, path).any;
}

static void slow_decide(const struct policy *p, enum access access, const char *path, struct verdict *v)
{
	const struct rule *ours = own(p, path);
	const bool in_tmp = ours && ours->kind == RULE_TMPDIR;

	*v = (struct verdict){ .outcome = OUTCOME_ALLOW };
	if (in_tmp && access != ACCESS_EXEC) {
		bool itself = false;
		for (size_t i = 0; i < p->n_rules; i++)
			itself |= p->rules[i].kind == RULE_TMPDIR && literal_covers(&p->rules[i], path, strlen(path));
		v->outcome = itself && (access == ACCESS_DELETE || access == ACCESS_MOVE) ? OUTCOME_DENY : OUTCOME_ALLOW;
	} else if (ours && !in_tmp) {
		v->outcome = access == ACCESS_READ || access == ACCESS_EXEC ? OUTCOME_ALLOW : OUTCOME_DENY;
	} else if (access == ACCESS_READ) {
		v->outcome = slow_read_denied(p, path) ? OUTCOME_DENY : OUTCOME_ALLOW;
	} else if (access == ACCESS_EXEC) {
		v->outcome = slow_exec_denied(p, path, in_tmp) ? OUTCOME_DENY : OUTCOME_ALLOW;
	} else if (access == ACCESS_CONNECT) {
		v->outcome = slow_connect_denied(p, path) ? OUTCOME_DENY : OUTCOME_ALLOW;
	} else {
		slow_write(p, access, path, v);
	}
}

static bool slow_crossing(const struct policy *p, const char *from, const char *to)
{
	const struct rule *a = own(p, from), *b = own(p, to);
	const bool from_tmp = a && a->kind == RULE_TMPDIR, to_tmp = b && b->kind == RULE_TMPDIR;
	const bool reads = has_pattern(p, RULE_DENY_READ);

	if (to_tmp && !from_tmp &&
	    (reads || has_pattern(p, RULE_DENY_WRITE) || has_pattern(p, RULE_DENY_DELETE) || has_kind(p, RULE_PROTECT_NAME)))
		return true;
	if (from_tmp && !to_tmp && has_pattern(p, RULE_DENY_WRITE))
		return true;
	if (from_tmp != to_tmp)
		return false;
	if (!from_tmp && has_kind(p, RULE_PROTECT_NAME) && in_node_modules(to, strlen(to)) && !in_node_modules(from, strlen(from)))
		return true;
	for (size_t i = 0; i < p->n_rules && reads && !from_tmp; i++)
		if (p->rules[i].kind == RULE_ALLOW_READ && above(&p->rules[i], to))
			return true;
	return false;
}

static bool slow_pattern_crossing(const struct policy *p, const char *from, const char *to)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		const bool exempt = r->kind == RULE_PROTECT_NAME && in_node_modules(from, strlen(from));

		if (!r->pattern)
			continue;
		if ((is_deny(r->kind) || r->kind == RULE_PROTECT_NAME) && !exempt && any_prefix(r, leaves_tree, from, to))
			return true;
		if (r->kind == RULE_ALLOW_READ && has_pattern(p, RULE_DENY_READ) && any_prefix(r, comes_under, from, to))
			return true;
	}
	return false;
}

static void slow_move(const struct policy *p, const char *from, const char *to, struct verdict *v)
{
	struct verdict second;

	slow_decide(p, ACCESS_MOVE, from, v);
	slow_decide(p, ACCESS_MOVE, to, &second);
	if (v->outcome == OUTCOME_DENY)
		return;
	if (second.outcome == OUTCOME_DENY || (!p->scrub_only && (slow_crossing(p, from, to) || slow_pattern_crossing(p, from, to))))
		*v = (struct verdict){ .outcome = OUTCOME_DENY };
	else if (v->outcome == OUTCOME_ALLOW)
		*v = second;
}

/* ---- the comparison ---- */

static void dump(const struct policy *p, struct str *b)
{
	for (size_t i = 0; i < p->n_rules; i++)
		for (size_t k = 0; k < ARRAY_SIZE(kind_words); k++)
			if (kind_words[k].kind == p->rules[i].kind)
				str_addf(b, "%s%s%s@%s %s", i ? "; " : "", kind_words[k].name, p->rules[i].icase ? ":icase" : "",
					 layer_words[p->rules[i].layer], p->rules[i].path);
	str_addf(b, "%s%s%s", p->exec_outside_roots ? "; outsideRoots" : "", p->unix_open ? "; unixOpen" : "", p->scrub_only ? "; scrub" : "");
}

static void same_verdict(const struct policy *p, const struct verdict *got, const struct verdict *want, const char *what, const char *path,
			 const char *to, uint64_t seed)
{
	if (got->outcome == want->outcome && (got->outcome != OUTCOME_DENY_IF_OLD ||
					      (got->holder_len == want->holder_len && got->inner_len == want->inner_len)))
		return;
	_cleanup_(str_free) struct str rules = STR_INIT;
	dump(p, &rules);
	cr_assert_fail("HURDLE_SEED=%lu: %s %s%s%s is %d (%u, %u), should be %d (%u, %u); under: %s", (unsigned long)seed, what, path,
		       to ? " -> " : "", to ? to : "", got->outcome, got->holder_len, got->inner_len, want->outcome, want->holder_len,
		       want->inner_len, rules.s);
}

/* The rule that is named is of the right kind, and as deep and as high as any. */
static void right_rule(const struct policy *p, const struct verdict *v, enum access access, const char *path)
{
	enum rule_kind kind = RULE_KIND_COUNT;

	if (v->outcome != OUTCOME_DENY || v->rule == IMAGE_NONE)
		return;
	if (access == ACCESS_READ)
		kind = RULE_DENY_READ;
	else if (access == ACCESS_EXEC)
		kind = RULE_DENY_EXEC;
	else if (access == ACCESS_WRITE || access == ACCESS_CREATE || access == ACCESS_CONNECT)
		kind = RULE_DENY_WRITE;
	if (kind == RULE_KIND_COUNT)
		return;
	struct best b = best_of(p, kind, path);
	const struct rule *r = &p->rules[v->rule];
	cr_assert(v->rule < p->n_rules && r->kind == kind && r->layer == b.layer && depth(r, path, false) == b.depth, "%s by %s", path, r->path);
}

/* Mostly near by, as renames are. */
static void other_end(char *to, size_t size, const char *from)
{
	char name[128];

	random_path(name, sizeof(name), false);
	if (below(4))
		snprintf(to, size, "%.*s%s", (int)(strrchr(from, '/') - from), from, name);
	else
		snprintf(to, size, "%s", name);
	if (!name[1]) /* no name */
		snprintf(to, size, "/a");
}

static size_t compare_paths(const struct policy *p, const struct image *img, uint64_t seed, size_t outcomes[3])
{
	static const char *const words[] = { "read", "write", "create", "delete", "moved", "exec", "connect" };
	char path[128], to[256];
	size_t compared = 0;

	for (int i = 0; i < PATHS; i++) {
		struct verdict got, want;

		random_path(path, sizeof(path), false);
		for (enum access a = ACCESS_READ; a <= ACCESS_CONNECT; a++, compared++) {
			policy_decide(img, a, path, strlen(path), &got);
			slow_decide(p, a, path, &want);
			same_verdict(p, &got, &want, words[a], path, NULL, seed);
			right_rule(p, &got, a, path);
			outcomes[got.outcome]++;
		}
		other_end(to, sizeof(to), path);
		policy_decide_move(img, path, strlen(path), to, strlen(to), &got);
		slow_move(p, path, to, &want);
		same_verdict(p, &got, &want, "move", path, to, seed);
		compared++;
	}
	return compared;
}

Test(reference, decisions)
{
	size_t compared = 0, size, outcomes[3] = { 0 };

	begin();
	for (int i = 0; i < POLICIES; i++) {
		uint64_t seed = state;
		struct policy *p = random_policy();
		_cleanup_free_ struct image *img = image_from(p, &size);

		compared += compare_paths(p, img, seed, outcomes);
		policy_free(p);
		if (getenv("HURDLE_SEED"))
			break;
	}
	if (!getenv("HURDLE_SEED"))
		cr_assert(compared >= 200000 && outcomes[OUTCOME_ALLOW] > 20000 && outcomes[OUTCOME_DENY] > 20000 && outcomes[OUTCOME_DENY_IF_OLD] > 200,
			  "%zu compared: %zu allow, %zu deny, %zu old", compared, outcomes[0], outcomes[1], outcomes[2]);
}
