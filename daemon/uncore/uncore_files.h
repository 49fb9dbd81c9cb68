// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_FILES_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_FILES_H

// The boxes of this host that the vendor's files name, and what reading these needs.

#include "config/vendor/perf_json.h"
#include "core/uncore/uncore.h"
#include "daemon/source/setup.h"
#include "daemon/uncore/uncore_linux.h"

// Everything is borrowed.
struct uncore_files {
    struct setup *setup;
    const struct options *options;
    struct host_roots roots;
    struct perf_json_request request; // `path` is that of the folder that is read
};

// Finds the boxes of a PMU that the files call so ("uncore_cha", "hisi_sicl,cpa"), without those that the configuration
// leaves out. Returns 0 or -ENOMEM. Free with uncore_boxes_deinit.
int uncore_files_find(const struct uncore_files *files, const char *pmu, struct uncore_boxes *out);

// Adds a kind whose events and metrics are those of the files to the set-up. Takes over both, even on failure. Returns
// as uncore_add does.
int uncore_files_add(const struct uncore_files *files, struct uncore_linux *kind, struct catalog_builder *builder);

// A package's boxes, their mean; there is at least one.
double uncore_files_per_package(const struct uncore_boxes *boxes);

#endif
