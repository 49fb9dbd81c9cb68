// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_NEXT_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_NEXT_H

// The metric groups to look at after a metric that is high. JSON, the page and the log name the same ones.

#include "exporters/text/text.h"
#include "exporters/view/view.h"

enum { VIEW_NEXT_MAX = 16 };

// Finds the metric groups that the spec's decision tree leads to from a metric of the catalog: those that it names, and
// those of the metrics that it names and that are not selected (of all that it names, if it names no group). If the
// tree leads nowhere from here, the same of the nearest metric above; else the metric's own group. Groups of which
// nothing can be measured here are left out (core/plan/plan_possible.h), such as those of PMUs that count for a socket.
// Returns how many there are, at least 1 if the metric is measured and in a group; they are indexes into the catalog's
// groups, each once.
size_t view_next_groups(const struct view *view, unsigned metric, unsigned groups[VIEW_NEXT_MAX]);

// True if all metrics of a group of the catalog are selected and at least one can be measured.
bool view_group_measured(const struct view *view, unsigned group);

// Appends "look at the metric groups MPKI and L1D_Cache_Effectiveness (not measured)"; nothing if there is no group.
// Returns whether there is one.
bool view_next_text(const struct view *view, unsigned metric, struct text *out);

#endif
