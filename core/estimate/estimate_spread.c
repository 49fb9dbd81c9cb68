// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_spread.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/estimate/estimate_terms.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_spreads *spreads = self;
    size_t n = estimate_spreads_index(spreads, spreads->n_batches, 0);
    spreads->spreads = block_take(block, n, sizeof *spreads->spreads);
    spreads->floors = block_take(block, spreads->has_floors ? n : 0, sizeof *spreads->floors);
    spreads->togethers = block_take(block, spreads->n_shared * spreads->n_metrics, sizeof *spreads->togethers);
}

struct estimate_spreads *estimate_spreads_new(size_t n_batches, size_t n_shared, const struct plan *plan) {
    struct estimate_spreads spreads = {.n_batches = n_batches,
                                       .n_shared = n_shared,
                                       .n_metrics = plan->n_metrics,
                                       .n_cpu_metrics = plan_n_cpu_metrics(plan),
                                       .has_floors = estimate_terms_floors(plan->catalog)};
    return block_new(&spreads, sizeof spreads, lay_out);
}

struct estimate_spreads *estimate_spreads_free(struct estimate_spreads *spreads) {
    free(spreads);
    return NULL;
}

void estimate_spreads_forget(struct estimate_spreads *spreads, size_t first) {
    size_t n = (spreads->n_batches - first) * spreads->n_cpu_metrics;
    memset(estimate_spreads_at(spreads, first, 0), 0, n * sizeof *spreads->spreads);
    if (spreads->has_floors)
        memset(estimate_spreads_floor(spreads, first, 0), 0, n * sizeof *spreads->floors);
}

struct lanes estimate_weigh(struct lanes *rounds, const struct lanes *data, double memory_rounds) {
    struct lanes weight, now = *rounds, has = *data;
    for (size_t l = 0; l < LANES; l++) {
        double newest = 1 / (now.of[l] + 1);
        newest = newest > 1 / memory_rounds ? newest : 1 / memory_rounds;
        weight.of[l] = has.of[l] > 0 ? newest : 0;
        now.of[l] += has.of[l] > 0 ? 1 : 0;
    }
    *rounds = now;
    return weight;
}

void estimate_move(struct lanes *mean, const struct lanes *value, const struct lanes *weight) {
    struct lanes now = *mean, to = *value, by = *weight;
    for (size_t l = 0; l < LANES; l++) {
        double moved = now.of[l] + by.of[l] * (to.of[l] - now.of[l]);
        now.of[l] = by.of[l] > 0 ? moved : now.of[l];
    }
    *mean = now;
}

void estimate_move_weights2(struct lanes *weights2, const struct lanes *weight) {
    struct lanes now = *weights2, by = *weight;
    for (size_t l = 0; l < LANES; l++)
        now.of[l] = (1 - by.of[l]) * (1 - by.of[l]) * now.of[l] + by.of[l] * by.of[l];
    *weights2 = now;
}

static void replace(struct lanes *last, const struct lanes *by, const struct lanes *data) {
    struct lanes now = *last, new = *by, has = *data;
    for (size_t l = 0; l < LANES; l++)
        now.of[l] = has.of[l] > 0 ? new.of[l] : now.of[l];
    *last = now;
}

void estimate_spreads_move(struct estimate_spreads *spreads, size_t batch, size_t metric,
                           const struct estimate_sample *sample, const struct lanes *data, double memory_rounds) {
    struct estimate_spread *spread = estimate_spreads_at(spreads, batch, metric);
    struct lanes *floor = estimate_spreads_floor(spreads, batch, metric);
    struct estimate_together *together = estimate_spreads_together(spreads, batch, metric);
    struct lanes weight = estimate_weigh(&spread->rounds, data, memory_rounds);
    estimate_move_weights2(&spread->weights2, &weight);
    estimate_move(&spread->variance, &sample->variance, &weight);
    estimate_move(&spread->squares, &sample->squares, &weight);
    struct lanes within2 = lanes_all(0);
    lanes_add_product(&within2, &sample->within, &sample->within);
    estimate_move(&spread->within, &sample->within, &weight);
    estimate_move(&spread->within2, &within2, &weight);
    replace(&spread->within_now, &sample->within, data);
    replace(&spread->within_degrees, &sample->within_degrees, data);
    replace(&spread->stretch, &sample->stretch, data);
    replace(&spread->unseen.round, &sample->unseen.round, data);
    replace(&spread->unseen.mean, &sample->unseen.mean, data);
    replace(&spread->unseen.round_strata, &sample->unseen.round_strata, data);
    replace(&spread->unseen.mean_strata, &sample->unseen.mean_strata, data);
    replace(&spread->unseen.windows, &sample->unseen.windows, data);
    if (floor)
        estimate_move(floor, &sample->floor, &weight);
    if (!together)
        return;
    estimate_move(&together->common, &sample->together.common, &weight);
    estimate_move(&together->alike, &sample->together.alike, &weight);
    estimate_move(&together->change, &sample->together.change, &weight);
    estimate_move(&together->balanced, &sample->together.balanced, &weight);
    for (size_t k = 0; k < CELL_SIGNS; k++)
        estimate_move(&together->hidden[k], &sample->together.hidden[k], &weight);
    replace(&together->whole, &sample->together.whole, data);
    replace(&together->uncovered, &sample->together.uncovered, data);
}
