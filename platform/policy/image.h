/*
 * The compiled policy: one flat, read-only block that holds offsets only, so that it can be mapped at any address in any
 * process, and the matcher over it. Freestanding C: this header and image.c are compiled into the preload shim, which has
 * no libc. The writer is compile.c.
 *
 * The decisions are those of settings.md: deny wins for writing, the most specific wins for reading, patterns are live.
 * Their cost depends on the length of the path, not on the number of rules: a walk over its components looks each
 * component up below its parent in a hash table of rule paths (and stops looking where no rule path goes on), and in a hash
 * table of patterns by their last name.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAGIC   0x31647268u /* "hrd1" */
#define IMAGE_VERSION 1u
#define IMAGE_NONE    0xffffffffu /* no rule, no entry */

/* What a rule says about a path. One slot each in a node; patterns carry the number. */
enum image_slot {
	SLOT_ALLOW_WRITE,
	SLOT_DENY_WRITE,
	SLOT_DENY_DELETE,  /* removing and renaming only */
	SLOT_ALLOW_READ,
	SLOT_DENY_READ,
	SLOT_DENY_EXEC,
	SLOT_GRANT_EXEC,   /* where programs may run although it is writable (IMAGE_EXEC_OUTSIDE_ROOTS) */
	SLOT_ALLOW_SOCKET, /* unix socket that may be connected to */
	SLOT_COUNT,
	/* patterns only */
	SLOT_PROTECT = SLOT_COUNT, /* a protected name: denied for writing where the directory that holds it is old */
	SLOT_MOVE,                 /* a directory of a pattern: moving it would move files out from under the pattern */
	SLOT_MOVE_PROTECT,         /* likewise of a protected name */
};

/* What is asked. The path is always the real one: absolute, no symlink, "." , ".." or doubled slash in it. */
enum access {
	ACCESS_READ,    /* content: open, list, link, xattr */
	ACCESS_WRITE,   /* change what exists */
	ACCESS_CREATE,  /* make a name */
	ACCESS_DELETE,  /* remove a name, or replace it by a rename */
	ACCESS_MOVE,    /* take a directory away, or put one there: ACCESS_DELETE, and also what lies inside */
	ACCESS_EXEC,
	ACCESS_CONNECT, /* connect to a unix socket */
};

enum outcome {
	OUTCOME_ALLOW,
	OUTCOME_DENY,
	OUTCOME_DENY_IF_OLD, /* deny when the directory path[0..holder_len) was born before image->start_* */
};

struct verdict {
	enum outcome outcome;
	uint32_t rule;       /* index of the rule that decided, or IMAGE_NONE: no rule allows it */
	uint32_t holder_len; /* OUTCOME_DENY_IF_OLD */
	bool holder_listed;  /* what to assume where the file system has no birth times */
	/* Protected names may lie in one another; an old directory may have been moved into a new one. So deny, too, when the
	 * innermost holder, path[0..inner_len), is old. The same as holder_len where there is but one. */
	uint32_t inner_len;
	bool inner_listed;
	bool crosses; /* of a move: what lies inside would come under other patterns, so it may only go file by file (EXDEV) */
};

enum image_flags {
	IMAGE_HAS_DENY_READ      = 1u << 0, /* some rule may refuse a read: else read-only opens need no look at all */
	IMAGE_HAS_EXEC_RULES     = 1u << 1,
	IMAGE_EXEC_OUTSIDE_ROOTS = 1u << 2, /* nothing under an allowed write root may be run */
	IMAGE_STRICT             = 1u << 3, /* programs that the shim cannot enter are refused */
	IMAGE_NET_LOOPBACK       = 1u << 4, /* only loopback, where the proxy is if there is one */
	IMAGE_UNIX_RULES         = 1u << 5, /* unix sockets are judged by path */
	IMAGE_OPENAT2            = 1u << 6, /* this kernel has openat2(2) with RESOLVE_NO_SYMLINKS (Linux 5.6) */
	IMAGE_WRITE_OPEN         = 1u << 7, /* no write rules at all (scrub profile): every write is allowed */
	IMAGE_PASS_UNCOVERED     = 1u << 8, /* another mechanism holds programs that the shim cannot enter */
	IMAGE_HIDES              = 1u << 10, /* denied directories are hidden by the file tree itself, so the kernel's answer may be the policy's */
	IMAGE_READ_UNFILTERED    = 1u << 9, /* some deny-read rule has no name to filter by */
	/* from here a bit per enum shim_class (wire.h): its shim lies beside the image */
	IMAGE_SHIMS_AT           = 10, IMAGE_SHIMS = 3u << IMAGE_SHIMS_AT,
};

enum node_flags {
	NODE_ICASE    = 1u << 0, /* compare without case (ASCII): a case-insensitive mount. An exact sibling goes first, and carries
				  * what this one says */
	NODE_LISTED   = 1u << 1, /* counts as old where there are no birth times: cwd, HOME, repositories found at the start */
	NODE_INTERNAL = 1u << 2, /* hurdle's own files: readable, never writable, outside every rule */
	NODE_TMPDIR   = 1u << 3, /* the session's temporary directory: everything allowed, outside every rule */
	NODE_USED     = 1u << 7, /* a place of the table that holds a node */
};

#define BELOW_INTERNAL (1u << 31) /* in below: hurdle's own files */

