// SPDX-License-Identifier: Apache-2.0
#include "core/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/level1.h"
#include "core/span.h"
#include "core/total.h"

// A unit's values are the CPU seconds of its windows, then its events' counts. One round goes through three arrays of
// such values: `windows` per CPU (sums over its windows, scaled for contention), `sums` per scope (extrapolated to the
// round), and `dense`, one unit's values by catalog event, which is what formulas read.

static const double NS = 1e-9;

struct unit_values {
    size_t first; // offset within a row
    size_t n;
};

struct derive {
    const struct snapshot_layout *layout;
    struct unit_values *units; // by unit
    size_t row;                // values of all units
    size_t n_totals;           // of a scope

    // of the round
    double *windows;         // [cpu][row]
    double *sums;            // [scope][row]
    uint8_t *data;           // [scope][unit]: 1 where there was data
    uint8_t *trouble;        // [cpu][unit]: last enum window_result without data
    double *level1_slots;    // [cpu][category]: signed, of the windows that could be split
    double *level1_seconds;  // [cpu]: of these windows
    double *level1_increase; // [scope][category]
    double *dense;           // [catalog event]
    double *window, *joined; // one window's values

    // kept from round to round
    struct span *unit_spans;   // [cpu][unit]
    struct span *level1_spans; // [cpu]
    struct span *event_spans;  // [cpu][event]
    double *owed;              // [cpu][category]
    double *parts;             // [cpu][part][value of the level-1 unit]: windows of an unfinished composite
    unsigned *parts_done;      // [cpu]
    struct total *totals;      // [scope][field]
    double *group_totals;      // windows by result, enabled and running seconds, as in the snapshot
};

struct round {
    double seconds;       // that can be extrapolated over
    double gap_seconds;   // that cannot
    double limit_seconds; // longest gap to extrapolate over
};

static size_t n_cpus(const struct derive *d) { return d->layout->topology->n_cpus; }
static size_t n_units(const struct derive *d) { return d->layout->plan->n_units; }

// ---- making ----

static size_t composite_parts(const struct plan *plan) {
    return plan->level1_unit >= 0 ? plan->units[plan->level1_unit].n_groups : 0;
}

static int derive_allocate(struct derive *d) {
    const struct snapshot_layout *layout = d->layout;
    size_t cpus = n_cpus(d), scopes = layout->n_scopes, units = n_units(d), categories = layout->n_level1;
    size_t parts = composite_parts(layout->plan);
    d->windows = calloc(cpus * d->row + 1, sizeof *d->windows);
    d->sums = calloc(scopes * d->row + 1, sizeof *d->sums);
    d->data = calloc(scopes * units + 1, sizeof *d->data);
    d->trouble = calloc(cpus * units + 1, sizeof *d->trouble);
    d->level1_slots = calloc(cpus * categories + 1, sizeof *d->level1_slots);
    d->level1_seconds = calloc(cpus, sizeof *d->level1_seconds);
    d->level1_increase = calloc(scopes * categories + 1, sizeof *d->level1_increase);
    d->dense = calloc(layout->catalog->n_events, sizeof *d->dense);
    d->window = calloc(d->row + 1, sizeof *d->window);
    d->joined = calloc(d->row + 1, sizeof *d->joined);
    d->unit_spans = calloc(cpus * units + 1, sizeof *d->unit_spans);
    d->level1_spans = calloc(cpus, sizeof *d->level1_spans);
    d->event_spans = calloc(cpus * layout->n_events + 1, sizeof *d->event_spans);
    d->owed = calloc(cpus * categories + 1, sizeof *d->owed);
    d->parts_done = calloc(cpus, sizeof *d->parts_done);
    d->parts = calloc(parts > 1 ? cpus * parts * d->units[layout->plan->level1_unit].n : 1, sizeof *d->parts);
    d->totals = calloc(scopes * d->n_totals, sizeof *d->totals);
    d->group_totals = calloc(snapshot_self(layout, 0) - snapshot_windows(layout, 0, 0) + 1, sizeof *d->group_totals);
    return d->windows && d->sums && d->data && d->trouble && d->level1_slots && d->level1_seconds &&
                   d->level1_increase && d->dense && d->window && d->joined && d->unit_spans && d->level1_spans &&
                   d->event_spans && d->owed && d->parts_done && d->parts && d->totals && d->group_totals
               ? 0
               : -1;
}

