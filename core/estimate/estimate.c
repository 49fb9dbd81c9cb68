// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/prefetch.h"
#include "core/base/student.h"
#include "core/estimate/estimate_means.h"
#include "core/estimate/estimate_shape.h"
#include "core/estimate/estimate_shared.h"
#include "core/estimate/estimate_spread.h"
#include "core/estimate/estimate_steps.h"
#include "core/estimate/estimate_strata.h"
#include "core/estimate/estimate_terms.h"
#include "core/estimate/estimate_unseen.h"
#include "core/estimate/estimate_within.h"
#include "core/plan/schedule.h"

// By how much the share of a category may differ in a piece in which everything differs by its own size
// (ESTIMATE_PIECE_RELATIVE): 4 points where another metric may differ by a fifth.
static const double PIECE_SHARE = 0.2;

// Creates an estimate, takes rounds in, and answers. A round passes through three types: rounds (each CPU's counts,
// extrapolated), then batch by batch of scopes means (the points of the derivatives), and metric by metric terms (how
// far residuals differ from those of the previous round). The estimate keeps a spread for each scope and metric.

struct estimate {
    const struct plan *plan;
    struct rows *rows;
    struct scopes *scopes;
    double memory_rounds;
    double seconds; // of the round taken in
    bool exact;     // nothing rotates and nothing takes a counter: the counts are the truth, and what follows is NULL
    bool wants_cpus;
    uint64_t rounds_of_cpus; // since they are wanted
    struct estimate_rounds *rounds;
    struct estimate_dither *dither;
    struct estimate_shape *shape;
    struct estimate_means *means;
    struct estimate_sizes *sizes;
    struct estimate_strata *strata;
    struct estimate_shared *shared;
    struct estimate_cores *cores;
    struct estimate_steps *steps;
    struct estimate_terms *terms;
    struct operand_lanes *at; // a batch's means
    struct estimate_spreads *spreads;
};

// ---- making ----

struct estimate *estimate_new(const struct plan *plan, const struct topology *topology, double memory_rounds) {
    struct estimate *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (struct estimate){.plan = plan, .memory_rounds = memory_rounds, .wants_cpus = true};
    e->rows = rows_new(plan);
    e->scopes = scopes_new(topology);
    if (!e->rows || !e->scopes)
        return estimate_free(e);
    e->exact = !topology->boxes && plan_n_rotating(plan) == 0;
    if (e->exact)
        return e;
    size_t batches = scope_batches(topology), blocks = lanes_blocks(topology->n_cpus);
    e->rounds = estimate_rounds_new(e->rows, topology->n_cpus);
    e->dither = estimate_dither_new(e->rows, topology->n_cpus, memory_rounds);
    e->shape = estimate_shape_new(e->rows, e->scopes, memory_rounds);
    e->means = estimate_means_new(e->rows, batches);
    e->sizes = estimate_sizes_new(e->rows, batches, blocks);
    e->strata = estimate_strata_new(e->rows);
    e->shared = estimate_shared_new(e->rows, topology->n_cpus);
    e->cores = estimate_cores_new(topology);
    e->steps = estimate_steps_new(plan, topology);
    e->terms = e->shared ? estimate_terms_new(e->rows, e->shared, blocks) : NULL;
    e->at = operand_lanes_new(e->rows);
    e->spreads =
        estimate_spreads_new(batches, scope_of_cpu(topology, 0), plan->n_metrics, estimate_terms_floors(plan->catalog));
    return e->rounds && e->dither && e->shape && e->means && e->sizes && e->strata && e->cores && e->steps &&
                   e->terms && e->at && e->spreads
               ? e
               : estimate_free(e);
}

struct estimate *estimate_free(struct estimate *e) {
    if (!e)
        return NULL;
    estimate_spreads_free(e->spreads);
    operand_lanes_free(e->at);
    estimate_terms_free(e->terms);
    estimate_steps_free(e->steps);
    estimate_cores_free(e->cores);
    estimate_shared_free(e->shared);
    estimate_strata_free(e->strata);
    estimate_sizes_free(e->sizes);
    estimate_means_free(e->means);
    estimate_shape_free(e->shape);
    estimate_dither_free(e->dither);
    estimate_rounds_free(e->rounds);
    scopes_free(e->scopes);
    rows_free(e->rows);
    free(e);
    return NULL;
}

