/*
 * Starting programs, the parts of the shim that only look: will it be in a program (coverage.c), what environment does the
 * program get (environment.c), how does fopen say what it wants (open.c), and where is the real function (symbols.c).
 */
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>

#include "platform/base/cleanup.h"
#include "tests/unit/policy_help.h"

#include "preload/shim.h"

enum { BOTH = 1 << CLASS_64 | 1 << CLASS_32 };
#include "preload/environment.c"
#include "preload/open.c"

TestSuite(shim_programs, .timeout = 60);

/* ---- crafted programs ---- */

struct program {
	Elf64_Ehdr e;
	Elf64_Phdr p[4];
	struct { Elf64_Nhdr n; char name[8]; uint32_t rest[4]; } note;
	Elf64_Dyn dyn[4];
};

static struct program sound(void)
{
	struct program p = {
		.e = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN, .e_machine = SHIM_MACHINE_64,
			.e_phoff = offsetof(struct program, p), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 4, .e_ehsize = sizeof(Elf64_Ehdr),
		},
		.p[0] = { .p_type = PT_INTERP },
		.p[1] = { .p_type = PT_LOAD },
		.p[2] = { .p_type = PT_NOTE, .p_offset = offsetof(struct program, note), .p_filesz = sizeof(p.note) },
		.p[3] = { .p_type = PT_DYNAMIC, .p_offset = offsetof(struct program, dyn), .p_filesz = sizeof(p.dyn) },
		.note = { .n = { .n_namesz = 4, .n_descsz = 16, .n_type = 3 }, .name = "GNU" },
		.dyn = { { .d_tag = DT_HASH }, { .d_tag = DT_NULL }, { .d_tag = DT_SONAME } },
	};
	return p;
}

