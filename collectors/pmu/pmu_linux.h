// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_PMU_LINUX_H
#define TOPDOWND_COLLECTORS_PMU_PMU_LINUX_H

// The kernel's counters through perf_event_open(2).

#include "collectors/pmu/pmu.h"

// types[i] is perf_event_attr.type of the events whose pmu_event.pmu is i, from
// /sys/bus/event_source/devices/<pmu>/type; the first is the core PMU's. The types are copied. With `exclude_guest` the
// core's events do not count while a guest runs; software events and those of other PMUs (msr refuses any
// exclusion) always count. -ENOMEM.
int pmu_linux_new(const uint32_t *types, size_t n_types, bool exclude_guest, struct pmu **out);

// The same for PMUs outside the cores, whose events the kernel moves to another CPU when theirs goes offline.
int pmu_linux_new_moving(const uint32_t *types, size_t n_types, struct pmu **out);

// What the kernel is asked for to count an event, without how it is read or started. -ENOENT for an event of a PMU that
// is not among the types.
struct perf_event_attr;
struct pmu_linux_types {
    const uint32_t *types; // as above, at least one
    size_t n;
    bool exclude_guest;
};
int pmu_linux_describe(const struct pmu_linux_types *types, const struct pmu_event *event, struct perf_event_attr *out);

// Asks the kernel for a cycle counter of a CPU's PMU. 0 if it opens, else the negative errno (-ENOENT: there is no
// hardware PMU; -EACCES: no permission).
int pmu_linux_probe_hardware(void);

// Asks the kernel for one event on a CPU, stopped. 0 if it opens, else the negative errno.
int pmu_linux_probe_event(uint32_t type, uint64_t config, unsigned cpu);

// The frequency of the constant clock that the kernel's time is made of, in hertz: on x86 the time-stamp counter, on
// Arm the system counter. NaN if the kernel does not tell.
double pmu_linux_clock_frequency(void);

// One word for an errno of perf_event_open, for a label; never NULL.
const char *pmu_linux_reason(int error);

// The remedy for an errno of perf_event_open, one line without a line end. `files` is the number of file descriptors
// that all counters need, 0 if unknown. Cut at size - 1.
enum { PMU_LINUX_REMEDY_MAX = 640 };
void pmu_linux_remedy(int error, size_t files, char *out, size_t size);

#endif
