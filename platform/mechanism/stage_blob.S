/* The program inside the walls, as bytes of the hurdle executable. */
	.section .rodata
	.globl stage_blob, stage_blob_end
	.p2align 4
stage_blob:
	.incbin "hurdle-stage.stripped"
stage_blob_end:
	.section .note.GNU-stack, "", %progbits
