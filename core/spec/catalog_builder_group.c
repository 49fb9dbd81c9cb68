// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/catalog_builder_private.h"

// Metric groups, and the methodology that links them.

// Adds a group without duplicate metrics.
static int group_append(struct catalog *catalog, const char *name, const char *title, const char *help,
                        const unsigned *metrics, size_t n) {
    struct catalog_group *group = catalog_entry_grow((void **)&catalog->groups, catalog->n_groups, sizeof *group);
    if (!group)
        return -ENOMEM;
    *group = (struct catalog_group){.name = catalog_entry_copy(name),
                                    .title = catalog_entry_copy(title),
                                    .help = catalog_entry_copy(help),
                                    .metrics = calloc(n + 1, sizeof *metrics)};
    if (!group->name || !group->title || !group->help || !group->metrics) {
        catalog_entry_free_group(group);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < group->n_metrics && group->metrics[j] != metrics[i])
            j++;
        if (j == group->n_metrics)
            group->metrics[group->n_metrics++] = metrics[i];
    }
    return (int)catalog->n_groups++;
}

static int group_check(const struct catalog *catalog, const char *name, struct fault *fault) {
    if (catalog->n_groups == CATALOG_GROUPS_MAX)
        return fault_set(fault, "there are more than %d metric groups", CATALOG_GROUPS_MAX);
    return catalog_entry_check_name("metric group", name, catalog_find_group(catalog, name) >= 0, fault);
}

int catalog_builder_add_group(struct catalog_builder *builder, const char *name, const char *title, const char *help,
                              const char *const *metrics, size_t n_metrics, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int r = group_check(catalog, name, fault);
    if (r < 0)
        return r;
    unsigned *indexes = calloc(n_metrics + 1, sizeof *indexes);
    if (!indexes)
        return -ENOMEM;
    for (size_t i = 0; i < n_metrics && r == 0; i++) {
        int metric = builder_find_metric(catalog, metrics[i]);
        if (metric < 0)
            r = fault_set(fault, "metric group %s names the metric %.60s, which the spec does not have", name,
                          metrics[i]);
        else
            indexes[i] = (unsigned)metric;
    }
    if (r == 0)
        r = group_append(catalog, name, title, help, indexes, n_metrics);
    free(indexes);
    return r;
}

int catalog_builder_add_union(struct catalog_builder *builder, const char *name, const char *const *groups,
                              size_t n_groups, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int r = group_check(catalog, name, fault);
    if (r < 0)
        return r;
    size_t n = 0, room = 1;
    for (size_t i = 0; i < n_groups; i++) {
        int group = catalog_find_group(catalog, groups[i]);
        if (group < 0)
            return fault_set(fault, "%s names the metric group %.60s, which the spec does not have", name, groups[i]);
        room += catalog->groups[group].n_metrics;
    }
    unsigned *indexes = calloc(room, sizeof *indexes);
    if (!indexes)
        return -ENOMEM;
    for (size_t i = 0; i < n_groups; i++) {
        const struct catalog_group *group = &catalog->groups[catalog_find_group(catalog, groups[i])];
        memcpy(indexes + n, group->metrics, group->n_metrics * sizeof *indexes);
        n += group->n_metrics;
    }
    r = group_append(catalog, name, name, "", indexes, n);
    free(indexes);
    return r;
}

int catalog_builder_set_defaults(struct catalog_builder *builder, const char *const *groups, size_t n,
                                 struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    for (unsigned i = 0; i < n; i++) {
        int group = catalog_find_group(catalog, groups[i]);
        if (group < 0)
            return fault_set(fault, "defaults names the metric group %.60s, which the spec does not have", groups[i]);
        if (catalog->groups[group].default_place > 0)
            return fault_set(fault, "defaults names the metric group %.60s twice", groups[i]);
        catalog->groups[group].default_place = i + 1;
    }
    return 0;
}

int catalog_builder_add_node(struct catalog_builder *builder, const char *metric, bool root, const char *const *next,
                             size_t n_next, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int index = builder_find_metric(catalog, metric);
    if (index < 0)
        return fault_set(fault, "the decision tree names the metric %.60s, which the spec does not have", metric);
    for (size_t i = 0; i < n_next; i++)
        if (builder_find_metric(catalog, next[i]) < 0 && catalog_find_group(catalog, next[i]) < 0)
            return fault_set(fault, "the decision tree leads from %s to %.60s, which is no metric and no group", metric,
                             next[i]);
    struct catalog_node *node = catalog_entry_grow((void **)&catalog->nodes, catalog->n_nodes, sizeof *node);
    if (!node)
        return -ENOMEM;
    *node =
        (struct catalog_node){.metric = (unsigned)index, .root = root, .next = calloc(n_next + 1, sizeof *node->next)};
    bool complete = node->next;
    for (size_t i = 0; i < n_next && complete; i++) {
        node->next[i] = (struct catalog_step){.name = catalog_entry_copy(next[i]), .metric = -1, .group = -1};
        complete = node->next[i].name != NULL;
        node->n_next += complete;
    }
    if (!complete) {
        catalog_entry_free_node(node);
        return -ENOMEM;
    }
    return (int)catalog->n_nodes++;
}

void builder_resolve_steps(struct catalog *catalog) {
    for (size_t n = 0; n < catalog->n_nodes; n++)
        for (size_t i = 0; i < catalog->nodes[n].n_next; i++) {
            struct catalog_step *step = &catalog->nodes[n].next[i];
            step->metric = catalog_find_metric(catalog, step->name);
            step->group = catalog_find_group(catalog, step->name);
        }
}

int catalog_builder_add_sample(struct catalog_builder *builder, unsigned node, const char *event, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    struct catalog_node *entry = &catalog->nodes[node];
    int index = catalog_find_event(catalog, event);
    if (index < 0)
        return fault_set(fault, "sample_events of %s names the event %.60s, which the spec does not have",
                         catalog->metrics[entry->metric].name, event);
    if (entry->n_samples == CATALOG_SAMPLES_MAX)
        return fault_set(fault, "sample_events of %s are more than %d", catalog->metrics[entry->metric].name,
                         CATALOG_SAMPLES_MAX);
    unsigned *sample = catalog_entry_grow((void **)&entry->samples, entry->n_samples, sizeof *sample);
    if (!sample)
        return -ENOMEM;
    *sample = (unsigned)index;
    entry->n_samples++;
    return 0;
}
