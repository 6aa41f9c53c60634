/*
 * One operation in a loop; prints nanoseconds per call, the least of five rounds: what the operation costs when nothing
 * disturbs it. tests/bench/run compares the figure with and without a fence in one run.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char absolute[4096];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int check(int r)
{
	if (r < 0) {
		fprintf(stderr, "ops: %s\n", strerror(errno));
		exit(1);
	}
	return r;
}

static void op_read(void) { close(check(open(absolute, O_RDONLY))); }
static void op_relative(void) { close(check(open("file", O_RDONLY))); }
static void op_symlink(void) { close(check(open("link", O_RDONLY))); }
static void op_create(void) { close(check(open(absolute, O_WRONLY | O_CREAT | O_TRUNC, 0644))); }
static void op_rename(void) { check(rename("a", "b")); check(rename("b", "a")); }
static void op_fopen(void) { fclose(fopen(absolute, "r")); }

static void op_stat(void)
{
	struct stat st;
	check(stat(absolute, &st));
}

static void op_exec(void)
{
	int status;
	pid_t pid = check(fork());
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	check(status ? -1 : 0);
}

static const struct { const char *name; void (*run)(void); int count; } ops[] = {
	{ "read", op_read, 20000 }, { "relative", op_relative, 20000 }, { "symlink", op_symlink, 20000 }, { "create", op_create, 10000 },
	{ "rename", op_rename, 3000 }, { "fopen", op_fopen, 20000 }, { "stat", op_stat, 40000 }, { "exec", op_exec, 100 },
};

int main(int argc, char *argv[])
{
	if (argc != 2 || !getcwd(absolute, sizeof absolute - 8))
		return 2;
	strcat(absolute, "/file");
	close(check(open("file", O_WRONLY | O_CREAT, 0644)));
	close(check(open("a", O_WRONLY | O_CREAT, 0644)));
	unlink("link");
	check(symlink("file", "link"));
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		double best = 1e18;
		if (strcmp(ops[i].name, argv[1]))
			continue;
		for (int round = 0; round < 5; round++) {
			double start = now();
			for (int n = 0; n < ops[i].count; n++)
				ops[i].run();
			double each = (now() - start) / ops[i].count;
			if (each < best)
				best = each;
		}
		printf("%.1f\n", best);
		return 0;
	}
	return 2;
}
