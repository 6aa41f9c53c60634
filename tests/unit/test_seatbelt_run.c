/* What goes to sandbox-exec and comes from log, without either: programs that stand in for the first, lines as macOS writes them. */
#include "platform/base/cleanup.h"
#include "platform/mechanism/mechanism.h"
#include "platform/mechanism/seatbelt.h"
#include "tests/unit/policy_help.h"

TestSuite(seatbelt_run, .timeout = 20);

/* ---- the log ---- */

static const struct { const char *line, *program, *action, *target; int pid; } denials[] = {
	{ "2025-06-03 12:11:35.123 E  kernel[0:3a2f1] (Sandbox) Sandbox: touch(4242) deny(1) file-write-create /Users/u/.npmrc", "touch",
	  "file-write-create", "/Users/u/.npmrc", 4242 },
	{ "Sandbox: cat(96730) deny(1) file-read-data /private/tmp/x/forbidden/read me.txt\n", "cat", "file-read-data",
	  "/private/tmp/x/forbidden/read me.txt", 96730 },
	{ "2026-02-19 22:02:53.228416+0300 0xc912c6   Error       0x0                  0      0    kernel: (Sandbox) Sandbox: node(45396) deny(1) "
	  "network-outbound 192.0.2.1:443",
	  "node", "network-outbound", "192.0.2.1:443", 45396 },
	{ "Sandbox: Helper (Renderer)(7) deny(1) mach-lookup com.apple.SecurityServer", "Helper (Renderer)", "mach-lookup", "com.apple.SecurityServer", 7 },
	{ "Sandbox: sh(12) deny file-write-data /etc/hosts", "sh", "file-write-data", "/etc/hosts", 12 },
	{ "Sandbox: bash(12) deny(1) forbidden-exec-sugid", "bash", "forbidden-exec-sugid", "", 12 },
};

Test(seatbelt_run, denials)
{
	for (size_t i = 0; i < ARRAY_SIZE(denials); i++) {
		struct seatbelt_denial d;
		cr_assert(seatbelt_log_read(denials[i].line, &d), "%s", denials[i].line);
		cr_expect_str_eq(d.program, denials[i].program);
		cr_expect_str_eq(d.action, denials[i].action);
		cr_expect_str_eq(d.target, denials[i].target);
		cr_expect_eq(d.pid, denials[i].pid);
		seatbelt_denial_release(&d);
	}
}

Test(seatbelt_run, lines_that_are_none)
{
	static const char *const lines[] = {
		"", "Filtering the log data using \"composedMessage ENDSWITH \\\"hurdle-x\\\"\"", "Timestamp               Ty Process[PID:TID]", "hurdle-1a2b3c",
		"Sandbox: sh(12) allow file-read-data /x", "Sandbox: sh deny(1) file-read-data /x", "Sandbox: (12) deny(1) file-read-data /x",
		"Sandbox: sh(12) deny(1)", "Sandbox: sh(12) deny(1) ", "Sandbox: sh(99999999999) deny(1) file-read-data /x", "sh(12) deny(1) file-read-data /x",
		"Sandbox: 3 duplicate reports for sh(12) deny(1) file-read-data /x", "Sandbox: sh(", "Sandbox: sh(12", "Sandbox: sh(12) deny(",
		/* harmless */
		"Sandbox: git(12) deny(1) mach-lookup com.apple.diagnosticd", "Sandbox: git(12) deny(1) mach-lookup com.apple.analyticsd",
		"Sandbox: git(12) deny(1) mach-lookup com.apple.cfprefsd.daemon", "Sandbox: curl(12) deny(1) network-outbound /private/var/run/mDNSResponder",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct seatbelt_denial d;
		cr_expect_not(seatbelt_log_read(lines[i], &d), "%s", lines[i]);
	}
}

/* Nothing of what a line holds makes the reader read beyond it. */
Test(seatbelt_run, damaged_lines)
{
	const char whole[] = "kernel: (Sandbox) Sandbox: a (b)(42) deny(1) file-write-create /x (1) deny(2) y";

	for (size_t cut = 0; cut < sizeof(whole); cut++)
		for (int c = 0; c < 256; c += 5) {
			struct seatbelt_denial d;
			char *line = strndup(whole, cut); /* of exactly this size, for the sanitizer */
			if (cut)
				line[(size_t)c % cut] = (char)c;
			if (seatbelt_log_read(line, &d))
				seatbelt_denial_release(&d);
			free(line);
		}
}

