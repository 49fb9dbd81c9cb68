// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_SCHEDULE_H
#define TOPDOWND_CORE_PLAN_SCHEDULE_H

// The schedule: which event group a core counts at which time. Pure, so that the sampler and the benchmark of accuracy
// run the same one.
//
// Time goes in ticks of one slot, the same for all cores. At the end of a tick every core goes on to the next slot of
// its round, unless it slept: then it stays, because each change of groups would wake it. Between two ticks there may
// be an idle piece, in which no core that was awake holds a counter. A round of ticks is divided into parts of about
// SCHEDULE_PIECE_NS, and each part has one piece, at a random place. So a task that wants counters never waits for
// long, and the pieces of a round add up to the plan's idle time.
//
// Each core goes through its rounds in random orders. The cores of a block, as many as a round has entries, run the
// same shuffled order, each from another place. So at any time each event group counts on equally many cores (a Latin
// square), and what all cores do at once is seen by all groups. Blocks and rounds are independent.
//
// A round lasts as many ticks as it has slots. A core that was held has had some of its slots only when the round ends;
// it begins the next one with a new order all the same. It is held only by what happened since its last change, and
// whatever the group is, so at any time each group is on with the probability of its slots: docs/estimation.md.
//
// A round is divided into snapshot intervals, usually of about PLAN_INTERVAL_NS, and a snapshot is made at the end of
// each. Long rounds would come to their end at the same time everywhere. Cores are therefore divided into cohorts that
// begin their rounds with different intervals. Few cores stay together: a cohort loses more than it gains if it is too
// small for its orders to balance one another, and begins late after each change of plan.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan/plan.h"

#define SCHEDULE_PIECE_NS UINT64_C(750000000)

enum {
    SCHEDULE_COHORT_CORES = 8, // at least: what fewer cores count says little of a host
    SCHEDULE_BUSY_SHARE = 4,   // a core that was busy for less than a slot / 4 since its last change slept
    SCHEDULE_HELD_SLOTS = 10   // it is held for this many on average: from half to three halves of that, so that cores
                               // that sleep do not all go on at once
};

struct schedule {
    const struct plan *plan; // borrowed
    uint64_t seed;
    size_t n_cores;
    unsigned n_entries; // of a round, without the idle one
    unsigned n_ticks;   // of a round of a core that never sleeps
    uint64_t tick_ns;
    unsigned n_pieces;    // of a round's ticks
    unsigned n_intervals; // of a round, at least 1: each ends with a snapshot
    unsigned n_cohorts;   // at least 1, and no more than intervals
};

// interval_ns: the time between two snapshots, as nearly as slots allow; 0: a whole round.
struct schedule schedule_of(const struct plan *plan, size_t n_cores, uint64_t interval_ns, uint64_t seed);

// How long an idle piece of the plan is, about; 0: there are none.
static inline uint64_t schedule_usual_piece_ns(const struct plan *plan) {
    return (uint64_t)((double)plan->idle_ns * (double)SCHEDULE_PIECE_NS / (double)plan->round_ns);
}

// How many idle pieces a round of the plan has, about; at least 1.
static inline double schedule_usual_pieces(const struct plan *plan) {
    double pieces = (double)plan->round_ns / (double)SCHEDULE_PIECE_NS;
    return pieces > 1 ? pieces : 1;
}

// The length of the idle piece just before a tick, counted from 0; 0: there is none.
uint64_t schedule_piece_ns(const struct schedule *schedule, uint64_t tick);

// The cohort of a core, and the tick, counted from the beginning of a round, at which its cohort's rounds begin.
unsigned schedule_cohort(const struct schedule *schedule, size_t core);
unsigned schedule_cohort_tick(const struct schedule *schedule, unsigned cohort);

// True if a snapshot interval begins at this tick, and perhaps a cohort's rounds with it.
bool schedule_interval_begins(const struct schedule *schedule, uint64_t tick);

// The time between two snapshots, the longest one where they differ by a slot.
uint64_t schedule_interval_ns(const struct schedule *schedule);

// True if each snapshot reads on all CPUs what counts all the time, because not every interval ends rounds.
static inline bool schedule_reads_all(const struct schedule *schedule) {
    return schedule->n_cohorts < schedule->n_intervals;
}

// Writes the order in which a core runs the entries of its round: order[i] is an index into plan->round. It depends
// only on the arguments.
void schedule_order(const struct schedule *schedule, size_t core, uint64_t round, unsigned *order);

// The slot for so many cores, unless one is configured: many cores need fewer windows of each, and slots cost
// interrupts. 200 ms up to 32 cores, then between these: 375 ms for 128, 750 ms for 256 and more (docs/estimation.md).
uint64_t schedule_slot_ns(size_t n_cores);

// Makes a plan with such slots; request->slot_ns is not used. Where a round would last longer than
// SCHEDULE_ROUND_NS_MAX, slots are shorter, but not below 200 ms. The budget may want them `longer` than that by a
// factor, at least 1 (core/adapt/budget.h). Returns as plan_new.
int schedule_make_plan(const struct plan_request *request, size_t n_cores, double longer, struct plan **out);

#define SCHEDULE_ROUND_NS_MAX UINT64_C(15000000000)

// How long at most a core is held on the slot that it begins at this tick.
uint64_t schedule_hold_ns(const struct schedule *schedule, size_t core, uint64_t tick);

// True if a core slept that was busy for busy_ns since its last change.
static inline bool schedule_slept(const struct schedule *schedule, uint64_t busy_ns) {
    return busy_ns < schedule->tick_ns / SCHEDULE_BUSY_SHARE;
}

// True if cores may be held: the parts of a composite must follow one another.
bool schedule_may_hold(const struct schedule *schedule);

#endif
