// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_RUN_ARGS_H
#define TOPDOWND_TOP_RUN_ARGS_H

// The command line of topdownd-top, which `topdownd top` writes: daemon/command/top.c.

#include <stdbool.h>

#include "top/source/fetch.h"

enum { ARGS_PASSWORD_MAX = 1024 };

struct args {
    struct fetch_options from;
    const char *source; // what it is, for people
    bool once;          // print one screen and end
    int child;          // process that measures or replays for this view; 0: none
    int child_log;      // file descriptor with what it says; -1: none
    int steps;          // file descriptor through which a replay is stepped; -1: none
    double speed;       // of a replay; 0: as fast as possible
    char password[ARGS_PASSWORD_MAX];
};

// Returns 0, or -EINVAL after printing what is wrong.
int args_read(int argc, char **argv, struct args *out);

#endif
