// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_STATE_H
#define TOPDOWND_CORE_TALLY_DERIVE_STATE_H

// What the files of derive share: derive.c makes it and runs a round, derive_window.c takes readings in,
// derive_advance.c moves totals, derive_trust.c asks core/estimate how far a gauge can be trusted, derive_gauge.c
// writes a snapshot, derive_continue.c goes on under another plan.
//
// Windows go into the cells of a round, the cells of all CPUs into sums of scopes and into totals, and a snapshot is
// written from these. Each of them is a type of its own in core/counts/; derive only moves values from one to the next.

#include "core/counts/composites.h"
#include "core/counts/evaluation.h"
#include "core/counts/level1_cpus.h"
#include "core/counts/sums.h"
#include "core/counts/totals.h"
#include "core/estimate/estimate.h"
#include "core/tally/derive.h"
#include "core/tally/derive_events.h"
#include "core/tally/derive_metrics.h"
#include "core/tally/group_totals.h"

struct derive {
    struct snapshot_layout *layout; // a reference
    struct rows *rows;
    struct scopes *scopes;
    struct cells *cells; // of the round, and for how long each unit on each CPU has had no data
    struct composites *composites;
    double *window; // [value of a row]: one window's values
    struct sums *sums;
    struct evaluation *at;      // of a CPU's round, then of one scope after the other
    struct level1_cpus *level1; // unused where the plan has no level-1 unit
    struct totals *totals;      // a scope's totals, numbered as in scope 0 of a snapshot
    struct group_totals *groups;
    struct derive_events *events;
    struct derive_metrics *metrics;
    struct estimate *estimate; // of this plan's rounds
    uint64_t rounds;           // so far
    uint64_t end_ns;           // of the last round, 0 before the first
};

struct derive_round_time {
    double seconds;       // that can be extrapolated over
    double gap_seconds;   // that cannot
    double limit_seconds; // longest gap to extrapolate over
};

static inline size_t derive_n_cpus(const struct derive *d) { return d->layout->topology->n_cpus; }
static inline size_t derive_n_units(const struct derive *d) { return d->rows->n_units; }

// The formula of a metric of the plan.
static inline const struct formula *derive_formula(const struct derive *d, size_t metric) {
    return d->layout->catalog->metrics[d->layout->plan->metrics[metric].metric].formula;
}

// derive_window.c
void derive_take_window(struct derive *d, const struct window *window);
// After the round's last window: the composites of each CPU as if they were one window.
void derive_join_composites(struct derive *d);

// derive_advance.c: a CPU's cells into its totals and into the sums of its scopes; which metrics are stalled is known.
void derive_advance_cpu(struct derive *d, size_t cpu, const struct derive_round_time *time);

// derive_trust.c: after the CPUs have advanced; then what it says of a gauge that has a value.
void derive_take_trust(struct derive *d, const struct derive_round_time *time);
void derive_write_trust(const struct derive *d, struct snapshot *out, size_t scope, size_t metric);

// derive_gauge.c
void derive_write_totals(const struct derive *d, struct snapshot *out);
void derive_write_gauges(struct derive *d, struct snapshot *out, double round_seconds);
// Events that are not live, and CPUs; what is of a round alone only where there has been one.
void derive_write_states(const struct derive *d, struct snapshot *out, bool of_round);

#endif
