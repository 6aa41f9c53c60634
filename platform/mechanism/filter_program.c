#include "platform/mechanism/filter_program.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"

/* ---- the table ---- */

#define IS(argument, mask, value)     { FILTER_IS, argument, mask, value }
#define IS_NOT(argument, mask, value) { FILTER_IS_NOT, argument, mask, value }
#define HAS(argument, bits)           { FILTER_HAS, argument, bits, 0 }
#define TESTS(...)                    { __VA_ARGS__ }
#define NO_TESTS                      { { FILTER_END, 0, 0, 0 } }

const struct filter_row filter_rows[] = {
#define REFUSE(name, x86_64, i386, generic, group, error, tests, reason) \
	{ #name, { x86_64, i386, generic }, FILTER_##group, error, tests, reason },
#include "platform/mechanism/filter.def"
#undef REFUSE
};
const size_t n_filter_rows = ARRAY_SIZE(filter_rows);

static const struct filter_arch archs_here[] = {
#if defined(__x86_64__)
	{ AUDIT_ARCH_X86_64, FILTER_X86_64, true },
	{ AUDIT_ARCH_I386, FILTER_I386, false },
#elif defined(__aarch64__)
	{ AUDIT_ARCH_AARCH64, FILTER_GENERIC, false },
#endif
	{ 0, FILTER_TABLES, false },
};
const struct filter_arch *const filter_archs = archs_here;
const size_t n_filter_archs = ARRAY_SIZE(archs_here) - 1;

/* ---- writing it ---- */

enum { NUMBER_AT = 0, ARCH_AT = 4, ARGUMENTS_AT = 16, X32_BIT = 0x40000000, NEAR = 255, LEAF = 3, RETURNS = 8 };

/*
 * Written from its end to its start, since jumps only go forward: what a jump leads to is there already. A place is counted from the end,
 * 1 for the last instruction. Every jump names both its targets, so that anything may stand between two tests.
 */
struct writer {
	struct sock_filter *v;
	size_t n, cap;
	size_t returns[RETURNS]; /* places of the last few, so that rows share them */
	size_t n_returns;
};

static size_t put(struct writer *w, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 256;
		w->v = xreallocarray(w->v, w->cap, sizeof *w->v);
	}
	w->v[w->n++] = (struct sock_filter){ code, yes, no, k };
	return w->n;
}

static size_t put_return(struct writer *w, uint32_t action)
{
	for (size_t i = 0; i < w->n_returns && i < RETURNS; i++)
		if (w->v[w->returns[i] - 1].k == action && w->n - w->returns[i] < NEAR / 2)
			return w->returns[i];
	return w->returns[w->n_returns++ % RETURNS] = put(w, BPF_RET | BPF_K, 0, 0, action);
}

/* The place, or what does the same within the eight bits that a test has. room: instructions still to come before the test. */
static size_t within_reach(struct writer *w, size_t place, size_t room)
{
	if (w->n + room - place <= NEAR)
		return place;
	if (w->v[place - 1].code == (BPF_RET | BPF_K))
		return put_return(w, w->v[place - 1].k);
	return put(w, BPF_JMP | BPF_JA, 0, 0, (uint32_t)(w->n - place));
}

static size_t put_test(struct writer *w, uint16_t op, uint32_t k, size_t yes, size_t no)
{
	yes = within_reach(w, yes, 1);
	no = within_reach(w, no, 0);
	return put(w, (uint16_t)(BPF_JMP | op | BPF_K), (uint8_t)(w->n - yes), (uint8_t)(w->n - no), k);
}

