// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_PMU_LINUX_TASKS_H
#define TOPDOWND_COLLECTORS_PMU_PMU_LINUX_TASKS_H

// Counts what one command's tasks do, on whatever CPU: its process and, by inheritance, all that it starts. The kernel
// schedules the event groups with the tasks and, where they do not fit the counters together, one after the other.
//
// Event groups begin to count when the process calls execve, so nothing of what prepares it is in the counts. Times are
// those of all tasks together: `enabled` is how long they were on a CPU, `running` how long the group counted
// meanwhile.

#include "collectors/pmu/pmu.h"

struct pmu_linux_tasks; // private

struct pmu_linux_tasks_request {
    const uint32_t *types; // as for pmu_linux_new
    size_t n_types;
    bool exclude_guest;
    int pid;        // a process of the caller's user, which has not called execve yet
    bool user_only; // not the kernel's work: what a user without CAP_PERFMON may count
    bool apart;     // each event by itself, as on kernels before 4.14, which refuse to read inherited groups (below)
};

int pmu_linux_tasks_new(const struct pmu_linux_tasks_request *request, struct pmu_linux_tasks **out); // 0 or -ENOMEM
struct pmu_linux_tasks *pmu_linux_tasks_free(struct pmu_linux_tasks *tasks); // closes all; returns NULL, takes NULL

// Opens an event group. Returns its handle (0, 1 and so on) or a negative errno, as pmu_ops.open. Where the kernel
// refuses to read inherited groups as one (-EINVAL), the events are opened each by itself: then a metric's events no
// longer count at the same time where the kernel has to take turns, and errors of a ratio no longer cancel out.
int pmu_linux_tasks_open(struct pmu_linux_tasks *tasks, const struct pmu_event *events, size_t n);

// Reads it, as pmu_ops.read. Events that are apart have the times of the first one, and counts scaled to these.
int pmu_linux_tasks_read(const struct pmu_linux_tasks *tasks, int handle, struct pmu_times *times, uint64_t *counts,
                         size_t n);

// True if an event group had to be opened event by event.
bool pmu_linux_tasks_apart(const struct pmu_linux_tasks *tasks);

#endif