void estimate_forget_unit(struct estimate *e, size_t cpu, size_t unit) {
    if (!e->exact)
        estimate_rounds_forget(e->rounds, cpu, unit);
}

void estimate_forget_cpu(struct estimate *e, size_t cpu) {
    for (size_t u = 0; u < e->plan->n_units; u++)
        estimate_forget_unit(e, cpu, u);
}

bool estimate_wants_batch(const struct estimate *e, size_t batch) {
    return e->wants_cpus || batch < scope_of_cpu(e->scopes->topology, 0);
}

void estimate_want_cpus(struct estimate *e, bool wanted) {
    size_t first = scope_of_cpu(e->scopes->topology, 0);
    if (wanted && !e->wants_cpus && !e->exact) {
        estimate_means_forget(e->means, first);
        estimate_sizes_forget(e->sizes, first);
        estimate_spreads_forget(e->spreads, first);
        e->rounds_of_cpus = 0;
    }
    e->wants_cpus = wanted;
}

// ---- a round ----

static void take_metric(struct estimate *e, const struct estimate_batch *batch, size_t m) {
    const struct estimate_unseen none = estimate_nothing_unseen();
    const struct plan_metric *metric = &e->plan->metrics[m];
    const struct lanes *mean = estimate_means_row(e->means, batch->index);
    const struct estimate_unseen *unseen =
        metric->unit >= 0 ? estimate_sizes_unseen(e->sizes, (size_t)metric->unit) : &none;
    struct lanes data;
    operand_lanes_fill(e->at, e->plan->catalog->metrics[metric->metric].formula, metric->unit, mean);
    const struct estimate_sample *sample = estimate_terms_take(e->terms, batch, m, e->at, e->means, unseen, &data);
    estimate_spreads_move(e->spreads, batch->index, m, sample, &data, e->memory_rounds);
}

// True if some CPU of the batch has two rounds of some unit to compare.
static bool has_differences(const struct estimate *e, const struct estimate_batch *batch) {
    struct estimate_part part;
    size_t at = 0;
    if (batch->first)
        return false;
    while (estimate_batch_next(batch, &at, &part))
        for (size_t u = 0; u < e->rows->n_units; u++)
            for (size_t l = 0; l < LANES; l++)
                if (estimate_rounds_cell(e->rounds, part.block, u)->covered.of[l] >= 0)
                    return true;
    return false;
}

// Asks for the memory of a batch of CPUs, if there is one.
static void prefetch_block(const struct estimate *e, size_t index, size_t block) {
    const struct estimate_rounds *rounds = e->rounds;
    if (block >= rounds->n_blocks)
        return;
    for (size_t u = 0; u < e->rows->n_units; u++) {
        size_t bytes = rows_n(e->rows, u) * sizeof(struct lanes);
        prefetch(estimate_rounds_now(rounds, block, u), bytes);
        prefetch(estimate_rounds_before(rounds, block, u), bytes);
        prefetch(estimate_rounds_cell(rounds, block, u), sizeof(struct estimate_cell));
    }
    prefetch(estimate_means_row(e->means, index), e->rows->n_values * sizeof(struct lanes));
    prefetch(estimate_sizes_row(e->sizes, index), e->rows->n_units * sizeof(struct estimate_size));
    prefetch(estimate_spreads_at(e->spreads, index, 0), e->plan->n_metrics * sizeof(struct estimate_spread));
}

