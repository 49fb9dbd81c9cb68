// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_COMMAND_H
#define TOPDOWND_DAEMON_COMMAND_COMMAND_H

// topdownd's commands: their options, and the functions that run them.

// Runs the command line's command. Returns the exit status; 2 for a wrong command line.
int command_main(int argc, char **argv);

#endif
