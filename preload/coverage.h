/* Will the loader put the shim into this program, and which shim? Compiled into the shim and into the supervisor alike. */
#pragma once
#include "platform/policy/wire.h"

/*
 * enum uncovered_reason of an open program file, scripts followed to their interpreter. shims: bit per enum shim_class, for which
 * of them there is a shim. *ret_class: whose shim the program takes; the caller's own where that cannot be told.
 */
int coverage(int fd, unsigned shims, enum shim_class *ret_class);
