/*
 * The shim: code in every program of the run, between it and libc. It has no libc of its own, no TLS, no locks, no allocation
 * but a private mapping for long paths, and no state but what init.c sets once; so it may be entered anywhere: in
 * signal handlers, vfork children, on small stacks, before any constructor ran.
 */
#pragma once
#include "platform/policy/image.h"
#include "platform/policy/wire.h"
#include "preload/sys.h"

/* What a stub saved; the layout is the arch file's. For another argument after PASS there is change_argument(). */
struct frame {
	long arg[SHIM_REGISTERS];
	long kept;
	long row;
	const long *stack; /* arguments beyond those */
	long ret;          /* the answer, when the handler gives one */
};

static inline long argument(const struct frame *f, size_t i)
{
	return i < SHIM_REGISTERS ? f->arg[i] : f->stack[i - SHIM_REGISTERS];
}

/* What the real function gets in the place of an argument after PASS; where it is on the stack, its place is the callee's to write. */
static inline void change_argument(struct frame *f, int i, long value)
{
	f->arg[i] = value;
	if (SHIM_ON_STACK)
		((long *)(uintptr_t)f->stack)[i - SHIM_REGISTERS] = value;
}

/* PASS: jump to the real function with the saved registers. DONE: return frame->ret. */
enum answer { PASS, DONE };

enum returns { RETURNS_INT, RETURNS_POINTER, RETURNS_ERRNO };

/* Where a row's arguments are: 0-based positions, NO when it has none. */
enum { NO = -1 };
struct row {
	const char *name;
	enum answer (*handler)(struct frame *, const struct row *);
	uint8_t returns;
	int8_t dir, path, flags, mode; /* flags: open flags, AT_ flags or a mode string, as the handler knows */
	int8_t dir2, path2;
	int fixed;                     /* flags that the name implies */
	int action;                    /* enum wire_action */
	int number;                    /* for syscall(): raw system call that the row is; else NO */
};
extern const struct row shim_rows[];
extern void *shim_real[];
extern const int shim_row_count;

struct shim_state {
	const struct image *image; /* NULL: could not be mapped, so everything but reading is refused */
	struct wire_page *page;    /* NULL: nothing is reported */
	uint32_t ready;
	bool no_openat2;           /* answered ENOSYS or EPERM once */
	char directory[240];       /* of the session, where our own file lies */
};
extern struct shim_state shim;

enum answer shim_enter(struct frame *f);
void shim_init(void);

/* symbols.c */
void *find_real(const char *name);      /* the next definition after ours in load order; NULL */
void *find_own(const char *name);       /* our stub of that name; NULL */
enum real { REAL_NOWHERE, REAL_IN_LIBC, REAL_IN_ANOTHER };
enum real real_is(const char *name);    /* whose definition find_real() gives */
bool defined_by_libc(const char *name, const void *at); /* libc, or a copy of it, has its own function of that name there */
const char *own_file(void);             /* path that the loader has for this object */
int *errno_location(void);
bool on_glibc(void);                    /* in a program of glibc, else of musl */

/* memory.c: the caller's pointers may be anything, and the kernel says EFAULT where following one would end the program. */
bool readable(const void *p, size_t n);
enum readable { WHOLE, BROKEN, TOO_LONG }; /* TOO_LONG: no end within PATH_MAX bytes, so the kernel takes it for no path */
enum readable readable_text(const char *s);
bool readable_list(char *const *list); /* NULL is readable; ends with NULL; each entry's first bytes too */

/* answers */
enum answer fail(struct frame *f, const struct row *r, int error); /* error > 0; sets errno */
enum answer finish(struct frame *f, const struct row *r, long raw); /* a raw result */
/* Calls what the row stands for with the frame's arguments as they are now. Returns a raw result (negative errno). */
long invoke(struct frame *f, const struct row *r);

/* path.c: text with room for ordinary paths; longer ones move to a private mapping. */
enum { TEXT_SMALL = 400, TEXT_LARGE = 8192 };
struct text {
	char *s;         /* not to be written through when cap is 0: borrowed from the caller */
	uint32_t len, cap;
	char small[TEXT_SMALL];
};
void text_init(struct text *t);
void text_release(struct text *t);
#define TEXT(name) struct text name __attribute__((cleanup(text_release))); text_init(&name)
int text_add(struct text *t, const char *s, size_t n);   /* -ENAMETOOLONG */
int text_set(struct text *t, const char *s, size_t n);
int text_room(struct text *t, size_t need);
/* "/proc/thread-self/fd/N"; to has room for 40 bytes. */
void fd_path(char *to, int fd);

