/* Comparing and numbers. Apart from sys.c, whose names are libc's, so that tests can link this with one. */
#include "preload/sys.h"

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
