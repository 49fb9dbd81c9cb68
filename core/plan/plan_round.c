// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool plan_group_same(const struct plan_group *a, const struct plan_group *b) {
    return a->n_events == b->n_events && memcmp(a->events, b->events, a->n_events * sizeof *a->events) == 0;
}

bool plan_unit_fetched(const struct plan *plan, unsigned unit) {
    bool any = false, all = true;
    for (size_t i = 0; i < plan->n_metrics; i++) {
        bool of_unit = plan->metrics[i].unit == (int)unit;
        any = any || of_unit;
        all = all && (!of_unit || plan->metrics[i].fetched);
    }
    return any && all;
}

size_t plan_n_rotating(const struct plan *plan) {
    size_t n = 0;
    while (n < plan->n_groups && !plan_group_stands(plan, (unsigned)n))
        n++;
    return n;
}

unsigned plan_slots(const struct plan *plan) {
    unsigned slots = 0;
    for (size_t u = 0; u < plan->n_units; u++)
        slots += plan->units[u].slots * plan->units[u].n_groups;
    return slots;
}

// Level 1 guides everything else, so it gets a third of the time, but never more than half of the slots.
void plan_give_level1_its_third(struct plan *plan, double idle) {
    struct plan_unit *unit = &plan->units[plan->level1_unit];
    double wanted = 1.0 / 3 / (1 - idle) < 0.5 ? 1.0 / 3 / (1 - idle) : 0.5;
    while (unit->slots * unit->n_groups < wanted * plan_slots(plan))
        unit->slots++;
}

int plan_make_round(struct plan *plan, double idle, uint64_t standing_ns) {
    uint64_t busy_ns = plan_slots(plan) * plan->slot_ns;
    plan->idle_ns = plan->n_units == 0 ? PLAN_ROUND_NS_MIN
                    : busy_ns == 0     ? standing_ns
                                       : (uint64_t)((double)busy_ns * idle / (1 - idle) + 0.5);
    plan->round_ns = busy_ns + plan->idle_ns;
    plan->n_windows = plan_slots(plan) + plan->n_groups - plan_n_rotating(plan);
    plan->round = calloc(plan_slots(plan) + 1, sizeof *plan->round);
    if (!plan->round)
        return -ENOMEM;
    for (unsigned u = 0; u < plan->n_units; u++)
        for (unsigned i = 0; i < plan->units[u].slots; i++)
            plan->round[plan->n_round++] = u;
    if (plan->idle_ns > 0)
        plan->round[plan->n_round++] = (unsigned)plan->n_units;
    return 0;
}

double plan_share(const struct plan *plan, unsigned unit) {
    if (plan_unit_stands(plan, unit))
        return 1;
    unsigned slots =
        plan->common_unit == (int)unit ? plan_slots(plan) : plan->units[unit].slots * plan->units[unit].n_groups;
    return (double)(slots * plan->slot_ns) / (double)plan->round_ns;
}
