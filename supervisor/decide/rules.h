/* Rules about commands: "Bash(npm run test)", "Bash(git push:*)", "Bash(npm * build)", and excludedCommands, which has the same syntax. */
#pragma once
#include "platform/policy/policy.h"
#include "supervisor/decide/lexer.h"

/* text is matched whole: exactly; "x:*" and "x *" mean x and x with arguments; every other * is any text, blanks too. */
bool command_pattern_matches(const char *pattern, const char *text);

/*
 * Does the rule mean this simple command? wide: as a rule that forbids should, in whatever dress: by its path, behind sudo, env, xargs
 * or find -exec, inside sh -c, with assignments before it. Else only as it stands. pattern NULL: every command.
 */
bool command_matches(const struct shell *sh, uint32_t command, const char *pattern, bool wide);
/* A permission rule is about commands. */
bool permission_is_bash(const struct permission *r);
