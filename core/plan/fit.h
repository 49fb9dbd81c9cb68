// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_FIT_H
#define TOPDOWND_CORE_PLAN_FIT_H

// Can these events be on the counters of one CPU at once?
//
// An event may ask for certain counters, for several, for a counter of its own, or for a value in a register that
// others share. Whether all find a place is a matching of events to counters, not a count: three events that only
// counters 0 and 1 can count do not fit eight counters. An event group that does not fit never runs, and the kernel
// does not always say so when it is opened.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/spec/event_need.h"

enum { FIT_REASON_EVENTS_MAX = 8 };

struct fit_pmu {
    unsigned general;                            // general counters that can be had; 0: no limit
    unsigned reserved;                           // of these, left to others
    uint64_t fixed_taken;                        // fixed counters that others hold, bit each
    unsigned registers[EVENT_REGISTERS_MAX + 1]; // how many values at once, by event_need.reg; 0: no limit
};

enum fit_cause {
    FIT_COUNTERS, // more general counters than there are
    FIT_CHOICE,   // more than there are of those that can count these events
    FIT_PLACE,    // an event that takes neighbouring counters finds none beside the others
    FIT_REGISTER  // more values of a shared register than it can hold
};

// Why events do not fit.
struct fit_reason {
    enum fit_cause cause;
    unsigned needed, available;             // counters; with FIT_REGISTER values
    unsigned reg;                           // with FIT_REGISTER
    size_t n;                               // events that collide, at most as many as fit here; FIT_COUNTERS names none
    unsigned events[FIT_REASON_EVENTS_MAX]; // indexes into the needs
};

// `events` are indexes into `needs`; one that comes twice counts once. Both are pure functions of their arguments.
//
// Counters reserved for others reduce how many may be used, not which: the kernel places all events of a CPU anew
// whenever one comes or goes, ours and others', so nobody sits on a counter with a number.
//
// Exact, but where events take several counters and so many arrangements are possible that not all were tried: then
// what fits may be said not to fit, never the reverse.

// True where they fit; else *why (may be NULL) is filled.
bool fit_check(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events, size_t n,
               struct fit_reason *why);

// By how much they do not fit: counters that are missing, plus events without a place, plus register values too many;
// 0 where they fit. `others` are general counters that further events take, which can be any. For a search that mends
// a packing step by step.
unsigned fit_excess(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events, size_t n,
                    unsigned others);

// General counters that the event needs where nothing but `pmu` is in its way.
unsigned fit_width(const struct fit_pmu *pmu, const struct event_need *need);

// The fixed counter that it could have, as a bit; 0: none.
uint64_t fit_fixed(const struct fit_pmu *pmu, const struct event_need *need);

// True where the event asks for more than its fit_width of any general counters: then counting is not enough.
bool fit_is_constrained(const struct fit_pmu *pmu, const struct event_need *need);

#endif
