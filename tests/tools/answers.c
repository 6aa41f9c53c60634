/*
 * The same policy gives the same answers: random trees and rules; what policy_decide() says of each path is compared with what a
 * program can really do there under a mechanism.
 *   answers SEED ROUNDS BACKEND DIRECTORY   DIRECTORY is empty and its own; prints a line of counts, and each difference; 1: there is one
 *   answers try LIST                        inside: opens each path of the file LIST, prints "read write" as 0 or 1
 * A difference that a caveat of the plan names is counted, not reported: what a mechanism does not hold, or refuses beyond the rules.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "supervisor/prepare.h"

enum { PATHS_MAX = 128, RULES_MAX = 7 };

static uint64_t state;
static unsigned random_below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((state >> 33) % n);
}

/* ---- inside ---- */

static int can_read(const char *path)
{
	struct stat st;
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* as root an empty file may stand where nothing can be read */
	int yes = fd >= 0 && fstat(fd, &st) == 0 && (S_ISDIR(st.st_mode) || read(fd, &byte, 1) == 1);
	if (fd >= 0 && yes && S_ISDIR(st.st_mode)) {
		DIR *d = fdopendir(fd);
		int entries = 0;
		while (d && readdir(d))
			entries++;
		yes = entries > 2; /* each directory of the tree holds something */
		if (d)
			closedir(d);
		return yes;
	}
	if (fd >= 0)
		close(fd);
	return yes;
}

static int can_write(const char *path)
{
	struct stat st;
	int fd;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		_cleanup_free_ char *probe = strf("%s/probe", path);
		fd = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			unlink(probe);
	} else {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int try_all(const char *list)
{
	char line[4096];
	FILE *f = fopen(list, "r");
	if (!f)
		return 1;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		int reads = can_read(line);
		printf("%d %d\n", reads, can_write(line));
	}
	fclose(f);
	return 0;
}

/* ---- outside ---- */

struct world { char *base, *cwd; char *path[PATHS_MAX], *made[RULES_MAX + 1]; size_t n, n_made; };

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		exit(2);
}

/* Three levels of two directories each, a file in each; the project is one of them. */
static void grow(struct world *w, const char *dir, int depth)
{
	_cleanup_free_ char *file = strf("%s/file", dir);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		exit(2);
	put(file, "x");
	w->path[w->n++] = xstrdup(dir);
	w->path[w->n++] = TAKE_PTR(file);
	for (int i = 0; i < 2 && depth > 0; i++) {
		_cleanup_free_ char *below = strf("%s/%c", dir, 'a' + i);
		grow(w, below, depth - 1);
	}
}

static void add_links(struct world *w)
{
	for (int i = 0; i < 3; i++) {
		_cleanup_free_ char *link = strf("%s/link%d", w->base, i);
		if (symlink(w->path[random_below((unsigned)w->n)], link) == 0)
			w->path[w->n++] = TAKE_PTR(link);
	}
}

/* One in six is a pattern, one in six is not there. */
static char *rule_path(struct world *w, bool must_exist)
{
	char *path = w->path[1 + random_below((unsigned)w->n - 1)];
	unsigned kind = random_below(6);
	if (kind > 1 || (kind == 1 && must_exist))
		return path;
	static const char *const patterns[] = { "**/file", "*", "**/b" }, *const missing[] = { "missing", "missing/below" };
	char *made = kind == 0 ? strf("%s/%s", path, patterns[random_below(3)]) : strf("%s/%s", path, missing[random_below(2)]);
	w->made[w->n_made++] = made;
	return made;
}

static void add_rules(struct options *o, struct world *w, struct str *words, char ***args)
{
	static const struct { enum rule_kind kind; const char *option; } kinds[] = {
		{ RULE_ALLOW_WRITE, "allow-write" }, { RULE_DENY_WRITE, "deny-write" }, { RULE_ALLOW_READ, "allow-read" },
		{ RULE_DENY_READ, "deny-read" }, { RULE_ALLOW_WRITE, "allow-write" }, { RULE_DENY_READ, "deny-read" },
	};
	unsigned n = 1 + random_below(RULES_MAX);
	o->paths = xcalloc(n, sizeof *o->paths);
	for (unsigned i = 0; i < n; i++) {
		unsigned k = random_below(ARRAY_SIZE(kinds));
		char *path = rule_path(w, kinds[k].kind == RULE_ALLOW_WRITE);
		/* a working directory that may not be entered is refused at the start */
		_cleanup_free_ char *real = realpath(path, NULL);
		if (kinds[k].kind == RULE_DENY_READ && real && !strcmp(real, w->cwd))
			path = w->path[1];
		o->paths[o->n_paths++] = (struct option_path){ kinds[k].kind, path, kinds[k].option };
		*(*args)++ = strf("--%s", kinds[k].option);
		*(*args)++ = path;
		str_addf(words, " --%s %s", kinds[k].option, path);
	}
}

static char *run(char **argv, const char *cwd)
{
	int out[2];
	if (pipe(out) < 0)
		exit(2);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		if (chdir(cwd) == 0)
			execv(argv[0], argv);
		_exit(127);
	}
	close(out[1]);
	struct str s = STR_INIT;
	char buffer[4096];
	for (ssize_t n; (n = read(out[0], buffer, sizeof buffer)) > 0;)
		str_addn(&s, buffer, (size_t)n);
	close(out[0]);
	int status;
	waitpid(pid, &status, 0);
	if (status != 0)
		fprintf(stderr, "answers: the run ended with status %d\n", status);
	return str_take(&s);
}

