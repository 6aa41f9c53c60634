/* Strings and regular expressions of SBPL. What they may hold is what profiles in use hold: no intervals, no classes, no flags. */
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/mechanism/seatbelt.h"

/* TinyScheme, which reads profiles, has buffers of fixed size for a string: 256 bytes in its older versions. */
enum { PIECE = 200 };

/* ---- strings ---- */

/* Bytes of s that go as they are: printable ASCII, and printable UTF-8. */
static size_t plain_bytes(const char *s, size_t left)
{
	uint32_t code;
	if ((unsigned char)*s < 0x80)
		return !str_drives_terminal((unsigned char)*s);
	char copy[5] = "";
	memcpy(copy, s, left < 4 ? left : 4);
	size_t n = str_utf8(copy, &code);
	return n && !str_drives_terminal(code) ? n : 0;
}

static size_t add_one(struct str *to, const char *s, size_t left)
{
	size_t n = plain_bytes(s, left);
	if (*s == '"' || *s == '\\')
		str_addf(to, "\\%c", *s);
	else if (n)
		str_addn(to, s, n);
	else if (*s == '\n')
		str_add(to, "\\n");
	else if (*s == '\t')
		str_add(to, "\\t");
	else
		str_addf(to, "\\x%02x", (unsigned char)*s);
	return n ? n : 1;
}

static size_t add_piece(struct str *to, const char *s, size_t len)
{
	size_t used = 0, start = to->len;
	str_add(to, "\"");
	while (used < len && s[used] != SEATBELT_ORDINARY && to->len - start < PIECE)
		used += add_one(to, s + used, len - used);
	str_add(to, "\"");
	return used;
}

void seatbelt_add_string(struct str *to, const char *s, size_t len)
{
	struct str pieces = STR_INIT;
	size_t n = 0;
	for (size_t used = 0; used < len || n == 0; n++) {
		str_add(&pieces, n ? " " : "");
		if (used < len && s[used] == SEATBELT_ORDINARY) {
			str_add(&pieces, "ordinary");
			used++;
		} else {
			used += add_piece(&pieces, s + used, len - used);
		}
	}
	if (n > 1 || pieces.s[0] != '"')
		str_addf(to, "(string-append %s)", pieces.s);
	else
		str_add(to, pieces.s);
	str_free(&pieces);
}

/* ---- single bytes and sets of them ---- */

static bool is_letter(unsigned char c)
{
	return image_fold((char)c) >= 'a' && image_fold((char)c) <= 'z';
}

static void add_byte(struct str *to, char c, bool icase)
{
	if (icase && is_letter((unsigned char)c))
		str_addf(to, "[%c%c]", image_fold(c), image_fold(c) - ('a' - 'A'));
	else
		str_addf(to, strchr(".^$*+?()[]{}|\\", c) ? "\\%c" : "%c", c);
}

static size_t count_members(const bool member[256])
{
	size_t n = 0;
	for (unsigned c = 1; c < 256; c++)
		n += member[c];
	return n;
}

/* Those that mean something inside brackets have places where they do not, in every dialect. */
static bool is_special_in_set(unsigned c)
{
	return c == ']' || c == '[' || c == '\\' || c == '^' || c == '-';
}

static void add_ranges(struct str *to, const bool member[256])
{
	for (unsigned c = 1; c < 256; c++) {
		unsigned last = c;
		if (!member[c] || is_special_in_set(c))
			continue;
		while (last + 1 < 256 && member[last + 1] && !is_special_in_set(last + 1))
			last++;
		str_addf(to, "%c", (int)c);
		if (last > c + 1)
			str_add(to, "-");
		if (last > c)
			str_addf(to, "%c", (int)last);
		c = last;
	}
}

static void add_brackets(struct str *to, const bool member[256], bool negated)
{
	str_add(to, negated ? "[^" : "[");
	str_add(to, member[']'] ? "]" : "");
	add_ranges(to, member);
	str_add(to, member['\\'] ? "\\\\" : ""); /* one or twice the same, depending on whether it escapes there */
	str_add(to, member['^'] ? "^" : "");
	str_add(to, member['['] ? "[" : "");
	str_add(to, member['-'] ? "-" : "");
	str_add(to, "]");
}