Test(seatbelt_run, log_command)
{
	struct strv argv = { 0 };

	seatbelt_log_command(&argv, "hurdle-1a2b3c");
	cr_assert_eq(argv.n, 6);
	cr_expect_str_eq(argv.v[0], "/usr/bin/log");
	cr_expect_str_eq(argv.v[5], "eventMessage ENDSWITH \"hurdle-1a2b3c\"");
	strv_free(&argv);
}

/* ---- the command ---- */

Test(seatbelt_run, command)
{
	static const char *const want[] = { "/usr/bin/sandbox-exec", "-f", "/t/seatbelt.sb", "/bin/sh", "-c", "echo hi", "-x" };
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ "echo hi" }, (char[]){ "-x" }, NULL };
	struct strv got = { 0 };

	seatbelt_command(&got, want[0], want[2], want[3], argv);
	cr_assert_eq(got.n, ARRAY_SIZE(want));
	for (size_t i = 0; i < got.n; i++)
		cr_expect_str_eq(got.v[i], want[i]);
	cr_expect_null(got.v[got.n], "argv ends in NULL");
	strv_free(&got);
}

/* ---- the try ---- */

/* A program in place of sandbox-exec: what it does with -p PROFILE sh -c SCRIPT sh DIR. */
static bool try_with(const struct scratch *s, const char *body, char **ret_evidence)
{
	_cleanup_free_ char *text = strf("#!/bin/sh\n%s\n", body);
	const char *path = in(s, "@/tool");

	unlink(path);
	make_file(s, "@/tool", text);
	cr_assert_eq(chmod(path, 0755), 0);
	return seatbelt_try(path, ret_evidence);
}

Test(seatbelt_run, the_try)
{
	static const struct { const char *body, *evidence; bool works; } rows[] = {
		/* the place that must not be written is gone: as good as refused */
		{ "[ \"$1\" = -p ] || exit 9; shift 2; rmdir \"$5/no\"; exec \"$@\"", "a write was refused", true },
		{ "shift 2; exec \"$@\"", "written all the same", false },
		{ "exit 65", "ran nothing (exit status 65)", false },
		{ "kill -9 $$", "ended by signal 9", false },
	};
	struct scratch s;
	char *evidence = NULL;

	scratch_begin(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cr_expect_eq(try_with(&s, rows[i].body, &evidence), rows[i].works, "%s", rows[i].body);
		cr_expect(strstr(evidence, rows[i].evidence), "%s: %s", rows[i].body, evidence);
		free(evidence);
	}
	cr_expect_not(seatbelt_try("/nonexistent/sandbox-exec", &evidence));
	cr_expect_str_eq(evidence, "/nonexistent/sandbox-exec: No such file or directory");
	free(evidence);
	scratch_end(&s);
}

/* ---- the mechanism ---- */

extern const struct mechanism mechanism_seatbelt;

Test(seatbelt_run, not_on_this_system)
{
	struct policy *p = policy_new("/", NULL);
	struct host h = { 0 };
	char *evidence = NULL;

	cr_expect_not(mechanism_seatbelt.available(&h, p, &evidence));
	cr_expect(strstr(evidence, "uname: Linux"), "%s", evidence);
	free(evidence);
	p->scrub_only = true;
	cr_expect_not(mechanism_seatbelt.available(&h, p, &evidence));
	free(evidence);
	policy_free(p);
}

/* What is known not to be held is not claimed. */
Test(seatbelt_run, claims)
{
	static const struct { enum guarantee guarantee; enum extent extent; } rows[] = {
		{ G_env_ancestors, HOLDS_NOT }, { G_env_secrets, HOLDS_NOT }, { G_proc_lifetime, HOLDS_NOT }, { G_net_domains, HOLDS_NOT },
		{ G_tty_injection, HOLDS_PART }, { G_fs_write, HOLDS_WHOLE }, { G_fs_read_names, HOLDS_WHOLE }, { G_windows_interop, HOLDS_NOT },
	};
	struct policy *p = policy_new("/", NULL);
	struct host h = { 0 };
	const struct view v = { .host = &h, .policy = p };
	struct strv caveats = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct rule r = { .guarantee = rows[i].guarantee };
		cr_expect_eq(mechanism_seatbelt.holds(&v, &r, &caveats), rows[i].extent, "%s", guarantee_info(rows[i].guarantee)->name);
	}
	const struct rule egress = { .kind = RULE_NET, .guarantee = G_net_egress };
	p->net = NET_OFF;
	cr_expect_eq(mechanism_seatbelt.holds(&v, &egress, &caveats), HOLDS_WHOLE);
	p->net = NET_OPEN;
	cr_expect_eq(mechanism_seatbelt.holds(&v, &egress, &caveats), HOLDS_NOT);
	strv_free(&caveats);
	policy_free(p);
}
