// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_CPU_H
#define TOPDOWND_COLLECTORS_HOST_HOST_CPU_H

// Which CPU this host has, and what formulas may ask of it.

#include "collectors/host/host_linux.h"
#include "core/host/environment.h"

enum { HOST_TEXT_MAX = 128, HOST_CPUID_MAX = 64 };

struct host_cpu {
    char vendor[HOST_TEXT_MAX]; // as /proc/cpuinfo says it, "unknown" where it does not
    char model[HOST_TEXT_MAX];
};
void host_cpu_describe(const struct host_roots *roots, struct host_cpu *out);

// An x86 CPU as perf writes it, vendor-family-model-stepping ("GenuineIntel-6-8F-4"), from /proc/cpuinfo. `size` is
// HOST_CPUID_MAX or more. -ENOENT where it does not say.
int host_cpu_cpuid(const struct host_roots *roots, char *out, size_t size);

// Whether the kernel's NMI watchdog is on, which holds a counter of every x86 CPU.
bool host_cpu_nmi_watchdog(const struct host_roots *roots);

// The CPUs that are online. False where the kernel does not say.
bool host_cpu_online(const struct host_roots *roots, struct cpuset *out);

// The literals of formulas on this host, whose core PMU is `pmu`; what cannot be known is NaN. The cpuid is
// the MIDR_EL1 of CPU `cpu`, else host_cpu_cpuid's. Asks for events are answered by host_cpu_event
// with `pmu_events` as its context, both borrowed as long as the environment is used.
struct host_events {
    struct host_roots roots;
    const char *pmu;
};
void host_cpu_environment(const struct host_events *pmu_events, unsigned cpu, struct environment *out);

// Of events with the kernel's own names, which have a '-' ("cycles-t", "topdown-retiring"), those that the PMU lists in
// sysfs are there; all others are a spec's, whose CPU has them.
bool host_cpu_event(const void *pmu_events, const char *name);

#endif
