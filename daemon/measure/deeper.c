// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/deeper.h"

#include "exporters/view/view_next.h"

// True if a metric of the group is neither in the plan nor known to be unmeasurable.
static bool adds(const struct view *view, const struct catalog_group *group) {
    const struct snapshot_layout *layout = view->layout;
    char reason[PLAN_REASON_MAX];
    for (size_t i = 0; i < group->n_metrics; i++)
        if (layout->plan->place[group->metrics[i]] < 0 &&
            !catalog_metric_explain(layout->catalog, group->metrics[i], reason, sizeof reason))
            return true;
    return false;
}

// Adds what the path of one core type leads to. True if there is something new.
static bool add_next(const struct report *report, struct text *out) {
    const struct catalog *catalog = report->view->layout->catalog;
    unsigned groups[VIEW_NEXT_MAX];
    bool found = false;
    if (report->bound.n == 0 || report->bound.exceeded != JUDGE_YES)
        return false;
    size_t n =
        view_next_groups(report->view, report->tree->nodes[report->bound.path[report->bound.n - 1]].metric, groups);
    for (size_t i = 0; i < n; i++) {
        const struct catalog_group *group = &catalog->groups[groups[i]];
        if (!adds(report->view, group))
            continue;
        text_format(out, ",%s", group->name);
        found = true;
    }
    return found;
}

bool deeper_groups(const struct report *reports, size_t n, struct text *out) {
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = add_next(&reports[i], out) || found;
    return found;
}
