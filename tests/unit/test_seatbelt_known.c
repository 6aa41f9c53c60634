/* The Seatbelt profile in known cases: what has to come out, and everything around the file rules. */
#include "tests/unit/seatbelt_help.h"

TestSuite(seatbelt_known, .timeout = 60);

static const struct known { const char *policy, *operation, *path; bool allowed; } known[] = {
	/* the deepest match decides about reading */
	{ "denyRead /p; allowRead /p/a", "file-read-data", "/p/a/x", true },
	{ "denyRead /p; allowRead /p/a; denyRead /p/a/b", "file-read-data", "/p/a/b", false },
	{ "denyRead /p; allowWrite /p/w", "file-read-data", "/p/w/x", true },
	{ "denyRead@managed /p/a; allowRead /p/a", "file-read-data", "/p/a", false },
	{ "denyRead /p/a; allowRead /p/a", "file-read-data", "/p/a", true },
	{ "denyRead /**/.env.*; allowRead /**/.env.example", "file-read-data", "/a/.env.example", true },
	{ "denyRead /**/.env.*; allowRead /**/.env.example", "file-read-data", "/a/.env.local", false },
	{ "denyRead /**/.env.*; allowRead /**/.env.example", "file-read-data", "/a/.env.d/.env.example", true },
	{ "denyRead /**/.env.*; allowRead /**/.env.example", "file-read-data", "/a/.env.example/.env.local", false },
	{ "denyRead /**/.env.*; allowRead /**/.env.example", "file-read-data", "/1/2/3/4/5/6/7/8/9/.env.d/.env.example", true },
	{ "denyRead /**/.env.*; allowRead /**/.env.example", "file-read-data", "/1/2/3/4/5/6/7/8/9/.env.example/.env.local", false },
	/* beyond 20 names more is denied rather than less */
	{ "denyRead /**/.env.*; allowRead /**/.env.example", "file-read-data",
	  "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/.env.example/.env.local", false },
	/* a write root is an entry of the directory above it */
	{ "allowWrite /p", "file-write-unlink", "/p", false },
	{ "allowWrite /p", "file-write-unlink", "/p/a", true },
	{ "allowWrite /p; allowWrite /p/a", "file-write-unlink", "/p/a", true },
	{ "allowWrite /p", "file-write-data", "/pp", false },
	{ "allowWrite /p", "file-write-mode", "/q", false },
	{ "allowWrite /p; denyDelete /p/keep", "file-write-unlink", "/p/keep/x", false },
	{ "allowWrite /p; denyDelete /p/keep", "file-write-data", "/p/keep/x", true },
	/* moving the directory of a denied path away, or one with such a name into its place */
	{ "allowWrite /p; denyRead /p/a/b/key", "file-write-unlink", "/p/a", false },
	{ "allowWrite /p; denyRead /p/a/b/key", "file-write-unlink", "/p/a/b", false },
	{ "allowWrite /p; denyRead /p/a/b/key", "file-write-unlink", "/p/a/c", true },
	{ "allowWrite /p; denyRead /p/a/b/key", "file-write-create", "/p/a/b", true },
	{ "allowWrite /p; denyWrite /p/a/b/conf", "file-write-create", "/p/a/b", false },
	{ "allowWrite /p; denyWrite /p/a/b/conf", "file-write-unlink", "/p/a", false },
	{ "allowWrite /p; denyWrite /**/a/conf", "file-write-create", "/p/x/a", false },
	{ "allowWrite /p; denyWrite /**/a/conf", "file-write-unlink", "/p/x/a", false },
	{ "allowWrite /p; denyRead /**/k.pem; allowRead /p/pub/here", "file-write-create", "/p/pub", false },
	{ "allowWrite /p; denyRead /p/k.pem; allowRead /p/pub/here", "file-write-create", "/p/pub", true },
	{ "allowWrite /p; denyRead /p/secret", "file-write-unlink", "/p/secret", false },
	{ "allowWrite /p; denyRead /p/secret", "file-link", "/p/secret", false },
	{ "allowWrite /p", "file-link", "/p/a", true },
	{ "allowWrite /p", "file-link", "/q", false },
	/* out of the tree of a pattern */
	{ "allowWrite /p; allowWrite /q; denyRead /p/**/k.pem", "file-read-data", "/q/sub/k.pem", false },
	{ "allowWrite /p; allowWrite /q; denyRead /p/**/k.pem", "file-read-data", "/r/sub/k.pem", true },
	{ "allowWrite /p; allowWrite /q; denyWrite /p/**/*", "file-write-data", "/q/a", true },
	/* protected names: new or old directory, Seatbelt cannot tell */
	{ "allowWrite /p; protect:icase /**/.git/hooks", "file-write-create", "/p/new/.git/hooks", false },
	{ "allowWrite /p; protect:icase /**/.git/hooks", "file-write-create", "/p/.git/HOOKS/pre-commit", false },
	{ "allowWrite /p; protect:icase /**/.git/hooks", "file-write-create", "/p/.git/index", true },
	{ "allowWrite /p; protect:icase /**/.git/hooks", "file-write-create", "/p/.git", false },
	{ "allowWrite /p; protect:icase /**/.git/hooks", "file-write-unlink", "/p/.git", false },
	{ "allowWrite /p; protect:icase /**/.vscode", "file-write-create", "/p/node_modules/x/.vscode", true },
	{ "allowWrite /p; protect:icase /**/.vscode", "file-write-create", "/p/node_modules2/.vscode", false },
	{ "allowWrite /p; protect:icase /**/.vscode", "file-write-create", "/p/.vscode/node_modules/x", false },
	{ "allowWrite /p; protect:icase /**/.git/modules/*/hooks", "file-write-create", "/p/.git/modules/a/hooks", false },
	{ "allowWrite /p; protect:icase /**/.git/modules/*/hooks", "file-write-create", "/p/.git/modules/node_modules/hooks", true },
	{ "allowWrite /p; internal /t; tmpdir /t/tmp; protect:icase /**/.vscode", "file-write-create", "/t/tmp/x/.vscode", true },
	/* hurdle's own directory, and the temporary one in it */
	{ "allowWrite /t; internal /t/s; tmpdir /t/s/tmp; denyRead /t", "file-read-data", "/t/s/policy", true },
	{ "allowWrite /t; internal /t/s; tmpdir /t/s/tmp; denyRead /t", "file-write-data", "/t/s/policy", false },
	{ "allowWrite /t; internal /t/s; tmpdir /t/s/tmp; denyRead /t", "file-write-data", "/t/s/tmp/x", true },
	{ "allowWrite /t; internal /t/s; tmpdir /t/s/tmp; denyRead /t", "file-read-data", "/t/s/tmp/x", true },
	{ "allowWrite /t; internal /t/s; tmpdir /t/s/tmp; denyRead /t", "file-write-unlink", "/t/s/tmp", false },
	{ "allowWrite /t; internal /t/s; tmpdir /t/s/tmp; denyRead /t", "file-write-unlink", "/t/s", false },
	{ "internal /t/s; tmpdir /t/s", "file-write-data", "/t/s/x", true },
	{ "internal /t/s; tmpdir /t/s/tmp; outsideRoots", "process-exec", "/t/s/tmp/x", false },
	{ "internal /t/s; tmpdir /t/s/tmp; outsideRoots", "process-exec", "/t/s/x", true },
	{ "internal /t; tmpdir /t/tmp; denyRead /**/*.pem", "file-read-data", "/t/tmp/sub/k.pem", false },
	{ "internal /t; tmpdir /t/tmp; denyRead /**/t/*", "file-read-data", "/t/tmp/sub", true },
	/* programs */
	{ "allowWrite /p; outsideRoots", "process-exec", "/p/a.out", false },
	{ "allowWrite /p; outsideRoots", "file-map-executable", "/p/a.so", false },
	{ "allowWrite /p; outsideRoots; grantExec /p/bin", "process-exec", "/p/bin/a", true },
	{ "denyExec /usr/bin/ssh", "process-exec", "/usr/bin/ssh", false },
	{ "denyExec /usr/bin/ssh", "process-exec-interpreter", "/usr/bin/ssh", false },
	{ "denyExec /usr/bin/ssh", "process-exec", "/usr/bin/sshd", true },
	/* sockets */
	{ "allowWrite /p; denyWrite /p/x", "network-outbound", "/p/s", true },
	{ "allowWrite /p; denyWrite /p/x", "network-outbound", "/p/x/s", false },
	{ "allowSocket /run/a.sock", "network-outbound", "/run/a.sock", true },
	{ "allowSocket /run/a.sock", "network-outbound", "/run/b.sock", false },
	{ "unixOpen", "network-outbound", "/run/b.sock", true },
	{ "unixOpen; internal /t", "network-outbound", "/t/s", false },
	/* names that are not what they seem */
	{ "denyRead /p/a\"b", "file-read-data", "/p/a\"b", false },
	{ "denyRead:icase /p/a.b", "file-read-data", "/P/A.B", false },
	{ "denyRead:icase /p/a.b", "file-read-data", "/p/axb", true },
	{ "denyRead /p/m\xc3\xa4rz", "file-read-data", "/p/m\xc3\xa4rz/x", false },
	{ "denyRead /p/\xff\n\x1b", "file-read-data", "/p/\xff\n\x1b", false },
	{ "denyRead /p/\xff\n\x1b*", "file-read-data", "/p/\xff\n\x1bx", false },
};

