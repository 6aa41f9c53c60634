/* settings.c and its neighbours: what each key does, and what is said of a file that is wrong. */
#include <errno.h>
#include "platform/base/cleanup.h"
#include "platform/policy/json_position.h"
#include "tests/unit/policy_help.h"

TestSuite(settings, .timeout = 20);

static int read_text(struct scratch *s, enum layer layer, const char *text)
{
	return policy_read_settings_text(s->p, text, strlen(text), "f.json", layer, &s->err);
}

/* Texts that must stop the start; what the message begins with and what it holds. */
Test(settings, errors)
{
	static const struct { const char *text, *begin, *hint; } rows[] = {
		{ "", "f.json:1:1: the file is empty", NULL },
		{ " \n\t", "f.json:1:1: the file is empty", NULL },
		{ "{", "f.json:1:1: not JSON: ", NULL },
		{ "hello", "f.json:1:5: not JSON: ", NULL },
		{ "{\"a\":1}x", "f.json:1:8: not JSON: end of file expected", NULL },
		{ "{\n  // why\n}", "f.json:2:3: not JSON: ", "JSON has no comments" },
		{ "{\"strict\":true,\n\"strict\":true}", "f.json:2:8: found the key '\"strict\"' twice", NULL },
		{ "{\"a\":\"\\u0000\"}", "f.json:1:13: found a NUL character", NULL },
		{ "{\"a\":\"\xff\"}", "f.json:1:6: not JSON: ", NULL },
		{ "[]", "f.json:1:1: found an array, expected an object", NULL },
		{ "null", "f.json:1:1: found null, expected an object", NULL },
		{ "\n  17", "f.json:2:3: found a number, expected an object", NULL },
		{ "{\"filesystem\":[]}", "f.json:1:15: filesystem: found an array, expected an object", NULL },
		{ "{\"filesystem\":{\n\t\"denyRead\": \"~/x\"}}", "f.json:2:14: filesystem.denyRead: found a string, expected an array of paths", NULL },
		{ "{\"filesystem\":{\"denyRead\":[\"/a\",\n \"/b\", 3]}}", "f.json:2:8: filesystem.denyRead[2]: found a number, expected a path", NULL },
		{ "{\"filesystem\":{\"denyRead\":[null]}}", "f.json:1:28: filesystem.denyRead[0]: found null, expected a path", NULL },
		{ "{\"filesystem\":{\"denyRead\":[\"\"]}}", "f.json:1:28: filesystem.denyRead[0]: the path is empty", NULL },
		{ "{\"filesystem\":{\"denyRead\":[{\"literal\":true}]}}", "f.json:1:28: filesystem.denyRead[0]: found no \"path\"", NULL },
		{ "{\"filesystem\":{\"denyRead\":[{\"path\":1}]}}", "f.json:1:36: filesystem.denyRead[0].path: found a number", NULL },
		{ "{\"filesystem\":{\"denyRead\":[{\"path\":\"x\",\"literal\":1}]}}", "f.json:1:50: filesystem.denyRead[0].literal: found a number", NULL },
		{ "{\"filesystem\":{\"denyRead\":[\"~who/x\"]}}", "f.json:1:28: filesystem.denyRead[0]: '~who/x': other users", "./~who/x" },
		{ "{\"filesystem\":{\"denyWrite\":[\"loop\"]}}", "f.json:1:29: filesystem.denyWrite[0]: 'loop' is a cycle", NULL },
		{ "{\"filesystem\":{\"allowGitConfig\":\"yes\"}}", "f.json:1:33: filesystem.allowGitConfig: found a string, expected true or false", NULL },
		{ "{\"filesystem\":{\"execFrom\":\"outsideroots\"}}", "f.json:1:27: filesystem.execFrom: found \"outsideroots\", expected \"any\" or \"outsideRoots\"",
		  "\"outsideRoots\"" },
		{ "{\"strict\":1}", "f.json:1:11: strict: found a number, expected true or false", NULL },
		{ "{\"profile\":\"none\"}", "f.json:1:12: profile: found \"none\", expected \"default\", \"strict\" or \"scrub\"", NULL },
		{ "{\"caches\":true}", "f.json:1:11: caches: found true, expected a string", NULL },
		{ "{\"caches\":\"privat\"}", "f.json:1:11: caches: found \"privat\"", "\"private\"" },
		{ "{\"backend\":3}", "f.json:1:12: backend: found a number", NULL },
		{ "{\"backend\":[\"bwrap\",3]}", "f.json:1:21: backend[1]: found a number", NULL },
		{ "{\"network\":{\"mode\":\"on\"}}", "f.json:1:20: network.mode: found \"on\"", NULL },
		{ "{\"network\":{\"allowedDomains\":[1]}}", "f.json:1:31: network.allowedDomains[0]: found a number, expected a string", NULL },
		{ "{\"require\":{\"fs.write\":\"strong\"}}", "f.json:1:24: require.fs.write: unknown level 'strong'", "kernel" },
		{ "{\"require\":{\"fs.writ\":\"kernel\"}}", "f.json:1:23: require.fs.writ: unknown guarantee 'fs.writ'", "\"fs.write\"" },
		{ "{\"require\":{\"fs.write\":1}}", "f.json:1:24: require.fs.write: found a number, expected a level", NULL },
		{ "{\"env\":{\"keep\":[\"A=B\"]}}", "f.json:1:17: env.keep[0]: found \"A=B\", expected the name of a variable", NULL },
		{ "{\"env\":{\"drop\":[\"\"]}}", "f.json:1:17: env.drop[0]: found \"\"", NULL },
		{ "{\"env\":{\"set\":[\"A=B\"]}}", "f.json:1:15: env.set: found an array, expected an object", NULL },
		{ "{\"env\":{\"set\":{\"A\":1}}}", "f.json:1:20: env.set.A: found a number, expected a string", NULL },
		{ "{\"env\":{\"set\":{\"A=\":\"1\"}}}", "f.json:1:15: env.set: found the key \"A=\"", NULL },
		{ "{\"credentials\":{\"envVars\":[\"A\"]}}", "f.json:1:28: credentials.envVars[0]: found a string, expected an object", NULL },
		{ "{\"credentials\":{\"envVars\":[{\"mode\":\"deny\"}]}}", "f.json:1:28: credentials.envVars[0]: found no \"name\"", NULL },
		{ "{\"credentials\":{\"envVars\":[{\"name\":\"A*\",\"mode\":\"deny\"}]}}", "f.json:1:36: credentials.envVars[0].name: found \"A*\"", NULL },
		{ "{\"credentials\":{\"envVars\":[{\"name\":\"A\"}]}}", "f.json:1:28: credentials.envVars[0]: found no \"mode\"", NULL },
		{ "{\"credentials\":{\"envVars\":[{\"name\":\"A\",\"mode\":\"allow\"}]}}", "f.json:1:47: credentials.envVars[0].mode: found \"allow\"", NULL },
		{ "{\"credentials\":{\"files\":[{\"path\":7,\"mode\":\"deny\"}]}}", "f.json:1:34: credentials.files[0].path: found a number", NULL },
		{ "{\"\\u0066ilesystem\":\n{\"deny\\u0052ead\": 1}}", "f.json:2:19: filesystem.denyRead: found a number", NULL },
		{ "{\"caf\xc3\xa9\":1, \"strict\":2}", "f.json:1:21: strict: found a number", NULL },
	};
	struct scratch s;

	scratch_begin(&s);
	make_link(&s, "loop", "@/cwd/loop");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		scratch_again(&s);
		int r = read_text(&s, LAYER_FLAGS, rows[i].text);

		cr_assert_lt(r, 0, "%s: accepted", rows[i].text);
		cr_assert(s.err.text && !strncmp(s.err.text, rows[i].begin, strlen(rows[i].begin)), "%s:\n%s\nnot\n%s", rows[i].text, s.err.text, rows[i].begin);
		if (rows[i].hint)
			cr_assert(s.err.hint && strstr(s.err.hint, rows[i].hint), "%s: hint %s", rows[i].text, s.err.hint);
	}
	scratch_end(&s);
}

