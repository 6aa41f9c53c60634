#include "envscrub/scrub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "envscrub/judge.h"
#include "platform/base/cleanup.h"
#include "platform/base/str.h"

struct scrub {
	const struct scrub_options *options;
	struct item *items;
	size_t n;
	uint32_t *set; /* names of dropped entries: item + 1, open addressing */
	size_t set_mask;
	size_t n_dropped, n_listed, text_size;
};

/* ---- names that were dropped ---- */

static bool same_name(const struct item *a, const struct item *b)
{
	return a->hash == b->hash && a->name_len == b->name_len && !memcmp(a->text, b->text, a->name_len);
}

/* Where the item's name is in the set, or where it belongs. */
static uint32_t *set_find(struct scrub *s, const struct item *it)
{
	size_t at = it->hash & s->set_mask;

	while (s->set[at] && !same_name(&s->items[s->set[at] - 1], it))
		at = (at + 1) & s->set_mask;
	return &s->set[at];
}

static void make_set(struct scrub *s)
{
	for (s->set_mask = 16; s->set_mask < s->n * 2; s->set_mask *= 2)
		;
	s->set = xcalloc(s->set_mask--, sizeof(*s->set));
	for (size_t i = 0; i < s->n; i++) {
		uint32_t *slot;

		if (s->items[i].verdict != DROP)
			continue;
		slot = set_find(s, &s->items[i]);
		if (!*slot)
			*slot = (uint32_t)i + 1;
	}
}

/* getenv(3) sees the first entry of a name, bash the last: one that was dropped for its value takes the others along. */
static void drop_duplicates(struct scrub *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct item *it = &s->items[i];

		if (it->verdict == KEEP && *set_find(s, it))
			judge_drop(it, SCRUB_DUPLICATE, "another entry of this name was dropped");
	}
}

static void drop_copies(struct scrub *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct item *it = &s->items[i];

		if (it->verdict == KEEP && it->row && it->row->class == NAME_COPY)
			judge_drop(it, SCRUB_CARRIER, it->row->why);
	}
}

static bool any_dropped(const struct scrub *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].verdict == DROP)
			return true;
	return false;
}

/* ---- the result ---- */

/* Of two additions of one name the later one counts, as with setenv(3). */
static bool added_later(const char *const *with, size_t name_len)
{
	for (const char *const *later = with + 1; *later; later++)
		if (!strncmp(*later, *with, name_len + 1))
			return true;
	return false;
}

static int check_additions(const struct scrub_options *options, size_t *ret_n)
{
	const char *const *w;

	for (w = options->with; w && *w; w++)
		if (!strchr(*w, '=') || **w == '=')
			return -EINVAL;
	*ret_n = w ? (size_t)(w - options->with) : 0;
	return 0;
}

/* Entries that an addition replaces, whatever was said about them: they are not in the child's environment either way. */
static void replace_entries(struct scrub *s, size_t n_with)
{
	_cleanup_free_ uint32_t *hashes = xcalloc(n_with, sizeof(*hashes));

	for (size_t w = 0; w < n_with; w++)
		hashes[w] = name_hash(s->options->with[w], strcspn(s->options->with[w], "="));
	for (size_t i = 0; i < s->n; i++) {
		struct item *it = &s->items[i];

		for (size_t w = 0; w < n_with; w++)
			if (it->verdict != DROP && it->hash == hashes[w] &&
			    !strncmp(s->options->with[w], it->text, it->name_len) && s->options->with[w][it->name_len] == '=')
				it->verdict = REPLACED;
	}
}

/* An entry that is no NAME=VALUE may be all secret, so that nothing of it is reported. */
static const char nameless[] = "(entry without a name)";

/* Marks what is reported, every name once, and adds up what the result takes. */
static void measure(struct scrub *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct item *it = &s->items[i];
		uint32_t *slot;

		if (it->verdict != DROP)
			continue;
		s->n_dropped++;
		slot = set_find(s, it);
		it->listed = !*slot || *slot == i + 1;
		if (it->listed) {
			*slot = (uint32_t)i + 1;
			s->n_listed++;
			s->text_size += (it->nameless ? sizeof(nameless) : it->name_len + 1);
		}
	}
	for (const char *const *w = s->options->with; w && *w; w++)
		s->text_size += strlen(*w) + 1;
}

static char *put_text(char **to, const char *text, size_t n)
{
	char *start = *to;

	memcpy(start, text, n);
	start[n] = '\0';
	*to += n + 1;
	return start;
}

static char *put_name(char **to, const struct item *it)
{
	return it->nameless ? put_text(to, nameless, sizeof(nameless) - 1) : put_text(to, it->text, it->name_len);
}

static void build(struct scrub *s, char *const envp[], size_t n_with, struct scrub_result *r)
{
	char *text = r->text_ = xcalloc(s->text_size, 1), **to;

	r->envp = xcalloc(s->n + n_with + 1, sizeof(*r->envp));
	r->drops = xcalloc(s->n_listed, sizeof(*r->drops));
	r->dropped_ = xcalloc(s->n_dropped, sizeof(*r->dropped_));
	for (const struct item *it = s->items; *envp; it++, envp++) {
		if (it->verdict == KEEP || it->verdict == KEEP_BY_USER)
			r->envp[r->n_kept++] = *envp;
		if (it->verdict == DROP)
			r->dropped_[r->n_dropped_++] = *envp;
		if (it->verdict == DROP && it->listed)
			r->drops[r->n_drops++] = (struct scrub_drop){ put_name(&text, it), it->reason, it->why };
	}
	to = r->envp + r->n_kept;
	for (const char *const *with = s->options->with; with && *with; with++)
		if (!added_later(with, strcspn(*with, "=")))
			*to++ = put_text(&text, *with, strlen(*with));
}

int scrub_env(const struct scrub_options *options, char *const envp[], struct scrub_result *ret)
{
	static char *const nothing[] = { NULL };
	struct scrub s = { .options = options };
	size_t n_with = 0;
	int r = check_additions(options, &n_with);

	if (r < 0)
		return r;
	if (!envp)
		envp = nothing;
	while (envp[s.n])
		s.n++;
	s.items = xcalloc(s.n, sizeof(*s.items));
	for (size_t i = 0; i < s.n; i++)
		judge_entry(options, envp[i], &s.items[i]);
	settle_families(s.items, s.n);
	if (any_dropped(&s)) {
		make_set(&s);
		drop_duplicates(&s);
		drop_copies(&s);
	}
	if (n_with)
		replace_entries(&s, n_with);
	*ret = (struct scrub_result){ 0 };
	measure(&s);
	build(&s, envp, n_with, ret);
	free(s.items);
	free(s.set);
	return 0;
}

void scrub_result_clear(struct scrub_result *r)
{
	free(r->envp);
	free(r->drops);
	free(r->dropped_);
	free(r->text_);
	*r = (struct scrub_result){ 0 };
}

/* Both lists are in the order of envp, so one walk finds every entry, and touches nothing that is not in envp. */
void scrub_wipe(char *const envp[], const struct scrub_result *r)
{
	size_t d = 0;

	for (size_t i = 0; envp && envp[i] && d < r->n_dropped_; i++) {
		char *eq;

		if (envp[i] != r->dropped_[d])
			continue;
		d++;
		eq = strchr(envp[i], '=');
		if (eq && eq > envp[i])
			explicit_bzero(eq + 1, strlen(eq + 1));
		else
			explicit_bzero(envp[i], strlen(envp[i]));
	}
}
