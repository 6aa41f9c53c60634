/*
 * The real functions, found without dlsym: it lives in libdl before glibc 2.34, and fails with malloc. The loaders of glibc
 * and musl both publish the list of loaded objects for debuggers; the first definition after our own object is what
 * RTLD_NEXT would give.
 */
#include <elf.h>
#include <link.h>

#include "preload/shim.h"

extern struct r_debug _r_debug __attribute__((weak, visibility("default")));       /* glibc */
extern struct r_debug *_dl_debug_addr __attribute__((weak, visibility("default"))); /* musl */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

struct object {
	ElfW(Addr) base;
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint16_t *versions;
	const uint32_t *gnu_hash;
	const uint32_t *sysv_hash;
};

static struct link_map *first_object(void)
{
	if (&_r_debug)
		return _r_debug.r_map;
	if (&_dl_debug_addr && _dl_debug_addr)
		return _dl_debug_addr->r_map;
	return NULL;
}

static struct link_map *own_object(void)
{
	struct link_map *m = first_object();
	while (m && m->l_addr != (ElfW(Addr))&__ehdr_start)
		m = m->l_next;
	return m;
}

const char *own_file(void)
{
	const struct link_map *m = own_object();
	return m ? m->l_name : NULL;
}

/* glibc relocates the pointers of the dynamic section in place, musl and the vDSO do not. */
static const void *dynamic_pointer(const struct link_map *m, ElfW(Addr) p)
{
	return (const void *)(p < m->l_addr ? m->l_addr + p : p);
}

static bool read_object(const struct link_map *m, struct object *o)
{
	memset(o, 0, sizeof *o);
	o->base = m->l_addr;
	for (const ElfW(Dyn) *d = m->l_ld; d && d->d_tag != DT_NULL; d++) {
		const void *p = dynamic_pointer(m, d->d_un.d_ptr);
		switch (d->d_tag) {
		case DT_SYMTAB:   o->symbols = p; break;
		case DT_STRTAB:   o->strings = p; break;
		case DT_VERSYM:   o->versions = p; break;
		case DT_GNU_HASH: o->gnu_hash = p; break;
		case DT_HASH:     o->sysv_hash = p; break;
		default:          break;
		}
	}
	return o->symbols && o->strings;
}

static void *address(const struct object *o, uint32_t i)
{
	return (void *)(o->base + o->symbols[i].st_value);
}

/* 2: the default version of a definition, or the one at the address that is asked for; 1: one that is only there for old programs;
 * 0: not this symbol. */
static int rank(const struct object *o, uint32_t i, const char *name, const void *at)
{
	const ElfW(Sym) *s = &o->symbols[i];
	if (s->st_shndx == SHN_UNDEF || !text_equal(o->strings + s->st_name, name))
		return 0;
	if (at)
		return address(o, i) == at ? 2 : 0;
	return o->versions && (o->versions[i] & 0x8000) ? 1 : 2;
}

static void *find_gnu(const struct object *o, const char *name, const void *at)
{
	const uint32_t *table = o->gnu_hash, n_buckets = table[0], first = table[1], bloom_words = table[2];
	const ElfW(Addr) *bloom = (const void *)(table + 4);
	const uint32_t *buckets = (const void *)(bloom + bloom_words), *chains = buckets + n_buckets;
	uint32_t hash = 5381;
	void *old = NULL;

	for (const char *s = name; *s; s++)
		hash = hash * 33 + (unsigned char)*s;
	uint32_t i = n_buckets ? buckets[hash % n_buckets] : 0;
	for (; i >= first && i; i++) {
		uint32_t h = chains[i - first];
		if ((h | 1) == (hash | 1)) {
			int found = rank(o, i, name, at);
			if (found == 2)
				return address(o, i);
			if (found)
				old = address(o, i);
		}
		if (h & 1)
			break;
	}
	return old;
}

static void *find_sysv(const struct object *o, const char *name, const void *at)
{
	const uint32_t *table = o->sysv_hash, n_buckets = table[0], *buckets = table + 2, *chains = buckets + n_buckets;
	uint32_t hash = 0;
	void *old = NULL;

	for (const char *s = name; *s; s++) {
		hash = (hash << 4) + (unsigned char)*s;
		hash ^= (hash >> 24) & 0xf0;
	}
	hash &= 0xfffffff;
	for (uint32_t i = n_buckets ? buckets[hash % n_buckets] : 0; i; i = chains[i]) {
		int found = rank(o, i, name, at);
		if (found == 2)
			return address(o, i);
		if (found)
			old = address(o, i);
	}
	return old;
}

/* at: NULL, or the address that the definition must have, whatever its version. */
static void *find_in(const struct link_map *m, const char *name, const void *at)
{
	struct object o;
	if (!read_object(m, &o))
		return NULL;
	return o.gnu_hash ? find_gnu(&o, name, at) : o.sysv_hash ? find_sysv(&o, name, at) : NULL;
}

static struct link_map *first_definer(const char *name, void **ret)
{
	for (struct link_map *m = own_object(); m && (m = m->l_next);) {
		void *found = find_in(m, name, NULL);
		if (found) {
			*ret = found;
			return m;
		}
	}
	return NULL;
}

void *find_real(const char *name)
{
	void *found = NULL;
	first_definer(name, &found);
	return found;
}

void *find_own(const char *name)
{
	const struct link_map *m = own_object();
	return m ? find_in(m, name, NULL) : NULL;
}

static const char *last_part(const char *file)
{
	const char *name = file;
	for (; *file; file++)
		if (*file == '/')
			name = file + 1;
	return name;
}

/* libc, a copy of it, or one of the libraries that it was split into before glibc 2.34. */
static bool is_libc(const struct link_map *m)
{
	static const char *const parts[] = { "librt.so", "libdl.so", "libresolv.so", "libutil.so" };
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (text_starts(last_part(m->l_name), parts[i]))
			return true;
	return find_in(m, "__errno_location", NULL) && find_in(m, "getenv", NULL);
}

enum real real_is(const char *name)
{
	void *found;
	const struct link_map *m = first_definer(name, &found);
	return !m ? REAL_NOWHERE : is_libc(m) ? REAL_IN_LIBC : REAL_IN_ANOTHER;
}

bool defined_by_libc(const char *name, const void *at)
{
	for (const struct link_map *m = first_object(); m; m = m->l_next)
		if (find_in(m, name, at) && is_libc(m))
			return true;
	return false;
}

int *errno_location(void)
{
	static int *(*location)(void);
	static int nowhere;
	if (!location)
		location = find_real("__errno_location");
	return location ? location() : &nowhere;
}

bool on_glibc(void)
{
	static int glibc = -1;
	if (glibc < 0)
		glibc = find_real("gnu_get_libc_version") != NULL;
	return glibc;
}
