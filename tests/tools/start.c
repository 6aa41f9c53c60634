/*
 * Starts a program by one of the ways that a libc has; what it starts may be another build of itself.
 *   start write FILE             creates it, writes "hit" into it; says "done" or why not
 *   start [-i] HOW COMMAND...    replaces itself by COMMAND, or waits for it (spawn, system, popen, vfork); -i: with no environment
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	puts(fd < 0 ? strerror(errno) : "done");
	return fd < 0 || write(fd, "hit\n", 4) != 4;
}

static int wait_for(pid_t pid)
{
	int status;

	return pid < 0 || waitpid(pid, &status, 0) != pid ? 126 : WEXITSTATUS(status);
}

static int by_spawn(char **argv, bool search)
{
	pid_t pid;
	int error = (search ? posix_spawnp : posix_spawn)(&pid, *argv, NULL, NULL, argv, environ);

	errno = error;
	return error ? -1 : wait_for(pid);
}

static const char *line_of(char **argv)
{
	static char line[4096];

	for (; *argv; argv++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "'%s' ", *argv);
	return line;
}

static int by_popen(char **argv)
{
	char line[256];
	FILE *f = popen(line_of(argv), "r");

	while (f && fgets(line, sizeof(line), f))
		fputs(line, stdout);
	return f ? WEXITSTATUS(pclose(f)) : -1;
}

static int by_vfork(char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(*argv, argv);
		_exit(127);
	}
	return wait_for(pid);
}

#define LISTED argv[0], argv[0], argv[1], argv[2], argv[3], argv[4], argv[5], argv[6], argv[7], argv[8], argv[9], argv[10], argv[11], (char *)NULL

/* -1: it did not start. */
static int start(const char *how, char **argv)
{
	if (!strcmp(how, "execve"))       return execve(*argv, argv, environ);
	if (!strcmp(how, "execv"))        return execv(*argv, argv);
	if (!strcmp(how, "execvp"))       return execvp(*argv, argv);
	if (!strcmp(how, "execvpe"))      return execvpe(*argv, argv, environ);
	if (!strcmp(how, "execl"))        return execl(LISTED);
	if (!strcmp(how, "execlp"))       return execlp(LISTED);
	if (!strcmp(how, "execle"))       return execle(LISTED, environ);
	if (!strcmp(how, "fexecve"))      return fexecve(open(*argv, O_RDONLY), argv, environ);
	if (!strcmp(how, "execveat"))     return (int)syscall(SYS_execveat, AT_FDCWD, *argv, argv, environ, 0);
	if (!strcmp(how, "syscall"))      return (int)syscall(SYS_execve, *argv, argv, environ);
	if (!strcmp(how, "spawn"))        return by_spawn(argv, false);
	if (!strcmp(how, "spawnp"))       return by_spawn(argv, true);
	if (!strcmp(how, "system"))       return WEXITSTATUS(system(line_of(argv)));
	if (!strcmp(how, "popen"))        return by_popen(argv);
	if (!strcmp(how, "vfork"))        return by_vfork(argv);
	errno = EINVAL;
	return -1;
}

int main(int argc, char *argv[])
{
	static char *nothing[] = { NULL };
	int i = 1, status;

	if (argc > i && !strcmp(argv[i], "-i")) {
		environ = nothing;
		i++;
	}
	if (argc == i + 2 && !strcmp(argv[i], "write"))
		return write_file(argv[i + 1]);
	if (argc < i + 2 || argc > i + 12)
		return 2;
	char *list[13] = { NULL };
	memcpy(list, argv + i + 1, (size_t)(argc - i - 1) * sizeof(*list));
	fflush(stdout);
	status = start(argv[i], list);
	if (status < 0)
		printf("%s: %s: %s\n", argv[i], list[0], strerror(errno));
	return status < 0 ? 126 : status;
}
