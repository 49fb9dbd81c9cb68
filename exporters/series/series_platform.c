// SPDX-License-Identifier: Apache-2.0
//
// The platform's facts as labels of one series, to select and to join by.

#include <stdio.h>

#include "exporters/series/series_private.h"

enum { NUMBER_BYTES = 24 };

// Facts that are the same on many hosts, so that they make sense as labels.
static const enum platform_key LABELS[] = {PLATFORM_SMT,
                                           PLATFORM_THREADS_PER_CORE,
                                           PLATFORM_NUMA_NODES,
                                           PLATFORM_NUMA_BALANCING,
                                           PLATFORM_TRANSPARENT_HUGEPAGES,
                                           PLATFORM_GOVERNOR,
                                           PLATFORM_FREQUENCY_DRIVER,
                                           PLATFORM_BOOST,
                                           PLATFORM_VIRTUAL_MACHINE,
                                           PLATFORM_PREFETCHERS,
                                           PLATFORM_MICROCODE,
                                           PLATFORM_KERNEL,
                                           PLATFORM_CLOCK_SOURCE};
enum { LABELS_N = sizeof(LABELS) / sizeof(LABELS[0]) };

// What is not known has no label.
void series_add_platform(struct series *series, const struct view *view) {
    const struct platform *platform = view->platform;
    struct series_label labels[LABELS_N];
    char numbers[LABELS_N][NUMBER_BYTES];
    size_t n = 0;
    if (!platform)
        return;
    for (size_t i = 0; i < LABELS_N; i++) {
        const struct platform_fact *fact = &platform->facts[LABELS[i]];
        const struct platform_name *name = &platform_names[LABELS[i]];
        if (fact->n_values == 0)
            continue;
        if (name->unit != PLATFORM_TEXT)
            (void)snprintf(numbers[i], NUMBER_BYTES, "%.0f", fact->values[0].number);
        labels[n++] = (struct series_label){.name = name->key,
                                            .value = fact->n_values > 1            ? "mixed"
                                                     : name->unit == PLATFORM_TEXT ? fact->values[0].text
                                                                                   : numbers[i]};
    }
    series_add_fixed(series, labels, n, 1);
}
