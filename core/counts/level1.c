// SPDX-License-Identifier: Apache-2.0
#include "core/counts/level1.h"

#include <math.h>
#include <string.h>

bool level1_split(const struct catalog *catalog, const double *counts, double *values, double *categories,
                  double *pipeline_slots) {
    const struct catalog_level1 *level1 = &catalog->level1;
    double shares[CATEGORY_N], sum = 0, slots = formula_evaluate_known(level1->pipeline_slots, counts, NULL);
    if (slots == 0) {
        memset(categories, 0, level1->n_categories * sizeof *categories);
        *pipeline_slots = 0;
        return true;
    }
    for (size_t i = 0; i < level1->n_metrics; i++)
        values[level1->metrics[i]] =
            formula_evaluate_known(catalog->metrics[level1->metrics[i]].formula, counts, values);
    for (size_t i = 0; i < level1->n_categories; i++) {
        shares[i] = values[level1->categories[i].metric];
        sum += shares[i];
    }
    if (!(slots > 0) || !(sum > 0)) // also true for NaN
        return false;
    for (size_t i = 0; i < level1->n_categories; i++)
        categories[i] = shares[i] / sum * slots;
    *pipeline_slots = slots;
    return true;
}

double level1_contention(const struct catalog *catalog, const double *counts) {
    const struct catalog_level1 *level1 = &catalog->level1;
    if (!level1->per_thread)
        return 0;
    // not the share that level1_split finds: a thread that lost all of its slots has none to split
    double share = formula_evaluate_known(catalog->metrics[level1->contention].formula, counts, NULL);
    double slots = share * formula_evaluate_known(level1->thread[THREAD_SLOTS_ALL], counts, NULL);
    return slots > 0 ? slots : 0; // also without a value: the thread was asleep
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
