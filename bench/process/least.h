// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_PROCESS_LEAST_H
#define TOPDOWND_BENCH_PROCESS_LEAST_H

// What any program must do at least that offers such values: the calls to the kernel, and a page that never changes.

#include <stddef.h>

struct least {
    double wakeups_a_second;
    double calls_a_wakeup; // if it rotates: stops, starts and reads of event groups
    size_t n_groups;       // 1: one group of all events a CPU, which counts all the time and is read at each wake-up
};

// Serves a page of so many bytes and does this until it is killed. Prints its address as topdownd does. Returns the
// exit status if it cannot.
int least_run(const struct least *least, size_t page_bytes);

#endif
