/* Raw system calls on x86-64. Returns the kernel's answer: a value, or a negative errno. */
#pragma once

static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;
	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return ret;
}

/* The two kinds of programs that this machine's kernel starts (elf.h), and how many arguments a stub finds in registers. */
enum { SHIM_MACHINE_64 = 62 /* EM_X86_64 */, SHIM_MACHINE_32 = 3 /* EM_386 */, SHIM_REGISTERS = 6, SHIM_ON_STACK = 0 };
/* O_LARGEFILE as the kernel knows it, and where it must be asked for. */
enum { KERNEL_LARGEFILE = 0100000, ALWAYS_LARGEFILE = 0 };

#define raw_mmap(size, prot, flags, fd) raw6(SYS_mmap, 0, (long)(size), prot, flags, fd, 0)
#define raw_pread(fd, to, size, offset) raw6(SYS_pread64, fd, (long)(to), (long)(size), offset, 0, 0)
