/* Names of things: text, what the kernel says a descriptor is called, and places held open against change. */
#include <sys/mman.h>

#include "preload/shim.h"

void text_init(struct text *t)
{
	t->s = t->small;
	t->len = 0;
	t->cap = sizeof t->small;
	t->small[0] = '\0';
}

void text_release(struct text *t)
{
	if (t->cap == TEXT_LARGE)
		sys_munmap(t->s, TEXT_LARGE);
	t->s = NULL;
	t->cap = 0;
}

int text_room(struct text *t, size_t need)
{
	if (need < t->cap)
		return 0;
	if (need >= TEXT_LARGE || t->cap == TEXT_LARGE)
		return -ENAMETOOLONG;
	char *large = sys_mmap(TEXT_LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!large)
		return -ENOMEM;
	memcpy(large, t->s, t->len + 1);
	t->s = large;
	t->cap = TEXT_LARGE;
	return 0;
}

int text_add(struct text *t, const char *s, size_t n)
{
	int r = text_room(t, t->len + n + 1);
	if (r < 0)
		return r;
	memcpy(t->s + t->len, s, n);
	t->len += (uint32_t)n;
	t->s[t->len] = '\0';
	return 0;
}

int text_set(struct text *t, const char *s, size_t n)
{
	t->len = 0;
	return text_add(t, s, n);
}

static int text_add_component(struct text *t, const char *s, size_t n)
{
	int r = t->len == 1 && t->s[0] == '/' ? 0 : text_add(t, "/", 1);
	return r < 0 ? r : text_add(t, s, n);
}

/* A thread may have a descriptor table of its own; before Linux 3.17 there was no name for it. */
void fd_path(char *to, int fd)
{
	static const char thread[] = "/proc/thread-self/fd/", process[] = "/proc/self/fd/";
	static int known; /* 1: thread, 2: process */
	if (!known)
		known = raw6(SYS_faccessat, AT_FDCWD, (long)thread, 0, 0, 0, 0) == 0 ? 1 : 2;
	size_t n = known == 1 ? sizeof thread - 1 : sizeof process - 1;
	memcpy(to, known == 1 ? thread : process, n);
	text_number(to + n, (unsigned long)fd);
}

static bool ends_deleted(const struct text *t)
{
	return t->len > 10 && memcmp(t->s + t->len - 10, " (deleted)", 10) == 0;
}

static bool no_links_left(int fd)
{
	struct look st = { 0 };
	return sys_look(fd, "", 0, &st) == 0 && st.links == 0;
}

int descriptor_name(int fd, struct text *t)
{
	char path[40];
	fd_path(path, fd);
	long n = sys_readlinkat(AT_FDCWD, path, t->s, t->cap);
	if (n == (long)t->cap) {
		int r = text_room(t, TEXT_LARGE - 1);
		if (r < 0)
			return r;
		n = sys_readlinkat(AT_FDCWD, path, t->s, t->cap);
	}
	if (n <= 0)
		return n < 0 ? (int)n : -ENOENT;
	if (n == (long)t->cap)
		return -ENAMETOOLONG;
	t->len = (uint32_t)n;
	t->s[n] = '\0';
	if (t->s[0] != '/')
		return text_starts(t->s, "(unreachable)") ? -ENOENT : 0;
	if (text_starts(t->s, "/memfd:") || (ends_deleted(t) && no_links_left(fd)))
		return 0;
	return 1;
}

/* ---- lexical ---- */

static int start_name(int dirfd, struct text *t)
{
	if (dirfd != AT_FDCWD)
		return descriptor_name(dirfd, t) == 1 && !ends_deleted(t);
	long n = raw6(SYS_getcwd, (long)t->s, t->cap, 0, 0, 0, 0);
	if (n == -ERANGE && text_room(t, TEXT_LARGE - 1) == 0)
		n = raw6(SYS_getcwd, (long)t->s, t->cap, 0, 0, 0, 0);
	if (n <= 1 || t->s[0] != '/')
		return 0;
	t->len = (uint32_t)n - 1;
	return 1;
}

/* An absolute path that is its own normal form needs no copy. */
static bool borrow(struct text *t, const char *path)
{
	size_t n = 1;
	for (; path[n]; n++)
		if (path[n - 1] == '/' && (path[n] == '/' || path[n] == '.'))
			return false;
	if (n > 1 && path[n - 1] == '/')
		return false;
	t->s = (char *)(uintptr_t)path;
	t->len = (uint32_t)n;
	t->cap = 0;
	return true;
}

static void own_copy(struct text *t)
{
	const char *s = t->s;
	uint32_t n = t->len;
	if (t->cap)
		return;
	text_init(t);
	text_set(t, s, n);
}

