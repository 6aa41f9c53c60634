/*
 * Settings text from anywhere: no crash, no leak, a refusal always has words, and whatever was accepted compiles into a valid
 * image. Build with clang -fsanitize=fuzzer,address,undefined; nothing on the disk is changed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "platform/policy/defaults.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compile(const struct policy *p)
{
	const struct image_options options = { 0 };
	struct image *img = NULL;
	struct err err = ERR_NONE;
	size_t size;

	if (policy_compile(p, &options, &img, &size, &err) == 0 && !image_valid(img, size))
		abort();
	free(img);
	err_clear(&err);
}

static void words(const struct policy *p)
{
	for (uint32_t i = 0; i < p->n_rules; i++)
		free(policy_rule_words(p, i, ACCESS_WRITE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* no such directories: nothing here depends on the machine */
	struct policy *p = policy_new("/nonexistent/cwd", size % 2 ? "/nonexistent/home" : NULL);
	struct err err = ERR_NONE;
	int r = policy_read_settings_text(p, (const char *)data, size, "f.json", LAYER_FLAGS, &err);

	if ((r < 0) != (err.text != NULL) || (r < 0 && strncmp(err.text, "f.json:", 7)))
		abort();
	if (r == 0 && policy_add_defaults(p, &err) == 0) {
		compile(p);
		words(p);
	}
	err_clear(&err);
	policy_free(p);
	return 0;
}
