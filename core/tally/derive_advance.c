// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "core/tally/derive_state.h"

// Totals: what a CPU counted in a round, extrapolated to the time that it stands for.

// The three scopes that a CPU belongs to.
struct scopes {
    size_t scope[3];
};
static struct scopes scopes_of(const struct derive *d, size_t cpu) {
    return (struct scopes){
        {0, snapshot_scope_socket(d->layout->topology->cpus[cpu].socket), snapshot_scope_cpu(d->layout, cpu)}};
}

void derive_add(struct derive *d, size_t cpu, size_t field_of_scope_0, double amount) {
    if (amount == 0)
        return;
    size_t field = field_of_scope_0 - d->first_total;
    struct scopes scopes = scopes_of(d, cpu);
    for (size_t i = 0; i < 3; i++)
        total_add(&d->totals[scopes.scope[i] * d->n_totals + field], amount);
}

// ---- stalled metrics ----

// An event of the formula has never counted and may not be there, while another event of it has.
static bool formula_stalled(const struct derive *d, const struct formula *formula) {
    bool some_doubtful = false, some_counted = false;
    for (size_t i = 0; i < formula->n_variables; i++) {
        unsigned event = formula->variables[i];
        if (d->layout->catalog->events[event].kind == EVENT_CORE_WIDE)
            continue; // counts nothing
        if (d->layout->catalog->events[event].kind != EVENT_COUNTED || d->counted[event])
            some_counted = true;
        else if (d->layout->plan->support[event] != PLAN_SUPPORTED)
            some_doubtful = true;
    }
    return some_doubtful && some_counted;
}

static bool level1_stalled(const struct derive *d) {
    const struct catalog *catalog = d->layout->catalog;
    bool stalled = formula_stalled(d, catalog->level1.pipeline_slots);
    for (size_t i = 0; i < catalog->level1.n_metrics; i++)
        stalled = stalled || formula_stalled(d, catalog->metrics[catalog->level1.metrics[i]].formula);
    return stalled;
}

void derive_find_stalled(struct derive *d) {
    const struct plan *plan = d->layout->plan;
    memset(d->stalled_use, 0, d->layout->catalog->n_events * sizeof *d->stalled_use);
    for (size_t u = 0; u < derive_n_units(d); u++)
        d->units[u].n_metrics = d->units[u].n_stalled = 0;
    for (size_t i = 0; i < plan->n_metrics; i++) {
        unsigned m = plan->evaluation[i];
        const struct formula *formula = d->layout->catalog->metrics[plan->metrics[m].metric].formula;
        if (plan->metrics[m].unit == PLAN_NOT_PLANNABLE)
            continue;
        d->stalled[m] = formula_stalled(d, formula);
        for (size_t n = 0; n < formula->n_metrics; n++)
            d->stalled[m] = d->stalled[m] || d->stalled[d->place[formula->metrics[n]]];
        for (size_t v = 0; v < formula->n_variables && d->stalled[m]; v++)
            d->stalled_use[formula->variables[v]] = 1;
        if (plan->metrics[m].unit == PLAN_COMBINED)
            continue;
        d->units[plan->metrics[m].unit].n_metrics++;
        d->units[plan->metrics[m].unit].n_stalled += d->stalled[m];
    }
    d->level1_stalled = plan->level1_unit >= 0 && level1_stalled(d);
}

// ---- a CPU's round ----

static void advance_metrics(struct derive *d, size_t cpu, size_t unit) {
    const struct plan *plan = d->layout->plan;
    for (size_t i = 0; i < d->units[unit].n_ratios; i++) {
        unsigned m = d->ratios[d->units[unit].first_ratio + i];
        const struct formula *formula = d->layout->catalog->metrics[plan->metrics[m].metric].formula;
        if (d->stalled[m])
            continue;
        derive_add(d, cpu, snapshot_numerator(d->layout, 0, m), formula_sum_evaluate(&formula->numerator, d->dense));
        derive_add(d, cpu, snapshot_denominator(d->layout, 0, m),
                   formula_sum_evaluate(&formula->denominator, d->dense));
    }
}

