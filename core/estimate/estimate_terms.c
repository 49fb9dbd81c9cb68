// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/estimate/estimate_slope.h"

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

static void lay_out(void *self, struct block *block) {
    struct estimate_terms *terms = self;
    const struct plan *plan = terms->rows->plan;
    size_t events = plan->catalog->n_events, metrics = plan->catalog->n_metrics;
    terms->places = block_take(block, count_places(plan), sizeof *terms->places);
    terms->first_place = block_take(block, plan->n_metrics, sizeof *terms->first_place);
    terms->terms = block_take(block, metrics, sizeof *terms->terms);
    terms->differences = block_take(block, metrics * terms->n_cpus, sizeof *terms->differences);
    terms->slopes = block_take(block, events + metrics, sizeof *terms->slopes);
    terms->counted = block_take(block, events, sizeof *terms->counted);
}

struct estimate_terms *estimate_terms_new(const struct rows *rows, size_t n_cpus) {
    const struct plan *plan = rows->plan;
    struct estimate_terms terms = {.rows = rows, .n_cpus = n_cpus};
    struct estimate_terms *made = block_new(&terms, sizeof terms, lay_out);
    size_t n = 0;
    for (size_t m = 0; made && m < plan->n_metrics; m++) {
        const struct formula *formula = formula_of(plan, m);
        int unit = plan->metrics[m].unit;
        made->first_place[m] = n;
        for (size_t i = 0; i < formula->n_variables; i++)
            made->places[n++] = unit >= 0 ? rows_place(rows, (size_t)unit, formula->variables[i]) : 0;
    }
    return made;
}

struct estimate_terms *estimate_terms_free(struct estimate_terms *terms) {
    free(terms);
    return NULL;
}

// ---- a metric ----

static struct estimate_difference *difference_of(const struct estimate_terms *terms, size_t catalog_metric,
                                                 size_t cpu) {
    return &terms->differences[catalog_metric * terms->n_cpus + cpu];
}

// Finds the events with which a metric varies; the slopes are known. Time is exact, and values not counted in the
// metric's own unit do not vary.
static void find_counted(struct estimate_terms *terms, size_t metric, const struct formula *formula) {
    const size_t *places = terms->places + terms->first_place[metric];
    terms->n_counted = 0;
    for (size_t i = 0; i < formula->n_variables; i++)
        if (places[i] > 0 && terms->slopes[i] != 0)
            terms->counted[terms->n_counted++] = (struct estimate_counted){terms->slopes[i], places[i]};
}

// A field's place among the topdown events.
static size_t field_of(const struct catalog *catalog, unsigned event) {
    size_t i = 0;
    while (i + 1 < catalog->n_topdown && catalog->topdown[i] != event)
        i++;
    return i;
}

// The effect of rounding on a metric in the scope, field by field. A field is rounded the same way wherever it is read,
// so contributions of one field by several paths add up with their signs, and so do CPUs.
static void find_rounded(struct estimate_terms *terms, const struct estimate_scope *of,
                         const struct plan_metric *metric, const struct formula *formula) {
    const struct catalog *catalog = terms->rows->plan->catalog;
    double *rounded = terms->terms[metric->metric].rounded, steps = 0;
    if (catalog->n_topdown == 0)
        return; // no fields: never written
    memset(rounded, 0, catalog->n_topdown * sizeof *rounded);
    for (size_t c = 0; metric->unit >= 0 && c < of->in.n; c++)
        steps += estimate_rounds_cell(of->rounds, of->in.cpus[c], (size_t)metric->unit)->rounding;
    for (size_t i = 0; steps > 0 && i < formula->n_variables; i++)
        if (estimate_is_field(terms->rows->plan, formula->variables[i]))
            rounded[field_of(catalog, formula->variables[i])] += terms->slopes[i] * steps;
    for (size_t i = 0; i < formula->n_metrics; i++)
        for (size_t f = 0; f < catalog->n_topdown; f++)
            rounded[f] += terms->slopes[formula->n_variables + i] * terms->terms[formula->metrics[i]].rounded[f];
}

// Adds the contribution of a CPU's counts in the metric's own unit to the difference of residuals.
static void add_counts(const struct estimate_terms *terms, const struct estimate_scope *of, size_t unit, size_t cpu,
                       struct estimate_difference *to) {
    const struct estimate_cell *cell = estimate_rounds_cell(of->rounds, cpu, unit);
    const double *now = estimate_rounds_now(of->rounds, cpu), *before = estimate_rounds_before(of->rounds, cpu);
    if (!(cell->share_before > 0 && cell->share > 0))
        return;
    double difference = 0;
    for (size_t i = 0; i < terms->n_counted; i++) {
        const struct estimate_counted *counted = &terms->counted[i];
        difference += counted->slope * (now[counted->place] - before[counted->place]);
    }
    *to = (struct estimate_difference){difference / (1 - cell->leverage), (cell->share_before + cell->share) / 2};
}

