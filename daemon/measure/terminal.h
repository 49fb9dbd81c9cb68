// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_TERMINAL_H
#define TOPDOWND_DAEMON_MEASURE_TERMINAL_H

// What an output can show.

#include <stdbool.h>
#include <stdint.h>

struct terminal {
    int width; // columns; 80 where it is no terminal
    bool is;   // a terminal at all
    bool colour;
    bool utf8;
};

// Of a file descriptor. Colour needs a terminal that is not "dumb", and NO_COLOR unset or empty (no-color.org).
struct terminal terminal_of(int fd);

// Shows on standard error, if that is a terminal, how far a measurement is, in place of what it said before; nothing
// within the first TERMINAL_PATIENCE_SECONDS. total_seconds 0: nobody knows.
enum { TERMINAL_PATIENCE_SECONDS = 2 };
void terminal_show_progress(const char *what, double seconds, double total_seconds);
void terminal_end_progress(void);

#endif
