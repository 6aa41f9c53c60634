/* The first touch: find the session's files beside our own, map the policy and the page of events, say hello. */
#include <sys/mman.h>

#include "preload/shim.h"

struct shim_state shim;

static int open_beside(const char *name, int flags)
{
	char path[sizeof shim.directory + 16];
	size_t n = strlen(shim.directory);
	memcpy(path, shim.directory, n);
	memcpy(path + n, name, strlen(name) + 1);
	return (int)sys_openat(AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0);
}

static long file_size(int fd)
{
	return raw6(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0, 0, 0);
}

static void *map_beside(const char *name, int flags, size_t least, size_t *ret_size)
{
	int fd = open_beside(name, flags);
	if (fd < 0)
		return NULL;
	long size = file_size(fd);
	void *p = NULL;
	if (size >= (long)least)
		p = sys_mmap((size_t)size, flags == O_RDWR ? PROT_READ | PROT_WRITE : PROT_READ,
			     flags == O_RDWR ? MAP_SHARED : MAP_PRIVATE, fd);
	sys_close(fd);
	*ret_size = (size_t)size;
	return p;
}

static bool find_directory(void)
{
	const char *file = own_file();
	size_t end = 0;
	for (size_t i = 0; file && file[i]; i++)
		if (file[i] == '/')
			end = i + 1;
	if (!end || file[0] != '/' || end >= sizeof shim.directory)
		return false;
	memcpy(shim.directory, file, end);
	shim.directory[end] = '\0';
	return true;
}

/*
 * A program that has the shim but not the policy would run unjudged: it does not run. The supervisor takes both away only when the
 * run is over.
 */
static void __attribute__((noreturn)) give_up(void)
{
	static const char words[] = "hurdle: this program cannot read its policy, so it does not run\n";
	raw6(SYS_write, 2, (long)words, sizeof words - 1, 0, 0, 0);
	raw6(SYS_exit_group, 125, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

/*
 * May run more than once, when threads meet here before the constructor did: both map the same files, the last one stays,
 * nothing breaks. errno is the caller's: only raw system calls are made.
 */
void shim_init(void)
{
	size_t size = 0;
	if (__atomic_load_n(&shim.ready, __ATOMIC_ACQUIRE))
		return;
	if (find_directory()) {
		const struct image *img = map_beside(WIRE_IMAGE, O_RDONLY, sizeof *img, &size);
		if (img && image_valid(img, size))
			shim.image = img;
		struct wire_page *page = map_beside(WIRE_EVENTS, O_RDWR, sizeof *page, &size);
		if (page && page->magic == WIRE_MAGIC && page->size == sizeof *page)
			shim.page = page;
	}
	if (!shim.image)
		give_up();
	if (!__atomic_exchange_n(&shim.ready, 1, __ATOMIC_ACQ_REL))
		say_hello();
}

/*
 * Where the command ends up, for harnesses that keep a shell's working directory from call to call. Noted at each change, since
 * dash, what is killed, and what starts another program in its place run no destructor.
 */
static void note_directory(void)
{
	struct wire_page *page = shim.page;
	if (!page || page->main_pid != sys_getpid())
		return;
	if (raw6(SYS_getcwd, (long)page->cwd, sizeof page->cwd, 0, 0, 0, 0) < 0)
		page->cwd[0] = '\0';
}

__attribute__((constructor)) static void construct(void)
{
	shim_init();
	say_hello(); /* once more: the first touch may have come before the environment was known */
	note_directory();
}

__attribute__((destructor)) static void leave(void)
{
	note_directory();
}

HANDLER(on_chdir)
{
	long result = invoke(f, r);
	if (result == 0)
		note_directory();
	return finish(f, r, result);
}
