// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_spread.h"

#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_spreads *spreads = self;
    spreads->spreads = block_take(block, spreads->n_scopes * spreads->n_metrics, sizeof *spreads->spreads);
}

struct estimate_spreads *estimate_spreads_new(size_t n_scopes, size_t n_metrics) {
    struct estimate_spreads spreads = {.n_scopes = n_scopes, .n_metrics = n_metrics};
    return block_new(&spreads, sizeof spreads, lay_out);
}

struct estimate_spreads *estimate_spreads_free(struct estimate_spreads *spreads) {
    free(spreads);
    return NULL;
}

void estimate_spread_move(struct estimate_spread *spread, const struct estimate_sample *sample, double memory_rounds) {
    struct estimate_sample *mean = &spread->mean;
    double weight = estimate_weight(++spread->rounds, memory_rounds);
    spread->weights2 = estimate_weights2(spread->weights2, weight);
    mean->variance += weight * (sample->variance - mean->variance);
    mean->squares += weight * (sample->squares - mean->squares);
    mean->common += weight * (sample->common - mean->common);
    mean->uncovered = sample->uncovered;
    mean->floor += weight * (sample->floor - mean->floor);
    mean->stretch = sample->stretch;
    mean->unseen = sample->unseen;
}
