/*
 * The seccomp filter: what the program for the kernel answers equals what the rows of filter.def say, read here one by one, and
 * what libseccomp makes of the same rows; for every number, every architecture, and arguments around every value that a row names.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "platform/mechanism/filter_program.h"
#include "tests/unit/bpf_help.h"

enum { EVERY_GROUP = 127, NUMBERS = 600, VALUES = 64 };

static const struct filter_arch all_archs[] = {
	{ AUDIT_ARCH_X86_64, FILTER_X86_64, true }, { AUDIT_ARCH_I386, FILTER_I386, false }, { AUDIT_ARCH_AARCH64, FILTER_GENERIC, false },
};
static const uint32_t scmp_archs[] = { SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_AARCH64 };

/* ---- the rows, read one by one ---- */

static bool test_holds(const struct filter_test *t, const struct seccomp_data *d)
{
	const uint32_t value = (uint32_t)d->args[t->argument];

	switch (t->op) {
	case FILTER_IS:     return (value & t->mask) == t->value;
	case FILTER_IS_NOT: return (value & t->mask) != t->value;
	case FILTER_HAS:    return (value & t->mask) != 0;
	default:            return true;
	}
}

/* The first row that applies decides. */
static uint32_t wanted(const struct filter_arch *a, unsigned groups, const struct seccomp_data *d)
{
	if (a->x32 && (uint32_t)d->nr >= 0x40000000)
		return SECCOMP_RET_ERRNO | ENOSYS;
	for (size_t i = 0; i < n_filter_rows; i++) {
		const struct filter_row *r = &filter_rows[i];
		bool yes = (r->group & groups) && r->number[a->table] >= 0 && r->number[a->table] == d->nr;

		for (int t = 0; yes && t < FILTER_TESTS; t++)
			yes = test_holds(&r->tests[t], d);
		if (yes)
			return SECCOMP_RET_ERRNO | (uint32_t)r->error;
	}
	return SECCOMP_RET_ALLOW;
}

/* ---- values worth trying ---- */

static size_t values_around(uint64_t *ret)
{
	static const uint64_t always[] = { 0, 1, 2, 3, 10, 16, 17, 38, 40, 43, 0x11, 0x1200011, 0x3d0f00, ~0ull, 0xffffffff, 0x80000, 0x80801, 0x80003 };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		ret[n++] = always[i];
	return n;
}

static size_t add_value(uint64_t *v, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == value)
			return n;
	if (n < VALUES)
		v[n++] = value;
	return n;
}

/* ... of one argument of one call: what its rows name, beside it, and the same with something in the upper half */
static size_t values_of(int number, enum filter_table table, unsigned argument, uint64_t *ret)
{
	size_t n = values_around(ret);

	for (size_t i = 0; i < n_filter_rows; i++)
		for (int t = 0; t < FILTER_TESTS && filter_rows[i].number[table] == number; t++) {
			const struct filter_test *x = &filter_rows[i].tests[t];

			if (x->op == FILTER_END || x->argument != argument)
				continue;
			n = add_value(ret, n, x->value);
			n = add_value(ret, n, x->value | 0x500000000ull);
			n = add_value(ret, n, x->value + 1);
			n = add_value(ret, n, x->mask & -x->mask);
			n = add_value(ret, n, (x->mask & -x->mask) | 0x100000000ull);
			n = add_value(ret, n, ~x->mask);
		}
	return n;
}

/* ---- the comparison ---- */

typedef void compare_function(const struct filter_arch *a, const struct seccomp_data *d, void *data);

static void for_every_call(const struct filter_arch *a, compare_function *compare, void *data)
{
	static const int odd[] = { -1, 0x40000000, 0x40000010, 0x40000029, 0x7fffffff, -2147483647 - 1, 100000 };

	for (int i = 0; i < NUMBERS + (int)ARRAY_SIZE(odd); i++) {
		struct seccomp_data d = { .nr = i < NUMBERS ? i : odd[i - NUMBERS], .arch = a->audit };
		uint64_t first[VALUES], second[VALUES];
		size_t n_first = values_of(d.nr, a->table, 0, first), n_second = values_of(d.nr, a->table, 1, second);

		for (size_t x = 0; x < n_first; x++)
			for (size_t y = 0; y < n_second; y++) {
				d.args[0] = first[x];
				d.args[1] = second[y];
				compare(a, &d, data);
			}
	}
}

