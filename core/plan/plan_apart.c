// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_apart.h"

// The set that contains set `i`: itself, or the first that is larger or equal.
static size_t container_of(const struct plan_set *sets, size_t n, size_t i) {
    size_t container = i;
    for (size_t j = 0; j < n && container == i; j++)
        if (j != i && plan_set_contains(&sets[j], &sets[i]) && (j < i || !plan_set_contains(&sets[i], &sets[j])))
            container = j;
    return container;
}

void plan_apart(const struct plan_set *sets, size_t first, size_t n, unsigned n_bins, unsigned *bins) {
    for (size_t i = first; i < n; i++)
        if (container_of(sets, n, i) == i)
            bins[i] = n_bins++;
    for (size_t i = first; i < n; i++) {
        size_t container = i;
        while (container >= first && container_of(sets, n, container) != container)
            container = container_of(sets, n, container);
        bins[i] = bins[container];
    }
}
