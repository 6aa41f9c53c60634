/* The same without a loader, so that no shim is in it. */
#include "attempt.c"
