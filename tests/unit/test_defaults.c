/* defaults.c, caches.c, repositories.c: what holds without any setting. */
#include <errno.h>
#include "platform/base/cleanup.h"
#include "platform/policy/defaults.h"
#include "tests/unit/policy_help.h"

TestSuite(defaults, .timeout = 20);

static void add_defaults(struct scratch *s)
{
	unsetenv("XDG_CACHE_HOME");
	cr_assert_eq(policy_add_defaults(s->p, &s->err), 0, "%s", s->err.text);
	cr_assert_eq(s->p->warnings.n, 0, "%s", s->p->warnings.n ? s->p->warnings.v[0] : "");
}

/* The verdict of the compiled policy: what users see. */
static bool allowed(const struct scratch *s, enum access access, const char *path)
{
	const struct image_options options = { .start_sec = INT32_MAX }; /* every directory is old */
	_cleanup_free_ struct image *img = NULL;
	const char *real = in(s, path);
	struct verdict v;
	size_t size;

	cr_assert_eq(policy_compile(s->p, &options, &img, &size, NULL), 0);
	policy_decide(img, access, real, strlen(real), &v);
	return v.outcome == OUTCOME_ALLOW;
}

Test(defaults, decisions)
{
	static const struct { enum access access; const char *path; bool allowed; } rows[] = {
		{ ACCESS_CREATE, "@/cwd/new", true }, { ACCESS_WRITE, "@/cwd/sub/old", true }, { ACCESS_CREATE, "@/other", false },
		{ ACCESS_CREATE, "@/home/x", false }, { ACCESS_CREATE, "@/home/.cache/hurdle/tools/npm", true }, { ACCESS_CREATE, "@/home/.cache/x", false },
		{ ACCESS_WRITE, "/dev/null", true }, { ACCESS_WRITE, "/dev/tty", true }, { ACCESS_WRITE, "/dev/pts/3", true }, { ACCESS_WRITE, "/dev/fd", true },
		{ ACCESS_CREATE, "/dev/shm/x", true }, { ACCESS_WRITE, "/dev/sda", false }, { ACCESS_WRITE, "/dev/nullx", false },
		{ ACCESS_WRITE, "@/cwd/.bashrc", false }, { ACCESS_WRITE, "@/cwd/.BashRC", false }, { ACCESS_CREATE, "@/cwd/sub/.mcp.json", false },
		{ ACCESS_CREATE, "@/cwd/.vscode/tasks.json", false }, { ACCESS_CREATE, "@/cwd/.claude/settings.local.json", false },
		{ ACCESS_CREATE, "@/cwd/.claude/notes.md", true }, { ACCESS_CREATE, "@/cwd/.git/hooks/pre-commit", false },
		{ ACCESS_WRITE, "@/cwd/.git/config", false }, { ACCESS_WRITE, "@/cwd/.git/index", true }, { ACCESS_WRITE, "@/cwd/.git/HEAD", true },
		{ ACCESS_WRITE, "@/cwd/.git/modules/a/config", false }, { ACCESS_WRITE, "@/cwd/.git/modules/a/b/hooks/x", false },
		{ ACCESS_WRITE, "@/cwd/.git/worktrees/w/config.worktree", false }, { ACCESS_CREATE, "@/cwd/HEAD", false },
		{ ACCESS_CREATE, "@/cwd/sub/HEAD", true }, { ACCESS_CREATE, "@/cwd/node_modules/x/.bashrc", true },
		{ ACCESS_READ, "@/cwd/any", true }, { ACCESS_READ, "/etc/passwd", true }, { ACCESS_READ, "/etc/shadow", false },
		{ ACCESS_READ, "@/home/.bashrc", true }, { ACCESS_READ, "@/home/.bash_history", true },
		{ ACCESS_READ, "@/home/.ssh/id_ed25519", false }, { ACCESS_READ, "@/home/.ssh/deploy", false }, { ACCESS_READ, "@/home/.ssh/id_ed25519.pub", true },
		{ ACCESS_READ, "@/home/.ssh/config", true }, { ACCESS_READ, "@/home/.ssh/config.d/cwd", true }, { ACCESS_READ, "@/home/.ssh/known_hosts", true },
		{ ACCESS_READ, "@/home/.aws/credentials", false }, { ACCESS_READ, "@/home/.netrc", false }, { ACCESS_READ, "@/home/.config/gh/hosts.yml", false },
		{ ACCESS_READ, "@/home/.config/git/config", true }, { ACCESS_READ, "@/home/.docker/config.json", false },
		{ ACCESS_READ, "@/home/.docker/cli-plugins/x", true }, { ACCESS_READ, "@/home/.npmrc", false }, { ACCESS_READ, "@/home/.pypirc", false },
		{ ACCESS_READ, "@/home/.kube/config", false }, { ACCESS_READ, "@/home/.gnupg/x", false }, { ACCESS_READ, "@/home/.cargo/config.toml", true },
		{ ACCESS_READ, "@/home/.cargo/credentials.toml", false }, { ACCESS_READ, "@/home/.claude/.credentials.json", false },
		{ ACCESS_READ, "/proc/1/environ", false }, { ACCESS_READ, "/proc/12/task/12/environ", false }, { ACCESS_READ, "/proc/1/maps", true },
		{ ACCESS_READ, "/proc/1/mem", false }, { ACCESS_READ, "@/cwd/.env", true }, { ACCESS_WRITE, "@/cwd/a.pem", true },
		{ ACCESS_EXEC, "@/cwd/a", true }, { ACCESS_CONNECT, "@/cwd/s", true }, { ACCESS_CONNECT, "/run/docker.sock", false },
	};
	struct scratch s;

	scratch_begin(&s);
	add_defaults(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(allowed(&s, rows[i].access, rows[i].path), rows[i].allowed, "%d %s", rows[i].access, rows[i].path);
	scratch_end(&s);
}

Test(defaults, strict)
{
	static const struct { enum access access; const char *path; bool allowed; } rows[] = {
		{ ACCESS_READ, "@/cwd/.env", false }, { ACCESS_READ, "@/cwd/a/.env.local", false }, { ACCESS_READ, "@/cwd/.env.example", true },
		{ ACCESS_READ, "@/cwd/.env.sample", true }, { ACCESS_READ, "@/cwd/x.env.template", true }, { ACCESS_READ, "@/cwd/id_rsa", false },
		{ ACCESS_READ, "/srv/id_ed25519_old", false }, { ACCESS_READ, "/srv/.aws/config", false }, { ACCESS_READ, "@/cwd/environment", true },
		{ ACCESS_CREATE, "@/cwd/.env", false }, { ACCESS_CREATE, "@/cwd/a/tls.key", false }, { ACCESS_WRITE, "@/cwd/a.pem", false },
		{ ACCESS_WRITE, "@/cwd/a.pem.txt", true }, { ACCESS_READ, "@/cwd/a.pem", true },
	};
	struct scratch s;

	scratch_begin(&s);
	s.p->profile_strict = true;
	add_defaults(&s);
	cr_assert(s.p->strict, "uncovered programs are refused");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(allowed(&s, rows[i].access, rows[i].path), rows[i].allowed, "%d %s", rows[i].access, rows[i].path);
	scratch_end(&s);
}

Test(defaults, no_root_above_home)
{
	static const struct { const char *cwd, *home; bool none; } rows[] = {
		{ "/", "@/home", true }, { "@/home", "@/home", true }, { "@", "@/home", true }, { "@/home/x", "@/home", false },
		{ "@/homes", "@/home", false }, { "/", NULL, true }, { "@/home", NULL, false },
	};
	struct scratch s;

	scratch_begin(&s);
	make_dir(&s, "@/home/x");
	make_dir(&s, "@/homes");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		policy_free(s.p);
		s.p = policy_new(in(&s, rows[i].cwd), rows[i].home ? in(&s, rows[i].home) : NULL);
		add_defaults(&s);
		cr_assert_eq(s.p->no_cwd_root, rows[i].none, "row %zu", i);
		cr_assert_eq(find_rule(s.p, RULE_ALLOW_WRITE, in(&s, rows[i].cwd)) != NULL, !rows[i].none, "row %zu", i);
		cr_assert_eq(allowed(&s, ACCESS_CREATE, "@/home/x/f"), !rows[i].none && strcmp(rows[i].cwd, "@/homes"), "row %zu", i);
	}
	/* asked for by name it is one */
	policy_free(s.p);
	s.p = policy_new(s.home, s.home);
	policy_add(s.p, RULE_ALLOW_WRITE, LAYER_FLAGS, ".", NULL, 0, "--allow-write", &s.err);
	add_defaults(&s);
	cr_assert(!s.p->no_cwd_root && allowed(&s, ACCESS_CREATE, "@/home/f"));
	scratch_end(&s);
}

