/* The shim, as bytes of the hurdle executable. */
	.section .rodata
	.globl shim_blob, shim_blob_end
	.p2align 4
shim_blob:
	.incbin "hurdle-shim.stripped.so"
shim_blob_end:
	.section .note.GNU-stack, "", @progbits