struct derive *derive_new(const struct snapshot_layout *layout) {
    struct derive *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->layout = layout;
    d->units = calloc(n_units(d) + 1, sizeof *d->units);
    if (!d->units)
        return derive_free(d);
    for (size_t u = 0; u < n_units(d); u++) {
        d->units[u] = (struct unit_values){.first = d->row, .n = 1 + layout->plan->units[u].n_events};
        d->row += d->units[u].n;
    }
    d->n_totals = layout->scope_stride - snapshot_numerator(layout, 0, 0);
    return derive_allocate(d) == 0 ? d : derive_free(d);
}

struct derive *derive_free(struct derive *d) {
    if (d) {
        free(d->group_totals);
        free(d->totals);
        free(d->parts);
        free(d->parts_done);
        free(d->owed);
        free(d->event_spans);
        free(d->level1_spans);
        free(d->unit_spans);
        free(d->joined);
        free(d->window);
        free(d->dense);
        free(d->level1_increase);
        free(d->level1_seconds);
        free(d->level1_slots);
        free(d->trouble);
        free(d->data);
        free(d->sums);
        free(d->windows);
        free(d->units);
        free(d);
    }
    return NULL;
}

// ---- totals ----

// The three scopes that a CPU belongs to.
struct scopes {
    size_t scope[3];
};
static struct scopes scopes_of(const struct derive *d, size_t cpu) {
    return (struct scopes){
        {0, snapshot_scope_socket(d->layout->topology->cpus[cpu].socket), snapshot_scope_cpu(d->layout, cpu)}};
}

// Adds to the total whose field lies at `field_of_scope_0` of the snapshot, in all scopes of the CPU.
static void add_to_totals(struct derive *d, size_t cpu, size_t field_of_scope_0, double amount) {
    size_t field = field_of_scope_0 - snapshot_numerator(d->layout, 0, 0);
    struct scopes scopes = scopes_of(d, cpu);
    for (size_t i = 0; i < 3; i++)
        total_add(&d->totals[scopes.scope[i] * d->n_totals + field], amount);
}

static void copy_totals(const struct derive *d, struct snapshot *out) {
    for (size_t scope = 0; scope < d->layout->n_scopes; scope++)
        for (size_t field = 0; field < d->n_totals; field++)
            out->values[snapshot_numerator(d->layout, scope, 0) + field] =
                total_value(&d->totals[scope * d->n_totals + field]);
    size_t first = snapshot_windows(d->layout, 0, 0);
    memcpy(out->values + first, d->group_totals, (snapshot_self(d->layout, 0) - first) * sizeof *out->values);
    // A metric that is not of the form k A/B, or is not measured here, has no such counters.
    for (size_t m = 0; m < d->layout->n_metrics; m++) {
        const struct plan_metric *metric = &d->layout->plan->metrics[m];
        if (metric->unit >= 0 && d->layout->catalog->metrics[metric->metric].formula->is_ratio)
            continue;
        for (size_t scope = 0; scope < d->layout->n_scopes; scope++)
            out->values[snapshot_numerator(d->layout, scope, m)] =
                out->values[snapshot_denominator(d->layout, scope, m)] = NAN;
    }
}

// ---- windows ----

static void dense_fill(struct derive *d, size_t unit, const double *values) {
    const struct plan_unit *plan_unit = &d->layout->plan->units[unit];
    d->dense[CATALOG_CPU_SECONDS] = values[0];
    for (size_t i = 0; i < plan_unit->n_events; i++)
        d->dense[plan_unit->events[i]] = values[1 + i];
}

static size_t position(const struct plan_unit *unit, unsigned event) {
    size_t i = 0;
    while (unit->events[i] != event)
        i++;
    return i;
}

// A window's values by the unit's events, scaled for contention; events of other parts are 0.
static void window_values(const struct derive *d, const struct window *window, double *values) {
    const struct plan_group *group = &d->layout->plan->groups[window->group];
    const struct plan_unit *unit = &d->layout->plan->units[group->unit];
    double scale = (double)window->enabled_ns / (double)window->running_ns;
    memset(values, 0, (1 + unit->n_events) * sizeof *values);
    values[0] = (double)window->enabled_ns * NS;
    for (size_t i = 0; i < group->n_events; i++)
        values[1 + position(unit, group->events[i])] = (double)window->counts[i] * scale;
}

