/* Will the shim be in the program that is about to start? Looks at the file as the kernel and the loader will. */
#include <elf.h>
#include <link.h>

#include "platform/policy/wire.h"
#include "preload/coverage.h"
#include "preload/sys.h"

enum { INTERPRETER_DEPTH = 5, NOTE_SIZE = 512, LINE_SIZE = 256 };

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
		long got = read_at(fd, d, sizeof d, (long)(p->p_offset + i * sizeof *d));
		for (size_t j = 0; got > 0 && j < (size_t)got / sizeof *d; j++) {
			if (d[j].d_tag == DT_NULL)
				return false;
			if (d[j].d_tag == DT_SONAME)
				return true;
		}
	}
	return false;
}

static int elf_coverage(int fd, const ElfW(Ehdr) *e)
{
	ElfW(Phdr) table[8], dynamic = { 0 };
	bool interpreter = false;
	if (e->e_ident[EI_CLASS] != SHIM_ELF_CLASS || e->e_machine != SHIM_ELF_MACHINE || e->e_phentsize != sizeof *table)
		return UNCOVERED_OTHER_CLASS;
	for (unsigned i = 0; i < e->e_phnum && i < 64; i++) {
		if (i % 8 == 0) {
			unsigned n = e->e_phnum - i < 8 ? e->e_phnum - i : 8;
			if (read_at(fd, table, n * sizeof *table, (long)(e->e_phoff + i * sizeof *table)) != (long)(n * sizeof *table))
				return UNCOVERED_UNKNOWN_FORMAT;
		}
		const ElfW(Phdr) *p = &table[i % 8];
		interpreter |= p->p_type == PT_INTERP;
		if (p->p_type == PT_NOTE && has_go_note(fd, p))
			return UNCOVERED_GO;
		if (p->p_type == PT_DYNAMIC)
			dynamic = *p;
	}
	return interpreter || is_shared_object(fd, &dynamic) ? UNCOVERED_NONE : UNCOVERED_STATIC;
}

/* "#! interpreter argument" */
static int script_coverage(char *line, size_t len, int depth)
{
	char *s = line + 2, *end = line + len;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	char *name = s;
	while (s < end && *s != ' ' && *s != '\t' && *s != '\n' && *s)
		s++;
	if (s == end || s == name || depth >= INTERPRETER_DEPTH)
		return UNCOVERED_UNKNOWN_FORMAT;
	*s = '\0';
	long fd = sys_openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd == -EACCES ? UNCOVERED_UNREADABLE : UNCOVERED_NONE; /* missing: exec will say so */
	int reason = coverage((int)fd, depth + 1);
	sys_close((int)fd);
	return reason;
}

/* Set-id and file capabilities make the loader ignore LD_PRELOAD; with no_new_privs set-id is ignored itself. */
static int privilege_coverage(int fd)
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

int coverage(int fd, int depth)
{
	union { ElfW(Ehdr) elf; char text[LINE_SIZE]; } head;
	long n = read_at(fd, &head, sizeof head, 0);
	int reason = privilege_coverage(fd);
	if (reason)
		return reason;
	if (n >= (long)sizeof head.elf && memcmp(head.text, ELFMAG, SELFMAG) == 0)
		return elf_coverage(fd, &head.elf);
	if (n >= 2 && head.text[0] == '#' && head.text[1] == '!')
		return script_coverage(head.text, (size_t)n, depth);
	if (n >= 2 && head.text[0] == 'M' && head.text[1] == 'Z')
		return UNCOVERED_PE;
	return UNCOVERED_NONE; /* the kernel knows no such format: exec fails, or a shell reads it */
}
