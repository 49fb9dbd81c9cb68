// SPDX-License-Identifier: Apache-2.0
#include "core/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate_slope.h"
#include "core/student.h"

// What is kept: each CPU's extrapolated counts of the round before, each scope's recent mean of them (where derivatives
// are taken), and a spread per scope and metric.

// Exponentially weighted means over rounds; the first ones weigh the same, so that there is no start to forget.
struct spread {
    double rounds;   // so far
    double weights2; // sum of the squared weights: one over the number of rounds that count
    double variance; // of a round's residual, summed over the scope's cores
    double squares;  // of each core's term squared: how many cores carry the variance
    double floor;    // standard error by rounding to fields
    double stretch;  // by how much the last round's errors weigh more than a usual round's, at least 1
};

struct estimate {
    const struct plan *plan;
    const struct topology *topology;
    double memory_rounds;
    size_t row, n_scopes;
    size_t *first;          // [unit]: of its values within a row
    double *previous;       // [cpu][row]: of the last round with data, extrapolated
    double *share;          // [cpu][unit]: of that round's time that was covered; 0: no such round
    double *mean;           // [scope][row]
    double *mean_rounds;    // [scope][unit]: that the mean is of
    struct spread *spreads; // [scope][metric]

    // of the round
    double *now;        // [cpu][row]: extrapolated
    double *now_share;  // [cpu][unit]
    double *rounding;   // [cpu][unit]: standard error of one field's count
    double *dense;      // [catalog event]
    double *at;         // [catalog metric]: its value at the scope's mean
    double *stretch;    // [catalog metric]: see struct spread
    double *slopes;     // of one metric: by event, then by metric
    double *difference; // [catalog metric][cpu]: of residuals
    double *covered;    // [catalog metric][cpu]: share of time; -1: no difference
    double *core;       // [core]: of one metric's differences, 0 in between
    double *rounded;    // [catalog metric][cpu]: standard error by rounding
};

// ---- making ----

size_t estimate_row(const struct plan *plan) {
    size_t row = 0;
    for (size_t u = 0; u < plan->n_units; u++)
        row += 1 + plan->units[u].n_events;
    return row;
}

static bool allocate(struct estimate *e) {
    size_t cpus = e->topology->n_cpus, units = e->plan->n_units + 1, row = e->row + 1;
    size_t events = e->plan->catalog->n_events, metrics = e->plan->catalog->n_metrics + 1;
    e->first = calloc(units, sizeof *e->first);
    e->previous = calloc(cpus * row, sizeof *e->previous);
    e->share = calloc(cpus * units, sizeof *e->share);
    e->mean = calloc(e->n_scopes * row, sizeof *e->mean);
    e->mean_rounds = calloc(e->n_scopes * units, sizeof *e->mean_rounds);
    e->spreads = calloc(e->n_scopes * (e->plan->n_metrics + 1), sizeof *e->spreads);
    e->now = calloc(cpus * row, sizeof *e->now);
    e->now_share = calloc(cpus * units, sizeof *e->now_share);
    e->rounding = calloc(cpus * units, sizeof *e->rounding);
    e->dense = calloc(events, sizeof *e->dense);
    e->at = calloc(metrics, sizeof *e->at);
    e->stretch = calloc(metrics, sizeof *e->stretch);
    e->slopes = calloc(events + metrics, sizeof *e->slopes);
    e->difference = calloc(metrics * cpus, sizeof *e->difference);
    e->core = calloc(e->topology->n_cores + 1, sizeof *e->core);
    e->covered = calloc(metrics * cpus, sizeof *e->covered);
    e->rounded = calloc(metrics * cpus, sizeof *e->rounded);
    return e->first && e->previous && e->share && e->mean && e->mean_rounds && e->spreads && e->now && e->now_share &&
           e->rounding && e->dense && e->at && e->stretch && e->slopes && e->difference && e->covered && e->core &&
           e->rounded;
}

