// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/base/prefetch.h"
#include "core/estimate/estimate_slope.h"

enum { BLOCKS_AHEAD = 4 }; // prefetched: about as much work as the memory takes

// ---- making ----

static const struct formula *formula_of(const struct plan *plan, size_t metric) {
    return plan->catalog->metrics[plan->metrics[metric].metric].formula;
}

static size_t count_places(const struct plan *plan) {
    size_t n = 0;
    for (size_t m = 0; m < plan->n_metrics; m++)
        n += formula_of(plan, m)->n_variables;
    return n;
}

// True if another metric of the plan needs this one.
static bool is_needed(const struct plan *plan, size_t catalog_metric) {
    for (size_t m = 0; m < plan->n_metrics; m++)
        for (size_t i = 0; i < formula_of(plan, m)->n_metrics; i++)
            if (formula_of(plan, m)->metrics[i] == catalog_metric)
                return true;
    return false;
}

static size_t count_needed(const struct plan *plan) {
    size_t n = 0;
    for (size_t c = 0; c < plan->catalog->n_metrics; c++)
        n += is_needed(plan, c);
    return n;
}

static size_t most_steps(const struct plan *plan) {
    size_t most = 0;
    for (size_t m = 0; m < plan->n_metrics; m++)
        most = formula_of(plan, m)->n_steps > most ? formula_of(plan, m)->n_steps : most;
    return most;
}

static void lay_out(void *self, struct block *block) {
    struct estimate_terms *terms = self;
    const struct plan *plan = terms->rows->plan;
    size_t events = plan->catalog->n_events, metrics = plan->catalog->n_metrics;
    terms->places = block_take(block, count_places(plan), sizeof *terms->places);
    terms->first_place = block_take(block, plan->n_metrics, sizeof *terms->first_place);
    terms->terms = block_take(block, metrics, sizeof *terms->terms);
    terms->differences = block_take(block, count_needed(plan) * terms->n_blocks, sizeof *terms->differences);
    terms->needed = block_take(block, metrics, sizeof *terms->needed);
    terms->slopes = block_take(block, events + metrics, sizeof *terms->slopes);
    terms->nodes = block_take(block, most_steps(plan), sizeof *terms->nodes);
}

struct estimate_terms *estimate_terms_new(const struct rows *rows, const struct estimate_shared *shared,
                                          size_t n_blocks) {
    const struct plan *plan = rows->plan;
    struct estimate_terms terms = {.rows = rows, .n_blocks = n_blocks, .shared = shared};
    struct estimate_terms *made = block_new(&terms, sizeof terms, lay_out);
    size_t n = 0;
    for (size_t m = 0; made && m < plan->n_metrics; m++) {
        const struct formula *formula = formula_of(plan, m);
        int unit = plan->metrics[m].unit;
        made->first_place[m] = n;
        for (size_t i = 0; i < formula->n_variables; i++)
            made->places[n++] = unit >= 0 ? rows_place_in_unit(rows, (size_t)unit, formula->variables[i]) : 0;
    }
    for (size_t c = 0, needed = 0; made && c < plan->catalog->n_metrics; c++)
        made->needed[c] = is_needed(plan, c) ? ++needed : 0;
    return made;
}

struct estimate_terms *estimate_terms_free(struct estimate_terms *terms) {
    free(terms);
    return NULL;
}

// ---- a metric ----

// Others use a metric under its name, whichever definition counts.
static unsigned named(const struct plan *plan, size_t metric) {
    return catalog_metric_named(plan->catalog, plan->metrics[metric].metric);
}

static struct estimate_difference *difference_of(const struct estimate_terms *terms, size_t catalog_metric,
                                                 size_t block) {
    return &terms->differences[(terms->needed[catalog_metric] - 1) * terms->n_blocks + block];
}

// A field's place among the topdown events.
static size_t field_of(const struct catalog *catalog, unsigned event) {
    size_t i = 0;
    while (i + 1 < catalog->n_topdown && catalog->topdown[i] != event)
        i++;
    return i;
}

