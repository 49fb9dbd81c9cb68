// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_dither.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_dither *dither = self;
    size_t n = dither->n_events * dither->n_blocks;
    dither->equal = block_take(block, n, sizeof *dither->equal);
    dither->adjacent = block_take(block, n, sizeof *dither->adjacent);
    dither->pairs = block_take(block, n, sizeof *dither->pairs);
    dither->windows = block_take(block, dither->n_events > 0 ? dither->n_blocks : 0, sizeof *dither->windows);
    dither->kept = block_take(block, n, sizeof *dither->kept);
}

struct estimate_dither *estimate_dither_new(const struct rows *rows, size_t n_cpus, double memory_rounds) {
    int unit = rows->plan->common_unit;
    struct estimate_dither dither = {.rows = rows,
                                     .n_cpus = n_cpus,
                                     .n_blocks = lanes_blocks(n_cpus),
                                     .n_events = unit >= 0 ? rows->plan->units[unit].n_events : 0,
                                     .memory_rounds = memory_rounds};
    struct estimate_dither *made = block_new(&dither, sizeof dither, lay_out);
    for (size_t i = 0; made && i < dither.n_events * dither.n_blocks; i++)
        made->kept[i] = lanes_all(1);
    for (size_t i = 0; made && dither.n_events > 0 && i < dither.n_blocks; i++)
        made->windows[i] = lanes_all(1);
    return made;
}

struct estimate_dither *estimate_dither_free(struct estimate_dither *dither) {
    free(dither);
    return NULL;
}

static double kept_of(double equal, double adjacent, double pairs) {
    double same = equal + 1, rest = 1 - adjacent / same; // as if one more pair had read the same
    return rest > 0 ? sqrt(same / (pairs + 1) * rest * sqrt(rest)) : 0;
}

void estimate_dither_take_round(struct estimate_dither *dither, const struct cells *cells) {
    const struct neighbours *neighbours = cells->neighbours;
    double old = 1 - 1 / dither->memory_rounds;
    for (size_t cpu = 0; cpu < dither->n_cpus && dither->n_events > 0; cpu++) {
        const struct neighbours_event *events = neighbours_of(neighbours, cpu);
        if (!cells->times[cpu].fresh)
            continue;
        double windows = cells_at(cells, cpu, (size_t)dither->rows->plan->common_unit)->n_windows;
        dither->windows[cpu / LANES].of[cpu % LANES] = windows > 1 ? windows : 1;
        for (size_t i = 0; i < dither->n_events; i++) {
            size_t at = i * dither->n_blocks + cpu / LANES, l = cpu % LANES;
            if (!neighbours->is_field[i])
                continue;
            dither->equal[at].of[l] = old * dither->equal[at].of[l] + events[i].equal;
            dither->adjacent[at].of[l] = old * dither->adjacent[at].of[l] + events[i].adjacent;
            dither->pairs[at].of[l] = old * dither->pairs[at].of[l] + neighbours->cpus[cpu].n_read;
            dither->kept[at].of[l] =
                kept_of(dither->equal[at].of[l], dither->adjacent[at].of[l], dither->pairs[at].of[l]);
        }
    }
}
