/* image.c, compile.c: the decisions of tests/tables/policy.tsv, large policies, long paths, and images that are damaged. */
#include "platform/base/sys.h"
#include "tests/unit/image_help.h"

TestSuite(image, .timeout = 60);

static const struct { const char *name; enum access access; } accesses[] = {
	{ "read", ACCESS_READ }, { "write", ACCESS_WRITE }, { "create", ACCESS_CREATE }, { "delete", ACCESS_DELETE },
	{ "moved", ACCESS_MOVE }, { "exec", ACCESS_EXEC }, { "connect", ACCESS_CONNECT },
};

static void ask(const struct image *img, enum access access, const char *path, struct verdict *v)
{
	policy_decide(img, access, path, strlen(path), v);
}

/* ---- the table ---- */

static void answer(const struct image *img, const char *request, struct verdict *v, const char **ret_path)
{
	const char *path = strchr(request, ' ') + 1, *to = strstr(path, " -> ");

	*ret_path = path;
	if (to) {
		policy_decide_move(img, path, (size_t)(to - path), to + 4, strlen(to + 4), v);
		/* whose directory? the end that it is about */
		struct verdict first;
		policy_decide(img, ACCESS_MOVE, path, (size_t)(to - path), &first);
		*ret_path = first.outcome == OUTCOME_ALLOW ? to + 4 : path;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++)
		if (strlen(accesses[i].name) == (size_t)(path - 1 - request) && !strncmp(accesses[i].name, request, strlen(accesses[i].name))) {
			ask(img, accesses[i].access, path, v);
			return;
		}
	cr_assert_fail("no such request: %s", request);
}

static char *verdict_words(const struct verdict *v, const char *path)
{
	struct str b = STR_INIT;

	if (v->outcome != OUTCOME_DENY_IF_OLD)
		return xstrdup(v->outcome == OUTCOME_ALLOW ? "allow" : v->crosses ? "cross" : "deny");
	str_addf(&b, "old:%.*s%s", (int)v->holder_len, path, v->holder_listed ? "!" : "");
	if (v->inner_len != v->holder_len)
		str_addf(&b, ",%.*s%s", (int)v->inner_len, path, v->inner_listed ? "!" : "");
	return str_take(&b);
}

static void check_row(const struct image *img, const char *policy, const char *request, const char *verdict, const char *rule)
{
	struct verdict v;
	const char *path;

	answer(img, request, &v, &path);
	_cleanup_free_ char *got = verdict_words(&v, path);
	_cleanup_free_ char *by = v.rule == IMAGE_NONE ? xstrdup("-") : strf("%u", v.rule + 1);
	cr_expect_str_eq(got, verdict, "%s\n  of %s\n  is %s, not %s", request, policy, got, verdict);
	cr_expect_str_eq(by, rule, "%s\n  of %s\n  by %s, not %s", request, policy, by, rule);
}

Test(image, table)
{
	_cleanup_free_ char *file = NULL, *policy = NULL;
	_cleanup_free_ struct image *img = NULL;
	char *rest, *line;
	size_t size, rows = 0;

	cr_assert_eq(read_file("tests/tables/policy.tsv", 1 << 20, &file, NULL), 0, "tests run in the top directory");
	for (rest = file; (line = strsep(&rest, "\n"));) {
		char *column[5];

		if (!*line || *line == '#')
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(column); i++)
			cr_assert(column[i] = strsep(&line, "\t"), "row %zu has %zu columns", rows, i);
		if (strcmp(column[0], "\"")) {
			free(policy);
			free(img);
			policy = xstrdup(column[0]);
			struct policy *p = policy_from(policy);
			img = image_from(p, &size);
			policy_free(p);
		}
		check_row(img, policy, column[1], column[2], column[3]);
		rows++;
	}
	cr_assert_geq(rows, 240, "only %zu rows", rows);
}

/* ---- sizes ---- */

static bool denied(const struct image *img, enum access access, const char *path)
{
	struct verdict v;

	ask(img, access, path, &v);
	return v.outcome == OUTCOME_DENY;
}

Test(image, long_names_and_paths)
{
	char name[256], deep[4096], longer[4096 + 8];
	struct policy *p = policy_from("allowWrite /");
	size_t size, n = 0;

	memset(name, 'n', 255);
	name[255] = '\0';
	_cleanup_free_ char *one = strf("/%s/x", name), *near = strf("/%.*sm/x", 254, name), *pattern = strf("/**/%.*s*", 200, name);
	while (n + 2 < sizeof(deep) - 1) {
		deep[n++] = '/';
		deep[n++] = 'd';
	}
	deep[n] = '\0';
	snprintf(longer, sizeof(longer), "%s/d", deep);
	rule_in(p, RULE_DENY_WRITE, LAYER_DEFAULT, false, one);
	rule_in(p, RULE_DENY_READ, LAYER_DEFAULT, false, pattern);
	rule_in(p, RULE_DENY_READ, LAYER_DEFAULT, false, deep);
	_cleanup_free_ struct image *img = image_from(p, &size);
	cr_assert(denied(img, ACCESS_WRITE, one) && !denied(img, ACCESS_WRITE, near));
	cr_assert(denied(img, ACCESS_READ, one) && denied(img, ACCESS_READ, near), "the pattern");
	cr_assert(denied(img, ACCESS_READ, deep) && denied(img, ACCESS_READ, longer));
	deep[n - 2] = '\0';
	cr_assert(!denied(img, ACCESS_READ, deep) && denied(img, ACCESS_MOVE, deep));
	policy_free(p);
}

