#include "platform/mechanism/mechanism.h"

#include "platform/base/cleanup.h"

const struct mechanism *const mechanisms[] = {
#define MECHANISM(id) &mechanism_##id,
#include "platform/mechanism/mechanisms.def"
#undef MECHANISM
};
const size_t n_mechanisms = ARRAY_SIZE(mechanisms);

bool mechanism_chosen(unsigned chosen, const struct mechanism *m)
{
	for (size_t i = 0; i < n_mechanisms; i++)
		if (mechanisms[i] == m)
			return chosen >> i & 1;
	return false;
}
