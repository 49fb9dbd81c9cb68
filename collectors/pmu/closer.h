// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_CLOSER_H
#define TOPDOWND_COLLECTORS_PMU_CLOSER_H

// Closes event groups that are no longer needed, at the pace of opening (collectors/pmu/pace.h).
//
// A group is stopped when the closer takes it. A stopped group holds no counter: what remains until it is closed is a
// file descriptor for each event, and the kernel's memory behind it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/pmu/pmu.h"

struct closer;

// Returns 0 or -ENOMEM. The PMU is borrowed.
int closer_new(struct pmu *pmu, struct closer **out);

// Closes at once what is left, which may take seconds. Returns NULL, takes NULL.
struct closer *closer_free(struct closer *closer);

// Takes over a group of so many events and stops it if it is enabled. Short of memory, it closes the group at once.
void closer_take(struct closer *closer, int handle, size_t n_events, bool enabled);

bool closer_is_busy(const struct closer *closer); // groups are left to close

// Closes as many groups as one step may, in the order in which they were taken. Call it again PACE_NS later while the
// closer is busy.
void closer_step(struct closer *closer, uint64_t now_ns);

// The cost so far: one call to stop a group, one to close each event. Each of them interrupts the event's CPU.
uint64_t closer_calls(const struct closer *closer);

#endif
