// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_COMMAND_H
#define TOPDOWND_DAEMON_COMMAND_COMMAND_H

// topdownd's commands: which there are, which options each takes, and what runs it.

// Runs what the command line says. Returns the exit status; 2 where the command line is wrong.
int command_main(int argc, char **argv);

#endif
