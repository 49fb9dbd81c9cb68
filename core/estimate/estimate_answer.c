// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "core/base/student.h"
#include "core/estimate/estimate_private.h"
#include "core/estimate/estimate_within.h"
#include "core/plan/schedule.h"

// What an estimate answers: intervals, and what they rest on.

// By how much the share of a category may differ in a piece in which everything differs by its own size
// (ESTIMATE_PIECE_RELATIVE): 4 points where another metric may differ by a fifth.
static const double PIECE_SHARE = 0.2;

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
    const struct lanes *held;                 // above 0: the core is held while it sleeps; NULL: several cores
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
                          .strata = estimate_strata_difference(e->strata, metric),
                          .held = together ? NULL : &e->rounds->held[batch - scope_of_cpu(e->scopes->topology, 0)]};
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

// ---- what an interval comes from ----

// Fewer differences than these tell little by themselves, whatever carries them.
static const double FEW_DIFFERENCES = 5;

// Why few degrees of freedom tell a variance.
static enum estimate_doubt few_of(const struct known *known, size_t l) {
    double differences = 1 / known->spread->weights2.of[l];
    if (known->held && known->held->of[l] > 0)
        return ESTIMATE_SLEPT;
    if (known->spread->unseen.windows.of[l] - 1 < differences)
        return ESTIMATE_FEW_WINDOWS;
    return differences < FEW_DIFFERENCES ? ESTIMATE_FEW_ROUNDS : ESTIMATE_FEW_CARRY;
}

// Why a value has no interval.
static enum estimate_doubt none_of(const struct known *known, size_t l) {
    if (known->held && known->held->of[l] > 0)
        return ESTIMATE_SLEPT;
    return known->spread->rounds.of[l] > 0 ? ESTIMATE_FEW_WINDOWS : ESTIMATE_FEW_ROUNDS;
}

// The variance of the errors that no time averages out, in the exported scale. Writes which of them is the largest.
static double kept_of(const struct known *known, size_t l, bool one_round, double value, double scale,
                      enum estimate_doubt *largest) {
    const struct estimate_unseen *of = &known->spread->unseen;
    double rounded = known->floor ? known->floor->of[l] * scale : 0,
           missed = (one_round ? of->round.of[l] : of->mean.of[l]) * value,
           mixed = (one_round ? of->round_strata.of[l] : of->mean_strata.of[l]) * known->strata * scale;
    double rounded2 = rounded * rounded, missed2 = missed * missed, mixed2 = mixed * mixed,
           most = fmax(rounded2, fmax(missed2, mixed2));
    *largest = !(most > 0)        ? ESTIMATE_SURE
               : most == mixed2   ? ESTIMATE_SLEPT
               : most == rounded2 ? ESTIMATE_ROUNDED
                                  : ESTIMATE_MISSED;
    return rounded2 + missed2 + mixed2;
}

static struct estimate_intervals no_intervals(void) {
    return (struct estimate_intervals){lanes_all(NAN), lanes_all(NAN), lanes_all(NAN), lanes_all(ESTIMATE_NONE),
                                       lanes_all(ESTIMATE_SURE)};
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

// Few intervals are poor: they are looked at one by one.
static void judge_poor(const struct known *known, const struct catalog_metric *metric, const struct lanes *values,
                       bool one_round, size_t l, double factor, struct estimate_intervals *out) {
    double scale = metric->export_scale, half = out->high.of[l] - values->of[l], error = out->standard_error.of[l];
    struct estimate_width width = {.half = half, .factor = factor, .from = {few_of(known, l), ESTIMATE_SURE}};
    width.kept = kept_of(known, l, one_round, values->of[l], scale, &width.from.kept);
    width.by_chance = error * error - width.kept;
    struct estimate_judgement judgement = estimate_judge(metric, values->of[l], &width);
    out->quality.of[l] = judgement.quality;
    out->doubt.of[l] = judgement.doubt;
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
        degrees.of[l] = half.of[l] * degrees.of[l] < least.of[l] * normal ? normal : degrees.of[l];
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
        out->doubt.of[l] = told ? ESTIMATE_SURE : none_of(&known, l);
    }
    for (size_t l = 0; l < LANES; l++)
        if (out->quality.of[l] == ESTIMATE_POOR ||
            (out->quality.of[l] != ESTIMATE_NONE && estimate_hardly_known(degrees.of[l])))
            judge_poor(&known, catalog_metric, values, rounds == 1, l, degrees.of[l], out);
}

void estimate_get_many(const struct estimate *e, size_t batch, size_t metric, const struct lanes *values,
                       struct estimate_many *out) {
    *out = (struct estimate_many){.variance = lanes_all(e->exact ? 0 : NAN), .degrees = lanes_all(INFINITY)};
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
        double variance = (spread->variance.of[l] * apart_of(&known, l) + common.of[l]) * known.shape;
        bool told = spread->rounds.of[l] > 0 && isfinite(values->of[l]) && spread->unseen.windows.of[l] > 0;
        out->variance.of[l] = told ? (variance + spread->within.of[l]) * scale * scale : NAN;
        out->from[l].few = told ? few_of(&known, l) : none_of(&known, l);
        out->kept.of[l] = sqrt(kept_of(&known, l, false, values->of[l], scale, &out->from[l].kept));
    }
}

struct estimate_width estimate_width_of_many(const struct estimate_rounds_of *of, double rounds) {
    double by_chance = of->variance / rounds, kept = of->kept * of->kept, variance = by_chance + kept;
    double sure = by_chance > 0 ? variance / by_chance : INFINITY; // as in errors_of
    double factor = student_95(of->degrees * sure * sure), normal = student_95(INFINITY);
    double told = factor * sqrt(variance), least = normal * of->least / sqrt(rounds);
    struct estimate_width width = {told < least ? least : told, told < least ? normal : factor, by_chance, kept,
                                   of->from};
    if (isnan(of->variance))
        width = (struct estimate_width){.half = NAN, .from = of->from};
    return width;
}

struct estimate_interval estimate_get(const struct estimate *e, size_t scope, size_t metric, double value,
                                      double rounds) {
    const struct topology *topology = e->scopes->topology;
    struct lanes values = lanes_all(value);
    struct estimate_intervals all;
    estimate_get_batch(e, scope_batch(topology, scope), metric, &values, rounds, &all);
    size_t l = scope_lane(topology, scope);
    return (struct estimate_interval){all.standard_error.of[l], all.low.of[l], all.high.of[l],
                                      (enum estimate_quality)all.quality.of[l], (enum estimate_doubt)all.doubt.of[l]};
}