Test(seatbelt_known, known_cases)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		_cleanup_(pair_release) struct pair p = pair_of(policy_from(known[i].policy), &plain);

		cr_expect_eq(seatbelt(&p, known[i].operation, known[i].path), known[i].allowed, "%s: %s %s should be %s\n%s", known[i].policy,
			     known[i].operation, known[i].path, known[i].allowed ? "allowed" : "denied", p.profile);
	}
}

/* /tmp, /var and /etc are asked about as what they lead to. */
Test(seatbelt_known, both_spellings)
{
	static const char *const texts[] = {
		"allowWrite /tmp/p; denyWrite /tmp/p/x; denyRead /var/db/k; allowRead /var/db/k/a; denyRead /etc/s*",
		"allowWrite /private/tmp/p; denyWrite /private/tmp/p/x; denyRead /private/var/db/k; allowRead /private/var/db/k/a; denyRead /private/etc/s*",
	};
	static const struct { const char *operation, *path; bool allowed; } rows[] = {
		{ "file-write-data", "/tmp/p/a", true },  { "file-write-data", "/tmp/p/x/a", false }, { "file-read-data", "/var/db/k/b", false },
		{ "file-read-data", "/var/db/k/a", true }, { "file-read-data", "/etc/sudoers", false }, { "file-read-data", "/etc/hosts", true },
		{ "file-write-data", "/tmpp", false },     { "file-write-unlink", "/tmp/p", false },    { "file-write-unlink", "/tmp/p/a", true },
	};

	for (size_t t = 0; t < ARRAY_SIZE(texts); t++) {
		_cleanup_(pair_release) struct pair p = pair_of(policy_from(texts[t]), &plain);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			_cleanup_free_ char *other = strf("/private%s", rows[i].path);
			cr_expect_eq(seatbelt(&p, rows[i].operation, rows[i].path), rows[i].allowed, "%s %s", rows[i].operation, rows[i].path);
			cr_expect_eq(seatbelt(&p, rows[i].operation, other), rows[i].allowed, "%s %s", rows[i].operation, other);
		}
	}
}

