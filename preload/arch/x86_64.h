/* Raw system calls on x86-64. Returns the kernel's answer: a value, or a negative errno. */
#pragma once

static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;
	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return ret;
}

#define SHIM_ELF_CLASS   ELFCLASS64
#define SHIM_ELF_MACHINE EM_X86_64
