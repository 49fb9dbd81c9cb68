// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_IDENTIFY_H
#define TOPDOWND_CORE_HOST_IDENTIFY_H

// Which spec is for which CPU.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/fault.h"

enum { CPUID_PATTERN_MAX = 255 };

// True where a spec's entry covers a CPU with this MIDR_EL1 (Arm Architecture Reference Manual, MIDR_EL1): implementer,
// architecture and part are the same, and variant and revision (r<variant>p<revision>) are the entry's or later.
bool midr_matches(uint32_t entry, uint32_t midr);

// True where `pattern` describes an x86 CPU, written as perf writes it: vendor-family-model-stepping, family decimal,
// model and stepping hexadecimal ("GenuineIntel-6-8F-4"). The pattern is a POSIX extended regular expression for the
// whole text; unless it has three '-' it describes all steppings, ranges such as [0-9A-F] counted as perf counts them
// (tools/perf/arch/x86/util/header.c). One that is longer than CPUID_PATTERN_MAX or has '{' or '\\' describes none.
bool cpuid_matches(const char *pattern, const char *cpuid);

enum { CPU_MAP_ROWS_MAX = 1024, CPU_MAP_ENTRIES_MAX = 256, CPU_MAP_TEXT_MAX = 160 };

// One row: the spec and the CPUs that it is for, by MIDR_EL1, by CPUID, or all others of a PMU and a vendor.
struct cpu_row {
    char *spec;
    uint32_t *midrs;
    size_t n_midrs;
    char **cpuids; // patterns of cpuid_matches
    size_t n_cpuids;
    char *pmu; // generic: the PMU that the kernel has, a name or a prefix ending in '*'; NULL: the row is not generic
    char *vendor;    // generic: as /proc/cpuinfo says it; "": any
    char **known_as; // names under which the CPUs are sold
    size_t n_known_as;
};

// Which spec is for which CPU: specs/cpus.json in memory.
struct cpu_map {
    struct cpu_row *rows;
    size_t n;
};

// Adds a row, a copy of *row. A row is of one of the three kinds. Returns 0, -EINVAL with *fault filled (a MIDR that
// another row has, one that is none, a pattern that is no regular expression), -ENOMEM.
int cpu_map_add(struct cpu_map *map, const struct cpu_row *row, struct fault *fault);
void cpu_map_deinit(struct cpu_map *map);

// What is known of a CPU.
struct cpu_identity {
    bool has_midr;
    uint32_t midr;
    const char *cpuid;                                         // as perf writes it; NULL: no x86 CPU
    const char *vendor;                                        // as /proc/cpuinfo says it; NULL: not known
    bool (*has_pmu)(const void *context, const char *pattern); // whether the kernel has a PMU of this name
    const void *context;
};

// The row for a CPU. By MIDR: of all entries that cover it the latest variant and revision. By CPUID: the first row
// that matches. Else the first generic row of a PMU that the kernel has and of this vendor. NULL where there is none,
// or nothing is known of the CPU.
const struct cpu_row *cpu_map_choose(const struct cpu_map *map, const struct cpu_identity *identity);

#endif
