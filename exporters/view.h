// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_H
#define TOPDOWND_EXPORTERS_VIEW_H

// What an exporter knows beside the snapshot: facts that do not change while the daemon runs. All borrowed.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/snapshot.h"

// A PMU that is missing or fails.
struct view_pmu_error {
    const char *pmu;
    const char *reason; // one word, for a label: absent, unsupported, not_allowed ...
    const char *text;   // for people, with the remedy
};

struct view {
    const struct snapshot_layout *layout; // names catalog, plan and topology
    bool simulated;
    const char *version;
    const char *hostname;                                       // for pages and JSON, never a label
    const char *pmu;                                            // the PMU in use: "software", "simulated" ...
    const char *cpu_vendor, *cpu_model, *cpu_microarchitecture; // the host's CPU, "unknown" where it is not known
    const char *profile;                                        // in force
    uint64_t config_hash;
    uint64_t seed;                            // of the schedule
    unsigned counters_total, counters_usable; // general and fixed, 0: events take none
    const struct view_pmu_error *pmu_errors;
    size_t n_pmu_errors;
};

// The plan's metric `metric` as the catalog has it, and whether it can be measured here.
const struct catalog_metric *view_metric(const struct view *view, size_t metric);
bool view_plannable(const struct view *view, size_t metric);

// The unit that a metric is exported in, for people: "ratio of pipeline slots", or the vendor's. Cut at size - 1.
enum { VIEW_UNIT_MAX = 80 };
void view_metric_unit(const struct catalog_metric *metric, char *out, size_t size);

// Why the metric has no value in this scope; "" where it has one.
const char *view_absent_text(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric);

// How often a second what the metric counts happened on the whole host, where that needs a cause; else 0.
double view_rate_above(const struct view *view, const struct snapshot *snapshot, size_t metric);

#endif
