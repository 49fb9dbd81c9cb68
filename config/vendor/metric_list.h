// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_METRIC_LIST_H
#define TOPDOWND_CONFIG_VENDOR_METRIC_LIST_H

// Reads all metrics of a vendor's file or folder with their formulas, for core/formula/evaluation.h, and the counts to
// evaluate them over. Only the formulas matter: events need not exist.

#include "config/vendor/perf_files.h"
#include "config/vendor/spec_format.h"
#include "core/formula/evaluation.h"

enum { METRIC_LIST_MAX = 8192 };

struct metric_list {
    struct evaluation_metric *metrics; // in order of the files
    double *scales;                    // of each metric: the factor in its ScaleUnit; NaN if that has no number
    size_t n;
    struct perf_files files; // owns the texts
    cJSON *document;         // or this does
};

// Reads the metrics at `path` in a format (SPEC_FORMAT_ANY: detected) and for a CPU (see perf_files_open and
// spec_arm_find). Returns 0, with invalid entries added to `errors` and left out; -EINVAL, -ENOMEM.
int metric_list_load(const char *path, enum spec_format format, const char *cpuid, struct errors *errors,
                     struct metric_list *out);
void metric_list_deinit(struct metric_list *list);

// Reads a flat JSON object of names and numbers, where null is NaN, false 0 and true 1. Returns 0, -EINVAL with errors,
// -ENOMEM.
int metric_counts_load(const char *path, struct errors *errors, struct evaluation_counts *out);

#endif
