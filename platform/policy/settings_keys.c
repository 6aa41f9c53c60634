/* What each key of a settings file does to the policy. The table is settings_keys.def. */
#include <errno.h>
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/settings_private.h"

/* ---- helpers ---- */

bool settings_decides(struct reader *r, enum scalar scalar, const struct json_step *at)
{
	_cleanup_free_ char *origin = settings_origin(r, at);
	const enum layer by = r->p->set_by[scalar];

	if (r->layer <= by && by != LAYER_DEFAULT) {
		settings_warn(r, at, "already decided elsewhere; the entry is ignored");
		return false;
	}
	policy_decided(r->p, scalar, r->layer, origin);
	return true;
}

/* "a", "b" or "c"; owned. */
static char *alternatives(const char *const *names, size_t n)
{
	struct str b = STR_INIT;

	for (size_t i = 0; i < n; i++)
		str_addf(&b, "%s\"%s\"", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
	return str_take(&b);
}

/* The index of the string among names, or a negative errno. */
int settings_choose(struct reader *r, const struct json_step *at, const json_t *value, const char *const *names, size_t n)
{
	const char *text = json_string_value(value), *nearest;
	_cleanup_free_ char *wanted = alternatives(names, n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(text, names[i]))
			return (int)i;
	settings_error(r, at, "found \"%s\", expected %s", text, wanted);
	nearest = str_nearest(text, names, n);
	if (nearest)
		err_hint(r->err, "did you mean \"%s\"?", nearest);
	return -EINVAL;
}

/* ---- what changes nothing ---- */

static int read_silently(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	(void)r, (void)key, (void)at, (void)value;
	return 0;
}

static int read_nothing_strict(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	(void)value;
	settings_warn(r, at, "%s", key->words);
	return 0;
}

/* Files of the other formats must have some keys; empty, they would change nothing anyway. */
static int read_nothing(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	if (json_is_false(value) || (json_is_array(value) && !json_array_size(value)) || (json_is_object(value) && !json_object_size(value)))
		return 0;
	return read_nothing_strict(r, key, at, value);
}

static int read_object(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	(void)key;
	return settings_read_object(r, at, value);
}

/* ---- paths ---- */

static int read_path_object(struct reader *r, const struct json_step *at, json_t *entry, const char **ret_path, unsigned *ret_flags)
{
	static const char *const names[] = { "path", "literal" };
	struct json_step member = { .parent = at };
	json_t *value;

	json_object_foreach(entry, member.key, value) {
		if (!strcmp(member.key, "path")) {
			if (!json_is_string(value))
				return settings_wrong_type(r, &member, value, "a string");
			*ret_path = json_string_value(value);
		} else if (!strcmp(member.key, "literal")) {
			if (!json_is_boolean(value) && !json_is_null(value))
				return settings_wrong_type(r, &member, value, "true or false");
			*ret_flags |= json_is_true(value) ? ADD_LITERAL : 0;
		} else {
			settings_unknown(r, &member, names, ARRAY_SIZE(names));
		}
	}
	return *ret_path ? 0 : settings_error(r, at, "found no \"path\", expected { \"path\": ..., \"literal\": ... }");
}

int settings_add_path(struct reader *r, const struct json_step *at, enum rule_kind kind, const char *path, unsigned flags)
{
	_cleanup_free_ char *origin = settings_origin(r, at);
	int code;

	flags |= ADD_OF_FILE | (kind == RULE_ALLOW_WRITE && r->tighten_only ? ADD_UNTRUSTED : 0);
	code = policy_add(r->p, kind, r->layer, path, r->form == FORM_CLAUDE ? r->base : NULL, flags, origin, r->err);
	return code < 0 ? code : 0;
}

static int read_paths(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *array)
{
	struct json_step element = { .parent = at };
	json_t *value;

	/* Claude Code's list adds to the working directory; the runtime's list is all there is */
	if (key->argument == RULE_ALLOW_WRITE && r->form == FORM_RUNTIME) {
		r->p->write_list = true;
		r->p->narrowed |= !r->tighten_only;
	}
	json_array_foreach(array, element.index, value) {
		const char *path = json_string_value(value);
		unsigned flags = 0;
		int code = 0;

		if (json_is_object(value))
			code = read_path_object(r, &element, value, &path, &flags);
		else if (!path)
			code = settings_wrong_type(r, &element, value, "a path or { \"path\": ..., \"literal\": ... }");
		if (code == 0)
			code = settings_add_path(r, &element, (enum rule_kind)key->argument, path, flags);
		if (code < 0)
			return code;
	}
	return 0;
}

/* ---- single values ---- */

static int read_flag(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	static const size_t flags[SCALAR_COUNT] = {
		[SCALAR_STRICT] = offsetof(struct policy, strict), [SCALAR_GIT_CONFIG] = offsetof(struct policy, allow_git_config),
		[SCALAR_UNIX] = offsetof(struct policy, unix_open), [SCALAR_STRICT_ALLOWLIST] = offsetof(struct policy, strict_allowlist),
		[SCALAR_UNSANDBOXED] = offsetof(struct policy, allow_unsandboxed), [SCALAR_AUTO_ALLOW] = offsetof(struct policy, auto_allow_bash),
		[SCALAR_MANAGED_DOMAINS] = offsetof(struct policy, managed_domains_only),
		[SCALAR_MANAGED_READS] = offsetof(struct policy, managed_read_only),
		[SCALAR_NESTED_USERNS] = offsetof(struct policy, nested_userns), [SCALAR_WEAKER_NESTED] = offsetof(struct policy, weaker_nested),
	};

	if (key->words)
		settings_warn(r, at, "%s", key->words);
	if (settings_decides(r, (enum scalar)key->argument, at))
		*(bool *)(void *)((char *)r->p + flags[key->argument]) = json_is_true(value);
	return 0;
}

static int read_exec_from(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	static const char *const names[] = { "any", "outsideRoots" };
	int i = settings_choose(r, at, value, names, ARRAY_SIZE(names));

	(void)key;
	if (i >= 0 && settings_may_choose(r, at, value, !r->p->exec_outside_roots, i == 0) && settings_decides(r, SCALAR_EXEC_FROM, at))
		r->p->exec_outside_roots = i == 1;
	return i < 0 ? i : 0;
}

static int read_net_mode(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	static const char *const names[] = { [NET_FILTER] = "filter", [NET_OFF] = "off", [NET_OPEN] = "open" };
	static const int openness[] = { [NET_OFF] = 0, [NET_FILTER] = 1, [NET_OPEN] = 2 };
	int i = settings_choose(r, at, value, names, ARRAY_SIZE(names));

	(void)key;
	if (i >= 0 && settings_may_choose(r, at, value, openness[r->p->net], openness[i]) && settings_decides(r, SCALAR_NET, at)) {
		r->p->net = (enum net_mode)i;
		r->p->net_layer = r->layer;
	}
	return i < 0 ? i : 0;
}

static int read_caches(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	static const char *const names[] = { [CACHES_PRIVATE] = "private", [CACHES_SHARED] = "shared", [CACHES_NONE] = "none" };
	static const int openness[] = { [CACHES_NONE] = 0, [CACHES_PRIVATE] = 1, [CACHES_SHARED] = 2 };
	int i = settings_choose(r, at, value, names, ARRAY_SIZE(names));

	(void)key;
	if (i >= 0 && settings_may_choose(r, at, value, openness[r->p->caches], openness[i]) && settings_decides(r, SCALAR_CACHES, at))
		r->p->caches = (enum cache_mode)i;
	return i < 0 ? i : 0;
}

static void scrub_only(struct reader *r, const struct json_step *at)
{
	r->p->scrub_only = true;
	free(r->p->scrub_only_origin);
	r->p->scrub_only_origin = settings_origin(r, at);
}

/* Takes back what a lower layer said under the same key, and nothing else. */
static void not_scrub_only(struct reader *r, const char *key)
{
	const char *origin = r->p->scrub_only_origin, *colon = origin ? strrchr(origin, ' ') : NULL;

	if (!colon || strcmp(colon + 1, key))
		return;
	r->p->scrub_only = false;
	free(r->p->scrub_only_origin);
	r->p->scrub_only_origin = NULL;
}

static int read_profile(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	static const char *const names[] = { "default", "strict", "scrub" };
	static const int openness[] = { 1, 0, 2 };
	int i = settings_choose(r, at, value, names, ARRAY_SIZE(names));

	if (i < 0)
		return i;
	if (!settings_may_choose(r, at, value, openness[r->p->scrub_only ? 2 : r->p->profile_strict], openness[i]) ||
	    !settings_decides(r, SCALAR_PROFILE, at))
		return 0;
	r->p->profile_strict = i == 1;
	if (i == 2)
		scrub_only(r, at);
	else
		not_scrub_only(r, key->path);
	return 0;
}

static int read_enabled(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	if (!settings_decides(r, SCALAR_ENABLED, at))
		return 0;
	if (json_is_false(value))
		scrub_only(r, at);
	else
		not_scrub_only(r, key->path);
	return 0;
}

/* Whether the names are mechanisms is known to who has the mechanisms. */
static int read_backend(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	struct json_step element = { .parent = at };
	json_t *name;

	(void)key;
	if (!json_is_string(value) && !json_is_array(value))
		return settings_wrong_type(r, at, value, "\"auto\" or an array of mechanisms");
	json_array_foreach(value, element.index, name)
		if (!json_is_string(name))
			return settings_wrong_type(r, &element, name, "the name of a mechanism");
	if (!settings_decides(r, SCALAR_BACKEND, at))
		return 0;
	strv_free(&r->p->backends);
	if (json_is_string(value) && strcmp(json_string_value(value), "auto"))
		strv_add(&r->p->backends, json_string_value(value));
	json_array_foreach(value, element.index, name)
		strv_add(&r->p->backends, json_string_value(name));
	return 0;
}

/* ---- requirements ---- */

static int require(struct reader *r, const struct json_step *at, const char *guarantee, const char *level)
{
	_cleanup_free_ char *origin = settings_origin(r, at);

	return policy_require(r->p, guarantee, level, origin, r->err);
}

static int read_require(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *object)
{
	struct json_step member = { .parent = at };
	json_t *value;

	(void)key;
	json_object_foreach(object, member.key, value) {
		int code = 0;

		if (json_is_string(value))
			code = require(r, &member, member.key, json_string_value(value));
		else if (!json_is_null(value))
			code = settings_wrong_type(r, &member, value, "a level");
		if (code < 0)
			return code;
	}
	return 0;
}

/* Claude Code's "refuse to run unless sandboxed", in our terms. */
static int read_fail_if_unavailable(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *value)
{
	int code;

	(void)key;
	if (json_is_false(value))
		return 0;
	code = require(r, at, "fs.write", "kernel");
	return code < 0 ? code : require(r, at, "net.egress", "kernel");
}

/* ---- environment ---- */

void settings_add_once(struct strv *list, const char *text)
{
	if (!strv_has(list, text))
		strv_add(list, text);
}

static void remember(struct reader *r, enum list list, const struct json_step *at, const char *text)
{
	_cleanup_free_ char *origin = settings_origin(r, at);

	policy_add_item(r->p, list, r->layer, text, NULL, origin);
}

static int read_names(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *array)
{
	struct strv *list = (struct strv *)(void *)((char *)r->p + key->argument);
	struct json_step element = { .parent = at };
	json_t *value;

	json_array_foreach(array, element.index, value) {
		const char *name = json_string_value(value);

		if (!*name || strchr(name, '='))
			return settings_error(r, &element, "found \"%s\", expected the name of a variable", name);
		settings_add_once(list, name);
		remember(r, key->argument == offsetof(struct policy, env_keep) ? LIST_ENV_KEEP : LIST_ENV_DROP, &element, name);
	}
	return 0;
}

static int read_env_set(struct reader *r, const struct settings_key *key, const struct json_step *at, json_t *object)
{
	struct json_step member = { .parent = at };
	json_t *value;

	(void)key;
	json_object_foreach(object, member.key, value) {
		_cleanup_free_ char *assignment = NULL;

		if (json_is_null(value))
			continue;
		if (!*member.key || strchr(member.key, '='))
			return settings_error(r, at, "found the key \"%s\", expected the name of a variable", member.key);
		if (!json_is_string(value))
			return settings_wrong_type(r, &member, value, "a string");
		assignment = strf("%s=%s", member.key, json_string_value(value));
		policy_set_variable(r->p, assignment);
		remember(r, LIST_ENV_SET, &member, assignment);
	}
	return 0;
}

const struct settings_key settings_keys[] = {
#define KEY(path, type, read, argument, loosens, words) { path, type, read, argument, loosens, words },
#include "platform/policy/settings_keys.def"
#undef KEY
};
const size_t n_settings_keys = ARRAY_SIZE(settings_keys);