struct program { struct sock_filter *v; size_t n; unsigned groups; size_t compared, refused; };

static void compare_with_rows(const struct filter_arch *a, const struct seccomp_data *d, void *data)
{
	struct program *p = data;
	uint32_t got = bpf_run(p->v, p->n, d, NULL), want = wanted(a, p->groups, d);

	p->compared++;
	p->refused += want != SECCOMP_RET_ALLOW;
	cr_assert(got == want, "groups %x, arch %x, call %d (%llx, %llx): %x, not %x", p->groups, d->arch, d->nr, (unsigned long long)d->args[0],
		  (unsigned long long)d->args[1], got, want);
}

Test(filter, answers_what_the_rows_say)
{
	static const unsigned sets[] = { 0, EVERY_GROUP, FILTER_SURFACE, FILTER_SURFACE | FILTER_NAMESPACES | FILTER_OTHERS | FILTER_TERMINAL,
					 FILTER_FAMILIES, FILTER_NO_IP, FILTER_NO_UNIX | FILTER_FAMILIES };

	size_t nothing = 0; /* what fails with no row at all: x32 */

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		struct program p = { .groups = sets[i] };

		p.v = filter_program(all_archs, ARRAY_SIZE(all_archs), sets[i], &p.n);
		for (size_t a = 0; a < ARRAY_SIZE(all_archs); a++)
			for_every_call(&all_archs[a], compare_with_rows, &p);
		cr_assert(p.compared > 100000);
		cr_assert(i == 0 || p.refused > nothing, "%zu", p.refused);
		nothing = i == 0 ? p.refused : nothing;
		free(p.v);
	}
}

Test(filter, refuses_every_call_of_an_architecture_that_it_does_not_know)
{
	static const uint32_t others[] = { AUDIT_ARCH_ARM, AUDIT_ARCH_AARCH64, AUDIT_ARCH_RISCV64, 0, ~0u };
	size_t n;
	_cleanup_free_ struct sock_filter *f = filter_program(all_archs, 2, EVERY_GROUP, &n);

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		for (int nr = 0; nr < NUMBERS; nr++) {
			struct seccomp_data d = { .nr = nr, .arch = others[i] };

			cr_assert(bpf_run(f, n, &d, NULL) == (SECCOMP_RET_ERRNO | ENOSYS));
		}
}

/* A call that always passes must be seen to do so without looking at an argument, or the kernel runs the filter for each. */
Test(filter, calls_that_pass_are_decided_by_number_alone)
{
	static const int often[] = { 0, 1, 3, 5, 8, 9, 12, 202, 228, 257, 262, 332, 44, 45, 46, 47, 437 };
	size_t n, steps = 0, most = 0;
	_cleanup_free_ struct sock_filter *f = filter_program(all_archs, 2, EVERY_GROUP, &n);

	for (size_t i = 0; i < ARRAY_SIZE(often); i++) {
		struct seccomp_data d = { .nr = often[i], .arch = AUDIT_ARCH_X86_64 };

		cr_assert(bpf_run(f, n, &d, &steps) == SECCOMP_RET_ALLOW);
		most = steps > most ? steps : most;
	}
	cr_assert(most <= 16, "%zu steps", most);
	cr_assert(n < 500, "%zu instructions", n);
}

/* ---- against libseccomp ---- */

Test(filter, numbers_are_those_that_libseccomp_knows)
{
	size_t known = 0;

	for (size_t i = 0; i < n_filter_rows; i++)
		for (size_t a = 0; a < ARRAY_SIZE(all_archs); a++) {
			const struct filter_row *r = &filter_rows[i];
			int want = seccomp_syscall_resolve_name_arch(scmp_archs[a], r->name), have = r->number[all_archs[a].table];

			if (want == __NR_SCMP_ERROR) /* newer than the library */
				continue;
			/* socket is both a call of its own on i386 and a part of socketcall, which is what libseccomp says */
			if (want < 0 && have == 359)
				continue;
			known++;
			cr_expect(want < 0 ? have < 0 : have == want, "%s, table %zu: %d, not %d", r->name, a, have, want);
		}
	cr_assert(known > 150);
}

static struct scmp_arg_cmp comparison(const struct filter_test *t)
{
	if (t->op == FILTER_IS_NOT)
		return (struct scmp_arg_cmp){ t->argument, SCMP_CMP_NE, t->value, 0 };
	return (struct scmp_arg_cmp){ t->argument, SCMP_CMP_MASKED_EQ, t->mask, t->value };
}

