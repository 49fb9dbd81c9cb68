// SPDX-License-Identifier: Apache-2.0
#include "core/host/topology_change.h"

#include "core/base/cpuset.h"

size_t topology_list_missing(const struct topology *of, const struct topology *from, char *list, size_t size) {
    struct cpuset missing = {0};
    for (size_t i = 0; i < of->n_cpus; i++)
        if (topology_find_cpu(from, of->cpus[i].id) < 0)
            cpuset_add(&missing, of->cpus[i].id);
    cpuset_format(&missing, list, size);
    return cpuset_count(&missing);
}

unsigned topology_count_isolated(const struct topology *topology) {
    unsigned n = 0;
    for (size_t s = 0; s < topology->n_sockets; s++)
        n += topology->sockets[s].isolated;
    return n;
}
