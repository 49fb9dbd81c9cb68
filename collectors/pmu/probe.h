// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_PROBE_H
#define TOPDOWND_COLLECTORS_PMU_PROBE_H

// Probes how many general counters are free now, by running event groups of that many events on every CPU.
//
// A successful open proves nothing: the kernel validates a group alone, it accepts one member too many if the leader is
// opened disabled, and some drivers accept any number. So the probe runs each size for three of the kernel's rotation
// intervals of 4 ms; a group that ran at any time fits. A binary search finds the size. At its end the smallest one
// that did not fit is tried again, because others may have released counters meanwhile. Every group contains the events
// that have counters of their own: if another user holds such a counter (the NMI watchdog counts cycles), its event
// needs a general one. Opening and closing go at the pace of collectors/pmu/pace.h.

#include <stdint.h>

#include "collectors/pmu/closer.h"
#include "collectors/pmu/pmu.h"
#include "core/host/topology.h"
#include "core/spec/catalog.h"

enum { PROBE_COUNTERS_MAX = 32, PROBE_FIXED_MAX = 16 };

struct probe;

// The probe uses the catalog's core PMU events that any counter can count (core/plan/fit.h; three events of two
// counters would suggest two counters) and those with a counter of their own, if `usable` (by the catalog's index) says
// that the PMU accepts them. An event whose fixed counter the plan knows to be taken must not be usable, else the loss
// would count twice. Everything is borrowed. Returns 0 or -ENOMEM.
int probe_new(const struct catalog *catalog, const bool *usable, const struct topology *topology, struct pmu *pmu,
              struct probe **out);
// Also asks, at the end, whether an event runs beside as many general events as fit: then its fixed counter is free.
// Call it before the first step.
void probe_ask(struct probe *probe, const struct pmu_event *event);
// The answer; false if it was not asked, or if all general events fit, so that nothing can be told.
bool probe_runs_beside(const struct probe *probe);

struct probe *probe_free(struct probe *probe); // closes all open groups at once

// Stops all open groups at once and leaves them to the closer.
struct probe *probe_release(struct probe *probe, struct closer *closer);

// Does what is due and sets *deadline_ns. Returns 1 once the answer is known.
int probe_step(struct probe *probe, uint64_t now_ns, uint64_t *deadline_ns);

// The largest number of counters free on at least half of the CPUs; 0: none.
unsigned probe_counters(const struct probe *probe);

// 0 if the smallest event group could be opened on any CPU, else a negative errno; an offline CPU's only if there is no
// other.
int probe_error(const struct probe *probe);

// The cost so far, as of the sampler (collectors/pmu/sampler.h); closing interrupts too.
uint64_t probe_calls(const struct probe *probe);
uint64_t probe_interrupts(const struct probe *probe);

#endif
