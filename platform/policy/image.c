/* The matcher over the compiled policy. Freestanding: no libc, no allocation, no state. See image.h. */
#include "platform/policy/image.h"

enum { ALL_SLOTS = SLOT_MOVE_PROTECT + 1 };
#define HASH_START 0x811c9dc5u
#define BIT(n) (1u << (n))

static const void *at(const struct image *img, uint32_t offset)
{
	return (const char *)img + offset;
}

/* NULL: not inside. Only a damaged image has such. */
static const char *text_at(const struct image *img, uint32_t offset, uint32_t len)
{
	return offset <= img->size && len <= img->size - offset ? at(img, offset) : NULL;
}

/* Letters fold, and a few other bytes with them, which only a hash may do. */
static uint32_t hash_step(uint32_t h, char c)
{
	return ((h << 5) | (h >> 27)) + ((unsigned char)c | 0x20u);
}

/* The rolling sum is cheap and weak; the multiplication spreads it over the table. */
static uint32_t hash_end(uint32_t h)
{
	h *= 0x9e3779b1u;
	return h ^ (h >> 15);
}

uint32_t image_hash(const char *text, size_t len)
{
	uint32_t h = HASH_START;
	for (size_t i = 0; i < len; i++)
		h = hash_step(h, text[i]);
	return hash_end(h);
}

/* ---- the walk ---- */

struct hit { uint32_t rule, len; }; /* len: of the prefix that it was found at */

struct walk {
	const struct image *img;
	const char *path;
	uint32_t len;
	uint32_t slots;           /* what to look for */
	struct hit hit[ALL_SLOTS]; /* the deepest of each slot */
	uint32_t shallow_allow;   /* shallowest SLOT_ALLOW_WRITE */
	uint32_t holder_len, inner_len; /* of SLOT_PROTECT and SLOT_MOVE_PROTECT: the outermost and the innermost; 0: none */
	uint8_t flags;            /* of the nodes on the way */
	bool in_node_modules;
	const struct image_node *parent; /* node of the directory that holds the component at hand; NULL: no rule goes there */
	const struct image_node *last, *holder, *inner; /* node of the whole path; nodes of the holders */
};

/* A child that compares without case may have an exact sibling, which then knows all that it knows. */
static const struct image_node *find_child(const struct image *img, uint32_t parent, const char *name, uint32_t len, uint32_t name_hash)
{
	const struct image_node *table = at(img, img->nodes), *icase = NULL;
	uint32_t hash = node_hash(parent, name_hash), left = img->node_mask;
	for (uint32_t i = hash & img->node_mask;; i = (i + 1) & img->node_mask) {
		const struct image_node *n = &table[i];
		if (!(n->flags & NODE_USED) || !left--)
			return icase;
		if (n->hash != hash || n->parent != parent || n->name_len != len)
			continue;
		const char *text = text_at(img, n->name, len);
		if (!text || !image_same(text, name, len, n->flags & NODE_ICASE))
			continue;
		if (!(n->flags & NODE_ICASE))
			return n;
		icase = n;
	}
}

static uint32_t layer_of(const struct image *img, uint32_t rule)
{
	const struct image_rule *rules = at(img, img->rules);
	return rule < img->n_rules ? rules[rule].layer : 0;
}

/* Paths only grow on the way, so a later hit is at least as deep; of two at the same depth the higher layer counts. */
static void record(struct walk *w, unsigned slot, uint32_t rule, uint32_t len)
{
	struct hit *h = &w->hit[slot];
	if (slot == SLOT_ALLOW_WRITE && len < w->shallow_allow)
		w->shallow_allow = len;
	if (h->rule == IMAGE_NONE || len > h->len || layer_of(w->img, rule) >= layer_of(w->img, h->rule))
		*h = (struct hit){ rule, len };
}

