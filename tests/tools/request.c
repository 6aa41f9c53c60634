/*
 * Does what the requests of tests/tables/paths.tsv say, each in a process of its own, and prints for each "done" or the name of an
 * errno. usage: request [read|write|create|delete|moved|exec PATH]...
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_close(const char *path, int flags)
{
	int fd = open(path, flags, 0644);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int take_away(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno;
	return (S_ISDIR(st.st_mode) ? rmdir(path) : unlink(path)) < 0 ? errno : 0;
}

static int move(const char *path)
{
	char to[8192];

	snprintf(to, sizeof to, "%s.moved", path);
	return rename(path, to) < 0 ? errno : 0;
}

/* What execve says comes through a pipe that a successful one closes. */
static int run(char *path)
{
	int pipes[2], error = 0;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return errno;
	pid = fork();
	if (pid == 0) {
		execv(path, (char *[]){ path, NULL });
		error = errno;
		_exit(write(pipes[1], &error, sizeof error) == sizeof error ? 126 : 125);
	}
	close(pipes[1]);
	if (read(pipes[0], &error, sizeof error) < 0)
		error = errno;
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	return error;
}

static int request(const char *what, char *path)
{
	if (!strcmp(what, "read"))
		return open_close(path, O_RDONLY);
	if (!strcmp(what, "write"))
		return open_close(path, O_WRONLY);
	if (!strcmp(what, "create"))
		return open_close(path, O_WRONLY | O_CREAT);
	if (!strcmp(what, "delete"))
		return take_away(path);
	return !strcmp(what, "moved") ? move(path) : !strcmp(what, "exec") ? run(path) : ENOSYS;
}

int main(int argc, char *argv[])
{
	for (int i = 1; i + 1 < argc; i += 2) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(request(argv[i], argv[i + 1]) & 0xff);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		status = WIFEXITED(status) ? WEXITSTATUS(status) : ENOSYS;
		puts(status ? strerrorname_np(status) : "done");
	}
	return 0;
}
