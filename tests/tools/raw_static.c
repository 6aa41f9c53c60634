/* raw.c as a statically linked program: there is no loader that could load a shim. */
#include "tests/tools/raw.c"
