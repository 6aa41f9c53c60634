/*
 * The Seatbelt profile against policy_decide(): on random paths under random policies, a judge of SBPL (sbpl.h) must come to the same
 * answers. The profile never allows what the policy denies. Where it denies more, the reason must be one of those in
 * seatbelt_caveats(), and each of them is looked for on its own. HURDLE_SEED=N repeats a failure.
 */
#include <stdio.h>

#include "tests/unit/seatbelt_help.h"

TestSuite(seatbelt, .timeout = 110);

enum { POLICIES = 2500, PATHS = 24 };

static uint64_t state;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* ---- random policies ---- */

static const char *const names[] = { "p", "q", "a", "b", "A", "x.pem", ".git", "hooks", "node_modules", "[x]" };
static const char *const globs[] = { "*", "**", "**", "[ab]", "*.pem", "a*", "?", "[!p]" };

static void random_path(char *to, size_t size, bool pattern)
{
	unsigned depth = below(30) ? 1 + below(4) : 0;
	size_t n = 0;

	snprintf(to, size, "/");
	for (unsigned i = 0; i < depth; i++)
		n += (size_t)snprintf(to + n, size - n, "/%s",
				      pattern && below(2) ? globs[below(ARRAY_SIZE(globs))] : names[below(i == 0 || below(2) ? 4 : ARRAY_SIZE(names))]);
}

static struct policy *random_policy(void)
{
	static const enum rule_kind kinds[] = {
		RULE_ALLOW_WRITE, RULE_ALLOW_WRITE, RULE_DENY_WRITE, RULE_DENY_WRITE, RULE_DENY_DELETE, RULE_ALLOW_READ, RULE_ALLOW_READ,
		RULE_DENY_READ, RULE_DENY_READ, RULE_DENY_READ, RULE_DENY_EXEC, RULE_GRANT_EXEC, RULE_ALLOW_SOCKET, RULE_PROTECT_NAME,
	};
	struct policy *p = policy_new("/nowhere", NULL);
	char path[128];

	p->exec_outside_roots = below(2);
	p->unix_open = !below(4);
	p->net = (enum net_mode)below(3);
	if (below(2)) {
		rule_in(p, RULE_INTERNAL, LAYER_DEFAULT, false, "/p/s");
		rule_in(p, RULE_TMPDIR, LAYER_DEFAULT, false, "/p/s/t");
	}
	if (below(4))
		rule_in(p, RULE_ALLOW_WRITE, LAYER_DEFAULT, false, "/p");
	for (unsigned n = 1 + below(8); n; n--) {
		const enum rule_kind kind = kinds[below(ARRAY_SIZE(kinds))];

		if (kind == RULE_PROTECT_NAME)
			snprintf(path, sizeof(path), "/**/%s%s", below(2) ? ".git/" : below(2) ? "a/" : "", names[2 + below(6)]);
		else
			random_path(path, sizeof(path), below(2));
		rule_in(p, kind, below(2) ? LAYER_DEFAULT : (enum layer)below(LAYER_COUNT), below(4) == 0, path);
		/* a name with brackets is no pattern here */
		struct rule *r = &p->rules[p->n_rules - 1];
		r->pattern = strpbrk(r->path, "*?") || strstr(r->path, "[ab]") || strstr(r->path, "[!p]");
	}
	return p;
}

static void dump(const struct policy *p, struct str *b)
{
	for (size_t i = 0; i < p->n_rules; i++)
		for (size_t k = 0; k < ARRAY_SIZE(kind_words); k++)
			if (kind_words[k].kind == p->rules[i].kind)
				str_addf(b, "%s%s%s@%s %s", i ? "; " : "", kind_words[k].name, p->rules[i].icase ? ":icase" : "",
					 layer_words[p->rules[i].layer], p->rules[i].path);
	str_addf(b, "%s%s", p->exec_outside_roots ? "; outsideRoots" : "", p->unix_open ? "; unixOpen" : "");
}

