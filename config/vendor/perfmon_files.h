// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERFMON_FILES_H
#define TOPDOWND_CONFIG_VENDOR_PERFMON_FILES_H

// Reads intel/perfmon's own files of events and metrics as if they were those of Linux tools/perf/pmu-events, which are
// made of them (config/vendor/perf_files.h).
//
// A metric's formula is over aliases of events and constants. Where the file has a formula over other metrics
// (BaseFormula), that one is taken: its metrics need fewer counters at once. Names, thresholds and groups become those
// that Linux has for them, so that one profile and one query fit both.

#include "config/vendor/perf_files.h"

// `path` and `cpuid`: see perfmon_map_find. `trees` is the path of trees.json, whose "perfmon" says what constants,
// modifiers and names of events mean. Without it (NULL) only metrics are read, with the names of the file: their
// Formula with its aliases replaced. A metric that cannot be written in the language of formulas is reported, and its
// entry left empty. Returns like perf_files_open.
int perfmon_files_open(const char *path, const char *cpuid, const char *trees, struct errors *errors,
                       struct perf_files *out);

// The same with one file from memory; errors show `name` as the file.
int perfmon_files_parse(const char *name, const char *text, size_t length, const char *trees, struct errors *errors,
                        struct perf_files *out);

#endif
