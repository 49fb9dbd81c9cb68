// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/student.h"
#include "core/estimate/estimate_means.h"
#include "core/estimate/estimate_spread.h"
#include "core/estimate/estimate_terms.h"
#include "core/estimate/estimate_unseen.h"

// Creates an estimate, takes rounds in, and answers. A round passes through three types: rounds (each CPU's counts,
// extrapolated), then batch by batch of scopes means (the points of the derivatives), and metric by metric terms (how
// far residuals differ from those of the previous round). The estimate keeps a spread for each scope and metric.

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
    struct estimate_point *at; // a batch's means
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
    size_t batches = estimate_batches(topology), blocks = lanes_blocks(topology->n_cpus);
    e->rounds = estimate_rounds_new(e->rows, topology->n_cpus);
    e->means = estimate_means_new(e->rows, batches);
    e->sizes = estimate_sizes_new(e->rows, batches, blocks);
    e->cores = estimate_cores_new(topology);
    e->terms = estimate_terms_new(e->rows, blocks);
    e->at = estimate_point_new(e->rows);
    e->spreads = estimate_spreads_new(batches, plan->n_metrics);
    return e->rounds && e->means && e->sizes && e->cores && e->terms && e->at && e->spreads ? e : estimate_free(e);
}

struct estimate *estimate_free(struct estimate *e) {
    if (!e)
        return NULL;
    estimate_spreads_free(e->spreads);
    estimate_point_free(e->at);
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

static void take_metric(struct estimate *e, const struct estimate_batch *batch, size_t m) {
    const struct plan_metric *metric = &e->plan->metrics[m];
    const struct lanes *mean = estimate_means_row(e->means, batch->index);
    struct estimate_unseen unseen = {lanes_all(0), lanes_all(0)};
    estimate_point_fill(e->at, e->plan->catalog->metrics[metric->metric].formula, metric->unit, mean);
    if (metric->unit >= 0)
        unseen = estimate_sizes_unseen(e->sizes, (size_t)metric->unit);
    struct lanes data = estimate_terms_take(e->terms, batch, m, e->at, mean, unseen);
    struct estimate_sample sample = estimate_terms_sample(e->terms, batch, m);
    estimate_spread_move(estimate_spreads_at(e->spreads, batch->index, m), &sample, &data, e->memory_rounds);
}

static void take_batch(struct estimate *e, size_t index, double seconds) {
    size_t first = scope_of_cpu(e->scopes->topology, 0);
    struct estimate_batch batch = {.index = index,
                                   .of_cpus = index >= first,
                                   .rounds = e->rounds,
                                   .cores = e->cores,
                                   .memory_rounds = e->memory_rounds};
    if (batch.of_cpus)
        batch.block = index - first;
    else
        batch.in = scopes_cpus(e->scopes, index);
    estimate_means_move(e->means, &batch);
    estimate_sizes_take_batch(e->sizes, &batch);
    estimate_point_begin(e->at, e->scopes->topology, &batch, seconds);
    for (size_t i = 0; i < e->plan->n_metrics; i++)
        if (plan_metric_planned(&e->plan->metrics[e->plan->evaluation[i]]))
            take_metric(e, &batch, e->plan->evaluation[i]);
}

void estimate_take_round(struct estimate *e, const struct cells *cells, double seconds) {
    assert(cells->rows->n_values == e->rows->n_values);
    if (!(seconds > 0))
        return;
    estimate_rounds_take(e->rounds, cells, seconds);
    estimate_sizes_take_round(e->sizes, e->rounds);
    for (size_t index = 0, n = estimate_batches(e->scopes->topology); index < n; index++)
        if (scopes_own(e->scopes, index) == index) // batches of CPUs come later than all sockets
            take_batch(e, index, seconds);
}

// ---- answers ----

const char *estimate_quality_name(enum estimate_quality quality) {
    static const char *const names[] = {"none", "good", "fair", "poor"};
    return names[quality];
}

// One scope's part of a spread.
struct spread {
    double rounds, weights2, variance, squares, floor, stretch, unseen_round, unseen_mean;
};

// An only socket shares the host's spread.
static struct spread spread_of(const struct estimate *e, size_t scope, size_t metric) {
    const struct topology *topology = e->scopes->topology;
    size_t own = scopes_own(e->scopes, scope), l = estimate_lane_of(topology, own);
    const struct estimate_spread *of = estimate_spreads_at(e->spreads, estimate_batch_of(topology, own), metric);
    return (struct spread){.rounds = of->rounds.of[l],
                           .weights2 = of->weights2.of[l],
                           .variance = of->mean.variance.of[l],
                           .squares = of->mean.squares.of[l],
                           .floor = of->mean.floor.of[l],
                           .stretch = of->mean.stretch.of[l],
                           .unseen_round = of->mean.unseen.round.of[l],
                           .unseen_mean = of->mean.unseen.mean.of[l]};
}

// n differences between n + 1 successive values have 2 n^2 / (3 n - 1) degrees of freedom, because neighbours share a
// value (von Neumann et al., "The mean square successive difference", 1941). Cores with equal variance multiply this by
// their number (Satterthwaite 1946); a squared normal variable has a mean square of three times its squared mean.
static double degrees_of(const struct spread *spread, double cores) {
    if (spread->rounds == 0)
        return 0;
    double n = 1 / spread->weights2, one = 2 * n * n / (3 * n - 1);
    double variance = spread->variance, squares = spread->squares;
    double carried = squares > 0 ? 3 * variance * variance / squares : cores;
    return one * fmin(carried, cores);
}

double estimate_degrees(const struct estimate *e, size_t scope, size_t metric) {
    struct spread spread = spread_of(e, scope, metric);
    return degrees_of(&spread, (double)scopes_n_cores(e->scopes, scope));
}

static enum estimate_quality quality_of(const struct catalog_metric *metric, double value, double half) {
    bool share = metric->domain == METRIC_PIPELINE_SLOTS || metric->domain == METRIC_CLOCKS;
    double good = share ? 0.01 : 0.05 * fabs(value), fair = share ? 0.03 : 0.2 * fabs(value);
    return half <= good ? ESTIMATE_GOOD : half <= fair ? ESTIMATE_FAIR : ESTIMATE_POOR;
}

struct estimate_interval estimate_get(const struct estimate *e, size_t scope, size_t metric, double value,
                                      double rounds) {
    struct spread spread = spread_of(e, scope, metric);
    const struct catalog_metric *catalog_metric = &e->plan->catalog->metrics[e->plan->metrics[metric].metric];
    struct estimate_interval interval = {NAN, NAN, NAN, ESTIMATE_NONE};
    if (spread.rounds == 0 || !isfinite(value) || !isfinite(spread.variance))
        return interval;
    double stretch = rounds > 1 ? 1 : spread.stretch, by_chance = spread.variance / rounds, floor = spread.floor;
    by_chance *= stretch * stretch;
    double unseen = (rounds > 1 ? spread.unseen_mean : spread.unseen_round) * value / catalog_metric->export_scale;
    double variance = by_chance + floor * floor + unseen * unseen;
    interval.standard_error = sqrt(variance) * fabs(catalog_metric->export_scale);
    // only the part estimated from differences has few degrees of freedom (Satterthwaite)
    double sure = by_chance > 0 ? variance / by_chance : INFINITY;
    double half = interval.standard_error *
                  student_95(degrees_of(&spread, (double)scopes_n_cores(e->scopes, scope)) * sure * sure);
    interval.low = catalog_metric->formula->is_ratio && value >= 0 ? fmax(value - half, 0) : value - half;
    interval.high = value + half;
    interval.quality = quality_of(catalog_metric, value, half);
    return interval;
}