// The number of causes of errors that are the same in every window: each field's rounding, or the estimate of a core's
// pipeline slots and their division. A catalog has one or the other.
enum { CAUSE_SLOTS, CAUSE_SPLIT, CAUSES_OF_CORES };
static size_t n_causes(const struct catalog *catalog) {
    return catalog->level1.per_thread ? CAUSES_OF_CORES : catalog->n_topdown;
}

bool estimate_terms_floors(const struct catalog *catalog) { return n_causes(catalog) > 0; }

// The effect on a metric in the scopes if each core's pipeline slots, or their division, are off by a standard error.
static struct lanes core_error_of(const struct estimate_terms *terms, const struct lanes *sums,
                                  const struct formula *formula, int cause) {
    const struct rows *rows = terms->rows;
    const int *core_slots = rows->plan->catalog->core_slots;
    struct lanes errors[CORE_SLOTS_N], effect = lanes_all(0);
    bool split = cause == CAUSE_SPLIT;
    sums += rows_first(rows, (size_t)rows->core_unit) + rows_errors(rows);
    errors[CORE_SLOTS_FRONTEND] = sums[split ? ROWS_ERROR_SPLIT : ROWS_ERROR_FRONTEND];
    errors[CORE_SLOTS_BACKEND] = sums[split ? ROWS_ERROR_SPLIT : ROWS_ERROR_BACKEND];
    for (size_t l = 0; l < LANES; l++) {
        errors[CORE_SLOTS_BACKEND].of[l] *= split ? -1 : 1;
        errors[CORE_SLOTS_ALL].of[l] = errors[CORE_SLOTS_FRONTEND].of[l] + errors[CORE_SLOTS_BACKEND].of[l];
    }
    for (size_t i = 0; i < formula->n_variables; i++)
        for (size_t s = 0; s < CORE_SLOTS_N; s++)
            if ((int)formula->variables[i] == core_slots[s])
                lanes_add_product(&effect, &terms->slopes[i], &errors[s]);
    return effect;
}

// A step's standard error in a round of the scopes, of a field at this place of the unit: as far as it stays, and as
// far as it averages out over windows.
struct steps {
    struct lanes stays, varies;
};

static struct steps steps_of(const struct estimate_batch *batch, size_t unit, size_t place) {
    const struct lanes *rounding = &estimate_rounds_cell(batch->rounds, 0, unit)->rounding;
    const struct estimate_dither *dither = batch->dither;
    struct steps steps = {lanes_all(0), lanes_all(0)};
    struct estimate_part part;
    size_t at = 0;
    if (!estimate_dither_knows(dither, unit)) {
        steps.stays = estimate_batch_sum(batch, rounding, ESTIMATE_CELL_LANES);
        return steps;
    }
    while (estimate_batch_next(batch, &at, &part)) {
        struct lanes step = rounding[part.block * ESTIMATE_CELL_LANES];
        struct lanes kept = *estimate_dither_kept(dither, place, part.block), windows = dither->windows[part.block];
        for (size_t l = 0; l < LANES; l++) {
            double of = step.of[l] * part.in.of[l];
            steps.stays.of[l] += of * kept.of[l];
            steps.varies.of[l] += of * of * (1 - kept.of[l] * kept.of[l]) / windows.of[l];
        }
    }
    steps.stays = estimate_batch_join(batch, &steps.stays);
    steps.varies = estimate_batch_join(batch, &steps.varies);
    for (size_t l = 0; l < LANES; l++)
        steps.varies.of[l] = sqrt(steps.varies.of[l]);
    return steps;
}

