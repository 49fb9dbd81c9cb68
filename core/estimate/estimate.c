// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/student.h"
#include "core/counts/operands.h"
#include "core/estimate/estimate_means.h"
#include "core/estimate/estimate_spread.h"
#include "core/estimate/estimate_terms.h"
#include "core/estimate/estimate_unseen.h"

// A load that is in step on all cores, with a period of about an idle piece, differs in pieces from the rest, and
// neither differs from round to round. Nothing tells of such an error, a tenth of a point: so no round claims less.
static const double RESOLUTION_SHARE = 0.001, RESOLUTION_RELATIVE = 0.005;
static const double WINDOWS_MIN = 1.5; // effective windows: fewer are one, and a part of another

// Creates an estimate, takes rounds in, and answers. A round passes through three types: rounds (each CPU's counts,
// extrapolated), then scope by scope means (the points of the derivatives), and metric by metric terms (how far
// residuals differ from those of the previous round). The estimate keeps a spread for each scope and metric.

struct estimate {
    const struct plan *plan;
    struct rows *rows;
    struct scopes *scopes;
    double memory_rounds;
    struct estimate_rounds *rounds;
    struct estimate_means *means;
    struct estimate_sizes *sizes;
    struct estimate_cores *cores;
    struct estimate_terms *terms;
    struct operands *at; // a scope's mean
    struct estimate_spreads *spreads;
};

// ---- making ----

struct estimate *estimate_new(const struct plan *plan, const struct topology *topology, double memory_rounds) {
    struct estimate *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (struct estimate){.plan = plan, .memory_rounds = memory_rounds};
    e->rows = rows_new(plan);
    e->scopes = scopes_new(topology);
    if (!e->rows || !e->scopes)
        return estimate_free(e);
    e->rounds = estimate_rounds_new(e->rows, topology->n_cpus);
    e->means = estimate_means_new(e->rows, e->scopes->n);
    e->sizes = estimate_sizes_new(e->rows, e->scopes->n, topology->n_cpus);
    e->cores = estimate_cores_new(topology);
    e->terms = estimate_terms_new(e->rows, topology->n_cpus);
    e->at = operands_new(e->rows);
    e->spreads = estimate_spreads_new(e->scopes->n, plan->n_metrics);
    return e->rounds && e->means && e->sizes && e->cores && e->terms && e->at && e->spreads ? e : estimate_free(e);
}

struct estimate *estimate_free(struct estimate *e) {
    if (!e)
        return NULL;
    estimate_spreads_free(e->spreads);
    operands_free(e->at);
    estimate_terms_free(e->terms);
    estimate_cores_free(e->cores);
    estimate_sizes_free(e->sizes);
    estimate_means_free(e->means);
    estimate_rounds_free(e->rounds);
    scopes_free(e->scopes);
    rows_free(e->rows);
    free(e);
    return NULL;
}

void estimate_forget_unit(struct estimate *e, size_t cpu, size_t unit) { estimate_rounds_forget(e->rounds, cpu, unit); }

void estimate_forget_cpu(struct estimate *e, size_t cpu) {
    for (size_t u = 0; u < e->plan->n_units; u++)
        estimate_forget_unit(e, cpu, u);
}

// ---- a round ----

static void take_metric(struct estimate *e, const struct estimate_scope *of, size_t m) {
    const struct plan_metric *metric = &e->plan->metrics[m];
    const double *mean = estimate_means_row(e->means, of->scope);
    struct estimate_unseen unseen = {0, 0, INFINITY};
    operands_fill_from_row(e->at, e->plan->catalog->metrics[metric->metric].formula, metric->unit, mean);
    if (metric->unit >= 0)
        unseen = estimate_sizes_unseen(e->sizes, (size_t)metric->unit);
    if (!estimate_terms_take(e->terms, of, m, e->at, mean, unseen))
        return;
    struct estimate_sample sample = estimate_terms_sample(e->terms, of, m);
    estimate_spread_move(estimate_spreads_at(e->spreads, of->scope, m), &sample, e->memory_rounds);
}

static void take_scope(struct estimate *e, size_t scope, double seconds) {
    const struct estimate_scope of = {.scope = scope,
                                      .in = scopes_cpus(e->scopes, scope),
                                      .rounds = e->rounds,
                                      .cores = e->cores,
                                      .memory_rounds = e->memory_rounds};
    estimate_means_move(e->means, &of);
    estimate_sizes_take_scope(e->sizes, &of);
    operands_begin(e->at, seconds, topology_whole_cores(e->scopes->topology, scope));
    for (size_t i = 0; i < e->plan->n_metrics; i++)
        if (plan_metric_planned(&e->plan->metrics[e->plan->evaluation[i]]))
            take_metric(e, &of, e->plan->evaluation[i]);
}

void estimate_take_round(struct estimate *e, const struct cells *cells, double seconds) {
    assert(cells->rows->n_values == e->rows->n_values);
    if (!(seconds > 0))
        return;
    estimate_rounds_take(e->rounds, cells, seconds);
    estimate_sizes_take_round(e->sizes, e->rounds);
    for (size_t scope = 0; scope < e->scopes->n; scope++)
        if (scopes_own(e->scopes, scope) == scope)
            take_scope(e, scope, seconds);
}

// ---- answers ----

