// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_PROBE_H
#define TOPDOWND_COLLECTORS_PMU_PROBE_H

// How many general counters can be had now: found by letting event groups of that many events run on every CPU.
//
// An open that succeeds proves nothing: the kernel validates a group alone, accepts one member too many where the
// leader is opened disabled, and some drivers accept any number. So each size is tried for three of the kernel's
// rotation intervals of 4 ms; a group that was on the counters at any time fits. Sizes are halved towards the answer.
// Events that have counters of their own are in every group: where somebody else has those (the NMI watchdog counts
// cycles), they need general ones. Opening and closing are spread over steps of about a millisecond of work.

#include <stdint.h>

#include "collectors/pmu/pmu.h"
#include "core/host/topology.h"
#include "core/spec/catalog.h"

enum { PROBE_COUNTERS_MAX = 32, PROBE_FIXED_MAX = 16 };

struct probe;

// Tries with the catalog's events of the core PMU that any counter can count (core/plan/fit.h; three events of two
// counters would tell of two counters) and those with a counter of their own, as far as `usable` says (by the catalog's
// index) that the PMU does not refuse them. One whose fixed counter the plan knows to be taken is not usable, else it
// is held against the plan twice. Everything is borrowed. Returns 0 or -ENOMEM.
int probe_new(const struct catalog *catalog, const bool *usable, const struct topology *topology, struct pmu *pmu,
              struct probe **out);
struct probe *probe_free(struct probe *probe); // closes what is open

// Does what is due and sets *deadline_ns. Returns 1 when the answer is there.
int probe_step(struct probe *probe, uint64_t now_ns, uint64_t *deadline_ns);

// The largest number of counters that at least half of the CPUs had; 0: none.
unsigned probe_counters(const struct probe *probe);

// Why not even the smallest event group could be opened on any CPU: a negative errno, that of a CPU which is offline
// only where there is no other; 0 where it could.
int probe_error(const struct probe *probe);

#endif
