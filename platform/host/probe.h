/* Private to platform/host: how one capability is tried, and the child that tries those that could harm this process. */
#pragma once
#include "platform/host/host.h"

/* What a try found out. It comes back through a pipe, so it holds no pointer and is written in one piece. */
struct answer {
	int capability;
	bool available;
	int error;              /* errno of the step that failed; 0: none */
	int value;              /* what there is to know besides: Landlock's ABI */
	char evidence[200];
};

typedef void try_function(struct host *h, struct answer *a);

enum try_where { HERE, CHILD, GIVEN };

struct capability_info {
	const char *name, *text, *package;
	enum try_where where;
	try_function *try;
};

extern const struct capability_info capability_infos[CAP_COUNT];

/* available, error (from errno) and "CALL: ok" or "CALL: reason"; result < 0: it failed. */
void answer_call(struct answer *a, long result, const char *call);
void answer_yes(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void answer_no(struct answer *a, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Static. */
const char *about_platform(void);

/* Into h->caps. */
void answer_keep(struct host *h, const struct answer *a);

/*
 * Tries these, in this order, in a forked child; where one kills the child or takes longer than the limit, the next child goes on
 * behind it. Every one has an answer in h afterwards.
 */
void probe_in_child(struct host *h, const enum capability *list, size_t n);

#define CAPABILITY(id, name, where, function, package, text) CAPABILITY_##where(function)
#define CAPABILITY_HERE(function)  try_function function;
#define CAPABILITY_CHILD(function) try_function function;
#define CAPABILITY_GIVEN(function)
#include "platform/host/capabilities.def"
#undef CAPABILITY
#undef CAPABILITY_HERE
#undef CAPABILITY_CHILD
#undef CAPABILITY_GIVEN
