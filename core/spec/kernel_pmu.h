// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_KERNEL_PMU_H
#define TOPDOWND_CORE_SPEC_KERNEL_PMU_H

// The kernel's own names for events that many CPUs have: a spec writes "hardware" and "hw_cache" as their PMU. The
// kernel's driver of each CPU translates them, so they count on the core's own counters, and no file in sysfs describes
// them. A driver refuses the events that its CPU lacks.

#include <stdbool.h>
#include <stdint.h>

// Sets *type to the kernel's PERF_TYPE_HARDWARE or PERF_TYPE_HW_CACHE (linux/perf_event.h). False for any other PMU.
bool kernel_pmu_type(const char *pmu, uint32_t *type);

#endif
