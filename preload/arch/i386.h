/*
 * Raw system calls of 32-bit x86 programs: six registers with the frame pointer among them, offsets of files in two words. A 64-bit
 * program can make these calls as well (int $0x80); that is one more way of calling the kernel without libc.
 */
#pragma once

/* The last two arguments go by memory: no compiler gives the frame pointer away, and with it six others would be all that there are. */
static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	long last[2] = { e, f }, *p = last, ret;
	__asm__ volatile("push %%ebp\n\t"
			 "mov 4(%%edi), %%ebp\n\t"
			 "mov (%%edi), %%edi\n\t"
			 "int $0x80\n\t"
			 "pop %%ebp"
			 : "=a"(ret), "+D"(p) : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d) : "memory", "cc");
	return ret;
}

/* A stub finds no argument in a register, but copies six; see struct frame. */
enum { SHIM_MACHINE_64 = 62 /* EM_X86_64 */, SHIM_MACHINE_32 = 3 /* EM_386 */, SHIM_REGISTERS = 6, SHIM_ON_STACK = 1 };
/* The libcs ask for it in each open of 64-bit offsets, whose rows come here without their libc. */
enum { KERNEL_LARGEFILE = 0100000, ALWAYS_LARGEFILE = KERNEL_LARGEFILE };

#define raw_mmap(size, prot, flags, fd) raw6(SYS_mmap2, 0, (long)(size), prot, flags, fd, 0)
#define raw_pread(fd, to, size, offset) raw6(SYS_pread64, fd, (long)(to), (long)(size), (long)(offset), (long)((int64_t)(offset) >> 32), 0)
