/*
 * A compiled policy with bytes changed, and any path: whatever image_valid() lets through is decided over without leaving the
 * block, and ends. Input: how many changes; for each two bytes of place and a byte of value; the rest is the path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct policy *p, enum rule_kind kind, const char *path, bool pattern, bool icase)
{
	policy_add_exact(p, kind, LAYER_DEFAULT, path, "fuzz");
	p->rules[p->n_rules - 1].pattern = pattern;
	p->rules[p->n_rules - 1].icase = icase;
}

static struct image *base(size_t *ret_size)
{
	static struct image *img;
	static size_t size;
	const struct image_options options = { .start_sec = 1 };

	if (!img) {
		struct policy *p = policy_new("/p", NULL);

		add(p, RULE_ALLOW_WRITE, "/p", false, false);
		add(p, RULE_DENY_WRITE, "/p/a/b", false, false);
		add(p, RULE_DENY_READ, "/P/c", false, true);
		add(p, RULE_ALLOW_READ, "/p/c/*.pub", true, false);
		add(p, RULE_DENY_WRITE, "/**/*.pem", true, false);
		add(p, RULE_DENY_WRITE, "/q/**/x*y", true, false);
		add(p, RULE_PROTECT_NAME, "/**/.git/hooks", true, true);
		add(p, RULE_PROTECT_NAME, "/**/.claude/settings*.json", true, true);
		add(p, RULE_TMPDIR, "/t", false, false);
		add(p, RULE_INTERNAL, "/s", false, false);
		if (policy_compile(p, &options, &img, &size, NULL) < 0)
			abort();
		policy_free(p);
	}
	*ret_size = size;
	return img;
}

static void decide(const struct image *img, const char *path, size_t len)
{
	struct verdict v;

	for (enum access a = ACCESS_READ; a <= ACCESS_CONNECT; a++) {
		policy_decide(img, a, path, len, &v);
		if (v.outcome > OUTCOME_DENY_IF_OLD || (v.outcome == OUTCOME_DENY_IF_OLD && (v.holder_len > len || v.inner_len > len)))
			abort();
	}
	policy_decide_move(img, path, len, "/p/to", 5, &v);
	policy_decide_move(img, "/p/from", 7, path, len, &v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t image_size;
	const struct image *from = base(&image_size);
	char *img = malloc(image_size);
	size_t n = size ? data[0] : 0;

	memcpy(img, from, image_size);
	if (n * 3 + 1 > size)
		n = size ? (size - 1) / 3 : 0;
	for (size_t i = 0; i < n; i++)
		img[(data[1 + i * 3] | data[2 + i * 3] << 8) % image_size] = (char)data[3 + i * 3];
	if (image_valid((const struct image *)img, image_size)) {
		/* exactly as long, for AddressSanitizer */
		const size_t used = size ? 1 + n * 3 : 0, len = size - used + 1;
		char *path = malloc(len);

		path[0] = '/';
		if (len > 1)
			memcpy(path + 1, data + used, len - 1);
		decide((const struct image *)img, path, len);
		free(path);
	}
	free(img);
	return 0;
}
