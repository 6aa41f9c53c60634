/* From the list of rules to the flat image: gather nodes and patterns, then lay them out. The layout is image.h's. */
#include "platform/policy/policy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/base/cleanup.h"

enum { SIZE_MAX_BYTES = 256 << 20 }; /* a policy beyond that is a mistake; offsets have 32 bits */

struct builder {
	const struct policy *policy;
	struct image_node *nodes;       /* in the order they were made, so parents first; parent is an index, hash is of the name */
	uint32_t *next;                 /* of each node in its bucket */
	uint32_t n_nodes, cap_nodes;
	uint32_t *heads;                /* of the buckets, cap_nodes of them */
	struct image_pattern *patterns;
	size_t n_patterns, cap_patterns;
	enum pattern_key *keys;         /* of each pattern */
	struct image_alias aliases[IMAGE_ALIASES];
	size_t n_aliases;
	struct str text;                /* every string of the image; offsets are relative to it until the layout is known */
};

static void builder_release(struct builder *b)
{
	free(b->nodes);
	free(b->next);
	free(b->heads);
	free(b->patterns);
	free(b->keys);
	str_free(&b->text);
}

static uint32_t add_text(struct builder *b, const char *s, size_t len)
{
	uint32_t offset = (uint32_t)b->text.len;
	str_addn(&b->text, s, len);
	str_addn(&b->text, "", 1);
	return offset;
}

/* ---- nodes ---- */

static uint32_t *bucket_of(struct builder *b, uint32_t parent, uint32_t name_hash)
{
	return &b->heads[node_hash(parent, name_hash) & (b->cap_nodes - 1)];
}

static void grow_nodes(struct builder *b)
{
	b->cap_nodes = b->cap_nodes ? b->cap_nodes * 2 : 512;
	b->nodes = xreallocarray(b->nodes, b->cap_nodes, sizeof *b->nodes);
	b->next = xreallocarray(b->next, b->cap_nodes, sizeof *b->next);
	b->heads = xreallocarray(b->heads, b->cap_nodes, sizeof *b->heads);
	memset(b->heads, 0xff, b->cap_nodes * sizeof *b->heads);
	for (uint32_t i = 0; i < b->n_nodes; i++) {
		uint32_t *head = bucket_of(b, b->nodes[i].parent, b->nodes[i].hash);
		b->next[i] = *head;
		*head = i;
	}
}

static bool is_child(const struct builder *b, uint32_t i, uint32_t parent, const char *name, size_t len, bool icase)
{
	const struct image_node *n = &b->nodes[i];
	const char *text = b->text.s + n->name;
	return text && n->parent == parent && n->name_len == len && (icase ? strncasecmp(text, name, len) : memcmp(text, name, len)) == 0;
}

/* The node of a name below a parent, made where it is missing: one that compares without case, or an exact one. */
static uint32_t get_child(struct builder *b, uint32_t parent, const char *name, size_t len, bool icase)
{
	uint32_t hash = image_hash(name, len);
	if (b->n_nodes == b->cap_nodes)
		grow_nodes(b);
	uint32_t *head = bucket_of(b, parent, hash);
	for (uint32_t i = *head; i != IMAGE_NONE; i = b->next[i])
		if (!!(b->nodes[i].flags & NODE_ICASE) == icase && is_child(b, i, parent, name, len, icase))
			return i;
	struct image_node *n = &b->nodes[b->n_nodes];
	*n = (struct image_node){ .hash = hash, .parent = parent, .name = add_text(b, name, len), .name_len = (uint16_t)len,
				  .flags = NODE_USED | (icase ? NODE_ICASE : 0), .below_rule = IMAGE_NONE };
	memset(n->rule, 0xff, sizeof n->rule);
	b->next[b->n_nodes] = *head;
	*head = b->n_nodes;
	return b->n_nodes++;
}

/* What a path leaves behind: at its end, and for those who would move a directory on the way to it. */
struct mark {
	int slot;            /* at the end; -1: none */
	uint32_t rule;
	uint8_t flags;       /* at the end */
	uint32_t below;      /* on the way */
	bool below_end;      /* the end is on the way as well: more follows, which a pattern says */
	bool icase;
};

static bool slot_denies(int slot)
{
	return slot == SLOT_DENY_WRITE || slot == SLOT_DENY_DELETE || slot == SLOT_DENY_READ || slot == SLOT_DENY_EXEC;
}

static void mark_way(struct image_node *n, const struct mark *m)
{
	n->below |= m->below;
	if (slot_denies(m->slot))
		n->below_rule = m->rule;
}

