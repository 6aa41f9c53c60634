/* The program scrub-run, as a function: hurdle offers it under that name too. */
#pragma once

/* Like main(); returns an exit code, or does not return because the command runs in its place. */
int scrub_run_main(int argc, char *argv[]);
