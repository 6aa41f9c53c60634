/*
 * What a decision costs, and that the number of rules does not matter: the best of many runs for policies of 10 to 100,000
 * rules, as ratios to the first. Figures of one machine at one moment; only the ratios mean something.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/base/cleanup.h"
#include "platform/policy/policy.h"

enum { ROUNDS = 200, CALLS = 2000 };

static const char *const paths[] = {
	"/home/u/project/src/main/app.c", "/home/u/project/node_modules/left-pad/index.js", "/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/home/u/.config/git/config", "/srv/data/d7/f3/file",
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void add(struct policy *p, enum rule_kind kind, bool pattern, const char *path)
{
	policy_add_exact(p, kind, LAYER_DEFAULT, path, "bench");
	p->rules[p->n_rules - 1].pattern = pattern;
}

/* What every policy has, and n rules more; every eighth is a pattern, by name or by extension. */
static struct image *policy_of(size_t n, size_t *ret_size)
{
	const struct image_options options = { .start_sec = 1 };
	struct policy *p = policy_new("/home/u/project", "/home/u");
	struct image *img = NULL;

	add(p, RULE_ALLOW_WRITE, false, "/home/u/project");
	add(p, RULE_DENY_READ, false, "/home/u/.ssh");
	add(p, RULE_PROTECT_NAME, true, "/**/.git/hooks");
	for (size_t i = 3; i < n; i++) {
		char text[96];

		if (i % 8 == 7)
			snprintf(text, sizeof(text), i % 16 == 7 ? "/**/secret-%zu" : "/**/*.x%zu", i);
		else
			snprintf(text, sizeof(text), "/srv/data/d%zu/f%zu/n%zu", i % 97, i % 1009, i);
		add(p, i % 2 ? RULE_DENY_WRITE : RULE_DENY_READ, i % 8 == 7, text);
	}
	if (policy_compile(p, &options, &img, ret_size, NULL) < 0 || !image_valid(img, *ret_size))
		abort();
	policy_free(p);
	return img;
}

/* Nanoseconds of one decision, the best round of all. */
static double cost(const struct image *img, enum access access)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double began = seconds();

		for (int i = 0; i < CALLS; i++) {
			const char *path = paths[(size_t)i % ARRAY_SIZE(paths)];
			struct verdict v;

			policy_decide(img, access, path, strlen(path), &v);
			__asm__ volatile("" : : "r"(&v) : "memory");
		}
		double took = (seconds() - began) / CALLS * 1e9;
		best = took < best ? took : best;
	}
	return best;
}

int main(void)
{
	static const size_t sizes[] = { 10, 100, 1000, 10000, 100000 };
	static const struct { const char *name; enum access access; } kinds[] = {
		{ "read", ACCESS_READ }, { "write", ACCESS_WRITE }, { "move", ACCESS_MOVE },
	};
	double first[ARRAY_SIZE(kinds)] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t size;
		double began = seconds();
		_cleanup_free_ struct image *img = policy_of(sizes[i], &size);

		printf("decide: %6zu rules, image %8zu KiB, built in %7.1f ms:", sizes[i], size / 1024, (seconds() - began) * 1e3);
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			double ns = cost(img, kinds[k].access);

			first[k] = i ? first[k] : ns;
			printf("  %s %5.1f ns (x%.2f)", kinds[k].name, ns, ns / first[k]);
		}
		printf("\n");
	}
	return 0;
}
