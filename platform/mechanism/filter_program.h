/*
 * The seccomp filter as a program for the kernel's classic BPF, made from the rows of filter.def. Pure.
 *
 * For each architecture that the kernel takes calls of: a binary search over the numbers that rows name, then the tests of the row. Only
 * loads, comparisons and returns are used, so that Linux 5.11 and later work out once which calls always pass and skip
 * the program for them (seccomp_is_const_allow() in kernel/seccomp.c); of those that programs make often only ioctl, clone and
 * socket remain.
 */
#pragma once
#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_group {
	FILTER_SURFACE    = 1u << 0,
	FILTER_NAMESPACES = 1u << 1,
	FILTER_OTHERS     = 1u << 2,
	FILTER_TERMINAL   = 1u << 3,
	FILTER_FAMILIES   = 1u << 4,
	FILTER_NO_IP      = 1u << 5,
	FILTER_NO_UNIX    = 1u << 6,
};

enum { FILTER_TESTS = 4 };
enum filter_op { FILTER_END, FILTER_IS, FILTER_IS_NOT, FILTER_HAS };
struct filter_test { uint8_t op, argument; uint32_t mask, value; };

/* The columns of numbers. */
enum filter_table { FILTER_X86_64, FILTER_I386, FILTER_GENERIC, FILTER_TABLES };

struct filter_row {
	const char *name;
	int number[FILTER_TABLES]; /* -1: no such call */
	unsigned group;
	int error;
	struct filter_test tests[FILTER_TESTS];
	const char *reason;
};
extern const struct filter_row filter_rows[];
extern const size_t n_filter_rows;

/* An architecture, as seccomp tells it to a filter; x32: calls of that interface, which share it, are refused. */
struct filter_arch { uint32_t audit; enum filter_table table; bool x32; };
/* Those of this build's machine; none: nothing is known of it. */
extern const struct filter_arch *const filter_archs;
extern const size_t n_filter_archs;

/* Every call of an architecture that is not in the list fails with ENOSYS. Owned result; never fails. */
struct sock_filter *filter_program(const struct filter_arch *archs, size_t n_archs, unsigned groups, size_t *ret_n);
