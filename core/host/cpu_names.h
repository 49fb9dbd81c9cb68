// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_CPU_NAMES_H
#define TOPDOWND_CORE_HOST_CPU_NAMES_H

// The names under which people know a CPU: "Graviton 4", "EPYC 9654", "Xeon 8480", or the whole model name of
// /proc/cpuinfo, "Intel(R) Xeon(R) Platinum 8480+".

#include "core/host/identify.h"

// Writes what tells one CPU's name from another's: letters and digits in lower case and '+', without the vendor, words
// such as "Platinum" and "Processor", and what comes after '@' or "with". Cut at size - 1; "" if nothing is left.
void cpu_name_fold(const char *name, char *out, size_t size);

// True if `name` is one of the row's known_as, or matches one of its sold_as, patterns of fnmatch(3) for folded names.
bool cpu_row_is_called(const struct cpu_row *row, const char *name);

// The folder below tools/perf/pmu-events/arch of Linux that describes a CPU without a spec and bears its name
// ("Nova Lake": x86/novalake); NULL if there is none.
const char *cpu_map_files_called(const struct cpu_map *map, const char *name);

#endif
