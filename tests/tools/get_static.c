/* get_static FILE: can it be read? As a statically linked program, without the shim: so it sees what the kernel allows. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char c;
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;

	return fd < 0 || read(fd, &c, 1) != 1 ? 1 : 0;
}
