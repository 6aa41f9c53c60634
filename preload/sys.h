/* System calls and the few memory functions that the shim has instead of a libc. Negative errno everywhere. */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#include "preload/arch/x86_64.h"
#elif defined(__i386__)
#include "preload/arch/i386.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "preload/arch/aarch64.h"
#else
#error "no preload/arch file for this machine yet: see docs/hacking.md"
#endif
#include "preload/arch/numbers.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef RESOLVE_NO_SYMLINKS
#define RESOLVE_NO_SYMLINKS 0x04
#endif

#ifndef RESOLVE_IN_ROOT
#define RESOLVE_IN_ROOT 0x10
#endif

struct open_how_v0 { uint64_t flags, mode, resolve; };

static inline long sys_openat(int dirfd, const char *path, int flags, unsigned mode)
{
	return raw6(SYS_openat, dirfd, (long)path, flags | ALWAYS_LARGEFILE, mode, 0, 0);
}

static inline long sys_openat2(int dirfd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
	struct open_how_v0 how = { flags, mode, resolve };
	return raw6(SYS_openat2, dirfd, (long)path, (long)&how, sizeof how, 0, 0);
}

/* What statx tells of an object: type and permissions, and how many names it has. */
struct look { unsigned mode, links; };

/* statx is of Linux 4.11, and WSL1 has none; what was there before it fills libc's own struct where that is the kernel's. */
static __attribute__((noinline, unused)) long sys_look_before_statx(int fd, const char *path, int flags, struct look *to)
{
#if defined(SYS_newfstatat) && __SIZEOF_POINTER__ == 8
	struct stat st;
	long r = *path ? raw6(SYS_newfstatat, fd, (long)path, (long)&st, flags, 0, 0) : raw6(SYS_fstat, fd, (long)&st, 0, 0, 0, 0);
	if (r == 0)
		*to = (struct look){ .mode = st.st_mode, .links = (unsigned)st.st_nlink };
	return r;
#elif defined(__i386__)
	/* struct stat64 of the kernel (asm/stat.h): the mode after device, padding and inode, then the links */
	uint32_t st[24];
	long r = *path ? raw6(300 /* fstatat64 */, fd, (long)path, (long)st, flags, 0, 0) : raw6(197 /* fstat64 */, fd, (long)st, 0, 0, 0, 0);
	if (r == 0)
		*to = (struct look){ .mode = st[4], .links = st[5] };
	return r;
#else
	(void)fd, (void)path, (void)flags, (void)to;
	return -ENOSYS;
#endif
}

/* path "": the descriptor itself. Negative errno, and *to as it was. */
static inline long sys_look(int fd, const char *path, int flags, struct look *to)
{
	struct statx st;
	long r = raw6(SYS_statx, fd, (long)path, flags | (*path ? 0 : AT_EMPTY_PATH), STATX_TYPE | STATX_MODE | STATX_NLINK, (long)&st, 0);
	if (r == -ENOSYS)
		return sys_look_before_statx(fd, path, flags, to);
	if (r == 0)
		*to = (struct look){ .mode = st.stx_mode, .links = st.stx_nlink };
	return r;
}

static inline void sys_close(int fd)
{
	raw6(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	return raw6(SYS_readlinkat, dirfd, (long)path, (long)buf, (long)size, 0, 0);
}

static inline long sys_getpid(void)
{
	return raw6(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline void *sys_mmap(size_t size, int prot, int flags, int fd)
{
	long r = raw_mmap(size, prot, flags, fd);
	return r < 0 && r > -4096 ? NULL : (void *)r;
}

static inline void sys_munmap(void *p, size_t size)
{
	raw6(SYS_munmap, (long)p, (long)size, 0, 0, 0, 0);
}

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
bool text_equal(const char *a, const char *b);
bool text_starts(const char *s, const char *prefix);
/* Decimal digits of n at to, NUL-terminated; the length. to has room for 21 bytes. */
size_t text_number(char *to, unsigned long n);
/* A whole non-negative decimal number up to the end or a slash; -1 when s does not begin with one. */
long text_to_number(const char *s, const char **ret_end);