// The effect of rounding on a metric in the scopes, field by field. A field is rounded the same way wherever it is
// read, so contributions of one field by several paths add up with their signs, and so do CPUs.
static void find_rounded(struct estimate_terms *terms, const struct estimate_batch *batch, const struct lanes *sums,
                         size_t index, const struct formula *formula) {
    const struct plan *plan = terms->rows->plan;
    const struct plan_metric *metric = &plan->metrics[index];
    const size_t *places = terms->places + terms->first_place[index];
    const struct catalog *catalog = plan->catalog;
    const struct lanes *slopes = terms->slopes;
    struct estimate_term *term = &terms->terms[catalog_metric_named(catalog, metric->metric)];
    size_t n = n_causes(catalog);
    if (n == 0)
        return; // never written
    memset(term->rounded, 0, n * sizeof *term->rounded);
    memset(term->varied, 0, n * sizeof *term->varied);
    for (int cause = 0; cause < CAUSES_OF_CORES && metric->unit == terms->rows->core_unit && metric->unit >= 0; cause++)
        term->rounded[cause] = core_error_of(terms, sums, formula, cause);
    for (size_t i = 0; i < formula->n_variables && metric->unit >= 0; i++) {
        if (places[i] == 0 || !plan_is_field(plan, formula->variables[i]))
            continue;
        size_t field = field_of(catalog, formula->variables[i]);
        struct steps steps = steps_of(batch, (size_t)metric->unit, places[i]);
        lanes_add_product(&term->rounded[field], &slopes[i], &steps.stays);
        lanes_add_product(&term->varied[field], &slopes[i], &steps.varies);
    }
    for (size_t i = 0; i < formula->n_metrics; i++) {
        const struct estimate_term *other = &terms->terms[formula->metrics[i]];
        const struct lanes *slope = &slopes[formula->n_variables + i];
        for (size_t f = 0; f < n; f++) {
            lanes_add_product(&term->rounded[f], slope, &other->rounded[f]);
            lanes_add_product(&term->varied[f], slope, &other->varied[f]);
        }
    }
}

// How much the metric changes with the event that its unit shares with others, in the scopes for which is known how
// much that is off.
static struct lanes beta_of(const struct estimate_terms *terms, size_t metric, const struct formula *formula) {
    const size_t *places = terms->places + terms->first_place[metric];
    int unit = terms->rows->plan->metrics[metric].unit;
    struct lanes beta = lanes_all(0);
    const struct estimate_in_common *common = unit >= 0 ? estimate_shared_of(terms->shared, (size_t)unit) : NULL;
    if (!common || common->place == 0)
        return beta;
    for (size_t i = 0; i < formula->n_variables; i++) {
        struct lanes slope =
            lanes_all(places[i] > 0 ? estimate_shared_slope(terms->shared, (size_t)unit, places[i]) : 0);
        lanes_add_product(&beta, &terms->slopes[i], &slope);
    }
    for (size_t l = 0; l < LANES; l++)
        beta.of[l] = isfinite(common->within.of[l]) ? beta.of[l] : 0;
    return beta;
}

// Leaves out of differences what the shared event explains. A difference that makes a part of the slope itself would be
// the larger without it.
static void leave_out_shared(const struct estimate_terms *terms, size_t unit, const struct lanes *now,
                             const struct lanes *before, struct lanes *difference) {
    const struct estimate_in_common *common = estimate_shared_of(terms->shared, unit);
    if (common->place == 0)
        return;
    for (size_t l = 0; l < LANES; l++) {
        double by = now[common->place].of[l] - before[common->place].of[l], made = by * by * common->weight;
        made = made < 0.5 ? made : 0.5;
        double rest = (difference->of[l] - terms->beta.of[l] * by) / (1 - made);
        difference->of[l] = terms->beta.of[l] != 0 ? rest : difference->of[l];
    }
}

static void find_max(struct lanes *to, const struct lanes *other) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] = lanes_max(other->of[l], to->of[l]);
}