const char *estimate_quality_name(enum estimate_quality quality) {
    static const char *const names[] = {"none", "good", "fair", "poor"};
    return names[quality];
}

// An only socket shares the host's spread.
static const struct estimate_spread *spread_of(const struct estimate *e, size_t scope, size_t metric) {
    return estimate_spreads_at(e->spreads, scopes_own(e->scopes, scope), metric);
}

// How many cores of equal variance would contribute as much, by Satterthwaite (1946): a squared normal variable has a
// mean square of three times its squared mean.
static double cores_of(const struct estimate *e, size_t scope, const struct estimate_sample *mean) {
    double cores = (double)scopes_n_cores(e->scopes, scope);
    return mean->squares > 0 ? fmin(3 * mean->variance * mean->variance / mean->squares, cores) : cores;
}

// False for what counts all the time, in idle pieces too.
static bool misses_pieces(const struct estimate *e, const struct estimate_sample *mean) {
    double idle = plan_idle_share(e->plan);
    return idle > 0 && mean->uncovered > idle / 2;
}

// The variance of a round by what its cores have in common: nobody sees what happens in an idle piece. If they all do
// the same, the sum of the cores is the residual of one population, of which the idle share is unseen. But pieces lie
// in each part of a round, and follow a slow load better than a few slots do. So it is at most what one core would have
// that counts in every slot, with the spread of theirs: the variance of their sum, if they are in step, by the number
// of slots in as much time as is idle.
static double common_of(const struct estimate *e, size_t scope, const struct estimate_sample *mean) {
    double covered = 1 - mean->uncovered;
    if (!(mean->common > 0 && misses_pieces(e, mean)))
        return 0;
    return fmin(mean->common,
                cores_of(e, scope, mean) * mean->variance / mean->uncovered * covered * plan_idle_share(e->plan));
}

// n differences between n + 1 successive values have 2 n^2 / (3 n - 1) degrees of freedom, because neighbours share a
// value (von Neumann et al., "The mean square successive difference", 1941). Cores with equal variance multiply this by
// their number, and what they have in common is one draw a round. There are not more than the windows have that carry
// the counts.
double estimate_degrees(const struct estimate *e, size_t scope, size_t metric) {
    const struct estimate_spread *spread = spread_of(e, scope, metric);
    if (spread->rounds == 0)
        return 0;
    double n = 1 / spread->weights2, one = 2 * n * n / (3 * n - 1), variance = spread->mean.variance;
    double degrees = one * cores_of(e, scope, &spread->mean), common = common_of(e, scope, &spread->mean);
    if (common > 0)
        degrees = (variance + common) * (variance + common) / (variance * variance / degrees + common * common / one);
    return fmin(degrees, spread->mean.unseen.windows - 1);
}

static bool is_share(const struct catalog_metric *metric) {
    return metric->domain == METRIC_PIPELINE_SLOTS || metric->domain == METRIC_CLOCKS;
}

// The least standard error of a round, in the exported scale.
static double resolution_of(const struct catalog_metric *metric, double value) {
    return is_share(metric) ? RESOLUTION_SHARE : RESOLUTION_RELATIVE * fabs(value);
}

static enum estimate_quality quality_of(const struct catalog_metric *metric, double value, double half) {
    bool share = is_share(metric);
    double good = share ? 0.01 : 0.05 * fabs(value), fair = share ? 0.03 : 0.2 * fabs(value);
    return half <= good ? ESTIMATE_GOOD : half <= fair ? ESTIMATE_FAIR : ESTIMATE_POOR;
}

struct estimate_interval estimate_get(const struct estimate *e, size_t scope, size_t metric, double value,
                                      double rounds) {
    const struct estimate_spread *spread = spread_of(e, scope, metric);
    const struct estimate_sample *mean = &spread->mean;
    const struct catalog_metric *catalog_metric = &e->plan->catalog->metrics[e->plan->metrics[metric].metric];
    struct estimate_interval interval = {NAN, NAN, NAN, ESTIMATE_NONE};
    double windows = mean->unseen.windows;
    if (spread->rounds == 0 || !isfinite(value) || !isfinite(mean->variance) || windows < WINDOWS_MIN)
        return interval;
    double stretch = rounds > 1 ? 1 : mean->stretch, floor = mean->floor;
    double by_chance = (mean->variance + common_of(e, scope, mean)) / rounds * stretch * stretch;
    double unseen = (rounds > 1 ? mean->unseen.mean : mean->unseen.round) * value / catalog_metric->export_scale;
    double variance = by_chance + floor * floor + unseen * unseen;
    interval.standard_error = sqrt(variance) * fabs(catalog_metric->export_scale);
    if (misses_pieces(e, mean) && scopes_n_cores(e->scopes, scope) > 1)
        interval.standard_error = fmax(interval.standard_error, resolution_of(catalog_metric, value) / sqrt(rounds));
    // only the part estimated from differences has few degrees of freedom (Satterthwaite)
    double sure = by_chance > 0 ? variance / by_chance : INFINITY;
    double half = interval.standard_error * student_95(estimate_degrees(e, scope, metric) * sure * sure);
    interval.low = catalog_metric->formula->is_ratio && value >= 0 ? fmax(value - half, 0) : value - half;
    interval.high = value + half;
    interval.quality = quality_of(catalog_metric, value, half);
    return interval;
}
