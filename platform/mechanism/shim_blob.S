/* The shims, as bytes of the hurdle executable; the one for 32-bit programs is empty where it could not be built. */
	.section .rodata
	.globl shim_blob, shim_blob_end, shim32_blob, shim32_blob_end
	.p2align 4
shim_blob:
	.incbin "hurdle-shim.stripped.so"
shim_blob_end:
	.p2align 4
shim32_blob:
	.incbin "hurdle-shim32.stripped.so"
shim32_blob_end:
	.section .note.GNU-stack, "", %progbits
