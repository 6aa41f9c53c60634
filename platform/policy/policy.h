/*
 * The policy: what is allowed, as a list of rules that each know where they came from. Built once (settings.c, defaults.c, the
 * command line), then compiled (compile.c) into the image that every enforcer asks. Nothing downstream reads settings again.
 */
#pragma once
#include "platform/base/err.h"
#include "platform/base/str.h"
#include "platform/policy/image.h"

enum layer { LAYER_DEFAULT, LAYER_USER, LAYER_PROJECT, LAYER_LOCAL, LAYER_FLAGS, LAYER_MANAGED, LAYER_COUNT };

enum rule_kind {
	RULE_ALLOW_WRITE, RULE_DENY_WRITE, RULE_DENY_DELETE, RULE_ALLOW_READ, RULE_DENY_READ, RULE_DENY_EXEC, RULE_GRANT_EXEC,
	RULE_ALLOW_SOCKET, RULE_PROTECT_NAME, RULE_INTERNAL, RULE_TMPDIR, RULE_NET, RULE_ENV, RULE_SESSION, RULE_KIND_COUNT,
};

/* Rows of guarantees.def. */
enum guarantee {
#define GUARANTEE(id, name, best, text) G_##id,
#include "platform/policy/guarantees.def"
#undef GUARANTEE
	G_COUNT,
};
enum level { LEVEL_NONE, LEVEL_APPLICATION, LEVEL_SUPERVISED, LEVEL_KERNEL, LEVEL_NA };

struct guarantee_info { const char *name; enum level best; const char *text; };
const struct guarantee_info *guarantee_info(enum guarantee);
const char *level_name(enum level);
int level_parse(const char *name, enum level *ret);         /* -EINVAL; "best" is not a level */
int guarantee_parse(const char *name, enum guarantee *ret); /* -EINVAL */

struct rule {
	enum rule_kind kind;
	enum guarantee guarantee;
	enum layer layer;
	bool pattern;        /* path is an absolute glob; else an absolute literal path, symlinks resolved */
	bool icase;
	bool listed;         /* NODE_LISTED */
	bool untrusted;      /* a write root that an untrusted project's file names; gone once the defaults are added, if it loosens */
	char *text;          /* as the user or the table wrote it; owned */
	char *path;          /* owned; NULL for rules that are not about paths */
	char *written;       /* second spelling of a literal path, before symlinks were resolved; NULL when it is the same */
	char *origin;        /* "default", "--allow-write", "FILE: filesystem.denyRead[2]"; owned */
};

enum net_mode { NET_FILTER, NET_OFF, NET_OPEN };
enum cache_mode { CACHES_PRIVATE, CACHES_SHARED, CACHES_NONE };
struct required { enum guarantee guarantee; enum level level; bool best; char *origin; };

/* Keys with one value. */
enum scalar {
	SCALAR_NET, SCALAR_CACHES, SCALAR_STRICT, SCALAR_EXEC_FROM, SCALAR_GIT_CONFIG, SCALAR_PROFILE, SCALAR_ENABLED, SCALAR_UNIX,
	SCALAR_BACKEND, SCALAR_STRICT_ALLOWLIST, SCALAR_HTTP_PROXY, SCALAR_SOCKS_PROXY, SCALAR_PARENT_HTTP, SCALAR_PARENT_HTTPS,
	SCALAR_PARENT_NO_PROXY, SCALAR_UNSANDBOXED, SCALAR_AUTO_ALLOW, SCALAR_MANAGED_DOMAINS, SCALAR_MANAGED_READS, SCALAR_NESTED_USERNS, SCALAR_WEAKER_NESTED,
	SCALAR_COUNT,
};

/*
 * What is kept as it stands in the files, for who acts on it: the proxy (domains, addresses) and hurdle decide (commands). Entries
 * are in the order in which they were read. given: somebody said the key, even if its list was empty; an allowedDomains that was
 * given and is empty allows nothing; one that was not given leaves the default list, to which its entries (of permissions) add. What a project's file may not say is not here.
 */
enum list {
	LIST_ALLOWED_DOMAINS, LIST_DENIED_DOMAINS, LIST_DOMAIN_REASONS /* text: the denied entry, value: why */, LIST_DENIED_ADDRESSES,
	LIST_EXCLUDED_COMMANDS, LIST_PLATFORMS /* enabledPlatforms */, LIST_SAFE_DIRECTORIES /* git.safeDirectories */,
	LIST_IGNORED_VIOLATIONS /* text: part of a violation's line, value: part of the command, or "*" */,
	LIST_ENV_KEEP, LIST_ENV_DROP, LIST_ENV_SET, /* as env_keep and its kind, with their origins; flags are not here */
	LIST_FILES /* that were read; value: NULL, or "untrusted" */, LIST_COUNT,
};
struct item { char *text, *value, *origin; enum layer layer; }; /* all owned; value: NULL for most */
struct items { struct item *v; size_t n; bool given; };

