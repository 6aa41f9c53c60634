#include "envscrub/names.h"

#include <string.h>

/* The order matters for globs only: the first that matches decides, and LD_LIBRARY_PATH is no mere path. */
static const struct name_row rows[] = {
#define INJECTION(name, why) { name, why, NAME_INJECTION, sizeof(name) - 1 },
#include "envscrub/injection.def"
#define HARMLESS(name, why) { name, why, NAME_HARMLESS, sizeof(name) - 1 },
#define LOCATOR(name, why)  { name, why, NAME_LOCATOR, sizeof(name) - 1 },
#include "envscrub/not_secrets.def"
#define HANDLE(name, why) { name, "handle: " why, NAME_HANDLE, sizeof(name) - 1 },
#include "envscrub/handles.def"
#define SECRET(name, why)      { name, "listed: " why, NAME_SECRET, sizeof(name) - 1 },
#define URL(name, why)         { name, why, NAME_URL, sizeof(name) - 1 },
#define ASSIGNMENTS(name, why) { name, why, NAME_ASSIGNMENTS, sizeof(name) - 1 },
#define COPY(name, why)        { name, why, NAME_COPY, sizeof(name) - 1 },
#include "envscrub/secrets.def"
};

enum { ROWS = sizeof(rows) / sizeof(*rows), SLOTS = 2048, GLOBS_MAX = 96 };
_Static_assert(ROWS * 2 < SLOTS, "the index of names wants to be at most half full");

static uint16_t slots[SLOTS]; /* row + 1, open addressing; names without wildcards */
/* Rows with a '*': how many fixed bytes stand before the first and behind the last one. A name is tried against the globs
 * that begin with its first letter, and against those without a fixed beginning that end with its last. */
static struct { uint16_t row; uint8_t head, tail, next; } globs[GLOBS_MAX];
static uint8_t globs_by_first[32], globs_by_last[32]; /* glob + 1, by the low five bits of the letter */
static uint8_t n_globs;
static uint32_t first_letters, second_letters; /* of the words, as bits */
static bool indexed;

static const struct { const char *text; size_t n; const char *why; } words[] = {
#define WORD(text, kind) { text, sizeof(text) - 1, "name contains " text },
#include "envscrub/words.def"
};
enum { WORDS = sizeof(words) / sizeof(*words) };

static inline unsigned char fold(unsigned char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

const struct name_row *name_rows(size_t *ret_n)
{
	*ret_n = ROWS;
	return rows;
}

/* FNV-1a over the folded bytes, so that one index serves both ways of comparing. */
uint32_t name_hash(const char *name, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ fold((unsigned char)name[i])) * 16777619u;
	return h ^ h >> 15;
}

/* ---- globs ---- */

/* Does c belong to the set at *set ("[..."]? Moves *set behind it. A set without end is a plain '['. */
static bool in_set(const char **set, unsigned char c, bool ignore_case)
{
	bool negated = (*set)[1] == '!' || (*set)[1] == '^', hit = false;
	const char *p = *set + 1 + negated, *end = *p ? strchr(p + 1, ']') : NULL; /* a ']' that comes first is a member */

	if (!end) {
		*set += 1;
		return c == '[';
	}
	for (; p < end; p++) {
		unsigned char low = (unsigned char)*p, high = low;

		if (p + 2 < end && p[1] == '-')
			high = (unsigned char)*(p += 2);
		hit |= c >= low && c <= high;
		hit |= ignore_case && fold(c) >= fold(low) && fold(c) <= fold(high);
	}
	*set = end + 1;
	return hit != negated;
}

/* Matches one byte against the pattern at *p and moves on; '*' is not for here. */
static bool match_one(const char **p, unsigned char c, bool ignore_case)
{
	unsigned char want = (unsigned char)**p;

	if (want == '[')
		return in_set(p, c, ignore_case);
	++*p;
	return want == '?' || want == c || (ignore_case && fold(want) == fold(c));
}

