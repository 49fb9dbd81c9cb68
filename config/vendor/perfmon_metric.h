// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERFMON_METRIC_H
#define TOPDOWND_CONFIG_VENDOR_PERFMON_METRIC_H

// Turns the metrics of an intel/perfmon file into entries of the form of Linux tools/perf/pmu-events.

#include <cjson/cJSON.h>

#include "core/base/error.h"

struct perfmon_metrics_request {
    const char *file;     // for messages
    const cJSON *metrics; // a list
    const cJSON *rules;   // "perfmon" of trees.json; NULL: keep the names of the file
    const char *pmu;      // of a core type; NULL: the CPU has one
};

// *out is a list with an entry for each metric, in their order. What cannot be written is reported, and the entry is
// empty. 0 or -ENOMEM.
int perfmon_metrics_convert(const struct perfmon_metrics_request *request, struct errors *errors, cJSON **out);

#endif