static void __attribute__((noreturn)) differs(const struct pair *p, const char *what, const char *path, const char *to, uint64_t seed)
{
	_cleanup_(str_free) struct str rules = STR_INIT;

	dump(p->policy, &rules);
	cr_assert_fail("HURDLE_SEED=%lu: %s %s%s%s under: %s\n%s", (unsigned long)seed, what, path, to ? " -> " : "", to ? to : "", rules.s, p->profile);
	abort();
}

/* ---- the reasons for denying more ---- */

/* Does the rule's own path, or that of a widened tree, match some prefix of path that is longer than more_than? */
static bool text_covers(const char *text, bool pattern, bool icase, const char *path, size_t more_than)
{
	for (size_t end = 1; end <= strlen(path); end++) {
		if (end <= more_than || (path[end] && path[end] != '/' && end > 1))
			continue;
		if (pattern ? end > 1 && glob_match(text, strlen(text), path, end, icase)
			    : strlen(text) == end && (icase ? !strncasecmp(text, path, end) : !strncmp(text, path, end)))
			return true;
	}
	return false;
}

/* What stands behind the last "**" of a pattern that more than stars follow; NULL: nothing. */
static const char *tail_of(const struct rule *r)
{
	const char *tail = NULL;

	for (const char *s = r->path; r->pattern && r->kind != RULE_DENY_EXEC && (s = strstr(s, "/**/")); s += 3)
		if (strspn(s, "/*") != strlen(s))
			tail = s;
	return tail == r->path ? NULL : tail;
}

static bool covers(const struct rule *r, const char *path)
{
	return text_covers(r->path, r->pattern, r->icase, path, 0);
}

static bool covers_widened(const struct rule *r, const char *path)
{
	return tail_of(r) && text_covers(tail_of(r), true, r->icase, path, 0);
}

static const char *tmpdir_of(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == RULE_TMPDIR && covers(&p->rules[i], path))
			return p->rules[i].path;
	return NULL;
}

static bool is_kind(const struct rule *r, unsigned kinds)
{
	return kinds >> r->kind & 1;
}
#define KIND(k) (1u << RULE_##k)

/* A pattern of these kinds that is wider here: below the last "**" of a tree, or in the temporary directory. */
static bool is_wider(const struct policy *p, unsigned kinds, const char *path)
{
	const char *tmp = tmpdir_of(p, path);

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		if (!is_kind(r, kinds))
			continue;
		if (covers_widened(r, path))
			return true;
		if (tmp && text_covers(r->path, r->pattern, r->icase, path, strlen(tmp)))
			return true;
	}
	return false;
}

/* Is the path a directory on the way to what a rule of these kinds names? */
static bool on_way_of(const char *text, bool pattern, bool icase, const char *path)
{
	for (const char *s = strchr(text + 1, '/'); s; s = strchr(s + 1, '/')) {
		size_t n = (size_t)(s - text);
		if (pattern ? glob_match(text, n, path, strlen(path), icase)
			    : n == strlen(path) && (icase ? !strncasecmp(text, path, n) : !strncmp(text, path, n)))
			return true;
	}
	return false;
}

static bool on_way(const struct policy *p, unsigned kinds, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		if (is_kind(r, kinds) && (on_way_of(r->path, r->pattern, r->icase, path) || (tail_of(r) && on_way_of(tail_of(r), true, r->icase, path))))
			return true;
	}
	return false;
}

/* ---- one path ---- */

