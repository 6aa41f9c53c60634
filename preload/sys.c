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