void estimate_take_batch(struct estimate *e, size_t index) {
    size_t first = scope_of_cpu(e->scopes->topology, 0);
    if (e->exact || !(e->seconds > 0) || scopes_own(e->scopes, index) != index || !estimate_wants_batch(e, index))
        return;
    struct estimate_batch batch = {.index = index,
                                   .of_cpus = index >= first,
                                   .first = index >= first && e->rounds_of_cpus == 1,
                                   .rounds = e->rounds,
                                   .dither = e->dither,
                                   .cores = e->cores,
                                   .steps = e->steps,
                                   .memory_rounds = e->memory_rounds};
    if (batch.of_cpus)
        batch.block = index - first;
    else
        batch.in = scopes_cpus(e->scopes, index);
    estimate_means_move(e->means, &batch);
    if (!batch.of_cpus)
        estimate_steps_begin(e->steps, batch.in);
    estimate_shared_take_batch(e->shared, &batch, e->means);
    estimate_sizes_take_batch(e->sizes, &batch, e->strata);
    if (!has_differences(e, &batch))
        return;
    if (batch.of_cpus)
        prefetch_block(e, index + 1, batch.block + 1); // it has differences, too
    operand_lanes_begin(e->at, e->seconds, !batch.of_cpus && topology_whole_cores(e->scopes->topology, index));
    for (size_t i = 0; i < e->plan->n_metrics; i++)
        if (plan_metric_planned(&e->plan->metrics[e->plan->evaluation[i]]))
            take_metric(e, &batch, e->plan->evaluation[i]);
}

void estimate_take_cpus(struct estimate *e, const struct cells *cells, double seconds) {
    assert(cells->rows->n_values == e->rows->n_values);
    e->seconds = seconds;
    if (e->exact || !(seconds > 0))
        return;
    e->rounds_of_cpus += e->wants_cpus;
    estimate_rounds_take(e->rounds, cells, seconds);
    estimate_dither_take_round(e->dither, cells);
    estimate_shape_take_round(e->shape, cells);
    estimate_steps_take_round(e->steps, cells);
    estimate_strata_take_round(e->strata, e->rounds, e->memory_rounds);
    estimate_shared_take_round(e->shared, e->rounds, cells, e->memory_rounds);
    estimate_sizes_take_round(e->sizes, e->rounds, e->strata);
}

void estimate_take_round(struct estimate *e, const struct cells *cells, double seconds) {
    estimate_take_cpus(e, cells, seconds);
    for (size_t batch = 0, n = scope_batches(e->scopes->topology); batch < n; batch++)
        estimate_take_batch(e, batch);
}

// ---- answers ----

const char *estimate_quality_name(enum estimate_quality quality) {
    static const char *const names[] = {"none", "good", "fair", "poor"};
    return names[quality];
}

// What is known of a metric in a batch.
struct known {
    const struct estimate_spread *spread;
    const struct estimate_together *together; // NULL: single CPUs
    const struct lanes *floor;                // NULL: none
    double idle;                              // share of a round
    double shorter;                           // how many times as short an idle piece is as a slot, at least 1
    double cores;                             // in a scope
    double shape;                             // factor of the variance of what idle pieces hide; 1: nothing is known
    bool within;                              // compared within rounds
    double piece;                             // how much a piece may differ from the rest, relative
    double strata;                            // the metric's difference between them, in the formula's scale
};

static struct known known_of(const struct estimate *e, size_t batch, size_t metric) {
    size_t own = scopes_own(e->scopes, batch); // an only socket shares the host's; batches of CPUs are themselves
    const struct estimate_together *together = estimate_spreads_together(e->spreads, own, metric);
    return (struct known){.spread = estimate_spreads_at(e->spreads, own, metric),
                          .together = together,
                          .floor = estimate_spreads_floor(e->spreads, own, metric),
                          .idle = together ? plan_idle_share(e->plan) : 0,
                          .shorter = estimate_shorter_of(e->plan),
                          .cores = together ? (double)scopes_n_cores(e->scopes, own) : 1,
                          .shape = estimate_shape_ratio(e->shape, metric),
                          .within = estimate_shape_knows(e->shape, metric),
                          .piece = together ? estimate_shape_piece(e->shape, own, metric) : 0,
                          .strata = estimate_strata_difference(e->strata, metric)};
}

// How many of these cores, if they were of equal variance, would contribute as much (Satterthwaite 1946); a squared
// normal variable has a mean square of three times its squared mean.
static double carried_by(double cores, double variance, double squares) {
    double carried = 3 * variance * variance / squares;
    return squares > 0 && carried < cores ? carried : cores;
}

