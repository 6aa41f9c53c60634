/* Between the files of the classifier. */
#pragma once
#include "supervisor/decide/detect.h"


enum { WORDS_MAX = 256 }; /* of a command that are looked at together; what goes through all of them follows .next */
struct looking {
	const struct shell *sh;
	const struct path_judge *judge;
	bool moved;            /* a cd is in it: relative paths are not known */
	struct finding *found;
	uint32_t git_of;       /* the command that git_records is about */
	bool git_records;
	const uint32_t *programs; /* of each command the word that is really run, behind sudo and its kind; or NO_INDEX */
};

#define DETECTOR(number, id, ...) enum decision detect_##id(struct looking *l);
#include "supervisor/decide/detectors.def"

/* Notes it and returns the decision. message must be static. */
enum decision found(struct looking *l, enum decision decision, uint32_t start, uint32_t end, const char *message);
static inline enum decision ask(struct looking *l, struct place at, const char *message)
{
	return found(l, DECISION_ASK, at.start, at.end, message);
}

/* The word that is run when this one is a command's name: the one behind sudo, env, timeout, xargs and their kind; NO_INDEX: not known. */
uint32_t unwrap(const struct shell *sh, uint32_t word);
uint32_t program_of(const struct shell *sh, uint32_t command); /* of a simple command */
/* The program's name without its directory is this one. */
bool word_names(const struct shell *sh, const struct word *w, const char *name);
bool is_shell_name(const struct shell *sh, const struct word *w);
/* The git sub-command behind git's own options, when the program is git; NO_INDEX: none. */
uint32_t git_command(const struct shell *sh, uint32_t program);
bool is_git_message(struct looking *l, uint32_t command, uint32_t word); /* of git commit, git tag and their kind */
bool means_environ(const char *s); /* at a slash: /proc/PID/environ, however it is spelt */
bool may_access(const struct looking *l, bool write, const struct word *w);
bool changes_directory(const struct shell *sh);
bool command_only_reads(const struct looking *l, uint32_t command);
static inline char source_at(const struct shell *sh, uint32_t i) { return i < sh->len ? sh->source[i] : '\0'; }
