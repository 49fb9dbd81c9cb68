// SPDX-License-Identifier: Apache-2.0
//
// The methodology's tree with the values of the last round. It begins with the answer to the main question: what is
// this host bound by?

#include <errno.h>
#include <math.h>

#include "core/diagnosis/bound.h"
#include "core/diagnosis/next.h"
#include "exporters/json/json.h"
#include "exporters/json/json_bottlenecks.h"
#include "exporters/json/json_circumstances.h"
#include "exporters/json/json_parts.h"
#include "exporters/view/view_bound.h"
#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"
#include "exporters/view/view_sockets.h"
#include "exporters/view/view_waits.h"

static void add_answer(struct json *json, const char *key, enum judge_answer answer) {
    if (answer == JUDGE_UNKNOWN)
        json_null(json, key);
    else
        json_bool(json, key, answer == JUDGE_YES);
}

// The tree, judged in the scope shown.
struct scene {
    const struct shown *shown;
    const struct shown_type *type;
    const struct view *view;
    struct tree *tree;
    const struct snapshot *snapshot;
    size_t scope;
};

static void go_to_scope(struct scene *scene, size_t scope) {
    scene->scope = scope;
    tree_evaluate(scene->tree, scene->snapshot, scope);
}

static const struct catalog_metric *metric_of(const struct scene *scene, unsigned metric) {
    return &scene->view->layout->catalog->metrics[metric];
}

// Adds what to look at next, and whether it is measured.
static void add_next(struct json *json, const struct scene *scene, unsigned of) {
    const struct plan *plan = scene->view->layout->plan;
    const struct catalog_step *step;
    json_begin_array(json, "next");
    for (size_t i = 0; (step = next_named(plan->catalog, plan, of, i)); i++) {
        bool measured = step->metric >= 0 ? isfinite(judge_value(scene->tree->judge, (unsigned)step->metric))
                                          : step->group >= 0 && view_group_measured(scene->view, (unsigned)step->group);
        json_begin_object(json, NULL);
        json_string(json, "name", step->name);
        json_string(json, "kind", step->metric >= 0 ? "metric" : "group");
        json_bool(json, "measured", measured);
        json_end_object(json);
    }
    json_end_array(json);
}

// Adds the metric groups to look at, for a metric that is high.
static void add_next_groups(struct json *json, const struct scene *scene, unsigned metric, bool high) {
    unsigned groups[NEXT_GROUPS_MAX];
    size_t n = high ? next_groups(scene->view->layout->plan, metric, groups) : 0;
    json_begin_array(json, "next_groups");
    for (size_t i = 0; i < n; i++) {
        json_begin_object(json, NULL);
        json_string(json, "name", scene->view->layout->catalog->groups[groups[i]].name);
        json_bool(json, "measured", view_next_measured(scene->view, metric, groups[i]));
        json_end_object(json);
    }
    json_end_array(json);
}

// Adds the command that finds the code behind a metric.
static void add_sample_command(struct json *json, const struct scene *scene, unsigned metric) {
    struct text text = {0};
    view_sample_command(scene->view, metric, &text);
    text_append(&text, "", 1);
    json_string(json, "sample_command", text.failed ? NULL : text.data);
    json->out->failed = json->out->failed || text.failed;
    text_free(&text);
}

// Adds the answer in words. Returns whether the host's sockets differ.
static bool add_bound_text(struct json *json, const struct scene *scene, const struct verdict *verdict) {
    struct text text = {0};
    bool differ = false;
    if (scene->scope == 0) {
        differ = view_sockets_verdict(scene->shown, scene->type, &text);
    } else {
        view_bound_text(scene->view, verdict, scene->snapshot, scene->scope, &text);
        view_waits_text(scene->shown, scene->snapshot, verdict, scene->scope, &text);
    }
    text_append(&text, "", 1);
    json_string(json, "text", text.failed ? "" : text.data);
    json->out->failed = json->out->failed || text.failed;
    text_free(&text);
    return differ;
}

// Adds what the memory moves, and what is short, where the answer is memory.
static void add_memory(struct json *json, const struct scene *scene, const struct verdict *verdict) {
    struct view_waits waits;
    if (!view_waits_judge(scene->shown, scene->snapshot, verdict, scene->scope, &waits)) {
        json_null(json, "memory");
        return;
    }
    json_begin_object(json, "memory");
    json_string(json, "lack", view_waits_lack_name(waits.lack));
    json_number(json, "bytes_per_second", waits.bytes);
    json_number(json, "peak_bytes_per_second", waits.peak);
    json_number(json, "share_of_peak", waits.share_of_peak);
    json_bool(json, "peak_exceeded", waits.beyond);
    json_end_object(json);
}

static void add_since(struct json *json, const struct verdict_since *since) {
    json_number(json, "since_timestamp_seconds", since->seconds);
    if (isnan(since->seconds)) {
        json_null(json, "since_at_least");
        json_null(json, "unwatched_seconds");
        return;
    }
    json_bool(json, "since_at_least", since->at_least);
    json_number(json, "unwatched_seconds", since->unwatched_seconds);
}

// Of the host and the sockets the snapshot has it; single CPUs are judged here.
static struct verdict verdict_of(const struct scene *scene) {
    if (scene->scope <= scene->view->layout->topology->n_sockets)
        return scene->snapshot->verdicts[scene->scope].now;
    return bound_find(scene->tree);
}

