/* Permission rules of Claude Code, and what follows from them. */
#include "platform/base/cleanup.h"
#include "tests/unit/policy_help.h"

TestSuite(permissions, .timeout = 60);

static int read_rule(struct scratch *s, enum layer layer, const char *list, const char *rule)
{
	_cleanup_free_ char *text = strf("{\"permissions\":{\"%s\":[\"%s\"]}}", list, rule);

	scratch_again(s);
	return policy_read_settings_text(s->p, text, strlen(text), "f", layer, &s->err);
}

/* A rule of which the first path follows, and a second one for denials that may be meant either way. */
Test(permissions, paths)
{
	static const struct { const char *list, *rule; enum rule_kind kind; bool pattern; const char *path, *second; } rows[] = {
		{ "deny", "Read(//etc/x)", RULE_DENY_READ, false, "/etc/x", NULL },
		{ "deny", "Read(//etc/x/**)", RULE_DENY_READ, false, "/etc/x", NULL },
		{ "deny", "Read(//)", RULE_DENY_READ, false, "/", NULL },
		{ "deny", "Read(/secret)", RULE_DENY_READ, false, "@/cwd/secret", "/secret" },
		{ "deny", "Read(/a/*.key)", RULE_DENY_READ, true, "@/cwd/a/*.key", "/a/*.key" },
		{ "deny", "Read(/**)", RULE_DENY_READ, false, "@/cwd", NULL },
		{ "deny", "Read(./secret)", RULE_DENY_READ, false, "@/cwd/secret", NULL },
		{ "deny", "Read(./.env)", RULE_DENY_READ, false, "@/cwd/.env", NULL },
		{ "deny", "Read(a/secret)", RULE_DENY_READ, false, "@/cwd/a/secret", NULL },
		{ "deny", "Read(secrets/**)", RULE_DENY_READ, false, "@/cwd/secrets", NULL },
		{ "deny", "Read(~/x)", RULE_DENY_READ, false, "@/home/x", NULL },
		{ "deny", "Read(~)", RULE_DENY_READ, false, "@/home", NULL },
		{ "deny", "Read(.env)", RULE_DENY_READ, true, "/**/.env", NULL },
		{ "deny", "Read(.env.*)", RULE_DENY_READ, true, "/**/.env.*", NULL },
		{ "deny", "Read(secrets/)", RULE_DENY_READ, true, "/**/secrets", NULL },
		{ "deny", "Read(**/*.pem)", RULE_DENY_READ, true, "/**/*.pem", NULL },
		{ "deny", "Read(**)", RULE_DENY_READ, false, "@/cwd", NULL },
		{ "deny", "Edit(//etc/x)", RULE_DENY_WRITE, false, "/etc/x", NULL },
		{ "deny", "Write(.env)", RULE_DENY_WRITE, true, "/**/.env", NULL },
		{ "deny", "MultiEdit(./x)", RULE_DENY_WRITE, false, "@/cwd/x", NULL },
		{ "deny", "NotebookEdit(*.ipynb)", RULE_DENY_WRITE, true, "/**/*.ipynb", NULL },
		{ "allow", "Edit(//@/home/out/**)", RULE_ALLOW_WRITE, false, "@/home/out", NULL },
		{ "allow", "Edit(~/out)", RULE_ALLOW_WRITE, false, "@/home/out", NULL },
		{ "allow", "Edit(/src/**)", RULE_ALLOW_WRITE, false, "@/cwd/src", NULL },
		{ "allow", "Edit(src/**/*.c)", RULE_ALLOW_WRITE, true, "@/cwd/src/**/*.c", NULL },
		{ "allow", "Edit(*.c)", RULE_ALLOW_WRITE, true, "@/cwd/**/*.c", NULL },
		{ "allow", "Edit(**)", RULE_ALLOW_WRITE, false, "@/cwd", NULL },
	};
	struct scratch s;

	scratch_begin(&s);
	make_dir(&s, "@/home/out");
	make_dir(&s, "@/cwd/src");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *rule = xstrdup(in(&s, rows[i].rule));

		cr_assert_eq(read_rule(&s, LAYER_FLAGS, rows[i].list, rule), 0, "%s: %s", rule, s.err.text);
		cr_assert_eq(s.p->n_rules, rows[i].second ? 2 : 1, "%s: %zu rules", rule, s.p->n_rules);
		cr_assert(s.p->rules[0].kind == rows[i].kind && s.p->rules[0].pattern == rows[i].pattern, "%s", rule);
		cr_assert_str_eq(s.p->rules[0].path, in(&s, rows[i].path), "%s: %s", rule, s.p->rules[0].path);
		if (rows[i].second)
			cr_assert_str_eq(s.p->rules[1].path, rows[i].second);
		cr_assert(strstr(s.p->rules[0].origin, ": permissions."), "%s", s.p->rules[0].origin);
	}
	scratch_end(&s);
}

