// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_STANDING_H
#define TOPDOWND_COLLECTORS_PMU_STANDING_H

// The event groups of a plan that count all the time, because their events need no counter. The standing reader opens
// each once a CPU, starts it once, and reads it whenever a snapshot is made: nothing rotates, and no count is missed.
//
// It belongs to a sampler (collectors/pmu/sampler.h). Where one sampler replaces another, the new one's reader takes
// the open groups over, so that a probe or a change of plan costs no count either. A group that cannot be opened is
// tried again every minute; those of a CPU that went offline, after each reading.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/pmu/pmu.h"
#include "core/host/topology.h"
#include "core/plan/plan.h"
#include "core/tally/readings.h"

struct standing;

// The PMU is borrowed and must outlive it; plan and topology only need to last for the call. Returns 0 or -ENOMEM.
int standing_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu, struct standing **out);
struct standing *standing_free(struct standing *standing); // closes all groups

// Takes over the open groups that `before`, a reader on the same PMU, has for the same CPUs and events. Call it before
// the first step.
void standing_take_over(struct standing *standing, struct standing *before);

// Opens groups that are due, as many as one step may. True if more are left for the next step.
bool standing_open(struct standing *standing, uint64_t now_ns);

// Starts what is open; what is opened later starts at once.
void standing_start(struct standing *standing, uint64_t now_ns);

// Adds a window for each group and CPU to the readings, over the time since the last reading. Returns 0, or why a group
// could not be read: a negative errno.
int standing_read(struct standing *standing, uint64_t now_ns, struct readings *readings);

// As of the sampler, which adds its own.
int standing_open_error(const struct standing *standing, size_t *n_failed);
uint64_t standing_calls(const struct standing *standing);
uint64_t standing_interrupts(const struct standing *standing);

#endif
