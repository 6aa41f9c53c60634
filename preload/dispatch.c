/* From a stub to its handler and back; syscall() by number; what an answer looks like to the caller. */
#include "preload/shim.h"

const struct row shim_rows[] = {
#define INTERPOSE(n, handler_, returns_, dir_, path_, flags_, mode_, dir2_, path2_, fixed_, action_, number_) \
	{ .name = #n, .handler = handler_, .returns = returns_, .dir = dir_, .path = path_, .flags = flags_, .mode = mode_, \
	  .dir2 = dir2_, .path2 = path2_, .fixed = fixed_, .action = action_, .number = number_ },
#define SYSCALL_ROW(...)
#include "preload/interpose.def"
#undef INTERPOSE
#undef SYSCALL_ROW
};
const int shim_row_count = sizeof shim_rows / sizeof *shim_rows;
void *shim_real[sizeof shim_rows / sizeof *shim_rows];

/* Rows that only syscall() reaches. */
static const struct row number_rows[] = {
#define INTERPOSE(...)
#define SYSCALL_ROW(handler_, dir_, path_, flags_, mode_, dir2_, path2_, fixed_, action_, number_) \
	{ .name = "syscall", .handler = handler_, .returns = RETURNS_INT, .dir = dir_, .path = path_, .flags = flags_, .mode = mode_, \
	  .dir2 = dir2_, .path2 = path2_, .fixed = fixed_, .action = action_, .number = number_ },
#include "preload/interpose.def"
#undef INTERPOSE
#undef SYSCALL_ROW
};

enum { BY_NUMBER = -1, SYSCALL_ARGUMENTS = 6 };

enum answer fail(struct frame *f, const struct row *r, int error)
{
	f->ret = r->returns == RETURNS_POINTER ? 0 : r->returns == RETURNS_ERRNO ? error : -1;
	if (r->returns != RETURNS_ERRNO || f->row == BY_NUMBER)
		*errno_location() = error;
	return DONE;
}

enum answer finish(struct frame *f, const struct row *r, long raw)
{
	if (raw < 0 && raw > -4096)
		return fail(f, r, (int)-raw);
	f->ret = raw;
	return DONE;
}

long invoke(struct frame *f, const struct row *r)
{
	if (f->row == BY_NUMBER)
		return raw6(r->number, f->arg[0], f->arg[1], f->arg[2], f->arg[3], f->arg[4], f->arg[5]);
	long (*real)(long, long, long, long, long, long, ...) = (long (*)(long, long, long, long, long, long, ...))shim_real[f->row];
	/* mmap64 has seven words where its offset takes two */
	long result = SHIM_ON_STACK ? real(f->arg[0], f->arg[1], f->arg[2], f->arg[3], f->arg[4], f->arg[5], argument(f, 6))
				    : real(f->arg[0], f->arg[1], f->arg[2], f->arg[3], f->arg[4], f->arg[5]);
	if (r->returns == RETURNS_INT && (int)result == -1)
		return -*errno_location();
	return r->returns == RETURNS_INT ? (int)result : r->returns == RETURNS_ERRNO ? -(int)result : result;
}

/* A string that is not all there, or too long to be a path: the kernel refuses it, and says so best itself. */
static bool is_bad(const struct frame *f, const struct row *r)
{
	return r->handler != on_fts && ((r->path != NO && f->arg[r->path] && readable_text((const char *)f->arg[r->path]) != WHOLE) ||
					(r->path2 != NO && f->arg[r->path2] && readable_text((const char *)f->arg[r->path2]) != WHOLE));
}

enum answer shim_enter(struct frame *f)
{
	const struct row *r = &shim_rows[f->row];
	if (!__atomic_load_n(&shim.ready, __ATOMIC_ACQUIRE))
		shim_init();
	if (!shim_real[f->row])
		__atomic_store_n(&shim_real[f->row], find_real(r->name), __ATOMIC_RELEASE);
	enum answer a = is_bad(f, r) ? PASS : r->handler(f, r);
	if (a == PASS && !shim_real[f->row]) /* an export that this libc does not have */
		return fail(f, r, ENOSYS);
	return a;
}

static const struct row *search_number(long number)
{
	for (size_t i = 0; i < sizeof number_rows / sizeof *number_rows; i++)
		if (number_rows[i].number == number)
			return &number_rows[i];
	for (int i = 0; i < shim_row_count; i++)
		if (shim_rows[i].number == number)
			return &shim_rows[i];
	return NULL;
}

/* The answer for a number never changes, so it is looked for once. */
static const struct row *row_by_number(long number)
{
	static const struct row none, *known[512];
	if (number >= 512)
		return NULL;
	const struct row *row = __atomic_load_n(&known[number], __ATOMIC_RELAXED);
	if (!row) {
		row = search_number(number);
		__atomic_store_n(&known[number], row ? row : &none, __ATOMIC_RELAXED);
	}
	return row == &none ? NULL : row;
}

/* The row for a system call, on arguments of its own. */
static enum answer by_number(struct frame *f, struct frame *g, const struct row *row)
{
	struct row r = *row;
	r.returns = RETURNS_INT;
	if (is_bad(g, &r) || row->handler(g, &r) == PASS)
		return PASS;
	f->ret = g->ret;
	return DONE;
}

/* syscall(number, ...): the same rows, one argument further. */
HANDLER(on_syscall)
{
	const struct row *row = f->arg[0] < 0 ? NULL : row_by_number(f->arg[0]);
	if (!row)
		return PASS;
	struct frame g = { .row = BY_NUMBER, .stack = f->stack };
	for (size_t i = 0; i < SYSCALL_ARGUMENTS; i++)
		g.arg[i] = argument(f, i + 1);
	return by_number(f, &g, row);
}

/* socketcall(2) of 32-bit x86: one number for all that sockets do, which has its own numbers since Linux 4.3; the arguments lie in memory. */
HANDLER(on_socketcall)
{
	static const struct { int call, number, arguments; } judged[] = {
		{ 2, SYS_bind, 3 }, { 3, SYS_connect, 3 }, { 11, SYS_sendto, 6 }, { 16, SYS_sendmsg, 3 }, { 20, SYS_sendmmsg, 4 },
	};
	const long *arguments = (const long *)f->arg[1];
	for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
		const struct row *row = f->arg[0] == judged[i].call ? row_by_number(judged[i].number) : NULL;
		struct frame g = { .row = BY_NUMBER, .stack = f->stack };
		if (!row)
			continue;
		if (!readable(arguments, (size_t)judged[i].arguments * sizeof *arguments))
			return PASS;
		memcpy(g.arg, arguments, (size_t)judged[i].arguments * sizeof *arguments);
		return by_number(f, &g, row);
	}
	return PASS;
}

/* fixed: the errno. */
HANDLER(on_refuse)
{
	return fail(f, r, r->fixed);
}