/* Texts that are read, and the one warning, if any, that they earn. */
Test(settings, warnings)
{
	static const struct { const char *text, *warning; } rows[] = {
		{ "{}", NULL },
		{ "\xef\xbb\xbf{}", NULL },
		{ "{\"$schema\":\"x\"}", NULL },
		{ "{\"filesystem\":null,\"network\":null,\"env\":{\"keep\":null},\"strict\":null,\"require\":{\"fs.write\":null}}", NULL },
		{ "{\"network\":{\"httpProxyPort\":null,\"deniedDomains\":[],\"allowLocalBinding\":false}}", NULL },
		{ "{\"bogus\":null}", ": bogus: unknown key" },
		{ "{\"filesystem\":{\"allowWrites\":[]}}", ": filesystem.allowWrites: unknown key; did you mean \"allowWrite\"?" },
		{ "{\"denyRead\":[]}", ": denyRead: unknown key; did you mean \"filesystem.denyRead\"?" },
		{ "{\"filesystem.denyRead\":[]}", ": filesystem.denyRead: unknown key" },
		{ "{\"filesystem\":{\"denyRead\":[{\"path\":\"/x\",\"litteral\":true}]}}", "filesystem.denyRead[0].litteral: unknown key; did you mean \"literal\"?" },
		{ "{\"filesystem\":{\"allowWrite\":[\"gone\"]}}", ": filesystem.allowWrite[0]: 'gone' does not exist" },
		{ "{\"network\":{\"allowedDomains\":[]}}", NULL },
		{ "{\"network\":{\"deniedDomains\":[\"example.com\"]}}", NULL },
		{ "{\"network\":{\"allowMachLookup\":[\"x\"]}}", ": network.allowMachLookup: changes nothing here: only macOS" },
		{ "{\"sandbox\":{\"enabled\":true},\"model\":\"x\",\"hooks\":{}}", NULL },
		{ "{\"permissions\":{\"allow\":[]}}", NULL },
		{ "{\"sandbox\":{},\"permisions\":{}}", ": permisions: unknown key; did you mean \"permissions\"?" },
		{ "{\"sandbox\":{},\"filesystem\":{}}", ": filesystem: is not read at the top of a Claude Code file; put it into \"sandbox\"" },
		{ "{\"sandbox\":{\"enabld\":true}}", ": sandbox.enabld: unknown key; did you mean \"enabled\"?" },
		{ "{\"filesystem\":{\"disabled\":true}}", ": filesystem.disabled: is not supported" },
		{ "{\"mandatoryDenySearchDepth\":5}", ": mandatoryDenySearchDepth: changes nothing" },
		{ "{\"credentials\":{\"envVars\":[{\"name\":\"A\",\"mode\":\"mask\",\"injectHosts\":[\"example.com\"]}]}}",
		  ": credentials.envVars[0].mode: \"mask\" is not supported yet" },
		{ "{\"credentials\":{\"envVars\":[{\"name\":\"A\",\"mode\":\"deny\",\"nam\":1}]}}", "credentials.envVars[0].nam: unknown key; did you mean \"name\"?" },
	};
	struct scratch s;

	scratch_begin(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		scratch_again(&s);
		cr_assert_eq(read_text(&s, LAYER_FLAGS, rows[i].text), 0, "%s: %s", rows[i].text, s.err.text);
		cr_assert_eq(s.p->warnings.n, rows[i].warning ? 1 : 0, "%s: %zu warnings, first: %s", rows[i].text, s.p->warnings.n,
			     s.p->warnings.n ? s.p->warnings.v[0] : "");
		if (rows[i].warning)
			cr_assert(warned(s.p, rows[i].warning), "%s: %s", rows[i].text, s.p->warnings.v[0]);
	}
	scratch_end(&s);
}

