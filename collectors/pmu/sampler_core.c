// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/sampler_core.h"

#include <math.h>

// How much of what is known of a core's busy time is forgotten each second of it: steps of 10 ms need many pieces.
static const double FORGOTTEN = 0.01;

int sampler_core_group(const struct sampler_core *core, const struct plan *plan) {
    unsigned unit = plan->round[core->order[core->entry]];
    return unit == plan->n_units ? SAMPLER_IDLE : (int)(plan->units[unit].first_group + core->part);
}

bool sampler_core_next(struct sampler_core *core, const struct schedule *schedule) {
    const struct plan *plan = schedule->plan;
    unsigned unit = plan->round[core->order[core->entry]];
    if (unit < plan->n_units && core->part + 1 < plan->units[unit].n_groups) {
        core->part++;
        return true;
    }
    core->part = 0;
    return ++core->entry < schedule->n_entries;
}

void sampler_core_take_order(struct sampler_core *core, const struct schedule *schedule, size_t index, uint64_t round) {
    schedule_order(schedule, index, round, core->order);
    core->round = round;
    core->entry = 0;
    core->part = 0;
}

void sampler_core_begin_round(struct sampler_core *core, uint64_t now_ns) {
    core->begun = true;
    core->start_ns = now_ns;
    core->round_held_ns = core->round_idle_ns = 0;
    readings_begin(core->windows, core->round, now_ns);
}

void sampler_core_note_busy(struct sampler_core *core, uint64_t busy_ns, uint64_t piece_ns, uint64_t now_ns) {
    double busy = (double)busy_ns * 1e-9, tick_ns = (double)(now_ns - core->tick_ns);
    double piece = core->holding || piece_ns == 0 ? 0 : (double)piece_ns / ((double)piece_ns + tick_ns);
    core->busy_ns += busy_ns;
    core->busy_all += busy - core->busy_all * FORGOTTEN * busy;
    core->busy_in_pieces += busy * piece - core->busy_in_pieces * FORGOTTEN * busy;
}

bool sampler_core_end_tick(struct sampler_core *core, const struct schedule *schedule, bool busy_known,
                           uint64_t now_ns) {
    uint64_t held_ns = core->holding ? now_ns - core->tick_ns : 0;
    core->slot_held_ns += held_ns;
    core->held_ns += held_ns;
    core->round_held_ns += held_ns;
    core->holding =
        busy_known && core->group != SAMPLER_IDLE && schedule_holds(schedule, core->busy_ns, core->slot_held_ns);
    if (!core->holding)
        core->busy_ns = core->slot_held_ns = 0;
    core->tick_ns = now_ns;
    return core->holding;
}

// Without what was held, the round is as long as its slots and idle pieces. If the core was held, pieces count by the
// share of the busy time that fell into them.
struct core_round sampler_core_round(const struct sampler_core *core, size_t index, uint64_t now_ns) {
    uint64_t length_ns = now_ns - core->start_ns, schedule_ns = length_ns - core->round_held_ns;
    if (core->round_held_ns > 0) {
        double share = core->busy_all > 0 ? fmin(core->busy_in_pieces / core->busy_all, 0.5) : 0;
        schedule_ns = (uint64_t)((double)(schedule_ns - core->round_idle_ns) / (1 - share));
    }
    return (struct core_round){
        .core = (unsigned)index, .start_ns = core->start_ns, .end_ns = now_ns, .schedule_ns = schedule_ns};
}
