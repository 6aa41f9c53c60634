/* The settings files of a run: which are read, in which order, what a project's may say, and the store of trust. */
#include <errno.h>
#include "platform/base/cleanup.h"
#include "platform/policy/trust.h"
#include "tests/unit/policy_help.h"

TestSuite(layers, .timeout = 60);

static int read_layers(struct scratch *s, const struct strv *named, bool only_named)
{
	char config[PATH_MAX], claude[PATH_MAX], managed[PATH_MAX];

	snprintf(config, sizeof(config), "%s", in(s, "@/home/.config/hurdle"));
	snprintf(claude, sizeof(claude), "%s", in(s, "@/home/.claude"));
	snprintf(managed, sizeof(managed), "%s", in(s, "@/etc/managed.json"));
	const struct layer_files files = { .config = config, .claude = claude, .managed = managed, .named = named, .only_named = only_named };

	policy_use_config(s->p, config);
	int r = policy_read_layers(s->p, &files, &s->err);
	policy_apply_managed(s->p);
	return r;
}

static void make_places(struct scratch *s)
{
	static const char *const dirs[] = { "@/home/.config/hurdle", "@/home/.claude", "@/cwd/.claude", "@/etc", "@/cwd/out" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		make_dir(s, dirs[i]);
}

static void trust(struct scratch *s, const char *name)
{
	_cleanup_free_ char *text = NULL, *key = trust_key(s->cwd, name), *path = strf("%s/%s", s->cwd, name);
	char digest[TRUST_DIGEST_SIZE];
	size_t len;

	cr_assert_eq(read_file(path, 1 << 20, &text, &len), 0);
	trust_digest(text, len, digest);
	cr_assert_eq(trust_set(in(s, "@/home/.config/hurdle"), key, digest, &s->err), 0, "%s", s->err.text);
}

/* Each with an entry of its own: lists join, the single value is the highest layer's. */
Test(layers, order)
{
	static const struct { const char *file; enum layer layer; } rows[] = {
		{ "@/home/.config/hurdle/settings.json", LAYER_USER }, { "@/home/.claude/settings.json", LAYER_USER },
		{ "@/cwd/.claude/settings.json", LAYER_PROJECT }, { "@/cwd/.hurdle.json", LAYER_PROJECT },
		{ "@/cwd/.claude/settings.local.json", LAYER_LOCAL }, { "@/named.json", LAYER_FLAGS }, { "@/etc/managed.json", LAYER_MANAGED },
	};
	static const char *const caches[] = { "shared", "x", "private", "x", "none", "shared", "private" };
	struct strv named = { 0 };
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	strv_add(&named, in(&s, "@/named.json"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *single = *caches[i] == 'x' ? xstrdup("") : strf("\"caches\":\"%s\",", caches[i]);
		_cleanup_free_ char *text = strf("{%s\"filesystem\":{\"denyRead\":[\"/%zu\"]}}", single, i);

		make_file(&s, rows[i].file, text);
	}
	cr_assert_eq(read_layers(&s, &named, false), 0, "%s", s.err.text);
	cr_assert_eq(s.p->n_rules, ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert(s.p->rules[i].layer == rows[i].layer && (size_t)(s.p->rules[i].path[1] - '0') == i, "%s", s.p->rules[i].origin);
	cr_assert(s.p->caches == CACHES_PRIVATE && s.p->set_by[SCALAR_CACHES] == LAYER_MANAGED && s.p->warnings.n == 0);

	scratch_again(&s);
	cr_assert_eq(read_layers(&s, &named, true), 0);
	cr_assert(s.p->n_rules == 2 && s.p->rules[1].layer == LAYER_MANAGED, "--no-settings leaves what was named, and the managed file");
	strv_free(&named);
	scratch_end(&s);
}

/* What a project's file may not say. In words of p->loosening; "" for what loosens nothing. */
static const struct { const char *text, *key; } attempts[] = {
	{ "{\"enabled\":false}", "enabled: false" },
	{ "{\"profile\":\"scrub\"}", "profile: \"scrub\"" },
	{ "{\"profile\":\"strict\"}", "" },
	{ "{\"filesystem\":{\"allowWrite\":[\"~\"]}}", "filesystem.allowWrite: \"~\"" },
	{ "{\"filesystem\":{\"allowWrite\":[\"..\"]}}", "filesystem.allowWrite: \"..\"" },
	{ "{\"filesystem\":{\"allowWrite\":[\"*\"]}}", "filesystem.allowWrite: \"*\"" },
	{ "{\"filesystem\":{\"allowWrite\":[\"./out\",\".\"]}}", "" },
	{ "{\"filesystem\":{\"allowRead\":[\"~/.ssh\"]}}", "filesystem.allowRead: [\"~/.ssh\"]" },
	{ "{\"filesystem\":{\"disabled\":true}}", "filesystem.disabled: true" },
	{ "{\"filesystem\":{\"allowGitConfig\":true}}", "filesystem.allowGitConfig: true" },
	{ "{\"filesystem\":{\"execFrom\":\"any\"}}", "" },
	{ "{\"filesystem\":{\"execGrantRoots\":[\".\"]}}", "filesystem.execGrantRoots: [\".\"]" },
	{ "{\"network\":{\"allowedDomains\":[\"example.com\"]}}", "network.allowedDomains: [\"example.com\"]" },
	{ "{\"network\":{\"allowedDomains\":[]}}", "" },
	{ "{\"network\":{\"mode\":\"open\"}}", "network.mode: \"open\"" },
	{ "{\"network\":{\"mode\":\"filter\"}}", "" },
	{ "{\"network\":{\"httpProxyPort\":8080}}", "network.httpProxyPort: 8080" },
	{ "{\"network\":{\"socksProxyPort\":8080}}", "network.socksProxyPort: 8080" },
	{ "{\"network\":{\"parentProxy\":{\"http\":\"http://example.com\"}}}", "network.parentProxy: {\"http\":\"http://example.com\"}" },
	{ "{\"network\":{\"allowUnixSockets\":[\"/run/x\"]}}", "network.allowUnixSockets: [\"/run/x\"]" },
	{ "{\"network\":{\"allowAllUnixSockets\":true}}", "network.allowAllUnixSockets: true" },
	{ "{\"network\":{\"strictAllowlist\":false}}", "network.strictAllowlist: false" },
	{ "{\"env\":{\"set\":{\"PATH\":\"/evil\"}}}", "env.set: {\"PATH\":\"/evil\"}" },
	{ "{\"env\":{\"keep\":[\"GH_TOKEN\"]}}", "env.keep: [\"GH_TOKEN\"]" },
	{ "{\"env\":{\"drop\":[\"X\"]}}", "" },
	{ "{\"bwrapPath\":\"/evil\"}", "bwrapPath: \"/evil\"" },
	{ "{\"backend\":[]}", "backend: []" },
	{ "{\"backend\":\"auto\"}", "backend: \"auto\"" },
	{ "{\"strict\":false}", "strict: false" },
	{ "{\"caches\":\"shared\"}", "caches: \"shared\"" },
	{ "{\"caches\":\"none\"}", "" },
	{ "{\"ignoreViolations\":{\"*\":[\"x\"]}}", "ignoreViolations: {\"*\":[\"x\"]}" },
	{ "{\"excludedCommands\":[\"docker:*\"]}", "excludedCommands: [\"docker:*\"]" },
	{ "{\"allowUnsandboxedCommands\":true}", "allowUnsandboxedCommands: true" },
	{ "{\"allowUnsandboxedCommands\":false}", "" },
	{ "{\"allowNestedUserNamespaces\":true}", "allowNestedUserNamespaces: true" },
	{ "{\"enabledPlatforms\":[\"linux\"]}", "enabledPlatforms: [\"linux\"]" },
	{ "{\"require\":{\"fs.write\":\"none\"}}", "" },
	{ "{\"permissions\":{\"allow\":[\"Bash(*)\"]}}", "permissions.allow: [\"Bash(*)\"]" },
	{ "{\"sandbox\":{\"enabled\":false}}", "sandbox.enabled: false" },
};

static bool says(const struct policy *p, const char *line)
{
	for (size_t i = 0; i < p->loosening.n; i++)
		if (!strcmp(p->loosening.v[i], line))
			return true;
	return false;
}

/* Everything that the attempts could change is as it was. */
static bool is_untouched(const struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].layer != LAYER_DEFAULT)
			return false;
	for (size_t i = 0; i < LIST_COUNT; i++)
		if (p->lists[i].n && i != LIST_FILES && i != LIST_ENV_DROP)
			return false;
	return !p->scrub_only && !p->allow_git_config && !p->unix_open && p->net == NET_FILTER && p->caches == CACHES_PRIVATE &&
	       !p->env_keep.n && !p->env_set.n && !p->backends.n && !p->http_proxy_port && !p->socks_proxy_port && !p->parent_http &&
	       !p->n_permissions && !p->set_origin[SCALAR_BACKEND];
}

Test(layers, project_only_tightens)
{
	static const char *const names[] = { ".hurdle.json", ".claude/settings.json", ".claude/settings.local.json" };
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	for (size_t i = 0; i < ARRAY_SIZE(attempts) * ARRAY_SIZE(names); i++) {
		const char *name = names[i % ARRAY_SIZE(names)], *text = attempts[i / ARRAY_SIZE(names)].text,
			   *key = attempts[i / ARRAY_SIZE(names)].key;
		_cleanup_free_ char *path = strf("@/cwd/%s", name);

		scratch_again(&s);
		make_file(&s, path, text);
		cr_assert(read_layers(&s, NULL, false) == 0 && policy_add_defaults(s.p, &s.err) == 0, "%s: %s", text, s.err.text);
		cr_assert_eq(s.p->loosening.n, *key != '\0', "%s: %s", text, s.p->loosening.n ? s.p->loosening.v[0] : "nothing");
		if (*key)
			cr_assert(says(s.p, key) && warned(s.p, "until you trust") && is_untouched(s.p), "%s: %s", text, s.p->loosening.v[0]);
		unlink(in(&s, path));
	}
	scratch_end(&s);
}

Test(layers, trusted_until_it_changes)
{
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		_cleanup_free_ char *longer = strf("%s ", attempts[i].text);

		if (!*attempts[i].key)
			continue;
		make_file(&s, "@/cwd/.hurdle.json", attempts[i].text);
		trust(&s, ".hurdle.json");
		scratch_again(&s);
		cr_assert(read_layers(&s, NULL, false) == 0, "%s", s.err.text);
		cr_assert(s.p->loosening.n == 0 && !warned(s.p, "until you trust"), "%s: %s", attempts[i].text, s.p->loosening.n ? s.p->loosening.v[0] : "");
		make_file(&s, "@/cwd/.hurdle.json", longer);
		scratch_again(&s);
		cr_assert(read_layers(&s, NULL, false) == 0 && policy_add_defaults(s.p, &s.err) == 0);
		cr_assert_eq(s.p->loosening.n, 1, "%s: one byte more", attempts[i].text);
	}
	scratch_end(&s);
}