// The variance of a round by what its cores have in common: nobody sees what happens in an idle piece. If they all do
// the same, it is what one core has that counts in every slot, with the spread of theirs: the variance of their sum, if
// they are in step, by the number of slots in as much time as is idle. The part of their variance that blocks of cores
// do not have tells how far they are in step. If there are too few cores for that, it is at least the idle share of
// what their sum differs more between rounds, as if it were the residual of one population.
static struct lanes common_of(const struct known *known) {
    const struct estimate_together *together = known->together;
    double idle = known->idle, cores = known->cores;
    struct lanes common = lanes_all(0);
    if (cores == 1 || idle == 0)
        return common;
    for (size_t l = 0; l < LANES; l++) {
        double uncovered = together->uncovered.of[l], variance = known->spread->variance.of[l];
        double carried = carried_by(cores, variance, known->spread->squares.of[l]);
        double most = carried * variance / uncovered * (1 - uncovered) * idle;
        double shown = variance > 0 ? together->alike.of[l] / variance * most : 0;
        shown = lanes_max(shown, together->common.of[l]);
        shown = shown < most || uncovered <= 2 * idle ? shown : most; // every slot measures it: the sum shows all
        shown = lanes_max(shown, 0) + estimate_hidden_of(together, l, known->shorter);
        common.of[l] = uncovered > idle / 2 ? shown : 0; // what counts all the time counts in pieces, too
    }
    return common;
}

// The part of the variance that is of errors of the cores' sum. Two parts are not. What all cores of a cohort do at
// once from one round to the next is a change of the load. And together the cores of a block see each group at every
// time of the round, so what they do in step is balanced; that part is left out as far as it is sure, less its own
// standard error with so many rounds and two blocks. Cores beyond whole blocks keep theirs.
static double apart_of(const struct known *known, size_t l) {
    const struct estimate_together *together = known->together;
    double variance = known->spread->variance.of[l];
    if (!together || !(variance > 0))
        return 1;
    double rest = 1 - together->change.of[l] / variance;
    rest = rest < 1 ? lanes_max(rest, 0) : 1;
    double balanced = together->balanced.of[l] / variance - 2 * rest * sqrt(2 * known->spread->weights2.of[l]);
    balanced = balanced < rest ? lanes_max(balanced, 0) : rest;
    return rest - balanced * together->whole.of[l];
}

// n differences between n + 1 successive values have 2 n^2 / (3 n - 1) degrees of freedom, because neighbours share a
// value (von Neumann et al., "The mean square successive difference", 1941). Cores with equal variance multiply this by
// their number, and what they have in common is one draw a round. There are not more than the windows have that carry
// the counts.
static struct lanes degrees_of(const struct known *known, const struct lanes *common, bool one_round) {
    const struct estimate_spread *spread = known->spread;
    double cores = known->cores;
    struct lanes one, degrees;
    for (size_t l = 0; l < LANES; l++) {
        double n = 1 / spread->weights2.of[l];
        one.of[l] = known->within ? n : 2 * n * n / (3 * n - 1);
        degrees.of[l] = one.of[l] * carried_by(cores, spread->variance.of[l], spread->squares.of[l]);
    }
    for (size_t l = 0; l < LANES && cores > 1; l++) {
        double variance = spread->variance.of[l], shared = common->of[l], both = variance + shared;
        if (shared > 0)
            degrees.of[l] = both * both / (variance * variance / degrees.of[l] + shared * shared / one.of[l]);
    }
    for (size_t l = 0; l < LANES; l++) {
        double windows = spread->unseen.windows.of[l],
               rest = spread->variance.of[l] * apart_of(known, l) + common->of[l];
        degrees.of[l] = windows - 1 < degrees.of[l] ? windows - 1 : degrees.of[l];
        struct estimate_freedom within = estimate_within_of(spread, l, one_round);
        degrees.of[l] = estimate_freedom_of(rest, degrees.of[l], &within);
        degrees.of[l] = spread->rounds.of[l] > 0 ? degrees.of[l] : 0;
    }
    return degrees;
}

double estimate_degrees(const struct estimate *e, size_t scope, size_t metric) {
    const struct topology *topology = e->scopes->topology;
    if (e->exact)
        return INFINITY;
    struct known known = known_of(e, scope_batch(topology, scope), metric);
    struct lanes common = common_of(&known);
    return estimate_wants_batch(e, scope_batch(topology, scope))
               ? degrees_of(&known, &common, true).of[scope_lane(topology, scope)]
               : 0;
}

