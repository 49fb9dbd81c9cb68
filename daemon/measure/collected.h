// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_COLLECTED_H
#define TOPDOWND_DAEMON_MEASURE_COLLECTED_H

// What a measurement by hand comes to: the snapshots of one core type, from one moment to another, as one snapshot.
//
// A metric's value is the quotient of what its totals grew by, so that rounds weigh as much as happened in them; a
// metric without totals has the mean of its gauges. Its interval follows from those of the gauges: the mean of their
// squares, divided by the number of rounds, which are independent of one another. Totals of the host's events and times
// are what they grew by.

#include "core/tally/snapshot.h"
#include "exporters/view/view.h"

struct collected; // private

// Rounds are as long as the plan's or, with `each_is_round`, each snapshot is one. NULL if out of memory.
struct collected *collected_new(bool each_is_round);
struct collected *collected_free(struct collected *collected);

// Takes a snapshot in, which the view belongs to. Returns 0 or -ENOMEM.
int collected_take(struct collected *collected, struct view *view, const struct snapshot *snapshot);

// Begins anew at the end of what was taken in: the next result begins there.
void collected_begin(struct collected *collected);

// The result so far: *view is that of the last snapshot, borrowed. NULL if there is no snapshot since the beginning, or
// if out of memory.
struct snapshot *collected_result(const struct collected *collected, struct view **view);

#endif
