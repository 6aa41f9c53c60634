/* The quick self-attack: what the program inside is told to try, and what it answers. Freestanding. */
#pragma once

enum quick_attack {
#define ATTACK(id, guarantee, what) ATTACK_##id,
#include "platform/mechanism/quick_attacks.def"
#undef ATTACK
	ATTACK_COUNT,
};

/* One byte for each attack, in order. NOT_TRIED: there was nothing to try it on. */
enum attack_outcome { ATTACK_NOT_TRIED, ATTACK_REFUSED, ATTACK_SUCCEEDED };

/* The arguments of the program, all texts: "attack", these. An empty one: there is none. */
enum attack_argument {
	ATTACK_ARG_NAME = 1, /* "attack" */
	ATTACK_ARG_FD,       /* descriptor that takes the answer */
	ATTACK_ARG_OUTSIDE,  /* a directory outside the write roots with the file "file" in it */
	ATTACK_ARG_TMPDIR,
	ATTACK_ARG_SUPERVISOR, ATTACK_ARG_PARENT, /* pids */
	ATTACK_ARG_UNREADABLE, /* an existing file that may not be read */
	ATTACK_ARG_UNWRITABLE, /* ... in a write root, that may not be written */
	ATTACK_ARG_COUNT,
};

/* Tries everything and writes the answer. The exit status. */
int attack_main(char **argv);
