/* Prints the JSON Schema of settings files from the table of keys: docs/settings.schema.json. */
#include <stdio.h>
#include <string.h>

static const struct { const char *path, *type, *read, *words; } keys[] = {
#define KEY(path, type, read, argument, loosens, words) { path, #type, #read, words },
#include "platform/policy/settings_keys.def"
};
enum { N_KEYS = sizeof keys / sizeof *keys };

#define STRING_LIST "\"type\": [\"array\", \"null\"], \"items\": { \"type\": \"string\" }"
#define CREDENTIALS(subject) \
	"\"type\": [\"array\", \"null\"], \"items\": { \"type\": \"object\", \"required\": [\"" subject "\", \"mode\"], \"properties\": { \"" subject \
	"\": { \"type\": \"string\" }, \"mode\": { \"enum\": [\"deny\", \"mask\"] } } }"

/* Keys whose values are told by what reads them. */
static const struct { const char *read, *schema; } handlers[] = {
	{ "read_profile", "\"enum\": [\"default\", \"strict\", \"scrub\", null]" },
	{ "read_caches", "\"enum\": [\"private\", \"shared\", \"none\", null]" },
	{ "read_exec_from", "\"enum\": [\"any\", \"outsideRoots\", null]" },
	{ "read_net_mode", "\"enum\": [\"filter\", \"off\", \"open\", null]" },
	{ "read_backend", "\"anyOf\": [{ \"type\": [\"string\", \"null\"] }, { \"type\": \"array\", \"items\": { \"type\": \"string\" } }]" },
	{ "read_require", "\"type\": [\"object\", \"null\"], \"additionalProperties\": { \"enum\": [\"none\", \"application\", \"supervised\", \"kernel\", \"best\", null] }" },
	{ "read_env_set", "\"type\": [\"object\", \"null\"], \"additionalProperties\": { \"type\": [\"string\", \"null\"] }" },
	{ "settings_read_port", "\"type\": [\"integer\", \"null\"], \"minimum\": 1, \"maximum\": 65535" },
	{ "settings_read_reasons", "\"type\": [\"object\", \"null\"], \"additionalProperties\": { \"type\": [\"string\", \"null\"] }" },
	{ "settings_read_ignored", "\"type\": [\"object\", \"null\"], \"additionalProperties\": { \"type\": \"array\", \"items\": { \"type\": \"string\" } }" },
	{ "settings_read_parent_proxy", "\"type\": [\"object\", \"null\"], \"properties\": { \"http\": { \"type\": [\"string\", \"null\"] }, "
		"\"https\": { \"type\": [\"string\", \"null\"] }, \"noProxy\": { \"type\": [\"string\", \"null\"] } }, \"additionalProperties\": false" },
	{ "settings_read_permissions", "\"type\": [\"object\", \"null\"], \"properties\": { \"allow\": { " STRING_LIST " }, \"ask\": { " STRING_LIST
		" }, \"deny\": { " STRING_LIST " }, \"additionalDirectories\": { " STRING_LIST " } }" },
	{ "settings_read_env_credentials", CREDENTIALS("name") },
	{ "settings_read_file_credentials", CREDENTIALS("path") },
};

static const struct { const char *type, *schema; } types[] = {
	{ "BOOL", "\"type\": [\"boolean\", \"null\"]" }, { "NUMBER", "\"type\": [\"number\", \"null\"]" },
	{ "STRING", "\"type\": [\"string\", \"null\"]" }, { "OBJECT", "\"type\": [\"object\", \"null\"]" },
	{ "ARRAY", "\"type\": [\"array\", \"null\"]" }, { "STRINGS", STRING_LIST },
	{ "PATHS", "\"type\": [\"array\", \"null\"], \"items\": { \"$ref\": \"#/definitions/path\" }" },
};

static void print_text(const char *s)
{
	putchar('"');
	for (; *s; s++)
		printf(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	putchar('"');
}

static void print_leaf(size_t i)
{
	const char *schema = "";

	for (size_t t = 0; t < sizeof types / sizeof *types; t++)
		if (!strcmp(types[t].type, keys[i].type))
			schema = types[t].schema;
	for (size_t h = 0; h < sizeof handlers / sizeof *handlers; h++)
		if (!strcmp(handlers[h].read, keys[i].read))
			schema = handlers[h].schema;
	printf("%s", schema);
	if (keys[i].words) {
		printf("%s\"description\": ", *schema ? ", " : "");
		print_text(keys[i].words);
	}
}

/* The keys that stand directly in the object called prefix ("" or "network."). */
static void print_properties(const char *prefix, int depth)
{
	const size_t n = strlen(prefix);
	const char *separator = "";

	for (size_t i = 0; i < N_KEYS; i++) {
		if (strncmp(keys[i].path, prefix, n) || strchr(keys[i].path + n, '.'))
			continue;
		printf("%s\n%*s\"%s\": { ", separator, depth * 2, "", keys[i].path + n);
		separator = ",";
		if (!strcmp(keys[i].read, "read_object")) {
			char below[128];

			snprintf(below, sizeof below, "%s.", keys[i].path);
			/* at the top of a Claude Code file "env" holds variables */
			printf("\"type\": [\"object\", \"null\"], %s\"properties\": {", strcmp(below, "env.") ? "\"additionalProperties\": false, " : "");
			print_properties(below, depth + 1);
			printf("\n%*s} }", depth * 2, "");
		} else {
			print_leaf(i);
			printf(" }");
		}
	}
}

int main(void)
{
	printf("{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
	       "  \"title\": \"Settings of hurdle; also of Anthropic's sandbox-runtime, and the sandbox keys of Claude Code\",\n"
	       "  \"allOf\": [{ \"$ref\": \"#/definitions/settings\" }],\n"
	       "  \"properties\": { \"sandbox\": { \"allOf\": [{ \"$ref\": \"#/definitions/settings\" }] } },\n"
	       "  \"definitions\": {\n"
	       "    \"path\": { \"anyOf\": [{ \"type\": \"string\", \"minLength\": 1 }, { \"type\": \"object\", \"required\": [\"path\"], \"additionalProperties\": false,\n"
	       "      \"properties\": { \"path\": { \"type\": \"string\", \"minLength\": 1 }, \"literal\": { \"type\": [\"boolean\", \"null\"] } } }] },\n"
	       "    \"settings\": { \"type\": [\"object\", \"null\"], \"properties\": {");
	print_properties("", 3);
	printf("\n    } }\n  }\n}\n");
	return 0;
}