// Joins the parts of a composite into the values of one window as long as all of them. An event's count is scaled from
// its own parts to the whole by the event that is in every part; where that one did not happen, by time.
static void join_parts(const struct derive *d, const struct plan_unit *unit, double *parts, double *joined) {
    size_t n = 1 + unit->n_events, by = unit->reference >= 0 ? 1 + position(unit, (unsigned)unit->reference) : 0;
    double whole = 0;
    for (size_t p = 0; p < unit->n_groups; p++)
        whole += parts[p * n + by];
    if (whole == 0)
        by = 0;
    memset(joined, 0, n * sizeof *joined);
    for (size_t p = 0; p < unit->n_groups; p++)
        joined[0] += parts[p * n];
    whole = by == 0 ? joined[0] : whole;
    for (size_t i = 0; i < unit->n_events; i++) {
        double measured = 0;
        for (size_t p = 0; p < unit->n_groups; p++) {
            const struct plan_group *group = &d->layout->plan->groups[unit->first_group + p];
            for (size_t e = 0; e < group->n_events; e++) {
                if (group->events[e] != unit->events[i])
                    continue;
                joined[1 + i] += parts[p * n + 1 + i];
                measured += parts[p * n + by];
            }
        }
        joined[1 + i] = measured > 0 ? joined[1 + i] / measured * whole : 0;
    }
}

// Values of a finished window of a unit: into the CPU's sums, and where it is level 1, split by category.
static void take_values(struct derive *d, unsigned cpu, unsigned unit, const double *values) {
    double *sums = d->windows + cpu * d->row + d->units[unit].first;
    for (size_t i = 0; i < d->units[unit].n; i++)
        sums[i] += values[i];
    if ((int)unit != d->layout->plan->level1_unit)
        return;
    double categories[CATEGORY_N], slots;
    dense_fill(d, unit, values);
    if (!level1_split(d->layout->catalog, d->dense, categories, &slots))
        return;
    d->level1_seconds[cpu] += values[0];
    for (size_t i = 0; i < d->layout->n_level1; i++)
        d->level1_slots[cpu * d->layout->n_level1 + i] += categories[i];
}

static void take_part(struct derive *d, const struct window *window, unsigned unit_index) {
    const struct plan_unit *unit = &d->layout->plan->units[unit_index];
    size_t part = window->group - unit->first_group, n = d->units[unit_index].n;
    double *parts = d->parts + window->cpu * unit->n_groups * n;
    if (part == 0)
        d->parts_done[window->cpu] = 0;
    if (part != d->parts_done[window->cpu])
        return; // an earlier part has no data: the windows would not be adjacent
    window_values(d, window, parts + part * n);
    if (++d->parts_done[window->cpu] < unit->n_groups)
        return;
    join_parts(d, unit, parts, d->joined);
    take_values(d, window->cpu, unit_index, d->joined);
}

static void take_window(struct derive *d, const struct window *window) {
    unsigned unit = d->layout->plan->groups[window->group].unit;
    double *totals =
        d->group_totals + snapshot_windows(d->layout, window->group, 0) - snapshot_windows(d->layout, 0, 0);
    totals[window->result]++;
    totals[WINDOW_RESULT_N] += (double)window->enabled_ns * NS;
    totals[WINDOW_RESULT_N + 1] += (double)window->running_ns * NS;
    if (window->result == WINDOW_STARVED || window->result == WINDOW_FAILED) {
        d->trouble[window->cpu * n_units(d) + unit] = (uint8_t)window->result;
        if (d->layout->plan->units[unit].n_groups > 1)
            d->parts_done[window->cpu] = UINT32_MAX;
        return;
    }
    if (d->layout->plan->units[unit].n_groups > 1) {
        take_part(d, window, unit);
        return;
    }
    window_values(d, window, d->window);
    take_values(d, window->cpu, unit, d->window);
}

// ---- a CPU's round ----

static void advance_metrics(struct derive *d, size_t cpu, size_t unit) {
    const struct plan *plan = d->layout->plan;
    for (size_t m = 0; m < plan->n_metrics; m++) {
        const struct formula *formula = d->layout->catalog->metrics[plan->metrics[m].metric].formula;
        if (plan->metrics[m].unit != (int)unit || !formula->is_ratio)
            continue;
        add_to_totals(d, cpu, snapshot_numerator(d->layout, 0, m), formula_sum_evaluate(&formula->numerator, d->dense));
        add_to_totals(d, cpu, snapshot_denominator(d->layout, 0, m),
                      formula_sum_evaluate(&formula->denominator, d->dense));
    }
}

static enum uncovered trouble_of(const struct derive *d, size_t cpu, size_t unit) {
    return d->trouble[cpu * n_units(d) + unit] == WINDOW_STARVED ? UNCOVERED_STARVED : UNCOVERED_FAILED;
}

