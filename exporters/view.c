// SPDX-License-Identifier: Apache-2.0
#include "exporters/view.h"

#include <stdio.h>
#include <string.h>

void view_metric_unit(const struct catalog_metric *metric, char *out, size_t size) {
    static const char percent[] = "percent";
    if (metric->domain == METRIC_PIPELINE_SLOTS)
        (void)snprintf(out, size, "ratio of pipeline slots");
    else if (metric->export_scale == 0.01 && strncmp(metric->units, percent, strlen(percent)) == 0)
        (void)snprintf(out, size, "ratio%s", metric->units + strlen(percent));
    else
        (void)snprintf(out, size, "%s", metric->units);
}

bool view_plannable(const struct view *view, size_t metric) { return view->layout->plan->metrics[metric].unit >= 0; }

const struct catalog_metric *view_metric(const struct view *view, size_t metric) {
    return &view->layout->catalog->metrics[view->layout->plan->metrics[metric].metric];
}

double view_rate_above(const struct view *view, const struct snapshot *snapshot, size_t metric) {
    double threshold = view_metric(view, metric)->rate_threshold;
    double rate = snapshot->values[snapshot_rate_above(view->layout, 0, metric)];
    return threshold > 0 && rate > threshold ? rate : 0;
}

const char *view_absent_text(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric) {
    if (!view_plannable(view, metric))
        return view->layout->plan->metrics[metric].reason;
    return absent_text(snapshot->absent[scope * view->layout->n_metrics + metric]);
}
