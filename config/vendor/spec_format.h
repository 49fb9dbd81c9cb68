// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_SPEC_FORMAT_H
#define TOPDOWND_CONFIG_VENDOR_SPEC_FORMAT_H

// The two kinds of vendors' files, and how to tell them apart.

#include "core/base/error.h"

enum spec_format {
    SPEC_FORMAT_ANY, // by what is there
    SPEC_FORMAT_ARM, // Arm's machine-readable specification (config/spec/spec_json.h)
    SPEC_FORMAT_PERF // Linux tools/perf/pmu-events (config/vendor/perf_files.h)
};

// The format of a file or of a folder's files: a list of objects is perf's, an object Arm's. Returns SPEC_FORMAT_ANY
// with the reason in `errors` where neither can be told.
enum spec_format spec_format_guess(const char *path, struct errors *errors);

enum { SPEC_PATH_MAX = 4096 };

// The one file of Arm's for a CPU: `path` itself where that is a file; else by the MIDR_EL1 in `cpuid`, in a folder of
// such files or one that holds them in cpu/. Where mapping.json is in it or beside it, that says which (a whole MIDR
// first, else implementer and part); where cpus.json is (our own specs), that; else what each file says of itself
// (implementer, part, revision). A folder of one file needs no CPU. Returns 0, or with the reason in `errors` -EINVAL,
// or -ENOENT where there is none for this CPU.
int spec_arm_find(const char *path, const char *cpuid, struct errors *errors, char out[SPEC_PATH_MAX]);

#endif
