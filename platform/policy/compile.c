/* From the list of rules to the flat image: gather nodes and patterns, then lay them out. The layout is image.h's. */
#include "platform/policy/policy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/base/cleanup.h"

struct builder {
	const struct policy *policy;
	struct image_node *nodes;       /* the open-addressing table itself */
	uint32_t node_mask, n_nodes, root;
	struct image_pattern *patterns;
	size_t n_patterns, cap_patterns;
	enum pattern_key *keys;         /* of each pattern */
	struct image_alias aliases[16];
	size_t n_aliases;
	struct str text;                /* every string of the image; offsets are relative to it until the layout is known */
};

static void builder_release(struct builder *b)
{
	free(b->nodes);
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

static bool same_text(const char *a, const char *b, size_t len, bool icase)
{
	return icase ? strncasecmp(a, b, len) == 0 : memcmp(a, b, len) == 0;
}

static struct image_node *find_slot(struct builder *b, uint32_t parent, const char *name, size_t len, uint32_t hash, bool icase)
{
	for (uint32_t i = hash & b->node_mask;; i = (i + 1) & b->node_mask) {
		struct image_node *n = &b->nodes[i];
		if (!(n->flags & NODE_USED) || (n->hash == hash && n->parent == parent && n->name_len == len &&
						same_text(b->text.s + n->name, name, len, icase)))
			return n;
	}
}

/* Places are identities, so a larger table is made by putting every node in anew, parents first. */
static uint32_t move_node(struct builder *b, const struct image_node *old, uint32_t *moved, uint32_t i)
{
	struct image_node n = old[i];
	if (moved[i] != IMAGE_NONE)
		return moved[i];
	if (n.parent != IMAGE_NONE)
		n.parent = move_node(b, old, moved, n.parent);
	const char *name = b->text.s + n.name;
	n.hash = node_hash(n.parent, image_hash(name, n.name_len));
	struct image_node *place = find_slot(b, n.parent, name, n.name_len, n.hash, false);
	*place = n;
	return moved[i] = (uint32_t)(place - b->nodes);
}

static void grow_nodes(struct builder *b)
{
	_cleanup_free_ struct image_node *old = b->nodes;
	uint32_t old_size = old ? b->node_mask + 1 : 0, size = old ? old_size * 4 : 1024;
	_cleanup_free_ uint32_t *moved = xcalloc(old_size + 1, sizeof *moved);

	b->nodes = xcalloc(size, sizeof *b->nodes);
	b->node_mask = size - 1;
	memset(moved, 0xff, old_size * sizeof *moved);
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].flags & NODE_USED)
			move_node(b, old, moved, i);
	b->root = old_size ? moved[b->root] : IMAGE_NONE;
}

/* The node of a name below a parent, made where it is missing. Valid until the table grows. */
static struct image_node *get_child(struct builder *b, uint32_t parent, const char *name, size_t len, bool icase)
{
	uint32_t hash = node_hash(parent, image_hash(name, len));
	struct image_node *n = find_slot(b, parent, name, len, hash, icase);
	if (!(n->flags & NODE_USED)) {
		*n = (struct image_node){ .hash = hash, .parent = parent, .name = add_text(b, name, len), .name_len = (uint16_t)len,
					  .flags = NODE_USED | (icase ? NODE_ICASE : 0), .below_rule = IMAGE_NONE };
		for (int i = 0; i < SLOT_COUNT; i++)
			n->rule[i] = IMAGE_NONE;
		b->n_nodes++;
	}
	return n;
}

