/* The sub-commands: each takes its parsed options and returns an exit code. Only they print. */
#pragma once
#include "supervisor/options.h"

int cmd_run(const struct options *o);
int cmd_status(const struct options *o);
int cmd_explain(const struct options *o);
int cmd_profile(const struct options *o);
int cmd_trust(const struct options *o);
int cmd_decide(const struct options *o);
int cmd_settings(const struct options *o);
int cmd_connect(const struct options *o);