static void mark_end(const struct builder *b, struct image_node *n, const struct mark *m)
{
	const struct rule *rules = b->policy->rules;
	n->flags |= m->flags;
	if (m->below_end)
		return mark_way(n, m);
	if (m->slot < 0)
		return;
	uint32_t *rule = &n->rule[m->slot];
	if (*rule == IMAGE_NONE || rules[*rule].layer <= rules[m->rule].layer)
		*rule = m->rule;
	n->has |= (uint8_t)(1u << m->slot);
}

/* The next child after a node that has this name in some spelling and is exact. IMAGE_NONE: no more. */
static uint32_t next_exact(struct builder *b, uint32_t parent, const char *name, size_t len, uint32_t after)
{
	uint32_t found = IMAGE_NONE;
	for (uint32_t i = *bucket_of(b, parent, image_hash(name, len)); i != IMAGE_NONE; i = b->next[i])
		if (i > after && i < found && !(b->nodes[i].flags & NODE_ICASE) && is_child(b, i, parent, name, len, true))
			found = i;
	return found;
}

/*
 * Every prefix of a rule's path is a node, or the walk would stop above it. The matcher follows one node: the exact one, or else the
 * one without case. So exact paths are added first, and a path without case then goes below every exact spelling as well.
 */
static void add_below(struct builder *b, uint32_t parent, const char *s, const struct mark *m)
{
	while (*s == '/')
		s++;
	size_t len = strcspn(s, "/");
	if (!len)
		return mark_end(b, &b->nodes[parent], m);
	mark_way(&b->nodes[parent], m);
	if (m->icase)
		for (uint32_t i = parent; (i = next_exact(b, parent, s, len, i)) != IMAGE_NONE;)
			add_below(b, i, s + len, m);
	add_below(b, get_child(b, parent, s, len, m->icase), s + len, m);
}

static void add_path(struct builder *b, const char *path, struct mark m)
{
	add_below(b, 0, path, &m);
}

static int slot_of(enum rule_kind kind)
{
	switch (kind) {
	case RULE_ALLOW_WRITE:  return SLOT_ALLOW_WRITE;
	case RULE_DENY_WRITE:   return SLOT_DENY_WRITE;
	case RULE_DENY_DELETE:  return SLOT_DENY_DELETE;
	case RULE_ALLOW_READ:   return SLOT_ALLOW_READ;
	case RULE_DENY_READ:    return SLOT_DENY_READ;
	case RULE_DENY_EXEC:    return SLOT_DENY_EXEC;
	case RULE_GRANT_EXEC:   return SLOT_GRANT_EXEC;
	case RULE_ALLOW_SOCKET: return SLOT_ALLOW_SOCKET;
	case RULE_PROTECT_NAME: return SLOT_PROTECT;
	default:                return -1;
	}
}

static void add_literal(struct builder *b, uint32_t index, const char *path, int slot)
{
	/* an allowRead counts as well: what is moved onto its way may become readable */
	uint32_t below = slot_denies(slot) || slot == SLOT_ALLOW_READ ? 1u << slot : 0;
	add_path(b, path, (struct mark){ .slot = slot, .rule = index, .below = below, .icase = b->policy->rules[index].icase });
}

/* ---- patterns ---- */

/* "]" as well: an extension may not begin inside a set. */
static bool has_special(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr("*?[]\\", s[i]))
			return true;
	return false;
}

static enum pattern_key pattern_key(const char *text, size_t len, const char **ret_key, size_t *ret_len)
{
	const char *name = text + len, *dot;
	while (name > text && name[-1] != '/')
		name--;
	size_t n = (size_t)(text + len - name);
	*ret_key = name;
	*ret_len = n;
	if (!has_special(name, n))
		return PATTERN_BY_NAME;
	dot = memrchr(name, '.', n);
	if (!dot || has_special(dot, (size_t)(text + len - dot)))
		return PATTERN_UNKEYED;
	*ret_key = dot;
	*ret_len = (size_t)(text + len - dot);
	return PATTERN_BY_EXTENSION;
}