struct estimate *estimate_new(const struct plan *plan, const struct topology *topology, double memory_rounds) {
    struct estimate *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (struct estimate){.plan = plan, .topology = topology, .memory_rounds = memory_rounds};
    e->row = estimate_row(plan);
    e->n_scopes = 1 + topology->n_sockets + topology->n_cpus;
    if (!allocate(e))
        return estimate_free(e);
    for (size_t m = 0; m < plan->catalog->n_metrics; m++)
        e->at[m] = NAN; // what is not planned has no value for others
    for (size_t u = 1; u < plan->n_units; u++)
        e->first[u] = e->first[u - 1] + 1 + plan->units[u - 1].n_events;
    return e;
}

struct estimate *estimate_free(struct estimate *e) {
    if (!e)
        return NULL;
    free(e->rounded);
    free(e->core);
    free(e->covered);
    free(e->difference);
    free(e->slopes);
    free(e->stretch);
    free(e->at);
    free(e->dense);
    free(e->rounding);
    free(e->now_share);
    free(e->now);
    free(e->spreads);
    free(e->mean_rounds);
    free(e->mean);
    free(e->share);
    free(e->previous);
    free(e->first);
    free(e);
    return NULL;
}

// ---- a round ----

static double weight_of(const struct estimate *e, double rounds) { return fmax(1 / rounds, 1 / e->memory_rounds); }

static bool is_field(const struct plan *plan, unsigned event) {
    return plan->catalog->events[event].resident && plan->needs[event].free;
}

// Pipeline slots that a unit counted: the resident group's leader says so, else its fields add up to them.
static double field_slots(const struct plan *plan, const struct plan_unit *unit, const double *counts) {
    double sum = 0, leader = 0;
    bool fields = false;
    for (size_t i = 0; i < unit->n_events; i++) {
        if (is_field(plan, unit->events[i])) {
            fields = true;
            sum += counts[i];
        } else if (plan->catalog->n_resident > 0 && unit->events[i] == plan->catalog->resident[0]) {
            leader = counts[i];
        }
    }
    return !fields ? 0 : leader > 0 ? leader : sum;
}

static void extrapolate(struct estimate *e, const double *values, const double *running_seconds, double seconds) {
    for (size_t cpu = 0; cpu < e->topology->n_cpus; cpu++) {
        for (size_t u = 0; u < e->plan->n_units; u++) {
            const struct plan_unit *unit = &e->plan->units[u];
            const double *from = values + cpu * e->row + e->first[u];
            double *to = e->now + cpu * e->row + e->first[u];
            size_t at = cpu * e->plan->n_units + u;
            double scale = from[0] > 0 ? seconds / from[0] : 0;
            for (size_t i = 0; i <= unit->n_events; i++)
                to[i] = from[i] * scale;
            e->now_share[at] = from[0] > 0 ? fmin(running_seconds[at] / seconds, 1) : 0;
            // off by up to half a step, evenly: a step / sqrt(12)
            e->rounding[at] = field_slots(e->plan, unit, to + 1) / ESTIMATE_FIELD_STEPS / sqrt(12);
        }
    }
}

// CPUs of a scope, as a range with a filter: the host's and a socket's are among all, a CPU's is one.
static bool in_scope(const struct estimate *e, size_t scope, size_t cpu) {
    return scope == 0 || scope > e->topology->n_sockets || scope == 1 + e->topology->cpus[cpu].socket;
}
static size_t cpu_begin(const struct estimate *e, size_t scope) {
    return scope > e->topology->n_sockets ? scope - 1 - e->topology->n_sockets : 0;
}
static size_t cpu_end(const struct estimate *e, size_t scope) {
    return scope > e->topology->n_sockets ? cpu_begin(e, scope) + 1 : e->topology->n_cpus;
}

static void move_mean(struct estimate *e, size_t scope, size_t u) {
    double *mean = e->mean + scope * e->row + e->first[u];
    double *rounds = &e->mean_rounds[scope * e->plan->n_units + u];
    bool data = false;
    for (size_t cpu = cpu_begin(e, scope); cpu < cpu_end(e, scope); cpu++)
        data = data || (in_scope(e, scope, cpu) && e->now_share[cpu * e->plan->n_units + u] > 0);
    if (!data)
        return;
    double weight = weight_of(e, ++*rounds);
    for (size_t i = 0; i <= e->plan->units[u].n_events; i++) {
        double sum = 0;
        for (size_t cpu = cpu_begin(e, scope); cpu < cpu_end(e, scope); cpu++)
            if (in_scope(e, scope, cpu))
                sum += e->now[cpu * e->row + e->first[u] + i];
        mean[i] += weight * (sum - mean[i]);
    }
}

