/* The shell lexer and the classifier on any bytes: spans lie inside the text, indexes inside the arrays, and only what was understood is allowed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/decide/detect.h"
#include "supervisor/decide/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool fuzz_may(void *context, bool write, const char *path)
{
	(void)context;
	return !write && path[0] != '/';
}

static void want(bool condition)
{
	if (!condition)
		abort();
}

static void check_words(const struct shell *sh)
{
	for (uint32_t i = 0; i < sh->n_words; i++) {
		const struct word *w = &sh->words[i];

		want(w->raw.start <= w->raw.end && w->raw.end <= sh->len);
		want(w->raw.end == 0 || (w->value + w->len < sh->n_text && w->known <= w->len));
		want(w->next == NO_INDEX || w->next < sh->n_words);
	}
	for (uint32_t i = 0; i < sh->n_marks; i++)
		want(sh->marks[i].at.start <= sh->marks[i].at.end && sh->marks[i].at.end <= sh->len);
	for (uint32_t i = 0; i < sh->n_commands && !sh->error; i++)
		want(sh->commands[i].raw.start <= sh->commands[i].raw.end && sh->commands[i].raw.end <= sh->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct path_judge judge = { fuzz_may, NULL };
	struct shell sh;
	struct finding f;

	want(shell_parse(&sh, (const char *)data, size) == !sh.error);
	want(sh.error_at.start <= sh.error_at.end && sh.error_at.end <= size);
	check_words(&sh);
	f = detect(&sh, &judge);
	want(f.at.start <= f.at.end && f.at.end <= size);
	want(!sh.error || f.decision == DECISION_ASK || f.decision == DECISION_DENY);
	want(!only_reads(&sh, &judge) || !sh.error);
	for (uint32_t i = 0; i < sh.n_commands && !sh.error; i++)
		command_matches(&sh, i, "rm -* x:*", true);
	shell_release(&sh);
	return 0;
}