static void add_pattern(struct builder *b, const char *text, size_t len, int slot, unsigned flags, uint32_t rule)
{
	const char *key;
	size_t key_len;
	if (b->n_patterns == b->cap_patterns) {
		b->cap_patterns = b->cap_patterns ? b->cap_patterns * 2 : 64;
		b->patterns = xreallocarray(b->patterns, b->cap_patterns, sizeof *b->patterns);
		b->keys = xreallocarray(b->keys, b->cap_patterns, sizeof *b->keys);
	}
	enum pattern_key kind = flags & (PATTERN_TREE | PATTERN_INTO) ? PATTERN_UNKEYED : pattern_key(text, len, &key, &key_len);
	b->keys[b->n_patterns] = kind;
	b->patterns[b->n_patterns++] = (struct image_pattern){
		.hash = kind == PATTERN_UNKEYED ? 0 : image_hash(key, key_len), .next = IMAGE_NONE, .text = add_text(b, text, len),
		.rule = rule, .text_len = (uint16_t)len, .slot = (uint8_t)slot, .flags = (uint8_t)flags,
	};
}

/*
 * A deny by pattern is only as good as the names of the directories in it: each proper prefix becomes a pattern of its own
 * that refuses moves. Prefixes without a special character are nodes, as for literal rules. For an allowRead it is the other
 * way round: a move to where it matches.
 */
static void add_move_patterns(struct builder *b, const char *text, size_t text_len, int slot, unsigned flags, uint32_t rule)
{
	const bool into = slot == SLOT_ALLOW_READ;
	for (const char *s = memchr(text + 1, '/', text_len - 1); s; s = memchr(s + 1, '/', (size_t)(text + text_len - s - 1))) {
		size_t len = (size_t)(s - text);
		bool tree = len >= 3 && strncmp(s - 3, "/**", 3) == 0;
		if (tree && len == 3) /* everywhere */
			continue;
		if (!has_special(text, len)) {
			_cleanup_free_ char *prefix = strndup(text, len);
			add_path(b, prefix, (struct mark){ .slot = slot, .rule = rule, .below = 1u << slot, .below_end = true,
							   .icase = b->policy->rules[rule].icase });
		} else if (into || tree) {
			add_pattern(b, text, len, SLOT_MOVE, flags | (into ? PATTERN_INTO : PATTERN_TREE), rule);
		} else {
			add_pattern(b, text, len, slot == SLOT_PROTECT ? SLOT_MOVE_PROTECT : SLOT_MOVE, flags, rule);
		}
	}
}

/*
 * Of names with several components also the place of the first one counts. Not of .git: a repository that the run makes has
 * hooks of its own, and so has a worktree that it adds; but a submodule's directory comes with an old repository.
 */
static bool is_whole_name(const char *path)
{
	if (strncmp(path, "/**/", 4) != 0 || !strchr(path + 4, '/'))
		return false;
	return strncasecmp(path + 4, ".git/", 5) != 0 || strncasecmp(path + 9, "modules/", 8) == 0;
}

static void add_pattern_rule(struct builder *b, uint32_t index, int slot)
{
	const struct rule *r = &b->policy->rules[index];
	unsigned flags = (r->icase ? PATTERN_ICASE : 0) | (slot == SLOT_PROTECT ? PATTERN_NOT_IN_NODE_MODULES : 0);
	if (slot == SLOT_PROTECT && is_whole_name(r->path))
		flags |= PATTERN_WHOLE_NAME;
	size_t len = strlen(r->path);
	while (len > 1 && r->path[len - 1] == '/')
		len--;
	add_pattern(b, r->path, len, slot, flags, index);
	if (slot_denies(slot) || slot == SLOT_PROTECT || slot == SLOT_ALLOW_READ)
		add_move_patterns(b, r->path, len, slot, flags, index);
}

static void add_rule(struct builder *b, uint32_t index)
{
	const struct rule *r = &b->policy->rules[index];
	int slot = slot_of(r->kind);

	if (!r->path)
		return;
	if (r->kind == RULE_INTERNAL || r->kind == RULE_TMPDIR) {
		uint8_t flag = r->kind == RULE_INTERNAL ? NODE_INTERNAL : NODE_TMPDIR;
		add_path(b, r->path, (struct mark){ .slot = -1, .rule = IMAGE_NONE, .flags = flag, .below = BELOW_INTERNAL, .icase = r->icase });
	} else if (slot >= 0 && (r->pattern || slot >= SLOT_COUNT)) {
		add_pattern_rule(b, index, slot);
	} else if (slot >= 0) {
		add_literal(b, index, r->path, slot);
		if (r->written && slot_denies(slot))
			add_literal(b, index, r->written, slot);
	}
}

static bool on_icase_mount(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->icase_mounts.n; i++)
		if (path_under(path, p->icase_mounts.v[i]))
			return true;
	return false;
}

