// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_turns.h"

static unsigned width(const struct plan *plan, size_t group) {
    const struct plan_group *of = &plan->groups[group];
    return fit_used(&plan->pmu, plan->needs, of->events, of->n_events);
}

// What the groups that are on have in shared registers with room for one value.
struct registers {
    bool taken[EVENT_REGISTERS_MAX + 1];
    uint64_t values[EVENT_REGISTERS_MAX + 1];
};

// False if an event of the group needs another value. A mesh's nodes have such registers (Linux,
// drivers/perf/arm-cmn.c: arm_cmn_set_event_sel_hi).
static bool take_registers(const struct plan *plan, size_t group, struct registers *registers) {
    const struct plan_group *of = &plan->groups[group];
    for (size_t e = 0; e < of->n_events; e++) {
        const struct event_need *need = &plan->needs[of->events[e]];
        if (need->reg == 0 || plan->pmu.registers[need->reg] != 1)
            continue;
        if (registers->taken[need->reg] && registers->values[need->reg] != need->reg_value)
            return false;
        registers->taken[need->reg] = true;
        registers->values[need->reg] = need->reg_value;
    }
    return true;
}

// The number of the unit's groups that are on at a tick that begins with group `first`. The box has all counters of the
// spec, whatever its driver takes in one group.
static unsigned count_on(const struct plan *plan, unsigned unit, size_t first) {
    unsigned counters = plan->catalog->general_counters, taken = 0, n = 0;
    struct registers registers = {{false}, {0}};
    for (size_t i = 0; i < plan->n_groups; i++) {
        size_t group = (first + i) % plan->n_groups;
        taken += width(plan, group);
        if ((counters > 0 && taken > counters) || !take_registers(plan, group, &registers))
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