// A CPU's second is split evenly over the metrics that can be or could once be measured here.
static void advance_coverage(struct derive *d, size_t cpu, size_t unit, struct span_step step) {
    const struct derive_unit *u = &d->units[unit];
    double one = 1.0 / (double)d->n_planned;
    enum uncovered trouble = d->trouble[cpu * derive_n_units(d) + unit];
    derive_add(d, cpu, snapshot_covered(d->layout, 0),
               step.covered_seconds * one * (double)(u->n_metrics - u->n_stalled));
    derive_add(d, cpu, snapshot_uncovered(d->layout, 0, UNCOVERED_STALLED),
               step.covered_seconds * one * (double)u->n_stalled);
    derive_add(d, cpu, snapshot_uncovered(d->layout, 0, trouble), step.uncovered_seconds * one * (double)u->n_metrics);
}

// Longest gap to make up for.
static double limit_seconds(const struct derive *d, size_t cpu, const struct derive_round_time *time) {
    return d->offline[cpu] ? 0 : time->limit_seconds;
}

static void advance_unit(struct derive *d, size_t cpu, size_t unit, const struct derive_round_time *time) {
    const double *values = d->windows + cpu * d->row + d->units[unit].first;
    bool data = values[0] > 0;
    struct span_step step =
        span_advance(&d->unit_spans[cpu * derive_n_units(d) + unit], time->seconds, data, limit_seconds(d, cpu, time));
    advance_coverage(d, cpu, unit, step);
    if (!data)
        return;
    struct scopes scopes = scopes_of(d, cpu);
    double *sums[3];
    for (size_t s = 0; s < 3; s++) {
        sums[s] = d->sums + scopes.scope[s] * d->row + d->units[unit].first;
        d->data[scopes.scope[s] * derive_n_units(d) + unit] = 1;
    }
    for (size_t i = 0; i < d->units[unit].n; i++) {
        double extrapolated = values[i] * time->seconds / values[0];
        sums[0][i] += extrapolated;
        sums[1][i] += extrapolated;
        sums[2][i] += extrapolated;
    }
    derive_dense_fill(d, unit, values, step.covered_seconds / values[0]);
    advance_metrics(d, cpu, unit);
}

static void advance_level1(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    const struct snapshot_layout *layout = d->layout;
    size_t n = layout->n_level1;
    double seconds = d->level1_stalled ? 0 : d->level1_seconds[cpu];
    struct span_step step =
        span_advance(&d->level1_spans[cpu], time->seconds, seconds > 0, limit_seconds(d, cpu, time));
    if (!(seconds > 0))
        return;
    double slots[CATEGORY_N], increase[CATEGORY_N], all = 0;
    for (size_t i = 0; i < n; i++)
        slots[i] = d->level1_slots[cpu * n + i] * step.covered_seconds / seconds;
    level1_increase(slots, n, &d->debts[cpu], increase);
    struct scopes scopes = scopes_of(d, cpu);
    for (size_t i = 0; i < n; i++) {
        derive_add(d, cpu, snapshot_category(layout, 0, i), increase[i]);
        for (size_t s = 0; s < 3; s++)
            d->level1_increase[scopes.scope[s] * n + i] += increase[i];
        all += increase[i];
    }
    derive_add(d, cpu, snapshot_pipeline_slots(layout, 0), all);
}

static void advance_events(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    const struct snapshot_layout *layout = d->layout;
    const double *row = d->windows + cpu * d->row;
    for (size_t e = 0; e < layout->n_events; e++) {
        const struct derive_place *places = d->places + d->events[e].first_place;
        double count = 0, seconds = 0;
        for (size_t i = 0; i < d->events[e].n_places; i++) {
            count += row[places[i].count];
            seconds += row[places[i].seconds];
        }
        struct span_step step = span_advance(&d->event_spans[cpu * layout->n_events + e], time->seconds, seconds > 0,
                                             limit_seconds(d, cpu, time));
        if (seconds > 0)
            derive_add(d, cpu, snapshot_event(layout, 0, e), count * step.covered_seconds / seconds);
    }
}

void derive_advance_cpu(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    const struct snapshot_layout *layout = d->layout;
    if (d->n_planned == 0)
        return; // nothing is asked for
    derive_add(d, cpu, snapshot_uncovered(layout, 0, UNCOVERED_GAP), time->gap_seconds);
    derive_add(d, cpu, snapshot_uncovered(layout, 0, UNCOVERED_NOT_PLANNABLE),
               time->seconds * (double)d->n_not_plannable / (double)d->n_planned);
    for (size_t u = 0; u < derive_n_units(d); u++)
        advance_unit(d, cpu, u, time);
    if (layout->plan->level1_unit >= 0)
        advance_level1(d, cpu, time);
    advance_events(d, cpu, time);
}