/* An untrusted file of the same layer, read first, cannot keep a trusted one from its say. */
Test(layers, untrusted_decides_nothing)
{
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	make_file(&s, "@/cwd/.claude/settings.json", "{\"sandbox\":{\"network\":{\"mode\":\"filter\"},\"caches\":\"private\",\"profile\":\"default\"}}");
	make_file(&s, "@/cwd/.hurdle.json", "{\"network\":{\"mode\":\"off\"},\"caches\":\"none\",\"profile\":\"strict\"}");
	trust(&s, ".hurdle.json");
	cr_assert_eq(read_layers(&s, NULL, false), 0);
	cr_assert(s.p->net == NET_OFF && s.p->caches == CACHES_NONE && s.p->profile_strict);
	scratch_end(&s);
}

/* The same content elsewhere means other paths. */
Test(layers, trust_is_of_a_place)
{
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	make_file(&s, "@/cwd/.hurdle.json", "{\"strict\":false}");
	trust(&s, ".hurdle.json");
	make_file(&s, "@/cwd/.claude/settings.json", "{\"strict\":false}");
	cr_assert(read_layers(&s, NULL, false) == 0 && s.p->loosening.n == 1, "another name");
	unlink(in(&s, "@/cwd/.claude/settings.json"));
	make_dir(&s, "@/cwd/sub");
	make_link(&s, "@/cwd/.hurdle.json", "@/cwd/sub/.hurdle.json");
	policy_free(s.p);
	s.p = policy_new(in(&s, "@/cwd/sub"), s.home);
	cr_assert(read_layers(&s, NULL, false) == 0 && s.p->loosening.n == 1, "another project with a link to it");
	scratch_again(&s);
	chmod(in(&s, "@/home/.config/hurdle/trusted"), 0620);
	cr_assert(read_layers(&s, NULL, false) == 0 && s.p->loosening.n == 1 && warned(s.p, "others than its owner"));
	scratch_end(&s);
}