/* A "^" that nothing could stand before would turn the set around. */
static bool needs_bars(const bool member[256], size_t n)
{
	return n == 1 || (member['^'] && n == (size_t)1 + member['['] + member['-']);
}

static void add_bars(struct str *to, const bool member[256])
{
	const char *between = "(";
	for (unsigned c = 1; c < 256; c++)
		if (member[c]) {
			str_add(to, between);
			add_byte(to, (char)c, false);
			between = "|";
		}
	str_add(to, ")");
}

static void add_set(struct str *to, const bool member[256])
{
	bool others[256];
	size_t n = count_members(member);
	for (unsigned c = 0; c < 256; c++)
		others[c] = c && !member[c];
	if (n == 0)
		str_add(to, "[^/]/[^/]"); /* nothing matches where a slash ends the component */
	else if (needs_bars(member, n))
		add_bars(to, member);
	else
		add_brackets(to, n > 128 ? others : member, n > 128);
}

/* ---- components ---- */

static size_t skip_set_byte(const char *s, size_t i, size_t n)
{
	return s[i] == '\\' && i + 1 < n ? i + 1 : i;
}

/* Length of the set at s[0] == '['; 0: it is never closed, so the bracket is itself. */
static size_t set_length(const char *s, size_t n)
{
	size_t i = 1;
	if (i < n && (s[i] == '!' || s[i] == '^'))
		i++;
	for (size_t first = i; i < n && (s[i] != ']' || i == first); i++) {
		i = skip_set_byte(s, i, n);
		if (i + 2 < n && s[i + 1] == '-' && s[i + 2] != ']')
			i = skip_set_byte(s, i + 2, n);
	}
	return i < n ? i + 1 : 0;
}

/* The matcher itself says who is a member. A slash is none: it ends the component. */
static void find_members(const char *set, size_t n, bool icase, bool member[256])
{
	member[0] = false;
	for (unsigned c = 1; c < 256; c++) {
		const char text = (char)c;
		member[c] = c != '/' && glob_match(set, n, &text, 1, icase);
	}
}

static bool only_stars(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] != '*')
			return false;
	return true;
}

static void add_component(struct str *to, const char *s, size_t n, bool icase)
{
	if (only_stars(s, n))
		return str_add(to, "[^/]+");
	for (size_t i = 0; i < n; i++) {
		size_t set = s[i] == '[' ? set_length(s + i, n - i) : 0;
		if (set) {
			bool member[256];
			find_members(s + i, set, icase, member);
			add_set(to, member);
			i += set - 1;
		} else if (s[i] == '*') {
			str_add(to, "[^/]*");
		} else if (s[i] == '?') {
			str_add(to, "[^/]");
		} else {
			i += s[i] == '\\' && i + 1 < n;
			add_byte(to, s[i], icase);
		}
	}
}

static void add_tail(struct str *to, enum seatbelt_tail tail)
{
	str_add(to, tail == SEATBELT_AT ? "$" : tail == SEATBELT_BELOW ? "/" : "(/|$)");
}

void seatbelt_add_path_regex(struct str *to, const char *path, bool icase, enum seatbelt_tail tail)
{
	str_add(to, "^");
	if (!path[1])
		return str_add(to, tail == SEATBELT_AT ? "/$" : tail == SEATBELT_BELOW ? "/." : "/");
	for (; *path; path++)
		add_byte(to, *path, icase);
	add_tail(to, tail);
}

/* ---- whole globs ---- */

/* The next component, or NULL. Several "**" in a row are one. */
static const char *next_component(const char **at, size_t *ret_len, bool *ret_any)
{
	const char *s = *at + strspn(*at, "/");
	size_t n = strcspn(s, "/");
	*ret_any = n == 2 && s[0] == '*' && s[1] == '*';
	*ret_len = n;
	*at = s + n;
	while (*ret_any) {
		const char *more = *at + strspn(*at, "/");
		if (strncmp(more, "**", 2) != 0 || (more[2] && more[2] != '/'))
			break;
		*at = more + 2;
	}
	return n ? s : NULL;
}

