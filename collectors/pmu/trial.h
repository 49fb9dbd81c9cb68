// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_TRIAL_H
#define TOPDOWND_COLLECTORS_PMU_TRIAL_H

// Runs event groups on one core, one after the other, to learn whether they get counters at all. It uses time in which
// the caller counts nothing on the core, such as an idle slot, so nothing has to stop for it. Each group runs on all of
// the core's CPUs at once, as in the rotation, for three of the kernel's rotation intervals of 4 ms: a group that ran
// at any time on each CPU where it could be opened fits.
//
// A group that runs on one SMT sibling runs on both at once, by all rules that are known: an exclusive event halves the
// counters of its own CPU as well, and siblings that want the same value of a shared register share it. So siblings
// need not take turns, and a group that does not run on all of them is not for this core.

#include <stdint.h>

#include "collectors/pmu/pmu.h"
#include "core/host/topology.h"

static const uint64_t TRIAL_NS = UINT64_C(12000000);

struct trial;

struct trial_group {
    const struct pmu_event *events; // borrowed
    size_t n_events;
};

// `core` is an index of the topology. Everything is borrowed. Returns 0 or -ENOMEM.
int trial_new(struct pmu *pmu, const struct topology *topology, unsigned core, const struct trial_group *groups,
              size_t n, struct trial **out);
struct trial *trial_free(struct trial *trial); // closes what is open

// Does what is due; the caller counts nothing on the core until quiet_until_ns (at most now_ns: it does now). Returns 1
// once all groups have been tried. *deadline_ns is the end of the group that runs; UINT64_MAX: none does.
int trial_step(struct trial *trial, uint64_t now_ns, uint64_t quiet_until_ns, uint64_t *deadline_ns);

// 1 if the group ran, 0 if it did not or its events were refused; -EAGAIN if it could not be tried: the core is
// offline, guests had its counters all the time, or files or memory were short.
int trial_answer(const struct trial *trial, size_t group);

// The cost so far, as sampler_calls and sampler_interrupts.
uint64_t trial_calls(const struct trial *trial);
uint64_t trial_interrupts(const struct trial *trial);

#endif
