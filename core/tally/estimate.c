// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "core/base/student.h"
#include "core/tally/estimate_state.h"

// Making, and what it says. A round's work is in estimate_round.c.

// ---- making ----

size_t estimate_row(const struct plan *plan) {
    size_t row = 0;
    for (size_t u = 0; u < plan->n_units; u++)
        row += 1 + plan->units[u].n_events;
    return row;
}

static size_t count_places(const struct plan *plan) {
    size_t n = 0;
    for (size_t m = 0; m < plan->n_metrics; m++)
        n += plan->catalog->metrics[plan->metrics[m].metric].formula->n_variables;
    return n;
}

static bool allocate_kept(struct estimate *e) {
    size_t cpus = e->topology->n_cpus, units = e->plan->n_units + 1, row = e->row + 1;
    e->first = calloc(units, sizeof *e->first);
    e->fields = calloc(row, sizeof *e->fields);
    e->places = calloc(count_places(e->plan) + 1, sizeof *e->places);
    e->first_place = calloc(e->plan->n_metrics + 1, sizeof *e->first_place);
    e->cpus = calloc(2 * cpus, sizeof *e->cpus);
    e->socket_cpus = calloc(e->topology->n_sockets + 1, sizeof *e->socket_cpus);
    e->previous = calloc(cpus * row, sizeof *e->previous);
    e->share = calloc(cpus * units, sizeof *e->share);
    e->mean = calloc(e->n_scopes * row, sizeof *e->mean);
    e->mean_rounds = calloc(e->n_scopes * units, sizeof *e->mean_rounds);
    e->spreads = calloc(e->n_scopes * (e->plan->n_metrics + 1), sizeof *e->spreads);
    return e->first && e->fields && e->places && e->first_place && e->cpus && e->socket_cpus && e->previous &&
           e->share && e->mean && e->mean_rounds && e->spreads;
}

static bool allocate_round(struct estimate *e) {
    size_t cpus = e->topology->n_cpus, units = e->plan->n_units + 1, row = e->row + 1;
    size_t events = e->plan->catalog->n_events, metrics = e->plan->catalog->n_metrics + 1;
    e->now = calloc(cpus * row, sizeof *e->now);
    e->now_share = calloc(cpus * units, sizeof *e->now_share);
    e->rounding = calloc(cpus * units, sizeof *e->rounding);
    e->sums = calloc(row, sizeof *e->sums);
    e->dense = calloc(events, sizeof *e->dense);
    e->at = calloc(metrics, sizeof *e->at);
    e->stretch = calloc(metrics, sizeof *e->stretch);
    e->slopes = calloc(events + metrics, sizeof *e->slopes);
    e->counted = calloc(events, sizeof *e->counted);
    e->difference = calloc(metrics * cpus, sizeof *e->difference);
    e->covered = calloc(metrics * cpus, sizeof *e->covered);
    e->core = calloc(e->topology->n_cores + 1, sizeof *e->core);
    e->rounded = calloc(metrics * CATALOG_RESIDENT_MAX, sizeof *e->rounded);
    e->all = calloc(cpus * units, sizeof *e->all);
    e->unseen_units = calloc(units, sizeof *e->unseen_units);
    e->unseen_metrics = calloc(metrics, sizeof *e->unseen_metrics);
    return e->all && e->unseen_units && e->unseen_metrics && e->now && e->now_share && e->rounding && e->sums &&
           e->dense && e->at && e->stretch && e->slopes && e->counted && e->difference && e->covered && e->core &&
           e->rounded;
}

static void find_units(struct estimate *e) {
    size_t next = 0;
    for (size_t u = 0; u < e->plan->n_units; u++) {
        const struct plan_unit *unit = &e->plan->units[u];
        e->first[u] = next;
        for (size_t i = 0; i < unit->n_events; i++)
            if (estimate_is_field(e->plan, unit->events[i]))
                e->fields[next] = e->fields[next + 1 + i] = true;
        next += 1 + unit->n_events;
    }
}

static size_t place_of(const struct estimate *e, int unit_index, unsigned event) {
    const struct plan_unit *unit = unit_index >= 0 ? &e->plan->units[unit_index] : NULL;
    for (size_t i = 0; unit && i < unit->n_events; i++)
        if (unit->events[i] == event)
            return e->first[unit_index] + 1 + i;
    return 0; // where the first unit's seconds are, which are no event
}

