/* Keys whose values the policy keeps as they stand: hosts, ports, commands. */
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

/* Which violations are not reported: { "part of a command, or *": ["part of a line", ...] }. */
int settings_read_ignored(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *object)
{
	struct json_step member = { .parent = at };
	json_t *value, *text;

	(void)key;
	json_object_foreach(object, member.key, value) {
		struct json_step element = { .parent = &member };

		if (!json_is_array(value))
			return settings_wrong_type(r, &member, value, "an array of strings");
		json_cursor_reset(&r->cursor);
		json_array_foreach(value, element.index, text) {
			_cleanup_free_ char *origin = settings_origin(r, &element);

			if (!json_is_string(text))
				return settings_wrong_type(r, &element, text, "a string");
			policy_add_item(r->p, LIST_IGNORED_VIOLATIONS, r->layer, json_string_value(text), member.key, origin);
		}
	}
	return 0;
}
