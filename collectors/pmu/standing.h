// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_STANDING_H
#define TOPDOWND_COLLECTORS_PMU_STANDING_H

// The event groups of a plan that count all the time, because their events need no counter. The sampler starts each
// once a CPU, and reads it whenever a round of its core is over: nothing rotates, and no count is missed. A sampler
// that replaces another inherits them while they count, so that a probe or a change of plan costs no count either.

#include "collectors/pmu/channels.h"

// Starts them all on every CPU; what is opened later starts at once.
void standing_start(struct channels *channels, const struct plan *plan, const struct topology *topology);

// Adds a window for each of them on a CPU to the readings, over the time since the last reading.
void standing_read(struct channels *channels, const struct plan *plan, unsigned cpu, uint64_t now_ns,
                   struct readings *readings);

#endif