// ---- a metric ----

// What is no event's count, the same for all of a scope's metrics.
static void fill_special(struct estimate *e, size_t scope, double seconds) {
    const struct catalog *catalog = e->plan->catalog;
    for (size_t i = 0; i < catalog->n_events; i++) {
        enum catalog_event_kind kind = catalog->events[i].kind;
        if (kind == EVENT_DURATION)
            e->dense[i] = seconds;
        else if (kind == EVENT_CORE_WIDE)
            e->dense[i] = topology_whole_cores(e->topology, scope);
    }
}

static void fill_dense(struct estimate *e, size_t scope, size_t u) {
    const struct plan_unit *unit = &e->plan->units[u];
    const double *mean = e->mean + scope * e->row + e->first[u];
    e->dense[CATALOG_CPU_SECONDS] = mean[0];
    for (size_t i = 0; i < unit->n_events; i++)
        e->dense[unit->events[i]] = mean[1 + i];
}

static size_t value_of(const struct plan_unit *unit, unsigned event) {
    size_t i = 0;
    while (i < unit->n_events && unit->events[i] != event)
        i++;
    return i < unit->n_events ? 1 + i : 0;
}

// What a CPU's counts in the metric's own unit add to the difference of residuals; slopes are of the formula's events.
static void add_counts(struct estimate *e, const struct formula *formula, size_t u, size_t cpu, size_t at) {
    const struct plan_unit *unit = &e->plan->units[u];
    const double *now = e->now + cpu * e->row + e->first[u], *before = e->previous + cpu * e->row + e->first[u];
    size_t share = cpu * e->plan->n_units + u;
    if (!(e->share[share] > 0 && e->now_share[share] > 0))
        return;
    double rounded2 = 0;
    e->covered[at] = (e->share[share] + e->now_share[share]) / 2;
    for (size_t i = 0; i < formula->n_variables; i++) {
        unsigned event = formula->variables[i];
        size_t v = value_of(unit, event);
        if (v == 0) // time is no estimate, and what is not counted here does not vary
            continue;
        e->difference[at] += e->slopes[i] * (now[v] - before[v]);
        if (is_field(e->plan, event))
            rounded2 += e->slopes[i] * e->slopes[i];
    }
    e->rounded[at] = sqrt(rounded2) * e->rounding[share];
}

static void add_metrics(struct estimate *e, const struct formula *formula, bool own, size_t cpu, size_t at) {
    const double *slopes = e->slopes + formula->n_variables;
    size_t cpus = e->topology->n_cpus;
    bool first = !own;
    for (size_t i = 0; i < formula->n_metrics; i++) {
        size_t other = formula->metrics[i] * cpus + cpu;
        if (slopes[i] == 0)
            continue;
        e->covered[at] = first ? e->covered[other] : fmin(e->covered[at], e->covered[other]);
        e->difference[at] += slopes[i] * e->difference[other];
        e->rounded[at] += fabs(slopes[i]) * e->rounded[other];
        first = false;
    }
}

// A round in which little was counted has a ratio of little: by its size against the mean's, each weighed by the
// derivatives.
static double stretch_of(const struct estimate *e, size_t scope, const struct plan_metric *metric) {
    const struct formula *formula = e->plan->catalog->metrics[metric->metric].formula;
    const struct plan_unit *unit = &e->plan->units[metric->unit];
    size_t first = e->first[metric->unit];
    double usual = 0, now = 0;
    for (size_t i = 0; i < formula->n_variables; i++) {
        size_t v = value_of(unit, formula->variables[i]);
        usual += v > 0 ? fabs(e->slopes[i]) * e->mean[scope * e->row + first + v] : 0;
        for (size_t cpu = cpu_begin(e, scope); cpu < cpu_end(e, scope) && v > 0; cpu++)
            if (in_scope(e, scope, cpu))
                now += fabs(e->slopes[i]) * e->now[cpu * e->row + first + v];
    }
    return now > 0 ? fmax(usual / now, 1) : 1;
}

