// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_PMU_EVENT_H
#define TOPDOWND_CORE_SPEC_PMU_EVENT_H

// An event in the kernel's form: its PMU and the numbers of perf_event_attr.

#include <stdint.h>

enum pmu_exclude { PMU_EXCLUDE_USER = 1, PMU_EXCLUDE_KERNEL = 2, PMU_EXCLUDE_HYPERVISOR = 4 };

struct pmu_event {
    unsigned pmu; // index into the catalog's PMUs; 0: the core PMU
    uint64_t config, config1, config2;
    unsigned exclude; // enum pmu_exclude: what is not counted
};

#endif
