// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_STATE_H
#define TOPDOWND_CORE_TALLY_DERIVE_STATE_H

// What the files of derive share: derive.c makes it and runs a round, derive_window.c takes readings in,
// derive_advance.c moves totals, derive_trust.c asks core/estimate how far a gauge can be trusted, derive_gauge.c
// writes a snapshot.
//
// A unit's values are the CPU seconds of its windows, then its events' counts. One round goes through three arrays of
// such values: `windows` per CPU (sums over its windows, scaled for contention), `sums` per scope (extrapolated to the
// round), and `dense`, one unit's values by catalog event, which is what formulas read.

#include "core/base/span.h"
#include "core/base/total.h"
#include "core/tally/derive.h"
#include "core/tally/estimate.h"
#include "core/tally/level1.h"

enum { DERIVE_GROUP_TOTALS = WINDOW_RESULT_N + 2 };

struct derive_unit {
    size_t first; // offset of its values within a row
    size_t n;
    size_t first_ratio, n_ratios; // of its metrics that are ratios, in derive.ratios
    size_t n_metrics, n_stalled;  // of the plan's metrics, in this round
};

// One of the layout's events: where a CPU's windows have its counts.
struct derive_event {
    size_t first_place, n_places; // in derive.places
    bool planned;                 // is in an event group
};
struct derive_place {
    size_t count, seconds; // within a row
};

// What the gauges of a scope rest on, per unit.
struct derive_basis {
    double running_seconds; // on the counters
    double elapsed_seconds; // of the CPUs that were there
    double windows;
};

// What an event group of an earlier plan counted: should it come back, its totals go on.
struct derive_past_group {
    char name[PLAN_NAME_MAX];
    double totals[DERIVE_GROUP_TOTALS];
};

struct derive {
    struct snapshot_layout *layout; // a reference
    struct derive_unit *units;
    struct derive_event *events; // [event]
    struct derive_place *places;
    unsigned *ratios;   // metrics of the plan that are ratios and have a unit, unit by unit
    size_t row;         // values of all units
    size_t first_total; // of scope 0, in a snapshot
    size_t n_totals;    // of a scope

    // of the round
    double *windows;            // [cpu][row]
    double *sums;               // [scope][row]
    double *running;            // [cpu][unit]: seconds on the counters, of a composite those of its average part
    uint32_t *n_windows;        // [cpu][unit]: with data; those of a composite are whole ones
    struct derive_basis *bases; // [scope][unit]
    uint8_t *data;              // [scope][unit]: 1 where there was data
    uint8_t *trouble;           // [cpu][unit]: enum uncovered, why there was none
    uint8_t *offline;           // [cpu]
    double *level1_slots;       // [cpu][category]: signed, of the windows that could be split
    double *level1_seconds;     // [cpu]: of these windows
    double *level1_increase;    // [scope][category]
    uint8_t *stalled;           // [metric]
    uint8_t *stalled_use;       // [catalog event]: 1 where a stalled metric needs it
    bool level1_stalled;
    double *dense;           // [catalog event]
    double *values;          // [catalog metric]: of one scope or window, in the scale of the formulas
    double *window, *joined; // one window's values

    // kept from round to round
    uint64_t rounds; // so far
    uint64_t end_ns; // of the last round, 0 before the first
    bool *counted;   // [catalog event]: has counted since the start
    bool *planned;   // [metric]: has been plannable at some time: coverage is split over these
    size_t n_planned;
    size_t n_not_plannable;    // of these, which do not fit the counters that are left
    struct span *unit_spans;   // [cpu][unit]
    struct span *level1_spans; // [cpu]
    struct span *event_spans;  // [cpu][event]
    struct level1_debt *debts; // [cpu]
    double *parts;             // [cpu][part][value of the level-1 unit]: windows of an unfinished composite
    double *parts_sums;        // the same, summed over the round's finished ones
    size_t n_parts;            // values of a CPU there, 0: nothing is a composite
    unsigned *parts_done;      // [cpu]
    double *parts_running;     // [cpu]: seconds on the counters, of these windows together
    int *place;                // [catalog metric]: in the plan, -1: it is not there
    struct total *totals;      // [scope][field]
    double *group_totals;      // windows by result, enabled and running seconds, as in the snapshot
    struct derive_past_group *past_groups;
    size_t n_past_groups;
    struct estimate *estimate; // of this plan's rounds
};

struct derive_round_time {
    double seconds;       // that can be extrapolated over
    double gap_seconds;   // that cannot
    double limit_seconds; // longest gap to extrapolate over
};

static inline size_t derive_n_cpus(const struct derive *d) { return d->layout->topology->n_cpus; }
static inline size_t derive_n_units(const struct derive *d) { return d->layout->plan->n_units; }
static inline size_t derive_n_group_totals(const struct derive *d) {
    return d->layout->plan->n_groups * DERIVE_GROUP_TOTALS;
}

// derive_window.c
void derive_dense_fill(struct derive *d, size_t unit, const double *values, double factor);
// What is the same for one CPU and for sums over many: the seconds that passed, and 1 for sums over whole cores.
void derive_dense_special(struct derive *d, double seconds, double core_wide);
void derive_take_window(struct derive *d, const struct window *window);
// After the round's last window: the composites of each CPU as if they were one window.
void derive_join_parts(struct derive *d);

// derive_advance.c: a CPU's windows into its totals and into the sums of its scopes; which metrics are stalled comes
// first.
void derive_find_stalled(struct derive *d);
void derive_advance_cpu(struct derive *d, size_t cpu, const struct derive_round_time *time);

// Adds to a total in all scopes of the CPU; the field is given by its place in scope 0 of a snapshot.
void derive_add(struct derive *d, size_t cpu, size_t field_of_scope_0, double amount);

// derive_trust.c: after the CPUs have advanced; then what it says of a gauge that has a value.
void derive_take_trust(struct derive *d, const struct derive_round_time *time);
void derive_write_trust(const struct derive *d, struct snapshot *out, size_t scope, size_t metric);

// derive_gauge.c
void derive_write_totals(const struct derive *d, struct snapshot *out);
void derive_write_gauges(struct derive *d, struct snapshot *out, double round_seconds);
// Events that are not live, and CPUs; what is of a round alone only where there has been one.
void derive_write_states(const struct derive *d, struct snapshot *out, bool of_round);

#endif
