/* Globs over whole paths. Freestanding, as image.c. */
#include "platform/policy/image.h"

/* One byte of a set, backslash or not; *s is left on its last byte. */
static unsigned char set_byte(const char **s, const char *end)
{
	if (**s == '\\' && *s + 1 < end)
		++*s;
	return (unsigned char)**s;
}

static bool between(unsigned char low, unsigned char high, char c, bool icase)
{
	unsigned char as_is = (unsigned char)c, lower = image_fold(c), upper = lower >= 'a' && lower <= 'z' ? lower - ('a' - 'A') : lower;
	return (as_is >= low && as_is <= high) || (icase && ((lower >= low && lower <= high) || (upper >= low && upper <= high)));
}

/* A set at p ("[...]"): its end in *ret_end; true when c is in it. A "[" that is never closed is itself. */
static bool glob_set(const char *p, const char *end, char c, bool icase, const char **ret_end)
{
	const char *s = p + 1;
	bool negated = s < end && (*s == '!' || *s == '^'), found = false;

	if (negated)
		s++;
	for (const char *first = s; s < end && (*s != ']' || s == first); s++) {
		unsigned char low = set_byte(&s, end), high = low;
		if (s + 2 < end && s[1] == '-' && s[2] != ']') {
			s += 2;
			high = set_byte(&s, end);
		}
		found |= between(low, high, c, icase);
	}
	if (s >= end) {
		*ret_end = p + 1;
		return c == '[';
	}
	*ret_end = s + 1;
	return found != negated;
}

/* One component against one component: * with the usual back-up to the last star. */
static bool glob_component(const char *p, const char *pe, const char *s, const char *se, bool icase)
{
	const char *star = NULL, *retry = NULL;

	while (s < se) {
		const char *next = p + 1;
		bool ok = false;
		if (p < pe && *p == '*') {
			star = p++;
			retry = s;
			continue;
		}
		if (p < pe && *p == '?')
			ok = true;
		else if (p < pe && *p == '[')
			ok = glob_set(p, pe, *s, icase, &next);
		else if (p + 1 < pe && *p == '\\')
			ok = image_same(p + 1, s, 1, icase), next = p + 2;
		else if (p < pe)
			ok = image_same(p, s, 1, icase);
		if (ok) {
			p = next;
			s++;
		} else if (star) {
			p = star + 1;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (p < pe && *p == '*')
		p++;
	return p == pe;
}

static const char *component_end(const char *s, const char *end)
{
	while (s < end && *s != '/')
		s++;
	return s;
}

static bool double_star(const char *p, const char *pe)
{
	return pe - p == 2 && p[0] == '*' && p[1] == '*';
}

/*
 * Whole paths, component by component. Only the last "**" needs to be remembered: whatever an earlier one could take, the
 * later one can take too.
 */
bool glob_match(const char *p, size_t pattern_len, const char *s, size_t path_len, bool icase)
{
	const char *pe = p + pattern_len, *se = s + path_len, *star = NULL, *retry = NULL;

	for (;;) {
		while (p < pe && *p == '/')
			p++;
		while (s < se && *s == '/')
			s++;
		const char *pc = component_end(p, pe), *sc = component_end(s, se);
		if (p < pe && double_star(p, pc)) {
			star = p = pc;
			retry = s;
			if (p == pe)
				return true;
			continue;
		}
		if (p == pe && s == se)
			return true;
		if (p < pe && s < se && glob_component(p, pc, s, sc, icase)) {
			p = pc;
			s = sc;
			continue;
		}
		if (!star || retry >= se)
			return false;
		retry = component_end(retry, se);
		while (retry < se && *retry == '/')
			retry++;
		p = star;
		s = retry;
	}
}
