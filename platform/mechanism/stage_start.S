/* The start of the program inside the walls: the stack as the kernel left it. */
	.text
	.globl _start
#if defined(__x86_64__)
_start:
	xorl %ebp, %ebp
	movq %rsp, %rdi
	andq $-16, %rsp
	call stage_main
	hlt
#elif defined(__aarch64__)
_start:
	mov x29, #0
	mov x0, sp
	bl stage_main
#else
#error "no start for this machine yet"
#endif
	.section .note.GNU-stack, "", %progbits