static void compare_path(const struct pair *p, const char *path, uint64_t seed, size_t counts[4])
{
	const unsigned changes = KIND(DENY_WRITE) | KIND(DENY_DELETE) | KIND(DENY_READ), ruled = changes | KIND(DENY_EXEC);
	const struct { const char *operation; enum access access; bool wider; } rows[] = {
		{ "file-read-data", ACCESS_READ, is_wider(p->policy, KIND(DENY_READ), path) },
		{ "file-read-xattr", ACCESS_READ, is_wider(p->policy, KIND(DENY_READ), path) },
		{ "file-write-data", ACCESS_WRITE, is_wider(p->policy, KIND(DENY_WRITE), path) },
		{ "file-write-mode", ACCESS_WRITE, is_wider(p->policy, KIND(DENY_WRITE), path) },
		{ "file-write-create", ACCESS_CREATE,
		  is_wider(p->policy, KIND(DENY_WRITE), path) || on_way(p->policy, KIND(DENY_WRITE) | KIND(PROTECT_NAME) | KIND(ALLOW_READ), path) },
		/* what is moved is unlinked; so a name that may not be moved is not removed either */
		{ "file-write-unlink", ACCESS_MOVE, is_wider(p->policy, changes, path) || on_way(p->policy, ruled, path) },
		{ "process-exec", ACCESS_EXEC, false },
		{ "file-map-executable", ACCESS_EXEC, false },
		{ "network-outbound", ACCESS_CONNECT, is_wider(p->policy, KIND(DENY_WRITE), path) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool got = seatbelt(p, rows[i].operation, path), want = policy_allows(p, rows[i].access, path);
		if (got && !want)
			differs(p, rows[i].operation, path, " allowed, the policy denies", seed);
		if (!got && want && !rows[i].wider)
			differs(p, rows[i].operation, path, " denied, the policy allows", seed);
		counts[2 * want + got]++;
	}
	/* a hard link is a new name for what may be read and written already */
	if (seatbelt(p, "file-link", path) != (seatbelt(p, "file-write-data", path) && seatbelt(p, "file-read-data", path)))
		differs(p, "file-link", path, " is not write and read", seed);
	if (!seatbelt(p, "file-read-metadata", path) || !seatbelt(p, "file-test-existence", path))
		differs(p, "file-read-metadata", path, " denied", seed);
}

Test(seatbelt, single_paths)
{
	const char *seed_text = getenv("HURDLE_SEED");
	size_t counts[4] = { 0 };
	char path[128];

	state = seed_text ? strtoull(seed_text, NULL, 10) : 1;
	for (int i = 0; i < POLICIES; i++) {
		uint64_t seed = state;
		_cleanup_(pair_release) struct pair p = pair_of(random_policy(), &plain);

		for (int n = 0; n < PATHS; n++) {
			random_path(path, sizeof(path), false);
			if (!below(6))
				snprintf(path, sizeof(path), "/p/s%s%s", below(3) ? "/t" : "", below(3) ? "/a/x.pem" : "");
			compare_path(&p, path, seed, counts);
		}
		if (seed_text)
			return;
	}
	size_t same = counts[0] + counts[3], narrower = counts[2];
	cr_assert(counts[1] == 0 && same > 20 * narrower && counts[0] > 100000 && counts[3] > 100000 && narrower > 1000,
		  "both deny %zu, both allow %zu, only Seatbelt denies %zu", counts[0], counts[3], narrower);
}

/* ---- moves ---- */

static bool moves(const struct pair *p, const char *from, const char *to)
{
	return seatbelt(p, "file-write-unlink", from) && seatbelt(p, "file-write-create", to);
}

/* May what lies at path be called unprotected only since it is in the temporary directory, or in node_modules? */
static bool is_exempt(const struct policy *p, const char *path)
{
	return tmpdir_of(p, path) || strstr(path, "/node_modules");
}

static bool protected_name(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == RULE_PROTECT_NAME && covers(&p->rules[i], path))
			return true;
	return false;
}

/* A tree of an allowRead ("/p/[two stars]/pub"), or a write root, that opens the place that was moved to. */
static bool opened_there(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		if (is_kind(r, KIND(ALLOW_READ) | KIND(ALLOW_WRITE)) && covers(r, path) && (r->kind == RULE_ALLOW_WRITE || strstr(r->path, "**")))
			return true;
	}
	return false;
}

/*
 * The profile sees both ends of a move apart. What must hold is that nothing becomes open by it: what is denied below the old name is
 * denied below the new one.
 */
