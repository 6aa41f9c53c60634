/* Questions about one path, asked of the compiled policy. */
#pragma once
#include <stdbool.h>

/* A path_judge: context is a const struct decider. A directory may be read only when no rule denies anything below it. */
bool decide_may_access(void *context, bool write, const char *path);
