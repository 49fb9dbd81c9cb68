// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stdlib.h>

#include "core/base/prefetch.h"
#include "core/estimate/estimate_private.h"

// A round passes through three types: rounds (each CPU's counts, extrapolated), then batch by batch of scopes means
// (the points of the derivatives), and metric by metric terms (how far residuals differ from those of the previous
// round). The estimate keeps a spread for each scope and metric.

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
    e->spreads = estimate_spreads_new(batches, scope_of_cpu(topology, 0), plan);
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
    prefetch(estimate_spreads_at(e->spreads, index, 0), e->spreads->n_cpu_metrics * sizeof(struct estimate_spread));
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
    size_t n = batch.of_cpus ? e->spreads->n_cpu_metrics : e->plan->n_metrics;
    for (size_t i = 0; i < e->plan->n_metrics; i++)
        if (e->plan->evaluation[i] < n && plan_metric_planned(&e->plan->metrics[e->plan->evaluation[i]]))
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