/* A root in the project that would lift a denial of reading, or open what the user left out. */
Test(layers, roots_in_the_project)
{
	static const struct { const char *user, *project; bool kept; } rows[] = {
		{ "{}", "[\"out\"]", true },
		{ "{\"filesystem\":{\"denyRead\":[\"~/\"]}}", "[\".\"]", true },
		{ "{\"filesystem\":{\"denyRead\":[\"@/\"]}}", "[\"out\"]", true },
		{ "{\"filesystem\":{\"denyRead\":[\".\"]}}", "[\".\"]", false },
		{ "{\"filesystem\":{\"denyRead\":[\"out\"]}}", "[\"out\"]", false },
		{ "{\"filesystem\":{\"denyRead\":[\"out\"]}}", "[\"out/in\"]", false },
		{ "{\"filesystem\":{\"denyRead\":[\"out/in\"]}}", "[\"out\"]", true },
		{ "{\"filesystem\":{\"denyRead\":[\"**/out\"]}}", "[\"out/in\"]", false },
		{ "{\"filesystem\":{\"denyRead\":[\"**/in\"]}}", "[\"out\"]", true },
		{ "{\"filesystem\":{\"allowWrite\":[\"other\"]}}", "[\"out\"]", false },
		{ "{\"filesystem\":{\"allowWrite\":[\"out\"]}}", "[\"out/in\"]", true },
		{ "{\"filesystem\":{\"allowWrite\":[]}}", "[\".\"]", false },
		{ "{\"sandbox\":{\"filesystem\":{\"allowWrite\":[]}}}", "[\".\"]", true },
	};
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	make_dir(&s, "@/cwd/out/in");
	make_dir(&s, "@/cwd/other");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = strf("{\"filesystem\":{\"allowWrite\":%s}}", rows[i].project);

		scratch_again(&s);
		make_file(&s, "@/cwd/.hurdle.json", text);
		make_file(&s, "@/home/.config/hurdle/settings.json", in(&s, rows[i].user));
		cr_assert(read_layers(&s, NULL, false) == 0 && policy_add_defaults(s.p, &s.err) == 0, "%s", s.err.text);
		cr_assert_eq(s.p->loosening.n == 0, rows[i].kept, "%s, and the project's %s", rows[i].user, rows[i].project);
	}
	scratch_end(&s);
}

