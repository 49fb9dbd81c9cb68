// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_TASK_COMMAND_H
#define TOPDOWND_DAEMON_MEASURE_TASK_COMMAND_H

// A command that waits, before it begins, until its counters are open.

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct task_command {
    pid_t pid;  // 0: none
    int go;     // the end of a pipe that it waits at; -1: it has gone on
    int failed; // the end of a pipe in which it says why it cannot begin; -1: closed
    bool over;
    int status; // if it is over: its exit status, or 128 and the signal that ended it
};

enum { TASK_COMMAND_CANNOT_START = 126, TASK_COMMAND_NOT_FOUND = 127, TASK_COMMAND_SIGNALLED = 128 };

// Makes the process, which waits; `mask` are the signals that it gets blocked. Returns 0 or a negative errno.
int task_command_new(struct task_command *child, char *const *command, const sigset_t *mask);

// Lets it begin. Returns 0 once it has, or a negative errno: the command cannot be started (-ENOENT: there is none).
int task_command_begin(struct task_command *child);

// Looks whether it has ended.
bool task_command_is_over(struct task_command *child);

void task_command_signal(const struct task_command *child, int signal);

// Waits until it has ended, whatever it takes.
void task_command_wait(struct task_command *child);

// Ends a command that has not begun, and frees the pipes.
void task_command_deinit(struct task_command *child);

#endif
