// SPDX-License-Identifier: Apache-2.0
#include "core/tally/blind.h"

static bool has_counts(const struct readings *readings) {
    for (size_t i = 0; i < readings->n_windows; i++)
        if (readings->windows[i].result == WINDOW_COMPLETE || readings->windows[i].result == WINDOW_CONTENDED)
            return true;
    return false;
}

void blind_interval(struct blind *blind, const struct plan *plan, const struct readings *readings) {
    if (plan->n_units > 0 && readings->n_windows == 0)
        return;
    blind->pmu_up = has_counts(readings);
    if (blind->pmu_up)
        blind->intervals = 0;
    else if (blind->intervals < BLIND_INTERVALS)
        blind->intervals++;
}

void blind_excuse(struct blind *blind) { *blind = (struct blind){0}; }
