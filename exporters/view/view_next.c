// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_next.h"

#include "core/plan/plan_possible.h"

struct next {
    unsigned *groups;
    size_t n;
};

// What cannot be measured here would lead nowhere.
static void add(const struct view *view, struct next *next, int group) {
    bool known = group < 0 || next->n == VIEW_NEXT_MAX;
    for (size_t i = 0; i < next->n && !known; i++)
        known = next->groups[i] == (unsigned)group;
    if (!known && plan_group_possible(view->layout->plan, (unsigned)group))
        next->groups[next->n++] = (unsigned)group;
}

static bool contains(const struct catalog_group *group, unsigned metric) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (group->metrics[i] == metric)
            return true;
    return false;
}

// The smallest group with the metric: larger ones are collections. -1 if there is none.
static int find_group_of(const struct catalog *catalog, unsigned metric) {
    int found = -1;
    for (size_t g = 0; g < catalog->n_groups; g++)
        if (contains(&catalog->groups[g], metric) &&
            (found < 0 || catalog->groups[g].n_metrics < catalog->groups[found].n_metrics))
            found = (int)g;
    return found;
}

// A name of the decision tree may be that of a metric and of a metric group.
static void add_named(const struct view *view, const struct catalog_node *node, struct next *next) {
    const struct catalog *catalog = view->layout->catalog;
    for (size_t i = 0; i < node->n_next; i++)
        if (catalog_find_metric(catalog, node->next[i]) < 0)
            add(view, next, catalog_find_group(catalog, node->next[i]));
    bool all = next->n == 0;
    for (size_t i = 0; i < node->n_next; i++) {
        int metric = catalog_find_metric(catalog, node->next[i]);
        if (metric >= 0 && (all || view->layout->plan->place[metric] < 0))
            add(view, next, find_group_of(catalog, (unsigned)metric));
    }
}

size_t view_next_groups(const struct view *view, unsigned metric, unsigned groups[VIEW_NEXT_MAX]) {
    const struct catalog *catalog = view->layout->catalog;
    struct next next = {.groups = groups};
    metric = catalog_metric_named(catalog, metric); // the tree and the groups know no other
    for (int m = (int)metric; m >= 0 && next.n == 0; m = catalog->metrics[m].parent)
        for (size_t i = 0; i < catalog->n_nodes; i++)
            if (catalog->nodes[i].metric == (unsigned)m)
                add_named(view, &catalog->nodes[i], &next);
    if (next.n == 0)
        add(view, &next, find_group_of(catalog, metric));
    return next.n;
}

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
    unsigned groups[VIEW_NEXT_MAX];
    size_t n = view_next_groups(view, metric, groups);
    for (size_t i = 0; i < n; i++) {
        const char *before = i == 0      ? (n == 1 ? "look at the metric group " : "look at the metric groups ")
                             : i + 1 < n ? ", "
                                         : " and ";
        text_format(out, "%s%s%s", before, view->layout->catalog->groups[groups[i]].name,
                    view_group_measured(view, groups[i]) ? "" : " (not measured)");
    }
    return n > 0;
}
