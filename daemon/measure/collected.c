// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/collected.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/diagnosis/bound.h"

static const double MANY_ROUNDS = 1.5; // at least

struct collected_cell {
    double gauges, squares;         // sums: of the gauges; of the squares of half their intervals
    enum estimate_doubt doubt;      // of the newest of these intervals that is poor
    unsigned n, n_intervals;        // of both
    struct estimate_rounds_of many; // of this plan: the newest, but the variance is a mean
    unsigned n_many;                // snapshots that told them
    double sum;                     // of their variances since they are of no more than the memory's rounds
    unsigned plan;                  // the number of the plan of the last snapshot with a gauge; 0: none yet
    struct collected_past {         // of earlier plans, n rounds: sums of the rounds' variances, of kept errors squared
        double variance, kept, degrees;
        unsigned n;
    } past;
    double numerator, denominator; // totals at the beginning
    double numerator_now, denominator_now;
};

struct collected {
    bool each_is_round;
    unsigned plan;                // the number of the last snapshot's, counted from 1
    struct collected_cell *cells; // [scope * n_metrics + metric of the catalog]
    size_t n_scopes, n_metrics;
    struct view *view;         // of the last snapshot; a reference
    struct snapshot *last;     // likewise; NULL: none yet
    struct snapshot *before;   // the last one before the beginning; NULL: there was none
    uint64_t start_ns, end_ns; // of what was taken in since the beginning
    size_t n;                  // snapshots since then
};

struct collected *collected_new(bool each_is_round) {
    struct collected *collected = calloc(1, sizeof *collected);
    if (collected)
        collected->each_is_round = each_is_round;
    return collected;
}

struct collected *collected_free(struct collected *collected) {
    if (!collected)
        return NULL;
    snapshot_unref(collected->before);
    snapshot_unref(collected->last);
    view_unref(collected->view);
    free(collected->cells);
    free(collected);
    return NULL;
}

// The definition that a plan has in force stands for the metric.
static struct collected_cell *cell_of(const struct collected *collected, const struct snapshot_layout *layout,
                                      size_t scope, size_t metric) {
    unsigned named = catalog_metric_named(layout->catalog, layout->plan->metrics[metric].metric);
    return &collected->cells[scope * collected->n_metrics + named];
}

// Other CPUs than before are measured where their number changes: what was known of sockets and CPUs is forgotten.
static int make_room(struct collected *collected, const struct snapshot_layout *layout) {
    size_t n_metrics = layout->catalog->n_metrics;
    if (collected->cells && collected->n_scopes == layout->n_scopes && collected->n_metrics == n_metrics)
        return 0;
    struct collected_cell *cells = calloc(layout->n_scopes * n_metrics + 1, sizeof *cells);
    if (!cells)
        return -ENOMEM;
    if (collected->cells && collected->n_metrics == n_metrics)
        memcpy(cells, collected->cells, n_metrics * sizeof *cells); // the host
    free(collected->cells);
    collected->cells = cells;
    collected->n_scopes = layout->n_scopes;
    collected->n_metrics = n_metrics;
    return 0;
}

// The totals of a metric; false if it has none. *k is the factor of their quotient.
static bool find_totals(const struct snapshot *snapshot, size_t scope, size_t metric, double *numerator,
                        double *denominator, double *k) {
    const struct snapshot_layout *layout = snapshot->layout;
    size_t category = snapshot_category_of(layout, metric);
    *k = 1;
    if (category < layout->n_level1) {
        *numerator = snapshot->values[snapshot_category(layout, scope, category)];
        *denominator = snapshot->values[snapshot_pipeline_slots(layout, scope)];
        return true;
    }
    if (!catalog_metric_ratio(&layout->catalog->metrics[layout->plan->metrics[metric].metric], k))
        return false;
    *numerator = snapshot->values[snapshot_numerator(layout, scope, metric)];
    *denominator = snapshot->values[snapshot_denominator(layout, scope, metric)];
    return true;
}

// A plan has ended: its rounds and those of the next one are each as certain as their own plan says.
static void end_plan(struct collected_cell *cell) {
    double n = cell->n - cell->past.n, kept = n * cell->many.kept;
    if (cell->n_many > 0 && isfinite(cell->many.variance)) {
        cell->past.variance += n * cell->many.variance;
        cell->past.kept += kept * kept;
        cell->past.degrees = fmax(cell->past.degrees, cell->many.degrees);
        cell->past.n = cell->n;
    }
    cell->n_many = 0;
}

