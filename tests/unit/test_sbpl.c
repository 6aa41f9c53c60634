/*
 * The judge of Seatbelt profiles, on rules that hurdle did not write. Each profile states a fact that the named source states (in our
 * own words, or a line of it), and what follows from it. SBPL has no specification; these are what the judge rests on.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "tests/unit/sbpl.h"

TestSuite(sbpl, .timeout = 20);

struct row {
	const char *source, *profile;
	const char *parameters[3];
	struct sbpl_query query;
	int last, specific; /* is it allowed, when the last match counts, and when the operation that is named most closely does */
};

#define FILE_OP(op, path_) { .operation = op, .path = path_ }

static const struct row rows[] = {
	/* Chromium, sandbox/mac/seatbelt_sandbox_design.md, appendix; Blazakis 2011: deny by default, what is allowed is named */
	{ "Chromium", "(version 1) (deny default) (allow file-read* (subpath \"/System\"))", {}, FILE_OP("file-read-data", "/System/x"), 1, 1 },
	{ "Chromium", "(version 1) (deny default) (allow file-read* (subpath \"/System\"))", {}, FILE_OP("file-read-data", "/System"), 1, 1 },
	{ "Chromium", "(version 1) (deny default) (allow file-read* (subpath \"/System\"))", {}, FILE_OP("file-read-data", "/Systems"), 0, 0 },
	{ "Chromium", "(version 1) (deny default) (allow file-read* (subpath \"/System\"))", {}, FILE_OP("file-write-data", "/System/x"), 0, 0 },
	{ "Chromium", "(version 1) (deny default) (allow file-read* (literal \"/a\"))", {}, FILE_OP("file-read-data", "/a/b"), 0, 0 },
	/* Bazel, DarwinSandboxedSpawnRunner: everything, then no writes, then writes in some places; the later rule decides */
	{ "Bazel", "(version 1) (allow default) (deny file-write*) (allow file-write* (subpath \"/w\"))", {}, FILE_OP("file-write-data", "/w/x"), 1, 1 },
	{ "Bazel", "(version 1) (allow default) (deny file-write*) (allow file-write* (subpath \"/w\"))", {}, FILE_OP("file-write-data", "/x"), 0, 0 },
	{ "Bazel", "(version 1) (allow default) (deny file-write*) (allow file-write* (subpath \"/w\"))", {}, FILE_OP("network-outbound", NULL), 1, 1 },
	/* Codex and others: denials stand behind the allowance that covers them */
	{ "Codex", "(version 1) (deny default) (allow file-read*) (deny file-read* (subpath \"/s\"))", {}, FILE_OP("file-read-data", "/s/k"), 0, 0 },
	{ "Codex", "(version 1) (deny default) (deny file-read* (subpath \"/s\")) (allow file-read*)", {}, FILE_OP("file-read-data", "/s/k"), 1, 1 },
	/* Nix, sandbox-defaults.sb: file-write-setugid is denied first, file* allowed later, and the denial is meant to hold */
	{ "Nix", "(version 1) (deny default) (deny file-write-setugid) (allow file* (subpath \"/b\"))", {}, FILE_OP("file-write-setugid", "/b/x"), 1, 0 },
	{ "Nix", "(version 1) (deny default) (deny file-write-setugid) (allow file* (subpath \"/b\"))", {}, FILE_OP("file-write-data", "/b/x"), 1, 1 },
	/* Nix: parameters, definitions, conditions on a parameter */
	{ "Nix", "(version 1) (deny default) (define TMPDIR (param \"T\")) (allow file* (subpath TMPDIR))", { "T=/tmp/x" }, FILE_OP("file-write-create", "/tmp/x/y"), 1, 1 },
	{ "Nix", "(version 1) (deny default) (if (param \"NET\") (begin (allow network*)))", { "NET=1" }, { .operation = "network-outbound", .remote = "192.0.2.1" }, 1, 1 },
	{ "Nix", "(version 1) (deny default) (if (param \"NET\") (begin (allow network*)))", {}, { .operation = "network-outbound", .remote = "192.0.2.1" }, 0, 0 },
	{ "Nix", "(version 1) (deny default) (allow network-outbound (remote unix-socket (path-literal \"/private/var/run/mDNSResponder\")))", {},
	  { .operation = "network-outbound", .path = "/private/var/run/mDNSResponder", .unix_socket = true }, 1, 1 },
	/* Nix, Chromium: a path filter in a network rule is about unix sockets */
	{ "Nix", "(version 1) (deny default) (allow network-outbound (subpath \"/t\"))", {}, { .operation = "network-outbound", .path = "/t/s", .unix_socket = true }, 1, 1 },
	{ "Nix", "(version 1) (deny default) (allow network-outbound (subpath \"/t\"))", {}, { .operation = "network-outbound", .remote = "localhost", .port = 80 }, 0, 0 },
	/* Firefox, SandboxPolicy: strings are put together; text after # has no escapes; conditions on what this macOS knows */
	{ "Firefox", "(version 1) (deny default) (allow file-read* (regex (string-append \"^\" (param \"H\") \"/Library\")))", { "H=/Users/u" },
	  FILE_OP("file-read-data", "/Users/u/Library/x"), 1, 1 },
	{ "Firefox", "(version 1) (deny default) (allow file-read* (regex #\"^/a\\.b$\"))", {}, FILE_OP("file-read-data", "/a.b"), 1, 1 },
	{ "Firefox", "(version 1) (deny default) (allow file-read* (regex #\"^/a\\.b$\"))", {}, FILE_OP("file-read-data", "/axb"), 0, 0 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow file-read* (regex \"^/a\\\\.b$\"))", {}, FILE_OP("file-read-data", "/a.b"), 1, 1 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow file-read* (regex \"^/a\\\\.b$\"))", {}, FILE_OP("file-read-data", "/axb"), 0, 0 },
	{ "Firefox", "(version 1) (allow default) (if (defined? 'nvram*) (deny nvram*))", {}, { .operation = "nvram-get" }, 0, 0 },
	/* others, measured: filters of one rule are alternatives; require-all makes both count */
	{ "measured", "(version 1) (allow default) (deny file-write-create (vnode-type SYMLINK) (regex #\"/x$\"))", {}, FILE_OP("file-write-create", "/a/x"), 0, 0 },
	{ "measured", "(version 1) (allow default) (deny file-write-create (require-all (vnode-type SYMLINK) (regex #\"/x$\")))", {},
	  FILE_OP("file-write-create", "/a/x"), 1, 1 },
	{ "measured", "(version 1) (allow default) (deny file-write-create (require-all (vnode-type SYMLINK) (regex #\"/x$\")))", {},
	  { .operation = "file-write-create", .path = "/a/x", .type = "SYMLINK" }, 0, 0 },
	{ "Codex", "(version 1) (deny default) (allow file-write* (require-all (subpath \"/w\") (require-not (subpath \"/w/.git\"))))", {},
	  FILE_OP("file-write-data", "/w/.git/config"), 0, 0 },
	{ "Codex", "(version 1) (deny default) (allow file-write* (require-all (subpath \"/w\") (require-not (subpath \"/w/.git\"))))", {},
	  FILE_OP("file-write-data", "/w/a"), 1, 1 },
	{ "Codex", "(version 1) (deny default) (allow file-write* (require-any (subpath \"/v\") (subpath \"/w\")))", {}, FILE_OP("file-write-data", "/w/a"), 1, 1 },
	{ "Codex", "(version 1) (deny default) (allow file-read* (require-all (regex #\"^/dev/ttys[0-9]+\") (extension \"com.apple.sandbox.pty\")))", {},
	  FILE_OP("file-read-data", "/dev/ttys001"), 0, 0 },
	{ "Codex", "(version 1) (allow default) (deny file-ioctl (ioctl-command TIOCSTI))", {}, { .operation = "file-ioctl", .path = "/dev/tty", .command = "TIOCSTI" }, 0, 0 },
	{ "Codex", "(version 1) (allow default) (deny file-ioctl (ioctl-command TIOCSTI))", {}, { .operation = "file-ioctl", .path = "/dev/tty", .command = "TIOCGWINSZ" }, 1, 1 },
	/* sandbox-runtime, Codex: the ports of a proxy on loopback, and no other */
	{ "sandbox-runtime", "(version 1) (deny default) (allow network-outbound (remote ip \"localhost:3128\"))", {}, { .operation = "network-outbound", .remote = "localhost", .port = 3128 }, 1, 1 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow network-outbound (remote ip \"localhost:3128\"))", {}, { .operation = "network-outbound", .remote = "localhost", .port = 3129 }, 0, 0 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow network-outbound (remote ip \"localhost:3128\"))", {}, { .operation = "network-outbound", .remote = "192.0.2.1", .port = 3128 }, 0, 0 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow mach-lookup (global-name \"com.apple.logd\"))", {}, { .operation = "mach-lookup", .name = "com.apple.logd" }, 1, 1 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow mach-lookup (global-name \"com.apple.logd\"))", {}, { .operation = "mach-lookup", .name = "com.apple.logd.admin" }, 0, 0 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow sysctl-read (sysctl-name-prefix \"hw.optional.\"))", {}, { .operation = "sysctl-read", .name = "hw.optional.arm" }, 1, 1 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow signal (target same-sandbox))", {}, { .operation = "signal", .target = "others" }, 0, 0 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))", {},
	  { .operation = "system-socket", .domain = "AF_SYSTEM", .protocol = 2 }, 1, 1 },
	{ "sandbox-runtime", "(version 1) (deny default) (allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))", {},
	  { .operation = "system-socket", .domain = "AF_SYSTEM", .protocol = 1 }, 0, 0 },
	/* TinyScheme: comments, escapes */
	{ "TinyScheme", "; (version 2)\n(version 1) (deny default) (allow file-read* (literal \"/a\\\"\\\\\\x41\\n\"))", {}, FILE_OP("file-read-data", "/a\"\\A\n"), 1, 1 },
};

Test(sbpl, known_profiles)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		char *error = NULL;
		struct sbpl *p = sbpl_read(r->profile, r->parameters, NULL, &error);

		cr_assert(p, "%s: %s: %s", r->source, r->profile, error);
		cr_expect_eq(sbpl_allows(p, &r->query, SBPL_LAST_MATCH), r->last, "last match, %s: %s", r->source, r->profile);
		cr_expect_eq(sbpl_allows(p, &r->query, SBPL_MOST_SPECIFIC), r->specific, "most specific, %s: %s", r->source, r->profile);
		sbpl_free(p);
	}
}

/* What sandbox-exec refuses, the judge must not pass over. */
static const struct { const char *profile, *parameters[2], *missing, *error; } refused[] = {
	{ "", {}, NULL, "empty" },
	{ "(allow default)", {}, NULL, "before (version 1)" },
	{ "(version 2)", {}, NULL, "another version" },
	{ "(version 1) (deny defualt)", {}, NULL, "no operation 'defualt'" },
	{ "(version 1) (deny file-wirte*)", {}, NULL, "no operation 'file-wirte*'" },
	{ "(version 1) (allow file-read* (sub-path \"/a\"))", {}, NULL, "no filter 'sub-path'" },
	{ "(version 1) (allow file-read* (subpath \"a\"))", {}, NULL, "slash" },
	{ "(version 1) (allow file-read* (subpath \"/a/\"))", {}, NULL, "slash" },
	{ "(version 1) (allow file-read* (literal))", {}, NULL, "arguments" },
	{ "(version 1) (allow file-read* (literal \"/a\" \"/b\"))", {}, NULL, "arguments" },
	{ "(version 1) (allow file-read* (require-not (literal \"/a\") (literal \"/b\")))", {}, NULL, "one filter" },
	{ "(version 1) (allow file-read* (regex \"(\"))", {}, NULL, "regex" },
	{ "(version 1) (allow file-read* (literal \"/a)", {}, NULL, "does not end" },
	{ "(version 1) (allow file-read* (literal \"/a\")", {}, NULL, "does not end" },
	{ "(version 1) (allow file-read*))", {}, NULL, "where an expression" },
	{ "(version 1) (allow file-read* (literal (param \"X\")))", {}, NULL, "not given" },
	{ "(version 1) (allow file-read* (literal (string-append \"/\" (param \"X\"))))", {}, NULL, "not given" },
	{ "(version 1) (allow file-read* (literal x))", {}, NULL, "no string" },
	/* measured by others: "host must be * or localhost" */
	{ "(version 1) (allow network-outbound (remote tcp \"127.0.0.1:80\"))", {}, NULL, "host must be" },
	{ "(version 1) (allow network-outbound (remote ip \"::1:80\"))", {}, NULL, "host must be" },
	{ "(version 1) (allow network-outbound (remote ip \"localhost:http\"))", {}, NULL, "no port" },
	/* macOS 12 does not know it */
	{ "(version 1) (deny file-ioctl (ioctl-command TIOCSTI))", {}, "TIOCSTI", "not known" },
	{ "(version 1) (deny nvram*)", {}, "nvram*", "no operation" },
};

Test(sbpl, what_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		char *error = NULL;
		struct sbpl *p = sbpl_read(refused[i].profile, refused[i].parameters, refused[i].missing, &error);

		cr_assert_null(p, "taken: %s", refused[i].profile);
		cr_expect(strstr(error, refused[i].error), "%s: %s", refused[i].profile, error);
		free(error);
	}
}

Test(sbpl, messages)
{
	char *error = NULL;
	struct sbpl *p = sbpl_read("(version 1) (deny default (with message \"all\")) (deny file-read* (subpath \"/s\") (with message \"some\"))"
				   "(allow file-read* (literal \"/o\") (with no-report))",
				   NULL, NULL, &error);
	const struct sbpl_query some = FILE_OP("file-read-data", "/s"), all = FILE_OP("file-read-data", "/x"), none = FILE_OP("file-read-data", "/o");

	cr_assert(p, "%s", error);
	cr_expect_str_eq(sbpl_message(p, &some, SBPL_LAST_MATCH), "some");
	cr_expect_str_eq(sbpl_message(p, &all, SBPL_LAST_MATCH), "all");
	cr_expect_null(sbpl_message(p, &none, SBPL_LAST_MATCH));
	sbpl_free(p);
}