Test(defaults, root_that_holds_home)
{
	static const struct { const char *path; bool allowed; } rows[] = {
		{ "@/home/x", true }, { "@/home/.npmrc", false }, { "@/home/.ssh/config", false }, { "@/home/.ssh/new", false },
		{ "@/home/.config/systemd/user/x", false }, { "@/home/.local/bin/ls", false }, { "@/home/.local/share/systemd/x", false },
		{ "@/home/.local/share/x", true }, { "@/home/.aws/config", false }, { "@/home/.bashrc", false },
	};
	static const char *const roots[] = { "@/home", "@", "@/ho*" };
	struct scratch s;

	scratch_begin(&s);
	for (size_t k = 0; k < ARRAY_SIZE(roots); k++) {
		scratch_again(&s);
		cr_assert_eq(policy_add(s.p, RULE_ALLOW_WRITE, LAYER_FLAGS, in(&s, roots[k]), NULL, 0, "--allow-write", &s.err), 1);
		add_defaults(&s);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			cr_assert_eq(allowed(&s, ACCESS_CREATE, rows[i].path), rows[i].allowed, "%s under %s", rows[i].path, roots[k]);
	}
	scratch_end(&s);
}

Test(defaults, no_home)
{
	struct strv assignments = { 0 };
	struct scratch s;
	char *root = NULL;

	scratch_begin(&s);
	policy_free(s.p);
	s.p = policy_new(s.cwd, NULL);
	add_defaults(&s);
	cr_assert(allowed(&s, ACCESS_CREATE, "@/cwd/x") && allowed(&s, ACCESS_READ, "@/home/.npmrc") && !allowed(&s, ACCESS_READ, "/etc/shadow"));
	cr_assert_eq(policy_cache_environment(s.p, &assignments, &root), 0);
	cr_assert(!root && assignments.n == 0);
	scratch_end(&s);
}

