// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_LINUX_H
#define TOPDOWND_COLLECTORS_HOST_HOST_LINUX_H

// What the kernel's files say about this host. All paths lie below a root, so that containers and tests can give
// another.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/cpuset.h"
#include "core/base/error.h"
#include "core/host/topology.h"

struct host_roots {
    const char *sysfs;  // "/sys"
    const char *procfs; // "/proc"
};

// Which CPUs a topology is of.
struct host_choice {
    const struct cpuset *selected; // those to measure; NULL: all
    const struct cpuset *own;      // those of one core type, as if there were no others; NULL: all
};

// The CPUs that are online. -EINVAL with the file and the remedy in `errors`, -ENOMEM.
int host_linux_topology(const struct host_roots *roots, const struct host_choice *choice, struct errors *errors,
                        struct topology **out);

// Looks for selected CPUs that are online and that `known` does not have. Where there are some: 1, and a topology of
// all CPUs, those of `known` that are away included; else 0. -ENOMEM.
int host_linux_topology_update(const struct host_roots *roots, const struct host_choice *choice,
                               const struct topology *known, struct topology **out);

// The CPUs that somebody wants left alone: isolated (isolcpus=) and without a tick (nohz_full=).
void host_linux_left_alone(const struct host_roots *roots, struct cpuset *out);

// perf_event_attr.type of a PMU. A negative errno where the kernel has no such PMU.
int host_linux_pmu_type(const struct host_roots *roots, const char *pmu, uint32_t *out);

// A CPU's MIDR_EL1, which says what core it is: cores of one host may differ. -ENOENT where the kernel does not say
// (the CPU is offline, or no Arm core), -EINVAL where it says something else than a number.
int host_linux_midr(const struct host_roots *roots, unsigned cpu, uint32_t *out);

// The kernel's PMU of this name, or, where the pattern ends in '*', the first in byte order whose name begins like it,
// and that is behind `after` ("": any); `name` gets its name, *type its perf_event_attr.type. -ENOENT where there is
// none.
int host_linux_find_pmu(const struct host_roots *roots, const char *pattern, const char *after, char *name, size_t size,
                        uint32_t *type);

// The CPUs whose counters a PMU is, offline ones included; a PMU that does not say is every CPU's. -EINVAL where it
// says something else than a list of CPUs.
int host_linux_pmu_cpus(const struct host_roots *roots, const char *pmu, struct cpuset *out);

// The events that an Arm PMU says it has. Other PMUs name some of their events, and what is not named proves nothing.
struct host_pmu_events {
    uint64_t *configs; // ascending, each once
    size_t n;
    bool names_all; // of the architecture's common events: Linux 5.9 and later
};
// -ENOENT where the PMU has no list, -ENOMEM. Free with host_pmu_events_deinit.
int host_linux_pmu_events(const struct host_roots *roots, const char *pmu, struct host_pmu_events *out);
void host_pmu_events_deinit(struct host_pmu_events *events);

// True where an Arm PMU is known not to have this event: one of the architecture's common events, which this kernel
// would name if the PMU had it. Such an event can be opened and runs, and counts nothing.
bool host_pmu_events_rule_out(const struct host_pmu_events *events, uint64_t config);

// Figures of this process, NaN where unreadable. Zeroed before the first call and kept for the next one: what never
// changes is read once, and where the kernel does not tell how many file descriptors are open (before Linux 6.2) they
// are counted in every HOST_FDS_CALLS-th call only, because that takes milliseconds where there are thousands.
enum { HOST_FDS_CALLS = 60 };
struct host_process {
    double cpu_seconds, resident_bytes, virtual_bytes, open_fds, max_fds, start_timestamp;
    uint64_t calls;
};
void host_linux_process(const struct host_roots *roots, struct host_process *process);

#endif
