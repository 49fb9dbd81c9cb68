// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_next.h"

#include "core/diagnosis/next.h"
#include "core/plan/plan_possible.h"

bool view_group_measured(const struct view *view, unsigned group) {
    const struct catalog_group *of = &view->layout->catalog->groups[group];
    bool any = false;
    for (size_t i = 0; i < of->n_metrics; i++) {
        int place = view->layout->plan->place[of->metrics[i]];
        if (place < 0 && !plan_metric_possible(view->layout->plan, of->metrics[i]))
            continue; // nobody can measure it here
        if (place < 0 || !view_exported(view, (size_t)place))
            return false;
        any = any || view_plannable(view, (size_t)place);
    }
    return any;
}

bool view_next_measured(const struct view *view, unsigned metric, unsigned group) {
    unsigned named[NEXT_METRICS_MAX];
    size_t n = next_metrics_of(view->layout->plan, metric, group, named);
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        int place = view->layout->plan->place[named[i]];
        all = all &&
              (place >= 0 ? view_exported(view, (size_t)place) : !plan_metric_possible(view->layout->plan, named[i]));
    }
    return n > 0 ? all : view_group_measured(view, group);
}

bool view_next_text(const struct view *view, unsigned metric, struct text *out) {
    unsigned groups[NEXT_GROUPS_MAX];
    size_t n = next_groups(view->layout->plan, metric, groups);
    for (size_t i = 0; i < n; i++) {
        const char *before = i == 0      ? (n == 1 ? "look at the metric group " : "look at the metric groups ")
                             : i + 1 < n ? ", "
                                         : " and ";
        text_format(out, "%s%s%s", before, view->layout->catalog->groups[groups[i]].name,
                    view_next_measured(view, metric, groups[i]) ? "" : " (not measured)");
    }
    return n > 0;
}