/* In the home directory, or above it, the project is everything: its file is the user's own, or opens nothing. */
Test(layers, home_is_no_project)
{
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	policy_free(s.p);
	s.p = policy_new(s.home, s.home);
	make_file(&s, "@/home/.hurdle.json", "{\"filesystem\":{\"allowWrite\":[\".\"]}}");
	make_file(&s, "@/home/.claude/settings.json", "{\"sandbox\":{\"allowUnsandboxedCommands\":true}}");
	cr_assert(read_layers(&s, NULL, false) == 0 && policy_add_defaults(s.p, &s.err) == 0);
	cr_assert(s.p->loosening.n == 1 && says(s.p, "filesystem.allowWrite: \".\""), "%s", s.p->loosening.n ? s.p->loosening.v[0] : "");
	cr_assert_eq(s.p->set_by[SCALAR_UNSANDBOXED], LAYER_USER);
	scratch_end(&s);
}

Test(layers, roots_are_what_a_runtime_file_says)
{
	static const struct { const char *text; bool cwd, caches; } rows[] = {
		{ "{}", true, true },
		{ "{\"filesystem\":{\"allowWrite\":[]}}", false, false },
		{ "{\"filesystem\":{\"allowWrite\":[]},\"caches\":\"private\"}", false, true },
		{ "{\"filesystem\":{\"allowWrite\":[\"out\"]}}", false, true },
		{ "{\"filesystem\":{\"allowWrite\":[\".\"]}}", true, true },
		{ "{\"filesystem\":{\"allowWrite\":null}}", true, true },
		{ "{\"sandbox\":{\"filesystem\":{\"allowWrite\":[]}}}", true, true },
		{ "{\"sandbox\":{\"filesystem\":{\"allowWrite\":[\"./out\"]}}}", true, true },
	};
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		scratch_again(&s);
		cr_assert_eq(policy_read_settings_text(s.p, rows[i].text, strlen(rows[i].text), "f", LAYER_FLAGS, &s.err), 0);
		cr_assert_eq(policy_add_defaults(s.p, &s.err), 0);
		cr_assert_eq(find_rule(s.p, RULE_ALLOW_WRITE, s.cwd) != NULL, rows[i].cwd, "%s", rows[i].text);
		cr_assert_eq(s.p->caches != CACHES_NONE, rows[i].caches, "%s", rows[i].text);
	}
	scratch_end(&s);
}

