// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_SAMPLER_H
#define TOPDOWND_COLLECTORS_PMU_SAMPLER_H

// Runs a plan on a PMU: every physical core goes through the round in an order of its own, its SMT siblings with it.
//
// At a slot edge the old event group's leader is disabled, then the new one's enabled, then the old group read: the
// other order costs the new group up to a tick of 4 ms. Siblings do each of the three together, as they share
// registers. All event groups stay open. They are opened a few at a time, so that no CPU is held for long. One that
// could not be opened is tried again every minute; those of a CPU that went away, at the end of every round: its file
// descriptors do not revive when it comes back. The sampler reads no clock: the caller passes the time and is told when
// to come again.

#include <stdint.h>

#include "collectors/pmu/pmu.h"
#include "core/host/topology.h"
#include "core/plan/plan.h"
#include "core/tally/readings.h"

struct sampler;

// Everything is borrowed and must outlive the sampler. Rounds are counted from first_round: a sampler that goes on for
// another one must not go through the same random orders again. Returns 0 or -ENOMEM.
int sampler_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu, uint64_t seed,
                uint64_t first_round, struct sampler **out);

// With which round a sampler that follows this one should go on: the round under way is given away.
uint64_t sampler_next_round(const struct sampler *sampler);

// Closes all event groups.
struct sampler *sampler_free(struct sampler *sampler);

// Does what is due at now_ns and sets *deadline_ns to when to come again: while event groups are still to be opened, a
// millisecond later, then at the next slot edge. The first round begins when all have been tried. Returns 1 where a
// round has just ended: its readings are there until the next call.
int sampler_step(struct sampler *sampler, uint64_t now_ns, uint64_t *deadline_ns);

const struct readings *sampler_readings(const struct sampler *sampler);

// Why event groups are not open (an errno of the first, -ENODEV of CPUs that are offline only where there is no other;
// 0: all are open), and how many of them, over all CPUs.
int sampler_open_error(const struct sampler *sampler, size_t *n_failed);

// Why an event group could not be started, stopped or read in the last finished round: a negative errno, 0: no trouble.
int sampler_round_error(const struct sampler *sampler);

// What it has cost so far: system calls (one to start, stop or read an event group, one for every event opened); and
// those among them that interrupt the CPU that is asked, which are all but opening and the read of a stopped group.
uint64_t sampler_calls(const struct sampler *sampler);
uint64_t sampler_interrupts(const struct sampler *sampler);

#endif