static void add_everything(struct builder *b)
{
	const struct policy *p = b->policy;
	get_child(b, IMAGE_NONE, "", 0, false); /* the root is node 0 */
	for (int icase = 0; icase < 2; icase++) {
		for (uint32_t i = 0; i < p->n_rules; i++)
			if (p->rules[i].icase == icase)
				add_rule(b, i);
		for (size_t i = 0; i < p->listed.n; i++)
			if (on_icase_mount(p, p->listed.v[i]) == icase)
				add_path(b, p->listed.v[i], (struct mark){ .slot = -1, .rule = IMAGE_NONE, .flags = NODE_LISTED, .icase = icase });
	}
}

/* ---- aliases ---- */

static void add_alias(struct builder *b, const char *from)
{
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof target - 1);
	if (n <= 0 || b->n_aliases == ARRAY_SIZE(b->aliases))
		return;
	target[n] = '\0';
	_cleanup_free_ char *to = NULL;
	if (path_resolve(from, &to) < 0)
		return;
	b->aliases[b->n_aliases++] = (struct image_alias){
		.from = add_text(b, from, strlen(from)), .to = add_text(b, to, strlen(to)),
		.from_len = (uint16_t)strlen(from), .to_len = (uint16_t)strlen(to),
	};
}

static void add_aliases(struct builder *b)
{
	static const char *const links[] = { "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32", "/var/run", "/var/lock" };
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		add_alias(b, links[i]);
}

/* ---- layout ---- */

static uint32_t power_of_two(size_t at_least)
{
	uint32_t n = 16;
	while (n < at_least)
		n *= 2;
	return n;
}

static void *place(char *image, size_t *end, uint32_t *ret_offset, const void *data, size_t size)
{
	*ret_offset = (uint32_t)*end;
	if (image && size && data)
		memcpy(image + *end, data, size);
	*end += (size + 7) & ~(size_t)7;
	return image ? image + *ret_offset : NULL;
}

/* Into the open-addressing table. Places are identities, so each parent goes first. */
static void place_nodes(const struct builder *b, struct image *img, struct image_node *table, uint32_t text)
{
	_cleanup_free_ uint32_t *places = xcalloc(b->n_nodes, sizeof *places);
	for (uint32_t i = 0; i < b->n_nodes; i++) {
		struct image_node n = b->nodes[i];
		if (n.parent != IMAGE_NONE)
			n.parent = places[n.parent];
		n.hash = node_hash(n.parent, n.hash);
		n.name += text;
		uint32_t p = n.hash & img->node_mask;
		while (table[p].flags & NODE_USED)
			p = (p + 1) & img->node_mask;
		table[p] = n;
		places[i] = p;
	}
	img->root = places[0];
}

static void link_patterns(struct image *img, struct image_pattern *patterns, const enum pattern_key *keys, uint32_t *heads)
{
	for (uint32_t i = 0; i <= img->bucket_mask; i++)
		heads[i] = IMAGE_NONE;
	img->unkeyed = img->unkeyed_moves = IMAGE_NONE;
	for (uint32_t i = 0; i < img->n_patterns; i++) {
		struct image_pattern *p = &patterns[i];
		bool move = p->slot == SLOT_MOVE || p->slot == SLOT_MOVE_PROTECT;
		uint32_t *head = keys[i] != PATTERN_UNKEYED ? &heads[p->hash & img->bucket_mask] : move ? &img->unkeyed_moves : &img->unkeyed;
		p->next = *head;
		*head = i;
		img->pattern_slots |= 1u << p->slot;
		if (keys[i] != PATTERN_UNKEYED)
			img->bloom[(p->hash >> 6) & 3] |= 1ull << (p->hash & 63);
	}
}

static size_t count_kind(const struct policy *p, enum rule_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_rules; i++)
		n += p->rules[i].kind == kind;
	return n;
}

