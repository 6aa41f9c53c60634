/*
 * Ways of a dynamic program around a shim that is found by name, without a system call of its own.
 *   around handle FILE     writes "hit" with the open that dlsym finds in libc itself
 *   around copy FILE       ... in a second libc, loaded into a name space of its own (glibc only)
 *   around list DIR        prints what nftw sees below DIR
 *   around abstract NAME   connects to an abstract unix socket
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int write_with(void *libc, const char *path)
{
	int (*real_open)(const char *, int, ...);
	int fd;

	if (!libc) {
		fprintf(stderr, "around: %s\n", dlerror());
		return 77;
	}
	*(void **)&real_open = dlsym(libc, "open");
	fd = real_open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, "hit\n", 4) != 4) {
		perror("around");
		return 1;
	}
	return close(fd) < 0;
}

static void *second_libc(void)
{
#ifdef LM_ID_NEWLM
	return dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
#else
	return NULL;
#endif
}

static int print_name(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return puts(path) < 0;
}

static int connect_abstract(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);
	if (connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) < 0) {
		perror("around");
		return 1;
	}
	return 0;
}

int main(int argc, char *argv[])
{
	if (argc == 3 && !strcmp(argv[1], "handle"))
		return write_with(dlopen("libc.so.6", RTLD_NOW), argv[2]);
	if (argc == 3 && !strcmp(argv[1], "copy"))
		return write_with(second_libc(), argv[2]);
	if (argc == 3 && !strcmp(argv[1], "list"))
		return nftw(argv[2], print_name, 16, FTW_PHYS);
	if (argc == 3 && !strcmp(argv[1], "abstract"))
		return connect_abstract(argv[2]);
	return 2;
}
