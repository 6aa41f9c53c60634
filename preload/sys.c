#include "preload/sys.h"

/* gcc writes calls to these for struct copies; -fno-builtin and -fno-tree-loop-distribute-patterns keep them from calling themselves. */
void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;
	for (size_t i = 0; i < n; i++)
		t[i] = f[i];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	char *t = to;
	for (size_t i = 0; i < n; i++)
		t[i] = (char)c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;
	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}

bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

bool text_starts(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return false;
	return true;
}

size_t text_number(char *to, unsigned long n)
{
	char digits[21];
	size_t len = 0, i;
	do
		digits[len++] = (char)('0' + n % 10);
	while (n /= 10);
	for (i = 0; i < len; i++)
		to[i] = digits[len - 1 - i];
	to[len] = '\0';
	return len;
}

long text_to_number(const char *s, const char **ret_end)
{
	long n = 0;
	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (n > 99999999)
			return -1;
		n = n * 10 + (*s - '0');
	}
	if (*s && *s != '/')
		return -1;
	if (ret_end)
		*ret_end = s;
	return n;
}