// A metric of other metrics is as uncertain as the worst of them.
static double stretch_of_metrics(const struct estimate *e, const struct formula *formula, double own) {
    for (size_t i = 0; i < formula->n_metrics; i++)
        own = fmax(own, e->stretch[formula->metrics[i]]);
    return own;
}

// The differences of a metric's residuals on the scope's CPUs, with the derivatives at the scope's mean.
static void find_differences(struct estimate *e, size_t scope, const struct plan_metric *metric) {
    const struct formula *formula = e->plan->catalog->metrics[metric->metric].formula;
    if (metric->unit >= 0)
        fill_dense(e, scope, (size_t)metric->unit);
    e->at[metric->metric] = estimate_slopes(formula, e->dense, e->at, e->slopes);
    bool known = isfinite(e->at[metric->metric]);
    e->stretch[metric->metric] =
        stretch_of_metrics(e, formula, known && metric->unit >= 0 ? stretch_of(e, scope, metric) : 1);
    for (size_t cpu = cpu_begin(e, scope); cpu < cpu_end(e, scope); cpu++) {
        size_t at = metric->metric * e->topology->n_cpus + cpu;
        e->difference[at] = e->rounded[at] = 0;
        e->covered[at] = -1;
        if (!known)
            continue;
        if (metric->unit >= 0)
            add_counts(e, formula, (size_t)metric->unit, cpu, at);
        add_metrics(e, formula, metric->unit >= 0, cpu, at);
    }
}

// SMT siblings have their slots at the same places, so what they say is one draw: differences are summed by core first.
static void sum_cores(struct estimate *e, size_t scope, size_t metric) {
    for (size_t cpu = cpu_begin(e, scope); cpu < cpu_end(e, scope); cpu++) {
        size_t at = metric * e->topology->n_cpus + cpu;
        if (in_scope(e, scope, cpu) && e->covered[at] >= 0)
            e->core[e->topology->cpus[cpu].core] += e->difference[at] * sqrt(1 - e->covered[at]);
    }
}

static void move_spread(struct estimate *e, size_t scope, size_t m) {
    struct spread *spread = &e->spreads[scope * e->plan->n_metrics + m];
    size_t metric = e->plan->metrics[m].metric;
    double variance = 0, squares = 0, floor = 0;
    bool data = false;
    for (size_t cpu = cpu_begin(e, scope); cpu < cpu_end(e, scope); cpu++) {
        size_t at = metric * e->topology->n_cpus + cpu;
        if (!in_scope(e, scope, cpu) || e->covered[at] < 0)
            continue;
        data = true;
        floor += e->rounded[at];
    }
    if (!data)
        return;
    sum_cores(e, scope, metric);
    for (size_t cpu = cpu_begin(e, scope); cpu < cpu_end(e, scope); cpu++) {
        double *core = &e->core[e->topology->cpus[cpu].core];
        double term = *core * *core / 2;
        *core = 0; // taken: a sibling adds nothing
        variance += term;
        squares += term * term;
    }
    double weight = weight_of(e, ++spread->rounds);
    spread->weights2 = (1 - weight) * (1 - weight) * spread->weights2 + weight * weight;
    spread->variance += weight * (variance - spread->variance);
    spread->squares += weight * (squares - spread->squares);
    spread->floor += weight * (floor - spread->floor);
    spread->stretch = e->stretch[metric];
}

static void keep_round(struct estimate *e) {
    for (size_t cpu = 0; cpu < e->topology->n_cpus; cpu++) {
        for (size_t u = 0; u < e->plan->n_units; u++) {
            size_t at = cpu * e->plan->n_units + u;
            if (!(e->now_share[at] > 0))
                continue;
            e->share[at] = e->now_share[at];
            memcpy(e->previous + cpu * e->row + e->first[u], e->now + cpu * e->row + e->first[u],
                   (1 + e->plan->units[u].n_events) * sizeof *e->now);
        }
    }
}

