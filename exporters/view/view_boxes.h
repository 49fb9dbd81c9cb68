// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_BOXES_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_BOXES_H

// What boxes outside the cores tell of a scope. Their formulas say what passes through one box on average; people and
// programs want what passes through all of them.

#include "exporters/view/view.h"

// The factor from the value in the snapshot to the value of the scope: the number of its boxes where they add up,
// else 1.
double view_boxes_factor(const struct view *view, size_t scope, size_t metric);

// True for a metric of a kind of boxes that is the time something takes, in seconds.
bool view_boxes_is_latency(const struct catalog *catalog, const struct catalog_metric *metric);

// Why a metric that is not in a kind's plan has no value.
extern const char VIEW_BOXES_NOT_SELECTED[];

// The unit of the value of a scope, as catalog_metric_unit.
void view_boxes_unit(const struct catalog *catalog, const struct catalog_metric *metric, char *out, size_t size);

#endif
