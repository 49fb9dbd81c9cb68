// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_METRICS_H
#define TOPDOWND_CORE_TALLY_DERIVE_METRICS_H

// Facts about a plan's metrics apart from their values: which can be or could once be measured, which are ratios, and
// which are stalled.
//
// If an event's 0 is not true (core/counts/zeros.h) while another event of the same metric counts, the metric is
// stalled.
//
// Coverage is split over the planned metrics. What counts all the time is left out where others rotate: it needs no
// counter, and would hide that others have lost theirs.

#include "core/counts/carries.h"
#include "core/counts/zeros.h"
#include "core/plan/plan.h"

// Metrics of a unit.
struct derive_unit {
    size_t first_ratio, n_ratios;
    size_t n_metrics, n_stalled;
};

struct derive_metrics {
    const struct plan *plan;   // borrowed
    unsigned *ratios;          // the plan's metrics that are ratios and have a unit, unit by unit
    struct derive_unit *units; // [unit]
    struct zeros *zeros;       // what has counted since the start
    bool *planned;             // [metric]: is or was plannable
    bool stands, rotated;      // the plan has standing units; this plan or an earlier one has or had others
    size_t n_planned;          // of `planned`, those over which coverage is split
    size_t n_not_plannable;    // of these, not plannable now
    uint8_t *stalled;          // [metric]: enum zero, of the event for which it is stalled; ZERO_TRUE: it is not
    bool *stalled_use;         // [catalog event]: a stalled metric needs it
    bool level1_stalled;
    struct carries *carries; // of the totals of differences
};

// `plan` must outlive it. NULL if out of memory.
struct derive_metrics *derive_metrics_new(const struct plan *plan, size_t n_cpus);
struct derive_metrics *derive_metrics_free(struct derive_metrics *metrics);

// Takes over which events have counted and which metrics could be planned from another plan. `match` gives its metric
// that is the same as each of this one's; -1: none.
void derive_metrics_continue(struct derive_metrics *metrics, const struct derive_metrics *old, const int *match);

// Notes that an event group counted `counts`.
void derive_metrics_note_counts(struct derive_metrics *metrics, unsigned group, const uint64_t *counts);

// Finds the stalled metrics. Call it after noting the round's counts.
void derive_metrics_find_stalled(struct derive_metrics *metrics);

// Whether the event's count of 0 is true; also where it has counted.
enum zero derive_metrics_zero(const struct derive_metrics *metrics, unsigned event);

// A unit's ratios, as metrics of the plan.
static inline const unsigned *derive_metrics_ratios(const struct derive_metrics *metrics, size_t unit, size_t *n) {
    *n = metrics->units[unit].n_ratios;
    return metrics->ratios + metrics->units[unit].first_ratio;
}

// The part of the covered metrics that is measured all the time, 0 to 1.
double derive_metrics_standing_part(const struct derive_metrics *metrics);

#endif
