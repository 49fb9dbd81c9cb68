// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_COMMAND_H
#define TOPDOWND_DAEMON_COMMAND_COMMAND_H

// topdownd's commands: their options, and the functions that run them.

// The commit that the program was built from, such as "0123456789ab", with "-dirty" if files differed; "unknown" if the
// source does not say. cmake/revision.cmake defines it for main.c alone: no other program is linked again for it.
extern const char command_revision[];

// Runs the command line's command. Returns the exit status; 2 for a wrong command line.
int command_main(int argc, char **argv, const char *revision);

#endif
