/* Which format a settings file has, and the top of a Claude Code file. */
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/settings_private.h"

static bool has(const json_t *root, const char *key)
{
	const json_t *value = json_object_get(root, key);

	return value && !json_is_null(value);
}

/* "permissions" alone makes it a file of Claude Code; beside keys of the other formats it is one more key. */
static enum form form_of(const json_t *root)
{
	static const char *const runtime[] = { "filesystem", "network", "credentials", "require", "backend", "profile", "caches", "strict" };

	if (has(root, "sandbox"))
		return FORM_CLAUDE;
	for (size_t i = 0; i < ARRAY_SIZE(runtime); i++)
		if (has(root, runtime[i]))
			return FORM_RUNTIME;
	return has(root, "permissions") ? FORM_CLAUDE : FORM_RUNTIME;
}

static bool belongs_into_sandbox(const char *key)
{
	static const char *const shared[] = { "$schema", "permissions", "env", "sandbox" }; /* that Claude Code has at the top, too */

	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		if (!strcmp(key, shared[i]))
			return false;
	for (size_t i = 0; i < n_settings_keys; i++)
		if (!strcmp(key, settings_keys[i].path))
			return true;
	return false;
}

static void judge_other_key(struct reader *r, const struct json_step *at)
{
	static const char *const names[] = { "sandbox", "permissions" };
	const char *hint = str_nearest(at->key, names, ARRAY_SIZE(names));

	if (hint && strcmp(hint, at->key))
		settings_warn(r, at, "unknown key; did you mean \"%s\"?", hint);
	else if (belongs_into_sandbox(at->key))
		settings_warn(r, at, "is not read at the top of a Claude Code file; put it into \"sandbox\"");
}

static int read_claude(struct reader *r, json_t *root)
{
	const struct json_step sandbox = { .key = "sandbox" }, permissions = { .key = "permissions" };
	struct json_step other = { 0 };
	json_t *value;
	int code = 0;

	json_object_foreach(root, other.key, value)
		judge_other_key(r, &other);
	value = json_object_get(root, "sandbox");
	if (value && !json_is_null(value))
		code = json_is_object(value) ? settings_read_object(r, &sandbox, value) : settings_wrong_type(r, &sandbox, value, "an object");
	value = json_object_get(root, "permissions");
	if (code == 0 && value && !json_is_null(value))
		code = json_is_object(value) ? settings_read_permissions(r, NULL, &permissions, value) :
					       settings_wrong_type(r, &permissions, value, "an object");
	return code;
}

int settings_read_document(struct reader *r, json_t *root)
{
	r->form = form_of(root);
	return r->form == FORM_CLAUDE ? read_claude(r, root) : settings_read_object(r, NULL, root);
}
