#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "supervisor/decide/detect_private.h"

const struct detector detectors[DETECTOR_COUNT] = {
#define DETECTOR(number, id, name, group, looks_for, example, behaviour) { number, #id, name, group, looks_for, example, behaviour },
#include "supervisor/decide/detectors.def"
};

static enum decision (*const functions[DETECTOR_COUNT])(struct looking *) = {
#define DETECTOR(number, id, ...) detect_##id,
#include "supervisor/decide/detectors.def"
};

const char *decision_name(enum decision d)
{
	static const char *const names[] = {
		[DECISION_PASS] = "passthrough", [DECISION_ALLOW] = "allow", [DECISION_ASK] = "ask", [DECISION_DENY] = "deny",
	};

	return names[d];
}

enum decision found(struct looking *l, enum decision decision, uint32_t start, uint32_t end, const char *message)
{
	l->found->decision = decision;
	l->found->at = (struct place){ start, end };
	l->found->message = message;
	return decision;
}

/* Relative paths mean something else after it. */
bool changes_directory(const struct shell *sh)
{
	for (uint32_t i = 0; i < sh->n_commands; i++) {
		const uint32_t name = sh->commands[i].name;

		if (name == NO_INDEX || sh->commands[i].kind != SHELL_SIMPLE)
			continue;
		if (!word_is_static(&sh->words[name]) || word_is(sh, &sh->words[name], "cd") || word_is(sh, &sh->words[name], "pushd") ||
		    word_is(sh, &sh->words[name], "popd"))
			return true;
	}
	return false;
}

struct finding detect(const struct shell *sh, const struct path_judge *judge)
{
	struct finding f = { .decision = DECISION_PASS, .detector = -1 };
	_cleanup_free_ uint32_t *programs = xcalloc(sh->n_commands + 1, sizeof(*programs));
	struct looking l = {
		.sh = sh, .judge = judge, .found = &f, .git_of = NO_INDEX, .programs = programs, .moved = changes_directory(sh),
	};

	for (uint32_t i = 0; i < sh->n_commands; i++)
		programs[i] = program_of(sh, i);
	for (int i = 0; i < DETECTOR_COUNT; i++) {
		/* of text that was not understood only the beginning is known */
		if ((sh->error && i != DETECTOR_incomplete && i != DETECTOR_malformed) || functions[i](&l) == DECISION_PASS)
			continue;
		f.detector = i;
		return f;
	}
	return f;
}

/* ---- what the detectors ask ---- */

bool word_names(const struct shell *sh, const struct word *w, const char *name)
{
	const char *value = word_value(sh, w), *slash = memrchr(value, '/', w->len);

	return !(w->flags & WORD_UNKNOWN) && !strcmp(slash ? slash + 1 : value, name);
}

bool is_shell_name(const struct shell *sh, const struct word *w)
{
	static const char *const names[] = { "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (word_names(sh, w, names[i]))
			return true;
	return false;
}

/* Programs that run another one: how many words of their own they take, and which of their options take a word. */
static const struct { const char *name, *with_value; int words; bool assignments; } wrappers[] = {
	{ "sudo", "ugpCrtTDRhUc", 0, true }, { "doas", "uC", 0, false }, { "env", "uCS", 0, true }, { "command", "", 0, false },
	{ "builtin", "", 0, false }, { "exec", "a", 0, false }, { "nohup", "", 0, false }, { "nice", "n", 0, false },
	{ "ionice", "cnpPu", 0, false }, { "timeout", "ks", 1, false }, { "stdbuf", "ioe", 0, false }, { "setsid", "", 0, false },
	{ "time", "fo", 0, false }, { "xargs", "adEIiLlnPs", 0, false }, { "busybox", "", 0, false }, { "chronic", "", 0, false },
	{ "noglob", "", 0, false }, { "nocorrect", "", 0, false }, { "fakeroot", "lsib", 0, false },
};

static bool is_option_with_value(const char *option, const char *with_value)
{
	const size_t n = strlen(option);

	/* the value is the next word only when no letter follows */
	return option[1] != '-' && n == 2 && strchr(with_value, option[1]);
}

static int wrapper_at(const struct shell *sh, const struct word *w)
{
	const char *value = word_value(sh, w), *slash = memrchr(value, '/', w->len), *base = slash ? slash + 1 : value;

	for (size_t k = 0; k < ARRAY_SIZE(wrappers); k++)
		if (wrappers[k].name[0] == base[0] && !strcmp(wrappers[k].name, base))
			return w->flags & WORD_UNKNOWN ? -1 : (int)k;
	return -1;
}

/* The word after this one of the same command, if there is one; assignments and lists of values stand before them or apart. */
static uint32_t after(const struct shell *sh, uint32_t word)
{
	do
		word = sh->words[word].next;
	while (word != NO_INDEX && (sh->words[word].flags & WORD_ARRAY));
	return word;
}

uint32_t unwrap(const struct shell *sh, uint32_t word)
{
	while (word != NO_INDEX) {
		const int k = wrapper_at(sh, &sh->words[word]);

		if (k < 0)
			return word;
		word = after(sh, word);
		for (int own = wrappers[k].words; word != NO_INDEX; word = after(sh, word)) {
			const char *value = word_value(sh, &sh->words[word]);

			if (!strcmp(value, "--")) {
				word = after(sh, word);
				break;
			}
			if (value[0] == '-' && value[1]) {
				if (is_option_with_value(value, wrappers[k].with_value))
					word = after(sh, word);
				if (word == NO_INDEX)
					return word;
			} else if (!(wrappers[k].assignments && strchr(value, '=')) && !own--) {
				break;
			}
		}
	}
	return word;
}

uint32_t program_of(const struct shell *sh, uint32_t command)
{
	const struct shell_command *c = &sh->commands[command];

	return c->kind == SHELL_SIMPLE && c->name != NO_INDEX ? unwrap(sh, c->name) : NO_INDEX;
}

uint32_t git_command(const struct shell *sh, uint32_t program)
{
	if (program == NO_INDEX || !word_names(sh, &sh->words[program], "git"))
		return NO_INDEX;
	for (uint32_t i = after(sh, program); i != NO_INDEX; i = after(sh, i)) {
		const char *value = word_value(sh, &sh->words[i]);

		if (value[0] != '-')
			return i;
		if (!strcmp(value, "-C") || !strcmp(value, "-c"))
			i = after(sh, i);
		if (i == NO_INDEX)
			break;
	}
	return NO_INDEX;
}

bool may_access(const struct looking *l, bool write, const struct word *w)
{
	const char *path = word_value(l->sh, w);

	if (!l->judge || !l->judge->may || (w->flags & (WORD_UNKNOWN | WORD_GLOB | WORD_BRACES)) || !w->len)
		return false;
	if (path[0] != '/' && path[0] != '~' && l->moved)
		return false;
	/* a ~ in quotes is a name, and ~user is somebody's */
	if (path[0] == '~' && (!(w->flags & WORD_TILDE) || (path[1] && path[1] != '/')))
		return false;
	return l->judge->may(l->judge->context, write, path);
}
