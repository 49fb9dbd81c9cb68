// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_VERDICT_LOG_H
#define TOPDOWND_DAEMON_ENGINE_VERDICT_LOG_H

// Logs what the host is bound by, and what to look at next: once for each verdict that has lasted for
// VERDICT_LOG_LASTS_SECONDS and differs from the one logged before. A load that changes more often logs nothing.
// It never is another one than that of topdownd_bound_info: both are the lasting verdict (core/tally/verdict.h).

#include "exporters/view/shown.h"

enum { VERDICT_LOG_LASTS_SECONDS = 60 };

struct verdict_log {
    const struct shown *newest; // what all engines told last, also those of PMUs outside the cores; NULL: not known
    bool logged;                // anything so far
    int metric;                 // of the catalog: the last node of the path that was logged; -1: nothing was high
};

// The last metric of the host's path by its name in Prometheus, for programs; "none" if nothing is high.
enum { VERDICT_LOG_NAME_MAX = 160 };
void verdict_log_name(const struct snapshot *snapshot, char out[VERDICT_LOG_NAME_MAX]);

// Takes a snapshot that the diagnosis has taken, and its view. `prefix` begins every line.
void verdict_log_round(struct verdict_log *log, const struct shown_type *type, const char *prefix);

#endif