/* What the user said stands, where the layers let it. */
Test(defaults, settings_win)
{
	struct scratch s;

	scratch_begin(&s);
	policy_add(s.p, RULE_ALLOW_READ, LAYER_USER, "~/.npmrc", NULL, 0, "ORIGIN", &s.err);
	policy_add(s.p, RULE_DENY_READ, LAYER_USER, "~/.aws", NULL, 0, "ORIGIN", &s.err);
	s.p->allow_git_config = true;
	make_dir(&s, "@/cwd/.git");
	make_file(&s, "@/cwd/HEAD", "");
	make_file(&s, "@/cwd/hurdle.conf", "{}");
	cr_assert_eq(policy_read_settings(s.p, in(&s, "@/cwd/hurdle.conf"), LAYER_FLAGS, &s.err), 0);
	add_defaults(&s);
	cr_assert(allowed(&s, ACCESS_READ, "@/home/.npmrc") && !allowed(&s, ACCESS_READ, "@/home/.aws/x"));
	cr_assert(allowed(&s, ACCESS_WRITE, "@/cwd/.git/config") && !allowed(&s, ACCESS_WRITE, "@/cwd/.git/hooks/x"));
	cr_assert(allowed(&s, ACCESS_WRITE, "@/cwd/HEAD"), "one that was there before");
	cr_assert(!allowed(&s, ACCESS_WRITE, "@/cwd/hurdle.conf"), "a settings file that was read");
	for (size_t i = 0, seen = 0; i < s.p->n_rules; i++)
		cr_assert(strcmp(s.p->rules[i].path, in(&s, "@/home/.aws")) || seen++ == 0, "one rule for one path");
	scratch_again(&s);
	s.p->scrub_only = true;
	add_defaults(&s);
	cr_assert_eq(s.p->n_rules, 0, "the scrub profile has no file rules");
	scratch_end(&s);
}

static bool is_listed(const struct scratch *s, const char *path)
{
	return strv_has(&s->p->listed, in(s, path));
}

Test(defaults, repositories)
{
	struct scratch s;

	scratch_begin(&s);
	make_dir(&s, "@/cwd/.git/hooks");
	add_defaults(&s);
	cr_assert(is_listed(&s, "@/cwd") && is_listed(&s, "@/home") && is_listed(&s, "@/cwd/.git") && is_listed(&s, "@/cwd/.git/hooks"));
	cr_assert_eq(s.p->listed.n, 4);

	/* a worktree whose git directory is in another write root */
	make_dir(&s, "@/main/.git/hooks");
	make_dir(&s, "@/main/.git/worktrees/w");
	make_dir(&s, "@/tree");
	make_file(&s, "@/tree/.git", in(&s, "gitdir: @/main/.git/worktrees/w\n"));
	make_file(&s, "@/main/.git/worktrees/w/commondir", "../..\n");
	policy_free(s.p);
	s.p = policy_new(in(&s, "@/tree"), s.home);
	policy_add(s.p, RULE_ALLOW_WRITE, LAYER_FLAGS, in(&s, "@/main/.git"), NULL, 0, "--allow-write", &s.err);
	add_defaults(&s);
	cr_assert(!allowed(&s, ACCESS_WRITE, "@/tree/.git"), "it could be turned to a planted directory");
	cr_assert(!allowed(&s, ACCESS_WRITE, "@/main/.git/worktrees/w/config.worktree") && !allowed(&s, ACCESS_WRITE, "@/main/.git/config"));
	cr_assert(!allowed(&s, ACCESS_CREATE, "@/main/.git/hooks/x") && allowed(&s, ACCESS_CREATE, "@/main/.git/refs/heads/x"));
	cr_assert(is_listed(&s, "@/main/.git/hooks") && is_listed(&s, "@/main/.git/worktrees/w"));

	/* .git as a link, and a link inside of it, to places with harmless names */
	make_dir(&s, "@/linked/store/real");
	make_link(&s, "real", "@/linked/store/hooks");
	make_link(&s, "store", "@/linked/.git");
	policy_free(s.p);
	s.p = policy_new(in(&s, "@/linked"), s.home);
	add_defaults(&s);
	cr_assert(!allowed(&s, ACCESS_CREATE, "@/linked/store/real/x") && !allowed(&s, ACCESS_WRITE, "@/linked/store/config"));
	cr_assert(allowed(&s, ACCESS_CREATE, "@/linked/store/index"));
	scratch_end(&s);
}

