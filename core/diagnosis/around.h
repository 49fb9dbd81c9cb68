// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_AROUND_H
#define TOPDOWND_CORE_DIAGNOSIS_AROUND_H

// Finds in a snapshot what is beside the verdicts (core/tally/circumstances.h).
//
// How busy CPUs are tells the PMU, by the metric of that name. Where it is not measured, the kernel's times tell it: of
// the time since they were last looked at, where the metric is of a round.
//
// - Idle: the CPUs are awake for less than AROUND_IDLE of the time, and none for more than AROUND_BUSY. Shares of the
//   few slots of such a host are true, and nothing is to be gained from them.
// - Slow: CPUs are awake for more than AROUND_BUSY of the time, and their clock is below the frequency that they
//   should reach. That is AROUND_NOMINAL of the clock that never changes, where that is below the maximum: on x86 it
//   has the nominal frequency. It is at least AROUND_MAXIMUM of the maximum frequency. Whether a host is idle or slow
//   changes only beyond limits that are wider by AROUND_HELD.
// - Crowded: a thread loses more than AROUND_CROWDED of its slots to its sibling.
// - Outliers: CPUs, cores and sockets that lose more than most (core/diagnosis/where.h). Where nothing else tells how
//   much a CPU is awake, its clock cycles since the round before do, as a share of the busiest CPU's.

#include "core/diagnosis/tree.h"

#define AROUND_IDLE 0.1
#define AROUND_BUSY 0.5
#define AROUND_NOMINAL 0.8
#define AROUND_MAXIMUM 0.4
#define AROUND_CROWDED 0.2
#define AROUND_HELD 1.1
#define AROUND_TOLD_NS UINT64_C(15000000000) // longer than between two looks at the kernel's times

struct around; // private: memory for one layout

// `alone`: for a snapshot that no other one follows. NULL if out of memory.
struct around *around_new(const struct snapshot_layout *layout, bool alone);
struct around *around_free(struct around *around); // returns NULL, takes NULL

// Takes over what `old` remembers, from another plan.
void around_continue(struct around *around, const struct around *old);

// Fills in snapshot->circumstances. The tree is of the same layout; it is evaluated for other scopes. Snapshots come in
// order, as clock cycles are counted from one round to the next. One that is of no round, or within one, settles
// nothing.
void around_fill(struct around *around, struct tree *tree, struct snapshot *snapshot, bool round);

#endif
