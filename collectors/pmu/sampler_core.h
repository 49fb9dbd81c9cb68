// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_SAMPLER_CORE_H
#define TOPDOWND_COLLECTORS_PMU_SAMPLER_CORE_H

// A physical core on its way through its rounds: which event group is next, how long it has been held on one because it
// slept, and the windows of its unfinished round.
//
// A core sees the edges between ticks. At each it either goes on to its next slot or is held. Time in which it is held
// is taken out of its round and of the window: each event group then has its slots, however long the core slept, and
// all groups stand for the same share of the time. Of the idle pieces it is known how much of the core's busy time fell
// into them: a core that sleeps is not in them, so its share may be smaller than the plan's.

#include "core/plan/schedule.h"
#include "core/tally/readings.h"

enum { SAMPLER_IDLE = -1 }; // as an event group: none

struct sampler_core {
    unsigned *cpus; // indexes into the topology
    size_t n_cpus;
    unsigned *order; // of plan->round
    uint64_t round;
    size_t entry;  // position in the order
    unsigned part; // of the entry's unit
    int group;     // now counting, or SAMPLER_IDLE
    bool begun, holding;
    bool in_piece;              // in the idle piece that is going on
    uint64_t start_ns, tick_ns; // of the round; of the tick, after its idle piece
    uint64_t slot_held_ns;      // beyond the present slot
    uint64_t held_ns;           // in the window
    uint64_t round_held_ns, round_idle_ns;
    uint64_t busy_ns;                // since the last change
    double busy_all, busy_in_pieces; // in seconds, lately
    struct readings *windows;        // of the unfinished round
};

// The core's event group in its present slot.
int sampler_core_group(const struct sampler_core *core, const struct plan *plan);

// Moves to the next slot; false at the end of the round.
bool sampler_core_next(struct sampler_core *core, const struct schedule *schedule);

// Takes the order of a round, and goes to its first slot. `index` is the core's in the topology.
void sampler_core_take_order(struct sampler_core *core, const struct schedule *schedule, size_t index, uint64_t round);

// Begins the windows and the time of the round at now_ns.
void sampler_core_begin_round(struct sampler_core *core, uint64_t now_ns);

// Notes that the core was busy for busy_ns in the tick that ends at now_ns and in the idle piece of piece_ns before it.
void sampler_core_note_busy(struct sampler_core *core, uint64_t busy_ns, uint64_t piece_ns, uint64_t now_ns);

// Ends the tick at now_ns: the time in which the core was held is noted. True if it is held for the next one, too; for
// this it must be known how busy it was.
bool sampler_core_end_tick(struct sampler_core *core, const struct schedule *schedule, bool busy_known,
                           uint64_t now_ns);

// The round that ends at now_ns.
struct core_round sampler_core_round(const struct sampler_core *core, size_t index, uint64_t now_ns);

#endif
