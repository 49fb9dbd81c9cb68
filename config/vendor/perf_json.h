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

// PMUs outside the cores, instead of a core's: a catalog of one box (core/uncore/uncore.h). It has the metrics that
// need an event of these PMUs, each in its MetricGroup, and all that can be measured in a group of the PMU's name.
//
// Where perf's values are those of a host, ours are those of any scope. A scope is so many packages as it has boxes
// over boxes of a package: #num_packages is that number, and #num_cores, #num_dies and #num_cpus_online are that of the
// host over its packages, times it. source_count(E) is the boxes of a package, and an event of one box of each package
// (cha_0@event@) is the mean of a package's boxes.
//
// Where metrics need other PMUs too (`beside`), the catalog has those that need an event of each of them and of no
// other, and a group of perf_json_joined_name. Then a box is all that a package has of these PMUs: each of its events
// is the sum over the package. Events of the cores' PMU ("cpu") take no counter there, because the cores' own catalog
// counts them.
struct perf_json_boxes {
    const char *pmu;        // the kernel's name without the box's number: "uncore_cha", "amd_umc", "arm_cmn"
    const char *identifier; // of the PMU; "": it has none
    double per_package;     // boxes, their mean; at least 1
    const struct perf_json_beside {
        const char *pmu;
        double per_package; // 1 of the cores' PMU
    } * beside;
    size_t n_beside;
};

// The PMUs that a metric needs, without any number: those outside the cores in byte order, then "cpu" for the cores'.
enum { PERF_PMU_MAX = 64, PERF_JOINED_PMUS_MAX = 4, PERF_JOINED_MAX = 32 };
struct perf_json_joined {
    char pmus[PERF_JOINED_PMUS_MAX][PERF_PMU_MAX];
    size_t n;
};

// The name of a kind and of its group of all metrics: "uncore_cha_m2m", "uncore_cha_cpu".
enum { PERF_JOINED_NAME_MAX = PERF_JOINED_PMUS_MAX * PERF_PMU_MAX };
void perf_json_joined_name(const struct perf_json_joined *joined, char out[PERF_JOINED_NAME_MAX]);

struct perf_json_request {
    const char *path;                      // see perf_files_open
    bool perfmon;                          // the files are intel/perfmon's own: see perfmon_files_open
    const char *cpuid;                     // in perf's form; NULL only if path is a CPU's own folder
    const char *trees;                     // path of trees.json
    const char *pmu;                       // the core PMU ("cpu_atom"); NULL: "cpu", or the first of a hybrid's files
    const struct environment *environment; // NULL: environment_init's
    const struct perf_json_boxes *boxes;   // NULL: cores
    bool all_events;                       // false: only events that metrics use are in the catalog
};

// Reads the files of a CPU into a builder, to be bound to a host before it is finished. Returns 0 with invalid entries
// added to `errors`; each disables only what depends on it. Returns -EINVAL with the reason if no catalog can be built,
// -ENOENT with the reason if there are no files for this CPU, -ENOMEM. The spec's name is the folder's.
int perf_json_read(const struct perf_json_request *request, struct errors *errors, struct catalog_builder **out);

// The kernel's names of the PMUs outside the cores that the files have events of, as in struct perf_json_boxes. Returns
// as perf_json_read does.
enum { PERF_BOXES_MAX = 64 };
struct perf_json_pmus {
    char names[PERF_BOXES_MAX][PERF_PMU_MAX];
    size_t n;
};
int perf_json_find_boxes(const struct perf_json_request *request, struct errors *errors, struct perf_json_pmus *out);

// The PMUs that metrics need together, at least one of them outside the cores, each set once. `boxes` of the request is
// not used. Returns as perf_json_read does.
struct perf_json_joins {
    struct perf_json_joined joined[PERF_JOINED_MAX];
    size_t n;
};
int perf_json_find_joined(const struct perf_json_request *request, struct errors *errors, struct perf_json_joins *out);

// A finished catalog of one file's text instead of the request's path; errors show `name` as the file.
int perf_json_parse(const struct perf_json_request *request, const char *name, const char *text, size_t length,
                    struct errors *errors, struct catalog **out);

#endif
