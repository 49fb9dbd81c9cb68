// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_CORES_H
#define TOPDOWND_COLLECTORS_HOST_HOST_CORES_H

// The kinds of cores that a host has. Most have one; on Arm big.LITTLE and Intel hybrid hosts the kernel has a PMU for
// each, and a CPU's events can be opened on its own PMU only.

#include "collectors/host/host_cpu.h"
#include "core/host/identify.h"

enum { HOST_CORES_MAX = 8 };

struct host_core_pmu {
    char name[HOST_TEXT_MAX];
    uint32_t type; // perf_event_attr.type
    struct cpuset cpus;
    bool replaces; // another name than the one that was looked for: of a hybrid's x86 cores
};

// The kernel's PMUs of a spec's name or pattern (host_linux_find_pmu), in byte order. Where x86 cores, "cpu", are of
// several kinds and the kernel has a PMU for each, those, the larger ones first. Returns how many there are, at most
// `max`.
size_t host_cores_pmus(const struct host_roots *roots, const char *pattern, struct host_core_pmu *out, size_t max);

struct host_cores {
    const struct cpu_row *row; // of the map; NULL: none is for it
    char pmu[HOST_TEXT_MAX];   // that counts on these CPUs, by the patterns of the map's generic rows; "": none
    bool pmu_replaces;         // host_core_pmu.replaces
    unsigned first_cpu;        // the lowest one
    struct cpuset cpus;        // that are online
    uint32_t midr;             // of the first CPU; 0: no Arm core
};

struct host_kinds {
    struct host_cores kinds[HOST_CORES_MAX]; // in the order of their first CPUs
    size_t n;
    bool several;               // specs are not the same, or PMUs
    char cpuid[HOST_CPUID_MAX]; // of an x86 CPU, else ""
};

// Which kinds the online CPUs have: those that differ in their row's spec or in their PMU, and `by_core` also those
// that are another core by implementer and part. CPUs without a row count only `by_core`. What is beyond
// HOST_CORES_MAX kinds is left out. n is 0 where nothing is known.
void host_cores_find(const struct host_roots *roots, const struct cpu_map *map, bool by_core, struct host_kinds *out);

// Whether the CPU, which is online, is of that kind; one of which nothing is known is.
bool host_cores_has(const struct host_roots *roots, const struct cpu_map *map, bool by_core,
                    const struct host_cores *kind, unsigned cpu);

#endif
