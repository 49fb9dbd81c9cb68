// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_SERIES_LIMITS_H
#define TOPDOWND_DAEMON_RUN_SERIES_LIMITS_H

// How many series Prometheus gets, and what the limits max_series and max_cpu_series make of that.

#include "daemon/run/summary.h"
#include "daemon/source/setup.h"
#include "exporters/view/shown.h"

// What there is to tell, for people; "" where a page keeps to its limit, or memory is short.
struct series_limits_texts {
    char host[SUMMARY_LINE_MAX], cpus[SUMMARY_LINE_MAX];
};

// Logs what there is to tell.
void series_limits_warn(const struct shown *shown, const struct setup *setup);

// The same for plans that are not in force. Takes the plans of the setup's types, which become NULL.
void series_limits_describe_plans(const struct setup *setup, struct plan *plans[SETUP_TYPES_MAX],
                                  struct series_limits_texts *out);

#endif
