/*
 * Denials in the system's log. The kernel writes, for a rule with a message, two lines:
 *
 *   2025-06-03 12:11:35.123 E  kernel[0:3a2f1] (Sandbox) Sandbox: touch(4242) deny(1) file-write-create /Users/u/.npmrc
 *   hurdle-1a2b3c
 *
 * The confined side chooses the names in them, so they are words for people and nothing is decided by them.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/base/cleanup.h"
#include "platform/mechanism/seatbelt.h"

static const char *const harmless[] = {
#define HARMLESS(begins, reason) begins,
#include "platform/mechanism/seatbelt_harmless.def"
#undef HARMLESS
};

static bool is_harmless(const char *denial)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (strncmp(denial, harmless[i], strlen(harmless[i])) == 0)
			return true;
	return false;
}

/* "(PID) deny", with or without a number behind "deny": the first in s whose number is one. NULL: none. */
static const char *find_verdict(const char *s, long *ret_pid, const char **ret_behind)
{
	for (; (s = strchr(s, '(')); s++) {
		char *end;
		long pid = strtol(s + 1, &end, 10);
		if (s[1] < '0' || s[1] > '9' || strncmp(end, ") deny", 6) != 0 || pid > INT32_MAX)
			continue;
		end += 6;
		if (*end == '(')
			end += strcspn(end, " ");
		if (*end != ' ')
			continue;
		*ret_pid = pid;
		*ret_behind = end + 1;
		return s;
	}
	return NULL;
}

bool seatbelt_log_read(const char *line, struct seatbelt_denial *ret)
{
	static const char mark[] = "Sandbox: ";
	const char *start = strstr(line, mark), *behind;
	long pid;
	if (!start || strstr(line, " duplicate report")) /* it was told once */
		return false;
	start += sizeof mark - 1;
	const char *end = find_verdict(start, &pid, &behind);
	size_t action = end ? strcspn(behind, " \n") : 0;
	if (!action || end == start || is_harmless(behind))
		return false;
	const char *target = behind + action + (behind[action] == ' ');
	*ret = (struct seatbelt_denial){
		.program = strf("%.*s", (int)(end - start), start), .action = strf("%.*s", (int)action, behind),
		.target = strf("%.*s", (int)strcspn(target, "\n"), target), .pid = (int)pid,
	};
	return true;
}

void seatbelt_denial_release(struct seatbelt_denial *d)
{
	free(d->program);
	free(d->action);
	free(d->target);
	*d = (struct seatbelt_denial){ 0 };
}

void seatbelt_log_command(struct strv *to, const char *tag)
{
	_cleanup_free_ char *predicate = strf("eventMessage ENDSWITH \"%s\"", tag);
	const char *const words[] = { "/usr/bin/log", "stream", "--style", "compact", "--predicate", predicate };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		strv_add(to, words[i]);
}
