// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_UNCORE_PMU_MASK_H
#define TOPDOWND_COLLECTORS_UNCORE_PMU_MASK_H

// The CPUs that read the boxes of a PMU, and where they lie, as sysfs says.

#include "collectors/host/host_linux.h"
#include "core/uncore/uncore_place.h"

// The CPUs that are online. Returns 0 or a negative errno.
int pmu_mask_online(const struct host_roots *roots, struct cpuset *out);

// Reads a PMU's `cpumask`, which is empty where all CPUs that could read the PMU are offline. A PMU without the file
// has one box, whose events the kernel moves to the right CPU: any will do, so it is `own` while that is online, else
// the first one. -EINVAL: the file holds no list; -ENODATA: there is no file, and the kernel does not tell which CPUs
// are online; or another negative errno of reading it.
int pmu_mask_read(const struct host_roots *roots, const char *pmu, int own, struct cpuset *out);

// Reads where the CPUs of a mask lie. Returns 0 or -ENOMEM. Free with uncore_mask_deinit.
int pmu_mask_look(const struct host_roots *roots, const struct cpuset *cpus, struct uncore_mask *out);

#endif
