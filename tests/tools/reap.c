/*
 * reap FILE COMMAND [ARG]...: runs COMMAND, and whatever it leaves behind falls to this process (PR_SET_CHILD_SUBREAPER),
 * however it cut itself loose. What still runs two seconds after COMMAND ended is listed in FILE and killed. Exits with COMMAND's
 * status, 128+n for a signal.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Lists this process's living children in log and kills them; their own children are then ours, for the next round. */
static void list_and_kill(FILE *log)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	while (proc && (e = readdir(proc))) {
		char path[300], stat[512], line[4096], *end;
		size_t n = 0;
		int ppid = 0;
		char state = 0;
		FILE *f;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		if (!(f = fopen(path, "re")))
			continue;
		n = fread(stat, 1, sizeof(stat) - 1, f);
		fclose(f);
		stat[n] = 0;
		end = strrchr(stat, ')'); /* the name before it may hold anything */
		if (!end || sscanf(end + 1, " %c %d", &state, &ppid) != 2 || ppid != getpid() || state == 'Z')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
		n = 0;
		if ((f = fopen(path, "re"))) {
			n = fread(line, 1, sizeof(line) - 1, f);
			fclose(f);
		}
		for (size_t i = 0; i < n; i++)
			if (iscntrl((unsigned char)line[i]))
				line[i] = ' ';
		line[n] = 0;
		fprintf(log, "process %s: %s\n", e->d_name, n ? line : stat);
		fflush(log);
		kill(atoi(e->d_name), SIGKILL);
	}
	if (proc)
		closedir(proc);
}

int main(int argc, char **argv)
{
	const struct timespec tick = { 0, 20 * 1000 * 1000 };
	int status = 0, result = 125, ticks = -1;
	FILE *log = NULL;
	pid_t child, pid;

	if (argc < 3 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) || (child = fork()) < 0)
		return 125;
	if (child == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "reap: cannot run '%s': %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	/* Blocks while COMMAND runs; then counts ticks until nothing is left. */
	for (;;) {
		pid = waitpid(-1, &status, ticks < 0 ? 0 : WNOHANG);
		if (pid == child) {
			result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
			ticks = 0;
		} else if (pid == 0) {
			nanosleep(&tick, NULL);
			if (++ticks >= 100 && (log || (log = fopen(argv[1], "we"))))
				list_and_kill(log);
		} else if (pid < 0 && errno != EINTR) {
			break; /* ECHILD */
		}
	}
	return result;
}
