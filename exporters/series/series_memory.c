// SPDX-License-Identifier: Apache-2.0
//
// What the kernel itself counts of memory. resctrl's bytes are a second source for what the memory controllers' PMUs
// count, so they have a family of their own: no sum takes both. A reading has few series, and the page is made anew
// when they are others.

#include <math.h>
#include <stdio.h>

#include "exporters/series/series_private.h"

// The series of the host, by their number.
static const struct host_series {
    enum family family;
    struct series_label label; // NULL: none
} OF_HOST[HOST_MEMORY_SERIES_TOTALS] = {
    [HOST_MEMORY_LOCAL] = {FAMILY_NUMA_ALLOCATIONS, {"home", "local"}},
    [HOST_MEMORY_REMOTE] = {FAMILY_NUMA_ALLOCATIONS, {"home", "remote"}},
    [HOST_MEMORY_MISSED] = {FAMILY_NUMA_MISSED, {NULL, NULL}},
    [HOST_MEMORY_HINT_LOCAL] = {FAMILY_NUMA_HINT_FAULTS, {"home", "local"}},
    [HOST_MEMORY_HINT_REMOTE] = {FAMILY_NUMA_HINT_FAULTS, {"home", "remote"}},
    [HOST_MEMORY_PROMOTED] = {FAMILY_TIER_MOVED, {"direction", "promoted"}},
    [HOST_MEMORY_DEMOTED] = {FAMILY_TIER_MOVED, {"direction", "demoted"}},
};

static void add_of_host(struct series *series, const struct host_memory *memory, enum family family) {
    series_begin_family(series, family);
    for (size_t i = 0; i < HOST_MEMORY_SERIES_TOTALS; i++) {
        const struct host_series *line = &OF_HOST[i];
        if (line->family == family && !isnan(host_memory_series(memory, i)))
            series_add(series, "", &line->label, line->label.name != NULL, SERIES_WHOLE, i);
    }
}

static void add_resctrl(struct series *series, const struct host_memory *memory) {
    static const char *const homes[HOST_MEMORY_SERIES_BYTES] = {"local", "remote", "all"};
    size_t n_sockets = memory ? memory->n_sockets : 0;
    series_begin_family(series, FAMILY_RESCTRL_BYTES);
    for (size_t i = 0; i < n_sockets * HOST_MEMORY_SERIES_BYTES; i++) {
        size_t line = HOST_MEMORY_SERIES_TOTALS + i;
        char socket[SERIES_NUMBER_MAX];
        (void)snprintf(socket, sizeof socket, "%u", memory->sockets[i / HOST_MEMORY_SERIES_BYTES].id);
        const struct series_label labels[] = {{"socket", socket}, {"home", homes[i % HOST_MEMORY_SERIES_BYTES]}};
        if (!isnan(host_memory_series(memory, line)))
            series_add(series, "", labels, 2, SERIES_WHOLE, line);
    }
}

void series_add_memory(struct series *series, const struct shown *shown) {
    static const enum family families[] = {FAMILY_NUMA_ALLOCATIONS, FAMILY_NUMA_MISSED, FAMILY_NUMA_HINT_FAULTS,
                                           FAMILY_TIER_MOVED};
    series_begin_memory(series);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        add_of_host(series, shown->memory, families[i]);
    add_resctrl(series, shown->memory);
}
