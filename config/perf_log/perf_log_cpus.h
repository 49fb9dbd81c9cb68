// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_CPUS_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_CPUS_H

#include "config/perf_log/perf_log.h"

// How many CPUs each place of the log stands for: the same number everywhere and all the time. 0: the log does not say,
// or the numbers differ, as those of tasks do, which run for any part of the time.
unsigned perf_log_cpus_each(const struct perf_log_request *request);

#endif
