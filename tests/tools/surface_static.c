/*
 * Makes every call that a row of filter.def names, by a system call of its own, with arguments that the row's tests are true of and
 * that are senseless otherwise: all ones, so a bad address and a bad descriptor. So a call that gets past the filter fails with what the
 * kernel says of those (EFAULT, EBADF, EINVAL), and changes nothing.
 *
 *   surface_static WAY GROUP...   WAY: native, i386 (int 0x80 from a 64-bit program), x32
 *
 * Prints "refused N" and "passed N", each with the rows in question: a row is refused when it fails with the error of the table (x32: ENOSYS).
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SURFACE, NAMESPACES, OTHERS, TERMINAL, FAMILIES, NO_IP, NO_UNIX, GROUPS };
static const char *const group_names[GROUPS] = { "surface", "namespaces", "others", "terminal", "families", "no_ip", "no_unix" };

enum op { END, OP_IS, OP_IS_NOT, OP_HAS };
struct test { enum op op; int argument; unsigned mask, value; };
struct row { const char *name; int number[3]; int group, error; struct test tests[4]; };

#define IS(argument, mask, value)     { OP_IS, argument, mask, value }
#define IS_NOT(argument, mask, value) { OP_IS_NOT, argument, mask, value }
#define HAS(argument, bits)           { OP_HAS, argument, bits, 0 }
#define TESTS(...)                    { __VA_ARGS__ }
#define NO_TESTS                      { { END, 0, 0, 0 } }
static const struct row rows[] = {
#define REFUSE(name, x86_64, i386, generic, group, error, tests, reason) { #name, { x86_64, i386, generic }, group, error, tests },
#include "platform/mechanism/filter.def"
#undef REFUSE
};

#if defined(__x86_64__)
enum { NATIVE_TABLE = 0 };
#else
enum { NATIVE_TABLE = 2 };
#endif

static long call_i386(long number, const long *a)
{
#if defined(__x86_64__)
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "0"(number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)r;
#else
	(void)number, (void)a;
	return -ENOSYS;
#endif
}

static void arguments(const struct row *r, long *a)
{
	for (int i = 0; i < 6; i++)
		a[i] = -1;
	for (int i = 0; i < 4; i++) {
		const struct test *t = &r->tests[i];

		if (t->op == OP_IS)
			a[t->argument] = (long)t->value;
		else if (t->op == OP_HAS)
			a[t->argument] = (long)(t->mask & -t->mask);
		else if (t->op == OP_IS_NOT && a[t->argument] == -1)
			a[t->argument] = 40; /* AF_VSOCK */
	}
	if (!strcmp(r->name, "clone"))
		a[0] |= 0x200; /* CLONE_FS: the kernel takes no such pair */
	if (!strcmp(r->name, "socket") && a[1] == 3)
		a[0] = 2; /* a raw socket of IP */
	else if (!strcmp(r->name, "socket"))
		a[1] = 1, a[2] = 0;
}

static int try(const struct row *r, const char *way)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		long a[6], e;

		arguments(r, a);
		if (!strcmp(way, "i386"))
			e = call_i386(r->number[1], a);
		else
			e = syscall(r->number[NATIVE_TABLE] | (!strcmp(way, "x32") ? 0x40000000 : 0), a[0], a[1], a[2], a[3], a[4], a[5]) < 0 ? -errno : 0;
		_exit(e < 0 ? (int)-e : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

static bool wanted(const struct row *r, char **groups)
{
	for (; *groups; groups++)
		if (!strcmp(*groups, group_names[r->group]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "native";
	char refused[8192] = "", passed[8192] = "";
	int n_refused = 0, n_passed = 0;

	for (size_t i = 0; argc > 2 && i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		char text[80];

		/* vhangup has no arguments that could be senseless */
		if (!wanted(r, argv + 2) || r->number[!strcmp(way, "i386") ? 1 : NATIVE_TABLE] < 0 || (!strcmp(r->name, "vhangup") && getenv("NO_FILTER")))
			continue;
		int e = try(r, way);
		bool yes = e == (!strcmp(way, "x32") ? ENOSYS : r->error);
		snprintf(text, sizeof(text), " %s:%s", r->name, e < 200 ? strerrorname_np(e) : "signal");
		strcat(yes ? refused : passed, text);
		*(yes ? &n_refused : &n_passed) += 1;
	}
	printf("refused %d%s\npassed %d%s\n", n_refused, refused, n_passed, passed);
	return n_passed > 0;
}
