// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_LINUX_H
#define TOPDOWND_COLLECTORS_PMU_LINUX_H

// The kernel's counters through perf_event_open(2).

#include "collectors/pmu.h"

// `type` is perf_event_attr.type: what /sys/bus/event_source/devices/<pmu>/type says. With `exclude_guest` the CPU's
// events do not count while a guest runs; the kernel's software events always count. -ENOMEM.
int pmu_linux_new(uint32_t type, bool exclude_guest, struct pmu **out);

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
