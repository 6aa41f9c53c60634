/* A program file of any bytes: one of the known answers, no crash, no descriptor left. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/policy/wire.h"
#include "preload/coverage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("program", MFD_CLOEXEC);

	/* a script may name any file for its interpreter: not one that blocks */
	if (size >= 2 && data[0] == '#' && data[1] == '!')
		size = 2;
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	int free_before = dup(fd);
	close(free_before);
	enum shim_class class;
	int reason = coverage(fd, (1u << SHIM_CLASSES) - 1, &class), free_after = dup(fd);
	if (class >= SHIM_CLASSES || reason < UNCOVERED_NONE || reason >= UNCOVERED_REASON_COUNT || free_after != free_before)
		abort();
	close(free_after);
	close(fd);
	return 0;
}
