// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_SAMPLE_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_SAMPLE_H

// The next step after a metric that is high: the command that finds the code. Counts say what the CPUs wait for, but
// only samples say where.

#include "exporters/text/text.h"
#include "exporters/view/view.h"

// Appends the `perf record` command for a metric of the catalog: with the events that the spec's decision tree names
// for it, else for the nearest metric above it, else with the CPU's cycles. Leaves out events that the host cannot
// encode or has no PMU for. Events are written as this host's PMU takes them, so that perf need not know the CPU. Asks
// for the most precise samples that the PMU can give (:P of perf-list(1)).
void view_sample_command(const struct view *view, unsigned metric, struct text *out);

#endif