static const char everything[] =
	"{ \"filesystem\": { \"allowWrite\": [\"out\", {\"path\": \"a[1]\", \"literal\": true}], \"denyWrite\": [\"**/*.pem\"], \"denyRead\": [\"~/\"],\n"
	"  \"allowRead\": [\"~/doc/**\"], \"denyDelete\": [\"keep\"], \"denyExec\": [\"/bin/sh*\"], \"execFrom\": \"outsideRoots\",\n"
	"  \"execGrantRoots\": [\"target\"], \"allowGitConfig\": true },\n"
	"  \"env\": { \"keep\": [\"A\", \"B_*\", \"A\"], \"drop\": [\"C\"], \"set\": {\"D\": \"=x\", \"E\": \"\", \"F\": null} },\n"
	"  \"credentials\": { \"envVars\": [{\"name\": \"G\", \"mode\": \"deny\"}], \"files\": [{\"path\": \"~/g\", \"mode\": \"deny\"}] },\n"
	"  \"network\": { \"mode\": \"off\", \"allowUnixSockets\": [\"/tmp/s\"], \"allowAllUnixSockets\": true },\n"
	"  \"require\": { \"fs.write\": \"kernel\", \"net.egress\": \"best\" }, \"backend\": [\"landlock\", \"preload\"],\n"
	"  \"strict\": true, \"profile\": \"strict\", \"caches\": \"none\", \"enabled\": false }\n";

