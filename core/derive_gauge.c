// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "core/derive_state.h"

// From the sums and totals to the values of a snapshot: what was not measured stays NaN.

// ---- totals ----

// A total that has never moved and cannot move now is no total.
static void hide_unless(double *value, bool can_move) {
    if (!can_move && *value == 0)
        *value = NAN;
}

static bool event_planned(const struct plan *plan, unsigned event) {
    for (size_t u = 0; u < plan->n_units; u++)
        for (size_t i = 0; i < plan->units[u].n_events; i++)
            if (plan->units[u].events[i] == event)
                return true;
    return false;
}

static void hide_metric(const struct derive *d, struct snapshot *out, size_t scope, size_t m) {
    const struct plan_metric *metric = &d->layout->plan->metrics[m];
    bool ratio = d->layout->catalog->metrics[metric->metric].formula->is_ratio;
    double *numerator = &out->values[snapshot_numerator(d->layout, scope, m)];
    double *denominator = &out->values[snapshot_denominator(d->layout, scope, m)];
    if (!ratio)
        *numerator = *denominator = NAN;
    // together: a numerator of 0 over a denominator that counts is a measured 0
    else if (*denominator == 0 && (metric->unit < 0 || d->stalled[m]))
        *numerator = *denominator = NAN;
}

static void hide_totals(const struct derive *d, struct snapshot *out, size_t scope) {
    const struct snapshot_layout *layout = d->layout;
    bool level1 = layout->plan->level1_unit >= 0 && !d->level1_stalled;
    double *slots = &out->values[snapshot_pipeline_slots(layout, scope)];
    for (size_t i = 0; i < layout->n_level1; i++)
        hide_unless(&out->values[snapshot_category(layout, scope, i)], level1 || *slots > 0);
    hide_unless(slots, level1);
    for (size_t m = 0; m < layout->n_metrics; m++)
        hide_metric(d, out, scope, m);
    for (size_t e = 0; e < layout->n_events; e++) {
        unsigned event = layout->events[e];
        bool believed = d->counted[event] || layout->plan->support[event] == PLAN_SUPPORTED;
        hide_unless(&out->values[snapshot_event(layout, scope, e)], believed && event_planned(layout->plan, event));
    }
}

void derive_write_totals(const struct derive *d, struct snapshot *out) {
    for (size_t scope = 0; scope < d->layout->n_scopes; scope++) {
        for (size_t field = 0; field < d->n_totals; field++)
            out->values[snapshot_numerator(d->layout, scope, 0) + field] =
                total_value(&d->totals[scope * d->n_totals + field]);
        hide_totals(d, out, scope);
    }
    memcpy(out->values + snapshot_windows(d->layout, 0, 0), d->group_totals,
           derive_n_group_totals(d) * sizeof *out->values);
}

// ---- gauges ----

static bool in_scope(const struct derive *d, size_t scope, size_t cpu) {
    return scope == 0 || scope == snapshot_scope_socket(d->layout->topology->cpus[cpu].socket) ||
           scope == snapshot_scope_cpu(d->layout, cpu);
}

// The reason of a CPU that is there, if there is one.
static enum absent why_no_data(const struct derive *d, size_t scope, size_t unit) {
    enum absent reason = ABSENT_FAILED;
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        if (!in_scope(d, scope, cpu))
            continue;
        enum uncovered trouble = d->trouble[cpu * derive_n_units(d) + unit];
        if (trouble == UNCOVERED_STARVED)
            return ABSENT_STARVED;
        if (trouble == UNCOVERED_FAILED)
            return ABSENT_FAILED;
        reason = ABSENT_OFFLINE;
    }
    return reason;
}

static void write_rate(const struct derive *d, struct snapshot *out, size_t m, const struct catalog_metric *metric,
                       double cpu_seconds) {
    if (metric->rate_threshold > 0)
        out->values[snapshot_rate_above(d->layout, 0, m)] =
            formula_sum_evaluate(&metric->formula->numerator, d->dense) / cpu_seconds * (double)derive_n_cpus(d);
}

// Why a metric has no value in a scope, before its formula is tried; ABSENT_NOT: nothing is in the way.
static enum absent why_absent(const struct derive *d, const struct snapshot *out, size_t scope, size_t m) {
    const struct plan_metric *planned = &d->layout->plan->metrics[m];
    const struct formula *formula = d->layout->catalog->metrics[planned->metric].formula;
    if (planned->unit == PLAN_NOT_PLANNABLE)
        return ABSENT_NOT_PLANNABLE;
    if (planned->unit >= 0 && !d->data[scope * derive_n_units(d) + (size_t)planned->unit])
        return why_no_data(d, scope, (size_t)planned->unit);
    for (size_t i = 0; i < formula->n_metrics; i++) {
        enum absent needed = out->absent[scope * d->layout->n_metrics + (size_t)d->place[formula->metrics[i]]];
        if (needed != ABSENT_NOT && needed != ABSENT_UNDEFINED) // what divides by zero may not be needed at all
            return needed;
    }
    return d->stalled[m] ? ABSENT_STALLED : ABSENT_NOT;
}

