// SPDX-License-Identifier: Apache-2.0
//
// All of the current spec, measured or not, and of the specs of PMUs outside the cores. One entry per line: a vendor's
// whole tree of files has thousands of events.

#include <math.h>

#include "core/spec/family.h"
#include "exporters/json/json.h"
#include "exporters/json/json_parts.h"
#include "exporters/view/view_boxes.h"

static const char *const CONSTRAINTS[] = {
    [CONSTRAINT_NO_GROUP] = "NO_GROUP_EVENTS",
    [CONSTRAINT_NO_GROUP_NMI] = "NO_GROUP_EVENTS_NMI",
    [CONSTRAINT_NO_GROUP_SMT] = "NO_GROUP_EVENTS_SMT",
    [CONSTRAINT_NO_THRESHOLD_AND_NMI] = "NO_THRESHOLD_AND_NMI",
};

// Adds a family's name; a metric's own family is named after the metric, with a prefix.
static void add_family(struct json *json, const char *prefix, const char *name) {
    struct text text = {0};
    text_format(&text, "%s%s", prefix, name);
    text_append(&text, "", 1);
    json_string(json, NULL, text.failed ? "" : text.data);
    json->out->failed = json->out->failed || text.failed;
    text_free(&text);
}

static const char *category_of(const struct catalog_level1 *level1, unsigned metric) {
    for (size_t i = 0; level1->present && i < level1->n_categories; i++)
        if (level1->categories[i].metric == metric)
            return category_name(level1->categories[i].category);
    return NULL;
}

// Adds how a measured metric of a kind is exported to Prometheus: traffic and what the configuration names have
// families that all kinds share.
static void add_exports_of_boxes(struct json *json, const struct catalog *catalog,
                                 const struct catalog_metric *metric) {
    double k = NAN;
    bool ratio = catalog_metric_ratio(metric, &k);
    bool own = metric->traffic == TRAFFIC_NONE && !catalog->product.chosen;
    json_begin_array(json, "families");
    if (own)
        add_family(json, "topdownd_", metric->export_name);
    if (own && ratio) {
        json_string(json, NULL, family_table[FAMILY_NUMERATOR].name);
        json_string(json, NULL, family_table[FAMILY_DENOMINATOR].name);
    } else if (!own && (ratio || !traffic_passes(metric->traffic))) {
        enum family family = catalog->product.chosen ? FAMILY_UNCORE_EVENT : traffic_table[metric->traffic].family;
        json_string(json, NULL, family_table[family].name);
    }
    json_end_array(json);
    json_number(json, "k", ratio ? k : NAN);
    json_null(json, "category");
}

// Adds how a measured metric is exported to Prometheus.
static void add_exports(struct json *json, const struct catalog *catalog, unsigned index) {
    const struct catalog_metric *metric = &catalog->metrics[index];
    const char *category = category_of(&catalog->level1, index);
    double k = NAN;
    bool ratio = catalog_metric_ratio(metric, &k);
    json_begin_array(json, "families");
    add_family(json, "topdownd_", metric->export_name);
    add_family(json, "topdownd_cpu_", metric->export_name);
    if (ratio) {
        json_string(json, NULL, family_table[FAMILY_NUMERATOR].name);
        json_string(json, NULL, family_table[FAMILY_DENOMINATOR].name);
    }
    if (category) {
        json_string(json, NULL, family_table[FAMILY_PIPELINE_SLOTS].name);
        json_string(json, NULL, family_table[FAMILY_CPU_PIPELINE_SLOTS].name);
    }
    if (catalog->level1.per_thread && catalog->level1.contention == (int)index) {
        json_string(json, NULL, family_table[FAMILY_SMT_CONTENTION].name);
        json_string(json, NULL, family_table[FAMILY_CPU_SMT_CONTENTION].name);
    }
    json_end_array(json);
    json_number(json, "k", ratio ? k : NAN);
    json_string(json, "category", category);
}

// Adds whether it is measured on this host.
static void add_planned(struct json *json, const struct view *view, unsigned index) {
    const struct catalog *catalog = view->layout->catalog;
    int place = view->layout->plan->place[catalog_metric_named(catalog, index)];
    if (place >= 0 && view->layout->plan->metrics[place].metric != index) {
        json_bool(json, "selected", view_has_series(view, (size_t)place));
        json_bool(json, "planned", false);
        json_string(json, "reason", "another definition of the metric counts here");
        return;
    }
    const char *reason = place >= 0                      ? view->layout->plan->metrics[place].reason
                         : view->layout->topology->boxes ? VIEW_BOXES_NOT_SELECTED
                                                         : VIEW_NOT_SELECTED;
    char why[PLAN_REASON_MAX];
    if (place < 0 && catalog_metric_explain(catalog, index, why, sizeof why))
        reason = why;
    bool planned = place >= 0 && view_plannable(view, (size_t)place);
    json_bool(json, "selected", place >= 0 && view_has_series(view, (size_t)place));
    json_bool(json, "planned", planned);
    json_string(json, "reason", planned ? NULL : reason);
}

static void add_groups_of(struct json *json, const struct catalog *catalog, unsigned metric) {
    json_begin_array(json, "groups");
    for (size_t g = 0; g < catalog->n_groups; g++)
        for (size_t i = 0; i < catalog->groups[g].n_metrics; i++)
            if (catalog->groups[g].metrics[i] == metric)
                json_string(json, NULL, catalog->groups[g].name);
    json_end_array(json);
}

static void add_sample_events(struct json *json, const struct catalog *catalog, unsigned metric) {
    const struct catalog_node *node = catalog_sample_node(catalog, metric);
    json_begin_array(json, "sample_events");
    for (size_t i = 0; node && i < node->n_samples; i++)
        json_string(json, NULL, catalog->events[node->samples[i]].name);
    json_end_array(json);
}

