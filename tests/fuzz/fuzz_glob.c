/* A pattern and a path, between them a newline, after a byte that says whether case counts: glob_match() agrees with slow_glob(). */
#include <stdint.h>
#include <stdlib.h>

#include "platform/policy/image.h"
#include "tests/unit/slow_glob.h"

enum { SHORT = 12 }; /* slow_glob is exponential */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data + 1, *end = (const char *)data + size, *newline = size ? memchr(p, '\n', size - 1) : NULL;

	if (!newline)
		return 0;
	const size_t p_len = (size_t)(newline - p), s_len = (size_t)(end - newline - 1);
	const bool icase = data[0] & 1, got = glob_match(p, p_len, newline + 1, s_len, icase);
	if (p_len <= SHORT && s_len <= SHORT && got != slow_glob(p, newline, newline + 1, end, icase))
		abort();
	return 0;
}
