/* Keys whose values the policy keeps as they stand: hosts, ports, commands, and the permissions of Claude Code. */
#include <errno.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/settings_private.h"

int settings_read_list(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *array)
{
	struct json_step element = { .parent = at };
	json_t *value;

	if (key->words && (json_array_size(array) || key->argument == LIST_ALLOWED_DOMAINS))
		settings_warn(r, at, "%s", key->words);
	r->p->lists[key->argument].given = true;
	json_array_foreach(array, element.index, value) {
		_cleanup_free_ char *origin = settings_origin(r, &element);

		if (!*json_string_value(value))
			return settings_error(r, &element, "found an empty string, expected an entry");
		policy_add_item(r->p, (enum list)key->argument, r->layer, json_string_value(value), NULL, origin);
	}
	return 0;
}

int settings_read_reasons(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *object)
{
	struct json_step member = { .parent = at };
	json_t *value;

	if (key->words && json_object_size(object))
		settings_warn(r, at, "%s", key->words);
	json_object_foreach(object, member.key, value) {
		_cleanup_free_ char *origin = settings_origin(r, &member);

		if (json_is_null(value))
			continue;
		if (!json_is_string(value))
			return settings_wrong_type(r, &member, value, "a string");
		policy_add_item(r->p, (enum list)key->argument, r->layer, member.key, json_string_value(value), origin);
	}
	return 0;
}

int settings_read_port(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *number)
{
	const enum scalar scalar = (enum scalar)key->argument;
	const json_int_t port = json_is_integer(number) ? json_integer_value(number) : -1;

	if (port < 1 || port > 65535)
		return settings_error(r, at, "found no port, expected a number from 1 to 65535");
	if (key->words)
		settings_warn(r, at, "%s", key->words);
	if (settings_decides(r, scalar, at))
		*(scalar == SCALAR_HTTP_PROXY ? &r->p->http_proxy_port : &r->p->socks_proxy_port) = (uint16_t)port;
	return 0;
}

int settings_read_parent_proxy(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *object)
{
	static const char *const names[] = { "http", "https", "noProxy" };
	static const enum scalar scalars[] = { SCALAR_PARENT_HTTP, SCALAR_PARENT_HTTPS, SCALAR_PARENT_NO_PROXY };
	char **const texts[] = { &r->p->parent_http, &r->p->parent_https, &r->p->parent_no_proxy };
	struct json_step member = { .parent = at };
	json_t *value;

	if (key->words && json_object_size(object))
		settings_warn(r, at, "%s", key->words);
	json_object_foreach(object, member.key, value) {
		size_t i = 0;

		while (i < ARRAY_SIZE(names) && strcmp(names[i], member.key))
			i++;
		if (i == ARRAY_SIZE(names)) {
			settings_unknown(r, &member, names, ARRAY_SIZE(names));
		} else if (!json_is_null(value)) {
			if (!json_is_string(value))
				return settings_wrong_type(r, &member, value, "a string");
			if (!settings_decides(r, scalars[i], &member))
				continue;
			free(*texts[i]);
			*texts[i] = xstrdup(json_string_value(value));
		}
	}
	return 0;
}

/* ---- permissions ---- */

enum { PERMISSIONS_MAX = 16384 };

static int read_permission_list(struct reader *r, const struct json_step *at, enum permission_list list, json_t *array)
{
	static const struct settings_key allow = { .loosens = ALWAYS };
	struct json_step element = { .parent = at };
	json_t *value;

	if (!json_is_array(array))
		return settings_wrong_type(r, at, array, "an array of rules");
	if (json_array_size(array) > PERMISSIONS_MAX)
		return settings_error(r, at, "found more than %d entries", PERMISSIONS_MAX);
	json_cursor_reset(&r->cursor);
	if (list == PERMISSION_ALLOW && !settings_may(r, &allow, at, array))
		return 0;
	if (json_array_size(array))
		settings_warn(r, at, "not supported yet: no rule follows from it");
	json_array_foreach(array, element.index, value) {
		_cleanup_free_ char *origin = settings_origin(r, &element);

		if (!json_is_string(value))
			return settings_wrong_type(r, &element, value, "a rule, such as \"Bash(npm test)\"");
		if (policy_add_permission(r->p, list, r->layer, json_string_value(value), origin) < 0)
			settings_warn(r, &element, "'%s' is no rule, such as \"Bash(npm test)\"; it is ignored", json_string_value(value));
	}
	return 0;
}

int settings_read_permissions(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *object)
{
	static const char *const names[] = { [PERMISSION_ALLOW] = "allow", [PERMISSION_ASK] = "ask", [PERMISSION_DENY] = "deny" };
	struct json_step member = { .parent = at };
	json_t *value;

	(void)key;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int code;

		member.key = names[i];
		value = json_object_get(object, names[i]);
		if (!value || json_is_null(value))
			continue;
		code = read_permission_list(r, &member, (enum permission_list)i, value);
		if (code < 0)
			return code;
	}
	return 0;
}
