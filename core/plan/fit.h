// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_FIT_H
#define TOPDOWND_CORE_PLAN_FIT_H

// Decides whether one CPU's counters can count these events at once.
//
// An event may need certain counters, several counters, a counter of its own, or a value in a shared register. The
// decision takes a matching of events to counters; comparing numbers is not enough: three events that only counters 0
// and 1 can count do not fit eight counters. An event group that does not fit never runs, and the kernel does not
// always report this when the group is opened.
//
// Exclusive events: on Sandy Bridge, Ivy Bridge and Haswell, a counter that counts one corrupts the sibling's counter
// of the same number (errata BJ122, BV98, HSD29). So the kernel lets each thread of the core use half of its general
// counters, whoever takes them, while either thread counts such an event; fixed counters are not concerned (Linux,
// arch/x86/events/core.c, x86_schedule_events, and intel/core.c, intel_get_excl_constraints). Siblings that count the
// same event group together then always find counters. The check at open does not know this.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/spec/event_need.h"

enum { FIT_REASON_EVENTS_MAX = 8 };

struct fit_pmu {
    unsigned general;                            // available general counters; 0: no limit
    unsigned reserved;                           // of these, left to others
    uint64_t fixed_taken;                        // fixed counters that others hold, one bit each
    unsigned registers[EVENT_REGISTERS_MAX + 1]; // values at once, by event_need.reg; 0: no limit
    unsigned hardware; // general counters that the CPU has, of which exclusive events leave half; 0: they leave all
};

enum fit_cause {
    FIT_COUNTERS, // more general counters than there are
    FIT_CHOICE,   // more than there are counters that can count these events
    FIT_PLACE,    // an event that takes adjacent counters finds none beside the others
    FIT_REGISTER, // more values of a shared register than it can hold
    FIT_EXCLUSIVE // more general counters than an exclusive event leaves
};

// Explains why events do not fit.
struct fit_reason {
    enum fit_cause cause;
    unsigned needed, available;             // counters; with FIT_REGISTER values
    unsigned reg;                           // with FIT_REGISTER
    size_t n;                               // events that collide, as many as fit here; FIT_COUNTERS names none
    unsigned events[FIT_REASON_EVENTS_MAX]; // indexes into the needs
};

// `events` are indexes into `needs`; a duplicate counts once. Both are pure functions of their arguments.
//
// Counters reserved for others reduce how many may be used, not which: the kernel reassigns the counters of all events
// on a CPU whenever one comes or goes, so no user keeps a particular counter.
//
// The answer is exact, with one exception: if events take several counters and have too many arrangements to try all,
// events that fit may be reported as not fitting, never the reverse.

// True if they fit; else *why (may be NULL) is filled.
bool fit_check(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events, size_t n,
               struct fit_reason *why);

// How far they are from fitting: missing counters, plus events without a place, plus register values too many; 0 if
// they fit. `others` is the number of general counters, of any kind, that further events take. For a search that
// repairs a packing step by step.
unsigned fit_excess(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events, size_t n,
                    unsigned others);

// General counters that they take; they must fit.
unsigned fit_used(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events, size_t n);

// True if the event takes general counters and leaves others half of them.
bool fit_is_exclusive(const struct fit_pmu *pmu, const struct event_need *need);

// How many general counters all events may use beside an exclusive one.
unsigned fit_exclusive_limit(const struct fit_pmu *pmu);

// General counters that the event needs if only `pmu` limits it.
unsigned fit_width(const struct fit_pmu *pmu, const struct event_need *need);

// The fixed counter that it could use, as a bit; 0: none.
uint64_t fit_fixed(const struct fit_pmu *pmu, const struct event_need *need);

// True if the event has needs beyond fit_width general counters of any kind: then comparing numbers is not enough.
bool fit_is_constrained(const struct fit_pmu *pmu, const struct event_need *need);

#endif
