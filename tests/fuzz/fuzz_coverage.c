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
	int reason = coverage(fd), next = dup(fd);
	if (reason < UNCOVERED_NONE || reason >= UNCOVERED_REASON_COUNT || next != fd + 1)
		abort();
	close(next);
	close(fd);
	return 0;
}