/* Real name of an open descriptor in t. Returns 1; 0 when it is no file of a file system (pipe, socket, memfd, or deleted with no
 * link left); negative errno. */
int descriptor_name(int fd, struct text *t);

/* A place in the file system: a directory held open, and a name in it. */
struct place {
	int anchor;             /* directory; AT_FDCWD or the caller's dirfd when not owned; -1 none */
	bool owned;
	bool whole;             /* path ends in "/", "." or "..": anchor is the object itself, base is "." */
	const char *base;       /* points into rest; as the kernel should get it, trailing slashes and all; for want of descriptors
				 * the whole path, whose parents are no symlinks */
	struct text rest;       /* the path, cut in two at the base */
	struct text name;       /* real name of the object, as far as its last component is no symlink */
};
int place_open(struct place *p, int dirfd, const char *path); /* negative errno: of the walk to the parent */
void place_release(struct place *p);
#define PLACE(n) struct place n __attribute__((cleanup(place_release))) = { .anchor = -1 }

/* The object that a path leads to, symlinks followed, held by an O_PATH descriptor (-1 when the last component is missing: then
 * place and name say where it would be made). */
struct target {
	struct place place;
	int object;
	bool creating;          /* for O_CREAT: a slash after the name is -EISDIR then, whatever stands there */
	bool exists, magic;     /* magic: reached by a link of /proc that is no text */
};
int target_open(struct target *t, int dirfd, const char *path, bool follow); /* negative errno as the kernel would give it */
void target_release(struct target *t);
#define TARGET(n) struct target n __attribute__((cleanup(target_release))) = { .place.anchor = -1, .object = -1 }

/* Absolute text of a path, which t may borrow. 1: t is right if no symlink is on the way (then *ret_path is what
 * to give the kernel with *dirfd); 0: cannot be said (has "..", or the start is unknown). */
int lexical_name(int dirfd, const char *path, struct text *t, const char **ret_path);

/* judge.c */
struct judgement { bool denied, crosses; uint32_t rule; }; /* crosses: EXDEV, see struct verdict */
struct judgement judge(enum access access, const struct text *name);
struct judgement judge_move(const struct text *from, const struct text *to);
/* One violation, with the path as the program gave it. */
void report(int action, uint32_t rule, const char *raw, const struct text *name);
/* A program that runs, or would run, outside the shim. */
void note_repository(const struct text *name);
void report_uncovered(int reason, bool refused, const char *program);

/* open.c: the decision for entries that only tail-jump: 0, or a negative errno (already reported). */
int allow_open(int dirfd, const char *path, int flags, int action);
int allow_create_in(const char *path_template, int action);
bool fails_anyway(int error);

/* exec.c */
void say_hello(void);
bool in_run(long pid); /* the process is ours or below the supervisor */

/* process.c: there are rules about files */
bool judged(void);

/* handlers, by family */
#define HANDLER(n) enum answer n(struct frame *f, const struct row *r)
HANDLER(on_open); HANDLER(on_openat2); HANDLER(on_fopen); HANDLER(on_freopen); HANDLER(on_opendir); HANDLER(on_mkstemp); HANDLER(on_tmpfile);
HANDLER(on_shm); HANDLER(on_sem); HANDLER(on_read_path); HANDLER(on_open_stream); HANDLER(on_append); HANDLER(on_access); HANDLER(on_fts);
HANDLER(on_mkdir); HANDLER(on_mknod); HANDLER(on_unlink); HANDLER(on_remove); HANDLER(on_rename); HANDLER(on_link); HANDLER(on_symlink);
HANDLER(on_object); HANDLER(on_descriptor);
HANDLER(on_execve); HANDLER(on_execv); HANDLER(on_execvp); HANDLER(on_execl); HANDLER(on_fexecve); HANDLER(on_execveat); HANDLER(on_spawn);
HANDLER(on_shell);
HANDLER(on_connect); HANDLER(on_sendto); HANDLER(on_sendmsg); HANDLER(on_sendmmsg); HANDLER(on_bind);
HANDLER(on_chdir); HANDLER(on_refuse); HANDLER(on_refuse_namespace); HANDLER(on_unshare); HANDLER(on_trace); HANDLER(on_other_process);
HANDLER(on_pidfd); HANDLER(on_socket); HANDLER(on_dlsym); HANDLER(on_dlopen); HANDLER(on_dlmopen); HANDLER(on_unmap); HANDLER(on_map);
HANDLER(on_ioctl); HANDLER(on_fixed_file); HANDLER(on_net_only); HANDLER(on_syscall); HANDLER(on_socketcall); HANDLER(on_pass);
