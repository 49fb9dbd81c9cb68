// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERF_FOLDER_H
#define TOPDOWND_CONFIG_VENDOR_PERF_FOLDER_H

// Where a CPU's files are: for perf_files.c, which parses them.

#include "config/vendor/perf_files.h"

struct perf_folder {
    char path[PERF_PATH_MAX];         // a folder, or a file
    char architecture[PERF_PATH_MAX]; // its folder with mapfile.csv; "": none
    bool is_file;
};

// See perf_files_open. Returns 0, or -EINVAL or -ENOENT with the reason added to `errors`.
int perf_folder_find(const char *path, const char *cpuid, struct errors *errors, struct perf_folder *out);

#endif
