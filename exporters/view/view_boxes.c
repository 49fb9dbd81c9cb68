// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_boxes.h"

#include <stdio.h>

const char VIEW_BOXES_NOT_SELECTED[] = "not selected: uncore.groups names no metric group that has it";

double view_boxes_factor(const struct view *view, size_t scope, size_t metric) {
    return view_metric(view, metric)->traffic == TRAFFIC_NONE
               ? 1
               : (double)topology_measured(view->layout->topology, scope);
}

void view_boxes_unit(const struct catalog_metric *metric, char *out, size_t size) {
    if (metric->traffic == TRAFFIC_NONE)
        catalog_metric_unit(metric, out, size);
    else
        (void)snprintf(out, size, "bytes per second");
}
