/* Will the shim be in the program that is about to start? Looks at the file as the kernel and the loader will. */
#include <elf.h>

#include "preload/coverage.h"
#include "preload/sys.h"

enum { INTERPRETER_DEPTH = 5, NOTE_SIZE = 512, LINE_SIZE = 256, HEADERS_AT_ONCE = 12, HEADERS_MAX = 64, ENTRIES_AT_ONCE = 16, ENTRIES_MAX = 128 };

static long read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return raw_pread(fd, to, size, (int64_t)offset);
}

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* ---- programs of either word size, since each kind starts the other ---- */

struct program { bool wide; unsigned headers, header_size; uint64_t headers_at; };
struct part { uint32_t type; uint64_t offset, size; };

static struct part part_of(const struct program *p, const char *header)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;
	if (p->wide) {
		memcpy(&wide, header, sizeof wide);
		return (struct part){ wide.p_type, wide.p_offset, wide.p_filesz };
	}
	memcpy(&narrow, header, sizeof narrow);
	return (struct part){ narrow.p_type, narrow.p_offset, narrow.p_filesz };
}

/* A Go program makes its own system calls even where it is linked with a libc: its toolchain leaves a note. */
static __attribute__((noinline)) bool has_go_note(int fd, const struct part *p)
{
	char note[NOTE_SIZE];
	long got = read_at(fd, note, p->size < sizeof note ? (size_t)p->size : sizeof note, p->offset);
	for (size_t i = 0; got > 0 && i + sizeof(Elf64_Nhdr) + 4 <= (size_t)got;) {
		Elf64_Nhdr n; /* the same for every word size */
		memcpy(&n, note + i, sizeof n);
		if (n.n_namesz == 4 && memcmp(note + i + sizeof n, "Go\0", 4) == 0)
			return true;
		if (n.n_namesz > NOTE_SIZE || n.n_descsz > NOTE_SIZE)
			return false;
		i += sizeof n + align4(n.n_namesz) + align4(n.n_descsz);
	}
	return false;
}

/* The dynamic loader has no interpreter itself, but loads the shim all the same ("ld.so prog"): a shared object with a name. */
static bool is_shared_object(int fd, const struct program *program, const struct part *p)
{
	union { Elf64_Dyn wide[ENTRIES_AT_ONCE]; Elf32_Dyn narrow[ENTRIES_AT_ONCE]; } d = { .wide = { { 0 } } };
	const size_t size = program->wide ? sizeof *d.wide : sizeof *d.narrow;
	/* no division of 64 bits where words have 32: it would be a function of libgcc */
	const size_t n = p->size < ENTRIES_MAX * size ? (size_t)p->size / size : ENTRIES_MAX;
	for (size_t i = 0; i < n; i += ENTRIES_AT_ONCE) {
		size_t left = n - i;
		long got = read_at(fd, &d, (left < ENTRIES_AT_ONCE ? left : ENTRIES_AT_ONCE) * size, p->offset + i * size);
		for (size_t j = 0; got > 0 && j < (size_t)got / size; j++) {
			int64_t tag = program->wide ? d.wide[j].d_tag : d.narrow[j].d_tag;
			if (tag == DT_NULL)
				return false;
			if (tag == DT_SONAME)
				return true;
		}
	}
	return false;
}

struct seen { bool interpreter, go, dynamic; struct part dynamic_part; };

/* Some program headers at a time: one read for most programs. */
static bool see_headers(int fd, const struct program *program, unsigned first, unsigned n, struct seen *seen)
{
	char headers[HEADERS_AT_ONCE * sizeof(Elf64_Phdr)];
	size_t size = (size_t)n * program->header_size;
	if (read_at(fd, headers, size, program->headers_at + (uint64_t)first * program->header_size) != (long)size)
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct part p = part_of(program, headers + i * program->header_size);
		seen->interpreter |= p.type == PT_INTERP;
		seen->go |= p.type == PT_NOTE && has_go_note(fd, &p);
		if (p.type == PT_DYNAMIC) {
			seen->dynamic = true;
			seen->dynamic_part = p;
		}
	}
	return true;
}

static __attribute__((noinline)) int elf_coverage(int fd, const struct program *p)
{
	struct seen seen = { .dynamic = false };
	unsigned count = p->headers < HEADERS_MAX ? p->headers : HEADERS_MAX;
	for (unsigned i = 0; i < count; i += HEADERS_AT_ONCE)
		if (!see_headers(fd, p, i, count - i < HEADERS_AT_ONCE ? count - i : HEADERS_AT_ONCE, &seen))
			return UNCOVERED_UNKNOWN_FORMAT;
	if (seen.go)
		return UNCOVERED_GO;
	return seen.interpreter || (seen.dynamic && is_shared_object(fd, p, &seen.dynamic_part)) ? UNCOVERED_NONE : UNCOVERED_STATIC;
}

