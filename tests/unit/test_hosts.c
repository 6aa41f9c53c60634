/* hosts.c, addresses.c, host_patterns.c, egress.c over tests/tables/hosts.tsv. */
#include <ctype.h>
#include "platform/base/cleanup.h"
#include "platform/policy/egress.h"
#include "tests/unit/policy_help.h"

TestSuite(hosts, .timeout = 60);

enum { COLUMNS = 5, ROWS_MIN = 400 };

struct row { int line; char *kind, *policy, *request, *verdict, *reason; };

/* In place: NUL bytes too, so the length is the result. */
static size_t unescape(char *s)
{
	char *to = s, *start = s;

	for (; *s; s++) {
		if (*s != '\\') {
			*to++ = *s;
		} else if (*++s == 'x') {
			char hex[3] = { s[1], s[2], 0 };
			*to++ = (char)strtoul(hex, NULL, 16);
			s += 2;
		} else {
			*to++ = *s == '0' ? '\0' : *s == 'r' ? '\r' : *s == 'n' ? '\n' : *s == 't' ? '\t' : *s;
		}
	}
	*to = '\0';
	return (size_t)(to - start);
}

/* ---- one row of each kind ---- */

static void check_host(const struct row *r)
{
	size_t len = unescape(r->request);
	struct hostname h;
	const char *why = NULL;
	int code = !strcmp(r->kind, "written") ? hostname_parse_written(r->request, len, &h, &why) : hostname_parse(r->request, len, &h, &why);

	cr_expect_str_eq(code < 0 ? "malformed" : h.text, r->verdict, "line %d: %s", r->line, why ? why : h.text);
	cr_expect(code == 0 || why, "line %d: no reason", r->line);
	if (code == 0) { /* what is canonical stays as it is */
		struct hostname again;
		cr_expect_eq(hostname_parse(h.text, strlen(h.text), &again, NULL), 0, "line %d", r->line);
		cr_expect_str_eq(again.text, h.text, "line %d", r->line);
	}
}

static int parse_authority(const char *s, size_t len, struct hostname *h, uint16_t *port)
{
	size_t host_len;

	return authority_split(s, len, &host_len, port, NULL) < 0 ? -1 : hostname_parse(s, host_len, h, NULL);
}

static void check_authority(const struct row *r)
{
	size_t len = unescape(r->request);
	struct hostname h;
	uint16_t port;
	_cleanup_free_ char *got = parse_authority(r->request, len, &h, &port) < 0 ? xstrdup("malformed") : strf("%s %d", h.text, port);

	cr_expect_str_eq(got, r->verdict, "line %d", r->line);
}

static void check_pattern(const struct row *r)
{
	const char *why = NULL, *hint = NULL;
	struct host_pattern p;

	unescape(r->request);
	int code = host_pattern_parse(r->request, !strcmp(r->policy, "deny"), &p, &why, &hint);
	cr_expect_str_eq(code < 0 ? "odd" : "good", r->verdict, "line %d: %s", r->line, why ? why : "");
	cr_expect(code == 0 || why, "line %d: no reason", r->line);
}

static struct egress *compile(const struct row *r)
{
	static const struct { const char *word; enum list list; } words[] = {
		{ "allow ", LIST_ALLOWED_DOMAINS }, { "deny ", LIST_DENIED_DOMAINS }, { "refuse ", LIST_DENIED_ADDRESSES },
	};
	struct policy *p = policy_new("/", NULL);
	struct egress *e = NULL;
	struct err err = ERR_NONE;

	p->lists[LIST_ALLOWED_DOMAINS].given = !strncmp(r->policy, "none", 4);
	for (char *part = r->policy, *next; part; part = next) {
		next = strstr(part, "; ");
		if (next) {
			*next = '\0';
			next += 2;
		}
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (!strncmp(part, words[i].word, strlen(words[i].word))) {
				unescape(part);
				policy_add_item(p, words[i].list, LAYER_FLAGS, part + strlen(words[i].word), NULL, "test");
			}
	}
	cr_assert_eq(egress_compile(p, &e, &err), 0, "line %d: %s", r->line, err.text);
	policy_free(p);
	return e;
}

