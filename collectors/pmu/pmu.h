// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_PMU_H
#define TOPDOWND_COLLECTORS_PMU_PMU_H

// The PMU: the interface to real counters and to simulated ones that the sampler works with.
//
// An event group is opened once, stopped; the caller starts, stops and reads it by its handle, a number >= 0. Counts
// and times are totals since it was opened, as the kernel reports them. Every function except close returns a negative
// errno on failure; for the sampler a failure is data and stops nothing.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/spec/pmu_event.h"

// The time for which a group was enabled, and was on the counters. Where guests have the counters for themselves (KVM's
// mediated virtual PMU), events that exclude guests have neither while one runs: the driver tells how long that was,
// beside the other two, as far as it can be sure (collectors/pmu/pmu_linux.c).
struct pmu_times {
    uint64_t enabled_ns, running_ns, guest_ns;
};

struct pmu;

struct pmu_ops {
    // Sets the time (monotonic) before any other call. A simulated host runs on it; hardware has its own clock.
    void (*advance)(struct pmu *pmu, uint64_t now_ns);
    // Opens an event group, stopped. `cpu` is the kernel's number; the first event leads. -ENOENT for an event of a PMU
    // that the driver does not know.
    int (*open)(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n);
    int (*enable)(struct pmu *pmu, int handle, bool enabled);
    // -ENODEV: the CPU went offline, and the kernel dissolved the group for good. The read of a group of one event may
    // not fail then: enable() still succeeds, and its times stand still (pmu_stands_still).
    int (*read)(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n);
    void (*close)(struct pmu *pmu, int handle);
    void (*free)(struct pmu *pmu); // closes what is still open
};

// Of a group that was enabled between two reads: the kernel dissolved it.
static inline bool pmu_stands_still(const struct pmu_times *before, const struct pmu_times *now) {
    return now->enabled_ns + now->guest_ns == before->enabled_ns + before->guest_ns;
}

// A guest had the counters all the time: nothing can be told of the group.
static inline bool pmu_guest_only(const struct pmu_times *times) {
    return times->enabled_ns == 0 && times->guest_ns > 0;
}

// What the kernel keeps of an open event: 1.75 KiB on x86 (1,365 bytes in the slab perf_event, 195 each in filp and
// dentry, by /proc/slabinfo), and a place in the table of files.
enum { PMU_EVENT_KERNEL_BYTES = 2048 };

// The first member of every driver's own struct.
struct pmu {
    const struct pmu_ops *ops;
    struct busy_clock *busy_clock; // of the simulated CPUs, the driver's own; NULL: what the kernel says holds
    size_t n_events;     // open now, each with a file descriptor; the driver counts them and what it adds to them
    uint64_t more_calls; // to the kernel so far, beyond one for each function call and each event to be opened
};

#endif
