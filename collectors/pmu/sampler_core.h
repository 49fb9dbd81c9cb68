// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_SAMPLER_CORE_H
#define TOPDOWND_COLLECTORS_PMU_SAMPLER_CORE_H

// A physical core on its way through its rounds: which event group is next, whether it is held on one because it slept,
// and the windows of its unfinished round.
//
// A core that was held in a round goes on in its order when the round ends. So it sees each event group equally often
// in its busy time, which is much more exact than a new order each round. Counts of such rounds stand for the round by
// the probability of the schedule (core/counts/cells.h).
//
// If it is held, the share of the plan's idle time is not the share of the core's busy time that nothing saw: a core
// that sleeps is not in the idle pieces, and what wakes it may be. So it is measured how much of the busy time of held
// rounds fell into pieces.

#include "core/plan/schedule.h"
#include "core/tally/readings.h"

enum { SAMPLER_IDLE = -1 }; // as an event group: none

struct sampler_core {
    unsigned *cpus; // indexes into the topology
    size_t n_cpus;
    unsigned *order; // of plan->round
    size_t entry;    // position in the order
    unsigned part;   // of the entry's unit
    int group;       // now counting, or SAMPLER_IDLE
    bool begun;
    bool at_start;                           // of the order: the first entry is next
    bool offline;                            // a CPU was when the last window ended: the core is not held
    bool in_piece;                           // in the idle piece that is going on
    bool held, round_held;                   // now; at some time in the round
    bool in_old_order;                       // the round began within one: the core was held in the round before
    uint64_t round;                          // its number
    uint64_t start_ns;                       // of the round
    uint64_t tick_ns;                        // when the present tick began, with its idle piece
    uint64_t slot_ns, hold_ns;               // when the present slot began, and when it ends even if the core sleeps
    uint64_t busy_ns;                        // since then
    double round_busy, round_busy_in_pieces; // seconds of the round
    double busy, busy_in_pieces;             // of held rounds, lately
    struct readings *windows;                // of the unfinished round
};

// The core's event group in its present slot.
int sampler_core_group(const struct sampler_core *core, const struct plan *plan);

// Begins a round, or the first one: if the core was not held in the one that ends, a new order, whose first slot is
// next. `index` is the core's in the topology.
void sampler_core_begin_round(struct sampler_core *core, const struct schedule *schedule, size_t index, uint64_t round);

// Moves to the next slot. After the last one of its order the core takes the order of the present round.
void sampler_core_next(struct sampler_core *core, const struct schedule *schedule, size_t index);

// Notes that the core was busy for changed_ns since its last change, and for tick_busy_ns in the tick that ends at
// now_ns, with the idle piece before it.
void sampler_core_note_busy(struct sampler_core *core, uint64_t changed_ns, uint64_t tick_busy_ns, uint64_t now_ns);

// Notes that the core was busy for busy_ns in an idle piece of piece_ns, which ends. A burst is likely to end after the
// piece, so this cannot be told from the tick's busy time.
void sampler_core_note_piece(struct sampler_core *core, uint64_t busy_ns, uint64_t piece_ns);

// Ends a tick: true if the core is held on its slot. `tick` is the next one. Whether it slept must be known.
bool sampler_core_end_tick(struct sampler_core *core, const struct schedule *schedule, size_t index, bool busy_known,
                           uint64_t tick, uint64_t now_ns);

// Ends the round at now_ns: what it was. The next one begins.
struct core_round sampler_core_end_round(struct sampler_core *core, size_t index, uint64_t now_ns);

#endif
