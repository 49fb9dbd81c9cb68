// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_CORES_H
#define TOPDOWND_COLLECTORS_HOST_HOST_CORES_H

// The core types of a host. Most hosts have one. On Arm big.LITTLE and Intel hybrid hosts the kernel has a PMU for each
// type, and a CPU's events can be opened only on its own PMU.

#include "collectors/host/host_cpu.h"
#include "core/host/identify.h"

enum { HOST_CORES_MAX = 8 };

struct host_core_pmu {
    char name[HOST_TEXT_MAX];
    uint32_t type; // perf_event_attr.type
    struct cpuset cpus;
    bool replaces; // differs from the name searched for: x86 cores of a hybrid host
};

// The kernel's PMUs that match a spec's name or pattern (host_linux_find_pmu), in byte order. For x86 cores ("cpu") of
// several types with a PMU each: those PMUs, larger cores first. Returns their number, at most `max`.
size_t host_cores_pmus(const struct host_roots *roots, const char *pattern, struct host_core_pmu *out, size_t max);

struct host_cores {
    const struct cpu_row *row; // of the map; NULL: the map has none
    char pmu[HOST_TEXT_MAX];   // counts on these CPUs, found by the patterns of the map's generic rows; "": none
    bool pmu_replaces;         // host_core_pmu.replaces
    unsigned first_cpu;        // the lowest one
    struct cpuset cpus;        // the online ones
    uint32_t midr;             // of the first CPU; 0: not an Arm core
};

struct host_kinds {
    struct host_cores kinds[HOST_CORES_MAX]; // in the order of their first CPUs
    size_t n;
    bool several;               // specs or PMUs differ
    char cpuid[HOST_CPUID_MAX]; // of an x86 CPU, else ""
};

// Finds the core types of the online CPUs. Types differ in their row's spec or in their PMU; with `by_core` also in
// implementer and part. CPUs without a row count only with `by_core`. Types beyond HOST_CORES_MAX are left out. n is 0
// if nothing is known.
void host_cores_find(const struct host_roots *roots, const struct cpu_map *map, bool by_core, struct host_kinds *out);

// True if the online CPU is of that core type, or if nothing is known about the CPU.
bool host_cores_has(const struct host_roots *roots, const struct cpu_map *map, bool by_core,
                    const struct host_cores *kind, unsigned cpu);

#endif
