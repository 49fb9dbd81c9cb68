// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_PROCESS_LEAST_H
#define TOPDOWND_BENCH_PROCESS_LEAST_H

// What any program must do at least that offers such values: the calls to the kernel, and a page that never changes.

#include <stddef.h>

// How often it does so, in memory that the benchmark shares: a daemon makes fewer calls while cores sleep, and its loop
// of the same calls has to follow.
struct least_pace {
    _Atomic double wakeups_a_second;
    _Atomic double calls_a_wakeup; // if it rotates: stops, starts and reads of event groups
    _Atomic double calls;          // made so far
};

// Maps the file, which is made if need be. NULL if that fails.
struct least_pace *least_pace_map(const char *path);

// Serves a page of so many bytes and does this until it is killed. With one event group a CPU it counts all the time
// and is read at each wake-up; several rotate. Prints its address as topdownd does. Returns the exit status if it
// cannot.
int least_run(struct least_pace *pace, size_t n_groups, size_t page_bytes);

#endif
