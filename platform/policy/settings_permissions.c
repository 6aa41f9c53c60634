/*
 * The permissions of Claude Code: kept as they stand for who decides about commands, and those that name paths or hosts made into
 * rules. Its paths are written as in gitignore(5): "//x" is absolute, "/x" below what the file governs, "./x" and "a/x" below the
 * current directory, and a name without a slash is any file of that name.
 */
#include <errno.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/egress.h"
#include "platform/policy/settings_private.h"

enum { ENTRIES_MAX = 16384 };

/* ---- paths ---- */

/* "**", "*" and their kind below a directory are that directory. */
static bool is_everything(const char *s)
{
	return !s[strspn(s, "*/.")] && strchr(s, '*');
}

static int add_rule(struct reader *r, const struct json_step *at, enum rule_kind kind, const char *path, const char *base, unsigned flags)
{
	_cleanup_free_ char *origin = settings_origin(r, at);
	int code = policy_add(r->p, kind, r->layer, path, base, flags | ADD_OF_FILE, origin, r->err);

	return code < 0 ? code : 0;
}

/* "/x" means the project's; who writes it mostly means that, but some mean the whole disk. A denial holds for both. */
static int add_rooted(struct reader *r, const struct json_step *at, enum rule_kind kind, const char *path)
{
	_cleanup_free_ char *below = strf(".%s", path);
	const bool all = is_everything(path + 1) || !path[1];
	int code = add_rule(r, at, kind, all ? "." : below, r->base, 0);

	return code < 0 || all || kind == RULE_ALLOW_WRITE ? code : add_rule(r, at, kind, path, NULL, 0);
}

/* A name without a slash, but for one at its end, is a name in every directory. */
static int add_name(struct reader *r, const struct json_step *at, enum rule_kind kind, const char *name)
{
	_cleanup_free_ char *pattern = strf(kind == RULE_ALLOW_WRITE ? "./**/%s" : "**/%s", name);

	return add_rule(r, at, kind, pattern, NULL, 0);
}

static int add_path(struct reader *r, const struct json_step *at, enum rule_kind kind, const char *path)
{
	const char *slash = strchr(path, '/');

	if (path[0] == '/')
		return path[1] == '/' ? add_rule(r, at, kind, path + 1, NULL, 0) : add_rooted(r, at, kind, path);
	if (is_everything(path))
		return add_rule(r, at, kind, ".", NULL, 0);
	if (path[0] != '~' && strcmp(path, ".") && strcmp(path, "..") && (!slash || !slash[1]))
		return add_name(r, at, kind, path);
	return add_rule(r, at, kind, path, NULL, 0);
}

/* ---- hosts ---- */

/* Hosts of permissions add to what is allowed anyway, so they do not count as a list that somebody gave. */
static void add_host(struct reader *r, const struct json_step *at, enum list list, const char *host)
{
	struct host_pattern pattern;
	const char *why, *hint;
	const bool given = r->p->lists[list].given;
	_cleanup_free_ char *origin = NULL;

	if (host_pattern_parse(host, list == LIST_DENIED_DOMAINS, &pattern, &why, &hint) < 0) {
		settings_warn(r, at, "'%s' is no host: %s; no rule follows from it", host, why);
		return;
	}
	origin = settings_origin(r, at);
	policy_add_item(r->p, list, r->layer, host, NULL, origin);
	r->p->lists[list].given = given;
}

/* ---- one permission ---- */

static bool is_tool(const struct permission *p, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(p->tool, *names))
			return true;
	return false;
}