/* Rules whose paths share beginnings, endings and hashes, in numbers: each is found, and nothing else is. */
Test(image, many_rules)
{
	enum { RULES = 100000 };
	struct policy *p = policy_from("allowWrite /");
	char text[64];
	size_t size;

	for (unsigned i = 0; i < RULES; i++) {
		snprintf(text, sizeof(text), "/d%u/e%u/f%u", i % 7, i % 1013, i);
		rule_in(p, RULE_DENY_WRITE, LAYER_DEFAULT, false, text);
	}
	_cleanup_free_ struct image *img = image_from(p, &size);
	for (unsigned i = 0; i < RULES; i++) {
		struct verdict v;

		snprintf(text, sizeof(text), "/d%u/e%u/f%u", i % 7, i % 1013, i);
		ask(img, ACCESS_WRITE, text, &v);
		cr_assert(v.outcome == OUTCOME_DENY && v.rule == i + 1, "%s: rule %u", text, v.rule);
		snprintf(text, sizeof(text), "/d%u/e%u/f%u", (i + 1) % 7, i % 1013, i);
		cr_assert(!denied(img, ACCESS_WRITE, text), "%s", text);
	}
	policy_free(p);
}

/* ---- no image is trusted to be whole ---- */

static const char *const probes[] = {
	"/", "/p", "/p/a.pem", "/p/.git/hooks/x", "/p/n/node_modules/.bashrc", "/t/x", "/M/Foo/BAR", "/p/a/b/c/d/e/f/g", "/q/secret/x.y.z",
};

static void decide_everything(const struct image *img)
{
	struct verdict v;

	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		for (enum access a = ACCESS_READ; a <= ACCESS_CONNECT; a++)
			ask(img, a, probes[i], &v);
		policy_decide_move(img, probes[i], strlen(probes[i]), probes[(i + 3) % ARRAY_SIZE(probes)],
				   strlen(probes[(i + 3) % ARRAY_SIZE(probes)]), &v);
	}
}

static struct image *sample(size_t *ret_size)
{
	struct policy *p = policy_from("allowWrite /p; denyWrite /p/a/b/c; denyRead /p/a; allowRead /p/a/b; denyWrite /**/*.pem; protect:icase "
				       "/**/.git/hooks; protect:icase /**/.bashrc; tmpdir /t; denyRead:icase /m/foo; denyWrite /q/**/x.*; "
				       "denyExec /**/[a-c]*; listed /p; allowRead /**/fix/*.key; outsideRoots");
	struct image *img = image_from(p, ret_size);

	policy_free(p);
	return img;
}

Test(image, refuses_what_is_cut_short)
{
	size_t size;
	_cleanup_free_ struct image *img = sample(&size);

	for (size_t n = 0; n < size; n += n < 2 * sizeof(*img) ? 1 : 61) {
		_cleanup_free_ char *cut = malloc(n ? n : 1);

		memcpy(cut, img, n);
		cr_assert_not(image_valid((const struct image *)cut, n), "%zu of %zu bytes", n, size);
		if (n >= sizeof(*img)) {
			((struct image *)cut)->size = (uint32_t)n;
			if (image_valid((const struct image *)cut, n))
				decide_everything((const struct image *)cut);
		}
	}
}

Test(image, refuses_another_kind)
{
	size_t size;
	_cleanup_free_ struct image *img = sample(&size);
	uint32_t *const fields[] = {
		&img->magic, &img->version, &img->size, &img->node_mask, &img->bucket_mask, &img->nodes, &img->patterns, &img->buckets, &img->rules,
		&img->aliases, &img->n_patterns, &img->n_rules, &img->n_aliases, &img->root,
	};

	cr_assert(image_valid(img, size));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		uint32_t was = *fields[i];

		*fields[i] = 0xfffffffeu;
		cr_assert_not(image_valid(img, size), "field %zu", i);
		*fields[i] = was;
	}
	cr_assert(image_valid(img, size));
}

/* Under AddressSanitizer this is the proof that the matcher stays inside, and under any that it ends. */
Test(image, damaged_images_do_no_harm)
{
	size_t size, valid = 0;
	_cleanup_free_ struct image *img = sample(&size);
	_cleanup_free_ unsigned char *copy = malloc(size);
	uint64_t seed = 20240229;

	for (int round = 0; round < 20000; round++) {
		memcpy(copy, img, size);
		for (int flips = 1 + round % 16; flips; flips--) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			/* every other flip hits the header or a node, which is where offsets are */
			size_t at = (seed >> 33) % (flips % 2 ? size : size / 8);
			copy[at] ^= (unsigned char)(1u << ((seed >> 20) & 7));
			if (round % 3 == 0)
				copy[at] = (unsigned char)(seed >> 12);
		}
		if (!image_valid((const struct image *)copy, size))
			continue;
		valid++;
		decide_everything((const struct image *)copy);
	}
	cr_assert_gt(valid, 5000, "most damage is past the header: %zu", valid);
}

/* A table without a free place, and lists that lead back: nothing that the compiler makes. */
Test(image, endless_tables_end)
{
	size_t size;
	_cleanup_free_ struct image *img = sample(&size);
	struct image_node *nodes = (void *)((char *)img + img->nodes);
	struct image_pattern *patterns = (void *)((char *)img + img->patterns);
	uint32_t *heads = (void *)((char *)img + img->buckets);

	for (uint32_t i = 0; i <= img->node_mask; i++)
		nodes[i].flags |= NODE_USED;
	for (uint32_t i = 0; i < img->n_patterns; i++)
		patterns[i].next = i;
	for (uint32_t i = 0; i <= img->bucket_mask; i++)
		heads[i] = i % img->n_patterns;
	img->unkeyed = img->unkeyed_moves = img->n_patterns - 1;
	memset(img->bloom, 0xff, sizeof(img->bloom));
	cr_assert(image_valid(img, size));
	decide_everything(img);
}