/* Relative paths of the user's Claude Code file are relative to where it stands, all others to the project. */
Test(layers, what_paths_are_relative_to)
{
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	make_file(&s, "@/home/.claude/settings.json", "{\"sandbox\":{\"filesystem\":{\"denyRead\":[\"./a\",\"//b//c/./d/**\"]}}}");
	make_file(&s, "@/home/.config/hurdle/settings.json", "{\"filesystem\":{\"denyRead\":[\"e\"]}}");
	make_file(&s, "@/cwd/.claude/settings.json", "{\"sandbox\":{\"filesystem\":{\"denyRead\":[\"f/\"]}}}");
	cr_assert_eq(read_layers(&s, NULL, false), 0, "%s", s.err.text);
	cr_assert(find_rule(s.p, RULE_DENY_READ, in(&s, "@/home/.claude/a")) && find_rule(s.p, RULE_DENY_READ, "/b/c/d"));
	cr_assert(find_rule(s.p, RULE_DENY_READ, in(&s, "@/cwd/e")) && find_rule(s.p, RULE_DENY_READ, in(&s, "@/cwd/f")));
	scratch_end(&s);
}

Test(layers, managed)
{
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	make_file(&s, "@/home/.config/hurdle/settings.json",
		  "{\"filesystem\":{\"allowRead\":[\"/a\"],\"allowManagedReadPathsOnly\":true},\"network\":{\"allowedDomains\":[\"a.example.com\"]}}");
	make_file(&s, "@/etc/managed.json", "{\"filesystem\":{\"allowRead\":[\"/b\"],\"denyRead\":[\"/c\"]},\"network\":{\"allowedDomains\":[\"b.example.com\"]}}");
	cr_assert_eq(read_layers(&s, NULL, false), 0);
	cr_assert(warned(s.p, "allowManagedReadPathsOnly: is ignored: only the managed file") && find_rule(s.p, RULE_ALLOW_READ, "/a"));
	cr_assert_eq(s.p->lists[LIST_ALLOWED_DOMAINS].n, 2);
	make_file(&s, "@/etc/managed.json", "{\"filesystem\":{\"allowRead\":[\"/b\"],\"allowManagedReadPathsOnly\":true},"
					    "\"network\":{\"allowedDomains\":[\"b.example.com\"],\"allowManagedDomainsOnly\":true}}");
	scratch_again(&s);
	cr_assert_eq(read_layers(&s, NULL, false), 0);
	cr_assert(!find_rule(s.p, RULE_ALLOW_READ, "/a") && find_rule(s.p, RULE_ALLOW_READ, "/b") && warned(s.p, "'/a' is ignored"));
	cr_assert(s.p->lists[LIST_ALLOWED_DOMAINS].n == 1 && !strcmp(s.p->lists[LIST_ALLOWED_DOMAINS].v[0].text, "b.example.com"));
	scratch_end(&s);
}

