// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_PMU_LINUX_H
#define TOPDOWND_COLLECTORS_PMU_PMU_LINUX_H

// The kernel's counters through perf_event_open(2).

#include "collectors/pmu/pmu.h"

// types[i] is perf_event_attr.type of the events whose pmu_event.pmu is i, what
// /sys/bus/event_source/devices/<pmu>/type says; the first is the core PMU's. They are copied. With `exclude_guest` the
// core PMU's events do not count while a guest runs; the kernel's software events and other PMUs' (msr refuses any
// exclusion) always count. -ENOMEM.
int pmu_linux_new(const uint32_t *types, size_t n_types, bool exclude_guest, struct pmu **out);

// Whether the kernel has counters of a CPU's PMU to give: 0, or the negative errno with which it refused a cycle
// counter (-ENOENT: there is no hardware PMU; -EACCES: not allowed to ask).
int pmu_linux_probe_hardware(void);

// One word for an errno of perf_event_open, for a label; never NULL.
const char *pmu_linux_reason(int error);

// What a person can do about an errno of perf_event_open, in one line without an end. `files` is how many file
// descriptors all counters need, 0 where that is not known. Cut at size - 1.
enum { PMU_LINUX_REMEDY_MAX = 384 };
void pmu_linux_remedy(int error, size_t files, char *out, size_t size);

#endif
