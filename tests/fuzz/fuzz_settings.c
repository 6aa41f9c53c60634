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

/* What the file of a project that nobody trusts may never bring about. */
static void check_tightened(const struct policy *p)
{
	bool loose = p->scrub_only || p->net == NET_OPEN || p->caches == CACHES_SHARED || p->unix_open || p->allow_git_config || p->env_keep.n ||
		     p->env_set.n || p->backends.n || p->http_proxy_port || p->socks_proxy_port || p->parent_http || p->parent_https ||
		     p->nested_userns || p->managed_domains_only || p->managed_read_only || p->lists[LIST_ALLOWED_DOMAINS].n ||
		     p->lists[LIST_EXCLUDED_COMMANDS].n || p->lists[LIST_PLATFORMS].n || p->lists[LIST_IGNORED_VIOLATIONS].n ||
		     p->lists[LIST_SAFE_DIRECTORIES].n;

	for (size_t i = 0; i < p->n_permissions; i++)
		loose |= p->permissions[i].list == PERMISSION_ALLOW;
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];

		if (r->layer == LAYER_PROJECT)
			loose |= r->kind == RULE_ALLOW_READ || r->kind == RULE_GRANT_EXEC || r->kind == RULE_ALLOW_SOCKET ||
				 (r->kind == RULE_ALLOW_WRITE && !path_under(r->path, p->cwd));
	}
	if (loose)
		abort();
}

static void read_project(const char *text, size_t size)
{
	struct policy *p = policy_new("/usr", "/nonexistent/home"); /* a directory that is there, so that roots in it are */
	struct err err = ERR_NONE;

	if (policy_read_settings_text(p, text, size, "f.json", LAYER_PROJECT, &err) == 0 && policy_add_defaults(p, &err) == 0)
		check_tightened(p);
	err_clear(&err);
	policy_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_project((const char *)data, size);
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
