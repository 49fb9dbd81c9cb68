// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "core/tally/derive_private.h"

// Turns sums and totals into the values of a snapshot. Unmeasured values stay NaN.

// ---- totals ----

// Hides a total that has never moved and cannot move now.
static void hide_unless(double *value, bool can_move) {
    if (*value == 0 && !can_move)
        *value = NAN;
}

// Hides both together: a numerator of 0 over a denominator that counts is a measured 0. A metric that is not a ratio
// has neither.
static void hide_metric(const struct derive *d, size_t m, double *numerator, double *denominator) {
    const struct plan_metric *metric = &d->layout->plan->metrics[m];
    if (*denominator == 0 &&
        (metric->unit < 0 || d->metrics->stalled[m] != ZERO_TRUE || !derive_formula(d, m)->is_ratio))
        *numerator = *denominator = NAN;
}

// True for an event of an event group whose 0 is true.
static bool event_can_move(const struct derive *d, size_t e) {
    return derive_events_planned(d->events, e) && derive_metrics_zero(d->metrics, d->layout->events[e]) == ZERO_TRUE;
}

static void hide_totals(const struct derive *d, struct snapshot *out, size_t scope) {
    const struct snapshot_layout *layout = d->layout;
    bool level1 = layout->plan->level1_unit >= 0 && !d->metrics->level1_stalled;
    double *slots = &out->values[snapshot_pipeline_slots(layout, scope)];
    for (size_t i = 0; i < layout->n_level1; i++)
        hide_unless(&out->values[snapshot_category(layout, scope, i)], level1 || *slots > 0);
    hide_unless(&out->values[snapshot_contention(layout, scope)],
                layout->catalog->level1.per_thread && (level1 || *slots > 0) &&
                    (d->rows->core_unit < 0 || rows_count_contention(d->rows)));
    hide_unless(slots, level1);
    double *numerators = &out->values[snapshot_numerator(layout, scope, 0)];
    double *denominators = &out->values[snapshot_denominator(layout, scope, 0)];
    for (size_t m = 0; m < snapshot_n_metrics(layout, scope); m++)
        hide_metric(d, m, &numerators[m], &denominators[m]);
    hide_unless(&out->values[snapshot_guest(layout, scope)], d->guests_known);
    hide_unless(&out->values[snapshot_busy(layout, scope)], d->busy_known);
    double *events = &out->values[snapshot_event(layout, scope, 0)];
    for (size_t e = 0; e < layout->n_events; e++)
        if (events[e] == 0 && !event_can_move(d, e))
            events[e] = NAN;
}

// Totals are numbered as those of the host, also for CPUs, which have fewer metrics.
static void write_totals(const struct derive *d, struct snapshot *out, size_t scope) {
    const struct snapshot_layout *layout = d->layout;
    size_t n = snapshot_n_metrics(layout, scope), rest = snapshot_category(layout, 0, 0);
    totals_write(d->totals, scope, snapshot_numerator(layout, 0, 0), n,
                 out->values + snapshot_numerator(layout, scope, 0));
    totals_write(d->totals, scope, snapshot_denominator(layout, 0, 0), n,
                 out->values + snapshot_denominator(layout, scope, 0));
    totals_write(d->totals, scope, rest, layout->scope_stride - rest,
                 out->values + snapshot_category(layout, scope, 0));
}

void derive_write_totals(const struct derive *d, struct snapshot *out) {
    const struct snapshot_layout *layout = d->layout;
    for (size_t scope = 0; scope < layout->n_scopes; scope++) {
        write_totals(d, out, scope);
        hide_totals(d, out, scope);
    }
    group_totals_write(d->groups, out);
}

// ---- gauges ----

// The reason of an online CPU, if there is one.
static enum absent why_no_data(const struct derive *d, size_t scope, size_t unit) {
    struct scope_cpus in = scopes_cpus(d->scopes, scope);
    bool ended = false;
    for (size_t c = 0; c < in.n; c++) {
        if (!(cells_seconds(d->cells, in.cpus[c], unit) > 0))
            continue;
        ended = true;
        enum uncovered trouble = cells_at(d->cells, in.cpus[c], unit)->trouble;
        if (trouble == UNCOVERED_STARVED)
            return ABSENT_STARVED;
        if (trouble == UNCOVERED_FAILED)
            return ABSENT_FAILED;
    }
    return ended ? ABSENT_OFFLINE : ABSENT_NO_ROUND;
}

static void write_rate(const struct derive *d, struct snapshot *out, size_t m, const struct catalog_metric *metric) {
    const struct lanes *counts = d->in->counts;
    if (metric->rate_threshold > 0)
        out->values[snapshot_rate_above(d->layout, 0, m)] =
            formula_sum_evaluate_lanes(&metric->formula->numerator, counts).of[0] / counts[CATALOG_CPU_SECONDS].of[0] *
            (double)derive_n_cpus(d) * plan_cpus_each(d->layout->plan);
}