/* Files that nobody named must not hang or be guessed at. */
Test(layers, bad_files)
{
	static const struct { const char *path, *text, *words; int code; } rows[] = {
		{ "@/cwd/.hurdle.json", "", ".hurdle.json:1:1: the file is empty", -EINVAL },
		{ "@/cwd/.hurdle.json", "{\"a\":1,\"a\":2}", ".hurdle.json:1:", -EINVAL },
		{ "@/cwd/.claude/settings.local.json", "{\"sandbox\":1}", ".claude/settings.local.json:1:12: sandbox: found a number", -EINVAL },
		{ "@/home/.claude/settings.json", "[]", "settings.json:1:1: found an array", -EINVAL },
	};
	struct scratch s;

	scratch_begin(&s);
	make_places(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		scratch_again(&s);
		make_file(&s, rows[i].path, rows[i].text);
		cr_assert_eq(read_layers(&s, NULL, false), rows[i].code, "row %zu", i);
		cr_assert(strstr(s.err.text, rows[i].words), "%s", s.err.text);
		unlink(in(&s, rows[i].path));
	}
	scratch_again(&s);
	cr_assert_eq(mkfifo(in(&s, "@/cwd/.hurdle.json"), 0600), 0);
	cr_assert(read_layers(&s, NULL, false) == -EINVAL && strstr(s.err.text, "no regular file") && strstr(s.err.hint, "--no-settings"));
	unlink(in(&s, "@/cwd/.hurdle.json"));
	make_link(&s, ".hurdle.json", "@/cwd/.hurdle.json");
	scratch_again(&s);
	cr_assert_eq(read_layers(&s, NULL, false), -ELOOP);
	scratch_end(&s);
}

Test(layers, store)
{
	static const char *const projects[] = { "/a b", "/a%20b", "/a\nb", "/caf\xc3\xa9", "/a" };
	char digest[TRUST_DIGEST_SIZE], other[TRUST_DIGEST_SIZE];
	struct scratch s;
	const char *why;

	scratch_begin(&s);
	trust_digest("abc", 3, digest); /* FIPS 180-2, appendix B.1 */
	cr_assert_str_eq(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	trust_digest("abd", 3, other);
	const char *config = in(&s, "@/home/.config/hurdle");
	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		_cleanup_free_ char *key = trust_key(projects[i], ".hurdle.json"), *text = NULL;

		text = trust_read(config, &why);
		cr_assert(!trust_holds(text, key, digest), "%s before", projects[i]);
		cr_assert_eq(trust_set(config, key, digest, &s.err), 0);
		free(text);
		text = trust_read(config, &why);
		cr_assert(trust_holds(text, key, digest) && !trust_holds(text, key, other), "%s", projects[i]);
	}
	_cleanup_free_ char *key = trust_key("/a", ".hurdle.json"), *text = NULL;
	trust_set(config, key, other, &s.err);
	text = trust_read(config, &why);
	cr_assert(trust_holds(text, key, other) && !trust_holds(text, key, digest), "the older content is forgotten");
	free(text);
	trust_set(config, key, NULL, &s.err);
	text = trust_read(config, &why);
	cr_assert(!trust_holds(text, key, other) && strlen(text) == 4 * 65 + strlen("/a%20b/a%2520b/a%0ab/caf%c3%a9") + 4 * strlen("/.hurdle.json\n"));
	scratch_end(&s);
}