static void find_places(struct estimate *e) {
    size_t n = 0;
    for (size_t m = 0; m < e->plan->n_metrics; m++) {
        const struct plan_metric *metric = &e->plan->metrics[m];
        const struct formula *formula = e->plan->catalog->metrics[metric->metric].formula;
        e->first_place[m] = n;
        for (size_t i = 0; i < formula->n_variables; i++)
            e->places[n++] = place_of(e, metric->unit, formula->variables[i]);
    }
}

static void find_cpus(struct estimate *e) {
    const struct topology *topology = e->topology;
    size_t n = 0;
    while (n < topology->n_cpus) {
        e->cpus[n] = (unsigned)n;
        n++;
    }
    for (size_t socket = 0; socket < topology->n_sockets; socket++) {
        e->socket_cpus[socket] = n;
        for (unsigned cpu = 0; cpu < topology->n_cpus; cpu++)
            if (topology->cpus[cpu].socket == socket)
                e->cpus[n++] = cpu;
    }
    e->socket_cpus[topology->n_sockets] = n;
}

struct estimate *estimate_new(const struct plan *plan, const struct topology *topology, double memory_rounds) {
    struct estimate *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (struct estimate){.plan = plan, .topology = topology, .memory_rounds = memory_rounds};
    e->row = estimate_row(plan);
    e->n_scopes = 1 + topology->n_sockets + topology->n_cpus;
    if (!allocate_kept(e) || !allocate_round(e))
        return estimate_free(e);
    for (size_t m = 0; m < plan->catalog->n_metrics; m++)
        e->at[m] = NAN; // what is not planned has no value for others
    find_units(e);
    find_places(e);
    find_cpus(e);
    if (!estimate_unseen_init(e))
        return estimate_free(e);
    return e;
}

struct estimate *estimate_free(struct estimate *e) {
    if (!e)
        return NULL;
    free(e->unseen_metrics);
    free(e->unseen_units);
    free(e->all);
    free(e->rounded);
    free(e->core);
    free(e->covered);
    free(e->difference);
    free(e->counted);
    free(e->slopes);
    free(e->stretch);
    free(e->at);
    free(e->dense);
    free(e->sums);
    free(e->rounding);
    free(e->now_share);
    free(e->now);
    free(e->sizes);
    free(e->first_same);
    free(e->same);
    free(e->spreads);
    free(e->mean_rounds);
    free(e->mean);
    free(e->share);
    free(e->previous);
    free(e->socket_cpus);
    free(e->cpus);
    free(e->first_place);
    free(e->places);
    free(e->fields);
    free(e->first);
    free(e);
    return NULL;
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
    const struct estimate_spread *spread = &e->spreads[estimate_own_scope(e, scope) * e->plan->n_metrics + metric];
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
    const struct estimate_spread *spread = &e->spreads[estimate_own_scope(e, scope) * e->plan->n_metrics + metric];
    const struct catalog_metric *catalog_metric = &e->plan->catalog->metrics[e->plan->metrics[metric].metric];
    struct estimate_interval interval = {NAN, NAN, NAN, ESTIMATE_NONE};
    if (spread->rounds == 0 || !isfinite(value) || !isfinite(spread->variance))
        return interval;
    double stretch = rounds > 1 ? 1 : spread->stretch, by_chance = spread->variance / rounds, floor = spread->floor;
    by_chance *= stretch * stretch;
    double unseen = (rounds > 1 ? spread->unseen.mean : spread->unseen.round) * value / catalog_metric->export_scale;
    double variance = by_chance + floor * floor + unseen * unseen;
    interval.standard_error = sqrt(variance) * fabs(catalog_metric->export_scale);
    // only what was estimated from differences has few degrees of freedom (Satterthwaite)
    double sure = by_chance > 0 ? variance / by_chance : INFINITY;
    double half = interval.standard_error * student_95(estimate_degrees(e, scope, metric) * sure * sure);
    interval.low = catalog_metric->formula->is_ratio && value >= 0 ? fmax(value - half, 0) : value - half;
    interval.high = value + half;
    interval.quality = quality_of(catalog_metric, value, half);
    return interval;
}