// What the newest snapshot tells comes from the last rounds, all of them with the same weight as long as they are few.
// After that, each moves the mean by one part of ESTIMATE_MEMORY_ROUNDS; the newest one by so many times and each one
// since then once, all rounds have the same weight. Call it before the snapshot counts.
static void take_many(struct collected_cell *cell, const struct estimate_rounds_of *many, unsigned plan) {
    if (cell->plan != plan)
        end_plan(cell);
    cell->plan = plan;
    if (isnan(many->variance) && cell->n_many == 0 && cell->past.n > 0)
        return; // a plan has just begun
    cell->n_many = isnan(many->variance) ? 0 : cell->n_many;
    cell->many = *many;
    if (++cell->n_many > ESTIMATE_MEMORY_ROUNDS)
        cell->many.variance = (cell->sum + ESTIMATE_MEMORY_ROUNDS * many->variance) / cell->n_many;
    if (cell->n_many == 1)
        cell->sum = 0;
    if (cell->n_many >= ESTIMATE_MEMORY_ROUNDS)
        cell->sum += many->variance;
}

static void take_metric(struct collected *collected, const struct snapshot *snapshot, size_t scope, size_t metric) {
    const struct snapshot_layout *layout = snapshot->layout;
    struct collected_cell *cell = cell_of(collected, layout, scope, metric);
    double gauge = snapshot->values[snapshot_metric(layout, scope, metric)];
    double half = (snapshot->values[snapshot_high(layout, scope, metric)] -
                   snapshot->values[snapshot_low(layout, scope, metric)]) /
                  2;
    double a, b, k;
    if (find_totals(snapshot, scope, metric, &a, &b, &k) && isfinite(a) && isfinite(b)) {
        cell->numerator_now = a;
        cell->denominator_now = b;
    }
    if (snapshot->many && isfinite(gauge))
        take_many(cell, &snapshot->many[snapshot_state(layout, scope, metric)], collected->plan);
    if (isfinite(gauge)) {
        cell->gauges += gauge;
        cell->n++;
    }
    if (isfinite(gauge) && snapshot_doubt(snapshot, snapshot_state(layout, scope, metric)) != ESTIMATE_SURE)
        cell->doubt = snapshot_doubt(snapshot, snapshot_state(layout, scope, metric));
    if (isfinite(gauge) && isfinite(half)) {
        cell->squares += half * half;
        cell->n_intervals++;
    }
}

int collected_take(struct collected *collected, struct view *view, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    int r = make_room(collected, layout);
    if (r < 0)
        return r;
    collected->plan += !collected->last || collected->last->layout != layout;
    for (size_t scope = 0; scope < layout->n_scopes; scope++)
        for (size_t m = 0; m < snapshot_n_metrics(layout, scope); m++)
            take_metric(collected, snapshot, scope, m);
    if (collected->n++ == 0)
        collected->start_ns = snapshot->start_ns;
    collected->end_ns = snapshot->end_ns;
    snapshot_unref(collected->last);
    view_unref(collected->view);
    collected->last = snapshot_ref((struct snapshot *)(uintptr_t)snapshot);
    collected->view = view_ref(view);
    return 0;
}

void collected_begin(struct collected *collected) {
    for (size_t i = 0; i < collected->n_scopes * collected->n_metrics; i++) {
        struct collected_cell *cell = &collected->cells[i];
        *cell = (struct collected_cell){.numerator = cell->numerator_now,
                                        .denominator = cell->denominator_now,
                                        .numerator_now = cell->numerator_now,
                                        .denominator_now = cell->denominator_now};
    }
    collected->n = 0;
    snapshot_unref(collected->before);
    collected->before = collected->last ? snapshot_ref(collected->last) : NULL;
}

// How many rounds the snapshots with an interval stand for: those within a round repeat parts of it.
static double rounds_of(const struct collected *collected, unsigned n) {
    const struct snapshot_layout *layout = collected->last->layout;
    if (collected->each_is_round)
        return n;
    double ns = (double)(collected->end_ns - collected->start_ns) * n / (double)collected->n;
    double rounds = ns / (double)layout->plan->round_ns;
    return rounds > n ? n : rounds > 1 ? rounds : 1;
}

// The interval of all rounds together. The last ones are as certain as this plan says, or the one before.
static struct estimate_width width_of_many(const struct collected *collected, const struct collected_cell *cell) {
    const struct collected_past *past = &cell->past;
    double all = cell->n, n = all - past->n, kept = n * cell->many.kept;
    struct estimate_rounds_of of = cell->many;
    of.variance = (past->variance + n * of.variance) / all;
    of.kept = sqrt(past->kept + kept * kept) / all;
    of.degrees = fmax(past->degrees, of.degrees);
    return estimate_width_of_many(&of, rounds_of(collected, cell->n));
}

