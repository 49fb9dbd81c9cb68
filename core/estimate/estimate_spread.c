// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_spread.h"

#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_spreads *spreads = self;
    spreads->spreads = block_take(block, spreads->n_batches * spreads->n_metrics, sizeof *spreads->spreads);
}

struct estimate_spreads *estimate_spreads_new(size_t n_batches, size_t n_metrics) {
    struct estimate_spreads spreads = {.n_batches = n_batches, .n_metrics = n_metrics};
    return block_new(&spreads, sizeof spreads, lay_out);
}

struct estimate_spreads *estimate_spreads_free(struct estimate_spreads *spreads) {
    free(spreads);
    return NULL;
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

void estimate_spread_move(struct estimate_spread *spread, const struct estimate_sample *sample,
                          const struct lanes *data, double memory_rounds) {
    struct estimate_sample *mean = &spread->mean;
    struct lanes weight = estimate_weigh(&spread->rounds, data, memory_rounds);
    estimate_move_weights2(&spread->weights2, &weight);
    estimate_move(&mean->variance, &sample->variance, &weight);
    estimate_move(&mean->squares, &sample->squares, &weight);
    estimate_move(&mean->common, &sample->common, &weight);
    estimate_move(&mean->alike, &sample->alike, &weight);
    estimate_move(&mean->floor, &sample->floor, &weight);
    replace(&mean->uncovered, &sample->uncovered, data);
    replace(&mean->stretch, &sample->stretch, data);
    replace(&mean->unseen.round, &sample->unseen.round, data);
    replace(&mean->unseen.mean, &sample->unseen.mean, data);
    replace(&mean->unseen.windows, &sample->unseen.windows, data);
}
