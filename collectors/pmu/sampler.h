// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_SAMPLER_H
#define TOPDOWND_COLLECTORS_PMU_SAMPLER_H

// Runs a plan on a PMU: every physical core goes through its rounds in orders of its own (core/plan/schedule.h), its
// SMT siblings with it.
//
// At a slot edge the old event group's leader is disabled, then the new one's enabled, then the old group read: the
// other order costs the new group up to a tick of 4 ms. Siblings do each of the three together, as they share
// registers. All event groups stay open. The sampler opens them a few at a time, so that it never holds a CPU for long.
// It retries a group that failed to open every minute; groups of a CPU that went offline, whenever readings are over,
// because their file descriptors stay dead when the CPU returns. Event groups that count all the time
// (collectors/pmu/standing.h) are read when a core's round is over, and where not every snapshot interval ends rounds,
// on all CPUs whenever readings are over. The sampler reads no clock: the caller passes the time and learns when to
// call again.

#include <stdint.h>

#include "collectors/host/busy_clock.h"
#include "collectors/pmu/closer.h"
#include "collectors/pmu/pmu.h"
#include "core/host/topology.h"
#include "core/plan/plan.h"
#include "core/tally/readings.h"

enum { SAMPLER_BUSY_CLOCK_CORES = 8 }; // with fewer cores, asking whether they sleep costs more than it saves

// What a sampler runs. Everything is borrowed and must outlive the sampler. Rounds are numbered from first_round, so
// that a sampler that replaces another does not repeat its random orders.
struct sampler_request {
    const struct plan *plan;
    const struct topology *topology;
    struct pmu *pmu;
    struct busy_clock *busy_clock; // NULL: cores that sleep are treated like others
    struct busy_clock *told_clock; // for how long CPUs were busy is told as it says; NULL: that is not told
    uint64_t told_pause_ns;        // a look at that clock that nothing else needs comes at most so long after the one
                                   // before, and sooner at first; 0: with all readings
    bool guests;                   // tell for how long guests had CPUs, as far as the clock knows
    uint64_t interval_ns;          // between readings, as nearly as slots allow; 0: readings tell of one round of all
                                   // cores, with all that was counted in it and nothing else
    uint64_t seed, first_round;
};

struct sampler;

// Returns 0 or -ENOMEM.
int sampler_new(const struct sampler_request *request, struct sampler **out);

// The first_round of a sampler that replaces this one. The unfinished rounds are lost.
uint64_t sampler_next_round(const struct sampler *sampler);

// Closes all event groups at once.
struct sampler *sampler_free(struct sampler *sampler);

// Stops all event groups at once, so that they hold no counter. They stay open; the sampler makes no further step.
void sampler_stop(struct sampler *sampler);

// Takes over from a stopped sampler of the same catalog and PMU the event groups that both have on the same CPU, before
// the first step: so these need not be closed and opened.
void sampler_inherit(struct sampler *sampler, struct sampler *from);

// Leaves the event groups of a stopped sampler to the closer. Returns NULL.
struct sampler *sampler_release(struct sampler *sampler, struct closer *closer);

// Does what is due at now_ns and sets *deadline_ns to the next call's time: a millisecond later while event groups are
// still to be opened, then the next edge. The first round begins once all groups have been tried. Returns 1 if readings
// are over, which is so once a snapshot interval: those of all cores' rounds that have ended since the last ones; they
// are valid until the next call.
int sampler_step(struct sampler *sampler, uint64_t now_ns, uint64_t *deadline_ns);

// The first round has not begun: event groups are being opened.
bool sampler_is_opening(const struct sampler *sampler);

// The event group that a core counts, or -1 if it counts none, and until when at least.
int sampler_now(const struct sampler *sampler, size_t core, uint64_t *until_ns);

const struct readings *sampler_readings(const struct sampler *sampler);

// Why event groups are not open: the errno of the first one (an offline CPU's -ENODEV only if there is no other), or 0
// if all are open. *n_failed is their number over all CPUs.
int sampler_open_error(const struct sampler *sampler, size_t *n_failed);

// Why an event group could not be started, stopped or read until the last readings were over: a negative errno; 0: no
// failure.
int sampler_round_error(const struct sampler *sampler);

// The cost so far. Calls: the number of system calls (one to start, stop or read an event group, one for every event
// opened). Interrupts: those among them that interrupt the target CPU, which are all except opening and reading a
// stopped group.
uint64_t sampler_calls(const struct sampler *sampler);
uint64_t sampler_interrupts(const struct sampler *sampler);

#endif