/* Two passes over the same list of parts: image NULL only measures. */
static size_t lay_out(const struct builder *b, struct image *img)
{
	struct image dummy = { 0 }, *h = img ? img : &dummy;
	char *base = (char *)img;
	size_t end = (sizeof *img + 7) & ~(size_t)7, n_nodes = power_of_two((size_t)b->n_nodes * 2), n_buckets = power_of_two(b->n_patterns * 2);
	size_t n_bits = power_of_two(1024 + count_kind(b->policy, RULE_DENY_READ) * 32);
	uint32_t text;

	struct image_node *nodes = place(base, &end, &h->nodes, NULL, n_nodes * sizeof *nodes);
	struct image_pattern *patterns = place(base, &end, &h->patterns, b->patterns, b->n_patterns * sizeof *b->patterns);
	uint32_t *heads = place(base, &end, &h->buckets, NULL, n_buckets * sizeof *heads);
	struct image_rule *rules = place(base, &end, &h->rules, NULL, b->policy->n_rules * sizeof *rules);
	struct image_alias *aliases = place(base, &end, &h->aliases, b->aliases, b->n_aliases * sizeof *aliases);
	place(base, &end, &h->read_filter, NULL, n_bits / 8);
	place(base, &end, &text, b->text.s, b->text.len);
	if (!img)
		return end;

	h->node_mask = (uint32_t)n_nodes - 1;
	h->n_patterns = (uint32_t)b->n_patterns;
	h->bucket_mask = (uint32_t)n_buckets - 1;
	h->filter_mask = (uint32_t)n_bits - 1;
	h->n_rules = (uint32_t)b->policy->n_rules;
	h->n_aliases = (uint32_t)b->n_aliases;
	for (size_t i = 0; i < b->n_aliases; i++)
		h->alias_initials |= 1u << (b->text.s[b->aliases[i].from + 1] & 31);
	place_nodes(b, img, nodes, text);
	for (size_t i = 0; i < b->n_patterns; i++)
		patterns[i].text += text;
	for (size_t i = 0; i < b->n_aliases; i++)
		aliases[i].from += text, aliases[i].to += text;
	for (size_t i = 0; i < b->policy->n_rules; i++)
		rules[i] = (struct image_rule){ b->policy->rules[i].layer, b->policy->rules[i].kind };
	link_patterns(img, patterns, b->keys, heads);
	return end;
}

static void filter_name(struct image *img, const char *name, size_t len)
{
	uint32_t h = image_hash(name, len);
	uint64_t *words = (void *)((char *)img + img->read_filter);
	words[(h & img->filter_mask) >> 6] |= 1ull << (h & 63);
}

static void filter_path(struct image *img, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	if (slash && slash[1])
		filter_name(img, slash + 1, strlen(slash + 1));
	else if (slash)
		img->flags |= IMAGE_READ_UNFILTERED;
}

/* Every deny-read rule is found by its last name, or by its pattern's key; see may_deny_read() in image.c. */
static void make_read_filter(struct image *img, const struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		const char *key;
		size_t len;
		if (r->kind != RULE_DENY_READ)
			continue;
		if (!r->pattern) {
			filter_path(img, r->path);
			filter_path(img, r->written);
		} else if (pattern_key(r->path, strlen(r->path), &key, &len) == PATTERN_UNKEYED) {
			img->flags |= IMAGE_READ_UNFILTERED;
		} else {
			filter_name(img, key, len);
		}
	}
}

static uint32_t policy_flags(const struct policy *p)
{
	uint32_t flags = 0;
	for (size_t i = 0; i < p->n_rules; i++) {
		flags |= p->rules[i].kind == RULE_DENY_READ ? IMAGE_HAS_DENY_READ : 0;
		flags |= p->rules[i].kind == RULE_DENY_EXEC ? IMAGE_HAS_EXEC_RULES : 0;
	}
	flags |= p->exec_outside_roots ? IMAGE_HAS_EXEC_RULES | IMAGE_EXEC_OUTSIDE_ROOTS : 0;
	flags |= p->strict && !(flags & IMAGE_PASS_UNCOVERED) ? IMAGE_STRICT : 0;
	flags |= p->net != NET_OPEN && !p->scrub_only ? IMAGE_NET_LOOPBACK : 0;
	flags |= p->unix_open || p->scrub_only ? 0 : IMAGE_UNIX_RULES;
	flags |= p->scrub_only ? IMAGE_WRITE_OPEN : 0;
	return flags;
}

int policy_compile(const struct policy *p, const struct image_options *options, struct image **ret, size_t *ret_size, struct err *err)
{
	_cleanup_(builder_release) struct builder b = { .policy = p };

	add_everything(&b);
	add_aliases(&b);

	size_t size = lay_out(&b, NULL);
	if (size > SIZE_MAX_BYTES)
		return err_set(err, -E2BIG, "the policy is too large: %zu rules", p->n_rules);
	struct image *img = xcalloc(1, size);
	lay_out(&b, img);
	img->magic = IMAGE_MAGIC;
	img->version = IMAGE_VERSION;
	img->size = (uint32_t)size;
	img->flags = policy_flags(p) | options->extra_flags;
	make_read_filter(img, p);
	img->start_sec = options->start_sec;
	img->start_nsec = options->start_nsec;
	img->supervisor = options->supervisor;
	*ret = img;
	*ret_size = size;
	return 0;
}
