// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SIM_PMU_SIM_H
#define TOPDOWND_COLLECTORS_SIM_PMU_SIM_H

// A simulated host whose true counts are known, and which obeys the kernel's rules: an event group runs as a whole or
// not at all; counters are few; an event with a counter of its own takes a general one where that is taken; pinned
// groups come first, then flexible CPU-wide ones, then tasks'; who waits gets in at the next tick of 4 ms, in turns;
// enabled and running times tell the share. Fields of PERF_METRICS count only behind their leader (sim_group.h).

#include "collectors/pmu/pmu.h"
#include "core/host/scenario.h"
#include "core/host/topology.h"
#include "core/spec/catalog.h"

// The catalog and the scenario are borrowed. The host's time begins at epoch_ns. A rate of an event that the catalog
// does not have, or that is no rate (negative, not finite, above 1e13): -EINVAL with the name in `unknown_event`.
// Of a host with several core types it is the PMU of one: each has its own. Returns 0, -ENOMEM.
int pmu_sim_new(const struct scenario *scenario, const struct catalog *catalog, uint64_t epoch_ns,
                const char **unknown_event, struct pmu **out);

// The CPUs of the scenario's core type; `selected` may be NULL for all.
int pmu_sim_topology(const struct scenario *scenario, const struct cpuset *selected, struct topology **out);

// How often the event truly happened on this CPU between two times, from_ns >= epoch_ns: never while it was offline.
double pmu_sim_truth(const struct pmu *pmu, unsigned cpu, unsigned event, uint64_t from_ns, uint64_t to_ns);

// How often calls to this PMU have interrupted the CPU so far, had another one made them: all that start or stop an
// event group, and reads of one that is on the counters.
uint64_t pmu_sim_interrupts(const struct pmu *pmu, unsigned cpu);

// Share of the time since epoch_ns, while it wanted to run, that rival `rival` really was on the counters of `cpu`; NaN
// where it never wanted to.
double pmu_sim_rival_share(const struct pmu *pmu, size_t rival, unsigned cpu);

#endif
