// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERF_JSON_H
#define TOPDOWND_CONFIG_VENDOR_PERF_JSON_H

// Makes a catalog of the JSON files of Linux tools/perf/pmu-events as they are (config/vendor/perf_files.h).
//
// These files do not say which metrics make level 1, what the pipeline slots are, or how a PMU's terms lie in its event
// code where sysfs cannot be asked. A data file of ours, specs/perf/trees.json, does: docs/specs.md describes it.
//
// A metric that cannot be measured is in the catalog with its reason: a formula that does not compile, an event that is
// unknown, of a PMU that does not count by CPU, or only sampled, or a metric that cannot be measured itself.

#include "core/base/error.h"
#include "core/spec/catalog_builder.h"

struct perf_json_request {
    const char *path;                      // see perf_files_open
    const char *cpuid;                     // as perf writes it; NULL only where path is a CPU's own folder
    const char *trees;                     // path of trees.json
    const char *pmu;                       // the core PMU ("cpu_atom"); NULL: "cpu", or a hybrid's first in the files
    const struct environment *environment; // NULL: environment_init's
    bool all_events;                       // else only those that metrics use are in the catalog
};

// Returns 0 with what is wrong with single entries added to `errors`; each costs only what needs it. Returns -EINVAL
// with the reason where there can be no catalog at all, -ENOENT with the reason where nothing there is for this CPU,
// -ENOMEM. The spec's name is the folder's.
int perf_json_load(const struct perf_json_request *request, struct errors *errors, struct catalog **out);

// The same, to be bound to a host before it is finished.
int perf_json_read(const struct perf_json_request *request, struct errors *errors, struct catalog_builder **out);

// The same with one file's text in the place of the request's path; `name` stands for the file.
int perf_json_parse(const struct perf_json_request *request, const char *name, const char *text, size_t length,
                    struct errors *errors, struct catalog **out);

#endif
