/*
 * Is this memory there to be read? A shim that follows a bad pointer ends a program that would have got EFAULT. The kernel is
 * asked, once for a page: it is known then until the program itself changes its mappings. What libc takes back behind the
 * program's back (the top of the heap, a stack of a thread) is no memory that a program may still point to.
 */
#include "preload/shim.h"

enum { PAGE = 4096, KNOWN = 64, PATH_LIMIT = 4096, NAME_BYTES = 64 };

static uintptr_t known[KNOWN]; /* addresses of pages */

static uintptr_t *place_of(uintptr_t page)
{
	return &known[(page / PAGE ^ page / PAGE / KNOWN) % KNOWN];
}

/* rt_sigprocmask reads the set before it looks at what is to be done with it, and there is no such thing to be done. */
static bool ask(uintptr_t page)
{
	return raw6(SYS_rt_sigprocmask, -1, (long)page, 0, 8, 0, 0) != -EFAULT;
}

static bool readable_page(uintptr_t page)
{
	uintptr_t *place = place_of(page);
	if (!page)
		return false;
	if (__atomic_load_n(place, __ATOMIC_RELAXED) == page)
		return true;
	if (!ask(page))
		return false;
	__atomic_store_n(place, page, __ATOMIC_RELAXED);
	return true;
}

bool readable(const void *p, size_t n)
{
	uintptr_t page = (uintptr_t)p & ~(uintptr_t)(PAGE - 1), last = ((uintptr_t)p + (n ? n - 1 : 0)) & ~(uintptr_t)(PAGE - 1);
	if (last < page) /* round the end of memory */
		return false;
	for (; page <= last; page += PAGE)
		if (!readable_page(page))
			return false;
	return true;
}

/* A word at a time, which never reaches into the next page. */
static __attribute__((no_sanitize("address"))) bool ends_in_page(const char *s)
{
	typedef unsigned long __attribute__((may_alias)) word;
	const word ones = (word)-1 / 255, highs = ones * 128;
	for (; (uintptr_t)s % sizeof(word); s++)
		if (!*s)
			return true;
	for (; (uintptr_t)s % PAGE; s += sizeof(word)) {
		word w = *(const word *)(uintptr_t)s;
		if ((w - ones) & ~w & highs)
			return true;
	}
	return false;
}

enum readable readable_text(const char *s)
{
	const char *start = s;
	while (s < start + PATH_LIMIT) {
		uintptr_t page = (uintptr_t)s & ~(uintptr_t)(PAGE - 1);
		if (!readable_page(page))
			return BROKEN;
		if ((uintptr_t)s % PAGE == 0 && !*s)
			return WHOLE;
		if (ends_in_page((uintptr_t)s % PAGE ? s : s + 1))
			return WHOLE;
		s = (const char *)(page + PAGE);
	}
	return TOO_LONG;
}

/* Of an entry no more is looked at than its name. */
bool readable_list(char *const *list)
{
	for (; list; list++) {
		if (!readable(list, sizeof *list))
			return false;
		if (!*list)
			break;
		if (!readable_page((uintptr_t)*list & ~(uintptr_t)(PAGE - 1)))
			return false;
		if ((uintptr_t)*list % PAGE > PAGE - NAME_BYTES && readable_text(*list) == BROKEN)
			return false;
	}
	return true;
}

static void forget(void)
{
	for (size_t i = 0; i < KNOWN; i++)
		__atomic_store_n(&known[i], 0, __ATOMIC_RELAXED);
}

/* munmap, mprotect, mremap, shmdt: forgotten after the call, so that nothing is learnt between. mremap answers an address. */
HANDLER(on_unmap)
{
	long result = invoke(f, r);
	forget();
	if (r->returns != RETURNS_POINTER)
		return finish(f, r, result);
	f->ret = result;
	return DONE;
}

/* mmap: what stood there before is gone when the place is the caller's own choice. */
HANDLER(on_map)
{
	return f->arg[3] & 0x10 /* MAP_FIXED */ ? on_unmap(f, r) : PASS;
}
