// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_OPTIONS_TABLE_H
#define TOPDOWND_DAEMON_BASE_OPTIONS_TABLE_H

// Every option of every command.

#include "daemon/base/options.h"

struct option_row {
    const char *name;     // two rows may share a name if no command takes both
    const char *argument; // name of its value; NULL: it takes none
    unsigned sets;        // of enum option_set: the commands that take one of these sets take the option
    // Sets the option; `word` is its value, NULL if it takes none. Returns 0, or -EINVAL after printing the mistake.
    int (*read)(const struct option_row *row, const char *word, struct options *options);
    size_t member;    // offset in struct options, for readers of any text or flag
    const char *help; // '\n' begins a new line
};

enum { OPTION_ROWS = 49 };
extern const struct option_row option_rows[OPTION_ROWS];

#endif
