// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_READINGS_H
#define TOPDOWND_CORE_TALLY_READINGS_H

// Raw counts: the windows of rounds that have ended, in the order in which they ended, and of what counts all the time.

#include <stdbool.h>
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

// Others' counts that do not say how long they ran have windows that ran for 1 ns: a smaller share of the time than
// this is unknown.
#define READINGS_SHARE_LEAST 1e-6
// What perf prints as 100.00 % of the time.
#define READINGS_SHARE_ALL 0.99995

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

// A round of one core, which has ended: all windows of its CPUs since its previous one belong to it. Cores without a
// round may have windows of event groups that count all the time, which end with the readings.
struct core_round {
    unsigned core; // index into the topology
    uint64_t start_ns, end_ns;
    bool held;         // the core slept and was held on event groups: it has had some of its slots only, at times that
                       // do not depend on the groups
    double idle_share; // if held: of its busy time, how much fell into idle pieces
};

enum { READINGS_BUSY_STEP_NS = 1000000 }; // what busy_ns is a multiple of

struct readings {
    uint64_t round;            // number of the round in which they end, counted from 0
    uint64_t start_ns, end_ns; // monotonic clock: since the readings before these
    bool by_core;              // false: one round of all cores, from start_ns to end_ns, in which none was held
    bool scaled;               // counts stand for all of the time that their windows were enabled, as perf prints them
    bool no_gaps;             // of tasks, whose time is that of all threads together: nothing passed uncounted, however
                              // long it was
    bool round_over;          // every core that never sleeps has ended a round since the last readings of which this
                              // is said
    struct core_round *cores; // if by_core: those whose rounds have ended, each once, ascending
    size_t n_cores, cores_max;
    size_t n_counted, n_missed; // if by_core: windows of event groups that rotate, of unfinished rounds as well, which
                                // ended since the readings before these: with data, without
    struct window *windows;
    size_t n_windows, windows_max;
    uint64_t *counts; // memory for the windows' counts
    size_t n_counts, counts_max;
    struct window_made *made; // memory for the windows' `made`; usually NULL
    bool guests_known;        // guest_ns is that of these readings
    uint64_t *guest_ns;       // [cpu]: for how long guests had the CPU since the readings before; NULL: it never was
    size_t n_guests;          // CPUs there
    bool busy_known;          // busy_ns is that of these readings
    uint64_t *busy_ns; // [cpu]: for how long the kernel saw it busy since that was last told, whole milliseconds,
                       // 0 while it is offline; NULL: it never was asked
    size_t n_busy;     // CPUs there
};

// Makes room for the windows of one round of `plan` on every CPU. NULL if out of memory.
struct readings *readings_new(const struct plan *plan, const struct topology *topology);
// The same for one core with n_cpus CPUs.
struct readings *readings_new_core(const struct plan *plan, size_t n_cpus);
// The same with room for n_cores rounds of cores and n_windows windows with n_counts counts in total.
struct readings *readings_new_sized(size_t n_cores, size_t n_windows, size_t n_counts);
struct readings *readings_free(struct readings *readings);

// Forgets all windows and rounds of cores, and begins readings of `round` at start_ns: of one round of all cores.
void readings_begin(struct readings *readings, uint64_t round, uint64_t start_ns);

// Appends a window with room for n_counts counts, all zero. Never fails: more windows than a round has are a bug of the
// caller.
struct window *readings_add(struct readings *readings, unsigned cpu, unsigned group, size_t n_counts);

// Memory for guest_ns of so many CPUs, as many at each call. NULL if out of memory. Whoever fills it sets guests_known.
uint64_t *readings_guests(struct readings *readings, size_t n_cpus);
// The same for busy_ns and busy_known.
uint64_t *readings_busy(struct readings *readings, size_t n_cpus);

// Notes that a window of an event group that rotates has ended since the readings before these.
void readings_note_window(struct readings *readings, const struct window *window);

// Adds a core's round, which has ended: the readings are by core.
void readings_add_core(struct readings *readings, const struct core_round *round);

// Appends the windows of other readings, without `made`.
void readings_append(struct readings *readings, const struct readings *from);

#endif