static int apply(struct reader *r, const struct json_step *at, const struct permission *p)
{
	/* Edit stands for all of them; a denial of any is a denial */
	static const char *const edit[] = { "Edit", NULL }, *const edits[] = { "Edit", "Write", "MultiEdit", "NotebookEdit", NULL },
				 *const read[] = { "Read", NULL }, *const fetch[] = { "WebFetch", NULL };

	if (!p->argument || p->list == PERMISSION_ASK)
		return 0;
	if (is_tool(p, p->list == PERMISSION_ALLOW ? edit : edits))
		return add_path(r, at, p->list == PERMISSION_ALLOW ? RULE_ALLOW_WRITE : RULE_DENY_WRITE, p->argument);
	if (is_tool(p, read) && p->list == PERMISSION_DENY)
		return add_path(r, at, RULE_DENY_READ, p->argument);
	if (is_tool(p, fetch) && !strncmp(p->argument, "domain:", 7))
		add_host(r, at, p->list == PERMISSION_ALLOW ? LIST_ALLOWED_DOMAINS : LIST_DENIED_DOMAINS, p->argument + 7);
	return 0;
}

static int read_one(struct reader *r, const struct json_step *at, enum permission_list list, const json_t *value)
{
	_cleanup_free_ char *origin = settings_origin(r, at);

	if (!json_is_string(value))
		return settings_wrong_type(r, at, value, "a rule, such as \"Bash(npm test)\"");
	if (policy_add_permission(r->p, list, r->layer, json_string_value(value), origin) == 0)
		return apply(r, at, &r->p->permissions[r->p->n_permissions - 1]);
	settings_warn(r, at, "'%s' is no rule, such as \"Bash(npm test)\"; it is ignored", json_string_value(value));
	return 0;
}

static int read_list(struct reader *r, const struct json_step *at, enum permission_list list, json_t *array)
{
	static const struct settings_key allow = { .loosens = ALWAYS }, other = { .loosens = NEVER };
	struct json_step element = { .parent = at };
	json_t *value;
	int code = 0;

	if (!json_is_array(array))
		return settings_wrong_type(r, at, array, "an array of rules");
	if (json_array_size(array) > ENTRIES_MAX)
		return settings_error(r, at, "found more than %d entries", ENTRIES_MAX);
	json_cursor_reset(&r->cursor);
	if (!settings_may(r, list == PERMISSION_ALLOW ? &allow : &other, at, array))
		return 0;
	json_array_foreach(array, element.index, value)
		if (code == 0)
			code = read_one(r, &element, list, value);
	json_cursor_reset(&r->cursor);
	return code;
}

/* What --add-dir says for good. */
static int read_directories(struct reader *r, const struct json_step *at, json_t *array)
{
	struct json_step element = { .parent = at };
	json_t *value;
	int code = 0;

	if (!json_is_array(array))
		return settings_wrong_type(r, at, array, "an array of paths");
	if (json_array_size(array) > ENTRIES_MAX)
		return settings_error(r, at, "found more than %d entries", ENTRIES_MAX);
	json_cursor_reset(&r->cursor);
	json_array_foreach(array, element.index, value) {
		if (code < 0)
			break;
		code = json_is_string(value) ? settings_add_path(r, &element, RULE_ALLOW_WRITE, json_string_value(value), 0) :
					       settings_wrong_type(r, &element, value, "a path");
	}
	json_cursor_reset(&r->cursor);
	return code;
}

int settings_read_permissions(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *object)
{
	/* the last three are about prompts and modes of Claude Code, nothing of ours */
	static const char *const names[] = {
		[PERMISSION_ALLOW] = "allow", [PERMISSION_ASK] = "ask", [PERMISSION_DENY] = "deny", "additionalDirectories", "defaultMode",
		"disableBypassPermissionsMode", "disableAutoMode",
	};
	struct json_step member = { .parent = at };
	json_t *value;

	(void)key;
	json_object_foreach(object, member.key, value) {
		size_t i = 0;
		int code = 0;

		while (i < ARRAY_SIZE(names) && strcmp(names[i], member.key))
			i++;
		if (i == ARRAY_SIZE(names))
			settings_unknown(r, &member, names, ARRAY_SIZE(names));
		else if (!json_is_null(value) && i <= PERMISSION_DENY)
			code = read_list(r, &member, (enum permission_list)i, value);
		else if (!json_is_null(value) && i == PERMISSION_DENY + 1)
			code = read_directories(r, &member, value);
		if (code < 0)
			return code;
	}
	return 0;
}
