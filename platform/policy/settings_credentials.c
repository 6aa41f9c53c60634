/* credentials.envVars and credentials.files of a settings file: secrets by name and by place. */
#include <errno.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/settings_private.h"

static bool is_variable_name(const char *s)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	return *s && (*s < '0' || *s > '9') && s[strspn(s, letters)] == '\0';
}

/* "deny", or "mask", which nothing here can do yet: the secret is withheld instead of replaced. */
static int read_mode(struct reader *r, const struct json_step *entry, const json_t *value)
{
	static const char *const names[] = { "deny", "mask" };
	const struct json_step at = { .parent = entry, .key = "mode" };
	int i;

	if (!value || json_is_null(value))
		return settings_error(r, entry, "found no \"mode\", expected \"deny\" or \"mask\"");
	if (!json_is_string(value))
		return settings_wrong_type(r, &at, value, "\"deny\" or \"mask\"");
	i = settings_choose(r, &at, value, names, ARRAY_SIZE(names));
	if (i == 1)
		settings_warn(r, &at, "\"mask\" is not supported yet; it is treated as \"deny\"");
	return i < 0 ? i : 0;
}

/* The rest of an entry is about masks, which the warning about the mode covers. */
static void check_members(struct reader *r, const struct json_step *entry, json_t *object, const char *subject)
{
	const char *const names[] = {
		subject, "mode", "extract", "onExtractNoMatch", "decode", "maskClaims", "maskDuplicates", "injectHosts",
	};
	struct json_step member = { .parent = entry };
	json_t *value;

	json_object_foreach(object, member.key, value) {
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			known |= !strcmp(names[i], member.key);
		if (!known)
			settings_unknown(r, &member, names, ARRAY_SIZE(names));
	}
}

/* One entry of either list: its subject, a "name" or a "path", and its mode. */
static int read_credential(struct reader *r, const struct json_step *entry, json_t *object, const char *subject, const char **ret)
{
	const struct json_step at = { .parent = entry, .key = subject };
	json_t *value;

	if (!json_is_object(object))
		return settings_wrong_type(r, entry, object, "an object");
	value = json_object_get(object, subject);
	if (!value || json_is_null(value))
		return settings_error(r, entry, "found no \"%s\", expected one", subject);
	if (!json_is_string(value))
		return settings_wrong_type(r, &at, value, "a string");
	check_members(r, entry, object, subject);
	*ret = json_string_value(value);
	return read_mode(r, entry, json_object_get(object, "mode"));
}

int settings_read_env_credentials(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *array)
{
	struct json_step element = { .parent = at };
	json_t *value;

	(void)key;
	json_array_foreach(array, element.index, value) {
		const struct json_step step = { .parent = &element, .key = "name" };
		const char *name = NULL;
		int code = read_credential(r, &element, value, "name", &name);

		if (code < 0)
			return code;
		if (!is_variable_name(name))
			return settings_error(r, &step, "found \"%s\", expected the name of a variable", name);
		_cleanup_free_ char *origin = settings_origin(r, &step);
		settings_add_once(&r->p->env_drop, name);
		policy_add_item(r->p, LIST_ENV_DROP, r->layer, name, NULL, origin);
	}
	return 0;
}

int settings_read_file_credentials(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *array)
{
	struct json_step element = { .parent = at };
	json_t *value;

	(void)key;
	json_array_foreach(array, element.index, value) {
		const struct json_step step = { .parent = &element, .key = "path" };
		const char *path = NULL;
		int code = read_credential(r, &element, value, "path", &path);

		if (code == 0)
			code = settings_add_path(r, &step, RULE_DENY_READ, path, 0);
		if (code < 0)
			return code;
	}
	return 0;
}
