/*
 * The loader's functions by which a program looks past its own names: dlsym of a function that we have gives ours, and a second libc is
 * not loaded. Code that reads libc's symbols itself is not held: docs/threat-model.md.
 */
#include "preload/shim.h"

enum { NEXT = -1, DEFAULT = 0, BASE_NAMESPACE = 0, DEEP_BINDING = 8 }; /* RTLD_NEXT, RTLD_DEFAULT, LM_ID_BASE, RTLD_DEEPBIND */

/*
 * dlsym and dlvsym. A library of the program's that has a function of that name itself, and so asks for the next one, is to get
 * libc's: it is called by us, and would call us again for ever.
 */
HANDLER(on_dlsym)
{
	const char *name = (const char *)f->arg[1];
	void *own = name ? find_own(name) : NULL;
	enum real real = own ? real_is(name) : REAL_NOWHERE;
	if (!own || real == REAL_IN_ANOTHER)
		return PASS;
	if (f->arg[0] == DEFAULT && real != REAL_NOWHERE)
		return PASS;
	if (real == REAL_NOWHERE) /* this libc has no such function: to be missed, and asked by us it is */
		f->arg[0] = NEXT;
	long found = f->arg[0] == NEXT && real != REAL_NOWHERE ? (long)own : invoke(f, r);
	f->ret = found && defined_by_libc(name, (const void *)found) ? (long)own : found;
	return DONE;
}

/* RTLD_DEEPBIND would let a library find libc's names before ours. flags: position of the mode. */
HANDLER(on_dlopen)
{
	change_argument(f, r->flags, f->arg[r->flags] & ~DEEP_BINDING);
	return PASS;
}

/* Another name space has another libc, whose functions are not ours. The loader is made to refuse, so that dlerror() has words. */
HANDLER(on_dlmopen)
{
	TEXT(file);
	const char *name = (const char *)f->arg[1];
	if (f->arg[0] == BASE_NAMESPACE || !judged())
		return on_dlopen(f, r);
	if (name && readable_text(name) == WHOLE)
		text_set(&file, name, strlen(name));
	report(WIRE_LOAD, IMAGE_NONE, file.s, &file);
	change_argument(f, r->flags, 0);
	return PASS;
}