static void advance_unit(struct derive *d, size_t cpu, size_t unit, const struct round *round) {
    const struct snapshot_layout *layout = d->layout;
    double *values = d->windows + cpu * d->row + d->units[unit].first;
    bool data = values[0] > 0;
    struct span_step step =
        span_advance(&d->unit_spans[cpu * n_units(d) + unit], round->seconds, data, round->limit_seconds);
    double share = 1.0 / (double)n_units(d);
    add_to_totals(d, cpu, snapshot_covered(layout, 0), step.covered_seconds * share);
    add_to_totals(d, cpu, snapshot_uncovered(layout, 0, trouble_of(d, cpu, unit)), step.uncovered_seconds * share);
    if (!data)
        return;
    double to_round = round->seconds / values[0], to_totals = step.covered_seconds / values[0];
    struct scopes scopes = scopes_of(d, cpu);
    for (size_t s = 0; s < 3; s++) {
        double *sums = d->sums + scopes.scope[s] * d->row + d->units[unit].first;
        for (size_t i = 0; i < d->units[unit].n; i++)
            sums[i] += values[i] * to_round;
        d->data[scopes.scope[s] * n_units(d) + unit] = 1;
    }
    dense_fill(d, unit, values);
    const struct plan_unit *plan_unit = &layout->plan->units[unit];
    d->dense[CATALOG_CPU_SECONDS] *= to_totals;
    for (size_t i = 0; i < plan_unit->n_events; i++)
        d->dense[plan_unit->events[i]] *= to_totals;
    advance_metrics(d, cpu, unit);
}

static void advance_level1(struct derive *d, size_t cpu, const struct round *round) {
    const struct snapshot_layout *layout = d->layout;
    size_t n = layout->n_level1;
    double seconds = d->level1_seconds[cpu];
    struct span_step step = span_advance(&d->level1_spans[cpu], round->seconds, seconds > 0, round->limit_seconds);
    if (!(seconds > 0))
        return;
    double slots[CATEGORY_N], increase[CATEGORY_N], all = 0;
    for (size_t i = 0; i < n; i++)
        slots[i] = d->level1_slots[cpu * n + i] * step.covered_seconds / seconds;
    level1_increase(slots, n, d->owed + cpu * n, increase);
    struct scopes scopes = scopes_of(d, cpu);
    for (size_t i = 0; i < n; i++) {
        add_to_totals(d, cpu, snapshot_category(layout, 0, i), increase[i]);
        for (size_t s = 0; s < 3; s++)
            d->level1_increase[scopes.scope[s] * n + i] += increase[i];
        all += increase[i];
    }
    add_to_totals(d, cpu, snapshot_pipeline_slots(layout, 0), all);
}

// A raw event counts in every event group that holds it: all its windows together are its sample.
static void advance_events(struct derive *d, size_t cpu, const struct round *round) {
    const struct snapshot_layout *layout = d->layout;
    for (size_t e = 0; e < layout->n_events; e++) {
        double count = 0, seconds = 0;
        for (size_t u = 0; u < n_units(d); u++) {
            const struct plan_unit *unit = &layout->plan->units[u];
            const double *values = d->windows + cpu * d->row + d->units[u].first;
            for (size_t i = 0; i < unit->n_events; i++) {
                if (unit->events[i] != layout->events[e])
                    continue;
                count += values[1 + i];
                seconds += values[0];
            }
        }
        struct span_step step = span_advance(&d->event_spans[cpu * layout->n_events + e], round->seconds, seconds > 0,
                                             round->limit_seconds);
        if (seconds > 0)
            add_to_totals(d, cpu, snapshot_event(layout, 0, e), count * step.covered_seconds / seconds);
    }
}

static void advance_cpu(struct derive *d, size_t cpu, const struct round *round) {
    if (n_units(d) > 0 && round->gap_seconds > 0)
        add_to_totals(d, cpu, snapshot_uncovered(d->layout, 0, UNCOVERED_GAP), round->gap_seconds);
    for (size_t u = 0; u < n_units(d); u++)
        advance_unit(d, cpu, u, round);
    if (d->layout->n_level1 > 0)
        advance_level1(d, cpu, round);
    advance_events(d, cpu, round);
}

// ---- gauges ----

static enum absent why_no_data(const struct derive *d, size_t scope, size_t unit) {
    size_t first_cpu = snapshot_scope_cpu(d->layout, 0);
    for (size_t cpu = 0; cpu < n_cpus(d); cpu++) {
        size_t socket = snapshot_scope_socket(d->layout->topology->cpus[cpu].socket);
        if (scope == 0 || scope == socket || scope == first_cpu + cpu)
            return trouble_of(d, cpu, unit) == UNCOVERED_STARVED ? ABSENT_STARVED : ABSENT_FAILED;
    }
    return ABSENT_FAILED;
}

