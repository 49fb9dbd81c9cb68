// SPDX-License-Identifier: Apache-2.0
#include "core/counts/level1_siblings.h"

#include <math.h>

// What a CPU can lend of a category's slots: no more than it has in all, since other categories may be negative.
static double lendable(const struct level1_cpu *from, size_t category, size_t n) {
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += from->slots[i];
    return fmax(fmin(from->slots[category], all), 0);
}

// Both have windows of this round.
static void lend(struct level1_cpu *from, struct level1_cpu *to, size_t category, size_t n) {
    double wanted = fmax(-to->slots[category], 0) / to->seconds, has = lendable(from, category, n) / from->seconds;
    if (to->debt.owed[category] >= -to->debt.busiest_slots) // noise owes less
        return;
    to->slots[category] += fmin(wanted, has) * to->seconds;
    from->slots[category] -= fmin(wanted, has) * from->seconds;
}

void level1_siblings_lend(struct level1_cpus *level1, const bool *ended) {
    size_t n = level1->scopes->topology->n_cpus;
    for (size_t cpu = 0; cpu < n; cpu++)
        for (size_t other = level1->next[cpu]; ended[cpu] && other < n; other = level1->next[other]) {
            struct level1_cpu *a = &level1->cpus[cpu], *b = &level1->cpus[other];
            for (size_t i = 0; i < level1->n_categories && a->seconds > 0 && b->seconds > 0; i++) {
                lend(a, b, i, level1->n_categories);
                lend(b, a, i, level1->n_categories);
            }
        }
}
