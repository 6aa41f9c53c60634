/*
 * What is suspicious in a command: detectors.def, asked in order. Pure: paths are judged by whoever calls. What no detector minds is then
 * looked up in a small table of commands that only read (readonly.def).
 */
#pragma once
#include "supervisor/decide/lexer.h"

enum decision { DECISION_PASS, DECISION_ALLOW, DECISION_ASK, DECISION_DENY };
const char *decision_name(enum decision); /* "passthrough", "allow", "ask", "deny" */

enum detector_id {
#define DETECTOR(number, id, ...) DETECTOR_##id,
#include "supervisor/decide/detectors.def"
	DETECTOR_COUNT,
};

struct detector { int number; const char *id, *name, *group, *looks_for, *example, *behaviour; };
extern const struct detector detectors[DETECTOR_COUNT];

/*
 * May it be read, or written? path is as the shell would pass it, "~/" at its beginning included; relative when moved is false means
 * relative to the directory in which the command starts. NULL functions: nobody knows, so no.
 */
struct path_judge {
	bool (*may)(void *context, bool write, const char *path);
	void *context;
};

struct finding {
	enum decision decision;
	int detector;          /* -1: none */
	struct place at;
	const char *message;   /* one sentence; static */
};

/* The first detector that does not pass, or DECISION_PASS. sh may be one that was not understood. */
struct finding detect(const struct shell *sh, const struct path_judge *judge);
/* Every command of it only reads, by readonly.def, and what it reads may be read. */
bool only_reads(const struct shell *sh, const struct path_judge *judge);