static void check_decision(const struct row *r)
{
	struct egress *e = compile(r);
	struct egress_verdict v;
	struct hostname h;
	uint16_t port;

	cr_assert_eq(parse_authority(r->request, unescape(r->request), &h, &port), 0, "line %d", r->line);
	egress_decide(e, &h, port, &v);
	cr_expect_str_eq(v.outcome == EGRESS_ALLOW ? "allow" : "deny", r->verdict, "line %d: %s %s", r->line, v.text ? v.text : "-", v.reason ? v.reason : "");
	cr_expect((v.outcome == EGRESS_ALLOW) == !v.reason, "line %d: a denial has a reason", r->line);
	egress_free(e);
}

static void check_class(const struct row *r)
{
	struct address a;

	cr_assert_eq(address_parse(r->request, strlen(r->request), &a), 0, "line %d", r->line);
	cr_expect(strstr(address_class_words(address_class(&a)), r->verdict), "line %d: %s", r->line, address_class_words(address_class(&a)));
}

static void check_leads(const struct row *r)
{
	char *address = strchr(r->request, ' ') + 1, *own = strchr(address, ' ');
	struct egress *e = compile(r);
	struct egress_verdict v;
	struct hostname h;
	struct address a;
	uint16_t port;

	cr_assert_eq(parse_authority(r->request, (size_t)(address - 1 - r->request), &h, &port), 0, "line %d", r->line);
	egress_decide(e, &h, port, &v);
	cr_assert_eq(v.outcome, EGRESS_ALLOW, "line %d", r->line);
	cr_assert_eq(address_parse(address, own ? (size_t)(own - address) : strlen(address), &a), 0, "line %d", r->line);
	const char *why = egress_refuses_address(e, &h, &a, port, own != NULL);
	cr_expect_str_eq(why ? "deny" : "allow", r->verdict, "line %d: %s", r->line, why ? why : "");
	egress_free(e);
}

static void check(const struct row *r)
{
	static const struct { const char *kind; void (*check)(const struct row *); } kinds[] = {
		{ "host", check_host }, { "written", check_host }, { "authority", check_authority }, { "pattern", check_pattern },
		{ "decide", check_decision }, { "class", check_class }, { "leads", check_leads },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(r->kind, kinds[i].kind))
			return kinds[i].check(r);
	cr_assert_fail("line %d: unknown kind '%s'", r->line, r->kind);
}

Test(hosts, table)
{
	_cleanup_free_ char *file = NULL;
	int line = 0, rows = 0;

	cr_assert_eq(read_file("tests/tables/hosts.tsv", 1 << 20, &file, NULL), 0, "tests run in the top directory");
	for (char *s = file, *next; *s; s = next) {
		char *column[COLUMNS] = { 0 };

		line++;
		next = s + strcspn(s, "\n");
		if (*next)
			*next++ = '\0';
		if (*s == '#')
			continue;
		for (int i = 0; i < COLUMNS; i++)
			column[i] = strsep(&s, "\t");
		cr_assert(column[COLUMNS - 1] && !s, "line %d: not five columns", line);
		check(&(struct row){ line, column[0], column[1], column[2], column[3], column[4] });
		rows++;
	}
	cr_expect_gt(rows, ROWS_MIN);
}

/* ---- what does not fit into a table ---- */

