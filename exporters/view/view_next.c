// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_next.h"

#include "core/diagnosis/next.h"

bool view_group_measured(const struct view *view, unsigned group) {
    const struct catalog_group *of = &view->layout->catalog->groups[group];
    bool any = false;
    for (size_t i = 0; i < of->n_metrics; i++) {
        int place = view->layout->plan->place[of->metrics[i]];
        if (place < 0 || !view_exported(view, (size_t)place))
            return false;
        any = any || view_plannable(view, (size_t)place);
    }
    return any;
}

bool view_next_text(const struct view *view, unsigned metric, struct text *out) {
    unsigned groups[NEXT_GROUPS_MAX];
    size_t n = next_groups(view->layout->plan, metric, groups);
    for (size_t i = 0; i < n; i++) {
        const char *before = i == 0      ? (n == 1 ? "look at the metric group " : "look at the metric groups ")
                             : i + 1 < n ? ", "
                                         : " and ";
        text_format(out, "%s%s%s", before, view->layout->catalog->groups[groups[i]].name,
                    view_group_measured(view, groups[i]) ? "" : " (not measured)");
    }
    return n > 0;
}
