// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERFMON_MAP_H
#define TOPDOWND_CONFIG_VENDOR_PERFMON_MAP_H

// Finds the files of intel/perfmon for a CPU.

#include <stdbool.h>

#include "config/vendor/perf_files.h"

enum { PERFMON_FILES_MAX = 64, PERFMON_ROLE_MAX = 32 };

struct perfmon_list {
    struct perfmon_path {
        char path[PERF_PATH_MAX];
        char role[PERFMON_ROLE_MAX]; // of a core type, as mapfile.csv has it ("Atom"); "": the CPU has one type
        bool metrics;                // mapfile.csv says so; false: events, or not said
    } * files;
    size_t n;
    char name[128]; // of the CPU's folder
};

// `path` is a file, the folder of a CPU, or the folder with mapfile.csv, for which `cpuid` is required. Returns 0;
// -EINVAL with the reason in `errors`, -ENOENT with the reason if there are no files for this CPU, -ENOMEM.
int perfmon_map_find(const char *path, const char *cpuid, struct errors *errors, struct perfmon_list *out);
void perfmon_list_deinit(struct perfmon_list *list);

// True if `path` is such a mapfile.csv: one that names JSON files.
bool perfmon_is_map(const char *path);

#endif
