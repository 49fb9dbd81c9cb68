// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_SHARED_EVENTS_H
#define TOPDOWND_CORE_COUNTS_SHARED_EVENTS_H

// Events that several units count, each in windows of its own, because their event groups take turns: usually
// instructions and cycles. Together they tell more of a round than one unit does (core/estimate/estimate_shared.h).

#include "core/counts/rows.h"

struct shared_counter {
    size_t unit, place; // place: of the event among the unit's values
};

struct shared_events {
    size_t n_units, n_events;
    struct shared_counter *counters; // event by event
    size_t *first;                   // [event]: of its counters; one more for the end
    size_t *of_unit;                 // [unit]: the event that most other units count as well; n_events: none
    size_t *places;                  // [unit]: its place among the unit's values; 0: none
    const struct rows *rows;         // borrowed
};

// `rows` must outlive it. NULL if out of memory.
struct shared_events *shared_events_new(const struct rows *rows);
struct shared_events *shared_events_free(struct shared_events *shared);

static inline size_t shared_events_counters(const struct shared_events *shared) {
    return shared->first[shared->n_events];
}

#endif