/* A rule's second spelling, before symlinks were resolved. */
Test(seatbelt_known, written_spelling)
{
	struct policy *policy = policy_from("allowWrite /p; denyWrite /p/real");

	policy->rules[1].written = xstrdup("/p/link");
	_cleanup_(pair_release) struct pair p = pair_of(policy, &plain);
	cr_expect_not(seatbelt(&p, "file-write-data", "/p/real/x"));
	cr_expect_not(seatbelt(&p, "file-write-data", "/p/link/x"));
	cr_expect_not(seatbelt(&p, "file-write-unlink", "/p/link"));
}

/* ---- the rest of the profile ---- */

static bool asks_about(const struct pair *p, struct sbpl_query q)
{
	return asks(p, &q);
}

#define REMOTE(host, port_) ((struct sbpl_query){ .operation = "network-outbound", .remote = host, .port = port_ })
#define LOCAL(operation_, host) ((struct sbpl_query){ .operation = operation_, .local = host, .port = 8080 })

Test(seatbelt_known, network)
{
	static const char *const words[] = { "filter", "off", "open" };
	/* by mode: filter, off, open */
	const struct { struct sbpl_query query; bool allowed[3]; const char *what; } rows[] = {
		{ REMOTE("localhost", 3128), { true, true, true }, "proxy" },
		{ REMOTE("localhost", 5432), { false, true, true }, "other loopback" },
		{ REMOTE("192.0.2.1", 3128), { false, false, true }, "outside" },
		{ REMOTE("192.0.2.1", 443), { false, false, true }, "outside" },
		{ LOCAL("network-bind", "localhost"), { false, true, true }, "bind" },
		{ LOCAL("network-inbound", "localhost"), { false, true, true }, "accept" },
		{ LOCAL("network-bind", "192.0.2.7"), { false, false, true }, "bind outside" },
		{ { .operation = "network-outbound", .path = "/private/var/run/mDNSResponder", .unix_socket = true }, { false, false, true }, "resolver" },
		{ { .operation = "mach-lookup", .name = "com.apple.trustd.agent" }, { false, false, true }, "certificates" },
		{ { .operation = "mach-lookup", .name = "com.apple.system.opendirectoryd.libinfo" }, { true, true, true }, "users" },
	};

	for (int mode = NET_FILTER; mode <= NET_OPEN; mode++) {
		struct policy *policy = policy_from("allowWrite /p");
		policy->net = (enum net_mode)mode;
		_cleanup_(pair_release) struct pair p = pair_of(policy, &plain);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			cr_expect_eq(asks_about(&p, rows[i].query), rows[i].allowed[mode], "%s: %s", words[mode], rows[i].what);
	}
}

