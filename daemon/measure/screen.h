// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_SCREEN_H
#define TOPDOWND_DAEMON_MEASURE_SCREEN_H

// What an output for people can show.

#include <stdbool.h>

struct screen {
    int width; // columns
    bool colour;
    bool utf8; // else ASCII
};

struct screen screen_of(int fd);

#endif
