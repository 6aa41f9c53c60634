/*
 * As x86_64.S says. All arguments are on the stack, where they stay: what is passed on is what the caller pushed. eax, ecx and edx are
 * free at a function's entry. Six words are copied whatever the function takes; there is always more stack above a call.
 *
 * The frame is struct frame in preload/shim.h, behind the argument of shim_enter():
 *   4 arg[6]   28 kept   32 row   36 stack arguments   40 ret
 */
	.text
	.hidden shim_enter
	.hidden shim_real

	.type here, @function
here:
	mov (%esp), %ecx
	ret
	.size here, .-here

	.type shim_common, @function
shim_common:
	.cfi_startproc
	push %ebp
	.cfi_def_cfa_offset 8
	.cfi_offset %ebp, -8
	mov %esp, %ebp
	.cfi_def_cfa_register %ebp
	sub $56, %esp
	and $-16, %esp
	mov %eax, 32(%esp)
	.set word, 0
	.rept 6
	mov word + 8(%ebp), %ecx
	mov %ecx, word + 4(%esp)
	.set word, word + 4
	.endr
	lea 32(%ebp), %ecx
	mov %ecx, 36(%esp)
	lea 4(%esp), %ecx
	mov %ecx, (%esp)
	call shim_enter
	test %eax, %eax
	jne 1f
	mov 32(%esp), %eax
	call here
2:	mov shim_real-2b(%ecx,%eax,4), %ecx
	leave
	.cfi_remember_state
	.cfi_def_cfa %esp, 4
	jmp *%ecx
1:
	.cfi_restore_state
	mov 40(%esp), %eax
	leave
	.cfi_def_cfa %esp, 4
	ret
	.cfi_endproc
	.size shim_common, .-shim_common

	.set row, 0
	.macro stub name
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr32
	mov $row, %eax
	jmp shim_common
	.cfi_endproc
	.size \name, .-\name
	.set row, row + 1
	.endm

#define INTERPOSE(name, ...) stub name;
#define SYSCALL_ROW(...)
#include "preload/interpose.def"

	.section .note.GNU-stack, "", @progbits
