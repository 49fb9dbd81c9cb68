// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_LINUX_H
#define TOPDOWND_COLLECTORS_HOST_LINUX_H

// What the kernel's files say about this host. All paths lie below a root, so that containers and tests can give
// another.

#include <stdint.h>

#include "core/cpuset.h"
#include "core/error.h"
#include "core/topology.h"

struct host_roots {
    const char *sysfs;  // "/sys"
    const char *procfs; // "/proc"
};

enum { HOST_NAME_MAX = 128 };

struct host_cpu {
    char vendor[HOST_NAME_MAX]; // as /proc/cpuinfo says it, "unknown" where it does not
    char model[HOST_NAME_MAX];
};

// The CPUs that are online; `selected` may be NULL for all of them. -EINVAL with the file and the remedy in `errors`,
// -ENOMEM.
int host_linux_topology(const struct host_roots *roots, const struct cpuset *selected, struct errors *errors,
                        struct topology **out);

// perf_event_attr.type of a PMU. A negative errno where the kernel has no such PMU.
int host_linux_pmu_type(const struct host_roots *roots, const char *pmu, uint32_t *out);

void host_linux_cpu(const struct host_roots *roots, struct host_cpu *out);

// Figures of this process, NaN where unreadable.
struct host_process {
    double cpu_seconds, resident_bytes, virtual_bytes, open_fds, max_fds, start_timestamp;
};
void host_linux_process(const struct host_roots *roots, struct host_process *out);

#endif