// What is of one round has its own interval, and not that of an average round, which is shorter where the last one
// missed much. Clocks are late: a little more than a round is one.
static struct estimate_width width_of(const struct collected *collected, const struct collected_cell *cell) {
    if ((cell->n_many > 0 || cell->past.n > 0) && rounds_of(collected, cell->n) >= MANY_ROUNDS)
        return width_of_many(collected, cell);
    double square =
        cell->n_intervals > 0 ? cell->squares / cell->n_intervals / rounds_of(collected, cell->n_intervals) : NAN;
    return (struct estimate_width){.half = sqrt(square)};
}

// Of an interval that is a mean of several, the newest poor one tells why it is poor.
static struct estimate_judgement judge(const struct collected_cell *cell, const struct catalog_metric *metric,
                                       double value, const struct estimate_width *width) {
    struct estimate_judgement judgement = estimate_judge(metric, value, width);
    if (isnan(width->half))
        judgement.doubt = width->from.few != ESTIMATE_SURE ? width->from.few : cell->doubt;
    else if (judgement.quality == ESTIMATE_POOR && width->factor == 0 && cell->doubt != ESTIMATE_SURE)
        judgement.doubt = cell->doubt;
    return judgement;
}

static void write_metric(const struct collected *collected, struct snapshot *out, size_t scope, size_t metric) {
    const struct snapshot_layout *layout = out->layout;
    const struct collected_cell *cell = cell_of(collected, layout, scope, metric);
    double a, b, k;
    if (cell->n == 0)
        return; // as in the last snapshot
    const struct estimate_width width = width_of(collected, cell);
    double value = cell->gauges / cell->n;
    if (find_totals(out, scope, metric, &a, &b, &k) && cell->denominator_now > cell->denominator)
        value = k * (cell->numerator_now - cell->numerator) / (cell->denominator_now - cell->denominator);
    double low = value - width.half;
    out->values[snapshot_metric(layout, scope, metric)] = value;
    out->values[snapshot_low(layout, scope, metric)] = value >= 0 && low < 0 ? 0 : low;
    out->values[snapshot_high(layout, scope, metric)] = value + width.half;
    out->absent[snapshot_state(layout, scope, metric)] = ABSENT_NOT;
    struct estimate_judgement judgement =
        judge(cell, &layout->catalog->metrics[layout->plan->metrics[metric].metric], value, &width);
    snapshot_set_trust(out, snapshot_state(layout, scope, metric), judgement.quality, judgement.doubt);
}

static void subtract(struct snapshot *out, const struct snapshot *before, size_t at) {
    double was = before->values[at];
    if (isfinite(was))
        out->values[at] -= was;
}

// Turns the host's totals of events and times into what they grew by, and the kernel's times of all scopes. Those of
// another plan than before are not known.
static void write_totals(const struct collected *collected, struct snapshot *out) {
    const struct snapshot_layout *layout = out->layout;
    const struct snapshot *before = collected->before;
    bool same = !before || before->layout == layout;
    for (size_t e = 0; e < layout->n_events; e++) {
        if (!same)
            out->values[snapshot_event(layout, 0, e)] = NAN;
        else if (before)
            subtract(out, before, snapshot_event(layout, 0, e));
    }
    if (!before || !same)
        return;
    for (size_t scope = 0; scope < layout->n_scopes; scope++)
        subtract(out, before, snapshot_busy(layout, scope));
    subtract(out, before, snapshot_covered(layout, 0));
    for (int u = 0; u < UNCOVERED_N; u++)
        subtract(out, before, snapshot_uncovered(layout, 0, (enum uncovered)u));
    for (size_t g = 0; g < layout->plan->n_groups; g++)
        subtract(out, before, snapshot_running(layout, g));
}

struct snapshot *collected_result(const struct collected *collected, struct view **view) {
    struct snapshot *out = collected->n > 0 ? snapshot_new(collected->last->layout) : NULL;
    if (!out)
        return NULL;
    const struct snapshot_layout *layout = out->layout;
    size_t n_states = snapshot_n_states(layout);
    memcpy(out->values, collected->last->values, layout->n_values * sizeof *out->values);
    memcpy(out->absent, collected->last->absent, n_states);
    memcpy(out->trust, collected->last->trust, n_states);
    out->sequence = collected->last->sequence;
    out->blind = collected->last->blind;
    out->start_ns = collected->start_ns;
    out->end_ns = collected->end_ns;
    for (size_t scope = 0; scope < layout->n_scopes; scope++)
        for (size_t m = 0; m < snapshot_n_metrics(layout, scope); m++)
            write_metric(collected, out, scope, m);
    write_totals(collected, out);
    if (bound_fill(out) < 0)
        return snapshot_unref(out);
    if (collected->last->circumstances.phases.swings) // else it is of the last spell, and the verdict of all
        out->circumstances.phases = collected->last->circumstances.phases;
    *view = collected->view;
    return out;
}
