// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "bench/accuracy/trial_state.h"

// Makes one socket of cores with one thread each.

struct topology *trial_topology(size_t n_cpus) {
    struct topology_source *sources = calloc(n_cpus, sizeof *sources);
    struct topology *topology;
    if (!sources)
        abort();
    for (size_t i = 0; i < n_cpus; i++)
        sources[i] = (struct topology_source){(unsigned)i, (int)i, 0, true};
    if (topology_new(sources, n_cpus, 0, &topology) < 0)
        abort();
    free(sources);
    return topology;
}
