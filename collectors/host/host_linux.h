// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_LINUX_H
#define TOPDOWND_COLLECTORS_HOST_HOST_LINUX_H

// Reads the kernel's files about this host. All paths lie below a root, which containers and tests can replace.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/cpuset.h"
#include "core/base/error.h"
#include "core/host/topology.h"
#include "core/status/status.h"

struct host_files;

struct host_roots {
    const char *sysfs;       // "/sys"
    const char *procfs;      // "/proc"
    struct host_files *kept; // of these, what is read again and again; NULL: nothing stays open
};

// Selects the CPUs of a topology.
struct host_choice {
    const struct cpuset *selected; // to measure; NULL: all
    const struct cpuset *own;      // of one core type, as if there were no others; NULL: all
    const struct cpuset *isolated; // left out for this reason, so not in `selected`; NULL: none
};

// Builds the topology of the online CPUs. -EINVAL with the file and the remedy in `errors`, -ENOMEM.
int host_linux_topology(const struct host_roots *roots, const struct host_choice *choice, struct errors *errors,
                        struct topology **out);

// Looks for selected online CPUs that `known` lacks, and for CPUs of `known` that have become isolated. Returns 1 and a
// topology of all CPUs, including those of `known` that are now offline, if there are any; else 0. -EINVAL: no CPU is
// left; -ENOMEM.
int host_linux_topology_update(const struct host_roots *roots, const struct host_choice *choice,
                               const struct topology *known, struct topology **out);

// perf_event_attr.type of a PMU, also of those of core/spec/kernel_pmu.h. A negative errno if the kernel has no such
// PMU.
int host_linux_pmu_type(const struct host_roots *roots, const char *pmu, uint32_t *out);

// A CPU's MIDR_EL1, which identifies its core; cores of one host may differ. -ENOENT if the kernel does not say (the
// CPU is offline or not an Arm core), -EINVAL if the file holds no number.
int host_linux_midr(const struct host_roots *roots, unsigned cpu, uint32_t *out);

// Finds the kernel's PMU of this name or, if the pattern ends in '*', the first in byte order that has the prefix and
// sorts after `after` ("": any). `name` gets its name, *type its perf_event_attr.type. -ENOENT if there is none.
int host_linux_find_pmu(const struct host_roots *roots, const char *pattern, const char *after, char *name, size_t size,
                        uint32_t *type);

// The CPUs whose counters belong to a PMU, including offline ones; all CPUs if the PMU does not say. -EINVAL if its
// file holds no list of CPUs.
int host_linux_pmu_cpus(const struct host_roots *roots, const char *pmu, struct cpuset *out);

// The events that an Arm PMU advertises. Other PMUs name only some of their events, so a missing name proves nothing.
struct host_pmu_events {
    uint64_t *configs; // ascending, each once
    size_t n;
    bool names_all; // the architecture's common events: Linux 5.9 and later
};
// -ENOENT if the PMU has no list, -ENOMEM. Free with host_pmu_events_deinit.
int host_linux_pmu_events(const struct host_roots *roots, const char *pmu, struct host_pmu_events *out);
void host_pmu_events_deinit(struct host_pmu_events *events);

// True if an Arm PMU is known to lack this event: one of the architecture's common events, which this kernel would name
// if the PMU had it. The kernel opens and runs such an event, but it counts nothing.
bool host_pmu_events_rule_out(const struct host_pmu_events *events, uint64_t config);

// Figures of this process. The caller zeroes *process before the first call, and keeps both structs for the next:
// constant figures are read once, and those from files, which take longer than a round's reads, in every
// HOST_FILE_CALLS-th call. Before Linux 6.2 the kernel does not tell the number of open file descriptors; counting
// thousands takes milliseconds, so only every HOST_FDS_CALLS-th call does.
enum { HOST_FILE_CALLS = 5, HOST_FDS_CALLS = 60 };
struct host_process {
    uint64_t calls;
    bool is_procfs; // the folder is the kernel's own
};
void host_linux_process(const struct host_roots *roots, struct host_process *process, struct status_process *out);

#endif
