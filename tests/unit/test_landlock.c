/* What Landlock is asked for: rights by ABI, roots, and the way around denied files, compared with the policy's own word on random trees. */
#include "platform/base/cleanup.h"
#include "platform/mechanism/landlock_rules.h"
#include "platform/mechanism/mechanism.h"
#include "tests/unit/policy_help.h"

/* ---- rights ---- */

static const struct { int abi; uint64_t with, without; uint64_t scoped; } abis[] = {
	{ 1, LL_WRITE_FILE | LL_MAKE_REG | LL_REMOVE_FILE | LL_MAKE_SYM, LL_REFER | LL_TRUNCATE | LL_IOCTL_DEV, 0 },
	{ 2, LL_REFER, LL_TRUNCATE | LL_IOCTL_DEV, 0 },
	{ 3, LL_REFER | LL_TRUNCATE, LL_IOCTL_DEV, 0 },
	{ 4, LL_REFER | LL_TRUNCATE, LL_IOCTL_DEV, 0 },
	{ 5, LL_REFER | LL_TRUNCATE | LL_IOCTL_DEV, 0, 0 },
	{ 6, LL_REFER | LL_TRUNCATE | LL_IOCTL_DEV, 0, LL_SCOPE_SIGNAL | LL_SCOPE_ABSTRACT_UNIX },
	{ 7, LL_REFER | LL_TRUNCATE | LL_IOCTL_DEV, 0, LL_SCOPE_SIGNAL | LL_SCOPE_ABSTRACT_UNIX },
	{ 12, LL_REFER | LL_TRUNCATE | LL_IOCTL_DEV, ~((LL_IOCTL_DEV << 1) - 1), LL_SCOPE_SIGNAL | LL_SCOPE_ABSTRACT_UNIX },
};

Test(landlock, asks_each_version_for_no_more_than_it_has)
{
	for (size_t i = 0; i < ARRAY_SIZE(abis); i++) {
		struct scratch s;
		struct landlock_rules r;

		scratch_begin(&s);
		const struct landlock_terms t = { .abi = abis[i].abi };
		cr_assert(landlock_rules_make(s.p, &t, &r) == 0);
		cr_expect((r.handled & abis[i].with) == abis[i].with && !(r.handled & abis[i].without), "ABI %d: %llx", abis[i].abi,
			  (unsigned long long)r.handled);
		cr_expect(r.scoped == abis[i].scoped, "ABI %d: %llx", abis[i].abi, (unsigned long long)r.scoped);
		/* nothing denied: reading is not touched, and listing never */
		cr_expect(!(r.handled & (LL_READ_FILE | LL_READ_DIR | LL_EXECUTE)));
		uint64_t dir = landlock_granted(&r, GRANT_WRITE, true), file = landlock_granted(&r, GRANT_WRITE, false);
		cr_expect(!(dir & ~r.handled) && !(dir & (LL_MAKE_CHAR | LL_MAKE_BLOCK)) && (dir & LL_REMOVE_DIR));
		cr_expect(file == (dir & LL_OF_FILES) && (file & LL_WRITE_FILE));
		landlock_rules_release(&r);
		scratch_end(&s);
	}
}

Test(landlock, inside_other_walls_only_processes_and_sockets)
{
	struct scratch s;
	struct landlock_rules r;

	scratch_begin(&s);
	cr_assert(landlock_rules_make(s.p, &(struct landlock_terms){ .abi = 7, .walls = true }, &r) == 0);
	cr_expect(r.handled == 0 && r.n == 0 && r.scoped == (LL_SCOPE_SIGNAL | LL_SCOPE_ABSTRACT_UNIX));
	s.p->unix_open = true;
	cr_assert(landlock_rules_make(s.p, &(struct landlock_terms){ .abi = 7, .walls = true }, &r) == 0);
	cr_expect(r.scoped == LL_SCOPE_SIGNAL);
	cr_assert(landlock_rules_make(s.p, &(struct landlock_terms){ .abi = 5, .walls = true }, &r) == 0);
	cr_expect(r.scoped == 0 && r.handled == 0);
	scratch_end(&s);
}