// Adds the contributions of the metrics it needs; `first`: there is nothing to add to yet.
static void add_metrics(const struct estimate_terms *terms, const struct formula *formula, bool first, size_t cpu,
                        struct estimate_difference *to) {
    const double *slopes = terms->slopes + formula->n_variables;
    for (size_t i = 0; i < formula->n_metrics; i++) {
        const struct estimate_difference *other = difference_of(terms, formula->metrics[i], cpu);
        if (slopes[i] == 0)
            continue;
        to->covered = first ? other->covered : fmin(to->covered, other->covered);
        to->difference += slopes[i] * other->difference;
        first = false;
    }
}

// A round with small counts has a noisier ratio: compares its size with the mean's, both weighted by the derivatives.
static double stretch_of_counts(const struct estimate_terms *terms, const struct estimate_scope *of,
                                const double *mean) {
    double usual = 0, now = 0;
    for (size_t i = 0; i < terms->n_counted; i++) {
        double slope = fabs(terms->counted[i].slope);
        size_t place = terms->counted[i].place;
        usual += slope * mean[place];
        for (size_t c = 0; c < of->in.n; c++)
            now += slope * estimate_rounds_now(of->rounds, of->in.cpus[c])[place];
    }
    return now > 0 ? fmax(usual / now, 1) : 1;
}

// A metric made of others has missed as much, and is as uncertain, as the worst of them.
static void add_worst(const struct estimate_terms *terms, const struct formula *formula, struct estimate_term *term) {
    for (size_t i = 0; i < formula->n_metrics; i++) {
        const struct estimate_term *other = &terms->terms[formula->metrics[i]];
        term->stretch = fmax(term->stretch, other->stretch);
        term->unseen.round = fmax(term->unseen.round, other->unseen.round);
        term->unseen.mean = fmax(term->unseen.mean, other->unseen.mean);
        term->unseen.windows = fmin(term->unseen.windows, other->unseen.windows);
    }
}

bool estimate_terms_take(struct estimate_terms *terms, const struct estimate_scope *of, size_t metric,
                         struct operands *at, const double *mean, struct estimate_unseen unseen) {
    const struct plan_metric *planned = &terms->rows->plan->metrics[metric];
    const struct formula *formula = formula_of(terms->rows->plan, metric);
    struct estimate_term *term = &terms->terms[planned->metric];
    bool own = planned->unit >= 0; // its formula counts something
    double value = estimate_slopes(formula, at->counts, at->metrics, terms->slopes);
    at->metrics[planned->metric] = value;
    term->stretch = 1;
    term->unseen = unseen;
    if (isfinite(value) && own) {
        find_counted(terms, metric, formula);
        term->stretch = stretch_of_counts(terms, of, mean);
    }
    add_worst(terms, formula, term);
    find_rounded(terms, of, planned, formula);
    bool data = false;
    for (size_t c = 0; c < of->in.n; c++) {
        struct estimate_difference *to = difference_of(terms, planned->metric, of->in.cpus[c]);
        *to = (struct estimate_difference){0, -1};
        if (!isfinite(value))
            continue;
        if (own)
            add_counts(terms, of, (size_t)planned->unit, of->in.cpus[c], to);
        add_metrics(terms, formula, !own, of->in.cpus[c], to);
        data = data || to->covered >= 0;
    }
    return data;
}

// ---- results ----

struct estimate_sample estimate_terms_sample(const struct estimate_terms *terms, const struct estimate_scope *of,
                                             size_t metric) {
    const struct plan *plan = terms->rows->plan;
    unsigned catalog_metric = plan->metrics[metric].metric;
    const struct estimate_term *term = &terms->terms[catalog_metric];
    double floor2 = 0, together = 0, uncovered = 0, n = 0;
    for (size_t c = 0; c < of->in.n; c++) {
        const struct estimate_difference *difference = difference_of(terms, catalog_metric, of->in.cpus[c]);
        if (!(difference->covered >= 0))
            continue;
        estimate_cores_add(of->cores, of->in.cpus[c], difference->difference, difference->covered);
        together += difference->difference * sqrt(1 - difference->covered);
        uncovered += (1 - difference->covered - uncovered) / ++n;
    }
    for (size_t f = 0; f < plan->catalog->n_topdown; f++)
        floor2 += term->rounded[f] * term->rounded[f];
    struct estimate_sample sample = {
        .uncovered = uncovered, .floor = sqrt(floor2), .stretch = term->stretch, .unseen = term->unseen};
    sample.variance = estimate_cores_take(of->cores, of->in, &sample.squares);
    if (uncovered > 0) // the squares have been scaled by it
        sample.common = (together * together / 2 - sample.variance) / uncovered * plan_idle_share(plan);
    return sample;
}