// Why a metric that is made of others has no value in a scope; ABSENT_NOT: no obstacle.
static enum absent why_no_part(const struct derive *d, const struct snapshot *out, size_t scope,
                               const struct formula *formula) {
    for (size_t i = 0; i < formula->n_metrics; i++) {
        size_t part = (size_t)d->layout->plan->place[formula->metrics[i]];
        enum absent needed = out->absent[snapshot_state(d->layout, scope, part)];
        if (needed != ABSENT_NOT && needed != ABSENT_UNDEFINED) // the formula may not need a metric that divides by
                                                                // zero
            return needed;
    }
    return ABSENT_NOT;
}

// Writes why a metric has no value in the scopes of a batch, before its formula is tried. True if it may have one in
// some.
static bool write_absent(const struct derive *d, struct snapshot *out, struct scope_range scopes, size_t m) {
    const struct formula *formula = derive_formula(d, m);
    int unit = d->layout->plan->metrics[m].unit;
    static const enum absent stalled[] = {
        [ZERO_TRUE] = ABSENT_NOT, [ZERO_SILENT] = ABSENT_STALLED, [ZERO_FILTERED] = ABSENT_FILTERED};
    enum absent usual = stalled[d->metrics->stalled[m]];
    uint8_t *to = &out->absent[snapshot_state(d->layout, scopes.first, m)];
    size_t n_metrics = snapshot_n_metrics(d->layout, scopes.first);
    bool some = false;
    for (size_t l = 0; l < scopes.n; l++) {
        enum absent absent = ABSENT_NOT;
        if (unit == PLAN_NOT_PLANNABLE)
            absent = ABSENT_NOT_PLANNABLE;
        else if (unit >= 0 && !sums_at(d->sums, scopes.first + l, (size_t)unit)->data)
            absent = why_no_data(d, scopes.first + l, (size_t)unit);
        else if (formula->n_metrics > 0)
            absent = why_no_part(d, out, scopes.first + l, formula);
        absent = absent == ABSENT_NOT ? usual : absent;
        to[l * n_metrics] = (uint8_t)absent;
        some = some || absent == ABSENT_NOT;
    }
    return some;
}

// Writes a metric's values in the scopes of a batch, and why others have none.
static void write_gauge(struct derive *d, struct snapshot *out, size_t batch, size_t m) {
    const struct plan_metric *planned = &d->layout->plan->metrics[m];
    const struct catalog_metric *metric = &d->layout->catalog->metrics[planned->metric];
    struct scope_range scopes = scopes_of_batch(d->layout->topology, batch);
    size_t stride = snapshot_stride(d->layout, scopes.first);
    struct lanes *known = &d->in->metrics[catalog_metric_named(d->layout->catalog, planned->metric)];
    struct lanes values, exported = lanes_all(NAN);
    if (!write_absent(d, out, scopes, m)) {
        *known = exported;
        return;
    }
    operand_lanes_fill(d->in, metric->formula, planned->unit, sums_row(d->sums, batch));
    values = formula_evaluate_lanes(metric->formula, d->in->counts, d->in->metrics);
    if (batch == 0 && planned->unit >= 0)
        write_rate(d, out, m, metric);
    double *to = &out->values[snapshot_metric(d->layout, scopes.first, m)];
    for (size_t l = 0; l < scopes.n; l++) {
        uint8_t *absent = &out->absent[snapshot_state(d->layout, scopes.first + l, m)];
        values.of[l] = *absent == ABSENT_NOT ? values.of[l] : NAN;
        exported.of[l] = values.of[l] * metric->export_scale;
        to[l * stride] = exported.of[l];
        if (*absent == ABSENT_NOT && isnan(values.of[l]))
            *absent = ABSENT_UNDEFINED;
    }
    *known = values;
    derive_write_trust(d, out, batch, m, &exported);
}

static void write_deviation(const struct derive *d, struct snapshot *out, size_t scope) {
    const struct snapshot_layout *layout = d->layout;
    const double *increase = level1_cpus_increase(d->level1, scope);
    double all = 0, largest = 0;
    for (size_t i = 0; i < layout->n_level1; i++)
        all += increase[i];
    if (!(all > 0))
        return;
    for (size_t i = 0; i < layout->n_level1; i++) {
        int m = d->layout->plan->place[layout->catalog->level1.categories[i].metric];
        if (m < 0)
            continue;
        double difference = fabs(increase[i] / all - out->values[snapshot_metric(layout, scope, (size_t)m)]);
        largest = difference > largest || isnan(difference) ? difference : largest;
    }
    out->values[snapshot_deviation(layout, scope)] = largest;
}

static void write_level1_error(const struct derive *d, struct snapshot *out, size_t scope) {
    const struct snapshot_layout *layout = d->layout;
    double largest = layout->n_level1 > 0 ? 0 : NAN;
    for (size_t i = 0; i < layout->n_level1; i++) {
        int m = layout->plan->place[layout->catalog->level1.categories[i].metric];
        double error = m < 0 ? NAN : out->values[snapshot_standard_error(layout, scope, (size_t)m)];
        largest = error > largest || isnan(error) ? error : largest;
    }
    out->values[snapshot_level1_error(layout, scope)] = largest;
}

