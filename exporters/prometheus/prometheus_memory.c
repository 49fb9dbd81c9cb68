// SPDX-License-Identifier: Apache-2.0
//
// What the kernel itself counts of memory. resctrl's bytes are a second source for what the memory controllers' PMUs
// count, so they have a family of their own: no sum takes both. A reading has few series, and the page is made anew
// when they are others.

#include <math.h>
#include <stdio.h>

#include "exporters/prometheus/prometheus_parts.h"

// The series of the host, by their number.
static const struct host_series {
    enum family family;
    struct page_label label; // NULL: none
} OF_HOST[HOST_MEMORY_SERIES_TOTALS] = {
    [HOST_MEMORY_LOCAL] = {FAMILY_NUMA_ALLOCATIONS, {"home", "local"}},
    [HOST_MEMORY_REMOTE] = {FAMILY_NUMA_ALLOCATIONS, {"home", "remote"}},
    [HOST_MEMORY_MISSED] = {FAMILY_NUMA_MISSED, {NULL, NULL}},
    [HOST_MEMORY_HINT_LOCAL] = {FAMILY_NUMA_HINT_FAULTS, {"home", "local"}},
    [HOST_MEMORY_HINT_REMOTE] = {FAMILY_NUMA_HINT_FAULTS, {"home", "remote"}},
    [HOST_MEMORY_PROMOTED] = {FAMILY_TIER_MOVED, {"direction", "promoted"}},
    [HOST_MEMORY_DEMOTED] = {FAMILY_TIER_MOVED, {"direction", "demoted"}},
};

static void add_of_host(struct prometheus_page *page, const struct host_memory *memory, enum family family) {
    page_add_family(page, family);
    for (size_t i = 0; i < HOST_MEMORY_SERIES_TOTALS; i++) {
        const struct host_series *series = &OF_HOST[i];
        if (series->family == family && !isnan(host_memory_series(memory, i)))
            page_series(page, "", &series->label, series->label.name != NULL, PAGE_WHOLE, i);
    }
}

static void add_resctrl(struct prometheus_page *page, const struct host_memory *memory) {
    static const char *const homes[HOST_MEMORY_SERIES_BYTES] = {"local", "remote", "all"};
    size_t n_sockets = memory ? memory->n_sockets : 0;
    page_add_family(page, FAMILY_RESCTRL_BYTES);
    for (size_t i = 0; i < n_sockets * HOST_MEMORY_SERIES_BYTES; i++) {
        size_t series = HOST_MEMORY_SERIES_TOTALS + i;
        char socket[PAGE_NUMBER_MAX];
        (void)snprintf(socket, sizeof socket, "%u", memory->sockets[i / HOST_MEMORY_SERIES_BYTES].id);
        const struct page_label labels[] = {{"socket", socket}, {"home", homes[i % HOST_MEMORY_SERIES_BYTES]}};
        if (!isnan(host_memory_series(memory, series)))
            page_series(page, "", labels, 2, PAGE_WHOLE, series);
    }
}

void page_add_memory(struct prometheus_page *page, const struct shown *shown) {
    static const enum family families[] = {FAMILY_NUMA_ALLOCATIONS, FAMILY_NUMA_MISSED, FAMILY_NUMA_HINT_FAULTS,
                                           FAMILY_TIER_MOVED};
    page_begin_memory(page);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        add_of_host(page, shown->memory, families[i]);
    add_resctrl(page, shown->memory);
}