static bool is_directory(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct counts { unsigned same, weaker, stricter, wrong; };

/* What no mechanism in use holds at the kernel's level may be open; what is refused although allowed is never. */
static void compare(const struct launch *l, const struct plan *plan, const char *path, enum access access, bool can, bool application,
		    struct counts *c, const char *words)
{
	_cleanup_free_ char *real = NULL;
	struct verdict v;
	if (path_resolve(path, &real) < 0)
		return;
	_cleanup_free_ char *below = strf("%s/probe", real);
	bool makes = access == ACCESS_WRITE && is_directory(real);
	policy_decide(l->image, makes ? ACCESS_CREATE : access, makes ? below : real, strlen(makes ? below : real), &v);
	bool allowed = v.outcome == OUTCOME_ALLOW;
	if (allowed == can) {
		c->same++;
		return;
	}
	if (!allowed) {
		enum level level = v.rule == IMAGE_NONE ? plan->guarantees[G_fs_write].level : plan->rules[v.rule].level;
		/* what stands in the place of a denied directory shows the names of what is allowed inside, and no others */
		bool listed = access == ACCESS_READ && is_directory(real) && !application;
		if (listed || level < (application ? LEVEL_APPLICATION : LEVEL_KERNEL)) {
			c->weaker++;
			return;
		}
	} else if (access == ACCESS_WRITE) {
		/* what may not be read is hidden, and so cannot be written: a caveat */
		policy_decide(l->image, ACCESS_READ, real, strlen(real), &v);
		if (v.outcome != OUTCOME_ALLOW) {
			c->stricter++;
			return;
		}
	}
	c->wrong++;
	printf("%s %s: %s by policy_decide, %s in fact; rules:%s\n", access == ACCESS_READ ? "read" : "write", path, allowed ? "allowed" : "denied",
	       can ? "allowed" : "denied", words);
}

static void release_world(struct world *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->path[i]);
	for (size_t i = 0; i < w->n_made; i++)
		free(w->made[i]);
	free(w->base);
	free(w->cwd);
}

static void play_round(const char *directory, unsigned number, const char *self, const char *backend, struct counts *c)
{
	struct world w = { .base = strf("%s/%u", directory, number) };
	struct options o = { .command = COMMAND_RUN, .net = CHOICE_UNSET, .caches = CHOICE_UNSET, .exec_from = CHOICE_UNSET, .profile = CHOICE_UNSET };
	_cleanup_free_ char *hurdle = strf("%s/hurdle", getenv("HURDLE_BUILD")), *list = strf("%s/%u/list", directory, number);
	_cleanup_free_ char *option = strf("--backend=%s", backend);
	char *args[32] = { hurdle, (char[]){ "run" }, (char[]){ "-q" }, option }, **next = args + 4;
	struct str words = STR_INIT;
	struct err err = ERR_NONE;
	struct plan plan;
	grow(&w, w.base, 3);
	w.cwd = strf("%s/b", w.base);
	add_links(&w);
	add_rules(&o, &w, &words, &next);
	FILE *f = fopen(list, "w");
	for (size_t i = 0; i < w.n; i++)
		fprintf(f, "%s\n", w.path[i]);
	fclose(f);
	char *const tail[] = { (char[]){ "--" }, strf("%s", self), (char[]){ "try" }, list, NULL };
	memcpy(next, tail, sizeof tail);
	_cleanup_free_ char *answers = run(args, w.cwd);
	strv_add(&o.backends, backend);
	struct launch l = { .argv = (char *[]){ NULL }, .environ = (char *[]){ NULL } };
	if (chdir(w.cwd) < 0 || prepare_plan(&o, &l, &plan, &err) < 0) {
		printf("no plan: %s; rules:%s\n", err.text, words.s);
		c->wrong++;
	} else {
		const char *line = answers;
		for (size_t i = 0; i < w.n; i++, line += 4) {
			if (strlen(line) < 4) {
				printf("no answer about %s; rules:%s\n", w.path[i], words.s);
				c->wrong++;
				break;
			}
			compare(&l, &plan, w.path[i], ACCESS_READ, line[0] == '1', !strcmp(backend, "preload"), c, words.s);
			compare(&l, &plan, w.path[i], ACCESS_WRITE, line[2] == '1', !strcmp(backend, "preload"), c, words.s);
		}
		prepare_release(&l, &plan);
	}
	free(tail[1]);
	strv_free(&o.backends);
	free(o.paths);
	str_free(&words);
	release_world(&w);
}

int main(int argc, char **argv)
{
	struct counts c = { 0 };
	if (argc == 3 && !strcmp(argv[1], "try"))
		return try_all(argv[2]);
	if (argc != 5)
		return 2;
	state = strtoul(argv[1], NULL, 10);
	_cleanup_free_ char *self = realpath("/proc/self/exe", NULL);
	for (unsigned i = 0; i < (unsigned)atoi(argv[2]); i++)
		play_round(argv[4], i, self, argv[3], &c);
	printf("%u the same, %u weaker and %u stricter by a caveat, %u wrong\n", c.same, c.weaker, c.stricter, c.wrong);
	return c.wrong != 0 || c.same == 0;
}
