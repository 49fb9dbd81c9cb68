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
    d->in = operand_lanes_new(d->rows);
    d->level1 = level1_cpus_new(d->rows, d->scopes);
    d->carries = carries_new(layout->plan, n_cpus);
    d->totals = totals_new(d->scopes, first_total, layout->scope_stride - first_total);
    d->groups = group_totals_new(layout->plan);
    d->events = derive_events_new(d->rows, layout->events, layout->n_events, n_cpus);
    d->metrics = derive_metrics_new(layout->plan);
    d->core_rounds = calloc(layout->topology->n_cores + 1, sizeof *d->core_rounds);
    d->ended = calloc(n_cpus + 1, sizeof *d->ended);
    d->end_ns = calloc(n_cpus + 1, sizeof *d->end_ns);
    d->estimate = estimate_new(layout->plan, layout->topology, ESTIMATE_MEMORY_ROUNDS);
    return d->cells && d->composites && d->window && d->sums && d->at && d->in && d->level1 && d->carries &&
           d->totals && d->groups && d->events && d->metrics && d->core_rounds && d->ended && d->end_ns && d->estimate;
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
    free(d->end_ns);
    free(d->ended);
    free(d->core_rounds);
    derive_metrics_free(d->metrics);
    derive_events_free(d->events);
    group_totals_free(d->groups);
    totals_free(d->totals);
    carries_free(d->carries);
    level1_cpus_free(d->level1);
    operand_lanes_free(d->in);
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

// Finds the CPUs whose rounds have ended, and begins these rounds.
static void begin_rounds(struct derive *d, const struct readings *readings) {
    for (size_t core = 0; core < d->layout->topology->n_cores; core++)
        d->core_rounds[core] = NULL;
    for (size_t i = 0; i < readings->n_cores; i++)
        d->core_rounds[readings->cores[i].core] = &readings->cores[i];
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        d->ended[cpu] = !readings->by_core || d->core_rounds[d->layout->topology->cpus[cpu].core];
        if (!d->ended[cpu])
            continue;
        cells_begin_round(d->cells, cpu);
        composites_begin_round(d->composites, cpu);
        level1_cpus_begin_round(d->level1, cpu);
    }
}

// A CPU's round begins at the end of its previous one, so that no time is lost between two plans.
static struct derive_round_time time_of(struct derive *d, const struct readings *readings, size_t cpu) {
    const struct core_round *round = d->core_rounds[d->layout->topology->cpus[cpu].core];
    uint64_t begun_ns = readings->by_core ? round->start_ns : readings->start_ns;
    uint64_t end_ns = readings->by_core ? round->end_ns : readings->end_ns;
    uint64_t start_ns = d->end_ns[cpu] > 0 ? d->end_ns[cpu] : begun_ns;
    double planned = (double)d->layout->plan->round_ns * NS;
    if (end_ns < start_ns)
        end_ns = start_ns; // only in a recording that is wrong: the round stands for no time
    struct derive_round_time time = {.seconds = (double)(end_ns - start_ns) * NS,
                                     .limit_seconds = DERIVE_ROUNDS_MAX * planned};
    if (time.seconds > time.limit_seconds) {
        time.gap_seconds = time.seconds - planned;
        time.seconds = planned;
    }
    cells_end_round(d->cells, cpu, time.seconds);
    if (readings->by_core) {
        d->cells->times[cpu].held = round->held;
        d->cells->times[cpu].idle_share = round->idle_share;
    }
    d->end_ns[cpu] = end_ns;
    return time;
}

// Ends the rounds that the readings tell of. Returns the time of the last one.
static double end_rounds(struct derive *d, const struct readings *readings) {
    double seconds = d->seconds;
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        if (!d->ended[cpu])
            continue;
        struct derive_round_time time = time_of(d, readings, cpu);
        derive_advance_cpu(d, cpu, &time);
        derive_advance_standing(d, cpu, &time);
        derive_forget_gaps(d, cpu, &time);
        seconds = time.seconds;
    }
    return seconds;
}

static void take_estimates(struct derive *d) {
    estimate_take_round(d->estimate, d->cells, d->seconds);
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        d->cells->times[cpu].fresh = false;
}

void derive_round(struct derive *d, const struct readings *readings, struct snapshot *out) {
    begin_rounds(d, readings);
    for (size_t i = 0; i < readings->n_windows; i++)
        derive_take_window(d, &readings->windows[i]);
    derive_join_composites(d);
    derive_metrics_find_stalled(d->metrics);
    d->seconds = end_rounds(d, readings);
    if (readings->round_over)
        take_estimates(d);
    d->rounds++;
    if (!out)
        return;
    derive_write_totals(d, out);
    derive_write_gauges(d, out);
    out->sequence = d->rounds;
    out->within_round = !readings->round_over;
    out->start_ns = readings->start_ns;
    out->end_ns = readings->end_ns;
}

void derive_pause(struct derive *d, uint64_t until_ns, enum uncovered reason) {
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        uint64_t *end_ns = &d->end_ns[cpu];
        if (*end_ns == 0 || until_ns <= *end_ns || d->metrics->n_planned == 0)
            continue;
        totals_add(d->totals, cpu, snapshot_uncovered(d->layout, 0, reason), (double)(until_ns - *end_ns) * NS);
        estimate_forget_cpu(d->estimate, cpu);
        *end_ns = until_ns;
    }
}

void derive_initial(const struct derive *d, struct snapshot *out) {
    derive_write_totals(d, out);
    derive_write_states(d, out, false);
    out->sequence = d->rounds;
}
