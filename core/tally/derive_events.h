// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_EVENTS_H
#define TOPDOWND_CORE_TALLY_DERIVE_EVENTS_H

// Raw events: an event counts in every event group that contains it, and all its windows together are its sample. The
// common unit has the events of all groups.

#include "core/counts/cells.h"

// One of the snapshot's events.
struct derive_event {
    size_t first_place, n_places;
    bool planned;  // in an event group
    bool standing; // in one that counts all the time
};

// Where a CPU's row has an event's count, and whose.
struct derive_place {
    size_t count, unit;
};

struct derive_events {
    const struct rows *rows; // borrowed, like `of`
    const unsigned *of;      // [event]: catalog index
    size_t n_events, n_cpus;
    struct derive_event *events; // [event]
    struct derive_place *places;
    struct span *spans; // [cpu][event]
};

// `rows` and `of`, n_events catalog indexes, must outlive it. NULL if out of memory.
struct derive_events *derive_events_new(const struct rows *rows, const unsigned *of, size_t n_events, size_t n_cpus);
struct derive_events *derive_events_free(struct derive_events *events);

// Ends the CPU's round of `seconds` for the events that are counted all the time, or (`standing` false) for all others;
// gaps longer than limit_seconds are given up. Writes the increases of events with data to `amounts`.
void derive_events_advance(struct derive_events *events, const struct cells *cells, size_t cpu, bool standing,
                           double seconds, double limit_seconds, double *amounts);

static inline bool derive_events_planned(const struct derive_events *events, size_t event) {
    return events->events[event].planned;
}

#endif
