/*
 * What reading five layers with 2,000 rules and building the image costs, and what the same costs without settings: the best of
 * many rounds, in milliseconds, and their ratio. usage: settings DIRECTORY, an empty one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "platform/policy/policy.h"

enum { ROUNDS = 60, RULES = 2000, FILES = 5 };

static char *at(const char *directory, const char *name)
{
	return strf("%s/%s", directory, name);
}

static void make_file(const char *directory, const char *name, bool claude, const char *key, int first)
{
	_cleanup_free_ char *path = at(directory, name), *parent = xstrdup(path);
	_cleanup_(str_free) struct str list = STR_INIT;
	FILE *f;

	*strrchr(parent, '/') = '\0';
	make_directories(parent, 0755);
	for (int i = first; i < first + RULES / FILES; i++)
		str_addf(&list, i % 8 == 7 ? "%s\"**/name-%d\"" : i % 8 == 3 ? "%s\"~/d/e%d\"" : "%s\"./d%d\"", i == first ? "" : ",", i);
	f = fopen(path, "w");
	if (!f || fprintf(f, "{%s\"filesystem\":{\"%s\":[%s]}%s}", claude ? "\"sandbox\":{" : "", key, list.s, claude ? "}" : "") < 0 || fclose(f) != 0)
		abort();
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others on the machine do not count */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double one(const char *directory, bool with, size_t *ret_rules)
{
	const struct image_options options = { .start_sec = 1 };
	_cleanup_free_ char *cwd = at(directory, "cwd"), *home = at(directory, "home"), *config = at(home, ".config/hurdle"), *claude = at(home, ".claude"),
			    *managed = at(directory, "managed.json");
	const struct layer_files files = { .config = config, .claude = claude, .managed = managed };
	struct image *img = NULL;
	struct policy *p;
	size_t size;
	double start = now();

	p = policy_new(cwd, home);
	if ((with && policy_read_layers(p, &files, NULL) < 0) || policy_add_defaults(p, NULL) < 0 || policy_compile(p, &options, &img, &size, NULL) < 0)
		abort();
	*ret_rules = p->n_rules;
	start = now() - start;
	free(img);
	policy_free(p);
	return start;
}

static double best(const char *directory, bool with, size_t *ret_rules)
{
	double least = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double t = one(directory, with, ret_rules);

		least = t < least ? t : least;
	}
	return least;
}

int main(int argc, char *argv[])
{
	_cleanup_free_ char *root = argc == 2 ? realpath(argv[1], NULL) : NULL;
	size_t rules, plain_rules;
	double with, without;

	if (!root || chdir(root) < 0)
		return 1;
	make_file(root, "home/.config/hurdle/settings.json", false, "denyRead", 0);
	make_file(root, "home/.claude/settings.json", true, "denyWrite", 400);
	make_file(root, "cwd/.claude/settings.json", true, "denyRead", 800);
	make_file(root, "cwd/.claude/settings.local.json", true, "denyWrite", 1200);
	make_file(root, "managed.json", false, "denyRead", 1600);
	without = best(root, false, &plain_rules);
	with = best(root, true, &rules);
	printf("{\"rules\": %zu, \"ms\": %.3f, \"without_rules\": %zu, \"without_ms\": %.3f, \"ratio\": %.2f}\n", rules, with, plain_rules, without,
	       with / without);
	return 0;
}