// ---- events and CPUs ----

// True if the event is in event groups and none of these got counters on any CPU.
static bool event_starved(const struct derive *d, unsigned event) {
    bool planned = false;
    for (size_t u = 0; u < derive_n_units(d); u++) {
        if (rows_place(d->rows, u, event) == 0)
            continue;
        if (sums_at(d->sums, 0, u)->data || why_no_data(d, 0, u) != ABSENT_STARVED)
            return false;
        planned = true;
    }
    return planned;
}

static bool all_units_have_data(const struct derive *d) {
    for (size_t u = 0; u < derive_n_units(d); u++)
        if (!sums_at(d->sums, 0, u)->data)
            return false;
    return true;
}

// The state of an event that has windows, and counts nothing there that is believed.
static enum event_trouble stalled_state(const struct derive *d, unsigned event) {
    return d->layout->catalog->events[event].known_dead              ? EVENT_DEAD
           : derive_metrics_zero(d->metrics, event) == ZERO_FILTERED ? EVENT_FILTERED
                                                                     : EVENT_STALLED;
}

void derive_write_states(const struct derive *d, struct snapshot *out, bool of_round) {
    const struct snapshot_layout *layout = d->layout;
    bool some_starved = of_round && !all_units_have_data(d);
    for (size_t e = 0; e < layout->n_events; e++) {
        unsigned event = layout->events[e];
        if (layout->plan->support[event] == PLAN_UNSUPPORTED)
            out->values[snapshot_trouble(layout, e, EVENT_UNSUPPORTED)] = 1;
        else if (some_starved && d->metrics->zeros->beside[event] == 0 && event_starved(d, event))
            out->values[snapshot_trouble(layout, e, EVENT_STARVED)] = 1; // it had no window in which it could count
        else if ((d->metrics->stalled_use[event] || layout->catalog->events[event].known_dead) &&
                 derive_metrics_zero(d->metrics, event) != ZERO_TRUE)
            out->values[snapshot_trouble(layout, e, stalled_state(d, event))] = 1;
        else if (some_starved && event_starved(d, event))
            out->values[snapshot_trouble(layout, e, EVENT_STARVED)] = 1;
    }
    for (size_t s = 0; s < layout->topology->n_sockets; s++)
        out->values[snapshot_offline(layout, s)] = out->values[snapshot_measured(layout, s)] = 0;
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        size_t socket = layout->topology->cpus[cpu].socket;
        out->values[d->cells->offline[cpu] ? snapshot_offline(layout, socket) : snapshot_measured(layout, socket)]++;
    }
}

static void write_batch(struct derive *d, struct snapshot *out, size_t batch) {
    const struct topology *topology = d->layout->topology;
    struct scope_range scopes = scopes_of_batch(topology, batch);
    operand_lanes_begin(d->in, d->seconds, topology_whole_cores(topology, scopes.first));
    size_t n_metrics = snapshot_n_metrics(d->layout, scopes.first);
    for (size_t i = 0; i < d->layout->n_metrics; i++)
        if (d->layout->plan->evaluation[i] < n_metrics)
            write_gauge(d, out, batch, d->layout->plan->evaluation[i]);
    for (size_t l = 0; l < scopes.n; l++) {
        write_deviation(d, out, scopes.first + l);
        write_level1_error(d, out, scopes.first + l);
    }
}

// Copies the host's values to the only socket; rates belong only to the host.
static void copy_host(const struct snapshot_layout *layout, struct snapshot *out, size_t socket) {
    size_t from = snapshot_metric(layout, 0, 0), to = snapshot_metric(layout, socket, 0), n = layout->n_metrics;
    memcpy(out->values + to, out->values + from, (snapshot_numerator(layout, 0, 0) - from) * sizeof *out->values);
    for (size_t m = 0; m < n; m++)
        out->values[snapshot_rate_above(layout, socket, m)] = NAN;
    memcpy(out->absent + socket * n, out->absent, n);
    memcpy(out->trust + socket * n, out->trust, n);
    if (out->many)
        memcpy(out->many + socket * n, out->many, n * sizeof *out->many);
}

// First the batches of CPUs, which come after host and sockets, because the sums of these need all CPUs.
void derive_write_gauges(struct derive *d, struct snapshot *out) {
    size_t n_shared = scope_of_cpu(d->layout->topology, 0);
    level1_cpus_sum(d->level1, d->cells, d->seconds);
    sums_begin(d->sums);
    for (size_t batch = n_shared, n = scope_batches(d->layout->topology); batch < n; batch++) {
        sums_take_batch(d->sums, d->cells, batch, d->seconds);
        estimate_take_batch(d->estimate, batch);
        write_batch(d, out, batch);
    }
    sums_end(d->sums);
    for (size_t batch = 0; batch < n_shared; batch++) {
        estimate_take_batch(d->estimate, batch);
        if (scopes_own(d->scopes, batch) != batch)
            copy_host(d->layout, out, batch);
        else
            write_batch(d, out, batch);
    }
    derive_write_states(d, out, true);
}