/* /bin -> /usr/bin and its kind. */
static bool apply_alias(struct text *t)
{
	const struct image *img = shim.image;
	const struct image_alias *a = (const void *)((const char *)img + img->aliases);
	if (!(img->alias_initials >> (t->s[1] & 31) & 1))
		return false;
	for (uint32_t i = 0; i < img->n_aliases; i++) {
		uint32_t n = a[i].from_len;
		const char *from = (const char *)img + a[i].from;
		if (from[1] != t->s[1] || t->len < n || (t->len > n && t->s[n] != '/') || memcmp(t->s, from, n) != 0)
			continue;
		own_copy(t);
		uint32_t to = a[i].to_len, rest = t->len - n + 1; /* with the NUL */
		if (text_room(t, to + rest) < 0)
			return false;
		if (to > n)
			for (uint32_t j = rest; j-- > 0;)
				t->s[to + j] = t->s[n + j];
		else
			for (uint32_t j = 0; j < rest; j++)
				t->s[to + j] = t->s[n + j];
		memcpy(t->s, (const char *)img + a[i].to, to);
		t->len = to + rest - 1;
		return true;
	}
	return false;
}

int lexical_name(int dirfd, const char *path, struct text *t, const char **ret_path)
{
	bool absolute = path[0] == '/';
	if (absolute && borrow(t, path)) {
		*ret_path = apply_alias(t) ? t->s : path;
		return 1;
	}
	if (absolute)
		text_set(t, "/", 1);
	else if (!start_name(dirfd, t))
		return 0;
	for (const char *s = path; *s;) {
		while (*s == '/')
			s++;
		const char *end = s;
		while (*end && *end != '/')
			end++;
		size_t n = (size_t)(end - s);
		if (n == 2 && s[0] == '.' && s[1] == '.')
			return 0;
		if (n && !(n == 1 && s[0] == '.') && text_add_component(t, s, n) < 0)
			return 0;
		s = end;
	}
	*ret_path = path;
	if (absolute && apply_alias(t)) {
		/* the trailing slash says "must be a directory": keep the kernel's word on that */
		size_t n = strlen(path);
		if (path[n - 1] == '/' || (path[n - 1] == '.' && n > 1 && path[n - 2] == '/'))
			return 0;
		*ret_path = t->s;
	}
	return 1;
}

/* ---- places ---- */

void place_release(struct place *p)
{
	if (p->owned)
		sys_close(p->anchor);
	p->owned = false;
	p->anchor = -1;
	text_release(&p->rest);
	text_release(&p->name);
}

/* Where the last component begins in s; -1 for paths that end in a dot component or are all slashes. */
static long split(const char *s, size_t len)
{
	size_t end = len;
	while (end && s[end - 1] == '/')
		end--;
	size_t start = end;
	while (start && s[start - 1] != '/')
		start--;
	size_t n = end - start;
	if (n == 0 || (n == 1 && s[start] == '.') || (n == 2 && s[start] == '.' && s[start + 1] == '.'))
		return -1;
	return (long)start;
}