static size_t put_load(struct writer *w, uint32_t offset)
{
	return put(w, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

/* The low half of a 64-bit argument. */
static uint32_t argument_at(unsigned argument)
{
	return ARGUMENTS_AT + argument * 8 + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0);
}

static size_t put_argument_test(struct writer *w, const struct filter_test *t, size_t yes, size_t no)
{
	switch (t->op) {
	case FILTER_HAS:
		put_test(w, BPF_JSET, t->mask, yes, no);
		break;
	case FILTER_IS_NOT:
		put_test(w, BPF_JEQ, t->value, no, yes);
		break;
	default:
		put_test(w, BPF_JEQ, t->value, yes, no);
	}
	if (t->op != FILTER_HAS && t->mask != UINT32_MAX)
		put(w, BPF_ALU | BPF_AND | BPF_K, 0, 0, t->mask);
	return put_load(w, argument_at(t->argument));
}

static size_t put_row(struct writer *w, const struct filter_row *row, size_t otherwise)
{
	size_t next = put_return(w, SECCOMP_RET_ERRNO | ((uint32_t)row->error & SECCOMP_RET_DATA));
	for (size_t i = FILTER_TESTS; i-- > 0;)
		if (row->tests[i].op != FILTER_END)
			next = put_argument_test(w, &row->tests[i], next, otherwise);
	return next;
}

/* ---- the search ---- */

/* Calls in the order of their numbers; rows of one call one after the other, in the order of the table. */
struct call { int number; const struct filter_row *row; };

static int by_number(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static size_t collect(enum filter_table table, unsigned groups, struct call *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < n_filter_rows; i++)
		if ((filter_rows[i].group & groups) && filter_rows[i].number[table] >= 0)
			ret[n++] = (struct call){ filter_rows[i].number[table], &filter_rows[i] };
	qsort(ret, n, sizeof *ret, by_number);
	return n;
}

/* v[first..end): a few calls, one after the other. The accumulator holds the number. */
static size_t put_leaf(struct writer *w, const struct call *v, size_t first, size_t end, size_t allow)
{
	size_t next = allow;
	while (end > first) {
		size_t rows = allow, number_end = end;
		do
			rows = put_row(w, v[--end].row, rows);
		while (end > first && v[end - 1].number == v[number_end - 1].number);
		next = put_test(w, BPF_JEQ, (uint32_t)v[end].number, rows, next);
	}
	return next;
}

static size_t put_search(struct writer *w, const struct call *v, size_t first, size_t end, size_t allow)
{
	size_t middle = first + (end - first) / 2;
	while (middle > first && v[middle].number == v[middle - 1].number)
		middle--;
	if (end - first <= LEAF || middle == first)
		return put_leaf(w, v, first, end, allow);
	size_t right = put_search(w, v, middle, end, allow), left = put_search(w, v, first, middle, allow);
	return put_test(w, BPF_JGE, (uint32_t)v[middle].number, right, left);
}

static size_t put_arch(struct writer *w, const struct filter_arch *a, unsigned groups)
{
	_cleanup_free_ struct call *calls = xcalloc(n_filter_rows, sizeof *calls);
	size_t n = collect(a->table, groups, calls), allow = put_return(w, SECCOMP_RET_ALLOW);
	size_t start = put_search(w, calls, 0, n, allow);
	if (a->x32)
		start = put_test(w, BPF_JGE, X32_BIT, put_return(w, SECCOMP_RET_ERRNO | ENOSYS), start);
	if (start != w->n)
		put(w, BPF_JMP | BPF_JA, 0, 0, (uint32_t)(w->n - start));
	return put_load(w, NUMBER_AT);
}

struct sock_filter *filter_program(const struct filter_arch *archs, size_t n_archs, unsigned groups, size_t *ret_n)
{
	struct writer w = { 0 };
	size_t next = put_return(&w, SECCOMP_RET_ERRNO | ENOSYS);
	for (size_t i = n_archs; i-- > 0;)
		next = put_test(&w, BPF_JEQ, archs[i].audit, put_arch(&w, &archs[i], groups), next);
	put_load(&w, ARCH_AT);
	for (size_t i = 0; i < w.n / 2; i++) {
		struct sock_filter swap = w.v[i];
		w.v[i] = w.v[w.n - 1 - i];
		w.v[w.n - 1 - i] = swap;
	}
	*ret_n = w.n;
	return w.v;
}
