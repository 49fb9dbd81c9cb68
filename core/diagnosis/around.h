// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_AROUND_H
#define TOPDOWND_CORE_DIAGNOSIS_AROUND_H

// Finds in a snapshot what is beside the verdicts (core/tally/circumstances.h).
//
// - Idle: the CPUs are awake for less than AROUND_IDLE of the time, and none for more than AROUND_BUSY. Shares of the
//   few slots of such a host are true, and nothing is to be gained from them.
// - Slow: CPUs are awake for more than AROUND_BUSY of the time, and their clock is below the frequency that they
//   should reach. That is AROUND_NOMINAL of the clock that never changes, where that is below the maximum: on x86 it
//   has the nominal frequency. It is at least AROUND_MAXIMUM of the maximum frequency. Whether a host is idle or slow
//   changes only beyond limits that are wider by AROUND_HELD.
// - Crowded: a thread loses more than AROUND_CROWDED of its slots to its sibling.
// - Outliers: CPUs whose share of a level-1 metric, other than useful work, is above the median of all CPUs by more
//   than OUTLIERS_ABOVE, by more than OUTLIERS_SPREADS times the usual spread, and with the lower end of its interval
//   above the median, too. The spread is the median distance from the median, so that fewer than half of the CPUs do
//   not move it. CPUs that are nearly idle are none: awake for less than AROUND_IDLE of the time or, where no metric
//   tells that, with less than AROUND_IDLE of the busiest CPU's clock cycles since the round before. Fewer than
//   OUTLIERS_CPUS_MIN have none.

#include "core/diagnosis/tree.h"

#define AROUND_IDLE 0.1
#define AROUND_BUSY 0.5
#define AROUND_NOMINAL 0.8
#define AROUND_MAXIMUM 0.4
#define AROUND_CROWDED 0.2
#define AROUND_HELD 1.1
#define OUTLIERS_ABOVE 0.2
#define OUTLIERS_SPREADS 6.
enum { OUTLIERS_CPUS_MIN = 4 };

struct around; // private: memory for one layout

// NULL if out of memory.
struct around *around_new(const struct snapshot_layout *layout);
struct around *around_free(struct around *around); // returns NULL, takes NULL

// Fills in snapshot->circumstances. The tree is of the same layout; it is evaluated for other scopes. Snapshots come in
// order, as clock cycles are counted from one round to the next.
void around_fill(struct around *around, struct tree *tree, struct snapshot *snapshot);

#endif