// The variance that the shared event explains: that of its count, and of the metrics needed.
static void find_within(const struct estimate_terms *terms, const struct plan_metric *metric,
                        const struct formula *formula, const struct lanes *uncovered, struct estimate_sample *sample) {
    const struct estimate_in_common *common =
        metric->unit >= 0 ? estimate_shared_of(terms->shared, (size_t)metric->unit) : NULL;
    sample->within = sample->together.hidden[CELL_PAIRED] = sample->together.hidden[CELL_SINGLE] = lanes_all(0);
    sample->within_degrees = common ? common->degrees : lanes_all(0);
    for (size_t l = 0; l < LANES && common && common->place > 0; l++) {
        double of = terms->beta.of[l] * terms->beta.of[l] * common->within.of[l] * uncovered->of[l];
        sample->within.of[l] = terms->beta.of[l] != 0 ? of : 0;
        for (size_t k = 0; k < CELL_SIGNS; k++)
            sample->together.hidden[k].of[l] = terms->beta.of[l] * terms->beta.of[l] * common->hidden[k].of[l];
    }
    for (size_t i = 0; i < formula->n_metrics; i++) { // what they share may be the same, so standard errors add up
        const struct estimate_sample *other = &terms->terms[formula->metrics[i]].sample;
        for (size_t l = 0; l < LANES; l++) {
            double slope = fabs(terms->slopes[formula->n_variables + i].of[l]);
            double sum = sqrt(sample->within.of[l]) + (slope > 0 ? slope * sqrt(other->within.of[l]) : 0);
            sample->within.of[l] = sum * sum;
            for (size_t k = 0; k < CELL_SIGNS; k++)
                sample->together.hidden[k].of[l] += slope > 0 ? slope * slope * other->together.hidden[k].of[l] : 0;
        }
        find_max(&sample->within_degrees, &other->within_degrees);
    }
}

// The contribution of the counts in the metric's own unit to the differences of residuals on a block of CPUs. Time is
// exact, and values not counted in the unit do not vary.
static struct lanes difference_of_counts(const struct estimate_terms *terms, const struct estimate_batch *batch,
                                         size_t metric, const struct formula *formula, size_t block) {
    const size_t *places = terms->places + terms->first_place[metric];
    size_t unit = (size_t)terms->rows->plan->metrics[metric].unit;
    const struct lanes *now = estimate_rounds_now(batch->rounds, block, unit);
    const struct lanes *before = estimate_rounds_before(batch->rounds, block, unit);
    struct lanes difference = lanes_all(0);
    size_t ahead = block + BLOCKS_AHEAD < batch->rounds->n_blocks ? BLOCKS_AHEAD * rows_n(terms->rows, unit) : 0;
    for (size_t i = 0, n = formula->n_variables; i < n; i++) {
        if (places[i] == 0)
            continue;
        prefetch(&now[ahead + places[i]], sizeof *now);
        prefetch(&before[ahead + places[i]], sizeof *before);
        const struct lanes *slope = &terms->slopes[i], *x = &now[places[i]], *y = &before[places[i]];
        for (size_t l = 0; l < LANES; l++)
            difference.of[l] += slope->of[l] * (x->of[l] - y->of[l]);
    }
    leave_out_shared(terms, unit, now, before, &difference);
    return difference;
}

// Adds the contributions of the metrics it needs; `first`: there is nothing to add to yet.
static void add_metrics(const struct estimate_terms *terms, const struct formula *formula, bool first, size_t block,
                        struct estimate_difference *to) {
    struct lanes nothing = lanes_all(first); // above 0 where there is nothing to add to
    for (size_t i = 0; i < formula->n_metrics; i++) {
        const struct estimate_difference *other = difference_of(terms, formula->metrics[i], block);
        const struct lanes *slope = &terms->slopes[formula->n_variables + i];
        for (size_t l = 0; l < LANES; l++) {
            double covered = other->covered.of[l];
            if (slope->of[l] == 0)
                continue;
            to->covered.of[l] = nothing.of[l] > 0 || covered < to->covered.of[l] ? covered : to->covered.of[l];
            to->difference.of[l] += slope->of[l] * other->difference.of[l];
            nothing.of[l] = 0;
        }
    }
}

// Scales a block's differences by the uncovered share of time.
static void scale(const struct estimate_difference *of, struct lanes *to) {
    for (size_t l = 0; l < LANES; l++) {
        double scaled = of->difference.of[l] * sqrt(1 - of->covered.of[l]);
        to->of[l] = of->covered.of[l] >= 0 ? scaled : 0;
    }
}

