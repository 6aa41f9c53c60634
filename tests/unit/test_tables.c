/* tests/tables/paths.tsv against the decision function: entries as settings have them, over a real tree with links. */
#include <ctype.h>
#include <errno.h>
#include <sys/wait.h>

#include "platform/base/cleanup.h"
#include "tests/unit/policy_help.h"

TestSuite(tables, .timeout = 100);

enum { ROWS_LEAST = 400, LONGEST = 4095 };

static const struct { const char *name; enum access access; bool follow; } requests[] = {
	{ "read", ACCESS_READ, true }, { "write", ACCESS_WRITE, true }, { "create", ACCESS_CREATE, true }, { "delete", ACCESS_DELETE, false },
	{ "moved", ACCESS_MOVE, false }, { "exec", ACCESS_EXEC, true },
};
static const struct { const char *name; enum rule_kind kind; } kinds[] = {
	{ "allowWrite", RULE_ALLOW_WRITE }, { "denyWrite", RULE_DENY_WRITE }, { "denyDelete", RULE_DENY_DELETE }, { "allowRead", RULE_ALLOW_READ },
	{ "denyRead", RULE_DENY_READ }, { "denyExec", RULE_DENY_EXEC },
};
static const char *const layers[LAYER_COUNT] = { "default", "user", "project", "local", "flags", "managed" };

/* ---- texts ---- */

/* "LONG" becomes as many bytes as make the whole path 4095 long, in names of 200. */
static char *with_long(const char *s)
{
	const char *at = strstr(s, "LONG");
	struct str b = STR_INIT;

	if (!at)
		return xstrdup(s);
	str_addn(&b, s, (size_t)(at - s));
	for (size_t n = 1; b.len < LONGEST; n++)
		str_add(&b, n % 200 == 0 && b.len + 1 < LONGEST ? "/" : "d");
	str_add(&b, at + 4);
	return str_take(&b);
}

/* Escapes, and @ at the beginning. */
static char *text_of(const struct scratch *s, const char *raw, size_t n)
{
	_cleanup_free_ char *copy = strndup(raw, n);
	struct str b = STR_INIT;
	char *out;

	for (const char *c = copy; *c; c++) {
		unsigned byte;

		if (c == copy && *c == '@')
			str_add(&b, s->root);
		else if (c[0] == '\\' && c[1] == 'n')
			str_add(&b, "\n"), c++;
		else if (c[0] == '\\' && c[1] == 'x' && sscanf(c + 2, "%2x", &byte) == 1)
			str_addn(&b, (const char[]){ (char)byte }, 1), c += 3;
		else
			str_addn(&b, c, 1);
	}
	out = with_long(b.s);
	str_free(&b);
	return out;
}

static enum layer layer_named(const char *word, size_t n)
{
	for (size_t i = 0; i < LAYER_COUNT; i++)
		if (strlen(layers[i]) == n && !strncmp(layers[i], word, n))
			return (enum layer)i;
	cr_assert_fail("no such layer: %.*s", (int)n, word);
	return LAYER_DEFAULT;
}

/* ---- policies ---- */

static void add_entry(struct scratch *s, const char *entry, size_t n, size_t number)
{
	const char *space = memchr(entry, ' ', n), *at = memchr(entry, '@', (size_t)(space - entry)), *colon = memchr(entry, ':', (size_t)(space - entry));
	_cleanup_free_ char *text = text_of(s, space + 1, n - (size_t)(space + 1 - entry)), *origin = strf("%zu", number);
	const size_t word = strcspn(entry, "@: ");

	if (!strncmp(entry, "icase ", 6)) {
		s->p->icase_known = true;
		strv_add(&s->p->icase_mounts, text);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strlen(kinds[i].name) != word || strncmp(entry, kinds[i].name, word))
			continue;
		const enum layer layer = at ? layer_named(at + 1, strcspn(at + 1, ": ")) : LAYER_FLAGS;
		int r = policy_add(s->p, kinds[i].kind, layer, text, NULL, ADD_OF_FILE | (colon ? ADD_LITERAL : 0), origin, &s->err);
		cr_assert_geq(r, 0, "%s: %s", entry, s->err.text);
		return;
	}
	cr_assert_fail("no such rule: %s", entry);
}

/* other_way: from the last to the first, each twice; mounts first all the same. */
static struct image *image_of(struct scratch *s, const char *policy, bool other_way)
{
	const char *starts[16];
	size_t lengths[16], n = 0, size;
	const struct image_options options = { .start_sec = 1 };
	struct image *img = NULL;