// The time that a scope's CPUs were measured: for formulas that have no window of their own.
static double cpu_seconds_of(const struct derive *d, size_t scope) {
    double seconds = 0;
    for (size_t u = 0; u < derive_n_units(d); u++)
        seconds = fmax(seconds, d->sums[scope * d->row + d->units[u].first]);
    return seconds;
}

static void write_gauge(struct derive *d, struct snapshot *out, size_t scope, size_t m) {
    const struct plan_metric *planned = &d->layout->plan->metrics[m];
    const struct catalog_metric *metric = &d->layout->catalog->metrics[planned->metric];
    enum absent absent = why_absent(d, out, scope, m);
    d->values[planned->metric] = NAN;
    if (absent == ABSENT_NOT) {
        const double *sums = planned->unit >= 0 ? d->sums + scope * d->row + d->units[planned->unit].first : NULL;
        if (sums)
            derive_dense_fill(d, (size_t)planned->unit, sums, 1);
        else
            d->dense[CATALOG_CPU_SECONDS] = cpu_seconds_of(d, scope);
        double value = formula_evaluate_known(metric->formula, d->dense, d->values);
        d->values[planned->metric] = value;
        out->values[snapshot_metric(d->layout, scope, m)] = value * metric->export_scale;
        absent = isnan(value) ? ABSENT_UNDEFINED : ABSENT_NOT;
        if (absent == ABSENT_NOT)
            derive_write_trust(d, out, scope, m);
        if (scope == 0 && sums)
            write_rate(d, out, m, metric, sums[0]);
    }
    out->absent[scope * d->layout->n_metrics + m] = (uint8_t)absent;
}

static void write_deviation(const struct derive *d, struct snapshot *out, size_t scope) {
    const struct snapshot_layout *layout = d->layout;
    const double *increase = d->level1_increase + scope * layout->n_level1;
    double all = 0, largest = 0;
    for (size_t i = 0; i < layout->n_level1; i++)
        all += increase[i];
    if (!(all > 0))
        return;
    for (size_t i = 0; i < layout->n_level1; i++) {
        int m = d->place[layout->catalog->level1.categories[i].metric];
        if (m < 0)
            continue;
        double difference = fabs(increase[i] / all - out->values[snapshot_metric(layout, scope, (size_t)m)]);
        largest = difference > largest || isnan(difference) ? difference : largest;
    }
    out->values[snapshot_deviation(layout, scope)] = largest;
}

// ---- events and CPUs ----

static bool event_stalled(const struct derive *d, unsigned event) {
    if (d->counted[event] || d->layout->plan->support[event] == PLAN_SUPPORTED)
        return false;
    for (size_t m = 0; m < d->layout->n_metrics; m++) {
        const struct formula *formula = d->layout->catalog->metrics[d->layout->plan->metrics[m].metric].formula;
        for (size_t i = 0; i < formula->n_variables && d->stalled[m]; i++)
            if (formula->variables[i] == event)
                return true;
    }
    return false;
}

// In an event group, and every one that holds it got no counters on any CPU.
static bool event_starved(const struct derive *d, unsigned event) {
    bool planned = false;
    for (size_t u = 0; u < derive_n_units(d); u++) {
        const struct plan_unit *unit = &d->layout->plan->units[u];
        for (size_t i = 0; i < unit->n_events; i++) {
            if (unit->events[i] != event)
                continue;
            if (d->data[u] || why_no_data(d, 0, u) != ABSENT_STARVED)
                return false;
            planned = true;
        }
    }
    return planned;
}

void derive_write_states(const struct derive *d, struct snapshot *out, bool of_round) {
    const struct snapshot_layout *layout = d->layout;
    for (size_t e = 0; e < layout->n_events; e++) {
        unsigned event = layout->events[e];
        if (layout->plan->support[event] == PLAN_UNSUPPORTED)
            out->values[snapshot_trouble(layout, e, EVENT_UNSUPPORTED)] = 1;
        else if (event_stalled(d, event))
            out->values[snapshot_trouble(layout, e, EVENT_STALLED)] = 1;
        else if (of_round && event_starved(d, event))
            out->values[snapshot_trouble(layout, e, EVENT_STARVED)] = 1;
    }
    for (size_t s = 0; s < layout->topology->n_sockets; s++)
        out->values[snapshot_offline(layout, s)] = out->values[snapshot_measured(layout, s)] = 0;
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        size_t socket = layout->topology->cpus[cpu].socket;
        out->values[d->offline[cpu] ? snapshot_offline(layout, socket) : snapshot_measured(layout, socket)]++;
    }
}

void derive_write_gauges(struct derive *d, struct snapshot *out, double round_seconds) {
    for (size_t scope = 0; scope < d->layout->n_scopes; scope++) {
        derive_dense_special(d, round_seconds, topology_whole_cores(d->layout->topology, scope));
        for (size_t i = 0; i < d->layout->n_metrics; i++)
            write_gauge(d, out, scope, d->layout->plan->evaluation[i]);
        write_deviation(d, out, scope);
    }
    derive_write_states(d, out, true);
}
