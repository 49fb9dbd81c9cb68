// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_EVENT_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_EVENT_H

// The names of events in perf's logs: which event of a catalog each one is, and which PMU counted it.

#include <stdbool.h>

#include "config/perf_log/perf_log.h"

// Finds the catalog event for a name in a log, -1 if there is none: by name, ignoring case, with or without modifiers
// (":u"); by "pmu/name/" and "pmu/name,term=1/"; by "rXXXX" or "pmu/event=0x...,.../" if that is the event's code; and
// by perf's own name if `names` (NULL: none) maps it to one of the catalog's vendor. What stands between slashes is
// taken by its code only if the PMU is one of cores.
int perf_log_find_event(const struct catalog *catalog, const struct perf_names *names, const char *name);

// The same, or -1 for an event that does not belong to the core PMU `pmu` (NULL: the log has one): another core PMU's,
// or one without a PMU that was counted for CPUs of all types together.
int perf_log_find_event_of(const struct perf_log_request *request, size_t event);

// Lists the names of the log's core PMUs, as in "cpu_core/cycles/"; returns their number, which is 0 if no event says.
size_t perf_log_core_pmus(const struct perf_log *log, char pmus[PERF_LOG_PMUS_MAX][PERF_LOG_NAME_MAX + 1]);

// The number of the request's events that its catalog has, without those of perf's own names if `perfs` is not NULL:
// every vendor's CPUs have them, and one may be the name of another event of a vendor ("cpu-cycles").
size_t perf_log_known(const struct perf_log_request *request, const struct perf_names *perfs);

// True if both names have the same modifiers of what is counted (user, kernel, guest ...).
bool perf_log_same_modes(const char *a, const char *b);

#endif
