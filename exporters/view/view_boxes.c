// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_boxes.h"

#include <stdio.h>
#include <string.h>

const char VIEW_BOXES_NOT_SELECTED[] = "not selected: uncore.groups names no metric group that has it";

bool view_boxes_is_latency(const struct catalog *catalog, const struct catalog_metric *metric) {
    static const char seconds[] = "seconds", per[] = " per ";
    char unit[CATALOG_UNIT_MAX];
    view_boxes_unit(catalog, metric, unit, sizeof unit);
    return !catalog->product.chosen && strncmp(unit, seconds, sizeof seconds - 1) == 0 &&
           (unit[sizeof seconds - 1] == '\0' || strncmp(unit + sizeof seconds - 1, per, sizeof per - 1) == 0);
}

double view_boxes_factor(const struct view *view, size_t scope, size_t metric) {
    return catalog_metric_adds(view->layout->catalog, view_metric(view, metric))
               ? (double)topology_measured(view->layout->topology, scope)
               : 1;
}

void view_boxes_unit(const struct catalog *catalog, const struct catalog_metric *metric, char *out, size_t size) {
    if (metric->traffic != TRAFFIC_NONE)
        (void)snprintf(out, size, "bytes per second");
    else if (catalog->product.chosen)
        (void)snprintf(out, size, "%s per second", metric->units);
    else
        catalog_metric_unit(metric, out, size);
}