Test(seatbelt_known, port_of_the_proxy)
{
	static const char *const parameters[] = { "PROXY_PORT=4000", NULL };
	static const struct seatbelt_options unknown = { .tag = NULL };
	const struct sbpl_query right = REMOTE("localhost", 4000), wrong = REMOTE("localhost", 3128);
	_cleanup_free_ char *text = NULL;
	struct policy *policy = policy_from("allowWrite /p");
	char *error = NULL;

	text = seatbelt_profile(policy, &unknown);
	cr_expect_null(sbpl_read(text, NULL, NULL, &error), "a profile without its port is of no use");
	free(error);
	struct sbpl *p = sbpl_read(text, parameters, NULL, &error);
	cr_assert(p, "%s", error);
	cr_expect(sbpl_allows(p, &right, SBPL_LAST_MATCH) && !sbpl_allows(p, &wrong, SBPL_LAST_MATCH));
	sbpl_free(p);

	/* proxies of the user's own */
	policy->http_proxy_port = 3128;
	policy->socks_proxy_port = 1080;
	_cleanup_(pair_release) struct pair own = pair_of(policy, &unknown);
	cr_expect(asks_about(&own, REMOTE("localhost", 3128)) && asks_about(&own, REMOTE("localhost", 1080)));
	cr_expect_not(asks_about(&own, REMOTE("localhost", 4000)));
}

