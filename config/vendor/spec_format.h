// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_SPEC_FORMAT_H
#define TOPDOWND_CONFIG_VENDOR_SPEC_FORMAT_H

// The formats of vendors' files, and their detection.

#include "core/base/error.h"

enum spec_format {
    SPEC_FORMAT_ANY,    // detected
    SPEC_FORMAT_ARM,    // Arm's machine-readable specification (config/spec/spec_json.h)
    SPEC_FORMAT_PERF,   // Linux tools/perf/pmu-events (config/vendor/perf_files.h)
    SPEC_FORMAT_PERFMON // intel/perfmon's own files (config/vendor/perfmon_files.h)
};

// The format of a file or of a folder's files: a list of objects is perf's, an object that begins with "Header",
// "Metrics" or "Events" intel/perfmon's, another object Arm's. A mapfile.csv that names JSON files is intel/perfmon's.
// Returns SPEC_FORMAT_ANY with the reason in `errors` if it is none of these.
enum spec_format spec_format_guess(const char *path, struct errors *errors);

enum { SPEC_PATH_MAX = 4096 };

// Finds Arm's file for a CPU: `path` itself if it is a file; else by the MIDR_EL1 in `cpuid`, in a folder of such files
// or one with them in cpu/. A mapping.json in or beside the folder decides (a whole MIDR first, else implementer and
// part), or a cpus.json (topdownd's own specs), or each file's own description (implementer, part, revision). A folder
// of one file needs no CPU. Returns 0; with the reason in `errors` -EINVAL, or -ENOENT if there is none for this CPU.
int spec_arm_find(const char *path, const char *cpuid, struct errors *errors, char out[SPEC_PATH_MAX]);

#endif
