// SPDX-License-Identifier: Apache-2.0
#include "core/tally/blind.h"

// What counts all the time needs no counter, so it tells nothing of a PMU whose groups rotate.
static bool tells(const struct plan *plan, bool rotates, const struct window *window) {
    return !rotates || !plan_group_stands(plan, window->group);
}

void blind_interval(struct blind *blind, const struct plan *plan, const struct readings *readings) {
    bool rotates = plan_n_rotating(plan) > 0, by_core = rotates && readings->by_core;
    bool any = by_core && readings->n_counted + readings->n_missed > 0, counted = by_core && readings->n_counted > 0;
    for (size_t i = 0; !by_core && i < readings->n_windows && !counted; i++) {
        const struct window *window = &readings->windows[i];
        any = any || tells(plan, rotates, window);
        counted =
            tells(plan, rotates, window) && (window->result == WINDOW_COMPLETE || window->result == WINDOW_CONTENDED);
    }
    if (plan->n_units > 0 && !any)
        return;
    blind->pmu_up = counted;
    if (blind->pmu_up)
        blind->intervals = 0;
    else if (blind->intervals < BLIND_INTERVALS)
        blind->intervals++;
}

void blind_excuse(struct blind *blind) { *blind = (struct blind){0}; }
