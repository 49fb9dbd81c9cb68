// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "core/tally/estimate_slope.h"
#include "core/tally/estimate_state.h"

// A round, taken in: counts are extrapolated, then scope by scope means move, and metric by metric the differences of
// residuals to the round before become the spread.

double estimate_weight(const struct estimate *e, double rounds) { return fmax(1 / rounds, 1 / e->memory_rounds); }

// Pipeline slots that a unit with fields counted: the resident group's leader says so, else its fields add up to them.
static double field_slots(const struct plan *plan, const struct plan_unit *unit, const double *counts) {
    double sum = 0, leader = 0;
    for (size_t i = 0; i < unit->n_events; i++) {
        if (estimate_is_field(plan, unit->events[i]))
            sum += counts[i];
        else if (plan->catalog->n_resident > 0 && unit->events[i] == plan->catalog->resident[0])
            leader = counts[i];
    }
    return leader > 0 ? leader : sum;
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
            if (e->fields[e->first[u]]) // off by up to half a step, evenly: a step / sqrt(12)
                e->rounding[at] = field_slots(e->plan, unit, to + 1) / ESTIMATE_FIELD_STEPS / sqrt(12);
        }
    }
}

static struct estimate_cpus cpus_of(const struct estimate *e, size_t scope) {
    const struct topology *topology = e->topology;
    if (scope == 0)
        return (struct estimate_cpus){e->cpus, topology->n_cpus};
    if (scope > topology->n_sockets)
        return (struct estimate_cpus){e->cpus + (scope - 1 - topology->n_sockets), 1};
    size_t begin = e->socket_cpus[scope - 1];
    return (struct estimate_cpus){e->cpus + begin, e->socket_cpus[scope] - begin};
}

static void move_mean(struct estimate *e, size_t scope, struct estimate_cpus in, size_t u) {
    size_t n = 1 + e->plan->units[u].n_events;
    double *mean = e->mean + scope * e->row + e->first[u];
    bool data = false;
    for (size_t c = 0; c < in.n; c++)
        data = data || e->now_share[in.cpus[c] * e->plan->n_units + u] > 0;
    if (!data)
        return;
    memset(e->sums, 0, n * sizeof *e->sums);
    for (size_t c = 0; c < in.n; c++) {
        const double *now = e->now + in.cpus[c] * e->row + e->first[u];
        for (size_t i = 0; i < n; i++)
            e->sums[i] += now[i];
    }
    double weight = estimate_weight(e, ++e->mean_rounds[scope * e->plan->n_units + u]);
    for (size_t i = 0; i < n; i++)
        mean[i] += weight * (e->sums[i] - mean[i]);
}

// ---- a metric ----

// What is no event's count, the same for all of a scope's metrics.
static void fill_special(struct estimate *e, size_t scope, double seconds) {
    const struct catalog *catalog = e->plan->catalog;
    if (catalog->duration_event >= 0)
        e->dense[catalog->duration_event] = seconds;
    if (catalog->core_wide_event >= 0)
        e->dense[catalog->core_wide_event] = topology_whole_cores(e->topology, scope);
}

static void fill_dense(struct estimate *e, size_t scope, size_t u) {
    const struct plan_unit *unit = &e->plan->units[u];
    const double *mean = e->mean + scope * e->row + e->first[u];
    e->dense[CATALOG_CPU_SECONDS] = mean[0];
    for (size_t i = 0; i < unit->n_events; i++)
        e->dense[unit->events[i]] = mean[1 + i];
}

// The events that metric m varies with; the slopes are there. Time is no estimate, and what is not counted in the
// metric's own unit does not vary.
static size_t find_counted(struct estimate *e, size_t m, const struct formula *formula) {
    const size_t *places = e->places + e->first_place[m];
    size_t n = 0;
    for (size_t i = 0; i < formula->n_variables; i++)
        if (places[i] > 0 && e->slopes[i] != 0)
            e->counted[n++] = (struct estimate_counted){e->slopes[i], places[i]};
    return n;
}

