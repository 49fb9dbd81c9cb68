// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_VERDICT_LOG_H
#define TOPDOWND_DAEMON_ENGINE_VERDICT_LOG_H

// Logs what the host is bound by, and what to look at next: once for each verdict that has lasted for
// VERDICT_LOG_LASTS_SECONDS and differs from the one logged before. A load that changes more often logs nothing.

#include "exporters/view/shown.h"

enum { VERDICT_LOG_LASTS_SECONDS = 60 };

struct verdict_log {
    const struct shown *newest; // what all engines told last, also those of PMUs outside the cores; NULL: not known
    bool logged;                // anything so far
    int metric;                 // of the catalog: the last node of the path that was logged; -1: nothing was high
};

// Takes a snapshot that the diagnosis has taken, and its view. `prefix` begins every line.
void verdict_log_round(struct verdict_log *log, const struct shown_type *type, const char *prefix);

#endif