// Finds the differences of a block of CPUs, and hands them to the cores. Returns the share of time they cover.
static struct lanes take_block(const struct estimate_terms *terms, const struct estimate_batch *batch, size_t metric,
                               size_t block) {
    const struct plan_metric *planned = &terms->rows->plan->metrics[metric];
    const struct formula *formula = formula_of(terms->rows->plan, metric);
    struct lanes *scaled = &batch->cores->differences[block];
    struct estimate_difference of = {lanes_all(0), lanes_all(-1)};
    if (planned->unit >= 0) {
        const struct estimate_cell *cell = estimate_rounds_cell(batch->rounds, block, (size_t)planned->unit);
        struct lanes difference = difference_of_counts(terms, batch, metric, formula, block);
        of.covered = cell->covered;
        for (size_t l = 0; l < LANES; l++) {
            double unfitted = difference.of[l] * cell->unfitted.of[l];
            of.difference.of[l] = of.covered.of[l] >= 0 ? unfitted : 0;
            scaled->of[l] = of.difference.of[l] * cell->uncovered.of[l];
        }
    }
    if (formula->n_metrics > 0) {
        add_metrics(terms, formula, planned->unit < 0, block, &of);
        scale(&of, scaled);
    }
    if (terms->needed[named(terms->rows->plan, metric)] > 0)
        *difference_of(terms, named(terms->rows->plan, metric), block) = of;
    return of.covered;
}

// A round with small counts has a noisier ratio: compares its size with the mean's, both weighted by the derivatives.
static struct lanes stretch_of_counts(const struct estimate_terms *terms, size_t metric, const struct lanes *mean,
                                      const struct lanes *sums) {
    const struct formula *formula = formula_of(terms->rows->plan, metric);
    const size_t *places = terms->places + terms->first_place[metric];
    size_t first = rows_first(terms->rows, (size_t)terms->rows->plan->metrics[metric].unit);
    struct lanes usual = lanes_all(0), now = lanes_all(0), weight, stretch;
    for (size_t i = 0; i < formula->n_variables; i++) {
        if (places[i] == 0)
            continue;
        for (size_t l = 0; l < LANES; l++)
            weight.of[l] = fabs(terms->slopes[i].of[l]);
        lanes_add_product(&usual, &weight, &mean[first + places[i]]);
        lanes_add_product(&now, &weight, &sums[first + places[i]]);
    }
    for (size_t l = 0; l < LANES; l++) {
        double larger = lanes_max(usual.of[l] / now.of[l], 1);
        stretch.of[l] = now.of[l] > 0 ? larger : 1;
    }
    return stretch;
}

static void find_min(struct lanes *to, const struct lanes *other) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] = other->of[l] < to->of[l] ? other->of[l] : to->of[l];
}

// A metric made of others has missed as much, and is as uncertain, as the worst of them.
static void add_worst(const struct estimate_terms *terms, const struct formula *formula,
                      struct estimate_sample *sample) {
    for (size_t i = 0; i < formula->n_metrics; i++) {
        const struct estimate_sample *other = &terms->terms[formula->metrics[i]].sample;
        find_max(&sample->stretch, &other->stretch);
        find_max(&sample->unseen.round, &other->unseen.round);
        find_max(&sample->unseen.mean, &other->unseen.mean);
        find_max(&sample->unseen.round_strata, &other->unseen.round_strata);
        find_max(&sample->unseen.mean_strata, &other->unseen.mean_strata);
        find_min(&sample->unseen.windows, &other->unseen.windows);
    }
}

// The variance from rounding: the fields' are independent.
static struct lanes variance_of(const struct lanes *rounded, size_t n_fields) {
    struct lanes variance = lanes_all(0);
    for (size_t f = 0; f < n_fields; f++)
        lanes_add_product(&variance, &rounded[f], &rounded[f]);
    return variance;
}

// Takes the rounding of fields in: what stays is the floor, and what varies adds to the variance.
static void add_rounding(const struct estimate_term *term, size_t n_fields, struct estimate_sample *sample) {
    struct lanes stays = variance_of(term->rounded, n_fields), varies = variance_of(term->varied, n_fields);
    for (size_t l = 0; l < LANES; l++) {
        sample->floor.of[l] = sqrt(stays.of[l]);
        sample->variance.of[l] += varies.of[l];
    }
}

// CPUs of a scope with a difference, and the sum of their uncovered shares.
struct together {
    struct lanes n, uncovered;
};

