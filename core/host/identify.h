// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_IDENTIFY_H
#define TOPDOWND_CORE_HOST_IDENTIFY_H

// Which spec is for which CPU.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/fault.h"

enum { CPUID_PATTERN_MAX = 255 };

// True if a spec's entry covers a CPU with this MIDR_EL1 (Arm Architecture Reference Manual, MIDR_EL1): implementer,
// architecture and part are equal, and variant and revision (r<variant>p<revision>) are the entry's or later.
bool midr_matches(uint32_t entry, uint32_t midr);

// True if `pattern` describes an x86 CPU in perf's form: vendor-family-model-stepping, family decimal, model and
// stepping hexadecimal ("GenuineIntel-6-8F-4"). The pattern is a POSIX extended regular expression for the whole text.
// Unless it has three '-', counting those in ranges such as [0-9A-F] as perf does (tools/perf/arch/x86/util/header.c),
// it describes all steppings. A pattern that is longer than CPUID_PATTERN_MAX or contains '{' or '\\' matches no CPU.
bool cpuid_matches(const char *pattern, const char *cpuid);

// True if a list of single CPUs names this one, whose CPUID is in perf's form ("0x00000000410fd4f0" for a MIDR_EL1; "":
// not known, and in no list). An entry for Arm is a MIDR_EL1 that must be equal, or VALUE/MASK, both hexadecimal, of
// whose bits those of the mask must be equal; for x86 it is a pattern of cpuid_matches.
bool cpu_is_listed(const char *entry, const char *cpuid);

// Returns 0, or -EINVAL with the reason if it is no such entry.
int cpu_check_entry(const char *entry, struct fault *fault);

enum { CPU_MAP_ROWS_MAX = 1024, CPU_MAP_ENTRIES_MAX = 256, CPU_MAP_TEXT_MAX = 160 };

// One row: a spec and its CPUs, by MIDR_EL1, by CPUID, or all others of a PMU and a vendor.
struct cpu_row {
    char *spec;
    uint32_t *midrs;
    size_t n_midrs;
    char **cpuids; // patterns of cpuid_matches
    size_t n_cpuids;
    char *core;   // of these CPUs, only those that this PMU of the kernel counts on; "": all
    char *pmu;    // generic: the kernel's PMU, a name or a prefix ending in '*'; NULL: the row is not generic
    char *vendor; // generic: from /proc/cpuinfo; "": any
    char **shows; // generic: events that the kernel must show for the CPU's own PMU
    size_t n_shows;
    char **known_as; // what the CPUs are called, for people
    size_t n_known_as;
    char **sold_as; // patterns of names under which they are sold: core/host/cpu_names.h
    size_t n_sold_as;
};

// Maps CPUs to specs: specs/cpus.json in memory.
struct cpu_map {
    struct cpu_row *rows;
    size_t n;
    struct cpu_row *files; // CPUs without a spec that Linux has files for; `spec` is their folder in its tree
    size_t n_files;
};

// Adds a copy of *row, which is of one of the three kinds. Returns 0, -EINVAL with *fault filled (an invalid MIDR or
// one that another row has, a pattern that is not a regular expression), -ENOMEM.
int cpu_map_add(struct cpu_map *map, const struct cpu_row *row, struct fault *fault);
int cpu_map_add_files(struct cpu_map *map, const struct cpu_row *row, struct fault *fault);
void cpu_map_deinit(struct cpu_map *map);

// The known facts about a CPU.
struct cpu_identity {
    bool has_midr;
    uint32_t midr;
    const char *cpuid;                                         // in perf's form; NULL: not an x86 CPU
    const char *vendor;                                        // from /proc/cpuinfo; NULL: not known
    const char *core;                                          // the PMU that counts on the CPU; NULL: not known
    bool (*has_pmu)(const void *context, const char *pattern); // whether the kernel has a PMU of this name
    bool (*shows)(const void *context, const char *pmu, const char *event); // whether it names the event for this PMU
    const void *context;
};

// Finds the row for a CPU. By MIDR: of all entries that cover it, the latest variant and revision. By CPUID: the first
// row that matches for the CPU's PMU, else the first one. Else the first generic row of this vendor whose PMU the
// kernel has, and of whose events (`shows`) it names all for `core`. NULL if there is none.
const struct cpu_row *cpu_map_choose(const struct cpu_map *map, const struct cpu_identity *identity);

// True if the kernel may count on the spec's CPUs with the core PMU of this name ("cpu_atom", "armv8_pmuv3_0"), as far
// as the map says: a hybrid host's PMUs each belong to the rows that name them. True also for a spec without a row.
bool cpu_map_fits_pmu(const struct cpu_map *map, const char *spec, const char *pmu);

// The first row by which the spec is for all CPUs of a PMU that have none of their own; NULL if there is none.
const struct cpu_row *cpu_map_find_generic(const struct cpu_map *map, const char *spec);

// The folder below tools/perf/pmu-events/arch of Linux that describes a CPU without a spec; NULL if there is none.
const char *cpu_map_find_files(const struct cpu_map *map, const struct cpu_identity *identity);

#endif