static int covers_with(unsigned shims, const void *bytes, size_t n, enum shim_class *ret_class)
{
	int fd = memfd_create("program", MFD_CLOEXEC), reason;

	cr_assert(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	reason = coverage(fd, shims, ret_class);
	close(fd);
	return reason;
}

static int covers(const void *bytes, size_t n)
{
	enum shim_class unused;

	return covers_with(BOTH, bytes, n, &unused);
}

#define CRAFT(change, want) \
	do { \
		struct program x = sound(); \
		change; \
		cr_expect_eq(covers(&x, sizeof(x)), want, "%s is %d", #change, covers(&x, sizeof(x))); \
	} while (0)

Test(shim_programs, coverage_of_headers)
{
	CRAFT((void)x, UNCOVERED_NONE);
	CRAFT(x.p[0].p_type = PT_NULL, UNCOVERED_STATIC);
	CRAFT(x.p[0].p_type = PT_NULL; x.dyn[1].d_tag = DT_DEBUG, UNCOVERED_NONE);
	CRAFT(x.p[0].p_type = PT_NULL; x.dyn[1].d_tag = DT_DEBUG; x.p[3].p_filesz = 32, UNCOVERED_STATIC);
	CRAFT(x.p[0].p_type = PT_NULL; x.p[3].p_offset = UINT64_MAX, UNCOVERED_STATIC);
	CRAFT(x.p[0].p_type = PT_NULL; x.p[3].p_offset = INT64_MAX - 7; x.p[3].p_filesz = UINT64_MAX, UNCOVERED_STATIC);
	CRAFT(x.e.e_phnum = 0, UNCOVERED_STATIC);
	CRAFT(x.e.e_phnum = 65535, UNCOVERED_UNKNOWN_FORMAT);
	CRAFT(x.e.e_phoff = UINT64_MAX, UNCOVERED_UNKNOWN_FORMAT);
	CRAFT(x.e.e_phoff = INT64_MAX, UNCOVERED_UNKNOWN_FORMAT);
	CRAFT(x.e.e_phoff = INT64_MAX - 100, UNCOVERED_UNKNOWN_FORMAT);
	CRAFT(x.e.e_phoff = sizeof(x), UNCOVERED_UNKNOWN_FORMAT);
	CRAFT(x.e.e_phentsize = 32, UNCOVERED_OTHER_CLASS);
	CRAFT(x.e.e_phentsize = 0, UNCOVERED_OTHER_CLASS);
	CRAFT(x.e.e_ident[EI_CLASS] = ELFCLASS32, UNCOVERED_OTHER_CLASS);
	CRAFT(x.e.e_machine = EM_ARM, UNCOVERED_OTHER_CLASS);
	CRAFT(memcpy(x.note.name, "Go\0", 4), UNCOVERED_GO);
	CRAFT(memcpy(x.note.name, "Go\0", 4); x.p[0].p_type = PT_NULL, UNCOVERED_GO);
	CRAFT(memcpy(x.note.name, "Go\0", 4); x.p[2].p_filesz = 15, UNCOVERED_NONE);
	CRAFT(memcpy(x.note.name, "Go\0", 4); x.p[2].p_filesz = UINT64_MAX, UNCOVERED_GO);
	CRAFT(memcpy(x.note.name, "Go\0", 4); x.p[2].p_offset = UINT64_MAX, UNCOVERED_NONE);
	CRAFT(x.note.n.n_namesz = UINT32_MAX, UNCOVERED_NONE);
	CRAFT(x.note.n.n_descsz = UINT32_MAX, UNCOVERED_NONE);
	CRAFT(x.note.n.n_namesz = x.note.n.n_descsz = 0, UNCOVERED_NONE);
	/* after a GNU note of 16 bytes */
	CRAFT(x.note.n.n_descsz = 0; x.note.rest[0] = 0; x.note.rest[1] = 0, UNCOVERED_NONE);
}

struct narrow_program {
	Elf32_Ehdr e;
	Elf32_Phdr p[4];
	struct { Elf32_Nhdr n; char name[8]; uint32_t rest[4]; } note;
	Elf32_Dyn dyn[4];
};

static struct narrow_program sound_narrow(void)
{
	struct narrow_program p = {
		.e = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN, .e_machine = SHIM_MACHINE_32,
			.e_phoff = offsetof(struct narrow_program, p), .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 4, .e_ehsize = sizeof(Elf32_Ehdr),
		},
		.p[0] = { .p_type = PT_INTERP },
		.p[1] = { .p_type = PT_LOAD },
		.p[2] = { .p_type = PT_NOTE, .p_offset = offsetof(struct narrow_program, note), .p_filesz = sizeof(p.note) },
		.p[3] = { .p_type = PT_DYNAMIC, .p_offset = offsetof(struct narrow_program, dyn), .p_filesz = sizeof(p.dyn) },
		.note = { .n = { .n_namesz = 4, .n_descsz = 16, .n_type = 3 }, .name = "GNU" },
		.dyn = { { .d_tag = DT_HASH }, { .d_tag = DT_NULL }, { .d_tag = DT_SONAME } },
	};
	return p;
}

#define CRAFT_NARROW(change, want) \
	do { \
		struct narrow_program x = sound_narrow(); \
		change; \
		cr_expect_eq(covers(&x, sizeof(x)), want, "%s is %d", #change, covers(&x, sizeof(x))); \
	} while (0)

Test(shim_programs, coverage_of_32_bit_headers)
{
	CRAFT_NARROW((void)x, UNCOVERED_NONE);
	CRAFT_NARROW(x.p[0].p_type = PT_NULL, UNCOVERED_STATIC);
	CRAFT_NARROW(x.p[0].p_type = PT_NULL; x.dyn[1].d_tag = DT_DEBUG, UNCOVERED_NONE);
	CRAFT_NARROW(x.p[0].p_type = PT_NULL; x.dyn[1].d_tag = DT_DEBUG; x.p[3].p_filesz = 16, UNCOVERED_STATIC);
	CRAFT_NARROW(x.p[0].p_type = PT_NULL; x.p[3].p_offset = x.p[3].p_filesz = UINT32_MAX, UNCOVERED_STATIC);
	CRAFT_NARROW(x.e.e_phnum = 0, UNCOVERED_STATIC);
	CRAFT_NARROW(x.e.e_phnum = 65535, UNCOVERED_UNKNOWN_FORMAT);
	CRAFT_NARROW(x.e.e_phoff = UINT32_MAX, UNCOVERED_UNKNOWN_FORMAT);
	CRAFT_NARROW(x.e.e_phentsize = sizeof(Elf64_Phdr), UNCOVERED_OTHER_CLASS);
	CRAFT_NARROW(x.e.e_ident[EI_CLASS] = ELFCLASSNONE, UNCOVERED_OTHER_CLASS);
	CRAFT_NARROW(x.e.e_machine = EM_MIPS, UNCOVERED_OTHER_CLASS);
	CRAFT_NARROW(x.e.e_machine = SHIM_MACHINE_64, UNCOVERED_OTHER_CLASS); /* x32 */
	CRAFT_NARROW(memcpy(x.note.name, "Go\0", 4), UNCOVERED_GO);
	CRAFT_NARROW(memcpy(x.note.name, "Go\0", 4); x.p[2].p_offset = UINT32_MAX, UNCOVERED_NONE);
}

Test(shim_programs, coverage_by_the_shims_that_there_are)
{
	struct program wide = sound();
	struct narrow_program narrow = sound_narrow();
	enum shim_class class;

	for (unsigned shims = 0; shims <= BOTH; shims++) {
		cr_assert_eq(covers_with(shims, &wide, sizeof(wide), &class), shims & 1 << CLASS_64 ? UNCOVERED_NONE : UNCOVERED_OTHER_CLASS, "%u", shims);
		cr_assert_eq(class, CLASS_64);
		cr_assert_eq(covers_with(shims, &narrow, sizeof(narrow), &class), shims & 1 << CLASS_32 ? UNCOVERED_NONE : UNCOVERED_OTHER_CLASS, "%u", shims);
		cr_assert_eq(class, CLASS_32);
	}
	/* what only a shell can read takes the shell's */
	cr_assert_eq(covers_with(BOTH, "echo", 4, &class), UNCOVERED_NONE);
	cr_assert_eq(covers_with(1u << SHIM_CLASS, "echo", 4, &class), UNCOVERED_NONE);
	cr_assert_eq(class, SHIM_CLASS);
}

Test(shim_programs, coverage_of_what_is_cut_short)
{
	const struct program p = sound();

	for (size_t n = 0; n < sizeof(p); n++) {
		int reason = covers(&p, n);

		cr_assert(reason == UNCOVERED_NONE || reason == UNCOVERED_UNKNOWN_FORMAT, "%zu bytes: %d", n, reason);
		if (n >= sizeof(p.e) && n < offsetof(struct program, note))
			cr_assert_eq(reason, UNCOVERED_UNKNOWN_FORMAT, "%zu bytes", n);
	}
}

Test(shim_programs, coverage_of_many_headers)
{
	static struct { Elf64_Ehdr e; Elf64_Phdr p[80]; } x;

	x.e = sound().e;
	x.e.e_phoff = sizeof(x.e);
	x.e.e_phnum = 80;
	cr_assert_eq(covers(&x, sizeof(x)), UNCOVERED_STATIC);
	for (int i = 0; i < 64; i++) {
		x.p[i].p_type = PT_INTERP;
		cr_assert_eq(covers(&x, sizeof(x)), UNCOVERED_NONE, "header %d", i);
		x.p[i].p_type = PT_NULL;
	}
}

Test(shim_programs, coverage_of_scripts)
{
	static const struct { const char *text; int reason; } rows[] = {
		{ "", UNCOVERED_NONE }, { "echo", UNCOVERED_NONE }, { "#", UNCOVERED_NONE }, { "#!", UNCOVERED_UNKNOWN_FORMAT },
		{ "#!\n", UNCOVERED_UNKNOWN_FORMAT }, { "#! \t \n", UNCOVERED_UNKNOWN_FORMAT }, { "#!/bin/sh\n", UNCOVERED_NONE },
		{ "#!/bin/sh", UNCOVERED_NONE }, { "#! \t/bin/sh -e\necho", UNCOVERED_NONE }, { "#!/nonexistent/x\n", UNCOVERED_NONE },
		{ "MZ", UNCOVERED_PE }, { "M", UNCOVERED_NONE }, { "\177ELF", UNCOVERED_NONE },
	};
	char line[400] = "#!/";

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(covers(rows[i].text, strlen(rows[i].text)), rows[i].reason, "%s: %d", rows[i].text, covers(rows[i].text, strlen(rows[i].text)));
	memset(line + 3, 'x', sizeof(line) - 3);
	cr_assert_eq(covers(line, sizeof(line)), UNCOVERED_UNKNOWN_FORMAT, "longer than the kernel reads");
	cr_assert_eq(covers(line, 256), UNCOVERED_UNKNOWN_FORMAT);
	cr_assert_eq(covers(line, 255), UNCOVERED_NONE, "no such file");
}

Test(shim_programs, coverage_through_interpreters)
{
	struct scratch s;
	struct program fixed = sound();
	enum shim_class class;

	scratch_begin(&s);
	fixed.p[0].p_type = PT_NULL;
	FILE *f = fopen(in(&s, "@/cwd/p0"), "w");
	cr_assert(f && fwrite(&fixed, sizeof(fixed), 1, f) == 1 && fclose(f) == 0);
	for (int i = 1; i < 9; i++) {
		_cleanup_free_ char *name = strf("@/cwd/p%d", i), *line = strf("#!%s/cwd/p%d\n", s.root, i - 1);

		make_file(&s, name, line);
		_cleanup_close_ int fd = open(in(&s, name), O_RDONLY | O_CLOEXEC);
		cr_assert_eq(coverage(fd, BOTH, &class), i <= 5 ? UNCOVERED_STATIC : UNCOVERED_UNKNOWN_FORMAT, "through %d scripts", i);
	}
	make_file(&s, "@/cwd/loop", in(&s, "#!@/cwd/loop\n"));
	_cleanup_close_ int fd = open(in(&s, "@/cwd/loop"), O_RDONLY | O_CLOEXEC);
	int free_before = dup(fd);
	close(free_before);
	cr_assert_eq(coverage(fd, BOTH, &class), UNCOVERED_UNKNOWN_FORMAT, "its own interpreter");
	_cleanup_close_ int free_after = dup(fd);
	cr_assert_eq(free_after, free_before, "descriptors stay open");
	scratch_end(&s);
}

/* ---- the mode of fopen ---- */

Test(shim_programs, modes_of_fopen)
{
	enum { W = O_WRONLY | O_CREAT | O_TRUNC, A = O_WRONLY | O_CREAT | O_APPEND };
	static const struct { const char *mode; int flags; } rows[] = {
		{ "r", O_RDONLY }, { "rb", O_RDONLY }, { "re", O_RDONLY }, { "rm", O_RDONLY }, { "rt", O_RDONLY }, { "r,ccs=UTF-8", O_RDONLY },
		{ "r,ccs=a+b", O_RDWR }, { "r+", O_RDWR }, { "rb+", O_RDWR }, { "r+b", O_RDWR }, { "rbe+", O_RDWR }, { "r+,ccs=x", O_RDWR },
		{ "w", W }, { "wb", W }, { "wx", W | O_EXCL }, { "w+", O_RDWR | O_CREAT | O_TRUNC }, { "wb+", O_RDWR | O_CREAT | O_TRUNC },
		{ "w+x", O_RDWR | O_CREAT | O_TRUNC | O_EXCL }, { "wbbbbbx", W | O_EXCL }, { "wbbbbbbx", W },
		{ "w,ccs=UTF-8x", W }, { "rbbbbbbb+", O_RDWR }, { "a", A }, { "ab", A }, { "a+", O_RDWR | O_CREAT | O_APPEND },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(mode_flags(rows[i].mode), rows[i].flags, "%s: %o", rows[i].mode, mode_flags(rows[i].mode));
	cr_assert(wants_write(O_RDONLY | O_CREAT) && wants_write(O_RDONLY | O_TRUNC) && wants_write(O_ACCMODE) && wants_write(O_TMPFILE | O_RDWR));
	cr_assert(!wants_write(O_RDONLY | O_DIRECTORY) && !wants_write(O_RDONLY | O_EXCL) && wants_read(O_RDWR) && !wants_read(O_WRONLY));
}

/* ---- the environment of a program ---- */

static struct wire_page page;

Test(shim_programs, environments)
{
	/* entries between commas; the program gets a ticket where want has one */
	static const struct { const char *from, *program, *want; enum shim_class class; } rows[] = {
		{ "", NULL, "LD_PRELOAD=/s/shim.so" },
		{ "A=1,B=2", NULL, "A=1,B=2,LD_PRELOAD=/s/shim.so" },
		{ "LD_PRELOAD=,A=1", NULL, "A=1,LD_PRELOAD=/s/shim.so" },
		{ "LD_PRELOAD=/s/shim.so", NULL, "LD_PRELOAD=/s/shim.so" },
		{ "LD_PRELOAD=/x.so", NULL, "LD_PRELOAD=/s/shim.so:/x.so" },
		{ "LD_PRELOAD=/x.so:/s/shim.so", NULL, "LD_PRELOAD=/s/shim.so:/x.so" },
		{ "LD_PRELOAD=/x.so /y.so", NULL, "LD_PRELOAD=/s/shim.so:/x.so:/y.so" },
		{ "LD_PRELOAD=: :/x.so: ", NULL, "LD_PRELOAD=/s/shim.so:/x.so" },
		{ "LD_PRELOAD=/s/shim.so:/s/shim.so /s/shim.so", NULL, "LD_PRELOAD=/s/shim.so" },
		{ "LD_PRELOAD=/s/shim.so.1:/s/shim.s", NULL, "LD_PRELOAD=/s/shim.so:/s/shim.so.1:/s/shim.s" },
		{ "LD_PRELOADX=1,XLD_PRELOAD=2,LD_PRELOAD", NULL, "LD_PRELOADX=1,XLD_PRELOAD=2,LD_PRELOAD,LD_PRELOAD=/s/shim.so" },
		{ "HURDLE_TICKET=5,A=1", NULL, "A=1,LD_PRELOAD=/s/shim.so" },
		{ "HURDLE_TICKET=5,HURDLE_TICKET=6,A=1", "/bin/x", "A=1,LD_PRELOAD=/s/shim.so,HURDLE_TICKET=0" },
		{ "A=1,LD_TRACE_LOADED_OBJECTS=1", "/bin/x", "A=1,LD_TRACE_LOADED_OBJECTS=1,LD_PRELOAD=/s/shim.so" },
		{ "A=1", NULL, "A=1,LD_PRELOAD=/s/shim32.so", CLASS_32 },
		{ "LD_PRELOAD=/s/shim.so:/x.so", NULL, "LD_PRELOAD=/s/shim32.so:/x.so", CLASS_32 },
		{ "LD_PRELOAD=/s/shim32.so:/x.so:/s/shim.so", NULL, "LD_PRELOAD=/s/shim.so:/x.so" },
		{ "LD_PRELOAD=/s/shim32.so2", NULL, "LD_PRELOAD=/s/shim32.so:/s/shim32.so2", CLASS_32 },
	};

	shim.page = &page;
	strcpy(shim.directory, "/s/");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *copy = xstrdup(rows[i].from);
		_cleanup_(str_free) struct str got = STR_INIT;
		char *from[16] = { NULL }, *room[16], *rest = *copy ? copy : NULL;
		struct environment e;

		for (size_t n = 0; rest; n++)
			from[n] = strsep(&rest, ",");
		page.tickets = 0;
		for (int mapped = 0; mapped < 2; mapped++) {
			page.tickets = 0;
			got.len = 0;
			cr_assert_eq(environment_build(&e, from, rows[i].program, rows[i].class, mapped ? NULL : room), 0);
			for (char **s = e.entries; *s; s++)
				str_addf(&got, "%s%s", got.len ? "," : "", *s);
			cr_assert_str_eq(got.s, rows[i].want, "%s: %s", rows[i].from, got.s);
			environment_release(&e, true);
		}
	}
	shim.page = NULL;
}

Test(shim_programs, environments_that_are_too_long)
{
	_cleanup_free_ char *old = xcalloc(1, 20000);
	struct environment e;

	strcpy(shim.directory, "/s/");
	memset(old, 'x', 19999);
	memcpy(old, "LD_PRELOAD=", 11);
	int error = environment_build(&e, (char *const[]){ old, NULL }, NULL, CLASS_64, NULL);
	cr_assert(error == 0 || error == -ENAMETOOLONG, "%d", error);
	environment_release(&e, false);
}

Test(shim_programs, tickets)
{
	struct environment e;
	char *none[] = { NULL }, long_name[400];

	strcpy(shim.directory, "/s/");
	memset(long_name, 'n', sizeof(long_name));
	memcpy(long_name + sizeof(long_name) - 5, "/end", 5);
	shim.page = &page;
	page.tickets = WIRE_TICKETS - 1;
	cr_assert_eq(environment_build(&e, none, long_name, CLASS_64, NULL), 0);
	struct wire_ticket *t = &page.ticket[WIRE_TICKETS - 1];
	cr_assert(e.number == WIRE_TICKETS - 1 && t->state == TICKET_TAKEN && t->pid == getpid());
	cr_assert(memchr(t->program, '\0', sizeof(t->program)) && strlen(t->program) == sizeof(t->program) - 1 && strstr(t->program, "/end"), "its tail");
	environment_release(&e, false);
	cr_assert_eq(t->state, TICKET_FAILED);
	/* round the ring, onto one that nobody answered */
	t->state = TICKET_TAKEN;
	page.tickets = 2 * WIRE_TICKETS - 1;
	page.lost = 0;
	cr_assert_eq(environment_build(&e, none, "/p", CLASS_64, NULL), 0);
	cr_assert(page.lost == 1 && !strcmp(t->program, "/p"));
	environment_release(&e, true);
	cr_assert_eq(t->state, TICKET_TAKEN, "its answer is the new program's");
	shim.page = NULL;
	cr_assert_eq(environment_build(&e, none, "/p", CLASS_64, NULL), 0);
	cr_assert_eq(e.number, WIRE_TICKETS, "no page, no ticket");
	environment_release(&e, false);
}

/* ---- the real functions ---- */

/* As the loader finds them; a function that is chosen at load time (IFUNC) would need to be called once to be known. */
Test(shim_programs, real_functions)
{
	int found = 0;

	for (int i = 0; i < shim_row_count; i++) {
		void *want = dlsym(RTLD_NEXT, shim_rows[i].name), *got = find_real(shim_rows[i].name);

		/* dlsym without a version does not see what is only there for old programs */
		cr_assert(got == want || (!want && got), "%s is %p, not %p", shim_rows[i].name, got, want);
		found += want != NULL;
	}
	cr_assert_gt(found, 60);
	cr_assert_null(find_real("no_such_function_anywhere"));
	cr_assert_null(find_real(""));
	errno = 7;
	cr_assert(errno_location() == &errno && *errno_location() == 7);
}
