// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_CHILD_H
#define TOPDOWND_DAEMON_MEASURE_CHILD_H

// A command that waits, before it begins, until its counters are open.

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid;  // 0: none
    int go;     // the end of a pipe that it waits at; -1: it has gone on
    int failed; // the end of a pipe in which it says why it cannot begin; -1: closed
    bool over;
    int status; // if it is over: its exit status, or 128 and the signal that ended it
};

enum { CHILD_CANNOT_START = 126, CHILD_NOT_FOUND = 127, CHILD_SIGNALLED = 128 };

// Makes the process, which waits; `mask` are the signals that it gets blocked. Returns 0 or a negative errno.
int child_new(struct child *child, char *const *command, const sigset_t *mask);

// Lets it begin. Returns 0 once it has, or a negative errno: the command cannot be started (-ENOENT: there is none).
int child_begin(struct child *child);

// Looks whether it has ended.
bool child_is_over(struct child *child);

void child_signal(const struct child *child, int signal);

// Waits until it has ended, whatever it takes.
void child_wait(struct child *child);

// Ends a command that has not begun, and frees the pipes.
void child_deinit(struct child *child);

#endif
