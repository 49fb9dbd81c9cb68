// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_PMU_H
#define TOPDOWND_COLLECTORS_PMU_PMU_H

// The PMU: what the sampler needs of real counters, of a simulated host, of a recording.
//
// An event group is opened once, stopped; start, stop and read it by its handle, a number >= 0. Counts and times are
// totals since it was opened, as the kernel gives them. Every function but close returns a negative errno on failure:
// for the sampler that is data, not an end.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/spec/pmu_event.h"

struct pmu_times {
    uint64_t enabled_ns, running_ns;
};

struct pmu;

struct pmu_ops {
    // Tells the time (monotonic) before anything else is asked. A simulated host lives by it; hardware has its own.
    void (*advance)(struct pmu *pmu, uint64_t now_ns);
    // Opens an event group, stopped. `cpu` is the kernel's number; the first event leads. An event of a PMU
    // that is not known here: -ENOENT.
    int (*open)(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n);
    int (*enable)(struct pmu *pmu, int handle, bool enabled);
    int (*read)(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n);
    void (*close)(struct pmu *pmu, int handle);
    void (*free)(struct pmu *pmu); // with all that is still open
};

// The first member of every driver's own struct.
struct pmu {
    const struct pmu_ops *ops;
};

#endif