static void add_part(struct together *together, const struct estimate_part *part, const struct lanes *covered) {
    struct lanes n = together->n, uncovered = together->uncovered, in = part->in, of = *covered;
    for (size_t l = 0; l < LANES; l++) {
        double counts = of.of[l] >= 0 ? in.of[l] : 0;
        n.of[l] += counts;
        uncovered.of[l] += counts * (1 - of.of[l]);
    }
    together->n = n;
    together->uncovered = uncovered;
}

// Finds the variance of a scope's cores, and what they have in common.
static void find_common(const struct plan *plan, const struct estimate_batch *batch, const struct together *together,
                        struct estimate_sample *sample) {
    double n = together->n.of[0], uncovered = n > 0 ? together->uncovered.of[0] / n : 0;
    struct estimate_variance of = estimate_cores_variance(batch->cores, batch->in, batch->steps);
    bool turns = uncovered > 2 * plan_idle_share(plan); // what counts all the time has no places that balance
    struct estimate_in_step in_step = estimate_steps_end(batch->steps, !turns);
    sample->variance = of.variance;
    sample->squares = of.squares;
    sample->together.change = lanes_all(turns ? in_step.shared : 0);
    sample->together.balanced = lanes_all(turns ? in_step.balanced : 0);
    sample->together.whole = lanes_all(in_step.whole);
    sample->together.uncovered = lanes_all(uncovered);
    sample->together.alike = lanes_all(turns ? in_step.alike : 0);
    sample->together.common =
        lanes_all(uncovered > 0 ? in_step.excess / uncovered * plan_idle_share(plan) : 0); // was scaled
}

static struct together take_blocks(const struct estimate_terms *terms, const struct estimate_batch *batch,
                                   size_t metric) {
    struct together together = {lanes_all(0), lanes_all(0)};
    struct estimate_part part;
    size_t at = 0;
    while (estimate_batch_next(batch, &at, &part)) {
        struct lanes covered = take_block(terms, batch, metric, part.block);
        add_part(&together, &part, &covered);
    }
    together.n = estimate_batch_join(batch, &together.n);
    together.uncovered = estimate_batch_join(batch, &together.uncovered);
    return together;
}

const struct estimate_sample *estimate_terms_take(struct estimate_terms *terms, const struct estimate_batch *batch,
                                                  size_t metric, struct operand_lanes *at,
                                                  const struct estimate_means *means,
                                                  const struct estimate_unseen *unseen, struct lanes *data) {
    const struct plan *plan = terms->rows->plan;
    const struct plan_metric *planned = &plan->metrics[metric];
    const struct formula *formula = formula_of(plan, metric);
    struct estimate_term *term = &terms->terms[named(plan, metric)];
    const struct lanes *mean = estimate_means_row(means, batch->index), *sums = estimate_means_sums(means);
    terms->value = estimate_slopes(formula, at->counts, at->metrics, terms->nodes, terms->slopes);
    at->metrics[named(plan, metric)] = terms->value;
    term->sample.stretch = planned->unit >= 0 ? stretch_of_counts(terms, metric, mean, sums) : lanes_all(1);
    term->sample.unseen = *unseen;
    add_worst(terms, formula, &term->sample);
    find_rounded(terms, batch, sums, metric, formula);
    terms->beta = beta_of(terms, metric, formula);
    struct together together = take_blocks(terms, batch, metric);
    struct lanes uncovered = lanes_all(0);
    for (size_t l = 0; l < LANES; l++)
        uncovered.of[l] = together.n.of[l] > 0 ? together.uncovered.of[l] / together.n.of[l] : 0;
    find_within(terms, planned, formula, &uncovered, &term->sample);
    for (size_t l = 0; l < LANES; l++) // a metric without a value at the point has no difference
        data->of[l] = isnan(terms->value.of[l]) ? 0 : together.n.of[l];
    if (batch->of_cpus) {
        struct estimate_variance of = estimate_batch_variance(batch);
        term->sample.variance = of.variance;
        term->sample.squares = of.squares;
    } else {
        find_common(plan, batch, &together, &term->sample);
    }
    add_rounding(term, n_causes(plan->catalog), &term->sample);
    return &term->sample;
}