/* Only the last '*' ever needs another try: what stood before it has matched already. */
bool name_glob(const char *glob, const char *name, size_t n, bool ignore_case)
{
	const char *star = NULL, *p = glob;
	size_t i = 0, retry = 0;

	while (i < n) {
		if (*p == '*') {
			star = ++p;
			retry = i;
		} else if (*p && match_one(&p, (unsigned char)name[i], ignore_case)) {
			i++;
		} else if (star) {
			p = star;
			i = ++retry;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}

/* ---- the index ---- */

/* The low five bits of an ASCII letter are its place in the alphabet in either case; other bytes that share them fail later. */
static inline unsigned letter(char c)
{
	return (unsigned char)c & 31;
}

static void index_glob(uint16_t row)
{
	const char *glob = rows[row].name;
	uint8_t head = (uint8_t)(strchr(glob, '*') - glob), tail = (uint8_t)strlen(strrchr(glob, '*') + 1), *chain;

	if (n_globs == GLOBS_MAX) /* a test counts them */
		return;
	chain = head ? &globs_by_first[letter(*glob)] : &globs_by_last[letter(glob[rows[row].len - 1])];
	while (*chain) /* the order of the rows is kept */
		chain = &globs[*chain - 1].next;
	globs[n_globs].row = row;
	globs[n_globs].head = head;
	globs[n_globs].tail = tail;
	*chain = ++n_globs;
}

static void index_words(void)
{
	for (size_t i = 0; i < WORDS; i++) {
		first_letters |= 1u << letter(words[i].text[0]);
		second_letters |= 1u << letter(words[i].text[1]);
	}
}

static void index_rows(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		uint32_t h;

		if (strchr(rows[i].name, '*')) {
			index_glob((uint16_t)i);
			continue;
		}
		h = name_hash(rows[i].name, rows[i].len);
		while (slots[h % SLOTS])
			h++;
		slots[h % SLOTS] = (uint16_t)(i + 1);
	}
	index_words();
	indexed = true;
}

/* Case is ignored where that drops more, and counts where a variant in another case would be kept or is no such variable
 * at all (the loader reads LD_PRELOAD, nothing reads ld_preload). */
static bool ignores_case(const struct name_row *row)
{
	return row->class == NAME_SECRET || row->class == NAME_URL;
}

static bool same_bytes(const char *a, const char *b, size_t n, bool ignore_case)
{
	if (!ignore_case)
		return !memcmp(a, b, n);
	for (size_t i = 0; i < n; i++)
		if (fold((unsigned char)a[i]) != fold((unsigned char)b[i]))
			return false;
	return true;
}

static bool glob_row_matches(size_t i, const char *name, size_t n)
{
	const struct name_row *row = &rows[globs[i].row];
	const char *tail = row->name + row->len - globs[i].tail;
	bool ignore_case = ignores_case(row);

	return n >= (size_t)globs[i].head + globs[i].tail && same_bytes(row->name, name, globs[i].head, ignore_case) &&
	       same_bytes(tail, name + n - globs[i].tail, globs[i].tail, ignore_case) &&
	       name_glob(row->name, name, n, ignore_case);
}

/* The first glob of a chain that matches, or SIZE_MAX. */
static size_t find_in_chain(uint8_t glob, const char *name, size_t n)
{
	for (; glob; glob = globs[glob - 1].next)
		if (glob_row_matches(glob - 1, name, n))
			return glob - 1;
	return SIZE_MAX;
}

static const struct name_row *find_glob(const char *name, size_t n)
{
	size_t a = find_in_chain(globs_by_first[letter(name[0])], name, n);
	size_t b = find_in_chain(globs_by_last[letter(name[n - 1])], name, n);
	size_t found = a < b ? a : b;

	return found == SIZE_MAX ? NULL : &rows[globs[found].row];
}

const struct name_row *name_find(const char *name, size_t n, uint32_t hash)
{
	if (!indexed)
		index_rows();
	for (uint32_t h = hash; slots[h % SLOTS]; h++) {
		const struct name_row *row = &rows[slots[h % SLOTS] - 1];

		if (row->len == n && same_bytes(row->name, name, n, ignores_case(row)))
			return row;
	}
	return n ? find_glob(name, n) : NULL;
}

/* ---- words ---- */

static bool word_at(size_t w, const char *p, size_t room)
{
	if (room < words[w].n)
		return false;
	for (size_t i = 0; i < words[w].n; i++)
		if (fold((unsigned char)p[i]) != (unsigned char)words[w].text[i])
			return false;
	return true;
}

/* Nearly every byte of a name fails the two bit tests. */
const char *name_word(const char *name, size_t n)
{
	if (!indexed)
		index_rows();
	for (size_t at = 0; at + 1 < n; at++) {
		if (!(first_letters >> letter(name[at]) & second_letters >> letter(name[at + 1]) & 1))
			continue;
		for (size_t w = 0; w < WORDS; w++)
			if (word_at(w, name + at, n - at))
				return words[w].why;
	}
	return NULL;
}

/* ---- git settings ---- */

static const char *const git_settings[] = {
#define GIT_SETTING(glob, why) glob,
#include "envscrub/git_settings.def"
};

bool name_git_setting_is_plain(const char *key, size_t n)
{
	for (size_t i = 0; i < sizeof(git_settings) / sizeof(*git_settings); i++)
		if (name_glob(git_settings[i], key, n, true))
			return true;
	return false;
}