/* A rule of Claude Code's permissions. "Bash(npm run *)" has the tool "Bash" and the argument "npm run *"; "Bash", "Bash()" and
 * "Bash(*)" have no argument (NULL) and mean every use. "\(", "\)" and "\\" in the text stand for the second character. */
enum permission_list { PERMISSION_ALLOW, PERMISSION_ASK, PERMISSION_DENY };
struct permission { enum permission_list list; enum layer layer; char *tool, *argument, *text, *origin; };

struct policy {
	struct rule *rules;
	size_t n_rules, cap;
	uint32_t *index_heads, *index_next; /* rules by the hash of their path: rules.c */
	size_t index_size, indexed;
	char *cwd, *home;             /* real paths; home may be NULL */
	enum net_mode net;
	enum layer net_layer;
	enum cache_mode caches;
	bool strict;                  /* refuse programs that the shim cannot enter */
	bool exec_outside_roots;
	bool allow_git_config;
	bool scrub_only;              /* profile scrub, --no-sandbox, enabled:false: the environment alone */
	bool profile_strict;
	char *scrub_only_origin;      /* why, for the run line */
	bool no_cwd_root;             /* cwd is /, HOME or above: no write root by default */
	struct strv env_keep, env_drop, env_set; /* names or globs; NAME=VALUE */
	bool no_handles, unix_open;   /* unix_open: every unix socket is allowed */
	struct required *required;
	size_t n_required;
	struct strv warnings;         /* entries that change nothing: "FILE: key: reason" */
	struct strv settings_files;   /* every settings file that was read: its real path, and the path that it was read by */
	char *config;                 /* hurdle's own configuration directory, protected in every run; NULL: no home directory */
	char *trusted;                /* the text of its file "trusted"; NULL: none */
	bool write_list, narrowed;    /* a sandbox-runtime file names the write roots, so cwd is none by itself; narrowed: not just an
	                               * untrusted project's file does */
	bool nested_userns;           /* allowNestedUserNamespaces */
	bool weaker_nested;           /* enableWeakerNestedSandbox: bwrap without a /proc of its own, which containers refuse */
	bool managed_domains_only, managed_read_only; /* allowManagedDomainsOnly, allowManagedReadPathsOnly */
	struct strv loosening;        /* what untrusted files would loosen: "filesystem.allowRead" and the value */
	struct strv listed;           /* directories that count as old where there are no birth times */
	struct strv backends;         /* mechanisms asked for by name, in order; none: auto */
	enum layer set_by[SCALAR_COUNT]; /* who decided each single value so far: the highest layer does */
	char *set_origin[SCALAR_COUNT];  /* in whose words; NULL: nobody's */
	struct items lists[LIST_COUNT];
	struct permission *permissions;  /* in the order in which they were read */
	size_t n_permissions;
	bool strict_allowlist;           /* hosts on no list are refused without asking */
	uint16_t http_proxy_port, socks_proxy_port; /* of a proxy that runs already; 0: ours */
	char *parent_http, *parent_https, *parent_no_proxy; /* parentProxy; NULL: not said */
	bool allow_unsandboxed, auto_allow_bash; /* allowUnsandboxedCommands, autoAllowBashIfSandboxed; both true unless said */
	struct strv real_dirs;        /* directories known to exist free of links, so that resolving below them is cheap */
	struct strv icase_mounts;     /* mount points that compare names without case; filled at the first need */
	bool icase_known;
};

struct policy *policy_new(const char *cwd, const char *home); /* cwd, home: real, absolute */
void policy_free(struct policy *p);

enum { ADD_LITERAL = 1, /* no character of the text is special */
       ADD_ANYWHERE = 2, /* a pattern that does not begin with / or ~ holds in every directory, not only below base */
       ADD_ICASE = 4,
       ADD_UNTRUSTED = 16, /* struct rule.untrusted */
       ADD_OF_FILE = 8 /* an entry of a settings file: a write root that does not exist only warns, also on the flags layer */ };

/*
 * Adds one rule from its text: ~ and relative paths (against base) resolved, a trailing "/", "/." or "/" followed by two stars stripped, patterns
 * recognised (* ? [), symlinks resolved also of the longest existing ancestor. Returns 1 when added; 0 when the entry does
 * nothing (a warning was recorded); -EINVAL/-ENAMETOOLONG/-ELOOP with words when it must stop the start.
 * origin is copied.
 */
