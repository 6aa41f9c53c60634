/* Between settings.c (text, types, positions), settings_keys.c (what each key does) and settings_credentials.c. */
#pragma once
#include <jansson.h>
#include "platform/policy/json_position.h"
#include "platform/policy/policy.h"

/*
 * The formats are told apart by content. A Claude Code file has its sandbox keys in an object "sandbox", and "permissions"; what else
 * stands in it is none of our business. In the others the keys of "sandbox" stand at the top.
 */
enum form { FORM_RUNTIME, FORM_CLAUDE };

struct reader {
	struct policy *p;
	const char *name; /* of the file, for messages */
	enum layer layer;
	enum form form;
	const char *base;  /* what relative paths of a Claude Code file are relative to; NULL: cwd */
	bool tighten_only; /* a project's file that nobody trusted */
	struct json_cursor cursor;
	const char *text; /* for positions */
	size_t len;
	struct err *err;
};

enum value_type { ANY, BOOL, NUMBER, STRING, OBJECT, ARRAY, STRINGS, PATHS };

/* Which values of a key loosen, so that a project's file may not say them: the fifth column of settings_keys.def. */
enum loosens {
	NEVER, ALWAYS /* but for an empty list or object */, ANY_VALUE, IF_TRUE, IF_FALSE,
	BY_CHOICE, /* the handler asks settings_may_choose() */
	WRITE_ROOTS, /* roots outside the project, and others: see settings_drop_loosening() */
	ONLY_MANAGED, /* only the managed file may say it */
};

struct settings_key {
	const char *path;
	enum value_type type;
	int (*read)(struct reader *, const struct settings_key *, const struct json_step *, json_t *);
	size_t argument;
	enum loosens loosens;
	const char *words;
};

/* The table, and its size. */
extern const struct settings_key settings_keys[];
extern const size_t n_settings_keys;

/* settings_forms.c: the same for the whole document, in whichever form it is. */
int settings_read_document(struct reader *, json_t *root);
/* Reads the members of an object by the table. 0 or a negative errno with words. */
int settings_read_object(struct reader *, const struct json_step *at, json_t *object);

/* "NAME:LINE:COLUMN: key: ..." ; -EINVAL. */
int settings_error(struct reader *, const struct json_step *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "found X, expected Y" */
int settings_wrong_type(struct reader *, const struct json_step *at, const json_t *found, const char *expected);
/* "NAME:LINE:COLUMN: key", as rules show it; owned. */
char *settings_origin(struct reader *, const struct json_step *at);
/* A warning about the key. */
void settings_warn(struct reader *, const struct json_step *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Warns about a key that is not known; names are the known ones of its object. */
void settings_unknown(struct reader *, const struct json_step *at, const char *const *names, size_t n);

/* The index of the string among names, or -EINVAL with words. */
int settings_choose(struct reader *, const struct json_step *at, const json_t *value, const char *const *names, size_t n);
/* policy_add() with the origin and the position of the entry. 0 or a negative errno. */
int settings_add_path(struct reader *, const struct json_step *at, enum rule_kind kind, const char *path, unsigned flags);
void settings_add_once(struct strv *list, const char *text);

/* May this file decide the value? A higher layer, or the first file of the same one, has the word; warns when not. */
bool settings_decides(struct reader *, enum scalar, const struct json_step *at);

/* settings_trust.c: may this file say that? If not, there is a warning, and the value is in p->loosening. */
bool settings_may(struct reader *, const struct settings_key *, const struct json_step *at, const json_t *value);
/* The same for a choice: now and wanted grow with what they allow. */
bool settings_may_choose(struct reader *, const struct json_step *at, const json_t *value, int now, int wanted);
/* Is the file trusted, with this very content? name: ".hurdle.json", as seen from cwd. */
bool settings_trusted(const struct policy *p, const char *name, const char *text, size_t len);
/* Reads text for r, which has everything but p's share. */
int settings_read_text(struct reader *);

/* settings_kept.c: what the policy keeps as it stands. */
int settings_read_list(struct reader *, const struct settings_key *, const struct json_step *at, json_t *array);
int settings_read_reasons(struct reader *, const struct settings_key *, const struct json_step *at, json_t *object);
int settings_read_port(struct reader *, const struct settings_key *, const struct json_step *at, json_t *number);
int settings_read_parent_proxy(struct reader *, const struct settings_key *, const struct json_step *at, json_t *object);
int settings_read_ignored(struct reader *, const struct settings_key *, const struct json_step *at, json_t *object);
/* settings_permissions.c */
int settings_read_permissions(struct reader *, const struct settings_key *, const struct json_step *at, json_t *object);

int settings_read_env_credentials(struct reader *, const struct settings_key *, const struct json_step *at, json_t *array);
int settings_read_file_credentials(struct reader *, const struct settings_key *, const struct json_step *at, json_t *array);