static const struct { struct sbpl_query query; bool allowed; } surroundings[] = {
	{ { .operation = "process-fork" }, true },
	{ { .operation = "signal", .target = "same-sandbox" }, true },
	{ { .operation = "signal", .target = "others" }, false },
	{ { .operation = "process-info-pidinfo", .target = "same-sandbox" }, true },
	{ { .operation = "process-info-pidinfo", .target = "others" }, false },
	{ { .operation = "mach-priv-task-port", .target = "others" }, false },
	{ { .operation = "mach-lookup", .name = "com.apple.SecurityServer" }, false },
	{ { .operation = "mach-lookup", .name = "com.apple.securityd.xpc" }, false },
	{ { .operation = "mach-lookup", .name = "com.apple.coreservices.launchservicesd" }, false },
	{ { .operation = "mach-lookup", .name = "com.apple.cfprefsd.agent" }, false },
	{ { .operation = "mach-lookup", .name = "com.apple.pasteboard.1" }, false },
	{ { .operation = "mach-register", .name = "x" }, false },
	{ { .operation = "sysctl-read", .name = "hw.ncpu" }, true },
	{ { .operation = "sysctl-read", .name = "kern.osrelease" }, true },
	{ { .operation = "sysctl-read", .name = "kern.procargs2.1" }, false },
	{ { .operation = "sysctl-write", .name = "kern.hostname" }, false },
	{ { .operation = "lsopen" }, false },
	{ { .operation = "appleevent-send" }, false },
	{ { .operation = "job-creation" }, false },
	{ { .operation = "iokit-open", .name = "x" }, false },
	{ { .operation = "nvram-get" }, false },
	{ { .operation = "system-kext-load" }, false },
	{ { .operation = "file-mount", .path = "/p" }, false },
	{ { .operation = "user-preference-write", .name = "x" }, false },
	{ { .operation = "pseudo-tty" }, true },
	{ { .operation = "file-ioctl", .path = "/dev/tty", .command = "TIOCGWINSZ" }, true },
	{ { .operation = "file-ioctl", .path = "/dev/ttys003", .command = "TIOCGETA" }, true },
	{ { .operation = "file-ioctl", .path = "/dev/tty", .command = "TIOCSTI" }, false },
	{ { .operation = "file-ioctl", .path = "/dev/disk0", .command = "TIOCGETA" }, false },
	{ { .operation = "file-write-data", .path = "/dev/ttys003", .extension = "com.apple.sandbox.pty" }, true },
	{ { .operation = "file-write-data", .path = "/dev/ttys003" }, false },
	{ { .operation = "file-write-data", .path = "/dev/dtracehelper" }, true },
	{ { .operation = "file-write-data", .path = "/dev/disk0" }, false },
	{ { .operation = "system-socket", .domain = "AF_UNIX" }, true },
	{ { .operation = "system-socket", .domain = "AF_ROUTE" }, false },
	{ { .operation = "ipc-posix-sem-create", .name = "/mp" }, true },
};

Test(seatbelt_known, surroundings)
{
	_cleanup_(pair_release) struct pair p = pair_of(policy_from("allowWrite /p"), &plain);

	for (size_t i = 0; i < ARRAY_SIZE(surroundings); i++) {
		const struct sbpl_query *q = &surroundings[i].query;
		cr_expect_eq(asks(&p, q), surroundings[i].allowed, "%s %s%s", q->operation, q->path ? q->path : "", q->name ? q->name : "");
	}
}

/* Where a name is new, an older macOS must not stumble over it. */
Test(seatbelt_known, older_systems)
{
	static const char *const missing[] = { "TIOCSTI", "nvram*" };
	struct policy *policy = policy_from("allowWrite /p; denyRead /p/a; outsideRoots");
	_cleanup_free_ char *text = seatbelt_profile(policy, &plain);

	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		char *error = NULL;
		struct sbpl *p = sbpl_read(text, NULL, missing[i], &error);
		cr_assert(p, "%s", error);
		sbpl_free(p);
	}
	policy_free(policy);
}

Test(seatbelt_known, every_denial_is_tagged)
{
	static const struct seatbelt_options tagged = { .tag = "hurdle-\"1\"", .proxy_port = 1 };
	static const char *const paths[] = { "/p/no/x", "/q", "/p/s/x", "/p/s/t", "/p/.git/hooks/x", "/p/k" };
	static const char *const operations[] = { "file-read-data", "file-write-data", "file-write-create", "file-write-unlink", "process-exec", "network-outbound" };
	_cleanup_(pair_release) struct pair p = pair_of(
		policy_from("allowWrite /p; denyWrite /p/no; denyRead /p/k; internal /p/s; tmpdir /p/s/t; protect /**/.git/hooks; denyExec /q"), &tagged);
	int denied = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		for (size_t o = 0; o < ARRAY_SIZE(operations); o++) {
			const struct sbpl_query q = { .operation = operations[o], .path = paths[i], .unix_socket = !strncmp(operations[o], "net", 3) };
			const char *message = sbpl_message(p.judge, &q, SBPL_LAST_MATCH);
			if (asks(&p, &q))
				continue;
			denied++;
			cr_expect(message && !strcmp(message, tagged.tag), "%s %s: %s", operations[o], paths[i], message ? message : "no message");
		}
	cr_expect_gt(denied, 12);
}

Test(seatbelt_known, environment_alone)
{
	_cleanup_(pair_release) struct pair p = pair_of(policy_from("scrub"), &plain);

	cr_expect(seatbelt(&p, "file-write-data", "/etc/x") && asks_about(&p, REMOTE("192.0.2.1", 443)));
}
