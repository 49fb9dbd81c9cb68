// SPDX-License-Identifier: Apache-2.0
#include "core/tally/blind.h"

// What counts all the time needs no counter, so it tells nothing of a PMU whose groups rotate.
static bool tells(const struct plan *plan, bool rotates, const struct window *window) {
    return !rotates || !plan_group_stands(plan, window->group);
}

// True if events were doubted, and no metric of what rotates has a value but 0, which proves nothing. Where nothing of
// a PMU has ever counted, also a division by zero is doubted: what counts has counted the cycles of its own reading.
static bool none_believed(const struct plan *plan, const struct snapshot *snapshot, bool ever) {
    bool doubted = false;
    for (size_t m = 0; m < snapshot->layout->n_metrics; m++) {
        int unit = plan->metrics[m].unit;
        if (unit < 0 || plan_unit_stands(plan, (unsigned)unit))
            continue;
        uint8_t absent = snapshot->absent[snapshot_state(snapshot->layout, 0, m)];
        if (absent == ABSENT_NOT && snapshot->values[snapshot_metric(snapshot->layout, 0, m)] != 0)
            return false;
        doubted =
            doubted || absent == ABSENT_FILTERED || absent == ABSENT_STALLED || (absent == ABSENT_UNDEFINED && !ever);
    }
    return doubted;
}

void blind_interval(struct blind *blind, const struct plan *plan, const struct readings *readings,
                    const struct snapshot *snapshot) {
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
    blind->pmu_up = counted && !(rotates && snapshot && none_believed(plan, snapshot, blind->ever));
    blind->ever = blind->ever || blind->pmu_up;
    if (blind->pmu_up)
        blind->intervals = 0;
    else if (blind->intervals < BLIND_INTERVALS)
        blind->intervals++;
}

void blind_excuse(struct blind *blind) { *blind = (struct blind){.ever = blind->ever}; }
