// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "core/plan/plan_round.h"
#include "core/tally/derive_private.h"

// Totals: adds a CPU's counts of its round, extrapolated to the time that they represent.

static const double NS = 1e-9;

// Opening the event groups of another plan takes as long as it takes, however short the rounds of a measurement by hand
// are: a gap is longer than a few rounds of a daemon.
static double limit_of(const struct plan *plan) {
    uint64_t least_ns = plan_slots(plan) > 0 ? PLAN_ROUND_NS_MIN : 0;
    return DERIVE_ROUNDS_MAX * NS * (double)(plan->round_ns > least_ns ? plan->round_ns : least_ns);
}

struct derive_round_time derive_time_between(const struct derive *d, uint64_t start_ns, uint64_t end_ns) {
    double planned = (double)d->layout->plan->round_ns * NS;
    struct derive_round_time time = {.seconds = (double)(end_ns - start_ns) * NS,
                                     .limit_seconds = limit_of(d->layout->plan)};
    if (d->no_gaps)
        time.limit_seconds = fmax(time.limit_seconds, DERIVE_ROUNDS_MAX * time.seconds);
    if (time.seconds > time.limit_seconds) {
        time.gap_seconds = time.seconds - planned;
        time.seconds = planned;
    }
    return time;
}

static void add(struct derive *d, size_t cpu, size_t field, double amount) {
    totals_add(d->totals, cpu, field, amount);
}

static void advance_metrics(struct derive *d, size_t cpu, size_t unit) {
    size_t n;
    const unsigned *ratios = derive_metrics_ratios(d->metrics, unit, &n);
    double *numerators = derive_amount(d, snapshot_numerator(d->layout, 0, 0));
    double *denominators = derive_amount(d, snapshot_denominator(d->layout, 0, 0));
    for (size_t i = 0; i < n; i++) {
        const struct formula *formula = derive_formula(d, ratios[i]);
        if (d->metrics->stalled[ratios[i]] != ZERO_TRUE)
            continue;
        double upper = formula_sum_evaluate(&formula->numerator, d->at->counts);
        double lower = formula_sum_evaluate(&formula->denominator, d->at->counts);
        numerators[ratios[i]] = carries_take(d->metrics->carries, cpu, ratios[i], CARRY_NUMERATOR, upper);
        denominators[ratios[i]] = carries_take(d->metrics->carries, cpu, ratios[i], CARRY_DENOMINATOR, lower);
    }
}

// Splits each second of a CPU evenly over the metrics that can, or once could, be measured here.
static void advance_coverage(struct derive *d, size_t cpu, size_t unit, struct span_step step) {
    const struct derive_unit *of = &d->metrics->units[unit];
    double one = 1.0 / (double)d->metrics->n_planned;
    enum uncovered trouble = cells_at(d->cells, cpu, unit)->trouble;
    add(d, cpu, snapshot_covered(d->layout, 0), step.covered_seconds * one * (double)(of->n_metrics - of->n_stalled));
    add(d, cpu, snapshot_uncovered(d->layout, 0, UNCOVERED_STALLED),
        step.covered_seconds * one * (double)of->n_stalled);
    add(d, cpu, snapshot_uncovered(d->layout, 0, trouble), step.uncovered_seconds * one * (double)of->n_metrics);
}

// The longest gap that later data may represent.
static double limit_seconds(const struct derive *d, size_t cpu, const struct derive_round_time *time) {
    return d->cells->offline[cpu] ? 0 : time->limit_seconds;
}

void derive_advance_unit(struct derive *d, size_t cpu, unsigned unit, const struct derive_round_time *time) {
    const double *values = cells_values(d->cells, cpu, unit);
    struct span *span = &cells_at(d->cells, cpu, unit)->span;
    bool data = cells_data(d->cells, cpu, unit);
    struct span_step step = span_advance(span, time->seconds, data, limit_seconds(d, cpu, time));
    advance_coverage(d, cpu, unit, step);
    if (!data)
        return;
    operands_fill(d->at, unit, values, cells_factor(d->cells, cpu, unit, step.covered_seconds));
    if (cells_held(d->cells, cpu, unit)) // its time is exact, as in core/counts/sums.c
        d->at->counts[CATALOG_CPU_SECONDS] = step.covered_seconds;
    advance_metrics(d, cpu, unit);
}

static void advance_level1(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    const struct snapshot_layout *layout = d->layout;
    const double *increase =
        level1_cpus_advance(d->level1, d->cells, cpu, limit_seconds(d, cpu, time), d->metrics->level1_stalled);
    double all = 0;
    for (size_t i = 0; increase && i < layout->n_level1; i++) {
        *derive_amount(d, snapshot_category(layout, 0, i)) = increase[i];
        all += increase[i];
    }
    *derive_amount(d, snapshot_pipeline_slots(layout, 0)) = all;
    if (increase)
        *derive_amount(d, snapshot_contention(layout, 0)) = d->level1->cpus[cpu].contention_increase;
}

void derive_advance_events(struct derive *d, size_t cpu, bool standing, const struct derive_round_time *time) {
    derive_events_advance(d->events, d->cells, cpu, standing, time->seconds, limit_seconds(d, cpu, time),
                          derive_amount(d, snapshot_event(d->layout, 0, 0)));
}

void derive_advance_cpu(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    const struct snapshot_layout *layout = d->layout;
    const struct derive_metrics *metrics = d->metrics;
    if (metrics->n_planned == 0)
        return; // nothing selected
    add(d, cpu, snapshot_uncovered(layout, 0, UNCOVERED_GAP),
        time->gap_seconds * (1 - derive_metrics_standing_part(d->metrics)));
    add(d, cpu, snapshot_uncovered(layout, 0, UNCOVERED_NOT_PLANNABLE),
        time->seconds * (double)metrics->n_not_plannable / (double)metrics->n_planned);
    for (unsigned u = 0; u < derive_n_units(d); u++)
        if (!plan_unit_stands(layout->plan, u))
            derive_advance_unit(d, cpu, u, time);
    if (layout->plan->level1_unit >= 0)
        advance_level1(d, cpu, time);
    derive_advance_events(d, cpu, false, time);
}
