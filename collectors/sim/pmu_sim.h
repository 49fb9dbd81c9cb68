// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SIM_PMU_SIM_H
#define TOPDOWND_COLLECTORS_SIM_PMU_SIM_H

// A simulated host with known true counts that follows the kernel's rules: an event group runs as a whole or not at
// all; counters are few; an event whose own counter is taken uses a general one; pinned groups come first, then
// flexible CPU-wide ones, then tasks'; waiting groups take turns at ticks of 4 ms; enabled and running times give the
// share. Fields of PERF_METRICS count only behind their leader (sim_group.h).

#include "collectors/pmu/pmu.h"
#include "core/host/scenario.h"
#include "core/host/topology.h"
#include "core/spec/catalog.h"

// The catalog and the scenario are borrowed. The host's time begins at epoch_ns. A host with several core types has one
// such PMU for each. Returns 0, -ENOMEM, or -EINVAL with the event's name in `unknown_event` if the catalog lacks an
// event or its rate is invalid (negative, not finite, above 1e13). Its busy clock knows the loads' shares of time
// awake, guests included; there is none if a load does not tell them.
int pmu_sim_new(const struct scenario *scenario, const struct catalog *catalog, uint64_t epoch_ns,
                const char **unknown_event, struct pmu **out);

// The CPUs of the scenario's core type; `selected` may be NULL for all.
int pmu_sim_topology(const struct scenario *scenario, const struct cpuset *selected, struct topology **out);

// How often the event truly happened on this CPU between two times, from_ns >= epoch_ns. Nothing happens while the CPU
// is offline, or runs a guest.
double pmu_sim_truth(const struct pmu *pmu, unsigned cpu, unsigned event, uint64_t from_ns, uint64_t to_ns);

// How many calls to this PMU would have interrupted the CPU so far if another CPU had made them: all that start or stop
// an event group, and reads of a group that is on the counters.
uint64_t pmu_sim_interrupts(const struct pmu *pmu, unsigned cpu);

// Of the time since epoch_ns in which rival `rival` wanted to run, the share that it was on the counters of `cpu`; NaN
// if it never wanted to run.
double pmu_sim_rival_share(const struct pmu *pmu, size_t rival, unsigned cpu);

#endif
