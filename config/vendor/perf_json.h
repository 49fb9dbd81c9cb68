// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERF_JSON_H
#define TOPDOWND_CONFIG_VENDOR_PERF_JSON_H

// Builds a catalog from the unmodified JSON files of Linux tools/perf/pmu-events (config/vendor/perf_files.h).
//
// These files do not give the level-1 metrics, the pipeline slots, or a PMU's encoding of terms, which matters without
// sysfs. topdownd's data file specs/perf/trees.json does: docs/specs.md describes it.
//
// A metric that cannot be measured is in the catalog with its reason: its formula does not compile, or it needs an
// event that is unknown, cannot be counted per CPU or can only be sampled, or a metric that itself cannot be measured.

#include "core/base/error.h"
#include "core/spec/catalog_builder.h"

struct perf_json_request {
    const char *path;                      // see perf_files_open
    bool perfmon;                          // the files are intel/perfmon's own: see perfmon_files_open
    const char *cpuid;                     // in perf's form; NULL only if path is a CPU's own folder
    const char *trees;                     // path of trees.json
    const char *pmu;                       // the core PMU ("cpu_atom"); NULL: "cpu", or the first of a hybrid's files
    const struct environment *environment; // NULL: environment_init's
    bool all_events;                       // false: only events that metrics use are in the catalog
};

// Reads the files of a CPU into a builder, to be bound to a host before it is finished. Returns 0 with invalid entries
// added to `errors`; each disables only what depends on it. Returns -EINVAL with the reason if no catalog can be built,
// -ENOENT with the reason if there are no files for this CPU, -ENOMEM. The spec's name is the folder's.
int perf_json_read(const struct perf_json_request *request, struct errors *errors, struct catalog_builder **out);

// A finished catalog of one file's text instead of the request's path; errors show `name` as the file.
int perf_json_parse(const struct perf_json_request *request, const char *name, const char *text, size_t length,
                    struct errors *errors, struct catalog **out);

#endif
