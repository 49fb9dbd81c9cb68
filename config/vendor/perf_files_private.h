// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERF_FILES_PRIVATE_H
#define TOPDOWND_CONFIG_VENDOR_PERF_FILES_PRIVATE_H

#include "config/vendor/perf_files.h"

// Where a CPU's files are.
struct perf_folder {
    char path[PERF_PATH_MAX];         // a folder, or a file
    char architecture[PERF_PATH_MAX]; // the folder with mapfile.csv that it belongs to, ""
    bool is_file;
};

// See perf_files_open. Returns 0, or -EINVAL or -ENOENT with the reason added to `errors`.
int perf_folder_find(const char *path, const char *cpuid, struct errors *errors, struct perf_folder *out);

#endif