// A field's place among the resident events.
static size_t field_of(const struct catalog *catalog, unsigned event) {
    size_t i = 0;
    while (i + 1 < catalog->n_resident && catalog->resident[i] != event)
        i++;
    return i;
}

// How rounding moves a metric on the scope, field by field: each is rounded the same way wherever it is read, so what a
// metric takes of one field by several ways adds up with its sign, and so do CPUs.
static void find_rounded(struct estimate *e, struct estimate_cpus in, const struct plan_metric *metric,
                         const struct formula *formula) {
    const struct catalog *catalog = e->plan->catalog;
    double *rounded = e->rounded + metric->metric * CATALOG_RESIDENT_MAX, steps = 0;
    memset(rounded, 0, CATALOG_RESIDENT_MAX * sizeof *rounded);
    for (size_t c = 0; metric->unit >= 0 && c < in.n; c++)
        steps += e->rounding[in.cpus[c] * e->plan->n_units + (size_t)metric->unit];
    for (size_t i = 0; steps > 0 && i < formula->n_variables; i++)
        if (estimate_is_field(e->plan, formula->variables[i]))
            rounded[field_of(catalog, formula->variables[i])] += e->slopes[i] * steps;
    for (size_t i = 0; i < formula->n_metrics && catalog->n_resident > 0; i++)
        for (size_t f = 0; f < catalog->n_resident; f++)
            rounded[f] +=
                e->slopes[formula->n_variables + i] * e->rounded[formula->metrics[i] * CATALOG_RESIDENT_MAX + f];
}

// What a CPU's counts in the metric's own unit add to the difference of residuals.
static void add_counts(struct estimate *e, size_t n_counted, size_t u, size_t cpu, size_t at) {
    const double *now = e->now + cpu * e->row, *before = e->previous + cpu * e->row;
    size_t share = cpu * e->plan->n_units + u;
    if (!(e->share[share] > 0 && e->now_share[share] > 0))
        return;
    double difference = 0;
    for (size_t i = 0; i < n_counted; i++)
        difference += e->counted[i].slope * (now[e->counted[i].place] - before[e->counted[i].place]);
    e->difference[at] = difference;
    e->covered[at] = (e->share[share] + e->now_share[share]) / 2;
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
        first = false;
    }
}

// A round in which little was counted has a ratio of little: by its size against the mean's, each weighed by the
// derivatives.
static double stretch_of(const struct estimate *e, size_t scope, struct estimate_cpus in, size_t n_counted) {
    double usual = 0, now = 0;
    for (size_t i = 0; i < n_counted; i++) {
        double slope = fabs(e->counted[i].slope);
        size_t place = e->counted[i].place;
        usual += slope * e->mean[scope * e->row + place];
        for (size_t c = 0; c < in.n; c++)
            now += slope * e->now[in.cpus[c] * e->row + place];
    }
    return now > 0 ? fmax(usual / now, 1) : 1;
}

// A metric of other metrics is as uncertain as the worst of them.
static double stretch_of_metrics(const struct estimate *e, const struct formula *formula, double own) {
    for (size_t i = 0; i < formula->n_metrics; i++)
        own = fmax(own, e->stretch[formula->metrics[i]]);
    return own;
}

static void find_unseen(struct estimate *e, const struct plan_metric *metric, const struct formula *formula) {
    struct estimate_unseen *unseen = &e->unseen_metrics[metric->metric];
    *unseen = metric->unit >= 0 ? e->unseen_units[metric->unit] : (struct estimate_unseen){0, 0};
    for (size_t i = 0; i < formula->n_metrics; i++) {
        unseen->round = fmax(unseen->round, e->unseen_metrics[formula->metrics[i]].round);
        unseen->mean = fmax(unseen->mean, e->unseen_metrics[formula->metrics[i]].mean);
    }
}

