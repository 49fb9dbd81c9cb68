// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/sampler_core.h"

#include <math.h>

static const double MEMORY_SECONDS = 10; // of busy time: idle pieces are short, and steps of the clock are 10 ms
static const double IDLE_SHARE_MAX = 0.5;

int sampler_core_group(const struct sampler_core *core, const struct plan *plan) {
    unsigned unit = plan->round[core->order[core->entry]];
    return unit == plan->n_units ? SAMPLER_IDLE : (int)(plan->units[unit].first_group + core->part);
}

static void take_order(struct sampler_core *core, const struct schedule *schedule, size_t index) {
    schedule_order(schedule, index, core->round, core->order);
    core->entry = 0;
    core->part = 0;
}

void sampler_core_begin_round(struct sampler_core *core, const struct schedule *schedule, size_t index,
                              uint64_t round) {
    core->round = round;
    if (core->round_held)
        return;
    take_order(core, schedule, index);
    core->at_start = true;
}

void sampler_core_next(struct sampler_core *core, const struct schedule *schedule, size_t index) {
    unsigned unit = schedule->plan->round[core->order[core->entry]];
    if (core->at_start) {
        core->at_start = false;
    } else if (unit < schedule->plan->n_units && core->part + 1 < schedule->plan->units[unit].n_groups) {
        core->part++;
    } else {
        core->part = 0;
        if (++core->entry == schedule->n_entries)
            take_order(core, schedule, index);
    }
}

void sampler_core_note_busy(struct sampler_core *core, uint64_t changed_ns, uint64_t tick_busy_ns, uint64_t now_ns) {
    uint64_t most_ns = now_ns - core->tick_ns; // a CPU that comes back seems to have been busy meanwhile
    core->busy_ns = changed_ns;
    core->round_busy += (double)(tick_busy_ns < most_ns ? tick_busy_ns : most_ns) * 1e-9;
}

void sampler_core_note_piece(struct sampler_core *core, uint64_t busy_ns, uint64_t piece_ns) {
    core->round_busy_in_pieces += (double)(busy_ns < piece_ns ? busy_ns : piece_ns) * 1e-9;
}

bool sampler_core_end_tick(struct sampler_core *core, const struct schedule *schedule, size_t index, bool busy_known,
                           uint64_t tick, uint64_t now_ns) {
    core->tick_ns = now_ns;
    core->held = busy_known && !core->offline && core->group != SAMPLER_IDLE &&
                 schedule_slept(schedule, core->busy_ns) && now_ns - core->slot_ns < core->hold_ns;
    core->round_held = core->round_held || core->held;
    if (core->held)
        return true;
    core->slot_ns = now_ns;
    core->hold_ns = schedule_hold_ns(schedule, index, tick);
    return false;
}

// Remembers the busy time of held rounds, the last seconds of it more.
static void remember(struct sampler_core *core) {
    double kept = exp(-core->round_busy / MEMORY_SECONDS);
    core->busy = core->busy * kept + core->round_busy;
    core->busy_in_pieces = core->busy_in_pieces * kept + core->round_busy_in_pieces;
}

struct core_round sampler_core_end_round(struct sampler_core *core, size_t index, uint64_t now_ns) {
    struct core_round round = {.core = (unsigned)index, .start_ns = core->start_ns, .end_ns = now_ns};
    if (core->round_held || core->in_old_order) {
        remember(core);
        round.held = true;
        round.idle_share = core->busy > 0 ? fmin(core->busy_in_pieces / core->busy, IDLE_SHARE_MAX) : 0;
    }
    core->start_ns = now_ns;
    core->in_old_order = core->round_held;
    core->round_held = core->held;
    core->round_busy = core->round_busy_in_pieces = 0;
    return round;
}
