/*
 * One stub for each row of interpose.def: save the argument registers, ask shim_enter(), then either give its answer
 * or put everything back and jump (not call) to the real function, so that varargs, cancellation, vfork and the unwinder see
 * nothing of us. r11 and rax are free at a function's entry, except al, which counts vector arguments of a variadic call.
 *
 * The frame is struct frame in preload/shim.h:
 *   0 arg[6]   48 rax   56 row   64 stack arguments   72 ret
 */
	.text
	.hidden shim_enter
	.hidden shim_real

	.type shim_common, @function
shim_common:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub $80, %rsp
	mov %rdi, 0(%rsp)
	mov %rsi, 8(%rsp)
	mov %rdx, 16(%rsp)
	mov %rcx, 24(%rsp)
	mov %r8, 32(%rsp)
	mov %r9, 40(%rsp)
	mov %rax, 48(%rsp)
	mov %r11, 56(%rsp)
	lea 16(%rbp), %rax
	mov %rax, 64(%rsp)
	mov %rsp, %rdi
	call shim_enter
	test %eax, %eax
	jne 1f
	mov 0(%rsp), %rdi
	mov 8(%rsp), %rsi
	mov 16(%rsp), %rdx
	mov 24(%rsp), %rcx
	mov 32(%rsp), %r8
	mov 40(%rsp), %r9
	mov 56(%rsp), %r11
	mov 48(%rsp), %rax
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	lea shim_real(%rip), %r10
	jmp *(%r10,%r11,8)
1:
	.cfi_restore_state
	mov 72(%rsp), %rax
	leave
	.cfi_def_cfa %rsp, 8
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
	endbr64
	mov $row, %r11d
	jmp shim_common
	.cfi_endproc
	.size \name, .-\name
	.set row, row + 1
	.endm

#define INTERPOSE(name, ...) stub name;
#define SYSCALL_ROW(...)
#include "preload/interpose.def"

	.section .note.GNU-stack, "", @progbits