struct shape { unsigned fixed, any; };

static struct shape shape_of(const char *glob)
{
	struct shape shape = { 0 };
	size_t len;
	bool any;
	while (next_component(&glob, &len, &any)) {
		shape.any += any;
		shape.fixed += !any;
	}
	return shape;
}

unsigned seatbelt_glob_depth(const char *glob, bool *ret_variable)
{
	struct shape shape = shape_of(glob);
	*ret_variable = shape.any;
	return shape.fixed ? shape.fixed : 1; /* a match has a name */
}

/* How many components the double stars have to stand for together. */
static unsigned demanded(struct shape shape, unsigned at_least)
{
	unsigned least = shape.fixed || at_least > 1 ? at_least : 1;
	return least > shape.fixed ? least - shape.fixed : 0;
}

unsigned seatbelt_glob_ways(const char *glob, unsigned at_least)
{
	struct shape shape = shape_of(glob);
	unsigned more = demanded(shape, at_least);
	uint64_t ways = shape.any || !more; /* (more + any - 1) over (any - 1) */
	for (unsigned i = 1; i < shape.any && ways <= SEATBELT_WAYS_MAX; i++)
		ways = ways * (more + i) / i;
	return ways <= SEATBELT_WAYS_MAX ? (unsigned)ways : SEATBELT_WAYS_MAX + 1;
}

/* "At least `more` in all of the `n`" is the union of all ways to say how many each has at least. From one way to the next: the
 * rightmost one but the last gives one to its right, together with all that the last had. */
static void next_way(unsigned *counts, unsigned n)
{
	unsigned i = n - 1, moved = counts[n - 1];
	counts[n - 1] = 0;
	while (i > 0 && !counts[i - 1])
		i--;
	if (i == 0)
		return;
	counts[i - 1]--;
	counts[i] = moved + 1;
}

static void add_ordinary(struct str *to)
{
	const char c = SEATBELT_ORDINARY;
	str_addn(to, &c, 1);
}

static void add_any(struct str *to, unsigned at_least, bool ordinary)
{
	for (unsigned i = 0; i < at_least; i++)
		str_add(to, "/[^/]+");
	str_add(to, "(/");
	if (ordinary)
		add_ordinary(to);
	else
		str_add(to, "[^/]+");
	str_add(to, ")*");
}

static void add_components(struct str *to, const struct seatbelt_glob *g, const unsigned *counts)
{
	const char *rest = g->text, *s;
	size_t len;
	bool any;
	while ((s = next_component(&rest, &len, &any))) {
		const bool last = !rest[strspn(rest, "/")];
		if (any) {
			add_any(to, *counts++, g->ordinary);
			continue;
		}
		str_add(to, "/");
		if (g->ordinary && !last && only_stars(s, len))
			add_ordinary(to);
		else
			add_component(to, s, len, g->icase);
	}
}

void seatbelt_add_glob_regex(struct str *to, const struct seatbelt_glob *g)
{
	struct shape shape = shape_of(g->text);
	_cleanup_free_ unsigned *counts = xcalloc(shape.any + 1, sizeof *counts);
	counts[0] = demanded(shape, g->at_least);
	for (unsigned i = 0; i < g->way; i++)
		next_way(counts, shape.any);
	str_add(to, "^");
	add_components(to, g, counts);
	add_tail(to, g->tail);
}

/*
 * Any name but node_modules: it parts from that name at some letter, or ends before, or goes on behind it.
 */
void seatbelt_add_ordinary(struct str *to)
{
	static const char name[] = "node_modules";
	for (size_t i = 0; name[i]; i++)
		str_addf(to, "([^/%c][^/]*|%c", name[i], name[i]);
	str_add(to, "[^/]+");
	for (size_t i = sizeof name - 1; i-- > 0;)
		str_add(to, i ? ")?" : ")");
}