Test(settings, every_key)
{
	static const struct { enum rule_kind kind; const char *path, *origin; } rows[] = {
		{ RULE_ALLOW_WRITE, "@/cwd/out", ": filesystem.allowWrite[0]" },
		{ RULE_ALLOW_WRITE, "@/cwd/a[1]", ": filesystem.allowWrite[1]" },
		{ RULE_DENY_WRITE, "/**/*.pem", ": filesystem.denyWrite[0]" },
		{ RULE_DENY_READ, "@/home", ": filesystem.denyRead[0]" },
		{ RULE_ALLOW_READ, "@/home/doc", ": filesystem.allowRead[0]" },
		{ RULE_DENY_DELETE, "@/cwd/keep", ": filesystem.denyDelete[0]" },
		{ RULE_DENY_EXEC, "*", ": filesystem.denyExec[0]" },
		{ RULE_GRANT_EXEC, "@/cwd/target", ": filesystem.execGrantRoots[0]" },
		{ RULE_DENY_READ, "@/home/g", ": credentials.files[0].path" },
		{ RULE_ALLOW_SOCKET, "/tmp/s", ": network.allowUnixSockets[0]" },
	};
	struct scratch s;

	scratch_begin(&s);
	make_dir(&s, "@/cwd/out");
	make_dir(&s, "@/cwd/a[1]");
	cr_assert_eq(read_text(&s, LAYER_USER, everything), 0, "%s", s.err.text);
	cr_assert_eq(s.p->warnings.n, 0, "%s", s.p->warnings.n ? s.p->warnings.v[0] : "");
	cr_assert_eq(s.p->n_rules, ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct rule *r = &s.p->rules[i];

		cr_assert(r->kind == rows[i].kind && r->layer == LAYER_USER, "row %zu", i);
		cr_assert(!strncmp(r->origin, "f.json:", 7) && strlen(r->origin) > strlen(rows[i].origin) &&
			  !strcmp(r->origin + strlen(r->origin) - strlen(rows[i].origin), rows[i].origin), "row %zu: %s", i, r->origin);
		if (strcmp(rows[i].path, "*"))
			cr_assert_str_eq(r->path, in(&s, rows[i].path), "row %zu: %s", i, r->path);
	}
	cr_assert(s.p->exec_outside_roots && s.p->allow_git_config && s.p->unix_open && s.p->strict && s.p->profile_strict);
	cr_assert(s.p->net == NET_OFF && s.p->net_layer == LAYER_USER && s.p->caches == CACHES_NONE);
	cr_assert(s.p->scrub_only && strstr(s.p->scrub_only_origin, ": enabled"));
	cr_assert(s.p->env_keep.n == 2 && strv_has(&s.p->env_keep, "B_*"));
	cr_assert(s.p->env_drop.n == 2 && strv_has(&s.p->env_drop, "C") && strv_has(&s.p->env_drop, "G"));
	cr_assert(s.p->env_set.n == 2 && strv_has(&s.p->env_set, "D==x") && strv_has(&s.p->env_set, "E="));
	cr_assert(s.p->backends.n == 2 && !strcmp(s.p->backends.v[0], "landlock"));
	cr_assert(s.p->n_required == 2 && s.p->required[1].best && strstr(s.p->required[0].origin, ": require.fs.write"));
	scratch_end(&s);
}

