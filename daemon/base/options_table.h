// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_OPTIONS_TABLE_H
#define TOPDOWND_DAEMON_BASE_OPTIONS_TABLE_H

// Every option of every command.

#include "daemon/base/options.h"

struct option_row {
    const char *name;     // two rows may have one name where no command takes both
    const char *argument; // what its value is called; NULL: it takes none
    unsigned sets;        // of enum option_set: the commands that take one of these sets take the option
    // Sets the option; `word` is its value, NULL where it takes none. Returns 0, or -EINVAL after saying what is wrong.
    int (*read)(const struct option_row *row, const char *word, struct options *options);
    size_t member;    // that a reader of any text or flag sets: its offset in struct options
    const char *help; // '\n' begins a new line
};

enum { OPTION_ROWS = 23 };
extern const struct option_row option_rows[OPTION_ROWS];

#endif