static void add_bound(struct json *json, const struct scene *scene) {
    struct verdict found = verdict_of(scene);
    struct verdict verdict = view_waits_settle(scene->shown, scene->snapshot, &found, scene->scope);
    if (verdict.n == 0) {
        json_null(json, "bound");
        json_string(json, "bound_reason", view_bound_reason(scene->view, &verdict, scene->snapshot, scene->scope).text);
        return;
    }
    unsigned last = verdict.path[verdict.n - 1];
    json_begin_object(json, "bound");
    bool differ = add_bound_text(json, scene, &verdict);
    json_begin_array(json, "path");
    for (size_t i = 0; i < verdict.n; i++)
        json_string(json, NULL, metric_of(scene, verdict.path[i])->export_name);
    json_end_array(json);
    add_answer(json, "exceeded", verdict.high);
    add_since(json, &verdict.since);
    json_string(json, "not_told_apart_from",
                verdict.close >= 0 ? metric_of(scene, (unsigned)verdict.close)->export_name : NULL);
    if (scene->scope == 0) {
        json_bool(json, "sockets_differ", differ);
        json_circumstances(json, scene->snapshot);
    }
    json_bool(json, "computes_well", verdict.well);
    json_cause(json, scene->snapshot, &verdict);
    add_memory(json, scene, &verdict);
    add_next(json, scene, last);
    add_next_groups(json, scene, last, true);
    add_sample_command(json, scene, last);
    json_end_object(json);
    json_null(json, "bound_reason");
}

static bool is_composite(const struct scene *scene, int place) {
    const struct plan *plan = scene->view->layout->plan;
    int unit = place < 0 ? PLAN_NOT_PLANNABLE : plan->metrics[place].unit;
    return unit >= 0 && plan->units[unit].n_groups > 1;
}

static const char *why_absent(const struct scene *scene, const struct tree_node *node) {
    return node->place < 0 ? VIEW_NOT_SELECTED
                           : view_absent_text(scene->view, scene->snapshot, scene->scope, (size_t)node->place);
}

static void add_node(struct json *json, const struct scene *scene, size_t index) {
    const struct tree_node *node = &scene->tree->nodes[index];
    const struct catalog_metric *metric = metric_of(scene, node->metric);
    json_begin_object(json, NULL);
    json_string(json, "metric", metric->export_name);
    json_string(json, "name", metric->name);
    json_string(json, "title", metric->title);
    json_number(json, "value", node->value);
    json_string(json, "reason", isfinite(node->value) ? NULL : why_absent(scene, node));
    json_trust(json, scene->view, scene->snapshot, scene->scope, node->place);
    json_meaning(json, scene->view->layout->catalog, metric);
    json_bool(json, "adds_up", metric->domain == METRIC_PIPELINE_SLOTS);
    add_answer(json, "exceeded", node->high);
    add_answer(json, "exceeded_certain", judge_certain(scene->tree->judge, node->metric));
    json_string(json, "threshold", metric->threshold_text);
    json_string(json, "meaning", metric->meaning);
    json_bool(json, "composite", is_composite(scene, node->place));
    add_next(json, scene, node->metric);
    add_next_groups(json, scene, node->metric, node->high == JUDGE_YES);
    if (node->high == JUDGE_YES)
        add_sample_command(json, scene, node->metric);
    else
        json_null(json, "sample_command");
    json_begin_array(json, "children");
    size_t end = tree_next(scene->tree, index);
    for (size_t child = index + 1; child < end; child = tree_next(scene->tree, child))
        add_node(json, scene, child);
    json_end_array(json);
    json_end_object(json);
}

static void add_scope(struct json *json, struct scene *scene, enum json_scope kind, size_t i) {
    go_to_scope(scene, json_scope_index(scene->view, kind, i));
    json_begin_object(json, NULL);
    json_scope_name(json, scene->view, kind, i);
    if (kind != JSON_HOST)
        add_bound(json, scene);
    if (kind != JSON_CPU)
        json_bottlenecks(json, scene->view, scene->snapshot, scene->scope);
    json_begin_array(json, "tree");
    for (size_t node = 0; node < scene->tree->n; node = tree_next(scene->tree, node))
        add_node(json, scene, node);
    json_end_array(json);
    json_end_object(json);
}

// Adds what the shares of each domain sum to.
static void add_domains(struct json *json) {
    json_begin_object(json, "domains");
    json_string(json, view_domain_text(METRIC_PIPELINE_SLOTS), "shares add up, over CPUs too");
    json_string(json, view_domain_text(METRIC_CLOCKS), "shares overlap and do not add up");
    json_string(json, view_domain_text(METRIC_STALLS), "shares of the stall cycles that the unit names");
    json_string(json, view_domain_text(METRIC_OTHER), "no share");
    json_end_object(json);
}

int json_render_topdown(const struct shown *shown, size_t type, enum json_scope scope, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    struct scene scene = {.shown = shown,
                          .type = &shown->types[type],
                          .view = view,
                          .tree = tree_new(view->layout),
                          .snapshot = snapshot};
    if (!scene.tree)
        return -ENOMEM;
    struct json json = json_begin_document(view, out, JSON_INDENTED);
    go_to_scope(&scene, 0);
    add_bound(&json, &scene);
    json_moment(&json, view, snapshot, scope);
    add_domains(&json);
    json_begin_array(&json, "scopes");
    for (size_t i = 0; i < json_scope_count(view, scope); i++) {
        json_begin_line(&json, scope == JSON_HOST ? JSON_INDENTED : JSON_COMPACT); // people read the host's
        add_scope(&json, &scene, scope, i);
    }
    json_end_array(&json);
    json_end_object(&json);
    tree_free(scene.tree);
    return json_end(&json);
}