/* Lists join; of single values the highest layer counts, in whatever order the files come. */
Test(settings, layers)
{
	struct scratch s;

	scratch_begin(&s);
	read_text(&s, LAYER_USER, "{\"caches\":\"shared\",\"enabled\":false,\"backend\":\"bwrap\",\"filesystem\":{\"denyRead\":[\"/a\"]}}");
	cr_assert(s.p->scrub_only);
	read_text(&s, LAYER_FLAGS, "{\"caches\":\"none\",\"enabled\":true,\"backend\":\"auto\",\"filesystem\":{\"denyRead\":[\"/b\",\"/a\"]}}");
	cr_assert(s.p->caches == CACHES_NONE && !s.p->scrub_only && s.p->backends.n == 0 && s.p->warnings.n == 0);
	read_text(&s, LAYER_PROJECT, "{\"caches\":\"none\",\"enabled\":true}");
	cr_assert(s.p->caches == CACHES_NONE && !s.p->scrub_only);
	cr_assert_eq(s.p->n_rules, 3, "the same path, asked for by a higher layer, is a rule of its own");
	read_text(&s, LAYER_MANAGED, "{\"profile\":\"scrub\",\"failIfUnavailable\":true}");
	cr_assert(s.p->scrub_only && s.p->n_required == 2);
	scratch_end(&s);
}

/* What the proxy and hurdle decide read. */
Test(settings, kept)
{
	static const char claude[] =
		"{\"sandbox\":{\"excludedCommands\":[\"docker:*\"],\"allowUnsandboxedCommands\":false,\"network\":{\"allowedDomains\":[\"a.example.com\"],"
		"\"deniedDomains\":[\"b.example.com\"],\"httpProxyPort\":3128,\"socksProxyPort\":null,\"strictAllowlist\":true,"
		"\"deniedDomainReasons\":{\"b.example.com\":\"why\"},\"parentProxy\":{\"http\":\"http://x.example.com:1\"}}},"
		"\"permissions\":{\"allow\":[\"Bash(npm run *)\",\"WebSearch\",\"Bash(*)\"],\"deny\":[\"Bash(echo \\\\(1\\\\))\"],\"defaultMode\":\"plan\"}}";
	struct scratch s;

	scratch_begin(&s);
	cr_assert(s.p->allow_unsandboxed && s.p->auto_allow_bash);
	cr_assert_eq(read_text(&s, LAYER_USER, claude), 0, "%s", s.err.text);
	cr_assert_eq(read_text(&s, LAYER_FLAGS, "{\"network\":{\"allowedDomains\":[\"c.example.com\",\"a.example.com\"]}}"), 0);
	const struct items *allowed = &s.p->lists[LIST_ALLOWED_DOMAINS], *reasons = &s.p->lists[LIST_DOMAIN_REASONS];
	cr_assert(allowed->given && allowed->n == 2 && allowed->v[0].layer == LAYER_FLAGS && !strcmp(allowed->v[1].text, "c.example.com"));
	cr_assert_str_eq(s.p->lists[LIST_DENIED_DOMAINS].v[0].origin, "f.json:1:141: sandbox.network.deniedDomains[0]");
	cr_assert(reasons->n == 1 && !strcmp(reasons->v[0].value, "why") && !s.p->lists[LIST_PLATFORMS].given);
	cr_assert(s.p->http_proxy_port == 3128 && s.p->socks_proxy_port == 0 && s.p->strict_allowlist && !s.p->allow_unsandboxed);
	cr_assert(!strcmp(s.p->parent_http, "http://x.example.com:1") && !s.p->parent_https);
	cr_assert_eq(s.p->n_permissions, 4);
	cr_assert(!strcmp(s.p->permissions[0].tool, "Bash") && !strcmp(s.p->permissions[0].argument, "npm run *"));
	cr_assert(!s.p->permissions[1].argument && !s.p->permissions[2].argument);
	cr_assert(s.p->permissions[3].list == PERMISSION_DENY && !strcmp(s.p->permissions[3].argument, "echo (1)"));
	scratch_end(&s);
}

