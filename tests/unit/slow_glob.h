/* glob_match() once more: by recursion over bytes, with sets as tables. Exponential, and plainly right. */
#pragma once
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool byte_equal(char a, char b, bool icase)
{
	return a == b || (icase && tolower((unsigned char)a) == tolower((unsigned char)b));
}

/* A set that begins at p[0] == '[': its length, and its members; 0 when it is never closed. */
static inline size_t set_of(const char *p, size_t n, bool member[256], bool *negated)
{
	size_t i = 1;

	memset(member, 0, 256 * sizeof(*member));
	*negated = n > 1 && (p[1] == '!' || p[1] == '^');
	i += *negated;
	for (size_t first = i; i < n; i++) {
		if (p[i] == ']' && i != first)
			return i + 1;
		if (p[i] == '\\' && i + 1 < n)
			i++;
		unsigned char low = (unsigned char)p[i], high = low;
		if (i + 2 < n && p[i + 1] == '-' && p[i + 2] != ']') {
			i += 2;
			if (p[i] == '\\' && i + 1 < n)
				i++;
			high = (unsigned char)p[i];
		}
		for (unsigned c = low; c <= high; c++)
			member[c] = true;
	}
	return 0;
}

static inline bool slow_component(const char *p, size_t np, const char *s, size_t ns, bool icase)
{
	bool member[256], negated;
	size_t set;

	if (!np)
		return !ns;
	if (*p == '*')
		return slow_component(p + 1, np - 1, s, ns, icase) || (ns && slow_component(p, np, s + 1, ns - 1, icase));
	if (!ns)
		return false;
	if (*p == '?')
		return slow_component(p + 1, np - 1, s + 1, ns - 1, icase);
	if (*p == '[' && (set = set_of(p, np, member, &negated))) {
		unsigned char c = (unsigned char)*s;
		bool in = member[c] || (icase && (member[tolower(c)] || member[toupper(c)]));
		return in != negated && slow_component(p + set, np - set, s + 1, ns - 1, icase);
	}
	if (*p == '\\' && np > 1)
		p++, np--;
	return byte_equal(*p, *s, icase) && slow_component(p + 1, np - 1, s + 1, ns - 1, icase);
}

static inline bool slow_glob(const char *p, const char *pe, const char *s, const char *se, bool icase)
{
	while (p < pe && *p == '/')
		p++;
	while (s < se && *s == '/')
		s++;
	const char *pn = p, *sn = s;
	while (pn < pe && *pn != '/')
		pn++;
	while (sn < se && *sn != '/')
		sn++;
	if (p == pe)
		return s == se;
	if (pn - p == 2 && !strncmp(p, "**", 2))
		return slow_glob(pn, pe, s, se, icase) || (s < se && slow_glob(p, pe, sn, se, icase));
	return s < se && slow_component(p, (size_t)(pn - p), s, (size_t)(sn - s), icase) && slow_glob(pn, pe, sn, se, icase);
}