int policy_add(struct policy *p, enum rule_kind kind, enum layer layer, const char *text, const char *base, unsigned flags,
	       const char *origin, struct err *err);
/* Adds a literal rule whose path is real already, or must not be resolved (/dev/stdout). */
void policy_add_exact(struct policy *p, enum rule_kind kind, enum layer layer, const char *path, const char *origin);
enum { WARNINGS_MAX = 200 }; /* nobody reads more, and a project's file may have any number of them */
void policy_warn(struct policy *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* lists.c. Texts are copied; value may be NULL. The same text (and value, but for reasons) twice in one list is one entry, of the
 * higher layer. */
void policy_add_item(struct policy *p, enum list list, enum layer layer, const char *text, const char *value, const char *origin);
/* Reads "Tool" or "Tool(argument)". -EINVAL: it is neither. */
int policy_add_permission(struct policy *p, enum permission_list list, enum layer layer, const char *text, const char *origin);
/* The single value is decided by this layer from now on. */
void policy_decided(struct policy *p, enum scalar scalar, enum layer layer, const char *origin);
/* NAME=VALUE into env_set, in place of what was said of that name before. */
void policy_set_variable(struct policy *p, const char *assignment);
void policy_lists_release(struct policy *p);
void item_release(struct item *i);
void rule_release(struct rule *r);
/* To be called after rules were taken out of the array. */
void policy_forget_index(struct policy *p);
int policy_require(struct policy *p, const char *guarantee, const char *level, const char *origin, struct err *err);

/* paths.c: pure text. Joins base and text, collapses "//", "/./" and, textually, "x/..". Owned result. */
char *path_absolute(const char *text, const char *base, const char *home);
bool path_is_pattern(const char *text);
bool path_under(const char *path, const char *root); /* path equals root or lies below it, whole components */
/* Touches the disk: symlinks resolved, also where the tail does not exist yet; a dangling link is followed. -ELOOP, -ENAMETOOLONG. */
int path_resolve(const char *absolute, char **ret);

/*
 * settings.c: one JSON file of a layer; err names file:line:column. 0, or a negative errno when the run must not start. Relative
 * paths are taken from cwd. A single value counts when its layer is higher than that of who set it before; the command line sets its
 * own after the files. A file of the project or local layer may only tighten (its keys that loosen warn), unless it is trusted.
 */
int policy_read_settings(struct policy *p, const char *file, enum layer layer, struct err *err);
/* The same for text that was read already; name stands for the file in messages. Nothing that it says is trusted. */
int policy_read_settings_text(struct policy *p, const char *text, size_t len, const char *name, enum layer layer, struct err *err);

/*
 * layers.c: every settings file of a run, lowest layer first: the user's (config/settings.json and Claude Code's), the project's (in
 * cwd), files (the flags layer), and managed. What does not exist is left out, but for files. Later allowManaged* are applied.
 */
struct layer_files {
	const char *config;         /* $XDG_CONFIG_HOME/hurdle; NULL: none */
	const char *claude;         /* ~/.claude, or where CLAUDE_CONFIG_DIR says; NULL: none */
	const char *managed;        /* /etc/hurdle/managed.json */
	const struct strv *named;   /* --settings */
	bool only_named;            /* --no-settings: these and managed alone */
};
#define MANAGED_SETTINGS "/etc/hurdle/managed.json"
int policy_read_layers(struct policy *p, const struct layer_files *files, struct err *err);
/* What allowManagedDomainsOnly and allowManagedReadPathsOnly take away, once all files and options are read. */
void policy_apply_managed(struct policy *p);
/* Takes over config (copied) and reads which files are trusted. */
void policy_use_config(struct policy *p, const char *config);

/* defaults.c: settings.md §4, after everything the user said was added. */
int policy_add_defaults(struct policy *p, struct err *err);

/* compile.c. *ret is owned by the caller (free). start: the moment before which directories count as old. */
struct image_options {
	int64_t start_sec; uint32_t start_nsec;
	uint32_t supervisor;   /* pid */
	uint32_t extra_flags;  /* IMAGE_OPENAT2, IMAGE_PASS_UNCOVERED: what the host has */
};
int policy_compile(const struct policy *p, const struct image_options *options, struct image **ret, size_t *ret_size, struct err *err);

/* words.c: "not under a write root", "denyRead ~/.ssh/id_* (default)". Owned. rule: IMAGE_NONE or an index. */
char *policy_rule_words(const struct policy *p, uint32_t rule, enum access access);
const char *rule_kind_name(enum rule_kind); /* "allowWrite", as in settings files */
