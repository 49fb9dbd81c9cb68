// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_STOPPER_H
#define TOPDOWND_DAEMON_MEASURE_STOPPER_H

// Waiting that a signal ends: SIGINT (Ctrl-C), SIGTERM and SIGHUP end a measurement with its result, and SIGCHLD says
// that a command has ended.

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct stopper {
    int fd;          // of the signals
    sigset_t before; // the mask that a command gets
    int signal;      // the last one that asked for the end; 0: none
};

int stopper_init(struct stopper *stopper); // 0 or a negative errno
void stopper_deinit(struct stopper *stopper);

// Waits until the time (monotonic), or until a signal. True if one came.
bool stopper_wait(struct stopper *stopper, uint64_t until_ns);

#endif
