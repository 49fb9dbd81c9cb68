// SPDX-License-Identifier: Apache-2.0
//
// The methodology's tree with the values of the last round. The first thing in it is the answer to the question that
// brings people here: what is this host bound by?

#include <errno.h>
#include <math.h>

#include "exporters/json/json.h"
#include "exporters/json/json_parts.h"
#include "exporters/view/tree.h"

static void add_known(struct json *json, const char *key, enum tree_high high) {
    if (high == TREE_HIGH_UNKNOWN)
        json_null(json, key);
    else
        json_bool(json, key, high == TREE_HIGH);
}

static const struct catalog_metric *metric_of(const struct tree *tree, size_t node) {
    return &tree->view->layout->catalog->metrics[tree->nodes[node].metric];
}

// Whether all of a metric group's metrics are selected, and one can be measured.
static bool group_measured(const struct tree *tree, const struct catalog_group *group) {
    bool any = false;
    for (size_t i = 0; i < group->n_metrics; i++) {
        int place = tree->places[group->metrics[i]];
        if (place < 0 || !view_exported(tree->view, (size_t)place))
            return false;
        any = any || view_plannable(tree->view, (size_t)place);
    }
    return any;
}

// What to look at next, and whether it is measured.
static void add_next(struct json *json, const struct tree *tree, size_t node) {
    const struct catalog *catalog = tree->view->layout->catalog;
    json_begin_array(json, "next");
    for (size_t i = 0; i < catalog->n_nodes; i++) {
        const struct catalog_node *step = &catalog->nodes[i];
        for (size_t n = 0; step->metric == tree->nodes[node].metric && n < step->n_next; n++) {
            int metric = catalog_find_metric(catalog, step->next[n]),
                group = catalog_find_group(catalog, step->next[n]);
            json_begin_object(json, NULL);
            json_string(json, "name", step->next[n]);
            json_string(json, "kind", metric >= 0 ? "metric" : "group");
            if (metric >= 0)
                json_bool(json, "measured", isfinite(tree->values[metric]));
            else
                json_bool(json, "measured", group >= 0 && group_measured(tree, &catalog->groups[group]));
            json_end_object(json);
        }
    }
    json_end_array(json);
}

static void add_bound(struct json *json, const struct tree *tree, const struct snapshot *snapshot, size_t scope) {
    struct tree_bound bound = tree_find_bound(tree, snapshot, scope);
    if (bound.n == 0) {
        json_null(json, "bound");
        json_string(json, "bound_reason", bound.reason);
        return;
    }
    struct text text = {0};
    tree_bound_text(tree, &bound, &text);
    text_append(&text, "", 1);
    json_begin_object(json, "bound");
    json_string(json, "text", text.failed ? "" : text.data);
    json->out->failed = json->out->failed || text.failed;
    text_free(&text);
    json_begin_array(json, "path");
    for (size_t i = 0; i < bound.n; i++)
        json_string(json, NULL, metric_of(tree, bound.path[i])->export_name);
    json_end_array(json);
    add_known(json, "exceeded", bound.exceeded);
    json_string(json, "not_told_apart_from", bound.close < tree->n ? metric_of(tree, bound.close)->export_name : NULL);
    add_next(json, tree, bound.path[bound.n - 1]);
    json_end_object(json);
    json_null(json, "bound_reason");
}

static bool is_composite(const struct tree *tree, int place) {
    const struct plan *plan = tree->view->layout->plan;
    int unit = place < 0 ? PLAN_NOT_PLANNABLE : plan->metrics[place].unit;
    return unit >= 0 && plan->units[unit].n_groups > 1;
}

static const char *why_absent(const struct tree *tree, const struct tree_node *node, const struct snapshot *snapshot,
                              size_t scope) {
    return node->place < 0 ? VIEW_NOT_SELECTED : view_absent_text(tree->view, snapshot, scope, (size_t)node->place);
}

static void add_node(struct json *json, const struct tree *tree, const struct snapshot *snapshot, size_t scope,
                     size_t index) {
    const struct tree_node *node = &tree->nodes[index];
    const struct catalog_metric *metric = metric_of(tree, index);
    json_begin_object(json, NULL);
    json_string(json, "metric", metric->export_name);
    json_string(json, "name", metric->name);
    json_string(json, "title", metric->title);
    json_number(json, "value", node->value);
    json_string(json, "reason", isfinite(node->value) ? NULL : why_absent(tree, node, snapshot, scope));
    json_trust(json, snapshot, scope, node->place);
    json_string(json, "domain", view_domain_text(metric->domain));
    json_bool(json, "adds_up", metric->domain == METRIC_PIPELINE_SLOTS);
    add_known(json, "exceeded", node->high);
    json_string(json, "threshold", metric->threshold_text);
    json_string(json, "meaning", metric->meaning);
    json_bool(json, "composite", is_composite(tree, node->place));
    add_next(json, tree, index);
    json_begin_array(json, "children");
    size_t end = tree_next(tree, index);
    for (size_t child = index + 1; child < end; child = tree_next(tree, child))
        add_node(json, tree, snapshot, scope, child);
    json_end_array(json);
    json_end_object(json);
}

static void add_scope(struct json *json, struct tree *tree, const struct snapshot *snapshot, enum json_scope kind,
                      size_t i) {
    size_t scope = json_scope_index(tree->view, kind, i);
    tree_evaluate(tree, snapshot, scope);
    json_begin_object(json, NULL);
    json_scope_name(json, tree->view, kind, i);
    if (kind != JSON_HOST)
        add_bound(json, tree, snapshot, scope);
    json_begin_array(json, "tree");
    for (size_t node = 0; node < tree->n; node = tree_next(tree, node))
        add_node(json, tree, snapshot, scope, node);
    json_end_array(json);
    json_end_object(json);
}

// What the shares of each domain do when they are added.
static void add_domains(struct json *json) {
    json_begin_object(json, "domains");
    json_string(json, view_domain_text(METRIC_PIPELINE_SLOTS), "shares add up, over CPUs too");
    json_string(json, view_domain_text(METRIC_CLOCKS), "shares overlap and do not add up");
    json_string(json, view_domain_text(METRIC_OTHER), "no share");
    json_end_object(json);
}

int json_render_topdown(const struct view *view, const struct snapshot *snapshot, enum json_scope scope,
                        struct text *out) {
    struct tree *tree = tree_new(view);
    if (!tree)
        return -ENOMEM;
    struct json json = json_begin_document(view, out, JSON_INDENTED);
    tree_evaluate(tree, snapshot, 0);
    add_bound(&json, tree, snapshot, 0);
    json_moment(&json, view, snapshot, scope);
    add_domains(&json);
    json_begin_array(&json, "scopes");
    for (size_t i = 0; i < json_scope_count(view, scope); i++) {
        json_begin_line(&json, scope == JSON_HOST ? JSON_INDENTED : JSON_COMPACT); // people read the host's
        add_scope(&json, tree, snapshot, scope, i);
    }
    json_end_array(&json);
    json_end_object(&json);
    tree_free(tree);
    return json_end(&json);
}