void estimate_take_round(struct estimate *e, const double *values, const double *running_seconds, double seconds) {
    if (!(seconds > 0))
        return;
    extrapolate(e, values, running_seconds, seconds);
    for (size_t scope = 0; scope < e->n_scopes; scope++) {
        fill_special(e, scope, seconds);
        for (size_t u = 0; u < e->plan->n_units; u++)
            move_mean(e, scope, u);
        for (size_t i = 0; i < e->plan->n_metrics; i++) {
            unsigned m = e->plan->evaluation[i];
            if (e->plan->metrics[m].unit == PLAN_NOT_PLANNABLE)
                continue;
            find_differences(e, scope, &e->plan->metrics[m]);
            move_spread(e, scope, m);
        }
    }
    keep_round(e);
}

void estimate_forget_unit(struct estimate *e, size_t cpu, size_t unit) { e->share[cpu * e->plan->n_units + unit] = 0; }

void estimate_forget_cpu(struct estimate *e, size_t cpu) {
    for (size_t u = 0; u < e->plan->n_units; u++)
        estimate_forget_unit(e, cpu, u);
}

// ---- what it says ----

const char *estimate_quality_name(enum estimate_quality quality) {
    static const char *const names[] = {"none", "good", "fair", "poor"};
    return names[quality];
}

// n differences between n + 1 successive values are worth 2 n^2 / (3 n - 1) degrees of freedom: neighbours share a
// value (von Neumann et al., "The mean square successive difference", 1941). Cores that vary alike multiply that by
// their number (Satterthwaite 1946); a normal term's square is on average three times its mean's.
double estimate_degrees(const struct estimate *e, size_t scope, size_t metric) {
    const struct spread *spread = &e->spreads[scope * e->plan->n_metrics + metric];
    if (spread->rounds == 0)
        return 0;
    double n = 1 / spread->weights2, one = 2 * n * n / (3 * n - 1);
    const struct topology *topology = e->topology;
    size_t cores = 1;
    if (scope <= topology->n_sockets)
        cores = scope == 0 ? topology->n_cores : topology->sockets[scope - 1].cores;
    double carried = spread->squares > 0 ? 3 * spread->variance * spread->variance / spread->squares : (double)cores;
    return one * fmin(carried, (double)cores);
}

static enum estimate_quality quality_of(const struct catalog_metric *metric, double value, double half) {
    bool share = metric->domain == METRIC_PIPELINE_SLOTS || metric->domain == METRIC_CLOCKS;
    double good = share ? 0.01 : 0.05 * fabs(value), fair = share ? 0.03 : 0.2 * fabs(value);
    return half <= good ? ESTIMATE_GOOD : half <= fair ? ESTIMATE_FAIR : ESTIMATE_POOR;
}

struct estimate_interval estimate_get(const struct estimate *e, size_t scope, size_t metric, double value,
                                      double rounds) {
    const struct spread *spread = &e->spreads[scope * e->plan->n_metrics + metric];
    const struct catalog_metric *catalog_metric = &e->plan->catalog->metrics[e->plan->metrics[metric].metric];
    struct estimate_interval interval = {NAN, NAN, NAN, ESTIMATE_NONE};
    if (spread->rounds == 0 || !isfinite(value) || !isfinite(spread->variance))
        return interval;
    double stretch = rounds > 1 ? 1 : spread->stretch, by_chance = spread->variance / rounds, floor = spread->floor;
    by_chance *= stretch * stretch;
    double variance = by_chance + floor * floor;
    interval.standard_error = sqrt(variance) * fabs(catalog_metric->export_scale);
    // only what was estimated from differences has few degrees of freedom (Satterthwaite)
    double sure = by_chance > 0 ? variance / by_chance : INFINITY;
    double half = interval.standard_error * student_95(estimate_degrees(e, scope, metric) * sure * sure);
    interval.low = catalog_metric->formula->is_ratio && value >= 0 ? fmax(value - half, 0) : value - half;
    interval.high = value + half;
    interval.quality = quality_of(catalog_metric, value, half);
    return interval;
}
