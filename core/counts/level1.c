// SPDX-License-Identifier: Apache-2.0
#include "core/counts/level1.h"

#include <math.h>
#include <string.h>

void level1_split(const struct catalog *catalog, const struct lanes *counts, struct lanes *values,
                  struct level1_split *split) {
    const struct catalog_level1 *level1 = &catalog->level1;
    struct lanes slots = formula_evaluate_lanes(level1->pipeline_slots, counts, NULL), sum = lanes_all(0);
    for (size_t i = 0; i < level1->n_metrics; i++)
        values[level1->metrics[i]] =
            formula_evaluate_lanes(catalog->metrics[level1->metrics[i]].formula, counts, values);
    for (size_t i = 0; i < level1->n_categories; i++)
        for (size_t l = 0; l < LANES; l++)
            sum.of[l] += values[level1->categories[i].metric].of[l];
    for (size_t l = 0; l < LANES; l++)
        split->possible[l] = slots.of[l] == 0 || (slots.of[l] > 0 && sum.of[l] > 0); // false for NaN
    for (size_t i = 0; i < level1->n_categories; i++) {
        struct lanes share = values[level1->categories[i].metric];
        for (size_t l = 0; l < LANES; l++) {
            double part = share.of[l] / sum.of[l] * slots.of[l];
            split->categories[i].of[l] = slots.of[l] == 0 ? 0 : part;
        }
    }
    split->slots = slots;
}

struct lanes level1_contention(const struct catalog *catalog, const struct lanes *counts) {
    const struct catalog_level1 *level1 = &catalog->level1;
    if (!level1->per_thread)
        return lanes_all(0);
    // not the share that level1_split finds: a thread that lost all of its slots has none to split
    struct lanes share = formula_evaluate_lanes(catalog->metrics[level1->contention].formula, counts, NULL);
    struct lanes slots = formula_evaluate_lanes(level1->thread[THREAD_SLOTS_ALL], counts, NULL);
    for (size_t l = 0; l < LANES; l++)
        slots.of[l] = lanes_max(share.of[l] * slots.of[l], 0); // also without a value: the thread was asleep
    return slots;
}

void level1_increase(const double *signed_slots, size_t n, struct level1_debt *debt, double *increase) {
    double *owed = debt->owed, slots = 0, positive = 0, all = 0;
    for (size_t i = 0; i < n; i++)
        slots += signed_slots[i];
    if (!(slots > 0) || !isfinite(slots)) { // nothing to divide
        memset(increase, 0, n * sizeof *increase);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        owed[i] += signed_slots[i];
        positive += fmax(owed[i], 0);
    }
    for (size_t i = 0; i < n; i++) {
        increase[i] = fmax(owed[i], 0) / positive * slots;
        owed[i] -= increase[i];
        all += fmax(-owed[i], 0);
    }
    debt->busiest_slots = fmax(slots, debt->busiest_slots * (1 - 1.0 / LEVEL1_MEMORY));
    double limit = LEVEL1_DEBT_MAX * debt->busiest_slots;
    for (size_t i = 0; i < n && all > limit; i++)
        owed[i] *= limit / all;
}