// The least standard errors of so many rounds, in the exported scale: those of the idle share by its pieces together.
static struct lanes resolution_of(const struct estimate *e, const struct known *known,
                                  const struct catalog_metric *metric, const struct lanes *values, double rounds) {
    double part;
    struct lanes least = lanes_all(0);
    if (known->idle == 0 || known->cores == 1)
        return least;
    part = known->idle / sqrt(schedule_usual_pieces(e->plan) * rounds);
    for (size_t l = 0; l < LANES; l++) {
        double resolution = known->piece * (metric->domain != METRIC_OTHER ? PIECE_SHARE : fabs(values->of[l]));
        least.of[l] = known->together->uncovered.of[l] > known->idle / 2 ? resolution * part : 0;
    }
    return least;
}

enum estimate_quality estimate_quality_of(const struct catalog_metric *metric, double value, double half) {
    bool share = metric->domain != METRIC_OTHER;
    double good = share ? 0.01 : 0.05 * fabs(value), fair = share ? 0.03 : 0.2 * fabs(value);
    if (isnan(half))
        return ESTIMATE_NONE;
    return half <= good ? ESTIMATE_GOOD : half <= fair ? ESTIMATE_FAIR : ESTIMATE_POOR;
}

// The standard errors of `rounds` rounds before their least, in the formula's scale. Raises the degrees of freedom.
static struct lanes errors_of(const struct known *known, const struct lanes *common, const struct lanes *values,
                              double rounds, double scale, struct lanes *degrees) {
    const struct estimate_spread *spread = known->spread;
    const struct lanes *missed = rounds > 1 ? &spread->unseen.mean : &spread->unseen.round, *floor = known->floor;
    const struct lanes *strata = rounds > 1 ? &spread->unseen.mean_strata : &spread->unseen.round_strata;
    struct lanes by_chance, variance, sure; // only the part estimated from differences has few degrees of freedom
    for (size_t l = 0; l < LANES; l++) {
        double stretch = rounds > 1 ? 1 : spread->stretch.of[l];
        double within = estimate_within_of(spread, l, rounds == 1).variance;
        by_chance.of[l] = ((spread->variance.of[l] * apart_of(known, l) + common->of[l]) * known->shape + within) *
                          (stretch * stretch);
    }
    for (size_t l = 0; l < LANES && rounds > 1; l++)
        by_chance.of[l] /= rounds;
    variance = by_chance;
    sure = lanes_all(1);
    if (floor || lanes_some(missed) || known->strata > 0) {
        for (size_t l = 0; l < LANES; l++) {
            double fixed = floor ? floor->of[l] : 0, unseen = missed->of[l] * values->of[l] / scale;
            double mixed = strata->of[l] * known->strata;
            variance.of[l] = by_chance.of[l] + fixed * fixed + unseen * unseen + mixed * mixed;
            sure.of[l] = variance.of[l] / by_chance.of[l]; // Satterthwaite
        }
    }
    for (size_t l = 0; l < LANES; l++) {
        double more = by_chance.of[l] > 0 ? sure.of[l] : INFINITY;
        degrees->of[l] = degrees->of[l] * more * more;
        variance.of[l] = sqrt(variance.of[l]);
    }
    return variance;
}

static struct estimate_intervals no_intervals(void) {
    return (struct estimate_intervals){lanes_all(NAN), lanes_all(NAN), lanes_all(NAN), lanes_all(ESTIMATE_NONE)};
}

static struct estimate_intervals exact_intervals(const struct lanes *values) {
    struct estimate_intervals exact = no_intervals();
    for (size_t l = 0; l < LANES; l++)
        if (isfinite(values->of[l])) {
            exact.standard_error.of[l] = 0;
            exact.low.of[l] = exact.high.of[l] = values->of[l];
            exact.quality.of[l] = ESTIMATE_GOOD;
        }
    return exact;
}

