/* RFC 4648, for Basic credentials. Owned. */
#pragma once
#include <stddef.h>

char *base64(const char *s, size_t len);