/* Every prefix of a rule's path is a node, or the walk would stop above it; each remembers what moving it would move. */
static struct image_node *add_path(struct builder *b, const char *path, bool icase, uint32_t below, uint32_t rule)
{
	/* room for every component, so that no place changes on the way */
	while ((b->n_nodes + strlen(path) / 2 + 1) * 2 > b->node_mask)
		grow_nodes(b);
	struct image_node *n = &b->nodes[b->root];
	for (const char *s = path; *s;) {
		while (*s == '/')
			s++;
		size_t len = strcspn(s, "/");
		if (!len)
			break;
		n->below |= below;
		if (below && rule != IMAGE_NONE)
			n->below_rule = rule;
		n = get_child(b, (uint32_t)(n - b->nodes), s, len, icase);
		s += len;
	}
	return n;
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

static bool slot_denies(int slot)
{
	return slot == SLOT_DENY_WRITE || slot == SLOT_DENY_DELETE || slot == SLOT_DENY_READ || slot == SLOT_DENY_EXEC;
}

static void set_rule(struct builder *b, struct image_node *n, int slot, uint32_t rule)
{
	const struct rule *rules = b->policy->rules;
	if (n->rule[slot] == IMAGE_NONE || rules[n->rule[slot]].layer <= rules[rule].layer)
		n->rule[slot] = rule;
	n->has |= (uint8_t)(1u << slot);
}

static void add_literal(struct builder *b, uint32_t index, const char *path, int slot)
{
	bool icase = b->policy->rules[index].icase;
	uint32_t below = slot_denies(slot) ? 1u << slot : 0;
	set_rule(b, add_path(b, path, icase, below, index), slot, index);
}

/* ---- patterns ---- */

static bool has_special(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr("*?[\\", s[i]))
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
	enum pattern_key kind = flags & PATTERN_TREE ? PATTERN_UNKEYED : pattern_key(text, len, &key, &key_len);
	b->keys[b->n_patterns] = kind;
	b->patterns[b->n_patterns++] = (struct image_pattern){
		.hash = kind == PATTERN_UNKEYED ? 0 : image_hash(key, key_len), .next = IMAGE_NONE, .text = add_text(b, text, len),
		.rule = rule, .text_len = (uint16_t)len, .slot = (uint8_t)slot, .flags = (uint8_t)flags,
	};
}

/*
 * A deny by pattern is only as good as the names of the directories in it: each proper prefix becomes a pattern of its own
 * that refuses moves. Prefixes without a special character are nodes, as for literal rules.
 */
static void add_move_patterns(struct builder *b, const char *text, int slot, unsigned flags, uint32_t rule)
{
	bool protect = slot == SLOT_PROTECT, anywhere = strncmp(text, "/**/", 4) == 0;
	for (const char *s = strchr(text + 1, '/'); s; s = strchr(s + 1, '/')) {
		size_t len = (size_t)(s - text);
		bool tree = len >= 3 && strncmp(s - 3, "/**", 3) == 0;
		if (anywhere && len == 3)
			continue;
		if (!has_special(text, len)) {
			_cleanup_free_ char *prefix = strndup(text, len);
			struct image_node *n = add_path(b, prefix, b->policy->rules[rule].icase, 1u << slot, rule);
			n->below |= 1u << slot;
			n->below_rule = rule;
		} else if (!tree) {
			add_pattern(b, text, len, protect ? SLOT_MOVE_PROTECT : SLOT_MOVE, flags, rule);
		} else if (!anywhere) {
			add_pattern(b, text, len, SLOT_MOVE, flags | PATTERN_TREE, rule);
		}
	}
}

static void add_pattern_rule(struct builder *b, uint32_t index, int slot)
{
	const struct rule *r = &b->policy->rules[index];
	unsigned flags = (r->icase ? PATTERN_ICASE : 0) | (slot == SLOT_PROTECT ? PATTERN_NOT_IN_NODE_MODULES : 0);
	add_pattern(b, r->path, strlen(r->path), slot, flags, index);
	if (slot_denies(slot) || slot == SLOT_PROTECT)
		add_move_patterns(b, r->path, slot, flags, index);
}