struct image_node {
	uint32_t hash;     /* node_hash(parent, name) */
	uint32_t parent;   /* its position in the table; IMAGE_NONE for the root, whose name is empty */
	uint32_t name;     /* offset of the last component's text */
	uint16_t name_len;
	uint8_t  flags;
	uint8_t  has;      /* bit i: rule[i] is set */
	uint32_t below;    /* bit i: a rule of slot i has its path below, so that moving this directory would move it */
	uint32_t below_rule; /* some such rule, a deny where there is one, for the message */
	uint32_t rule[SLOT_COUNT];
};

enum pattern_flags {
	PATTERN_ICASE    = 1u << 0,
	PATTERN_NOT_IN_NODE_MODULES = 1u << 1,
	PATTERN_TREE     = 1u << 2, /* SLOT_MOVE whose text ends in "**": only a move out of the tree matters */
	PATTERN_INTO     = 1u << 3, /* SLOT_MOVE of an allowRead: only a move to where it did not match before matters */
	PATTERN_WHOLE_NAME = 1u << 4, /* SLOT_PROTECT of several components: also the directory that holds the first one counts */
};

enum pattern_key { PATTERN_BY_NAME, PATTERN_BY_EXTENSION, PATTERN_UNKEYED };

struct image_pattern {
	uint32_t hash;  /* of the key */
	uint32_t next;  /* index of the next pattern in the bucket, lower than its own; IMAGE_NONE at the end */
	uint32_t text;  /* offset; an absolute glob */
	uint32_t rule;
	uint16_t text_len;
	uint8_t  slot;
	uint8_t  flags;
};

struct image_rule { uint32_t layer; uint32_t kind; };

/* A symlink in the root directory that does not change during a run (/bin -> usr/bin): rewritten before the look-up, so that
 * common paths stay on the fast road. The kernel proves it each time, so a stale one costs time, never truth. */
struct image_alias { uint32_t from, to; uint16_t from_len, to_len; };
enum { IMAGE_ALIASES = 16 };

struct image {
	uint32_t magic, version, size, flags;
	_Alignas(8) int64_t start_sec;   /* CLOCK_REALTIME at the start of the run, for birth times */
	uint32_t start_nsec;
	uint32_t supervisor;   /* pid, as the supervisor sees it */
	uint32_t nodes, node_mask;       /* offset of the open-addressing table, mask + 1 places */
	uint32_t root;                   /* place of the node of "/" */
	uint32_t patterns, n_patterns;
	uint32_t buckets, bucket_mask;   /* offset of the heads, by key hash */
	uint32_t unkeyed;                /* head of the list of patterns without a key */
	uint32_t unkeyed_moves;          /* likewise, those that only matter to ACCESS_MOVE */
	uint32_t rules, n_rules;
	uint32_t aliases, n_aliases;
	uint32_t alias_initials;         /* bit c & 31: an alias begins with "/" and c */
	uint32_t pattern_slots;          /* bit i: some pattern has slot i */
	_Alignas(8) uint64_t bloom[4];   /* of the key hashes */
	uint32_t read_filter, filter_mask; /* bits (64 to the word, mask + 1 of them) of the last names and keys of the deny-read rules */
};

/* A 64-bit supervisor writes for 32-bit shims as well, where a 64-bit integer needs no more than four bytes' alignment if not told. */
_Static_assert(sizeof(struct image) == 136 && offsetof(struct image, bloom) == 96, "the same for every word size");
_Static_assert(sizeof(struct image_node) == 24 + 4 * SLOT_COUNT && sizeof(struct image_pattern) == 20, "the same for every word size");
_Static_assert(sizeof(struct image_rule) == 8 && sizeof(struct image_alias) == 12, "the same for every word size");

/* True when the block is a whole image of this version: tables inside, their sizes powers of two. What the tables hold is not
 * read, since every program start asks this; the matcher never leaves the block whatever they hold. */
bool image_valid(const struct image *img, size_t size);

/* The one decision function. path[0..len) as said above; "/" is allowed. Never fails. */
void policy_decide(const struct image *img, enum access access, const char *path, size_t len, struct verdict *ret);

/*
 * As ACCESS_MOVE for both ends of a directory's rename at once: a move inside one tree pattern is no move out of it.
 * OUTCOME_DENY_IF_OLD is the first end's where both have it: ask ACCESS_MOVE for each end then; nothing else stands against it.
 */
void policy_decide_move(const struct image *img, const char *from, size_t from_len, const char *to, size_t to_len, struct verdict *ret);

/* glob.c. Over whole paths: * and ? stay inside a component, ** as a whole component crosses any number (also none), [...] is a
 * set with ranges and !, backslash takes the next byte as it is, also in a set. */
bool glob_match(const char *pattern, size_t pattern_len, const char *path, size_t path_len, bool icase);

static inline unsigned char image_fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}
static inline bool image_same(const char *a, const char *b, size_t len, bool icase)
{
	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i] && (!icase || image_fold(a[i]) != image_fold(b[i])))
			return false;
	return true;
}

/* The hash of a name; ASCII case is folded for every entry, exactness is the comparison's business. */
uint32_t image_hash(const char *text, size_t len);
/* ... of a name below a node. */
static inline uint32_t node_hash(uint32_t parent, uint32_t name_hash)
{
	uint32_t h = (name_hash ^ (parent * 0x85ebca6bu)) * 0x9e3779b1u;
	return h ^ (h >> 15);
}
