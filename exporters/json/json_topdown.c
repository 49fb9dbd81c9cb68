// SPDX-License-Identifier: Apache-2.0
//
// The methodology's tree with the values of the last round. The first thing in it is the answer to the question that
// brings people here: what is this host bound by?

#include <errno.h>
#include <math.h>

#include "exporters/json/json.h"
#include "exporters/json/json_parts.h"
#include "exporters/view/tree.h"

static void add_known(struct json *json, cJSON *item, const char *key, enum tree_high high) {
    if (high == TREE_HIGH_UNKNOWN)
        json_null(json, item, key);
    else
        json_bool(json, item, key, high == TREE_HIGH);
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
static void add_next(struct json *json, cJSON *item, const struct tree *tree, size_t node) {
    const struct catalog *catalog = tree->view->layout->catalog;
    cJSON *next = json_array(json, item, "next");
    for (size_t i = 0; i < catalog->n_nodes; i++) {
        const struct catalog_node *step = &catalog->nodes[i];
        for (size_t n = 0; step->metric == tree->nodes[node].metric && n < step->n_next; n++) {
            int metric = catalog_find_metric(catalog, step->next[n]),
                group = catalog_find_group(catalog, step->next[n]);
            cJSON *each = json_object(json, next, NULL);
            json_string(json, each, "name", step->next[n]);
            json_string(json, each, "kind", metric >= 0 ? "metric" : "group");
            if (metric >= 0)
                json_bool(json, each, "measured", isfinite(tree->values[metric]));
            else
                json_bool(json, each, "measured", group >= 0 && group_measured(tree, &catalog->groups[group]));
        }
    }
}

static void add_bound(struct json *json, const struct tree *tree, const struct snapshot *snapshot, size_t scope) {
    struct tree_bound bound = tree_find_bound(tree, snapshot, scope);
    if (bound.n == 0) {
        json_null(json, NULL, "bound");
        json_string(json, NULL, "bound_reason", bound.reason);
        return;
    }
    struct text text = {0};
    tree_bound_text(tree, &bound, &text);
    text_append(&text, "", 1);
    cJSON *item = json_object(json, NULL, "bound");
    json_string(json, item, "text", text.failed ? "" : text.data);
    json->failed = json->failed || text.failed;
    text_free(&text);
    cJSON *path = json_array(json, item, "path");
    for (size_t i = 0; i < bound.n; i++)
        json_string(json, path, NULL, metric_of(tree, bound.path[i])->export_name);
    add_known(json, item, "exceeded", bound.exceeded);
    if (bound.close < tree->n)
        json_string(json, item, "not_told_apart_from", metric_of(tree, bound.close)->export_name);
    else
        json_null(json, item, "not_told_apart_from");
    add_next(json, item, tree, bound.path[bound.n - 1]);
    json_null(json, NULL, "bound_reason");
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

static void add_node(struct json *json, cJSON *nodes, const struct tree *tree, const struct snapshot *snapshot,
                     size_t scope, size_t index) {
    const struct tree_node *node = &tree->nodes[index];
    const struct catalog_metric *metric = metric_of(tree, index);
    cJSON *item = json_object(json, nodes, NULL);
    json_string(json, item, "metric", metric->export_name);
    json_string(json, item, "name", metric->name);
    json_string(json, item, "title", metric->title);
    json_number(json, item, "value", node->value);
    if (isfinite(node->value))
        json_null(json, item, "reason");
    else
        json_string(json, item, "reason", why_absent(tree, node, snapshot, scope));
    json_trust(json, item, snapshot, scope, node->place);
    json_string(json, item, "domain", view_domain_text(metric->domain));
    json_bool(json, item, "adds_up", metric->domain == METRIC_PIPELINE_SLOTS);
    add_known(json, item, "exceeded", node->high);
    json_string(json, item, "threshold", metric->threshold_text);
    json_string(json, item, "meaning", metric->meaning);
    json_bool(json, item, "composite", is_composite(tree, node->place));
    add_next(json, item, tree, index);
    cJSON *children = json_array(json, item, "children");
    size_t end = tree_next(tree, index);
    for (size_t child = index + 1; child < end; child = tree_next(tree, child))
        add_node(json, children, tree, snapshot, scope, child);
}

static int render_scope(struct tree *tree, const struct snapshot *snapshot, enum json_scope kind, size_t i,
                        struct text *out) {
    size_t scope = json_scope_index(tree->view, kind, i);
    struct json json = json_new();
    tree_evaluate(tree, snapshot, scope);
    json_scope_name(&json, tree->view, kind, i);
    if (kind != JSON_HOST)
        add_bound(&json, tree, snapshot, scope);
    cJSON *nodes = json_array(&json, NULL, "tree");
    for (size_t node = 0; node < tree->n; node = tree_next(tree, node))
        add_node(&json, nodes, tree, snapshot, scope, node);
    return json_finish(&json, kind == JSON_HOST, out);
}

// All but the scopes, for people to read.
static int render_head(struct tree *tree, const struct snapshot *snapshot, enum json_scope scope, struct text *out) {
    struct json json = json_document(tree->view);
    tree_evaluate(tree, snapshot, 0);
    add_bound(&json, tree, snapshot, 0);
    json_moment(&json, tree->view, snapshot, scope);
    cJSON *domains = json_object(&json, NULL, "domains");
    json_string(&json, domains, view_domain_text(METRIC_PIPELINE_SLOTS), "shares add up, over CPUs too");
    json_string(&json, domains, view_domain_text(METRIC_CLOCKS), "shares overlap and do not add up");
    json_string(&json, domains, view_domain_text(METRIC_OTHER), "no share");
    return json_finish(&json, true, out);
}

int json_render_topdown(const struct view *view, const struct snapshot *snapshot, enum json_scope scope,
                        struct text *out) {
    struct tree *tree = tree_new(view);
    if (!tree)
        return -ENOMEM;
    int r = render_head(tree, snapshot, scope, out);
    if (r == 0) {
        out->length -= 2; // the closing brace comes last
        text_string(out, ",\n\t\"scopes\":\t[");
    }
    for (size_t i = 0; i < json_scope_count(view, scope) && r == 0; i++) {
        text_string(out, i ? ",\n" : "\n");
        r = render_scope(tree, snapshot, scope, i, out);
    }
    tree_free(tree);
    text_string(out, "]\n}\n");
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}