Test(landlock, names_of_rights)
{
	_cleanup_free_ char *names = landlock_right_names(LL_EXECUTE | LL_MAKE_REG | LL_IOCTL_DEV), *none = landlock_right_names(0);

	cr_expect(strcmp(names, "execute make-reg ioctl-dev") == 0);
	cr_expect(strcmp(none, "") == 0);
}

/* ---- roots ---- */

static void rule(struct scratch *s, enum rule_kind kind, const char *path)
{
	cr_assert(policy_add(s->p, kind, LAYER_FLAGS, in(s, path), NULL, ADD_LITERAL, "test", &s->err) >= 0, "%s", path);
}

/* As the kernel has it: some path on the way up has a rule with the right. */
static bool granted(const struct landlock_rules *r, const char *path, bool write)
{
	for (size_t i = 0; i < r->n; i++)
		if ((!write || r->grants[i].kind != GRANT_READ) && path_under(path, *r->grants[i].path ? r->grants[i].path : "/"))
			return true;
	return false;
}

static bool readable(const struct landlock_rules *r, const char *path)
{
	return !(r->handled & LL_READ_FILE) || granted(r, path, false);
}

static void make(struct scratch *s, struct landlock_rules *r)
{
	cr_assert(landlock_rules_make(s->p, &(struct landlock_terms){ .abi = 7, .root = true }, r) == 0);
}

Test(landlock, grants_write_roots_that_no_deny_from_above_takes_away)
{
	struct scratch s;
	struct landlock_rules r;

	scratch_begin(&s);
	make_dir(&s, "@/a/b");
	make_dir(&s, "@/x/y");
	make_file(&s, "@/file", "");
	rule(&s, RULE_ALLOW_WRITE, "@/a");
	rule(&s, RULE_ALLOW_WRITE, "@/x/y");
	rule(&s, RULE_ALLOW_WRITE, "@/file");
	rule(&s, RULE_DENY_WRITE, "@/x");
	rule(&s, RULE_DENY_WRITE, "@/a/b");
	make(&s, &r);
	cr_expect(granted(&r, in(&s, "@/a/new"), true));
	cr_expect(granted(&r, in(&s, "@/a/b"), true), "what lies in a root cannot be taken out");
	cr_expect(granted(&r, in(&s, "@/file"), true));
	cr_expect(!granted(&r, in(&s, "@/x/y/z"), true));
	cr_expect(!granted(&r, in(&s, "@/home"), true));
	landlock_rules_release(&r);
	scratch_end(&s);
}

/* ---- what is claimed of an older kernel ---- */

static enum extent holds(const struct view *v, enum guarantee g, const char *path, const char *caveat)
{
	struct rule r = { .kind = g == G_fs_write ? RULE_ALLOW_WRITE : RULE_SESSION, .guarantee = g, .path = (char *)(uintptr_t)path };
	struct strv caveats = { 0 };
	bool found = !caveat;

	enum extent extent = mechanism_landlock.holds(v, &r, &caveats);
	for (size_t i = 0; i < caveats.n; i++)
		found |= caveat && strstr(caveats.v[i], caveat);
	strv_free(&caveats);
	cr_expect(found, "%s: no caveat '%s'", guarantee_info(g)->name, caveat);
	return extent;
}

Test(landlock, claims_no_more_than_the_version_gives)
{
	struct scratch s;

	scratch_begin(&s);
	for (int abi = 1; abi <= 9; abi++) {
		struct host h = { .landlock_abi = abi };
		const struct view v = { .host = &h, .policy = s.p };

		cr_expect(holds(&v, G_fs_write, s.cwd, abi < 3 ? "emptied with truncate" : NULL) == (abi < 3 ? HOLDS_PART : HOLDS_WHOLE), "ABI %d", abi);
		holds(&v, G_fs_write, s.cwd, abi < 2 ? "renames and links" : NULL);
		cr_expect(holds(&v, G_exec_coverage, NULL, NULL) == (abi < 3 ? HOLDS_NOT : HOLDS_WHOLE), "ABI %d", abi);
		cr_expect(holds(&v, G_proc_isolation, NULL, abi < 6 ? "signals" : NULL) == (abi < 6 ? HOLDS_PART : HOLDS_WHOLE), "ABI %d", abi);
		cr_expect(holds(&v, G_net_unix, NULL, NULL) == (abi < 6 ? HOLDS_NOT : HOLDS_PART), "ABI %d", abi);
		cr_expect(holds(&v, G_env_ancestors, NULL, NULL) == HOLDS_WHOLE);
		cr_expect(holds(&v, G_fs_metadata, NULL, NULL) == HOLDS_NOT && holds(&v, G_net_egress, NULL, NULL) == HOLDS_NOT);
	}
	scratch_end(&s);
}