Test(settings, files)
{
	static const struct { const char *path; int code; const char *words; } rows[] = {
		{ "@/none.json", -ENOENT, "No such file" }, { "@/cwd", -EISDIR, "directory" }, { "@/empty.json", -EINVAL, "empty" },
		{ "@/cwd/x/y", -ENOENT, "No such file" }, { "@/huge.json", -EFBIG, "larger than" }, { "@/nul.json", -EINVAL, "not JSON" },
	};
	struct scratch s;
	FILE *f;

	scratch_begin(&s);
	make_file(&s, "@/empty.json", "");
	make_file(&s, "@/good.json", "{\"strict\":true}");
	make_file(&s, "@/nul.json", "{}");
	make_link(&s, "good.json", "@/link.json");
	f = fopen(in(&s, "@/nul.json"), "w");
	cr_assert(f && fwrite("{\"a\0b\":1}", 9, 1, f) == 1 && fclose(f) == 0);
	f = fopen(in(&s, "@/huge.json"), "w");
	for (int i = 0; i < (1 << 20) + 1; i++)
		fputc(' ', f);
	fclose(f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *path = in(&s, rows[i].path);
		int r = policy_read_settings(s.p, path, LAYER_FLAGS, &s.err);

		cr_assert_eq(r, rows[i].code, "%s: %d", path, r);
		cr_assert(strstr(s.err.text, rows[i].words) && strstr(s.err.text, path), "%s: %s", path, s.err.text);
	}
	strv_free(&s.p->settings_files);
	cr_assert_eq(policy_read_settings(s.p, in(&s, "@/link.json"), LAYER_FLAGS, &s.err), 0);
	cr_assert(s.p->strict && s.p->settings_files.n == 2, "the file, and the link that leads to it");
	cr_assert_str_eq(s.p->settings_files.v[0], in(&s, "@/good.json"));
	cr_assert_str_eq(s.p->settings_files.v[1], in(&s, "@/link.json"));
	if (geteuid() != 0) { /* root reads everything */
		chmod(in(&s, "@/good.json"), 0);
		cr_assert_eq(policy_read_settings(s.p, in(&s, "@/good.json"), LAYER_FLAGS, &s.err), -EACCES);
	}
	scratch_end(&s);
}

/* A pipe is a settings file too, and nothing to protect. */
Test(settings, pipe)
{
	struct scratch s;
	char name[64];
	int fd[2];

	scratch_begin(&s);
	cr_assert(pipe(fd) == 0 && write(fd[1], "{\"strict\":true}", 15) == 15 && close(fd[1]) == 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd[0]);
	cr_assert_eq(policy_read_settings(s.p, name, LAYER_FLAGS, &s.err), 0, "%s", s.err.text);
	cr_assert(s.p->strict && s.p->settings_files.n == 0);
	close(fd[0]);
	scratch_end(&s);
}

Test(settings, positions)
{
	static const char text[] = "{ \"a]\" : [1, {\"x\": \"}\\\"\"}, [[]], true ],\n\t\"\\ud83d\\ude00\":{\"b\" :\n null } }";
	const struct json_step a = { .key = "a]" }, a1 = { .parent = &a, .index = 1 }, x = { .parent = &a1, .key = "x" }, a3 = { .parent = &a, .index = 3 },
			       a4 = { .parent = &a, .index = 4 }, face = { .key = "\xf0\x9f\x98\x80" }, b = { .parent = &face, .key = "b" },
			       none = { .key = "none" }, below = { .parent = &b, .key = "c" };
	const struct { const struct json_step *at; unsigned line, column; } rows[] = {
		{ NULL, 1, 1 }, { &a, 1, 10 }, { &a1, 1, 14 }, { &x, 1, 20 }, { &a3, 1, 34 }, { &a4, 0, 0 }, { &face, 2, 17 }, { &b, 3, 2 },
		{ &none, 0, 0 }, { &below, 0, 0 },
	};
	char *name = json_step_name(&x);

	cr_assert_str_eq(name, "a][1].x");
	free(name);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned line = 0, column = 0;
		bool found = json_position(text, strlen(text), rows[i].at, &line, &column);

		cr_assert_eq(found, rows[i].line != 0, "row %zu", i);
		if (found)
			cr_assert(line == rows[i].line && column == rows[i].column, "row %zu: %u:%u", i, line, column);
	}
	for (size_t len = 0; len < strlen(text); len++) { /* cut anywhere: no byte beyond the end is read */
		_cleanup_free_ char *cut = malloc(len ? len : 1);
		unsigned line, column;

		memcpy(cut, text, len);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			json_position(cut, len, rows[i].at, &line, &column);
	}
}