static void add_rule(struct builder *b, uint32_t index)
{
	const struct rule *r = &b->policy->rules[index];
	int slot = slot_of(r->kind);

	if (!r->path)
		return;
	if (r->kind == RULE_INTERNAL || r->kind == RULE_TMPDIR) {
		add_path(b, r->path, false, BELOW_INTERNAL, IMAGE_NONE)->flags |= r->kind == RULE_INTERNAL ? NODE_INTERNAL : NODE_TMPDIR;
	} else if (r->pattern) {
		add_pattern_rule(b, index, slot);
	} else {
		add_literal(b, index, r->path, slot);
		if (r->written && slot_denies(slot))
			add_literal(b, index, r->written, slot);
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

static void *place(char *image, uint32_t *end, uint32_t *ret_offset, const void *data, size_t size)
{
	*ret_offset = *end;
	if (image && size && data)
		memcpy(image + *end, data, size);
	*end += (uint32_t)((size + 7) & ~(size_t)7);
	return image ? image + *ret_offset : NULL;
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

/* Two passes over the same list of parts: image NULL only measures. */
static uint32_t lay_out(const struct builder *b, struct image *img)
{
	struct image dummy = { 0 }, *h = img ? img : &dummy;
	char *base = (char *)img;
	uint32_t end = (sizeof *img + 7) & ~7u, text;
	size_t n_buckets = power_of_two(b->n_patterns * 2);

	struct image_node *nodes = place(base, &end, &h->nodes, b->nodes, ((size_t)b->node_mask + 1) * sizeof *b->nodes);
	struct image_pattern *patterns = place(base, &end, &h->patterns, b->patterns, b->n_patterns * sizeof *b->patterns);
	uint32_t *heads = place(base, &end, &h->buckets, NULL, n_buckets * sizeof *heads);
	struct image_rule *rules = place(base, &end, &h->rules, NULL, b->policy->n_rules * sizeof *rules);
	struct image_alias *aliases = place(base, &end, &h->aliases, b->aliases, b->n_aliases * sizeof *aliases);
	place(base, &end, &text, b->text.s, b->text.len);
	if (!img)
		return end;

	h->node_mask = b->node_mask;
	h->root = b->root;
	h->n_patterns = (uint32_t)b->n_patterns;
	h->bucket_mask = (uint32_t)n_buckets - 1;
	h->n_rules = (uint32_t)b->policy->n_rules;
	h->n_aliases = (uint32_t)b->n_aliases;
	for (size_t i = 0; i < b->n_aliases; i++)
		h->alias_initials |= 1u << (b->text.s[b->aliases[i].from + 1] & 31);
	for (uint32_t i = 0; i <= b->node_mask; i++)
		nodes[i].name += text;
	for (size_t i = 0; i < b->n_patterns; i++)
		patterns[i].text += text;
	for (size_t i = 0; i < b->n_aliases; i++)
		aliases[i].from += text, aliases[i].to += text;
	for (size_t i = 0; i < b->policy->n_rules; i++)
		rules[i] = (struct image_rule){ b->policy->rules[i].layer, b->policy->rules[i].kind };
	link_patterns(img, patterns, b->keys, heads);
	return end;
}

static uint32_t policy_flags(const struct policy *p)
{
	uint32_t flags = 0;
	for (size_t i = 0; i < p->n_rules; i++) {
		flags |= p->rules[i].kind == RULE_DENY_READ ? IMAGE_HAS_DENY_READ : 0;
		flags |= p->rules[i].kind == RULE_DENY_EXEC ? IMAGE_HAS_EXEC_RULES : 0;
	}
	flags |= p->exec_outside_roots ? IMAGE_HAS_EXEC_RULES | IMAGE_EXEC_OUTSIDE_ROOTS : 0;
	flags |= p->strict ? IMAGE_STRICT : 0;
	flags |= p->net == NET_OFF ? IMAGE_NET_OFF : 0;
	flags |= p->unix_open || p->scrub_only ? 0 : IMAGE_UNIX_RULES;
	flags |= p->scrub_only ? IMAGE_WRITE_OPEN : 0;
	return flags;
}

int policy_compile(const struct policy *p, const struct image_options *options, struct image **ret, size_t *ret_size, struct err *err)
{
	_cleanup_(builder_release) struct builder b = { .policy = p };

	grow_nodes(&b);
	struct image_node *root = get_child(&b, IMAGE_NONE, "", 0, false);
	b.root = (uint32_t)(root - b.nodes);
	for (uint32_t i = 0; i < p->n_rules; i++)
		add_rule(&b, i);
	for (size_t i = 0; i < p->listed.n; i++)
		add_path(&b, p->listed.v[i], false, 0, IMAGE_NONE)->flags |= NODE_LISTED;
	add_aliases(&b);

	uint32_t size = lay_out(&b, NULL);
	if (size > 64u << 20)
		return err_set(err, -E2BIG, "the policy is too large: %zu rules", p->n_rules);
	struct image *img = xcalloc(1, size);
	lay_out(&b, img);
	img->magic = IMAGE_MAGIC;
	img->version = IMAGE_VERSION;
	img->size = size;
	img->flags = policy_flags(p) | options->extra_flags;
	img->start_sec = options->start_sec;
	img->start_nsec = options->start_nsec;
	img->supervisor = options->supervisor;
	*ret = img;
	*ret_size = size;
	return 0;
}
