/*
 * As x86_64.S says. Eight arguments are in registers; x8 says where a result in memory goes; x16 and x17 are free at a function's entry,
 * and a jump through x16 may land where a call may (bti c).
 *
 * The frame is struct frame in preload/shim.h:
 *   0 arg[8]   64 kept (x8)   72 row   80 stack arguments   88 ret
 */
	.text
	.hidden shim_enter
	.hidden shim_real

	.type shim_common, %function
shim_common:
	.cfi_startproc
	stp x29, x30, [sp, #-112]!
	.cfi_def_cfa_offset 112
	.cfi_offset x29, -112
	.cfi_offset x30, -104
	mov x29, sp
	stp x0, x1, [sp, #16]
	stp x2, x3, [sp, #32]
	stp x4, x5, [sp, #48]
	stp x6, x7, [sp, #64]
	stp x8, x16, [sp, #80]
	add x9, sp, #112
	str x9, [sp, #96]
	add x0, sp, #16
	bl shim_enter
	cbnz w0, 1f
	ldp x0, x1, [sp, #16]
	ldp x2, x3, [sp, #32]
	ldp x4, x5, [sp, #48]
	ldp x6, x7, [sp, #64]
	ldp x8, x17, [sp, #80]
	ldp x29, x30, [sp], #112
	.cfi_remember_state
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	adrp x16, shim_real
	add x16, x16, :lo12:shim_real
	ldr x16, [x16, x17, lsl #3]
	br x16
1:
	.cfi_restore_state
	ldr x0, [sp, #104]
	ldp x29, x30, [sp], #112
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size shim_common, .-shim_common

	.set row, 0
	.macro stub name
	.globl \name
	.type \name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint #34 /* bti c */
	mov x16, #row
	b shim_common
	.cfi_endproc
	.size \name, .-\name
	.set row, row + 1
	.endm

#define INTERPOSE(name, ...) stub name;
#define SYSCALL_ROW(...)
#include "preload/interpose.def"

	.section .note.GNU-stack, "", %progbits
