// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_STANDING_H
#define TOPDOWND_COLLECTORS_PMU_STANDING_H

// The event groups of a plan that count all the time, because their events need no counter. The standing reader opens
// each once a CPU, starts it once, and reads it whenever a round of its core is over: nothing rotates, and no count is
// missed.
//
// It belongs to a sampler (collectors/pmu/sampler.h), and is like it wherever this page does not say more. A sampler
// that replaces another inherits the groups while they count, so that a probe or a change of plan costs no count
// either.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/pmu/closer.h"
#include "collectors/pmu/pmu.h"
#include "core/host/topology.h"
#include "core/plan/plan.h"
#include "core/tally/readings.h"

struct standing;

// Everything is borrowed and must outlive it. NULL if out of memory.
struct standing *standing_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu);
struct standing *standing_free(struct standing *standing); // closes all groups at once

// Takes over the groups that both have on the same CPU, before the first step.
void standing_inherit(struct standing *standing, struct standing *from);

// Stops all groups and leaves them to the closer.
void standing_release(struct standing *standing, struct closer *closer);

// Opens groups that are due, as many as one step may. True if more are left for the next step.
bool standing_open(struct standing *standing, uint64_t now_ns);

// Starts what is open; what is opened later starts at once.
void standing_start(struct standing *standing, uint64_t now_ns);

// Adds a window for each group on a CPU to the readings, over the time since the last reading. Returns 0, or why a
// group could not be read: a negative errno.
int standing_read(struct standing *standing, unsigned cpu, uint64_t now_ns, struct readings *readings);

// Begins to try again what is not open.
void standing_retry(struct standing *standing);

int standing_open_error(const struct standing *standing, size_t *n_failed);
uint64_t standing_calls(const struct standing *standing);
uint64_t standing_interrupts(const struct standing *standing);

#endif
