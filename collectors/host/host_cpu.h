// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_CPU_H
#define TOPDOWND_COLLECTORS_HOST_HOST_CPU_H

// Identifies this host's CPU and answers what formulas ask about it.

#include "collectors/host/host_linux.h"
#include "core/host/environment.h"

enum { HOST_TEXT_MAX = 128, HOST_CPUID_MAX = 64 };

struct host_cpu {
    char vendor[HOST_TEXT_MAX]; // from /proc/cpuinfo; "unknown" if not there
    char model[HOST_TEXT_MAX];
};
void host_cpu_describe(const struct host_roots *roots, struct host_cpu *out);

// Writes an x86 CPU's identification from /proc/cpuinfo in perf's form, vendor-family-model-stepping
// ("GenuineIntel-6-8F-4"). `size` is HOST_CPUID_MAX or more. -ENOENT if the file does not say.
int host_cpu_cpuid(const struct host_roots *roots, char *out, size_t size);

// True if the kernel's NMI watchdog is on. It occupies a counter of every x86 CPU.
bool host_cpu_nmi_watchdog(const struct host_roots *roots);

// True if the CPUs of a core had siblings when the host booted, even if they have been taken offline since. The kernel
// then lets exclusive events leave half of the counters until it boots again (Linux, arch/x86/events/intel/core.c,
// fixup_ht_bug, asks topology_max_smt_threads once). devices/system/cpu/smt/control says "notsupported" where there
// never were siblings, and "on", "off" or "forceoff" where there are or were some; kernels before 4.19 lack the file,
// and the siblings that are online decide.
bool host_cpu_smt_at_boot(const struct host_roots *roots);

// 1 if x86 CPUs have this flag in /proc/cpuinfo, such as "hypervisor" where programs are told that they run under one;
// 0 if not; -1 if this kind of CPU has no flags or the file does not say.
int host_cpu_flag(const struct host_roots *roots, const char *flag);

// Names the hypervisor by its signature in CPUID leaf 0x40000000. False if there is none, or if the files do not
// describe the CPU that this runs on.
bool host_cpu_hypervisor(const struct host_roots *roots, char *out, size_t size);

// The number of sockets with online CPUs; NaN if the kernel does not say.
double host_cpu_sockets(const struct host_roots *roots);

// Gets the online CPUs. False if the kernel does not say.
bool host_cpu_online(const struct host_roots *roots, struct cpuset *out);
// The same of those that the host has, online or not.
bool host_cpu_present(const struct host_roots *roots, struct cpuset *out);

// Sets the literals of formulas for this host, whose core PMU is `pmu`; unknown ones are NaN. The cpuid is the MIDR_EL1
// of CPU `cpu`, else host_cpu_cpuid's. host_cpu_event answers whether an event exists, with `pmu_events` as its
// context. Both are borrowed as long as the environment is used.
struct host_events {
    struct host_roots roots;
    const char *pmu;
};
void host_cpu_environment(const struct host_events *pmu_events, unsigned cpu, struct environment *out);

// True if the event exists. A name with a '-' ("cycles-t", "topdown-retiring") is the kernel's own and exists if the
// PMU lists it in sysfs. Any other name comes from the spec, whose CPU has it.
bool host_cpu_event(const void *pmu_events, const char *name);

#endif
