// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_ZEROS_H
#define TOPDOWND_CORE_COUNTS_ZEROS_H

// Which counts of 0 are true. A count of 0 with running time is a 0, with three exceptions:
//
// - The spec knows that the event is dead on this CPU (catalog_event.known_dead).
// - The spec says that the event must count in any busy second (catalog_event.must_count), and it never has. It is not
//   believed until it counts, and dead once the events beside it have counted ZEROS_BESIDE.
// - Such an event has run beside others that counted ZEROS_EVIDENCE, and has not counted itself. Then something filters
//   this PMU's
//   events: KVM's PMU event filter lets a guest open an event that stays 0 for ever without an error
//   (KVM_SET_PMU_EVENT_FILTER, Documentation/virt/kvm/api.rst of Linux), and emulators do. No 0 of this PMU is believed
//   then, but those of events that have counted before. One count of each such event ends the doubt.
//
// Some events must count and are yet no evidence of a filter: those that a later definition of a metric does without
// (catalog_metric.alternative). A spec has such definitions for CPUs that never count these events, as Graviton 2 and 3
// never count LL_CACHE_MISS_RD.
//
// What the PMU itself promises to count is always believed (PLAN_SUPPORTED), and so is what a recorded catalog or the
// spec of an earlier version marks (catalog_event.may_be_zero).
//
// Knows nothing of time: what has counted once is believed for ever.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan/plan.h"

#define ZEROS_BESIDE UINT64_C(1000000000)
#define ZEROS_EVIDENCE UINT64_C(1000000) // less than a busy millisecond: a moment, in which anything may be 0

enum zero {
    ZERO_TRUE,    // also where the event has counted
    ZERO_SILENT,  // it must count and has not, or is known to be dead
    ZERO_FILTERED // something filters its PMU's events
};

struct zeros {
    const struct catalog *catalog; // borrowed
    bool *counted;                 // [event]: has counted
    bool *evidence;                // [event]: of a filter, while it has not counted beside others that have
    uint64_t *beside; // [event]: the largest counts beside it while it has not counted, in sum; at most ZEROS_BESIDE
    bool *filtered;   // [PMU]: by zeros_judge
};

struct zeros *zeros_new(const struct catalog *catalog); // NULL if out of memory
struct zeros *zeros_free(struct zeros *zeros);          // returns NULL, takes NULL

// Takes over what is known under another catalog, by the events' names.
void zeros_continue(struct zeros *zeros, const struct zeros *old);

// Notes what events counted at the same time.
void zeros_note(struct zeros *zeros, const unsigned *events, const uint64_t *counts, size_t n);

// Notes that an event counted nothing while another one counted so much.
void zeros_note_silence(struct zeros *zeros, unsigned event, uint64_t beside);

// Finds the PMUs whose events something filters. Call it after noting counts.
void zeros_judge(struct zeros *zeros);

// Whether an event's 0 is true. `support` is the plan's, by event.
enum zero zeros_of(const struct zeros *zeros, const uint8_t *support, unsigned event);

// True if others have counted ZEROS_EVIDENCE beside an event that has not: that it must is then no matter of time.
// Never in a recording of earlier versions, which did not know what must count.
bool zeros_told(const struct zeros *zeros, unsigned event);

// True if it is not, and others have counted ZEROS_BESIDE beside the event.
bool zeros_dead(const struct zeros *zeros, const uint8_t *support, unsigned event);

#endif
