/*
 * Ways of a dynamic program around a shim that is found by name, without a system call of its own.
 *   around WAY FILE [LIBRARY]   writes "hit" with an open that it looks for in one of these ways:
 *     handle     dlsym in libc itself               version   dlvsym there (glibc only)
 *     next       dlsym of RTLD_NEXT                 default   dlsym of RTLD_DEFAULT
 *     copy       in a second libc, loaded into a name space of its own (glibc only)
 *     base       likewise, but into the first name space
 *     file       in LIBRARY, a copy of libc         deep      that of LIBRARY's function hit(), which is bound deeply (glibc only)
 *     symbols    in libc's own table of symbols, which it reads itself
 *   around missing NAME    what dlsym says of a function that this libc may not have
 *   around list DIR        prints what nftw sees below DIR
 *   around abstract NAME   connects to an abstract unix socket
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef int open_function(const char *, int, ...);

static int write_with(open_function *found, const char *path)
{
	int fd;

	if (!found) {
		const char *why = dlerror();

		fprintf(stderr, "around: %s\n", why ? why : "not found, and dlerror() does not say why");
		return 77;
	}
	fd = found(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, "hit\n", 4) != 4) {
		perror("around");
		return 1;
	}
	return close(fd) < 0;
}

static open_function *from(void *libc)
{
	open_function *found = NULL;

	if (libc)
		*(void **)&found = dlsym(libc, "open");
	return found;
}

#ifdef __GLIBC__
static open_function *by_version(void *libc)
{
	open_function *found = NULL;

	*(void **)&found = dlvsym(libc, "open", sizeof(long) == 4 ? "GLIBC_2.0" : "GLIBC_2.2.5");
	if (!found) /* where glibc came later */
		*(void **)&found = dlvsym(libc, "open", "GLIBC_2.17");
	return found;
}

static open_function *in_name_space(Lmid_t id) { return from(dlmopen(id, "libc.so.6", RTLD_NOW)); }
static void *libc_itself(void) { return dlopen("libc.so.6", RTLD_NOW); }

static int deeply(const char *file, const char *path)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_DEEPBIND);
	open_function *hit;

	if (!library)
		return write_with(NULL, path);
	*(void **)&hit = dlsym(library, "hit");
	return write_with(hit, path);
}
#else
static open_function *by_version(void *libc) { return (void)libc, NULL; }
static open_function *in_name_space(int id) { return (void)id, NULL; }
static void *libc_itself(void) { return dlopen("libc.so", RTLD_NOW); }
static int deeply(const char *file, const char *path) { return (void)file, write_with(NULL, path); }
#define LM_ID_NEWLM -1
#define LM_ID_BASE 0
#endif

/* The object that has dlsym's and errno's functions is libc, and its symbols end where their names begin. */
static open_function *by_symbols(void)
{
	Dl_info libc;
	struct link_map *map = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;
	open_function *found = NULL;

	if (!dladdr((void *)(uintptr_t)getenv, &libc))
		return NULL;
	for (map = ((struct r_debug *)dlsym(RTLD_DEFAULT, "_r_debug") ? ((struct r_debug *)dlsym(RTLD_DEFAULT, "_r_debug"))->r_map : NULL); map; map = map->l_next)
		if ((void *)map->l_addr == libc.dli_fbase)
			break;
	for (const ElfW(Dyn) *d = map ? map->l_ld : NULL; d && d->d_tag != DT_NULL; d++) {
		ElfW(Addr) at = d->d_un.d_ptr < map->l_addr ? d->d_un.d_ptr + map->l_addr : d->d_un.d_ptr;

		if (d->d_tag == DT_SYMTAB)
			symbols = (const void *)at;
		if (d->d_tag == DT_STRTAB)
			names = (const void *)at;
	}
	for (const ElfW(Sym) *s = symbols; s && (const char *)s < names; s++)
		if (s->st_shndx != SHN_UNDEF && !strcmp(names + s->st_name, "open"))
			*(ElfW(Addr) *)&found = map->l_addr + s->st_value;
	return found;
}

static int missing(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	const char *why = dlerror();

	return printf("%s: %s\n", name, found ? "there" : why ? why : "not there, and dlerror() does not say why") < 0;
}

static int by_way(const char *way, const char *path, const char *library)
{
	if (!strcmp(way, "handle"))
		return write_with(from(libc_itself()), path);
	if (!strcmp(way, "version"))
		return write_with(by_version(libc_itself()), path);
	if (!strcmp(way, "next"))
		return write_with(from(RTLD_NEXT), path);
	if (!strcmp(way, "default")) {
		open_function *found;

		*(void **)&found = dlsym(RTLD_DEFAULT, "open");
		return write_with(found, path);
	}
	if (!strcmp(way, "copy"))
		return write_with(in_name_space(LM_ID_NEWLM), path);
	if (!strcmp(way, "base"))
		return write_with(in_name_space(LM_ID_BASE), path);
	if (!strcmp(way, "symbols"))
		return write_with(by_symbols(), path);
	if (library && !strcmp(way, "file"))
		return write_with(from(dlopen(library, RTLD_NOW | RTLD_LOCAL)), path);
	if (library && !strcmp(way, "deep"))
		return deeply(library, path);
	return 2;
}

static int print_name(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return puts(path) < 0;
}

static int connect_abstract(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);
	if (connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) < 0) {
		perror("around");
		return 1;
	}
	return 0;
}

int main(int argc, char *argv[])
{
	if (argc == 3 && !strcmp(argv[1], "missing"))
		return missing(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "list"))
		return nftw(argv[2], print_name, 16, FTW_PHYS);
	if (argc == 3 && !strcmp(argv[1], "abstract"))
		return connect_abstract(argv[2]);
	return argc < 3 ? 2 : by_way(argv[1], argv[2], argv[3]);
}