/* HAS is one rule for each bit. Only 32 bits of each argument are compared, so those above are zero below. */
static int add_rule(scmp_filter_ctx c, const struct filter_row *r, int number)
{
	struct scmp_arg_cmp list[FILTER_TESTS];
	const struct filter_test *has = NULL;
	unsigned n = 0;

	for (int t = 0; t < FILTER_TESTS && r->tests[t].op != FILTER_END; t++)
		if (r->tests[t].op == FILTER_HAS)
			has = &r->tests[t];
		else
			list[n++] = comparison(&r->tests[t]);
	for (int bit = 0; has && bit < 32; bit++) {
		if (!(has->mask >> bit & 1))
			continue;
		list[n] = (struct scmp_arg_cmp){ has->argument, SCMP_CMP_MASKED_EQ, 1u << bit, 1u << bit };
		int e = seccomp_rule_add_exact_array(c, SCMP_ACT_ERRNO((unsigned)r->error), number, n + 1, list);
		if (e < 0 && e != -EEXIST)
			return e;
	}
	return has ? 0 : seccomp_rule_add_exact_array(c, SCMP_ACT_ERRNO((unsigned)r->error), number, n, list);
}

/* Two comparisons of one argument are more than the library can do, and it may be older than the last one. */
static bool left_out(const char *name)
{
	return !strcmp(name, "socket") || !strcmp(name, "personality") || !strcmp(name, "open_tree_attr");
}

static bool compares(const struct filter_arch *a, int number)
{
	/* -1 is a tracer's word for it */
	bool yes = number != -1 && !(a->x32 && (uint32_t)number >= 0x40000000);

	for (size_t i = 0; yes && i < n_filter_rows; i++)
		yes = filter_rows[i].number[a->table] != number || !left_out(filter_rows[i].name);
	return yes;
}

static void compare_with_other(const struct filter_arch *a, const struct seccomp_data *d, void *data)
{
	struct program *p = data;
	struct seccomp_data low = *d;

	if (!compares(a, d->nr))
		return;
	low.args[0] &= 0xffffffff;
	low.args[1] &= 0xffffffff;
	uint32_t got = bpf_run(p->v, p->n, &low, NULL), want = wanted(a, p->groups, &low);
	p->compared++;
	cr_assert(got == want, "libseccomp, arch %x, call %d (%llx): %x, not %x", d->arch, d->nr, (unsigned long long)low.args[0], got, want);
}

/* One filter for each architecture: with several, the library would translate numbers of one for the other. */
static void read_other(size_t a, struct program *p)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);

	cr_assert(c);
	if (scmp_archs[a] != seccomp_arch_native()) {
		cr_assert(seccomp_arch_add(c, scmp_archs[a]) == 0);
		cr_assert(seccomp_arch_remove(c, SCMP_ARCH_NATIVE) == 0);
	}
	for (size_t i = 0; i < n_filter_rows; i++) {
		int number = seccomp_syscall_resolve_name_arch(scmp_archs[a], filter_rows[i].name);

		if (number < 0 || left_out(filter_rows[i].name))
			continue;
		/* the library's own numbers are those of the machine it runs on */
		number = seccomp_syscall_resolve_name(filter_rows[i].name);
		int e = add_rule(c, &filter_rows[i], number);
		cr_assert(e == 0 || e == -EEXIST, "%s: %s", filter_rows[i].name, strerror(-e));
	}
	int fd = memfd_create("bpf", 0);
	cr_assert(seccomp_export_bpf(c, fd) == 0);
	p->n = (size_t)lseek(fd, 0, SEEK_END) / sizeof(*p->v);
	p->v = xcalloc(p->n, sizeof(*p->v));
	cr_assert(pread(fd, p->v, p->n * sizeof(*p->v), 0) == (ssize_t)(p->n * sizeof(*p->v)));
	close(fd);
	seccomp_release(c);
}

Test(filter, answers_what_libseccomp_would)
{
	for (size_t a = 0; a < ARRAY_SIZE(all_archs); a++) {
		struct program p = { .groups = EVERY_GROUP };

		read_other(a, &p);
		for_every_call(&all_archs[a], compare_with_other, &p);
		cr_assert(p.compared > 100000);
		free(p.v);
	}
}
