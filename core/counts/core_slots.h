// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_CORE_SLOTS_H
#define TOPDOWND_CORE_COUNTS_CORE_SLOTS_H

// The pipeline slots that a core had to give, where the PMU sees the core from one hardware thread at full width (AMD).
//
// Such a PMU counts width x cycles for each thread, so that two busy threads have twice the slots of their core, and no
// event counts the cycles in which the core is awake. Siblings are counted in the same windows. Of their core is known
// exactly what was dispatched, useful or not: a slot dispatches for one thread only. The core's slots lie between those
// of the thread that ran longer (all of the other one's time fell into it) and the sum of both (they never ran
// together). Three facts narrow this:
//
// - A slot that a thread lost to its sibling was one in which both ran: the overlap is at least as large.
// - The core runs no faster than its clock, so what both have beyond the window's cycles is overlap.
// - Where both run, a thread loses a slot to the other at least as often as both want one. If they want slots
//   independently of each other, the overlap is at most the slots lost, divided by the shares of time in which each
//   thread wants a slot.
//
// Within these bounds the estimate is that the threads run independently of each other, and its standard error that of
// an overlap anywhere between the bounds with equal probability. The core's unused slots then go to the front end and
// the back end, and to the threads, in proportion to the threads' own unused slots. While one thread is served, the
// other one's stall costs the core nothing but may be counted, so that both have more unused slots than their core; by
// as many the division may be off.
//
// Others' counts may lack the slots lost to a sibling. AMD's PMU gives every slot that dispatches nothing one of three
// reasons (PMCx1A0 in the PPR of family 19h, model 11h): the front end, the back end, or the sibling. So they are what
// the thread neither used nor left empty itself.
//
// A thread without a sibling in the same window (its sibling is offline or not measured, SMT is off, or the counts are
// an imported log's) has all slots of its own cycles, except those that its sibling got.
//
// All amounts are slots.

#include <stdbool.h>
#include <stdint.h>

#include "core/counts/operands.h"
#include "core/counts/scopes.h"

// What one thread's counts say of a window.
struct core_thread {
    double slots[THREAD_SLOTS_N];
    double contention; // got by its sibling
};

// A thread's part of its core's slots.
struct core_share {
    double slots[CORE_SLOTS_N];
    double errors[ROWS_ERROR_N]; // standard errors
};

// The slots of a core at its clock in a window: as estimated, and at most (INFINITY: unknown).
struct core_clock {
    double usual, most;
};

// Divides a core's slots among n threads.
void core_slots_divide(const struct core_thread *threads, size_t n, const struct core_clock *clock,
                       struct core_share *shares);

struct core_slots {
    const struct rows *rows; // borrowed, like the topology
    const struct topology *topology;
    size_t n_values;             // of the unit; 0: the plan has none
    bool infers;                 // the unit does not count what siblings got
    unsigned *cpus;              // core by core
    size_t *first;               // [core]: its first in `cpus`; one more for the end
    double *values;              // [cpu][value]: of the CPU's window
    uint8_t *waiting;            // [cpu]: enum core_waiting
    double fastest;              // slots a second of the fastest thread of late
    struct core_thread *threads; // of one core at a time
    struct core_share *shares;
    struct operands *window;
};

// A CPU's window that waits for its siblings'.
enum core_waiting { CORE_WAITS_NOT, CORE_WAITS, CORE_WAITS_WITHOUT_DATA };

// `rows` and `topology` must outlive it. NULL if out of memory.
struct core_slots *core_slots_new(const struct rows *rows, const struct topology *topology);
struct core_slots *core_slots_free(struct core_slots *core_slots);

// Takes over what is known of the clock.
void core_slots_continue(struct core_slots *core_slots, const struct core_slots *old);

// True if a window of the CPU waits.
static inline bool core_slots_waits(const struct core_slots *core_slots, size_t cpu) {
    return core_slots->waiting[cpu] != CORE_WAITS_NOT;
}

// Takes the values of a CPU's window of rows->core_unit, NULL without data, none of which waits. True if all of its
// siblings' wait as well: call core_slots_finish.
bool core_slots_take(struct core_slots *core_slots, size_t cpu, const double *values);

// Divides the slots of the CPU's core by the windows that wait, and ends their waiting. Returns the core's CPUs.
struct scope_cpus core_slots_finish(struct core_slots *core_slots, size_t cpu);

// A CPU's values after core_slots_finish, complete; 0 CPU seconds: there was no window with data.
static inline double *core_slots_values(const struct core_slots *core_slots, size_t cpu) {
    return core_slots->values + cpu * core_slots->n_values;
}

#endif
