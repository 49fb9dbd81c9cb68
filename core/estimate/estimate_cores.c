// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_cores.h"

#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_cores *cores = self;
    cores->difference = block_take(block, cores->topology->n_cores, sizeof *cores->difference);
}

struct estimate_cores *estimate_cores_new(const struct topology *topology) {
    return block_new(&(struct estimate_cores){.topology = topology}, sizeof(struct estimate_cores), lay_out);
}

struct estimate_cores *estimate_cores_free(struct estimate_cores *cores) {
    free(cores);
    return NULL;
}

double estimate_cores_take(struct estimate_cores *cores, struct scope_cpus in, double *squares) {
    double variance = 0;
    *squares = 0;
    for (size_t c = 0; c < in.n; c++) {
        double *core = &cores->difference[cores->topology->cpus[in.cpus[c]].core];
        double term = *core * *core / 2;
        *core = 0; // done: a sibling adds nothing more
        variance += term;
        *squares += term * term;
    }
    return variance;
}
