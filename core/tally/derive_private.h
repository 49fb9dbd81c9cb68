// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_PRIVATE_H
#define TOPDOWND_CORE_TALLY_DERIVE_PRIVATE_H

// The state that the files of derive share: derive.c creates it and runs a round, derive_window.c takes readings in,
// derive_advance.c and derive_standing.c advance totals, derive_trust.c gets confidence intervals from core/estimate,
// derive_gauge.c writes a snapshot, derive_continue.c continues under another plan.
//
// Windows go into the cells of a round, and the cells of all CPUs into sums of scopes and into totals, from which
// derive writes a snapshot. Each of these is a type of its own in core/counts/; derive only moves values from one to
// the next.

#include "core/counts/composites.h"
#include "core/counts/core_slots.h"
#include "core/counts/level1_siblings.h"
#include "core/counts/operand_lanes.h"
#include "core/counts/operands.h"
#include "core/counts/sums.h"
#include "core/counts/totals.h"
#include "core/estimate/estimate.h"
#include "core/tally/derive.h"
#include "core/tally/derive_bounds.h"
#include "core/tally/derive_events.h"
#include "core/tally/derive_metrics.h"
#include "core/tally/derive_past.h"
#include "core/tally/group_totals.h"

struct derive {
    struct snapshot_layout *layout; // a reference
    struct rows *rows;
    struct scopes *scopes;
    struct cells *cells; // of the last rounds; also how long each unit on each CPU has had no data
    struct composites *composites;
    double *window; // [value of a row]: one window's values
    struct core_slots *core_slots;
    struct sums *sums;
    struct operands *at;        // for a CPU's round
    struct operand_lanes *in;   // then for each batch of scopes in turn
    struct level1_cpus *level1; // unused if the plan has no level-1 unit
    struct totals *totals;      // a scope's totals, numbered as in scope 0 of a snapshot
    struct derive_past past;    // of earlier plans
    double *amounts;            // [total of metrics, level 1 and events]: what a CPU's round adds
    struct group_totals *groups;
    struct derive_events *events;
    struct derive_metrics *metrics;
    struct derive_bounds *bounds;
    struct estimate *estimate;             // of this plan's rounds
    const struct core_round **core_rounds; // [core]: of the readings at hand
    bool *ended;                           // [cpu]: its round is in them
    bool *read;                            // [cpu]: else, what counts all the time was read
    uint64_t *end_ns;                      // [cpu]: of its last round, 0 before the first
    uint64_t *standing_end_ns;             // [cpu]: the same for what counts all the time
    bool scaled, no_gaps;                  // the readings at hand are, have
    double seconds;                        // of the last round: gauges and their sums are for this time
    bool tells_many;                       // in snapshots: what many rounds come to together
    bool gauges_age;                       // some snapshot had the gauges of the one before
    bool guests_known;                     // readings have told of guests
    bool busy_known;                       // readings have told for how long CPUs were busy
    uint64_t rounds;                       // readings so far, from the first round that has ended
};

struct derive_round_time {
    double seconds;       // that the round represents
    double gap_seconds;   // cannot
    double limit_seconds; // longest gap to extrapolate over
};

// Where the amount of a total is that metrics, level 1 or events add; and the number of these totals.
static inline double *derive_amount(const struct derive *d, size_t field) {
    return d->amounts + (field - d->totals->first_field);
}
static inline size_t derive_n_amounts(const struct derive *d) {
    return snapshot_covered(d->layout, 0) - d->totals->first_field;
}

static inline size_t derive_n_cpus(const struct derive *d) { return d->layout->topology->n_cpus; }
static inline size_t derive_n_units(const struct derive *d) { return d->rows->n_units; }

// The formula of a metric of the plan.
static inline const struct formula *derive_formula(const struct derive *d, size_t metric) {
    return d->layout->catalog->metrics[d->layout->plan->metrics[metric].metric].formula;
}

// derive_window.c
void derive_take_window(struct derive *d, const struct window *window);
// Joins the composites of each CPU whose round has ended into one window. Call it after the last window.
void derive_join_composites(struct derive *d);
// Takes the windows of level 1 that still wait for their siblings'. Call it last.
void derive_end_windows(struct derive *d);

// derive_advance.c: adds a CPU's cells to its totals. Call it once the stalled metrics are known.
void derive_advance_cpu(struct derive *d, size_t cpu, const struct derive_round_time *time);

// The time from start_ns to end_ns, which a CPU's counts represent.
struct derive_round_time derive_time_between(const struct derive *d, uint64_t start_ns, uint64_t end_ns);

// The same for one unit and for the raw events, of units that count all the time or of others.
void derive_advance_unit(struct derive *d, size_t cpu, unsigned unit, const struct derive_round_time *time);
void derive_advance_events(struct derive *d, size_t cpu, bool standing, const struct derive_round_time *time);

// derive_standing.c: finds the CPUs whose rounds go on and of which was read what counts all the time, and begins it.
void derive_begin_standing(struct derive *d, const struct readings *readings);
// Advances it on a CPU whose round ended at end_ns, or on one that was read then. Call it like derive_advance_cpu.
void derive_end_standing(struct derive *d, const struct readings *readings, size_t cpu, uint64_t end_ns);
// The part of a pause until until_ns for which a CPU has no counts, in seconds.
double derive_pause_cpu(struct derive *d, size_t cpu, uint64_t until_ns);

// derive_trust.c: does not compare a CPU's rounds over a gap; then writes the intervals of a gauge, exported as
// `values`, in a batch's scopes that have one.
void derive_forget_gaps(struct derive *d, size_t cpu, const struct derive_round_time *time);
void derive_write_trust(const struct derive *d, struct snapshot *out, size_t batch, size_t metric,
                        const struct lanes *values);

// derive_gauge.c
void derive_write_totals(const struct derive *d, struct snapshot *out);
void derive_write_gauges(struct derive *d, struct snapshot *out);
// Writes the events that are not live, and the CPUs; a round's own values only with `of_round`.
void derive_write_states(const struct derive *d, struct snapshot *out, bool of_round);

#endif
