#include "supervisor/proxy/base64.h"

#include "platform/base/str.h"

char *base64(const char *text, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *s = (const unsigned char *)text;
	struct str to = STR_INIT;

	for (size_t i = 0; i < len; i += 3) {
		const unsigned n = (unsigned)s[i] << 16 | (i + 1 < len ? s[i + 1] : 0u) << 8 | (i + 2 < len ? s[i + 2] : 0u);
		const char four[4] = { digits[n >> 18], digits[n >> 12 & 63], i + 1 < len ? digits[n >> 6 & 63] : '=', i + 2 < len ? digits[n & 63] : '=' };

		str_addn(&to, four, 4);
	}
	return str_take(&to);
}
