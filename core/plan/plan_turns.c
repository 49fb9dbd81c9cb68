// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_turns.h"

static unsigned width(const struct plan *plan, size_t group) {
    const struct plan_group *of = &plan->groups[group];
    return fit_used(&plan->pmu, plan->needs, of->events, of->n_events);
}

// The number of the unit's groups that are on at a tick that begins with group `first`. The box has all counters of the
// spec, whatever its driver takes in one group.
static unsigned count_on(const struct plan *plan, unsigned unit, size_t first) {
    unsigned counters = plan->catalog->general_counters, taken = 0, n = 0;
    for (size_t i = 0; i < plan->n_groups; i++) {
        size_t group = (first + i) % plan->n_groups;
        taken += width(plan, group);
        if (counters > 0 && taken > counters)
            break;
        n += plan->groups[group].unit == unit;
    }
    return n;
}

double plan_turns_share(const struct plan *plan, unsigned unit) {
    unsigned n = 0;
    for (size_t first = 0; first < plan->n_groups; first++)
        n += count_on(plan, unit, first);
    return (double)n / (double)plan->n_groups / plan->units[unit].n_groups;
}
