// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_NEXT_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_NEXT_H

// The metric groups to look at after a metric that is high (next_groups), in words: JSON, the page and the log name the
// same ones.

#include "exporters/text/text.h"
#include "exporters/view/view.h"

// True if all metrics of a group of the catalog that can be measured here are, and at least one can.
bool view_group_measured(const struct view *view, unsigned group);

// The same for a group to which next_groups leads from a metric: where the decision tree names only some metrics of the
// group, these are enough.
bool view_next_measured(const struct view *view, unsigned metric, unsigned group);

// Appends "look at the metric groups MPKI and L1D_Cache_Effectiveness (not measured)"; nothing if there is no group.
// Returns whether there is one.
bool view_next_text(const struct view *view, unsigned metric, struct text *out);

#endif