	for (const char *e = policy, *end; e; e = end ? end + 2 : NULL) {
		end = strstr(e, "; ");
		starts[n] = e;
		lengths[n++] = end ? (size_t)(end - e) : strlen(e);
	}
	scratch_again(s);
	for (size_t i = 0; i < (other_way ? 3 * n : n); i++) {
		const size_t k = !other_way ? i : i < n ? i : n - 1 - i % n;

		if (!other_way || (i < n) == !strncmp(starts[k], "icase ", 6))
			add_entry(s, starts[k], lengths[k], k + 1);
	}
	cr_assert_eq(policy_compile(s->p, &options, &img, &size, &s->err), 0);
	return img;
}

/* ---- requests ---- */

/* As the kernel: every link on the way, and the last one only for what follows it. */
static char *real_of(struct scratch *s, const char *path, bool follow)
{
	_cleanup_free_ char *absolute = path[0] == '/' ? xstrdup(path) : strf("%s/%s", s->cwd, path), *parent = NULL;
	char *real = NULL, *slash = strrchr(absolute, '/');

	if (follow) {
		cr_assert_eq(path_resolve(absolute, &real), 0, "%s", path);
		return real;
	}
	parent = strndup(absolute, (size_t)(slash - absolute));
	cr_assert_eq(path_resolve(parent, &real), 0, "%s", path);
	slash = strf("%s/%s", real, slash + 1);
	free(real);
	return slash;
}

static void check(struct scratch *s, const struct image *img, const char *policy, const char *request, const char *verdict, const char *rule)
{
	const char *space = strchr(request, ' '), *by;
	_cleanup_free_ char *path = text_of(s, space + 1, strlen(space + 1)), *real = NULL;
	struct verdict v = { .outcome = OUTCOME_DENY_IF_OLD };

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		if (strlen(requests[i].name) == (size_t)(space - request) && !strncmp(requests[i].name, request, (size_t)(space - request))) {
			real = real_of(s, path, requests[i].follow);
			policy_decide(img, requests[i].access, real, strlen(real), &v);
		}
	cr_assert(v.outcome != OUTCOME_DENY_IF_OLD, "no such request: %s", request);
	by = v.rule < s->p->n_rules ? s->p->rules[v.rule].origin : "-";
	cr_expect_str_eq(v.outcome == OUTCOME_ALLOW ? "allow" : "deny", verdict, "%s of %s is not %s", request, policy, verdict);
	if (rule)
		cr_expect_str_eq(by, rule, "%s of %s by %s, not %s", request, policy, by, rule);
}

static void make_tree(const struct scratch *s)
{
	_cleanup_free_ char *tree = strf("%s/tree", s->root);
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl("tests/tables/tree.sh", "tree.sh", tree, NULL);
		_exit(127);
	}
	cr_assert(waitpid(pid, &status, 0) == pid && status == 0, "tests/tables/tree.sh: %d", status);
}

Test(tables, paths)
{
	_cleanup_free_ char *file = NULL, *policy = NULL;
	char *rest, *line;
	struct scratch s;
	size_t rows = 0;

	scratch_begin(&s);
	make_tree(&s);
	strcat(s.root, "/tree");
	snprintf(s.cwd, sizeof(s.cwd), "%s/cwd", s.root);
	snprintf(s.home, sizeof(s.home), "%s/home", s.root);
	cr_assert_eq(read_file("tests/tables/paths.tsv", 1 << 20, &file, NULL), 0);
	rest = file;
	while ((line = strsep(&rest, "\n"))) {
		char *column[5] = { 0 };

		if (!*line || *line == '#')
			continue;
		for (size_t i = 0; i < 5 && line; i++)
			column[i] = strsep(&line, "\t");
		cr_assert(column[4], "too few columns: %s", column[0]);
		if (strcmp(column[0], "\"")) {
			free(policy);
			policy = xstrdup(column[0]);
		}
		_cleanup_free_ struct image *img = image_of(&s, policy, false);
		check(&s, img, policy, column[1], column[2], column[3]);
		/* neither their order nor how often they are said matters; which of two is told may */
		_cleanup_free_ struct image *other = image_of(&s, policy, true);
		check(&s, other, policy, column[1], column[2], NULL);
		rows++;
	}
	cr_assert_geq(rows, ROWS_LEAST);
	*strrchr(s.root, '/') = '\0';
	scratch_end(&s);
}
