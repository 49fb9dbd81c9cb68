// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_cores.h"

#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_cores *cores = self;
    cores->differences = block_take(block, lanes_blocks(cores->topology->n_cpus), sizeof *cores->differences);
    cores->sums = block_take(block, cores->topology->n_cores, sizeof *cores->sums);
}

struct estimate_cores *estimate_cores_new(const struct topology *topology) {
    return block_new(&(struct estimate_cores){.topology = topology}, sizeof(struct estimate_cores), lay_out);
}

struct estimate_cores *estimate_cores_free(struct estimate_cores *cores) {
    free(cores);
    return NULL;
}

struct estimate_variance estimate_cores_variance(struct estimate_cores *cores, struct scope_cpus in,
                                                 struct estimate_steps *steps) {
    const struct topology_cpu *cpus = cores->topology->cpus;
    double variance = 0, squares = 0, *sums = cores->sums;
    for (size_t c = 0; c < in.n; c++)
        sums[cpus[in.cpus[c]].core] += cores->differences[in.cpus[c] / LANES].of[in.cpus[c] % LANES];
    for (size_t c = 0; c < in.n; c++) {
        double *sum = &sums[cpus[in.cpus[c]].core], term = *sum * *sum / 2;
        if (*sum == 0)
            continue; // a sibling's are in the core's
        if (steps)
            estimate_steps_add(steps, cpus[in.cpus[c]].core, *sum, term);
        *sum = 0;
        variance += term;
        squares += term * term;
    }
    return (struct estimate_variance){lanes_all(variance), lanes_all(squares)};
}

struct estimate_variance estimate_cores_variances(const struct estimate_cores *cores, size_t block) {
    struct lanes differences = cores->differences[block];
    struct estimate_variance of;
    for (size_t l = 0; l < LANES; l++) {
        of.variance.of[l] = differences.of[l] * differences.of[l] / 2;
        of.squares.of[l] = of.variance.of[l] * of.variance.of[l];
    }
    return of;
}
