// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/next.h"

#include "core/plan/plan_possible.h"

static bool contains(const struct catalog_group *group, unsigned metric) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (group->metrics[i] == metric)
            return true;
    return false;
}

// ---- what the catalog names ----

// A name of the decision tree may be that of a metric and of a metric group: then the metric is meant.
static bool is_named(const struct catalog *catalog, const struct plan *plan, const struct catalog_step *step) {
    if (step->metric >= 0 || step->group < 0)
        return true;
    return plan ? plan_group_possible(plan, (unsigned)step->group)
                : catalog_group_measurable(catalog, (unsigned)step->group);
}

const struct catalog_step *next_named(const struct catalog *catalog, const struct plan *plan, unsigned metric,
                                      size_t i) {
    for (size_t k = 0; k < catalog->n_nodes; k++) {
        const struct catalog_node *node = &catalog->nodes[k];
        for (size_t n = 0; node->metric == metric && n < node->n_next; n++)
            if (is_named(catalog, plan, &node->next[n]) && i-- == 0)
                return &node->next[n];
    }
    return NULL;
}

// ---- what to look at here ----

struct found {
    const struct plan *plan;
    unsigned *groups;
    size_t n;
};

// What cannot be measured here would lead nowhere.
static void add(struct found *found, int group) {
    bool known = group < 0 || found->n == NEXT_GROUPS_MAX;
    for (size_t i = 0; i < found->n && !known; i++)
        known = found->groups[i] == (unsigned)group;
    if (!known && plan_group_possible(found->plan, (unsigned)group))
        found->groups[found->n++] = (unsigned)group;
}

int next_group_of(const struct catalog *catalog, unsigned metric) {
    int group = -1;
    for (size_t g = 0; g < catalog->n_groups; g++)
        if (contains(&catalog->groups[g], metric) &&
            (group < 0 || catalog->groups[g].n_metrics < catalog->groups[group].n_metrics))
            group = (int)g;
    return group;
}

static void add_steps(struct found *found, const struct catalog_node *node) {
    const struct plan *plan = found->plan;
    for (size_t i = 0; i < node->n_next; i++)
        if (node->next[i].metric < 0)
            add(found, node->next[i].group);
    bool all = found->n == 0;
    for (size_t i = 0; i < node->n_next; i++) {
        int metric = node->next[i].metric;
        if (metric >= 0 && (all || plan->place[metric] < 0))
            add(found, next_group_of(plan->catalog, (unsigned)metric));
    }
}

size_t next_groups(const struct plan *plan, unsigned metric, unsigned groups[NEXT_GROUPS_MAX]) {
    const struct catalog *catalog = plan->catalog;
    struct found found = {.plan = plan, .groups = groups};
    metric = catalog_metric_named(catalog, metric); // the tree and the groups know no other
    for (int m = (int)catalog_metric_hidden(catalog, metric); m >= 0 && found.n == 0; m = catalog->metrics[m].parent)
        for (size_t i = 0; i < catalog->n_nodes; i++)
            if (catalog->nodes[i].metric == (unsigned)m)
                add_steps(&found, &catalog->nodes[i]);
    if (found.n == 0)
        add(&found, next_group_of(catalog, metric));
    return found.n;
}

// The metrics that a node names and whose group this is. `named`: the node names the group itself.
static size_t list_named(const struct catalog *catalog, const struct catalog_node *node, unsigned group, bool *named,
                         unsigned metrics[NEXT_METRICS_MAX]) {
    size_t n = 0;
    for (size_t i = 0; i < node->n_next; i++) {
        const struct catalog_step *step = &node->next[i];
        if (step->metric >= 0 && n < NEXT_METRICS_MAX && next_group_of(catalog, (unsigned)step->metric) == (int)group)
            metrics[n++] = (unsigned)step->metric;
        else if (step->metric < 0 && step->group == (int)group)
            *named = true;
    }
    return n;
}

size_t next_metrics_of(const struct plan *plan, unsigned metric, unsigned group, unsigned metrics[NEXT_METRICS_MAX]) {
    const struct catalog *catalog = plan->catalog;
    metric = catalog_metric_hidden(catalog, catalog_metric_named(catalog, metric));
    for (int m = (int)metric; m >= 0; m = catalog->metrics[m].parent)
        for (size_t i = 0; i < catalog->n_nodes; i++) {
            bool named = false;
            size_t n = catalog->nodes[i].metric == (unsigned)m
                           ? list_named(catalog, &catalog->nodes[i], group, &named, metrics)
                           : 0;
            if (named || n > 0)
                return named ? 0 : n;
        }
    return 0;
}

// ---- what is to be measured more often ----

static bool holds_level1(const struct catalog *catalog, unsigned group) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (contains(&catalog->groups[group], catalog->level1.categories[i].metric))
            return true;
    return false;
}

bool next_leads(const struct catalog *catalog, const struct catalog_node *node, unsigned group) {
    bool leads = false;
    for (size_t i = 0; i < node->n_next && !leads; i++)
        leads = node->next[i].group == (int)group ||
                (node->next[i].metric >= 0 && contains(&catalog->groups[group], (unsigned)node->next[i].metric));
    return leads && !holds_level1(catalog, group);
}
