/* Will the shim be in the program that is about to start? Looks at the file as the kernel and the loader will. */
#include <elf.h>
#include <link.h>

#include "platform/policy/wire.h"
#include "preload/coverage.h"
#include "preload/sys.h"

enum { INTERPRETER_DEPTH = 5, NOTE_SIZE = 512, LINE_SIZE = 256, HEADERS_AT_ONCE = 12, HEADERS_MAX = 64 };

static long read_at(int fd, void *to, size_t size, long offset)
{
	return raw6(SYS_pread64, fd, (long)to, (long)size, offset, 0, 0);
}

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* A Go program makes its own system calls even where it is linked with a libc: its toolchain leaves a note. */
static __attribute__((noinline)) bool has_go_note(int fd, const ElfW(Phdr) *p)
{
	char note[NOTE_SIZE];
	long got = read_at(fd, note, p->p_filesz < sizeof note ? p->p_filesz : sizeof note, (long)p->p_offset);
	for (size_t i = 0; got > 0 && i + sizeof(ElfW(Nhdr)) + 4 <= (size_t)got;) {
		ElfW(Nhdr) n;
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
static bool is_shared_object(int fd, const ElfW(Phdr) *p)
{
	ElfW(Dyn) d[16];
	for (size_t i = 0; i < p->p_filesz / sizeof *d && i < 128; i += 16) {
		size_t left = p->p_filesz / sizeof *d - i;
		long got = read_at(fd, d, left < 16 ? left * sizeof *d : sizeof d, (long)(p->p_offset + i * sizeof *d));
		for (size_t j = 0; got > 0 && j < (size_t)got / sizeof *d; j++) {
			if (d[j].d_tag == DT_NULL)
				return false;
			if (d[j].d_tag == DT_SONAME)
				return true;
		}
	}
	return false;
}

struct seen { bool interpreter, go, dynamic; ElfW(Phdr) dynamic_header; };

/* Some program headers at a time: one read for most programs. */
static bool see_headers(int fd, const ElfW(Ehdr) *e, int first, int n, struct seen *seen)
{
	ElfW(Phdr) p[HEADERS_AT_ONCE];
	size_t size = (size_t)n * sizeof *p;
	if (read_at(fd, p, size, (long)(e->e_phoff + (size_t)first * sizeof *p)) != (long)size)
		return false;
	for (int i = 0; i < n; i++) {
		seen->interpreter |= p[i].p_type == PT_INTERP;
		seen->go |= p[i].p_type == PT_NOTE && has_go_note(fd, &p[i]);
		if (p[i].p_type == PT_DYNAMIC) {
			seen->dynamic = true;
			seen->dynamic_header = p[i];
		}
	}
	return true;
}

static __attribute__((noinline)) int elf_coverage(int fd, const ElfW(Ehdr) *e)
{
	struct seen seen = { .dynamic = false };
	int count = e->e_phnum < HEADERS_MAX ? e->e_phnum : HEADERS_MAX;
	if (e->e_ident[EI_CLASS] != SHIM_ELF_CLASS || e->e_machine != SHIM_ELF_MACHINE || e->e_phentsize != sizeof(ElfW(Phdr)))
		return UNCOVERED_OTHER_CLASS;
	for (int i = 0; i < count; i += HEADERS_AT_ONCE)
		if (!see_headers(fd, e, i, count - i < HEADERS_AT_ONCE ? count - i : HEADERS_AT_ONCE, &seen))
			return UNCOVERED_UNKNOWN_FORMAT;
	if (seen.go)
		return UNCOVERED_GO;
	return seen.interpreter || (seen.dynamic && is_shared_object(fd, &seen.dynamic_header)) ? UNCOVERED_NONE : UNCOVERED_STATIC;
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
	struct statx st;
	char value[64];
	bool no_new_privs = raw6(SYS_prctl, 39 /* PR_GET_NO_NEW_PRIVS */, 0, 0, 0, 0, 0) == 1;
	if (raw6(SYS_statx, fd, (long)"", AT_EMPTY_PATH, STATX_MODE, (long)&st, 0) == 0 && !no_new_privs &&
	    ((st.stx_mode & 04000) || (st.stx_mode & 02010) == 02010))
		return UNCOVERED_SET_ID;
	if (raw6(SYS_fgetxattr, fd, (long)"security.capability", (long)value, sizeof value, 0, 0) > 0 &&
	    raw6(SYS_geteuid, 0, 0, 0, 0, 0, 0) != 0)
		return UNCOVERED_CAPABILITY;
	return UNCOVERED_NONE;
}

static int coverage_of(int fd, char head[LINE_SIZE + 1], char **ret_interpreter)
{
	long n = read_at(fd, head, LINE_SIZE, 0);
	int reason = privilege_coverage(fd);
	if (reason)
		return reason;
	if (n >= (long)sizeof(ElfW(Ehdr)) && memcmp(head, ELFMAG, SELFMAG) == 0)
		return elf_coverage(fd, (const void *)head);
	if (n >= 2 && head[0] == '#' && head[1] == '!') {
		*ret_interpreter = interpreter_of(head, (size_t)n);
		return *ret_interpreter ? UNCOVERED_NONE : UNCOVERED_UNKNOWN_FORMAT;
	}
	if (n >= 2 && head[0] == 'M' && head[1] == 'Z')
		return UNCOVERED_PE;
	return UNCOVERED_NONE; /* the kernel knows no such format: exec fails, or a shell reads it */
}

/* A script's interpreter may be a script; the kernel follows five. */
int coverage(int fd)
{
	_Alignas(ElfW(Ehdr)) char head[LINE_SIZE + 1];
	int reason = UNCOVERED_NONE;
	long next = fd;
	for (int depth = 0; depth <= INTERPRETER_DEPTH; depth++) {
		char *interpreter = NULL;
		reason = coverage_of((int)next, head, &interpreter);
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
