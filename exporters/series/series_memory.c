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

void series_add_host_memory(struct series *series, const struct view *view) {
    (void)view; // the host's memory has none
    series_begin_source(series, FROM_MEMORY);
    for (size_t i = 0; i < HOST_MEMORY_SERIES_TOTALS; i++) {
        const struct host_series *line = &OF_HOST[i];
        if (line->family == series->family && !isnan(host_memory_series(series->shown->memory, i)))
            series_add(series, "", &line->label, line->label.name != NULL, SERIES_WHOLE, i);
    }
}

void series_add_resctrl(struct series *series, const struct view *view) {
    static const char *const homes[HOST_MEMORY_SERIES_BYTES] = {"local", "remote", "all"};
    const struct host_memory *memory = series->shown->memory;
    size_t n = memory ? memory->n_sockets * HOST_MEMORY_SERIES_BYTES : 0;
    (void)view;
    series_begin_source(series, FROM_MEMORY);
    for (size_t i = 0; i < n; i++) {
        size_t line = HOST_MEMORY_SERIES_TOTALS + i;
        char socket[SERIES_NUMBER_MAX];
        (void)snprintf(socket, sizeof socket, "%u", memory->sockets[i / HOST_MEMORY_SERIES_BYTES].id);
        const struct series_label labels[] = {{"socket", socket}, {"home", homes[i % HOST_MEMORY_SERIES_BYTES]}};
        if (!isnan(host_memory_series(memory, line)))
            series_add(series, "", labels, 2, SERIES_WHOLE, line);
    }
}
