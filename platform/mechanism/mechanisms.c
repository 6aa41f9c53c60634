#include "platform/mechanism/mechanism.h"

#include "platform/base/cleanup.h"

#define MECHANISM(id) extern const struct mechanism mechanism_##id;
#include "platform/mechanism/mechanisms.def"
#undef MECHANISM

const struct mechanism *const mechanisms[] = {
#define MECHANISM(id) &mechanism_##id,
#include "platform/mechanism/mechanisms.def"
#undef MECHANISM
};
const size_t n_mechanisms = ARRAY_SIZE(mechanisms);
