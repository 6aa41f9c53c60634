/* Will the loader put the shim into this program? Compiled into the shim and into the supervisor alike. */
#pragma once

/* enum uncovered_reason (platform/policy/wire.h) of an open program file, scripts followed to their interpreter. */
int coverage(int fd);
