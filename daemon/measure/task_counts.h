// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_TASK_COUNTS_H
#define TOPDOWND_DAEMON_MEASURE_TASK_COUNTS_H

// What a command's tasks count, as the readings of one CPU whose time passes while they run.
//
// The kernel takes turns with event groups that do not fit the counters together. So a group that counted for a share
// of the tasks' time is like one that had slots for that share: derive extrapolates it and estimates its error as it
// does for the slots of a CPU. A group that counted all the time is exact.

#include "collectors/pmu/pmu_linux_tasks.h"
#include "core/plan/plan.h"
#include "core/tally/readings.h"

struct task_counts; // private

// Takes the tasks, which are freed with it, also on failure. The plan is borrowed; the topology is of one CPU. Returns
// 0 or -ENOMEM.
int task_counts_new(struct pmu_linux_tasks *tasks, const struct plan *plan, const struct topology *topology,
                    struct task_counts **out);
struct task_counts *task_counts_free(struct task_counts *counts);

// Opens all event groups. Returns the number of those that count; if that is 0, *error is the first one's errno,
// negative.
size_t task_counts_open(struct task_counts *counts, int *error);

// Reads what was counted since the last call. NULL if the tasks did not run meanwhile; else valid until the next call.
const struct readings *task_counts_read(struct task_counts *counts);

// The time that the tasks have run, in seconds.
double task_counts_seconds(const struct task_counts *counts);

#endif