static void add_metric(struct json *json, const struct view *view, unsigned index) {
    const struct catalog *catalog = view->layout->catalog;
    const struct catalog_metric *metric = &catalog->metrics[index];
    char unit[CATALOG_UNIT_MAX];
    view_boxes_unit(catalog, metric, unit, sizeof(unit));
    json_begin_object(json, NULL);
    json_string(json, "metric", metric->export_name);
    json_string(json, "name", metric->name);
    json_string(json, "definition", metric->definition[0] != '\0' ? metric->definition : NULL);
    json_string(json, "alternative_of", metric->stands_for >= 0 ? catalog->metrics[metric->stands_for].name : NULL);
    json_string(json, "title", metric->title);
    json_string(json, "help", metric->help);
    json_string(json, "units", metric->units);
    json_string(json, "unit", unit);
    json_string(json, "domain", view_domain_text(metric->domain));
    json_string(json, "formula", metric->formula_text);
    json_number(json, "export_scale", metric->export_scale);
    add_groups_of(json, catalog, catalog_metric_named(catalog, index));
    json_string(json, "parent", metric->parent >= 0 ? catalog->metrics[metric->parent].export_name : NULL);
    json_string(json, "threshold", metric->threshold_text);
    json_string(json, "meaning", metric->meaning);
    json_string(json, "constraint", metric->constraint == CONSTRAINT_NONE ? NULL : CONSTRAINTS[metric->constraint]);
    add_sample_events(json, catalog, index);
    if (view->layout->topology->boxes)
        add_exports_of_boxes(json, catalog, metric);
    else
        add_exports(json, catalog, index);
    add_planned(json, view, index);
    json_end_object(json);
}

static void add_metrics(struct json *json, const struct view *view) {
    for (unsigned m = 0; m < view->layout->catalog->n_metrics; m++) {
        json_begin_line(json, JSON_COMPACT);
        add_metric(json, view, m);
    }
}

static void add_groups(struct json *json, const struct catalog *catalog) {
    for (size_t g = 0; g < catalog->n_groups; g++) {
        const struct catalog_group *group = &catalog->groups[g];
        json_begin_line(json, JSON_COMPACT);
        json_begin_object(json, NULL);
        json_string(json, "name", group->name);
        json_string(json, "title", group->title);
        json_string(json, "help", group->help);
        json_begin_array(json, "metrics");
        for (size_t i = 0; i < group->n_metrics; i++)
            json_string(json, NULL, catalog->metrics[group->metrics[i]].export_name);
        json_end_array(json);
        json_end_object(json);
    }
}

// True if the plan counts the event: boxes of several PMUs do, and recordings from simulated hosts of before may.
static bool is_counted(const struct view *view, unsigned event) {
    const struct plan *plan = view->layout->plan;
    for (size_t g = 0; g < plan->n_groups; g++)
        for (size_t i = 0; i < plan->groups[g].n_events; i++)
            if (plan->groups[g].events[i] == event)
                return true;
    return false;
}

static void add_events(struct json *json, const struct view *view) {
    const struct catalog *catalog = view->layout->catalog;
    for (size_t e = 0; e < catalog->n_events; e++) {
        const struct catalog_event *event = &catalog->events[e];
        if (event->kind != EVENT_COUNTED)
            continue;
        json_begin_line(json, JSON_COMPACT);
        json_begin_object(json, NULL);
        json_string(json, "name", event->name);
        json_string(json, "title", event->title);
        json_string(json, "pmu", catalog->pmus[event->code.pmu]);
        json_string(json, "terms", event->terms);
        char why[PLAN_REASON_MAX];
        bool cannot = catalog_event_explain(catalog, (unsigned)e, why, sizeof why) && !is_counted(view, (unsigned)e);
        json_string(json, "unmeasurable", cannot ? why : NULL);
        json_end_object(json);
    }
}

static void add_product(struct json *json, const struct view *view) {
    const struct catalog_product *product = &view->layout->catalog->product;
    json_bool(json, "simulated", view->simulated);
    json_bool(json, "replay", view->replayed);
    json_string(json, "spec", product->spec);
    json_string(json, "vendor", product->vendor);
    json_string(json, "product", product->name);
    json_string(json, "microarchitecture", product->microarchitecture);
    json_begin_object(json, "cpu");
    json_string(json, "vendor", view->cpu_vendor);
    json_string(json, "model", view->cpu_model);
    json_string(json, "microarchitecture", view->cpu_microarchitecture);
    json_end_object(json);
}

// Begins an array of entries on a new line.
static void begin_entries(struct json *json, const char *key) {
    json_begin_line(json, JSON_COMPACT);
    json_begin_array(json, key);
}

static void add_entries(struct json *json, const struct view *view) {
    begin_entries(json, "metrics");
    add_metrics(json, view);
    json_end_array(json);
    begin_entries(json, "groups");
    add_groups(json, view->layout->catalog);
    json_end_array(json);
    begin_entries(json, "events");
    add_events(json, view);
    json_end_array(json);
}

int json_render_catalog(const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    struct json json = json_begin_document(view, out, JSON_COMPACT);
    add_product(&json, view);
    add_entries(&json, view);
    begin_entries(&json, "uncore");
    for (size_t i = shown->n; type == 0 && i < shown_all(shown); i++) {
        json_begin_line(&json, JSON_COMPACT);
        json_begin_object(&json, NULL);
        json_boxes_kind(&json, shown->types[i].view);
        add_entries(&json, shown->types[i].view);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    return json_end(&json);
}
