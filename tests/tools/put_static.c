/*
 * put_static FILE [WORD]: writes "hit" to FILE, as a statically linked program does: without a loader that would put the shim
 * in. As the interpreter of a script (#! put_static FILE) the script's own name is WORD.
 */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	return fd < 0 || write(fd, "hit\n", 4) != 4 ? 1 : 0;
}
