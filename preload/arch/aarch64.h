/* Raw system calls on 64-bit ARM, which has none of the old ones: every path goes with a descriptor (openat for open). */
#pragma once

static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d,
		      x4 __asm__("x4") = e, x5 __asm__("x5") = f;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
	return x0;
}

enum { SHIM_MACHINE_64 = 183 /* EM_AARCH64 */, SHIM_MACHINE_32 = 40 /* EM_ARM */, SHIM_REGISTERS = 8, SHIM_ON_STACK = 0 };
enum { KERNEL_LARGEFILE = 0400000, ALWAYS_LARGEFILE = 0 };

#define raw_mmap(size, prot, flags, fd) raw6(SYS_mmap, 0, (long)(size), prot, flags, fd, 0)
#define raw_pread(fd, to, size, offset) raw6(SYS_pread64, fd, (long)(to), (long)(size), offset, 0, 0)