static void visit_node(struct walk *w, const struct image_node *n, uint32_t len)
{
	if (n->flags & (NODE_INTERNAL | NODE_TMPDIR))
		w->flags = n->flags;
	for (unsigned slot = 0; slot < SLOT_COUNT && n->has >> slot; slot++)
		if (n->has & BIT(slot))
			record(w, slot, n->rule[slot], len);
}

static uint32_t parent_len(const char *path, uint32_t len)
{
	while (len > 1 && path[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : 1;
}

static const struct image_node *node_of(const struct image *img, const char *path, uint32_t len)
{
	const struct image_node *table = at(img, img->nodes), *node = &table[img->root];
	for (uint32_t i = 1, start; node && i < len; i++) {
		for (start = i; i < len && path[i] != '/'; i++)
			;
		node = find_child(img, (uint32_t)(node - table), path + start, i - start, image_hash(path + start, i - start));
	}
	return node;
}

/* A name of several components (.claude/settings.json) is as old as the place where its first one stands: else it would be enough to
 * make that one anew. */
static void record_holder(struct walk *w, const struct image_pattern *p, uint32_t component)
{
	const char *text = text_at(w->img, p->text, p->text_len);
	w->inner_len = component > 1 ? component - 1 : 1;
	w->inner = w->parent;
	uint32_t len = w->inner_len;
	/* after the leading two stars; .git is as old as itself */
	const uint32_t first = text && p->text_len > 9 && text[5] == 'g' && text[6] == 'i' && text[7] == 't' && text[8] == '/' ? 9 : 4;
	for (uint32_t i = first; text && (p->flags & PATTERN_WHOLE_NAME) && i < p->text_len; i++)
		if (text[i] == '/')
			len = parent_len(w->path, len);
	if (w->holder_len && w->holder_len <= len)
		return;
	w->holder_len = len;
	w->holder = len == w->inner_len ? w->inner : node_of(w->img, w->path, len);
}

static bool pattern_matches(const struct image *img, const struct image_pattern *p, const char *path, uint32_t len)
{
	const char *text = text_at(img, p->text, p->text_len);
	return text && glob_match(text, p->text_len, path, len, p->flags & PATTERN_ICASE);
}

static void try_pattern(struct walk *w, const struct image_pattern *p, uint32_t end, uint32_t component)
{
	if (p->slot >= ALL_SLOTS || !(w->slots & BIT(p->slot)) || (p->flags & (PATTERN_TREE | PATTERN_INTO)) ||
	    (w->in_node_modules && (p->flags & PATTERN_NOT_IN_NODE_MODULES)))
		return;
	if ((p->slot == SLOT_MOVE || p->slot == SLOT_MOVE_PROTECT) && end != w->len)
		return;
	if (!pattern_matches(w->img, p, w->path, end))
		return;
	if (p->slot == SLOT_PROTECT || p->slot == SLOT_MOVE_PROTECT)
		record_holder(w, p, component);
	record(w, p->slot, p->rule, end);
}

/* Lists run from higher to lower indices, so that a damaged one ends as well. */
#define FOR_EACH_PATTERN(img, i, head) \
	for (uint32_t i = (head), end_ = (img)->n_patterns; i < end_; end_ = i, i = ((const struct image_pattern *)at(img, (img)->patterns))[i].next)

static void try_bucket(struct walk *w, uint32_t hash, uint32_t end, uint32_t component)
{
	const struct image *img = w->img;
	if (!(img->bloom[(hash >> 6) & 3] >> (hash & 63) & 1))
		return;
	const uint32_t *heads = at(img, img->buckets);
	const struct image_pattern *patterns = at(img, img->patterns);
	FOR_EACH_PATTERN(img, i, heads[hash & img->bucket_mask])
		if (patterns[i].hash == hash)
			try_pattern(w, &patterns[i], end, component);
}

/* dot: the last one in the name; 0: none. */
static void visit_component(struct walk *w, uint32_t start, uint32_t end, uint32_t name_hash, uint32_t dot)
{
	const struct image_pattern *patterns = at(w->img, w->img->patterns);
	try_bucket(w, name_hash, end, start);
	if (dot)
		try_bucket(w, image_hash(w->path + dot, end - dot), end, start);
	FOR_EACH_PATTERN(w->img, i, w->img->unkeyed)
		try_pattern(w, &patterns[i], end, start);
	if (end == w->len && (w->slots & BIT(SLOT_MOVE)))
		FOR_EACH_PATTERN(w->img, i, w->img->unkeyed_moves)
			try_pattern(w, &patterns[i], end, start);
	if (end - start == 12 && image_same(w->path + start, "node_modules", 12, false))
		w->in_node_modules = true;
}

static void walk_init(struct walk *w, const struct image *img, const char *path, size_t len, uint32_t slots)
{
	w->img = img;
	w->path = path;
	w->len = (uint32_t)len;
	w->slots = slots;
	for (unsigned i = 0; i < ALL_SLOTS; i++)
		w->hit[i] = (struct hit){ IMAGE_NONE, 0 };
	w->shallow_allow = IMAGE_NONE;
	w->holder_len = w->inner_len = 0;
	w->flags = 0;
	w->in_node_modules = false;
	w->parent = w->last = w->holder = w->inner = NULL;
}

static void walk(struct walk *w)
{
	const struct image_node *table = at(w->img, w->img->nodes), *node = &table[w->img->root];
	const bool patterns = w->img->pattern_slots & w->slots;
	uint32_t i = 1;

	visit_node(w, node, 1);
	while (i < w->len) {
		uint32_t start = i, name_hash = HASH_START, dot = 0;
		for (; i < w->len && w->path[i] != '/'; i++) {
			name_hash = hash_step(name_hash, w->path[i]);
			if (w->path[i] == '.')
				dot = i;
		}
		name_hash = hash_end(name_hash);
		w->parent = node;
		if (node)
			node = find_child(w->img, (uint32_t)(node - table), w->path + start, i - start, name_hash);
		if (node)
			visit_node(w, node, i);
		if (patterns)
			visit_component(w, start, i, name_hash, dot);
		else if (!node)
			break; /* no rule goes on from here */
		if (i < w->len)
			i++;
	}
	w->last = i >= w->len ? node : NULL;
}

/* ---- decisions ---- */

static void deny(struct verdict *v, uint32_t rule)
{
	v->outcome = OUTCOME_DENY;
	v->rule = rule;
}

static void decide_read(const struct walk *w, struct verdict *v)
{
	const struct hit *no = &w->hit[SLOT_DENY_READ], *yes = &w->hit[SLOT_ALLOW_READ], *root = &w->hit[SLOT_ALLOW_WRITE];
	if (no->rule == IMAGE_NONE)
		return;
	/* a write root counts as an allowRead of its path */
	if (root->rule != IMAGE_NONE &&
	    (yes->rule == IMAGE_NONE || root->len > yes->len ||
	     (root->len == yes->len && layer_of(w->img, root->rule) > layer_of(w->img, yes->rule))))
		yes = root;
	if (yes->rule == IMAGE_NONE || no->len > yes->len ||
	    (no->len == yes->len && layer_of(w->img, no->rule) > layer_of(w->img, yes->rule)))
		deny(v, no->rule);
}

static void protect(const struct walk *w, uint32_t rule, struct verdict *v)
{
	v->outcome = OUTCOME_DENY_IF_OLD;
	v->rule = rule;
	v->holder_len = w->holder_len;
	v->holder_listed = w->holder && (w->holder->flags & NODE_LISTED);
	v->inner_len = w->inner_len;
	v->inner_listed = w->inner && (w->inner->flags & NODE_LISTED);
}

static void decide_write(const struct walk *w, enum access access, struct verdict *v)
{
	const struct hit *h = w->hit;
	const bool takes_away = access == ACCESS_DELETE || access == ACCESS_MOVE;

	if (w->img->flags & IMAGE_WRITE_OPEN)
		return;
	if (h[SLOT_DENY_WRITE].rule != IMAGE_NONE)
		return deny(v, h[SLOT_DENY_WRITE].rule);
	/* a root itself is an entry of the directory above it */
	if (h[SLOT_ALLOW_WRITE].rule == IMAGE_NONE || (takes_away && w->shallow_allow >= w->len))
		return deny(v, IMAGE_NONE);
	if (takes_away && h[SLOT_DENY_DELETE].rule != IMAGE_NONE)
		return deny(v, h[SLOT_DENY_DELETE].rule);
	if (access == ACCESS_MOVE) {
		const uint32_t ruled = BIT(SLOT_DENY_WRITE) | BIT(SLOT_DENY_DELETE) | BIT(SLOT_DENY_READ) | BIT(SLOT_DENY_EXEC) | BELOW_INTERNAL;
		if (w->last && (w->last->below & ruled))
			return deny(v, w->last->below_rule);
		if (h[SLOT_MOVE].rule != IMAGE_NONE)
			return deny(v, h[SLOT_MOVE].rule);
		decide_read(w, v); /* a new name must not make a denied file readable */
		if (v->outcome != OUTCOME_ALLOW)
			return;
	}
	if (h[SLOT_PROTECT].rule != IMAGE_NONE)
		protect(w, h[SLOT_PROTECT].rule, v);
	else if (access == ACCESS_MOVE && h[SLOT_MOVE_PROTECT].rule != IMAGE_NONE)
		protect(w, h[SLOT_MOVE_PROTECT].rule, v);
}

static void decide_exec(const struct walk *w, struct verdict *v)
{
	const struct hit *h = w->hit;
	if (h[SLOT_DENY_EXEC].rule != IMAGE_NONE)
		deny(v, h[SLOT_DENY_EXEC].rule);
	else if ((w->img->flags & IMAGE_EXEC_OUTSIDE_ROOTS) && (h[SLOT_ALLOW_WRITE].rule != IMAGE_NONE || (w->flags & NODE_TMPDIR)) &&
		 h[SLOT_GRANT_EXEC].rule == IMAGE_NONE)
		deny(v, IMAGE_NONE);
}

static void decide_connect(const struct walk *w, struct verdict *v)
{
	const struct hit *h = w->hit;
	if (!(w->img->flags & IMAGE_UNIX_RULES) || h[SLOT_ALLOW_SOCKET].rule != IMAGE_NONE)
		return;
	if (h[SLOT_DENY_WRITE].rule != IMAGE_NONE)
		deny(v, h[SLOT_DENY_WRITE].rule);
	else if (h[SLOT_ALLOW_WRITE].rule == IMAGE_NONE)
		deny(v, IMAGE_NONE);
}

static uint32_t slots_for(enum access access)
{
	const uint32_t write = BIT(SLOT_ALLOW_WRITE) | BIT(SLOT_DENY_WRITE) | BIT(SLOT_PROTECT);
	const uint32_t read = BIT(SLOT_ALLOW_READ) | BIT(SLOT_DENY_READ) | BIT(SLOT_ALLOW_WRITE);
	switch (access) {
	case ACCESS_READ:    return read;
	case ACCESS_WRITE:
	case ACCESS_CREATE:  return write;
	case ACCESS_DELETE:  return write | BIT(SLOT_DENY_DELETE);
	case ACCESS_MOVE:    return write | read | BIT(SLOT_DENY_DELETE) | BIT(SLOT_MOVE) | BIT(SLOT_MOVE_PROTECT);
	case ACCESS_EXEC:    return BIT(SLOT_DENY_EXEC) | BIT(SLOT_GRANT_EXEC) | BIT(SLOT_ALLOW_WRITE);
	case ACCESS_CONNECT: return BIT(SLOT_ALLOW_SOCKET) | BIT(SLOT_ALLOW_WRITE) | BIT(SLOT_DENY_WRITE);
	}
	return ~0u;
}

/* hurdle's own files stand outside every rule. */
static bool decide_own(const struct walk *w, enum access access, struct verdict *v)
{
	const bool reads = access == ACCESS_READ || access == ACCESS_EXEC;
	if (w->flags & NODE_TMPDIR) {
		if (access == ACCESS_EXEC)
			return false;
		if (w->last && (w->last->flags & NODE_TMPDIR) && (access == ACCESS_DELETE || access == ACCESS_MOVE))
			deny(v, IMAGE_NONE); /* the directory itself */
		return true;
	}
	if (w->flags & NODE_INTERNAL) {
		if (!reads)
			deny(v, IMAGE_NONE);
		return true;
	}
	return false;
}

static void decide(struct walk *w, const struct image *img, enum access access, const char *path, size_t len, struct verdict *ret)
{
	*ret = (struct verdict){ .outcome = OUTCOME_ALLOW, .rule = IMAGE_NONE };
	walk_init(w, img, path, len, slots_for(access));
	walk(w);
	if (decide_own(w, access, ret))
		return;
	if (access == ACCESS_READ)
		decide_read(w, ret);
	else if (access == ACCESS_EXEC)
		decide_exec(w, ret);
	else if (access == ACCESS_CONNECT)
		decide_connect(w, ret);
	else
		decide_write(w, access, ret);
	/* what nothing denies needs no allowing: the short way (may_deny_read) says the same */
	if (ret->outcome == OUTCOME_ALLOW && (access != ACCESS_READ || w->hit[SLOT_DENY_READ].rule != IMAGE_NONE))
		ret->rule = w->hit[access == ACCESS_READ ? SLOT_ALLOW_READ : access == ACCESS_CONNECT ? SLOT_ALLOW_SOCKET : SLOT_ALLOW_WRITE].rule;
}

static bool in_filter(const struct image *img, uint32_t hash)
{
	const uint64_t *words = at(img, img->read_filter);
	return words[(hash & img->filter_mask) >> 6] >> (hash & 63) & 1;
}

/* Reads are most of what is asked, and hardly any path holds a name that a deny-read rule ends in. */
static bool may_deny_read(const struct image *img, const char *path, size_t len)
{
	if (img->flags & IMAGE_READ_UNFILTERED)
		return true;
	for (size_t i = 1; i < len; i++) {
		uint32_t name = HASH_START;
		size_t dot = 0;
		for (; i < len && path[i] != '/'; i++) {
			name = hash_step(name, path[i]);
			if (path[i] == '.')
				dot = i;
		}
		if (in_filter(img, hash_end(name)) || (dot && in_filter(img, image_hash(path + dot, i - dot))))
			return true;
	}
	return false;
}

void policy_decide(const struct image *img, enum access access, const char *path, size_t len, struct verdict *ret)
{
	struct walk w;
	if (access == ACCESS_READ && !may_deny_read(img, path, len)) {
		*ret = (struct verdict){ .outcome = OUTCOME_ALLOW, .rule = IMAGE_NONE };
		return;
	}
	decide(&w, img, access, path, len, ret);
}

/* ---- moves of directories ---- */

/*
 * A directory takes along what nobody has named: TMPDIR is outside every pattern, node_modules outside the protected names,
 * and below an allowRead a denied name may be readable. Into those, and out of them, nothing moves in one piece.
 */
static bool changes_rules(const struct walk *from, const struct walk *to)
{
	const uint32_t have = from->img->pattern_slots;
	const uint32_t denies = BIT(SLOT_DENY_WRITE) | BIT(SLOT_DENY_DELETE) | BIT(SLOT_DENY_READ) | BIT(SLOT_PROTECT);
	const bool from_own = from->flags & NODE_TMPDIR, to_own = to->flags & NODE_TMPDIR;

	if (from_own != to_own)
		return have & (to_own ? denies : BIT(SLOT_DENY_WRITE));
	if (from_own)
		return false;
	if (to->in_node_modules && !from->in_node_modules && (have & BIT(SLOT_PROTECT)))
		return true;
	return to->last && (to->last->below & BIT(SLOT_ALLOW_READ)) && (have & BIT(SLOT_DENY_READ));
}

static void decide_crossing(const struct walk *from, const struct walk *to, struct verdict *v)
{
	const struct image *img = from->img;
	const struct image_pattern *patterns = at(img, img->patterns);

	if (img->flags & IMAGE_WRITE_OPEN)
		return;
	if (changes_rules(from, to)) {
		deny(v, IMAGE_NONE);
		v->crosses = true;
		return;
	}
	FOR_EACH_PATTERN(img, i, img->unkeyed_moves) {
		const struct image_pattern *p = &patterns[i];
		const bool into = p->flags & PATTERN_INTO;
		if (!into && (!(p->flags & PATTERN_TREE) || (from->in_node_modules && (p->flags & PATTERN_NOT_IN_NODE_MODULES))))
			continue;
		if (into && !(img->pattern_slots & BIT(SLOT_DENY_READ)))
			continue;
		if (pattern_matches(img, p, from->path, from->len) == into || pattern_matches(img, p, to->path, to->len) != into)
			continue;
		deny(v, p->rule);
		v->crosses = into;
		return;
	}
}

void policy_decide_move(const struct image *img, const char *from, size_t from_len, const char *to, size_t to_len, struct verdict *ret)
{
	struct walk a, b;
	struct verdict second;

	decide(&a, img, ACCESS_MOVE, from, from_len, ret);
	if (ret->outcome == OUTCOME_DENY)
		return;
	decide(&b, img, ACCESS_MOVE, to, to_len, &second);
	if (second.outcome != OUTCOME_DENY)
		decide_crossing(&a, &b, &second);
	if (second.outcome == OUTCOME_DENY || ret->outcome == OUTCOME_ALLOW)
		*ret = second;
}

/* ---- validity ---- */

static bool inside(const struct image *img, uint32_t offset, uint64_t count, uint64_t size)
{
	return offset >= sizeof *img && offset % 4 == 0 && offset + count * size <= img->size;
}

static bool aliases_inside(const struct image *img)
{
	const struct image_alias *a = at(img, img->aliases);
	for (uint32_t i = 0; i < img->n_aliases; i++)
		if (a[i].from_len < 2 || !text_at(img, a[i].from, a[i].from_len) || !text_at(img, a[i].to, a[i].to_len))
			return false;
	return true;
}

bool image_valid(const struct image *img, size_t size)
{
	return size >= sizeof *img && img->magic == IMAGE_MAGIC && img->version == IMAGE_VERSION && img->size == size &&
	       (img->node_mask & (img->node_mask + 1)) == 0 && (img->bucket_mask & (img->bucket_mask + 1)) == 0 &&
	       (img->filter_mask & (img->filter_mask + 1)) == 0 && img->read_filter % 8 == 0 &&
	       inside(img, img->read_filter, ((uint64_t)img->filter_mask + 64) / 64, sizeof(uint64_t)) &&
	       img->root <= img->node_mask && inside(img, img->nodes, (uint64_t)img->node_mask + 1, sizeof(struct image_node)) &&
	       inside(img, img->patterns, img->n_patterns, sizeof(struct image_pattern)) &&
	       inside(img, img->buckets, (uint64_t)img->bucket_mask + 1, sizeof(uint32_t)) &&
	       inside(img, img->rules, img->n_rules, sizeof(struct image_rule)) && img->n_aliases <= IMAGE_ALIASES &&
	       inside(img, img->aliases, img->n_aliases, sizeof(struct image_alias)) && aliases_inside(img);
}