static void gauge(struct derive *d, struct snapshot *out, size_t scope, size_t m) {
    const struct plan_metric *planned = &d->layout->plan->metrics[m];
    const struct catalog_metric *metric = &d->layout->catalog->metrics[planned->metric];
    uint8_t *absent = &out->absent[scope * d->layout->n_metrics + m];
    if (planned->unit < 0) {
        *absent = ABSENT_NOT_PLANNABLE;
        return;
    }
    size_t unit = (size_t)planned->unit;
    if (!d->data[scope * n_units(d) + unit]) {
        *absent = (uint8_t)why_no_data(d, scope, unit);
        return;
    }
    const double *sums = d->sums + scope * d->row + d->units[unit].first;
    dense_fill(d, unit, sums);
    double value = formula_evaluate(metric->formula, d->dense) * metric->export_scale;
    *absent = isnan(value) ? ABSENT_UNDEFINED : ABSENT_NOT;
    out->values[snapshot_metric(d->layout, scope, m)] = value;
    if (scope == 0 && metric->rate_threshold > 0) {
        double cpu_seconds = sums[0] / (double)n_cpus(d);
        out->values[snapshot_rate_above(d->layout, 0, m)] =
            formula_sum_evaluate(&metric->formula->numerator, d->dense) / cpu_seconds;
    }
}

static int plan_metric_of(const struct snapshot_layout *layout, unsigned metric) {
    for (size_t m = 0; m < layout->n_metrics; m++)
        if (layout->plan->metrics[m].metric == metric)
            return (int)m;
    return -1;
}

static void deviation(const struct derive *d, struct snapshot *out, size_t scope) {
    const struct snapshot_layout *layout = d->layout;
    const double *increase = d->level1_increase + scope * layout->n_level1;
    double all = 0, largest = 0;
    for (size_t i = 0; i < layout->n_level1; i++)
        all += increase[i];
    for (size_t i = 0; i < layout->n_level1; i++) {
        int m = plan_metric_of(layout, layout->catalog->level1.categories[i].metric);
        if (m < 0)
            continue;
        double difference = fabs(increase[i] / all - out->values[snapshot_metric(layout, scope, (size_t)m)]);
        largest = difference > largest || isnan(difference) ? difference : largest;
    }
    if (layout->n_level1 > 0)
        out->values[snapshot_deviation(layout, scope)] = all > 0 ? largest : NAN;
}

// ---- a round ----

static void forget_round(struct derive *d) {
    const struct snapshot_layout *layout = d->layout;
    memset(d->windows, 0, n_cpus(d) * d->row * sizeof *d->windows);
    memset(d->sums, 0, layout->n_scopes * d->row * sizeof *d->sums);
    memset(d->data, 0, layout->n_scopes * n_units(d));
    memset(d->level1_slots, 0, n_cpus(d) * layout->n_level1 * sizeof *d->level1_slots);
    memset(d->level1_seconds, 0, n_cpus(d) * sizeof *d->level1_seconds);
    memset(d->level1_increase, 0, layout->n_scopes * layout->n_level1 * sizeof *d->level1_increase);
    memset(d->trouble, WINDOW_FAILED, n_cpus(d) * n_units(d));
    for (size_t cpu = 0; cpu < n_cpus(d); cpu++)
        d->parts_done[cpu] = UINT32_MAX;
}

static struct round round_of(const struct derive *d, const struct readings *readings) {
    double planned = (double)d->layout->plan->round_ns * NS;
    struct round round = {.seconds = (double)(readings->end_ns - readings->start_ns) * NS,
                          .limit_seconds = DERIVE_ROUNDS_MAX * planned};
    if (round.seconds > round.limit_seconds) {
        round.gap_seconds = round.seconds - planned;
        round.seconds = planned;
    }
    return round;
}

void derive_round(struct derive *d, const struct readings *readings, struct snapshot *out) {
    struct round round = round_of(d, readings);
    forget_round(d);
    for (size_t i = 0; i < readings->n_windows; i++)
        take_window(d, &readings->windows[i]);
    for (size_t cpu = 0; cpu < n_cpus(d); cpu++)
        advance_cpu(d, cpu, &round);
    if (!out)
        return;
    copy_totals(d, out);
    for (size_t scope = 0; scope < d->layout->n_scopes; scope++) {
        for (size_t m = 0; m < d->layout->n_metrics; m++)
            gauge(d, out, scope, m);
        deviation(d, out, scope);
    }
    out->sequence = readings->round + 1;
    out->start_ns = readings->start_ns;
    out->end_ns = readings->end_ns;
}

void derive_initial(const struct derive *d, struct snapshot *out) { copy_totals(d, out); }
