/* Starting a command behind another program's walls (struct walls of mechanism.h), and hearing from inside. */
#pragma once
#include "platform/mechanism/stage_block.h"

/* As launch_start. o's descriptors are filled in here. l->pid becomes the walls' program, l->command_fd the command. */
int walls_start(struct launch *l, const struct stage_options *o, struct err *err);
/* Lets the command go: until then it stands before its exec. */
void walls_go(const struct launch *l);
/* The next report from inside, without waiting. False: none. */
bool walls_hear(const struct launch *l, struct stage_report *ret);