static void compare_move(const struct pair *p, const char *from, const char *to, const char *inside, uint64_t seed, size_t counts[3])
{
	_cleanup_free_ char *before = strf("%s%s", from, inside), *after = strf("%s%s", to, inside);
	static const char *const operations[] = { "file-read-data", "file-write-data", "file-write-unlink" };

	if (!moves(p, from, to))
		return;
	counts[0]++;
	/* nor is anything put where it could not have been written */
	if (inside[0] && seatbelt(p, "file-write-data", before) && !seatbelt(p, "file-write-data", after) &&
	    !(is_exempt(p->policy, before) && protected_name(p->policy, after)))
		differs(p, "planted", before, after, seed);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		bool denied = !seatbelt(p, operations[i], before);
		counts[1] += denied;
		if (!denied || !seatbelt(p, operations[i], after))
			continue;
		if (i > 0 && is_exempt(p->policy, after) && protected_name(p->policy, before))
			continue;
		/* removing: a name is on the way to a place of one tree, and on no way elsewhere */
		if ((i == 2 && !inside[0]) || (i == 2 && on_way(p->policy, ~0u, before)))
			continue;
		if (i != 1 && opened_there(p->policy, after))
			continue;
		counts[2]++;
		differs(p, operations[i], before, after, seed);
	}
}

/* Mostly where something may be written. */
static void random_end(char *to, size_t size)
{
	char name[100];

	random_path(name, sizeof(name), false);
	snprintf(to, size, "%s%s", below(4) ? "/p" : "", name[1] || !below(4) ? name : "/a");
	if (!strcmp(to, "/p/"))
		to[2] = '\0';
}

Test(seatbelt, moves)
{
	const char *seed_text = getenv("HURDLE_SEED");
	char from[128], to[128], inside[128];
	size_t counts[3] = { 0 };

	state = seed_text ? strtoull(seed_text, NULL, 10) : 7;
	for (int i = 0; i < POLICIES; i++) {
		uint64_t seed = state;
		_cleanup_(pair_release) struct pair p = pair_of(random_policy(), &plain);

		for (int n = 0; n < PATHS; n++) {
			random_end(from, sizeof(from));
			random_end(to, sizeof(to));
			random_path(inside, sizeof(inside), false);
			if (!below(6))
				snprintf(to, sizeof(to), "/p/s/t/a");
			compare_move(&p, from, to, inside[1] ? inside : "", seed, counts);
		}
		if (seed_text)
			return;
	}
	cr_assert(counts[0] > 5000 && counts[1] > 1000, "%zu moves, %zu of them with something denied inside", counts[0], counts[1]);
}

/* Volumes that ignore case: a name that does not exist yet comes as it was typed. */
Test(seatbelt, any_case)
{
	static const struct seatbelt_options any = { .any_case = true, .proxy_port = 3128 };

	state = 3;
	for (int i = 0; i < 300; i++) {
		struct policy *policy = random_policy();
		char path[128];
		size_t size, counts[4] = { 0 };
		struct pair p = { .policy = policy, .profile = seatbelt_profile(policy, &any) };
		char *error = NULL;

		for (size_t n = 0; n < policy->n_rules; n++)
			policy->rules[n].icase |= policy->rules[n].kind == RULE_DENY_WRITE || policy->rules[n].kind == RULE_DENY_DELETE;
		p.image = image_from(policy, &size);
		p.judge = sbpl_read(p.profile, NULL, NULL, &error);
		cr_assert(p.judge, "%s", error);
		for (int n = 0; n < PATHS; n++) {
			random_path(path, sizeof(path), false);
			compare_path(&p, path, 0, counts);
		}
		pair_release(&p);
	}
}

/* Only what other profiles use: no interval, no class, no back reference, nothing after a backslash but punctuation. */
static void plain_regex(const char *regex)
{
	for (const char *s = regex; *s; s++) {
		cr_assert(*s != '{' && *s != '}' && strncmp(s, "[:", 2) && strncmp(s, "[.", 2) && strncmp(s, "[=", 2), "%s", regex);
		if (*s == '\\') {
			s++;
			cr_assert(*s && strchr(".^$*+?()[]{}|\\", *s), "\\%c in %s", *s, regex);
		}
	}
}

Test(seatbelt, plain_regular_expressions)
{
	state = 11;
	for (int i = 0; i < 200; i++) {
		_cleanup_(pair_release) struct pair p = pair_of(random_policy(), &plain);
		sbpl_each_regex(p.judge, plain_regex);
	}
}