/* What is for the agent alone: kept, and nothing follows. */
Test(permissions, without_rules)
{
	static const struct { const char *list, *rule; } rows[] = {
		{ "allow", "Bash(npm run *)" }, { "deny", "Bash(rm:*)" }, { "allow", "Read(~/.zshrc)" }, { "ask", "Edit(//etc/**)" }, { "ask", "Read(x)" },
		{ "allow", "Edit" }, { "deny", "Read" }, { "deny", "WebFetch" }, { "allow", "WebSearch" }, { "allow", "mcp__server__tool" },
		{ "allow", "Write(//etc)" }, { "allow", "WebFetch(*)" }, { "allow", "Skill(x)" }, { "deny", "Edit(*)" },
	};
	struct scratch s;

	scratch_begin(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cr_assert_eq(read_rule(&s, LAYER_USER, rows[i].list, rows[i].rule), 0);
		cr_assert(s.p->n_rules == 0 && s.p->n_permissions == 1 && s.p->warnings.n == 0, "%s", rows[i].rule);
	}
	scratch_end(&s);
}

Test(permissions, hosts)
{
	struct scratch s;

	scratch_begin(&s);
	cr_assert_eq(read_rule(&s, LAYER_USER, "allow", "WebFetch(domain:docs.example.com)"), 0);
	const struct items *allowed = &s.p->lists[LIST_ALLOWED_DOMAINS];
	cr_assert(allowed->n == 1 && !allowed->given && !strcmp(allowed->v[0].text, "docs.example.com"), "it adds to the default list");
	cr_assert_eq(read_rule(&s, LAYER_USER, "deny", "WebFetch(domain:*.example.com)"), 0);
	cr_assert(s.p->lists[LIST_DENIED_DOMAINS].n == 1);
	cr_assert_eq(read_rule(&s, LAYER_USER, "allow", "WebFetch(domain:https://example.com/x)"), 0);
	cr_assert(s.p->lists[LIST_ALLOWED_DOMAINS].n == 0 && warned(s.p, "is no host"), "a URL is no host, and stops no start");
	cr_assert_eq(read_rule(&s, LAYER_PROJECT, "allow", "WebFetch(domain:example.com)"), 0);
	cr_assert(s.p->lists[LIST_ALLOWED_DOMAINS].n == 0 && s.p->loosening.n == 1);
	cr_assert_eq(read_rule(&s, LAYER_PROJECT, "deny", "WebFetch(domain:example.com)"), 0);
	cr_assert(s.p->lists[LIST_DENIED_DOMAINS].n == 1 && s.p->loosening.n == 0);
	scratch_end(&s);
}

Test(permissions, other_keys)
{
	static const char text[] = "{\"permissions\":{\"additionalDirectories\":[\"~/out\"],\"defaultMode\":\"plan\",\"alow\":[]}}";
	struct scratch s;

	scratch_begin(&s);
	make_dir(&s, "@/home/out");
	cr_assert_eq(policy_read_settings_text(s.p, text, strlen(text), "f", LAYER_USER, &s.err), 0);
	cr_assert(find_rule(s.p, RULE_ALLOW_WRITE, in(&s, "@/home/out")) && !s.p->write_list);
	cr_assert(s.p->warnings.n == 1 && warned(s.p, "f:1:79: permissions.alow: unknown key; did you mean \"allow\"?"), "%s", s.p->warnings.v[0]);
	scratch_again(&s);
	cr_assert_eq(policy_read_settings_text(s.p, text, strlen(text), "f", LAYER_PROJECT, &s.err), 0);
	cr_assert_eq(policy_add_defaults(s.p, &s.err), 0);
	cr_assert(!find_rule(s.p, RULE_ALLOW_WRITE, in(&s, "@/home/out")) && s.p->loosening.n == 1);
	scratch_end(&s);
}
