// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_TERMINAL_H
#define TOPDOWND_DAEMON_BASE_TERMINAL_H

// What the commands show to people: colour and progress only on a terminal, and nothing lost without a word.

#include <stdbool.h>
#include <stdint.h>

#include "exporters/text/text.h"

// True if colours may be written to the file descriptor: it is a terminal, TERM names one that is not "dumb", and
// NO_COLOR is unset or empty (https://no-color.org).
bool terminal_has_colour(int fd);

// The number of columns of the terminal that the file descriptor is; 80 if it is none or does not say.
int terminal_columns(int fd);

// One line on standard error that says how far a command is. It appears after two seconds, changes at most five times a
// second, and leaves nothing behind. Where standard error is no terminal, or a dumb one, it never appears.
struct terminal_progress {
    uint64_t begun_ns, shown_ns; // CLOCK_MONOTONIC; 0: not yet
};

// Shows the text, cut to the terminal's width, if it is time. Begin with a zeroed struct and call it as often as you
// like.
void terminal_progress_show(struct terminal_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Erases the line. Call it before anything else is written.
void terminal_progress_end(struct terminal_progress *progress);

// Writes the text to standard output, and flushes it. Returns 0, -ENOMEM if the text has failed, or TERMINAL_LOST after
// saying why (a full disk): then the command ends with status 2. A reader that has gone away, as `head` does, is no
// failure.
enum { TERMINAL_LOST = 1 };
int terminal_print(const struct text *text);

// Flushes what printf has written: 0 or TERMINAL_LOST. Every command ends with it (daemon/command/command.c).
int terminal_flush(void);

#endif
