// SPDX-License-Identifier: Apache-2.0
#include "core/host/topology_change.h"

#include <stdio.h>

enum { RANGE_MAX = 32, DOTS = 4 };

// The CPUs from number i on that follow one another and are missing; none if CPU i is not missing.
static size_t count_run(const struct topology *of, const struct topology *from, size_t i) {
    size_t n = 0;
    while (i + n < of->n_cpus && of->cpus[i + n].id == of->cpus[i].id + n &&
           topology_find_cpu(from, of->cpus[i + n].id) < 0)
        n++;
    return n;
}

size_t topology_list_missing(const struct topology *of, const struct topology *from, char *list, size_t size) {
    size_t n = 0, length = 0, run;
    bool full = false;
    list[0] = '\0';
    for (size_t i = 0; i<of->n_cpus; i += run> 0 ? run : 1) {
        char text[RANGE_MAX];
        run = count_run(of, from, i);
        n += run;
        if (run == 0 || full)
            continue;
        const char *comma = length > 0 ? "," : "";
        unsigned first = of->cpus[i].id;
        int needed = run == 1 ? snprintf(text, sizeof text, "%s%u", comma, first)
                              : snprintf(text, sizeof text, "%s%u-%u", comma, first, first + (unsigned)run - 1);
        full = length + (size_t)needed + DOTS > size;
        length += (size_t)snprintf(list + length, size - length, "%s", full ? "..." : text);
    }
    return n;
}

unsigned topology_count_isolated(const struct topology *topology) {
    unsigned n = 0;
    for (size_t s = 0; s < topology->n_sockets; s++)
        n += topology->sockets[s].isolated;
    return n;
}