/* ---- the way around what is denied ---- */

Test(landlock, grants_what_stands_beside_a_denied_file)
{
	struct scratch s;
	struct landlock_rules r;

	scratch_begin(&s);
	make_dir(&s, "@/home/.ssh/keys");
	make_dir(&s, "@/home/.ssh-not");
	make_dir(&s, "@/home/empty");
	make_file(&s, "@/home/.ssh/id", "");
	make_file(&s, "@/home/.ssh/id.pub", "");
	make_file(&s, "@/home/.ssh/config", "");
	make_file(&s, "@/home/other", "");
	rule(&s, RULE_ALLOW_WRITE, "@/cwd");
	rule(&s, RULE_DENY_READ, "@/home/.ssh");
	rule(&s, RULE_DENY_READ, "@/home/empty");
	rule(&s, RULE_DENY_READ, "@/home/missing");
	rule(&s, RULE_DENY_READ, "@/cwd/inside");
	rule(&s, RULE_ALLOW_READ, "@/home/.ssh/config");
	cr_assert(policy_add(s.p, RULE_ALLOW_READ, LAYER_FLAGS, in(&s, "@/home/.ssh/*.pub"), NULL, 0, "test", &s.err) >= 0);
	make(&s, &r);
	cr_expect(!readable(&r, in(&s, "@/home/.ssh/id")) && !readable(&r, in(&s, "@/home/.ssh/keys/a")));
	cr_expect(readable(&r, in(&s, "@/home/.ssh/config")) && readable(&r, in(&s, "@/home/.ssh/id.pub")));
	cr_expect(readable(&r, in(&s, "@/home/other")) && readable(&r, in(&s, "@/home/.ssh-not/x")) && readable(&r, "/usr/bin/env"));
	cr_expect(readable(&r, in(&s, "@/cwd/made-later")) && !readable(&r, in(&s, "@/home/made-later")));
	cr_expect(landlock_read_state(&r, s.p, in(&s, "@/home/.ssh")) == LANDLOCK_READ_HELD);
	cr_expect(landlock_read_state(&r, s.p, in(&s, "@/home/missing")) == LANDLOCK_READ_ABSENT);
	cr_expect(landlock_read_state(&r, s.p, in(&s, "@/home/empty")) == LANDLOCK_READ_ABSENT);
	cr_expect(landlock_read_state(&r, s.p, in(&s, "@/cwd/inside")) == LANDLOCK_READ_NOT);
	cr_expect(landlock_read_state(&r, s.p, "/proc/1/environ") == LANDLOCK_READ_NOT);
	landlock_rules_release(&r);
	scratch_end(&s);
}

Test(landlock, gives_up_where_too_much_stands_beside)
{
	struct scratch s;
	struct landlock_rules r;

	scratch_begin(&s);
	make_dir(&s, "@/many");
	make_dir(&s, "@/few");
	make_file(&s, "@/few/secret", "");
	make_file(&s, "@/few/other", "");
	for (int i = 0; i < LANDLOCK_CROWD + 1; i++) {
		char name[40];

		snprintf(name, sizeof(name), "@/many/%d", i);
		make_file(&s, name, "");
	}
	rule(&s, RULE_DENY_READ, "@/many/7");
	rule(&s, RULE_DENY_READ, "@/few/secret");
	make(&s, &r);
	cr_expect(r.crowded.n == 1 && strcmp(r.crowded.v[0], in(&s, "@/many")) == 0);
	cr_expect(landlock_read_state(&r, s.p, in(&s, "@/many/7")) == LANDLOCK_READ_NOT && readable(&r, in(&s, "@/many/7")));
	cr_expect(landlock_read_state(&r, s.p, in(&s, "@/few/secret")) == LANDLOCK_READ_HELD && !readable(&r, in(&s, "@/few/secret")));
	cr_expect(readable(&r, in(&s, "@/few/other")));
	cr_expect(r.n < 2000);
	landlock_rules_release(&r);
	scratch_end(&s);
}

