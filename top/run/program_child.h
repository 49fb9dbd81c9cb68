// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_RUN_PROGRAM_CHILD_H
#define TOPDOWND_TOP_RUN_PROGRAM_CHILD_H

// The process that measures or replays for this view alone. `topdownd top` has started it; it ends with this one.

#include <stdbool.h>

// True if it has ended; *status is what it ended with then. False where there is none (0).
bool program_child_has_ended(int child, int *status);

// Prints what it has said, to standard error.
void program_child_print_log(int log);

// Ends it, and waits for that.
void program_child_end(int child);

#endif