void estimate_get_batch(const struct estimate *e, size_t batch, size_t metric, const struct lanes *values,
                        double rounds, struct estimate_intervals *out) {
    if (!estimate_wants_batch(e, batch) || e->exact) {
        *out = e->exact ? exact_intervals(values) : no_intervals();
        return;
    }
    struct known known = known_of(e, batch, metric);
    const struct estimate_spread *spread = known.spread;
    const struct catalog_metric *catalog_metric = &e->plan->catalog->metrics[e->plan->metrics[metric].metric];
    bool from_zero = catalog_metric->formula->is_ratio;
    double scale = catalog_metric->export_scale;
    struct lanes common = common_of(&known), degrees = degrees_of(&known, &common, rounds == 1), half;
    struct lanes least = resolution_of(e, &known, catalog_metric, values, rounds);
    struct lanes errors = errors_of(&known, &common, values, rounds, scale, &degrees);
    double normal = known.cores > 1 ? student_95(INFINITY) : 0; // else nothing is least
    degrees = student_95_lanes(&degrees);
    for (size_t l = 0; l < LANES; l++) {
        half.of[l] = errors.of[l] * fabs(scale);
        out->standard_error.of[l] = lanes_max(least.of[l], half.of[l]);
        half.of[l] = lanes_max(least.of[l] * normal, half.of[l] * degrees.of[l]);
    }
    for (size_t l = 0; l < LANES; l++)
        out->quality.of[l] = estimate_quality_of(catalog_metric, values->of[l], half.of[l]);
    for (size_t l = 0; l < LANES; l++) {
        double value = values->of[l], low = value - half.of[l];
        bool told = spread->rounds.of[l] > 0 && isfinite(value) && isfinite(spread->variance.of[l]);
        told = told && spread->unseen.windows.of[l] > 0;
        low = from_zero && value >= 0 ? lanes_max(low, 0) : low;
        out->standard_error.of[l] = told ? out->standard_error.of[l] : NAN;
        out->low.of[l] = told ? low : NAN;
        out->high.of[l] = told ? value + half.of[l] : NAN;
        out->quality.of[l] = told ? out->quality.of[l] : ESTIMATE_NONE;
    }
}

void estimate_get_many(const struct estimate *e, size_t batch, size_t metric, const struct lanes *values,
                       struct estimate_many *out) {
    *out = (struct estimate_many){lanes_all(e->exact ? 0 : NAN), lanes_all(0), lanes_all(INFINITY), lanes_all(0)};
    if (!estimate_wants_batch(e, batch) || e->exact)
        return;
    struct known known = known_of(e, batch, metric);
    const struct catalog_metric *catalog_metric = &e->plan->catalog->metrics[e->plan->metrics[metric].metric];
    const struct estimate_spread *spread = known.spread;
    double scale = catalog_metric->export_scale;
    struct lanes common = common_of(&known);
    out->degrees = degrees_of(&known, &common, false);
    out->least = resolution_of(e, &known, catalog_metric, values, 1);
    for (size_t l = 0; l < LANES; l++) {
        double floor = known.floor ? known.floor->of[l] * scale : 0, unseen = spread->unseen.mean.of[l] * values->of[l];
        double mixed = spread->unseen.mean_strata.of[l] * known.strata * scale;
        double variance = (spread->variance.of[l] * apart_of(&known, l) + common.of[l]) * known.shape;
        bool told = spread->rounds.of[l] > 0 && isfinite(values->of[l]) && spread->unseen.windows.of[l] > 0;
        out->variance.of[l] = told ? (variance + spread->within.of[l]) * scale * scale : NAN;
        out->kept.of[l] = sqrt(floor * floor + unseen * unseen + mixed * mixed);
    }
}

double estimate_half_of_many(const struct estimate_rounds_of *of, double rounds) {
    double by_chance = of->variance / rounds, variance = by_chance + of->kept * of->kept;
    double sure = by_chance > 0 ? variance / by_chance : INFINITY; // as in errors_of
    if (isnan(of->variance))
        return NAN;
    return lanes_max(student_95(of->degrees * sure * sure) * sqrt(variance),
                     student_95(INFINITY) * of->least / sqrt(rounds));
}

struct estimate_interval estimate_get(const struct estimate *e, size_t scope, size_t metric, double value,
                                      double rounds) {
    const struct topology *topology = e->scopes->topology;
    struct lanes values = lanes_all(value);
    struct estimate_intervals all;
    estimate_get_batch(e, scope_batch(topology, scope), metric, &values, rounds, &all);
    size_t l = scope_lane(topology, scope);
    return (struct estimate_interval){all.standard_error.of[l], all.low.of[l], all.high.of[l],
                                      (enum estimate_quality)all.quality.of[l]};
}