/* The start of a file of at least an Elf32_Ehdr: false, when it is of a kind that no shim is for. */
static bool program_of(const char *head, size_t len, unsigned shims, struct program *ret, enum shim_class *ret_class)
{
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;
	if (head[EI_CLASS] == ELFCLASS64 && len >= sizeof wide) {
		memcpy(&wide, head, sizeof wide);
		*ret = (struct program){ true, wide.e_phnum, wide.e_phentsize, wide.e_phoff };
		*ret_class = CLASS_64;
		return (shims & 1u << CLASS_64) && wide.e_machine == SHIM_MACHINE_64 && wide.e_phentsize == sizeof(Elf64_Phdr);
	}
	memcpy(&narrow, head, sizeof narrow);
	*ret = (struct program){ false, narrow.e_phnum, narrow.e_phentsize, narrow.e_phoff };
	*ret_class = CLASS_32;
	return (shims & 1u << CLASS_32) && head[EI_CLASS] == ELFCLASS32 && narrow.e_machine == SHIM_MACHINE_32 &&
	       narrow.e_phentsize == sizeof(Elf32_Phdr);
}

/* "#! interpreter argument": the name, ended in place (line has room for one byte more). NULL: none, or not all of it was read. */
static char *interpreter_of(char *line, size_t len)
{
	char *s = line + 2, *end = line + len;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	char *name = s;
	while (s < end && *s != ' ' && *s != '\t' && *s != '\n' && *s)
		s++;
	if (s == name || (s == end && len == LINE_SIZE))
		return NULL;
	*s = '\0';
	return name;
}

/* Set-id and file capabilities make the loader ignore LD_PRELOAD; with no_new_privs set-id is ignored itself. */
static __attribute__((noinline)) int privilege_coverage(int fd)
{
	struct look st = { 0 };
	char value[64];
	bool no_new_privs = raw6(SYS_prctl, 39 /* PR_GET_NO_NEW_PRIVS */, 0, 0, 0, 0, 0) == 1;
	if (sys_look(fd, "", 0, &st) == 0 && !no_new_privs &&
	    ((st.mode & 04000) || (st.mode & 02010) == 02010))
		return UNCOVERED_SET_ID;
	if (raw6(SYS_fgetxattr, fd, (long)"security.capability", (long)value, sizeof value, 0, 0) > 0 &&
	    raw6(SYS_geteuid, 0, 0, 0, 0, 0, 0) != 0)
		return UNCOVERED_CAPABILITY;
	return UNCOVERED_NONE;
}

/* A text that the kernel does not know: libc starts a shell for it (execvp, posix_spawnp), with the environment of the call. */
static __attribute__((noinline)) void class_of_shell(unsigned shims, enum shim_class *ret_class)
{
	char head[sizeof(Elf64_Ehdr)];
	struct program p;
	enum shim_class class;
	long fd = sys_openat(AT_FDCWD, "/bin/sh", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (read_at((int)fd, head, sizeof head, 0) == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 &&
	    program_of(head, sizeof head, shims, &p, &class))
		*ret_class = class;
	sys_close((int)fd);
}

static int coverage_of(int fd, unsigned shims, char head[LINE_SIZE + 1], char **ret_interpreter, enum shim_class *ret_class)
{
	struct program p;
	long n = read_at(fd, head, LINE_SIZE, 0);
	int reason = privilege_coverage(fd);
	if (reason)
		return reason;
	if (n >= (long)(head[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) && memcmp(head, ELFMAG, SELFMAG) == 0)
		return program_of(head, (size_t)n, shims, &p, ret_class) ? elf_coverage(fd, &p) : UNCOVERED_OTHER_CLASS;
	if (n >= 2 && head[0] == '#' && head[1] == '!') {
		*ret_interpreter = interpreter_of(head, (size_t)n);
		return *ret_interpreter ? UNCOVERED_NONE : UNCOVERED_UNKNOWN_FORMAT;
	}
	if (n >= 2 && head[0] == 'M' && head[1] == 'Z')
		return UNCOVERED_PE;
	class_of_shell(shims, ret_class);
	return UNCOVERED_NONE; /* exec fails, or a shell reads it */
}

/* A script's interpreter may be a script; the kernel follows five. */
int coverage(int fd, unsigned shims, enum shim_class *ret_class)
{
	char head[LINE_SIZE + 1];
	int reason = UNCOVERED_NONE;
	long next = fd;
	*ret_class = SHIM_CLASS;
	for (int depth = 0; depth <= INTERPRETER_DEPTH; depth++) {
		char *interpreter = NULL;
		reason = coverage_of((int)next, shims, head, &interpreter, ret_class);
		if (next != fd)
			sys_close((int)next);
		if (!interpreter)
			return reason;
		next = sys_openat(AT_FDCWD, interpreter, O_RDONLY | O_CLOEXEC, 0);
		if (next < 0)
			return next == -EACCES ? UNCOVERED_UNREADABLE : UNCOVERED_NONE; /* missing: exec will say so */
	}
	sys_close((int)next);
	return UNCOVERED_UNKNOWN_FORMAT;
}