static long open_directory(int dirfd, const char *path)
{
	return sys_openat(dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Anchor on the directory at path, its name proven by an open that crosses no symlink, else asked of the kernel. */
static int anchor_directory(struct place *p, int dirfd, const char *path)
{
	const char *proven;
	if (shim.image && (shim.image->flags & IMAGE_OPENAT2) && !shim.no_openat2 && lexical_name(dirfd, path, &p->name, &proven) == 1) {
		long fd = sys_openat2(dirfd, proven, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
		if (fd >= 0) {
			p->anchor = (int)fd;
			p->owned = true;
			return 0;
		}
	}
	long fd = open_directory(dirfd, path);
	if (fd < 0)
		return (int)fd;
	p->anchor = (int)fd;
	p->owned = true;
	int r = descriptor_name(p->anchor, &p->name);
	if (r == 0 && p->whole) { /* a working directory that was removed: nothing can be in it */
		p->name.len = 0;
		p->name.s[0] = '\0';
		return 0;
	}
	return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

/*
 * Making and removing names needs no descriptor, so it works for a program that has used up all of its own, and for us too: the
 * parents are looked at one by one, and the real call looks them up again. The caller's whole path is in rest, cut in two.
 */
static int anchor_nothing(struct place *p, int dirfd, size_t start)
{
	const char *unused;
	char *path = p->rest.s;
	memcpy(path + start, path + start + 1, p->rest.len - start);
	if (path[p->rest.len - 2] == '/' || lexical_name(dirfd, path, &p->name, &unused) != 1 || unused != path)
		return -EMFILE;
	for (size_t i = 1; path[i]; i++) {
		char byte;
		if (path[i] != '/' || path[i - 1] == '/')
			continue;
		path[i] = '\0';
		long n = sys_readlinkat(dirfd, path, &byte, 1);
		path[i] = '/';
		if (n != -EINVAL)
			return n < 0 ? (int)n : -EMFILE;
	}
	p->anchor = dirfd;
	p->base = path;
	if (!p->name.cap) /* borrowed, from what we may still cut up */
		own_copy(&p->name);
	return 0;
}

/* A name in the working directory needs no descriptor: the caller's own start is the anchor. */
static bool anchor_here(struct place *p, int dirfd)
{
	p->anchor = dirfd;
	return start_name(dirfd, &p->name);
}

int place_open(struct place *p, int dirfd, const char *path)
{
	size_t len = strlen(path);
	text_init(&p->rest);
	text_init(&p->name);
	p->anchor = -1;
	p->owned = p->whole = false;
	if (len >= 4096) /* PATH_MAX counts the NUL */
		return -ENAMETOOLONG;

	long start = split(path, len);
	if (start < 0) {
		p->whole = true;
		p->base = ".";
		return anchor_directory(p, dirfd, path);
	}
	/* parent, NUL, base: a copy, since a link's text does not outlive its resolution */
	int r = text_set(&p->rest, path, (size_t)start);
	if (r == 0)
		r = text_add(&p->rest, "", 1);
	if (r == 0)
		r = text_add(&p->rest, path + start, len - (size_t)start);
	if (r < 0)
		return r;
	p->base = p->rest.s + start + 1;
	if (start > 0)
		r = anchor_directory(p, dirfd, p->rest.s);
	else if (!anchor_here(p, dirfd))
		r = anchor_directory(p, dirfd, ".");
	if (start > 0 && (r == -EMFILE || r == -ENFILE))
		return anchor_nothing(p, dirfd, (size_t)start);
	if (r < 0)
		return r;
	size_t n = strlen(p->base);
	while (p->base[n - 1] == '/')
		n--;
	return text_add_component(&p->name, p->base, n);
}

void target_release(struct target *t)
{
	if (t->object >= 0)
		sys_close(t->object);
	t->object = -1;
	place_release(&t->place);
}

static bool in_proc(const struct text *name)
{
	return text_starts(name->s, "/proc/");
}

/* The object behind a link of /proc is what the kernel follows it to, not what the link's text says. */
static int open_magic(struct target *t)
{
	long fd = sys_openat(t->place.anchor, t->place.base, O_PATH | O_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	t->object = (int)fd;
	t->exists = t->magic = true;
	int r = descriptor_name(t->object, &t->place.name);
	if (r == 0)
		t->place.name.len = 0; /* no file of a file system: nothing to judge */
	return r < 0 ? r : 0;
}

static int open_whole(struct target *t)
{
	long fd = sys_openat(t->place.anchor, ".", O_PATH | O_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	t->object = (int)fd;
	t->exists = true;
	return 0;
}

/* One more link: its text is resolved from the directory that holds it. */
static int follow_link(struct target *t, struct text *link)
{
	int held = t->place.owned ? t->place.anchor : -1, dirfd = t->place.anchor;
	t->place.owned = false;
	place_release(&t->place);
	int r = place_open(&t->place, dirfd, link->s);
	if (held >= 0 && !(r == 0 && t->place.anchor == held))
		sys_close(held);
	else if (held >= 0)
		t->place.owned = true;
	return r;
}

int target_open(struct target *t, int dirfd, const char *path, bool follow)
{
	TEXT(link);
	int r = place_open(&t->place, dirfd, path);
	for (int round = 0; r == 0; round++) {
		if (t->place.whole)
			return open_whole(t);
		bool slash = t->place.base[strlen(t->place.base) - 1] == '/';
		if (slash && t->creating)
			return -EISDIR;
		long fd = sys_openat(t->place.anchor, t->place.base, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
		if ((fd == -EMFILE || fd == -ENFILE) && !slash && sys_readlinkat(t->place.anchor, t->place.base, link.s, 1) == -EINVAL) {
			t->exists = true; /* no symlink; to be reached by its name */
			return 0;
		}
		if (fd == -ENOENT || (fd == -ENOTDIR && slash)) {
			t->exists = fd != -ENOENT;
			return t->exists ? (int)fd : 0;
		}
		if (fd < 0)
			return (int)fd;
		long n = sys_readlinkat((int)fd, "", link.s, link.cap);
		if (n < 0 && !slash) { /* no symlink: EINVAL, or ENOENT for other kinds */
			t->object = (int)fd;
			t->exists = true;
			return 0;
		}
		if (n < 0 || (!follow && !slash)) {
			t->object = (int)fd;
			t->exists = true;
			if (slash) /* the kernel has followed a link here: ask for the name */
				r = descriptor_name(t->object, &t->place.name) < 0 ? -ENOENT : 0;
			return r;
		}
		sys_close((int)fd);
		if (in_proc(&t->place.name))
			return open_magic(t);
		if (round == 40)
			return -ELOOP;
		if (n == (long)link.cap) {
			r = text_room(&link, TEXT_LARGE - 1);
			n = r < 0 ? r : sys_readlinkat(t->place.anchor, t->place.base, link.s, link.cap);
			if (n < 0)
				return (int)n;
		}
		link.len = (uint32_t)n;
		link.s[n] = '\0';
		r = follow_link(t, &link);
	}
	return r;
}