Test(landlock, a_program_that_may_not_be_run_is_not_read_either)
{
	struct scratch s;
	struct landlock_rules r;

	scratch_begin(&s);
	make_file(&s, "@/home/tool", "");
	make_file(&s, "@/home/other", "");
	rule(&s, RULE_DENY_EXEC, "@/home/tool");
	make(&s, &r);
	cr_expect((r.handled & LL_EXECUTE) && !readable(&r, in(&s, "@/home/tool")) && readable(&r, in(&s, "@/home/other")));
	landlock_rules_release(&r);
	scratch_end(&s);
}

/* ---- random trees ---- */

enum { TREES = 300, RULES = 7, NAMES = 5 };
static const char *const names[NAMES] = { "a", "b", "a-b", "b.c", "ab" };

static uint64_t state = 20261201;
static unsigned chance(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

static void grow(struct scratch *s, const char *dir, int depth, struct strv *files)
{
	for (int i = 0; i < NAMES; i++) {
		_cleanup_free_ char *path = strf("%s/%s", dir, names[i]);
		unsigned kind = chance(4);

		if (kind == 0)
			continue;
		if (kind == 1 && depth < 3) {
			make_dir(s, path);
			grow(s, path, depth + 1, files);
		} else {
			make_file(s, path, "");
			strv_add(files, path);
		}
	}
}

static char *random_path(void)
{
	struct str p = STR_INIT;

	str_add(&p, "@/t");
	for (unsigned n = chance(4); n > 0; n--)
		str_addf(&p, "/%s", names[chance(NAMES)]);
	return str_take(&p);
}

static void random_rules(struct scratch *s)
{
	static const enum rule_kind kinds[] = { RULE_DENY_READ, RULE_DENY_READ, RULE_DENY_READ, RULE_ALLOW_READ, RULE_ALLOW_READ, RULE_ALLOW_WRITE,
						RULE_DENY_WRITE };

	for (unsigned n = 1 + chance(RULES); n > 0; n--) {
		_cleanup_free_ char *path = random_path();
		enum layer layer = chance(4) ? LAYER_FLAGS : LAYER_MANAGED;

		policy_add(s->p, kinds[chance(ARRAY_SIZE(kinds))], layer, in(s, path), NULL, ADD_LITERAL | ADD_OF_FILE, "test", &s->err);
	}
}

static bool policy_allows(const struct image *img, enum access access, const char *path)
{
	struct verdict v;

	policy_decide(img, access, path, strlen(path), &v);
	return v.outcome == OUTCOME_ALLOW;
}

static void compare(struct scratch *s, const struct landlock_rules *r, const struct image *img, const char *path, size_t *ret_denied)
{
	bool read = policy_allows(img, ACCESS_READ, path), write = policy_allows(img, ACCESS_WRITE, path);

	*ret_denied += !read;
	/* all that the policy allows is granted; what it denies is not, but inside of a root */
	cr_assert(!read || readable(r, path), "may be read, is not granted: %s", path);
	cr_assert(read || !readable(r, path) || landlock_under_root(s->p, path), "may not be read, is granted: %s", path);
	cr_assert(!write || granted(r, path, true), "may be written, is not granted: %s", path);
	cr_assert(write || !granted(r, path, true) || landlock_under_root(s->p, path), "may not be written, is granted: %s", path);
}

Test(landlock, equals_the_policy_on_random_trees)
{
	size_t denied = 0, files = 0;

	for (int i = 0; i < TREES; i++) {
		struct scratch s;
		struct landlock_rules r;
		struct strv list = { 0 };
		struct image *img;
		size_t size;

		scratch_begin(&s);
		make_dir(&s, "@/t");
		grow(&s, "@/t", 0, &list);
		random_rules(&s);
		make(&s, &r);
		cr_assert(policy_compile(s.p, &(struct image_options){ 0 }, &img, &size, &s.err) == 0);
		for (size_t f = 0; f < list.n; f++)
			compare(&s, &r, img, in(&s, list.v[f]), &denied);
		files += list.n;
		free(img);
		strv_free(&list);
		landlock_rules_release(&r);
		scratch_end(&s);
	}
	cr_assert(denied > 200 && files > denied + 200, "%zu of %zu denied", denied, files);
}
