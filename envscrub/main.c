#include "envscrub/command.h"

int main(int argc, char *argv[])
{
	return scrub_run_main(argc, argv);
}