Test(hosts, words_of_a_verdict)
{
	struct policy *p = policy_new("/", NULL);
	struct egress *e;
	struct egress_verdict v;
	struct hostname h;
	struct err err = ERR_NONE;

	policy_add_item(p, LIST_ALLOWED_DOMAINS, LAYER_USER, "example.com:443", NULL, "my.json: network.allowedDomains[0]");
	policy_add_item(p, LIST_DENIED_DOMAINS, LAYER_FLAGS, "*.example.org", NULL, "--deny-domain");
	policy_add_item(p, LIST_DOMAIN_REASONS, LAYER_FLAGS, "*.EXAMPLE.org", "use the mirror", "my.json");
	cr_assert_eq(egress_compile(p, &e, &err), 0, "%s", err.text);
	hostname_parse("example.com", 11, &h, NULL);
	egress_decide(e, &h, 443, &v);
	cr_expect_str_eq(v.text, "example.com:443");
	cr_expect_str_eq(v.origin, "my.json: network.allowedDomains[0]");
	cr_expect_eq(v.layer, LAYER_USER);
	egress_decide(e, &h, 80, &v);
	cr_expect(v.unlisted && strstr(v.reason, "other ports"));
	hostname_parse("a.example.org", 13, &h, NULL);
	egress_decide(e, &h, 443, &v);
	cr_expect_str_eq(v.reason, "use the mirror");
	cr_expect_str_eq(v.text, "*.example.org");
	cr_expect(!v.unlisted);
	egress_free(e);
	policy_free(p);
}

Test(hosts, entries_that_stop_the_start_or_warn)
{
	static const struct { enum list list; const char *text, *error, *warning; } rows[] = {
		{ LIST_ALLOWED_DOMAINS, "https://example.com/x", "test: 'https://example.com/x' is no host: an entry has no scheme", NULL },
		{ LIST_ALLOWED_DOMAINS, "*", "test: '*' is no host", NULL }, { LIST_DENIED_DOMAINS, "*", NULL, NULL },
		{ LIST_DENIED_ADDRESSES, "example.com", "test: 'example.com' is no address", NULL }, { LIST_DENIED_ADDRESSES, "10.0.0.0/8", NULL, NULL },
		{ LIST_ALLOWED_DOMAINS, "*.com", NULL, "every host below 'com'" }, { LIST_ALLOWED_DOMAINS, "*.github.io", NULL, "of anybody" },
		{ LIST_ALLOWED_DOMAINS, "me.github.io", NULL, NULL }, { LIST_DENIED_DOMAINS, "*.com", NULL, NULL }, { LIST_ALLOWED_DOMAINS, "*.localhost", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct policy *p = policy_new("/", NULL);
		struct egress *e = NULL;
		struct err err = ERR_NONE;

		policy_add_item(p, rows[i].list, LAYER_FLAGS, rows[i].text, NULL, "test");
		int r = egress_compile(p, &e, &err);
		cr_expect_eq(r < 0, rows[i].error != NULL, "%s", rows[i].text);
		cr_expect(!rows[i].error || strstr(err.text, rows[i].error), "%s: %s", rows[i].text, err.text);
		cr_expect_eq(warned(p, NULL), rows[i].warning != NULL, "%s", rows[i].text);
		cr_expect(!rows[i].warning || warned(p, rows[i].warning), "%s", rows[i].text);
		egress_free(e);
		err_clear(&err);
		policy_free(p);
	}
}

/* Ten thousand rules, and the decision stays what it is. */
Test(hosts, many_rules)
{
	struct policy *p = policy_new("/", NULL);
	struct egress *e;
	struct egress_verdict v;
	struct hostname h;

	for (int i = 0; i < 2000; i++) {
		_cleanup_free_ char *text = strf("%sh%d.example.com", i % 3 ? i % 3 == 1 ? "*." : "." : "", i);
		policy_add_item(p, LIST_ALLOWED_DOMAINS, LAYER_FLAGS, text, NULL, "test");
	}
	cr_assert_eq(egress_compile(p, &e, NULL), 0);
	for (int i = 0; i < 2000; i++) {
		_cleanup_free_ char *apex = strf("h%d.example.com", i), *below = strf("x.h%d.example.com", i);

		hostname_parse(apex, strlen(apex), &h, NULL);
		egress_decide(e, &h, 443, &v);
		cr_assert_eq(v.outcome == EGRESS_ALLOW, i % 3 != 1, "%s", apex);
		hostname_parse(below, strlen(below), &h, NULL);
		egress_decide(e, &h, 443, &v);
		cr_assert_eq(v.outcome == EGRESS_ALLOW, i % 3 != 0, "%s", below);
	}
	egress_free(e);
	policy_free(p);
}
