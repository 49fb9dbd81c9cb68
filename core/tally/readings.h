// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_READINGS_H
#define TOPDOWND_CORE_TALLY_READINGS_H

// One round's raw counts: a list of windows, in the order in which they ended.

#include <stddef.h>
#include <stdint.h>

#include "core/host/topology.h"
#include "core/plan/plan.h"

enum window_result {
    WINDOW_COMPLETE,    // counted all the time it was enabled
    WINDOW_CONTENDED,   // shared the counters: running < enabled
    WINDOW_STARVED,     // never on the counters: running = 0, no data
    WINDOW_FAILED,      // could not be opened or read, no data
    WINDOW_IMPLAUSIBLE, // its counts or times cannot be (core/tally/plausible.h), no data
    WINDOW_RESULT_N
};
const char *window_result_name(enum window_result result);

// Replaces a window's own counts and times if it was recorded in two (core/recording/recording_resident.h).
struct window_made {
    enum window_result result;
    int error;              // of WINDOW_FAILED
    double running_seconds; // on the counters
    const double *counts;   // of the events of the group's unit, scaled for contention
};

struct window {
    unsigned cpu;   // index into topology->cpus
    unsigned group; // event group of the plan
    enum window_result result;
    uint64_t enabled_ns, running_ns; // of this window
    uint64_t *counts;                // in the order of the group's events, unscaled; 0 without data
    int error;                       // of WINDOW_FAILED: a negative errno; -ENODEV: the CPU is offline
    const struct window_made *made;  // NULL: use the window's own counts and times
};

// The result of a window that was read, by its times.
static inline enum window_result window_result_of(const struct window *window) {
    if (window->enabled_ns == 0)
        return WINDOW_FAILED;
    if (window->running_ns == 0)
        return WINDOW_STARVED;
    return window->running_ns < window->enabled_ns ? WINDOW_CONTENDED : WINDOW_COMPLETE;
}

struct readings {
    uint64_t round;            // counted from 0
    uint64_t start_ns, end_ns; // monotonic clock
    struct window *windows;
    size_t n_windows, windows_max;
    uint64_t *counts; // memory for the windows' counts
    size_t n_counts, counts_max;
    struct window_made *made; // memory for the windows' `made`; usually NULL
};

// Makes room for the windows of one round of `plan` on every CPU. NULL if out of memory.
struct readings *readings_new(const struct plan *plan, const struct topology *topology);
// The same with room for n_windows windows with n_counts counts in total.
struct readings *readings_new_sized(size_t n_windows, size_t n_counts);
struct readings *readings_free(struct readings *readings);

// Forgets all windows and begins round `round` at start_ns.
void readings_begin(struct readings *readings, uint64_t round, uint64_t start_ns);

// Appends a window with room for n_counts counts, all zero. Never fails: more windows than a round has are a bug of the
// caller.
struct window *readings_add(struct readings *readings, unsigned cpu, unsigned group, size_t n_counts);

#endif
