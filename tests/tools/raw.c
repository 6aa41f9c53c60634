/*
 * Opens a file by a system call that no libc function makes, as any program may that brings its own. raw_static.c is the
 * same without a loader.
 *   raw write FILE     creates it, and writes "hit" into it
 *   raw read FILE      prints its first line
 *   raw write32 FILE   as write, by the call of 32-bit programs, where a 64-bit kernel has that too
 *   raw send ADDRESS   sends "hit" to port 53 there; by libc's functions, so it is raw_static that goes past a shim
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static long raw_openat(const char *path, long flags, long mode)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = mode;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"((long)SYS_openat), "D"((long)AT_FDCWD), "S"(path), "d"(flags), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_openat, x0 __asm__("x0") = AT_FDCWD, x2 __asm__("x2") = flags, x3 __asm__("x3") = mode;
	register const char *x1 __asm__("x1") = path;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
	(void)path, (void)flags, (void)mode;
	return -ENOSYS;
#endif
}

/* Such a call takes addresses of 32 bits. */
static long raw_open32(const char *path)
{
#if defined(__x86_64__)
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long ret = 5; /* open */

	if (low == MAP_FAILED || strlen(path) >= 4096)
		return -ENOMEM;
	memcpy(low, path, strlen(path) + 1);
	__asm__ volatile("int $0x80" : "+a"(ret) : "b"(low), "c"((long)(O_WRONLY | O_CREAT)), "d"(0600L) : "memory");
	return (int)ret;
#else
	(void)path;
	return -ENOSYS;
#endif
}

static int send_hit(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = inet_addr(address) };

	return sendto(socket(AF_INET, SOCK_DGRAM, 0), "hit", 3, 0, (struct sockaddr *)&to, sizeof(to)) != 3;
}

int main(int argc, char *argv[])
{
	char line[256];
	long fd = -EINVAL;
	ssize_t n;

	if (argc == 3 && !strcmp(argv[1], "send"))
		return send_hit(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "write"))
		fd = raw_openat(argv[2], O_WRONLY | O_CREAT, 0600);
	else if (argc == 3 && !strcmp(argv[1], "write32"))
		fd = raw_open32(argv[2]);
	else if (argc == 3 && !strcmp(argv[1], "read"))
		fd = raw_openat(argv[2], O_RDONLY, 0);
	if (fd < 0) {
		fprintf(stderr, "raw: %s\n", strerror((int)-fd));
		return 1;
	}
	if (argv[1][0] == 'w')
		return write((int)fd, "hit\n", 4) != 4;
	n = read((int)fd, line, sizeof(line));
	return n <= 0 || fwrite(line, 1, (size_t)n, stdout) != (size_t)n;
}
