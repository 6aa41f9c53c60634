/* paths.c, rules.c, patterns.c, policy.c, words.c: texts of entries become rules. */
#include <errno.h>
#include "platform/base/cleanup.h"
#include "platform/policy/paths.h"
#include "tests/unit/policy_help.h"

TestSuite(paths, .timeout = 20);

Test(paths, absolute)
{
	static const struct { const char *text, *want; } rows[] = {
		{ "a", "/base/a" }, { "./a", "/base/a" }, { ".", "/base" }, { "..", "/" }, { "../..", "/" }, { "../x", "/x" },
		{ "a//b", "/base/a/b" }, { "a/./b", "/base/a/b" }, { "a/x/../b", "/base/a/b" }, { "a/", "/base/a" }, { "", "/base" },
		{ "/", "/" }, { "//", "/" }, { "//x", "/x" }, { "///x//y/", "/x/y" }, { "/..", "/" }, { "/a/..", "/" }, { "/a/../../b", "/b" },
		{ "~", "/home/u" }, { "~/", "/home/u" }, { "~/x", "/home/u/x" }, { "~//x", "/home/u/x" }, { "~/../v", "/home/v" },
		{ "~x", "/base/~x" }, { "a~", "/base/a~" }, { "...", "/base/..." }, { "..a", "/base/..a" }, { "a b\n", "/base/a b\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *got = path_absolute(rows[i].text, "/base", "/home/u");
		cr_assert_str_eq(got, rows[i].want, "%s: %s, not %s", rows[i].text, got, rows[i].want);
	}
	cr_assert_null(path_absolute("~/x", "/base", NULL), "no home directory");
}

Test(paths, under)
{
	static const struct { const char *path, *root; bool want; } rows[] = {
		{ "/a", "/a", true }, { "/a/b", "/a", true }, { "/ab", "/a", false }, { "/a", "/a/b", false }, { "/", "/", true },
		{ "/a", "/", true }, { "/a/b", "/a/", true }, { "/a", "/a/", true }, { "/b", "/a", false }, { "/A", "/a", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(path_under(rows[i].path, rows[i].root), rows[i].want, "%s under %s", rows[i].path, rows[i].root);
}

Test(paths, strip)
{
	static const struct { const char *text, *want, *literal; } rows[] = {
		{ "/a/", "/a", "/a" }, { "/a/.", "/a", "/a" }, { "/a/**", "/a", "/a/**" }, { "/a/**/", "/a", "/a/**" }, { "/a/./**/.//", "/a", "/a/./**" },
		{ "/", "/", "/" }, { "/.", "/", "/" }, { "/**", "/", "/**" }, { "//", "/", "/" }, { ".", ".", "." }, { "./", ".", "." }, { "**", "**", "**" },
		{ "a**", "a**", "a**" }, { "a/*", "a/*", "a/*" }, { "/..", "/..", "/.." }, { "~/", "~", "~" }, { "a/.b", "a/.b", "a/.b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *got = path_strip(rows[i].text, false), *literal = path_strip(rows[i].text, true);
		cr_assert_str_eq(got, rows[i].want, "%s: %s", rows[i].text, got);
		cr_assert_str_eq(literal, rows[i].literal, "%s, literal: %s", rows[i].text, literal);
	}
}

/* Targets with "@" and without, chains, dangling ones, a tail that is not there. */
Test(paths, resolve)
{
	static const struct { const char *path, *want; int code; } rows[] = {
		{ "@/cwd/dir/file", "@/cwd/dir/file", 0 }, { "@/cwd/none", "@/cwd/none", 0 }, { "@/cwd/none/x/y", "@/cwd/none/x/y", 0 },
		{ "@/cwd/link", "@/cwd/dir", 0 }, { "@/cwd/link/file", "@/cwd/dir/file", 0 }, { "@/cwd/link/new", "@/cwd/dir/new", 0 },
		{ "@/cwd/rel", "@/cwd/dir", 0 }, { "@/cwd/chain/new", "@/cwd/dir/new", 0 }, { "@/cwd/dangling", "@/gone/x", 0 },
		{ "@/cwd/dangling/y", "@/gone/x/y", 0 }, { "@/cwd/up", "@/home", 0 }, { "@/cwd/link/..", "@/cwd", 0 },
		{ "@/cwd/up/../cwd", "@/cwd", 0 }, { "@/cwd/dir/file/x", "@/cwd/dir/file/x", 0 }, { "/", "/", 0 }, { "/..", "/", 0 },
		{ "@/cwd/loop", NULL, -ELOOP }, { "@/cwd/loop/x", NULL, -ELOOP }, { "@/cwd/self", NULL, -ELOOP },
	};
	struct scratch s;
	char name[300];

	scratch_begin(&s);
	make_dir(&s, "@/cwd/dir");
	make_file(&s, "@/cwd/dir/file", "");
	make_link(&s, "@/cwd/dir", "@/cwd/link");
	make_link(&s, "./dir", "@/cwd/rel");
	make_link(&s, "link", "@/cwd/chain");
	make_link(&s, "@/gone/x", "@/cwd/dangling");
	make_link(&s, "../home/", "@/cwd/up");
	make_link(&s, "pool", "@/cwd/loop");
	make_link(&s, "loop", "@/cwd/pool");
	make_link(&s, "self", "@/cwd/self");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *got = NULL;
		int r = path_resolve(in(&s, rows[i].path), &got);

		cr_assert_eq(r, rows[i].code, "%s: %d", rows[i].path, r);
		if (rows[i].want)
			cr_assert_str_eq(got, in(&s, rows[i].want), "%s: %s", rows[i].path, got);
	}
	_cleanup_free_ char *got = NULL;
	memset(name, 'n', sizeof(name));
	memcpy(name, "/", 1);
	name[sizeof(name) - 1] = '\0';
	cr_assert_eq(path_resolve(name, &got), -ENAMETOOLONG);
	scratch_end(&s);
}

/* One entry, what policy_add returns, and the rule that comes of it. */
struct entry_row {
	enum rule_kind kind;
	enum layer layer;
	unsigned flags;
	const char *text;
	int code;
	const char *path, *written;
	bool pattern;
	const char *words; /* in the error, or in a warning when code is 0 */
};

static void check_entry(struct scratch *s, const struct entry_row *row)
{
	const struct rule *r;
	int code;

	scratch_again(s);
	code = policy_add(s->p, row->kind, row->layer, in(s, row->text), NULL, row->flags, "ORIGIN", &s->err);
	cr_assert_eq(code, row->code, "%s: %d, not %d (%s)", row->text, code, row->code, s->err.text ? s->err.text : "");
	if (code < 0)
		cr_assert(s->err.text && strstr(s->err.text, row->words) && !strncmp(s->err.text, "ORIGIN: ", 8), "%s: %s", row->text, s->err.text);
	else if (row->words)
		cr_assert(warned(s->p, row->words) && warned(s->p, "ORIGIN: "), "%s: no warning", row->text);
	else
		cr_assert_eq(s->p->warnings.n, 0, "%s: %s", row->text, s->p->warnings.v ? s->p->warnings.v[0] : "");
	cr_assert_eq(s->p->n_rules > 0, row->path != NULL, "%s: %zu rules", row->text, s->p->n_rules);
	if (!row->path)
		return;
	r = &s->p->rules[0];
	cr_assert_str_eq(r->path, in(s, row->path), "%s: %s", row->text, r->path);
	cr_assert_eq(r->pattern, row->pattern, "%s: pattern", row->text);
	cr_assert_eq(!r->written, !row->written, "%s: written %s", row->text, r->written);
	if (row->written)
		cr_assert_str_eq(r->written, in(s, row->written), "%s: written %s", row->text, r->written);
	cr_assert_str_eq(r->text, in(s, row->text));
	cr_assert_str_eq(r->origin, "ORIGIN");
}

Test(paths, literal_entries)
{
	static const struct entry_row rows[] = {
		{ RULE_DENY_READ, LAYER_USER, 0, "~/.x", 1, "@/home/.x" },
		{ RULE_DENY_READ, LAYER_USER, 0, "~", 1, "@/home" },
		{ RULE_DENY_READ, LAYER_USER, 0, "dir/**", 1, "@/cwd/dir" },
		{ RULE_DENY_READ, LAYER_USER, 0, "./dir/", 1, "@/cwd/dir" },
		{ RULE_DENY_READ, LAYER_USER, 0, "/@/cwd/dir/.", 1, "@/cwd/dir" },
		{ RULE_DENY_READ, LAYER_USER, 0, "none/below", 1, "@/cwd/none/below" },
		{ RULE_DENY_READ, LAYER_USER, 0, "/", 1, "/" },
		{ RULE_DENY_READ, LAYER_USER, 0, "link", 1, "@/cwd/dir", "@/cwd/link" },
		{ RULE_DENY_WRITE, LAYER_USER, 0, "dangling", 1, "@/gone", "@/cwd/dangling" },
		{ RULE_DENY_WRITE, LAYER_USER, 0, "out/../x", 1, "@/x-not-there", NULL, false, NULL }, /* replaced below */
		{ RULE_DENY_WRITE, LAYER_USER, ADD_LITERAL, "a*[b]?", 1, "@/cwd/a*[b]?" },
		{ RULE_DENY_WRITE, LAYER_USER, ADD_LITERAL, "a/**", 1, "@/cwd/a/**" },
		{ RULE_DENY_WRITE, LAYER_USER, ADD_LITERAL, "~/[x]", 1, "@/home/[x]" },
		{ RULE_DENY_WRITE, LAYER_USER, 0, "loop", -ELOOP, NULL, NULL, false, "cycle" },
		{ RULE_DENY_WRITE, LAYER_DEFAULT, 0, "loop", 1, "@/cwd/loop" },
		{ RULE_DENY_READ, LAYER_USER, 0, "", -EINVAL, NULL, NULL, false, "empty" },
		{ RULE_DENY_READ, LAYER_USER, 0, "~somebody/x", -EINVAL, NULL, NULL, false, "other users" },
		{ RULE_DENY_READ, LAYER_USER, 0, "./~somebody", 1, "@/cwd/~somebody" },
		{ RULE_DENY_READ, LAYER_USER, 0, "/proc/self/environ", 0, NULL, NULL, false, "another file in each process" },
		{ RULE_ALLOW_WRITE, LAYER_USER, 0, "dir", 1, "@/cwd/dir" },
		{ RULE_ALLOW_WRITE, LAYER_USER, 0, "none", 0, NULL, NULL, false, "does not exist" },
		{ RULE_ALLOW_WRITE, LAYER_DEFAULT, 0, "none", 0 },
		{ RULE_ALLOW_WRITE, LAYER_FLAGS, 0, "none", -ENOENT, NULL, NULL, false, "does not exist" },
		{ RULE_ALLOW_WRITE, LAYER_USER, 0, "dangling", 0, NULL, NULL, false, "does not exist" },
		{ RULE_ALLOW_WRITE, LAYER_USER, 0, "loop", 0, NULL, NULL, false, "cycle" },
		{ RULE_ALLOW_WRITE, LAYER_FLAGS, 0, "loop", -ELOOP, NULL, NULL, false, "cycle" },
		{ RULE_ALLOW_WRITE, LAYER_USER, 0, "link", 1, "@/cwd/dir", "@/cwd/link" },
		{ RULE_ALLOW_WRITE, LAYER_USER, 0, "out", 0, NULL, NULL, false, "leads out" },
		{ RULE_ALLOW_WRITE, LAYER_FLAGS, 0, "@/cwd/out", 0, NULL, NULL, false, "leads out" },
		{ RULE_ALLOW_WRITE, LAYER_USER, 0, "out/deep", 0, NULL, NULL, false, "leads out" },
		{ RULE_ALLOW_WRITE, LAYER_USER, 0, "@/cwd/out/deep", 1, "@/home/deep", "@/cwd/out/deep" },
		{ RULE_ALLOW_READ, LAYER_USER, 0, "none", 1, "@/cwd/none" },
		{ RULE_ALLOW_SOCKET, LAYER_USER, 0, "@/s.sock", 1, "@/s.sock" },
		{ RULE_ALLOW_SOCKET, LAYER_USER, 0, "@/docker.sock", 1, "@/docker.sock", NULL, false, "container engine" },
		{ RULE_ALLOW_SOCKET, LAYER_USER, 0, "/run", 1, "/run", NULL, false, "container engine" },
	};
	struct scratch s;

	scratch_begin(&s);
	make_dir(&s, "@/cwd/dir");
	make_dir(&s, "@/home/deep");
	make_dir(&s, "@/x");
	make_link(&s, "dir", "@/cwd/link");
	make_link(&s, "@/home", "@/cwd/out");
	make_link(&s, "@/gone", "@/cwd/dangling");
	make_link(&s, "loop", "@/cwd/loop");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct entry_row row = rows[i];

		if (!strcmp(row.text, "out/../x")) { /* the kernel goes up from the link's target */
			row.path = "@/x";
			row.written = "@/cwd/x";
		}
		check_entry(&s, &row);
	}
	scratch_end(&s);
}

Test(paths, patterns)
{
	static const struct entry_row rows[] = {
		{ RULE_DENY_WRITE, LAYER_USER, 0, "*.pem", 1, "@/cwd/*.pem", NULL, true },
		{ RULE_DENY_WRITE, LAYER_USER, ADD_ANYWHERE, "*.pem", 1, "/**/*.pem", NULL, true },
		{ RULE_DENY_WRITE, LAYER_USER, ADD_ANYWHERE, "./*.pem", 1, "@/cwd/*.pem", NULL, true },
		{ RULE_DENY_WRITE, LAYER_USER, ADD_ANYWHERE, "~/*.pem", 1, "@/home/*.pem", NULL, true },
		{ RULE_DENY_WRITE, LAYER_USER, 0, "**/*.pem", 1, "/**/*.pem", NULL, true },
		{ RULE_DENY_WRITE, LAYER_USER, 0, "**/**/x?", 1, "/**/x?", NULL, true },
		{ RULE_ALLOW_READ, LAYER_USER, 0, "**/*.pub", 1, "@/cwd/**/*.pub", NULL, true },
		{ RULE_ALLOW_READ, LAYER_USER, ADD_ANYWHERE, "*.pub", 1, "@/cwd/*.pub", NULL, true },
		{ RULE_ALLOW_WRITE, LAYER_FLAGS, 0, "/var/log/*.log", 1, "/var/log/*.log", NULL, true },
		{ RULE_DENY_READ, LAYER_USER, 0, "~/**/key[0-9]/**", 1, "@/home/**/key[0-9]", NULL, true },
		{ RULE_DENY_READ, LAYER_USER, 0, "//x//./a*/.", 1, "/x/a*", NULL, true },
		{ RULE_DENY_READ, LAYER_USER, 0, "../*.c", 1, "@/*.c", NULL, true },
		{ RULE_DENY_READ, LAYER_USER, 0, "link/a*", 1, "@/cwd/dir/a*", NULL, true },
		{ RULE_DENY_READ, LAYER_USER, 0, "odd/a*", 1, "@/cwd/\\[x\\]\\*/a*", NULL, true },
		{ RULE_DENY_READ, LAYER_USER, 0, "a*/../b", -EINVAL, NULL, NULL, false, "'..' cannot follow" },
		{ RULE_DENY_READ, LAYER_USER, 0, "loop/a*", -ELOOP, NULL, NULL, false, "cycle" },
		{ RULE_DENY_READ, LAYER_USER, 0, "/**/a/**/b/**/c/**/d/**/e/**/f/**/g/**/h*", 1, "/**/a/**/b/**/c/**/d/**/e/**/f/**/g/**/h*", NULL, true },
		{ RULE_DENY_READ, LAYER_USER, 0, "/**/a/**/b/**/c/**/d/**/e/**/f/**/g/**/h/**/i", -EINVAL, NULL, NULL, false, "more than 8" },
		{ RULE_PROTECT_NAME, LAYER_DEFAULT, ADD_ICASE, ".git/hooks", 1, "/**/.git/hooks", NULL, true },
	};
	struct scratch s;

	scratch_begin(&s);
	make_dir(&s, "@/cwd/dir");
	make_dir(&s, "@/cwd/[x]*");
	make_link(&s, "dir", "@/cwd/link");
	make_link(&s, "[x]*", "@/cwd/odd");
	make_link(&s, "loop", "@/cwd/loop");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_entry(&s, &rows[i]);

	/* cwd itself may hold special characters */
	policy_free(s.p);
	s.p = policy_new(in(&s, "@/cwd/[x]*"), NULL);
	cr_assert_eq(policy_add(s.p, RULE_DENY_READ, LAYER_USER, "*.c", NULL, 0, "ORIGIN", &s.err), 1);
	cr_assert_str_eq(s.p->rules[0].path, in(&s, "@/cwd/\\[x\\]\\*/*.c"));
	cr_assert(glob_match(s.p->rules[0].path, strlen(s.p->rules[0].path), in(&s, "@/cwd/[x]*/a.c"), strlen(in(&s, "@/cwd/[x]*/a.c")), false));
	cr_assert_eq(policy_add(s.p, RULE_DENY_READ, LAYER_USER, "~/x", NULL, 0, "ORIGIN", &s.err), -EINVAL, "no home");
	cr_assert_eq(policy_add(s.p, RULE_DENY_READ, LAYER_DEFAULT, "~/x", NULL, 0, "default", &s.err), 0, "no home");
	scratch_end(&s);
}

/* "[id]" may be a directory of that name: a deny means both, an allow says so. */
Test(paths, pattern_that_is_a_name)
{
	struct scratch s;

	scratch_begin(&s);
	make_dir(&s, "@/cwd/[id]");
	cr_assert_eq(policy_add(s.p, RULE_DENY_WRITE, LAYER_USER, "[id]", NULL, 0, "ORIGIN", &s.err), 1);
	cr_assert_eq(s.p->n_rules, 2);
	cr_assert(find_rule(s.p, RULE_DENY_WRITE, in(&s, "@/cwd/[id]"))->pattern);
	cr_assert(!s.p->rules[1].pattern);
	cr_assert_eq(policy_add(s.p, RULE_ALLOW_READ, LAYER_USER, "[id]", NULL, 0, "ORIGIN", &s.err), 1);
	cr_assert_eq(s.p->n_rules, 3);
	cr_assert(warned(s.p, "taken as a pattern"));
	scratch_end(&s);
}

Test(paths, too_long)
{
	struct scratch s;
	char text[5000];

	scratch_begin(&s);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 ? 'a' : '/';
	text[4096] = '\0';
	cr_assert_eq(policy_add(s.p, RULE_DENY_READ, LAYER_USER, text, NULL, 0, "ORIGIN", &s.err), -ENAMETOOLONG);
	cr_assert(strstr(s.err.text, "4095"), "%s", s.err.text);
	text[4094] = '\0';
	cr_assert_eq(policy_add(s.p, RULE_DENY_READ, LAYER_USER, text, NULL, 0, "ORIGIN", &s.err), 1);
	/* short enough as written, too long below cwd */
	cr_assert_eq(policy_add(s.p, RULE_DENY_READ, LAYER_USER, text + 1, NULL, 0, "ORIGIN", &s.err), -ENAMETOOLONG);
	text[4000] = '*';
	text[4094] = '\0';
	cr_assert_eq(policy_add(s.p, RULE_DENY_READ, LAYER_USER, text + 1, NULL, 0, "ORIGIN", &s.err), -ENAMETOOLONG);
	scratch_end(&s);
}

Test(paths, repeats_and_guarantees)
{
	static const struct { enum rule_kind kind; const char *text; enum guarantee want; } rows[] = {
		{ RULE_ALLOW_WRITE, "/", G_fs_write }, { RULE_ALLOW_WRITE, "/x*", G_fs_write }, { RULE_DENY_WRITE, "/x", G_fs_write_deny },
		{ RULE_DENY_WRITE, "/x*", G_fs_write_names }, { RULE_DENY_DELETE, "/x", G_fs_write_deny }, { RULE_DENY_DELETE, "/x*", G_fs_write_names },
		{ RULE_PROTECT_NAME, "x", G_fs_write_names }, { RULE_DENY_READ, "/x", G_fs_read_deny }, { RULE_DENY_READ, "/x*", G_fs_read_names },
		{ RULE_DENY_EXEC, "/x", G_fs_exec }, { RULE_GRANT_EXEC, "/x*", G_fs_exec }, { RULE_ALLOW_SOCKET, "/x", G_net_unix },
	};
	struct scratch s;

	scratch_begin(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cr_assert_eq(policy_add(s.p, rows[i].kind, LAYER_USER, rows[i].text, NULL, 0, "ORIGIN", &s.err), 1);
		cr_assert_eq(s.p->rules[i].guarantee, rows[i].want, "row %zu: %s", i, guarantee_info(s.p->rules[i].guarantee)->name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		policy_add(s.p, rows[i].kind, LAYER_PROJECT - 1, rows[i].text, NULL, 0, "again", &s.err);
	cr_assert_eq(s.p->n_rules, ARRAY_SIZE(rows), "repeats");
	policy_add(s.p, RULE_DENY_READ, LAYER_MANAGED, "/x", NULL, 0, "managed", &s.err);
	cr_assert_eq(s.p->n_rules, ARRAY_SIZE(rows) + 1, "a higher layer is no repeat");
	scratch_end(&s);
}

Test(paths, mounts_without_case)
{
	static const char mounts[] =
		"none / wslfs rw 0 0\n"
		"C: /mnt/c drvfs rw,noatime,uid=1000,gid=1000,case=off 0 0\n"
		"D: /mnt/d drvfs rw,noatime,case=dir 0 0\n"
		"E:\\134 /mnt/my\\040disk 9p rw,dirsync,aname=drvfs;path=E:\\134;uid=1000,mmap,access=client 0 0\n"
		"F:\\134 /mnt/f 9p rw,dirsync,aname=drvfs;path=F:\\134;case=force,mmap 0 0\n"
		"drivers /usr/lib/wsl/drivers 9p ro,aname=drivers;fmask=222 0 0\n"
		"broken\n\nx y\n";
	struct strv got = { 0 };
	struct scratch s;

	path_icase_mounts(mounts, &got);
	cr_assert_eq(got.n, 2, "%zu", got.n);
	cr_assert_str_eq(got.v[0], "/mnt/c");
	cr_assert_str_eq(got.v[1], "/mnt/my disk");
	strv_free(&got);

	scratch_begin(&s);
	s.p->icase_known = true;
	strv_add(&s.p->icase_mounts, "/mnt/c");
	policy_add(s.p, RULE_DENY_READ, LAYER_USER, "/mnt/c/Users", NULL, 0, "ORIGIN", &s.err);
	policy_add(s.p, RULE_DENY_READ, LAYER_USER, "/mnt/cc", NULL, 0, "ORIGIN", &s.err);
	cr_assert(s.p->rules[0].icase && !s.p->rules[1].icase);
	scratch_end(&s);
}

Test(paths, requirements)
{
	struct scratch s;
	enum level level;
	enum guarantee g;

	scratch_begin(&s);
	cr_assert_eq(policy_require(s.p, "fs.write", "application", "first", &s.err), 0);
	cr_assert_eq(policy_require(s.p, "fs.write", "kernel", "second", &s.err), 0);
	cr_assert_eq(policy_require(s.p, "fs.write", "none", "third", &s.err), 0);
	cr_assert_eq(s.p->n_required, 1);
	cr_assert(s.p->required[0].level == LEVEL_KERNEL && !strcmp(s.p->required[0].origin, "second"), "the strongest counts");
	cr_assert_eq(policy_require(s.p, "all", "best", "fourth", &s.err), 0);
	cr_assert_eq(s.p->n_required, G_COUNT);
	cr_assert_eq(policy_require(s.p, "fs.wrte", "kernel", "--require", &s.err), -EINVAL);
	cr_assert(strstr(s.err.text, "fs.wrte") && strstr(s.err.hint, "\"fs.write\""), "%s %s", s.err.text, s.err.hint);
	cr_assert_eq(policy_require(s.p, "fs.write", "n/a", "--require", &s.err), -EINVAL);
	cr_assert_eq(policy_require(s.p, "fs.write", "", "--require", &s.err), -EINVAL);
	cr_assert_eq(level_parse("supervised", &level), 0);
	cr_assert_eq(level, LEVEL_SUPERVISED);
	cr_assert_eq(guarantee_parse("net.egress", &g), 0);
	cr_assert_str_eq(guarantee_info(g)->name, "net.egress");
	cr_assert_str_eq(level_name(LEVEL_NA), "n/a");
	scratch_end(&s);
}

Test(paths, words)
{
	static const struct { enum rule_kind kind; const char *text, *origin, *want; } rows[] = {
		{ RULE_DENY_READ, "~/.ssh/id_ed25519", "default", "denyRead ~/.ssh/id_ed25519 (default)" },
		{ RULE_ALLOW_WRITE, "/", "--allow-write", "allowWrite / (--allow-write)" },
		{ RULE_PROTECT_NAME, ".git/hooks", "default", "protected name .git/hooks (default)" },
		{ RULE_PROTECT_NAME, ".git/config", "default", "protected name .git/config (default); allowGitConfig lifts it" },
		{ RULE_PROTECT_NAME, ".git/config.worktree", "default", "protected name .git/config.worktree (default); allowGitConfig lifts it" },
		{ RULE_PROTECT_NAME, ".gitconfig", "default", "protected name .gitconfig (default)" },
		{ RULE_DENY_EXEC, "/x", "f.json: filesystem.denyExec[0]", "denyExec /x (f.json: filesystem.denyExec[0])" },
	};
	struct scratch s;
	char *words;

	scratch_begin(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		policy_add(s.p, rows[i].kind, LAYER_USER, rows[i].text, NULL, 0, rows[i].origin, &s.err);
		words = policy_rule_words(s.p, (uint32_t)i, ACCESS_WRITE);
		cr_assert_str_eq(words, rows[i].want, "%s", words);
		free(words);
	}
	words = policy_rule_words(s.p, IMAGE_NONE, ACCESS_CREATE);
	cr_assert_str_eq(words, "not under a write root");
	free(words);
	for (enum access a = ACCESS_READ; a <= ACCESS_CONNECT; a++) {
		words = policy_rule_words(s.p, 12345, a);
		cr_assert(words && *words);
		free(words);
	}
	for (enum rule_kind k = 0; k < RULE_KIND_COUNT; k++)
		cr_assert(rule_kind_name(k), "kind %d", k);
	scratch_end(&s);
}
