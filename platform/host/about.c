/* What is known of this machine by name. Only for words (and the one rule that exists on WSL alone): nothing is concluded from it. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "platform/base/sys.h"
#include "platform/host/probe.h"

/* ---- kernel and container ---- */

static bool file_says(const char *path, const char *word)
{
	_cleanup_free_ char *text = NULL;
	return read_file(path, 4096, &text, NULL) == 0 && strstr(text, word);
}

const char *about_platform(void)
{
	static const char release[] = "/proc/sys/kernel/osrelease";
	/* as WSL's own init decides: the case of one letter (4.4.0-22621-Microsoft; 5.15.90.1-microsoft-standard-WSL2) */
	if (file_says(release, "Microsoft") && !file_says(release, "WSL2"))
		return "WSL1";
	/* a kernel that somebody built for it may be called anything */
	if (file_says(release, "microsoft") || file_says(release, "WSL2") || access("/run/WSL", F_OK) == 0)
		return "WSL2";
	/* a constant of its source, since 2016 */
	if (file_says("/proc/version", "Sun Jan 10 15:06:54 PST 2016"))
		return "gVisor";
	return access("/system/bin/linker64", F_OK) == 0 ? "Android" : "Linux";
}

static const struct { const char *path, *word; } container_marks[] = {
	{ "/run/.containerenv", "podman" },
	{ "/.dockerenv", "docker" },
	{ "/var/run/secrets/kubernetes.io", "kubernetes" },
	{ "/run/systemd/container", "container" },
};

static const char *container(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(container_marks); i++)
		if (access(container_marks[i].path, F_OK) == 0)
			return container_marks[i].word;
	return NULL;
}

static int yama(void)
{
	_cleanup_free_ char *text = NULL;
	return read_file("/proc/sys/kernel/yama/ptrace_scope", 64, &text, NULL) == 0 ? atoi(text) : -1;
}

/* ---- the libc of /bin/sh ---- */

/* The name of the loader, from the first 4 KiB, where every linker puts it; "" for a static program. */
static bool read_interpreter(int fd, char *name, size_t size)
{
	union { char bytes[4096]; Elf64_Ehdr header; } file;
	ssize_t n = read(fd, &file, sizeof file);
	if (n < (ssize_t)sizeof file.header || memcmp(file.bytes, ELFMAG, SELFMAG) != 0 || file.bytes[EI_CLASS] != ELFCLASS64)
		return false;
	*name = '\0';
	for (size_t i = 0; i < file.header.e_phnum; i++) {
		Elf64_Phdr p;
		size_t at = file.header.e_phoff + i * sizeof p;
		if (file.header.e_phoff > sizeof file || at + sizeof p > (size_t)n)
			return false;
		memcpy(&p, file.bytes + at, sizeof p);
		if (p.p_type != PT_INTERP)
			continue;
		if (p.p_offset >= (size_t)n || p.p_filesz > (size_t)n - p.p_offset)
			return false;
		strlcpy(name, file.bytes + p.p_offset, size < p.p_filesz ? size : p.p_filesz);
	}
	return true;
}

static const char *shell_libc(void)
{
	char loader[128];
	_cleanup_close_ int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !read_interpreter(fd, loader, sizeof loader))
		return "other";
	if (!*loader)
		return "static";
	if (strstr(loader, "/ld-musl-"))
		return "musl";
	return strstr(loader, "/ld-linux") || strstr(loader, "/ld64.so") ? "glibc" : "other";
}

/* ---- bwrap's version ---- */

enum { LIMIT_MS = 2000 };

/* What it says within the limit, or NULL. */
static char *read_some(int fd)
{
	char text[128];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	if (poll(&p, 1, LIMIT_MS) != 1)
		return NULL;
	ssize_t n = read(fd, text, sizeof text - 1);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return xstrdup(text);
}

static char *ask_version(char *program)
{
	int pipes[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char *argv[] = { program, (char[]){ "--version" }, NULL }, *envp[] = { NULL }, *said = NULL;
	posix_spawn_file_actions_t actions;
	pid_t pid;
	if (pipe2(pipes, O_CLOEXEC) < 0) {
		cleanup_close_(&null);
		return NULL;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, null, 0);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
	posix_spawn_file_actions_adddup2(&actions, null, 2);
	int r = posix_spawn(&pid, program, &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	cleanup_close_(&null);
	if (r == 0) {
		said = read_some(pipes[0]);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(pipes[0]);
	return said;
}

void host_describe(struct host *h)
{
	h->container = container();
	h->shell_libc = shell_libc();
	h->yama = yama();
	if (host_has(h, CAP_BWRAP) && !h->bwrap_version)
		h->bwrap_version = ask_version(h->bwrap);
	if (h->bwrap)
		host_set(h, CAP_BWRAP, true, "%s%s, %s", h->bwrap, h->bwrap_setuid ? ", set-uid root" : "",
			 h->bwrap_version ? h->bwrap_version : "says no version");
	h->described = true;
}