/* .git is the project's word, and the project is not trusted: nothing may hang, fail, or open anything. */
Test(defaults, hostile_repositories)
{
	static const char *const texts[] = { "", "gitdir: ", "gitdir: \n", "gitdir", "gitdir: /\n", "gitdir: loop/x\n", "gitdir: ..\n", "gitdir: evil\n", "x" };
	struct scratch s;
	size_t rules = 0;

	scratch_begin(&s);
	make_link(&s, "loop", "@/cwd/loop");
	make_dir(&s, "@/cwd/evil");
	cr_assert_eq(mkfifo(in(&s, "@/cwd/evil/commondir"), 0600), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		make_file(&s, "@/cwd/.git", texts[i]);
		scratch_again(&s);
		add_defaults(&s);
		cr_assert(!allowed(&s, ACCESS_CREATE, "@/home/x") && !allowed(&s, ACCESS_CREATE, "@/x"), "%s", texts[i]);
		rules += s.p->n_rules;
	}
	cr_assert_gt(rules, 0);
	unlink(in(&s, "@/cwd/.git"));
	cr_assert_eq(mkfifo(in(&s, "@/cwd/.git"), 0600), 0);
	scratch_again(&s);
	add_defaults(&s);
	unlink(in(&s, "@/cwd/.git"));
	make_link(&s, ".git", "@/cwd/.git");
	scratch_again(&s);
	add_defaults(&s);
	scratch_end(&s);
}

Test(defaults, caches)
{
	struct strv assignments = { 0 };
	struct scratch s;
	char *root = NULL;

	scratch_begin(&s);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("GOMODCACHE");
	cr_assert_eq(policy_cache_environment(s.p, &assignments, &root), 0);
	cr_assert_str_eq(root, in(&s, "@/home/.cache/hurdle/tools"));
	cr_assert(strv_has(&assignments, in(&s, "npm_config_cache=@/home/.cache/hurdle/tools/npm")));
	cr_assert(strv_has(&assignments, in(&s, "XDG_CACHE_HOME=@/home/.cache/hurdle/tools/xdg")));
	for (size_t i = 0; i < assignments.n; i++)
		cr_assert(strchr(assignments.v[i], '=') > assignments.v[i], "%s", assignments.v[i]);
	free(root);
	strv_free(&assignments);

	setenv("XDG_CACHE_HOME", in(&s, "@/xdg"), 1);
	cr_assert_eq(policy_cache_environment(s.p, &assignments, &root), 0);
	cr_assert_str_eq(root, in(&s, "@/xdg/hurdle/tools"));
	free(root);
	strv_free(&assignments);
	setenv("XDG_CACHE_HOME", "relative", 1);
	cr_assert_eq(policy_cache_environment(s.p, &assignments, &root), 0);
	cr_assert_str_eq(root, in(&s, "@/home/.cache/hurdle/tools"), "a relative one is ignored");
	free(root);
	strv_free(&assignments);

	make_dir(&s, "@/home/.npm");
	make_dir(&s, "@/mods");
	setenv("GOMODCACHE", in(&s, "@/mods"), 1);
	s.p->caches = CACHES_SHARED;
	add_defaults(&s);
	cr_assert(allowed(&s, ACCESS_CREATE, "@/home/.npm/x") && allowed(&s, ACCESS_CREATE, "@/mods/x") && !allowed(&s, ACCESS_CREATE, "@/home/.m2/x"));
	cr_assert_eq(policy_cache_environment(s.p, &assignments, &root), 0);
	cr_assert(!root && !assignments.n);
	scratch_again(&s);
	s.p->caches = CACHES_NONE;
	add_defaults(&s);
	cr_assert(!allowed(&s, ACCESS_CREATE, "@/home/.npm/x") && !allowed(&s, ACCESS_CREATE, "@/home/.cache/hurdle/tools/x"));
	unsetenv("GOMODCACHE");
	scratch_end(&s);
}
