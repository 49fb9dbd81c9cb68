// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive.h"

#include <stdlib.h>

#include "core/tally/derive_state.h"

// Creates a derive, and runs a round from beginning to end.

static const double NS = 1e-9;

// ---- making ----

static bool make_parts(struct derive *d) {
    struct snapshot_layout *layout = d->layout;
    size_t first_total = snapshot_numerator(layout, 0, 0), n_cpus = derive_n_cpus(d);
    d->cells = cells_new(d->rows, n_cpus);
    d->composites = composites_new(d->rows, n_cpus);
    d->window = calloc(d->rows->n_values + 1, sizeof *d->window);
    d->sums = sums_new(d->rows, d->scopes);
    d->at = operands_new(d->rows);
    d->level1 = level1_cpus_new(d->rows, d->scopes);
    d->totals = totals_new(d->scopes, first_total, layout->scope_stride - first_total);
    d->groups = group_totals_new(layout->plan);
    d->events = derive_events_new(d->rows, layout->events, layout->n_events, n_cpus);
    d->metrics = derive_metrics_new(layout->plan);
    d->estimate = estimate_new(layout->plan, layout->topology, ESTIMATE_MEMORY_ROUNDS);
    return d->cells && d->composites && d->window && d->sums && d->at && d->level1 && d->totals && d->groups &&
           d->events && d->metrics && d->estimate;
}

struct derive *derive_new(struct snapshot_layout *layout) {
    struct derive *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->layout = snapshot_layout_ref(layout);
    d->rows = rows_new(layout->plan);
    d->scopes = scopes_new(layout->topology);
    return d->rows && d->scopes && make_parts(d) ? d : derive_free(d);
}

struct derive *derive_free(struct derive *d) {
    if (!d)
        return NULL;
    estimate_free(d->estimate);
    derive_metrics_free(d->metrics);
    derive_events_free(d->events);
    group_totals_free(d->groups);
    totals_free(d->totals);
    level1_cpus_free(d->level1);
    operands_free(d->at);
    sums_free(d->sums);
    free(d->window);
    composites_free(d->composites);
    cells_free(d->cells);
    scopes_free(d->scopes);
    rows_free(d->rows);
    snapshot_layout_unref(d->layout);
    free(d);
    return NULL;
}

// ---- a round ----

static void begin_round(struct derive *d) {
    cells_begin_round(d->cells);
    composites_begin_round(d->composites);
    level1_cpus_begin_round(d->level1);
    sums_begin_round(d->sums);
}

// A round begins at the end of the previous one, so that no time is lost between two plans.
static struct derive_round_time time_of(const struct derive *d, const struct readings *readings) {
    double planned = (double)d->layout->plan->round_ns * NS;
    uint64_t start_ns = d->end_ns > 0 ? d->end_ns : readings->start_ns;
    struct derive_round_time time = {.seconds = (double)(readings->end_ns - start_ns) * NS,
                                     .limit_seconds = DERIVE_ROUNDS_MAX * planned};
    if (time.seconds > time.limit_seconds) {
        time.gap_seconds = time.seconds - planned;
        time.seconds = planned;
    }
    return time;
}

void derive_round(struct derive *d, const struct readings *readings, struct snapshot *out) {
    struct derive_round_time time = time_of(d, readings);
    begin_round(d);
    for (size_t i = 0; i < readings->n_windows; i++)
        derive_take_window(d, &readings->windows[i]);
    derive_join_composites(d);
    derive_metrics_find_stalled(d->metrics);
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        derive_advance_cpu(d, cpu, &time);
    derive_advance_standing(d, readings);
    derive_take_trust(d, &time);
    d->end_ns = readings->end_ns;
    d->rounds++;
    if (!out)
        return;
    derive_write_totals(d, out);
    derive_write_gauges(d, out, time.seconds);
    out->sequence = d->rounds;
    out->start_ns = readings->start_ns;
    out->end_ns = readings->end_ns;
}

void derive_pause(struct derive *d, uint64_t until_ns, enum uncovered reason) {
    derive_pause_standing(d, until_ns, reason);
    if (d->end_ns == 0 || until_ns <= d->end_ns || d->metrics->n_planned == 0)
        return;
    double seconds = (double)(until_ns - d->end_ns) * NS * (1 - derive_standing_part(d));
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        totals_add(d->totals, cpu, snapshot_uncovered(d->layout, 0, reason), seconds);
        estimate_forget_cpu(d->estimate, cpu);
    }
    d->end_ns = until_ns;
}

void derive_initial(const struct derive *d, struct snapshot *out) {
    derive_write_totals(d, out);
    derive_write_states(d, out, false);
    out->sequence = d->rounds;
}