// The differences of a metric's residuals on the scope's CPUs, with the derivatives at the scope's mean.
static void find_differences(struct estimate *e, size_t scope, struct estimate_cpus in, size_t m) {
    const struct plan_metric *metric = &e->plan->metrics[m];
    const struct formula *formula = e->plan->catalog->metrics[metric->metric].formula;
    bool own = metric->unit >= 0; // its formula counts something
    double value = estimate_slopes(formula, e->dense, e->at, e->slopes), stretch = 1;
    size_t n_counted = 0;
    if (isfinite(value) && own) {
        n_counted = find_counted(e, m, formula);
        stretch = stretch_of(e, scope, in, n_counted);
    }
    e->at[metric->metric] = value;
    e->stretch[metric->metric] = stretch_of_metrics(e, formula, stretch);
    find_rounded(e, in, metric, formula);
    find_unseen(e, metric, formula);
    for (size_t c = 0; c < in.n; c++) {
        size_t at = metric->metric * e->topology->n_cpus + in.cpus[c];
        e->difference[at] = 0;
        e->covered[at] = -1;
        if (!isfinite(value))
            continue;
        if (own)
            add_counts(e, n_counted, (size_t)metric->unit, in.cpus[c], at);
        add_metrics(e, formula, own, in.cpus[c], at);
    }
}

// SMT siblings have their slots at the same places, so what they say is one draw: differences are summed by core first.
double estimate_take_cores(struct estimate *e, struct estimate_cpus in, double *squares) {
    double variance = 0;
    *squares = 0;
    for (size_t c = 0; c < in.n; c++) {
        double *core = &e->core[e->topology->cpus[in.cpus[c]].core];
        double term = *core * *core / 2;
        *core = 0; // taken: a sibling adds nothing
        variance += term;
        *squares += term * term;
    }
    return variance;
}

static void move_spread(struct estimate *e, size_t scope, struct estimate_cpus in, size_t m) {
    struct estimate_spread *spread = &e->spreads[scope * e->plan->n_metrics + m];
    size_t metric = e->plan->metrics[m].metric;
    double squares, floor2 = 0;
    bool data = false;
    for (size_t c = 0; c < in.n; c++) {
        size_t at = metric * e->topology->n_cpus + in.cpus[c];
        if (e->covered[at] < 0)
            continue;
        data = true;
        e->core[e->topology->cpus[in.cpus[c]].core] += e->difference[at] * sqrt(1 - e->covered[at]);
    }
    if (!data)
        return;
    for (size_t f = 0; f < e->plan->catalog->n_resident; f++) {
        double rounded = e->rounded[metric * CATALOG_RESIDENT_MAX + f];
        floor2 += rounded * rounded;
    }
    double variance = estimate_take_cores(e, in, &squares), weight = estimate_weight(e, ++spread->rounds);
    spread->weights2 = (1 - weight) * (1 - weight) * spread->weights2 + weight * weight;
    spread->variance += weight * (variance - spread->variance);
    spread->squares += weight * (squares - spread->squares);
    spread->floor += weight * (sqrt(floor2) - spread->floor);
    spread->stretch = e->stretch[metric];
    spread->unseen = e->unseen_metrics[metric];
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

static void take_scope(struct estimate *e, size_t scope, double seconds) {
    struct estimate_cpus in = cpus_of(e, scope);
    int filled = -1; // the unit whose mean is in e->dense
    fill_special(e, scope, seconds);
    for (size_t u = 0; u < e->plan->n_units; u++)
        move_mean(e, scope, in, u);
    estimate_unseen_take_scope(e, scope, in);
    for (size_t i = 0; i < e->plan->n_metrics; i++) {
        unsigned m = e->plan->evaluation[i];
        int unit = e->plan->metrics[m].unit;
        if (unit == PLAN_NOT_PLANNABLE)
            continue;
        if (unit >= 0 && unit != filled)
            fill_dense(e, scope, (size_t)unit);
        filled = unit >= 0 ? unit : filled;
        find_differences(e, scope, in, m);
        move_spread(e, scope, in, m);
    }
}

void estimate_take_round(struct estimate *e, const double *values, const double *running_seconds, double seconds) {
    if (!(seconds > 0))
        return;
    extrapolate(e, values, running_seconds, seconds);
    estimate_unseen_take_round(e);
    for (size_t scope = 0; scope < e->n_scopes; scope++)
        if (estimate_own_scope(e, scope) == scope)
            take_scope(e, scope, seconds);
    keep_round(e);
}
