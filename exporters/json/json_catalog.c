// SPDX-License-Identifier: Apache-2.0
//
// What the present spec knows, measured or not. Written entry by entry, one on each line: a vendor's whole tree of
// files has thousands of events.

#include <errno.h>

#include "core/spec/family.h"
#include "exporters/json/json.h"
#include "exporters/json/json_parts.h"

static const char *const CONSTRAINTS[] = {
    [CONSTRAINT_NO_GROUP] = "NO_GROUP_EVENTS",
    [CONSTRAINT_NO_GROUP_NMI] = "NO_GROUP_EVENTS_NMI",
    [CONSTRAINT_NO_GROUP_SMT] = "NO_GROUP_EVENTS_SMT",
    [CONSTRAINT_NO_THRESHOLD_AND_NMI] = "NO_THRESHOLD_AND_NMI",
};

static void add_family(struct json *json, cJSON *families, const char *prefix, const char *name) {
    struct text text = {0};
    text_format(&text, "%s%s", prefix, name);
    text_append(&text, "", 1);
    json_string(json, families, NULL, text.failed ? "" : text.data);
    json->failed = json->failed || text.failed;
    text_free(&text);
}

// What of the metric Prometheus gets, where it is measured.
static void add_exports(struct json *json, const struct catalog *catalog, unsigned index) {
    const struct catalog_metric *metric = &catalog->metrics[index];
    const struct catalog_level1 *level1 = &catalog->level1;
    const char *category = NULL;
    double k;
    bool ratio = catalog_metric_ratio(metric, &k);
    for (size_t i = 0; level1->present && i < level1->n_categories; i++)
        if (level1->categories[i].metric == index)
            category = category_name(level1->categories[i].category);
    cJSON *families = json_array(json, NULL, "families");
    add_family(json, families, "topdownd_", metric->export_name);
    add_family(json, families, "topdownd_cpu_", metric->export_name);
    if (ratio) {
        add_family(json, families, family_table[FAMILY_NUMERATOR].name, "");
        add_family(json, families, family_table[FAMILY_DENOMINATOR].name, "");
        json_number(json, NULL, "k", k);
    } else {
        json_null(json, NULL, "k");
    }
    if (category) {
        add_family(json, families, family_table[FAMILY_PIPELINE_SLOTS].name, "");
        add_family(json, families, family_table[FAMILY_CPU_PIPELINE_SLOTS].name, "");
        json_string(json, NULL, "category", category);
    } else {
        json_null(json, NULL, "category");
    }
}

// Whether it is measured on this host.
static void add_planned(struct json *json, const struct view *view, const struct catalog_metric *metric, int place) {
    const char *reason = place >= 0             ? view->layout->plan->metrics[place].reason
                         : metric->unmeasurable ? metric->unmeasurable
                                                : VIEW_NOT_SELECTED;
    bool planned = place >= 0 && view_plannable(view, (size_t)place);
    json_bool(json, NULL, "selected", place >= 0 && view_exported(view, (size_t)place));
    json_bool(json, NULL, "planned", planned);
    if (planned)
        json_null(json, NULL, "reason");
    else
        json_string(json, NULL, "reason", reason);
}

static void add_groups(struct json *json, const struct catalog *catalog, unsigned metric) {
    cJSON *groups = json_array(json, NULL, "groups");
    for (size_t g = 0; g < catalog->n_groups; g++)
        for (size_t i = 0; i < catalog->groups[g].n_metrics; i++)
            if (catalog->groups[g].metrics[i] == metric)
                json_string(json, groups, NULL, catalog->groups[g].name);
}

static int render_metric(const struct view *view, unsigned index, struct text *out) {
    const struct catalog *catalog = view->layout->catalog;
    const struct catalog_metric *metric = &catalog->metrics[index];
    struct json json = json_new();
    char unit[VIEW_UNIT_MAX];
    view_metric_unit(metric, unit, sizeof(unit));
    json_string(&json, NULL, "metric", metric->export_name);
    json_string(&json, NULL, "name", metric->name);
    json_string(&json, NULL, "title", metric->title);
    json_string(&json, NULL, "help", metric->help);
    json_string(&json, NULL, "units", metric->units);
    json_string(&json, NULL, "unit", unit);
    json_string(&json, NULL, "domain", view_domain_text(metric->domain));
    json_string(&json, NULL, "formula", metric->formula_text);
    json_number(&json, NULL, "export_scale", metric->export_scale);
    add_groups(&json, catalog, index);
    if (metric->parent >= 0)
        json_string(&json, NULL, "parent", catalog->metrics[metric->parent].export_name);
    else
        json_null(&json, NULL, "parent");
    json_string(&json, NULL, "threshold", metric->threshold_text);
    json_string(&json, NULL, "meaning", metric->meaning);
    if (metric->constraint == CONSTRAINT_NONE)
        json_null(&json, NULL, "constraint");
    else
        json_string(&json, NULL, "constraint", CONSTRAINTS[metric->constraint]);
    add_exports(&json, catalog, index);
    add_planned(&json, view, metric, view->layout->plan->place[index]);
    return json_finish(&json, false, out);
}

static int render_group(const struct catalog *catalog, const struct catalog_group *group, struct text *out) {
    struct json json = json_new();
    json_string(&json, NULL, "name", group->name);
    json_string(&json, NULL, "title", group->title);
    json_string(&json, NULL, "help", group->help);
    cJSON *metrics = json_array(&json, NULL, "metrics");
    for (size_t i = 0; i < group->n_metrics; i++)
        json_string(&json, metrics, NULL, catalog->metrics[group->metrics[i]].export_name);
    return json_finish(&json, false, out);
}

static int render_event(const struct catalog *catalog, const struct catalog_event *event, struct text *out) {
    struct json json = json_new();
    json_string(&json, NULL, "name", event->name);
    json_string(&json, NULL, "title", event->title);
    json_string(&json, NULL, "pmu", catalog->pmus[event->code.pmu]);
    json_string(&json, NULL, "terms", event->terms);
    return json_finish(&json, false, out);
}

static int render_head(const struct view *view, struct text *out) {
    const struct catalog_product *product = &view->layout->catalog->product;
    struct json json = json_document(view);
    json_bool(&json, NULL, "simulated", view->simulated);
    json_string(&json, NULL, "spec", product->spec);
    json_string(&json, NULL, "vendor", product->vendor);
    json_string(&json, NULL, "product", product->name);
    json_string(&json, NULL, "microarchitecture", product->microarchitecture);
    cJSON *cpu = json_object(&json, NULL, "cpu");
    json_string(&json, cpu, "vendor", view->cpu_vendor);
    json_string(&json, cpu, "model", view->cpu_model);
    json_string(&json, cpu, "microarchitecture", view->cpu_microarchitecture);
    return json_finish(&json, false, out);
}

// Opens the next array of entries.
static void begin_array(const char *name, struct text *out) { text_format(out, ",\n\"%s\":[", name); }

static void begin_entry(size_t i, struct text *out) { text_string(out, i > 0 ? ",\n" : "\n"); }

static int render_metrics(const struct view *view, struct text *out) {
    int r = 0;
    begin_array("metrics", out);
    for (unsigned m = 0; m < view->layout->catalog->n_metrics && r == 0; m++) {
        begin_entry(m, out);
        r = render_metric(view, m, out);
    }
    text_string(out, "]");
    return r;
}

int json_render_catalog(const struct view *view, struct text *out) {
    const struct catalog *catalog = view->layout->catalog;
    int r = render_head(view, out);
    if (r == 0) {
        out->length--; // the closing brace comes last
        r = render_metrics(view, out);
    }
    begin_array("groups", out);
    for (size_t g = 0; g < catalog->n_groups && r == 0; g++) {
        begin_entry(g, out);
        r = render_group(catalog, &catalog->groups[g], out);
    }
    text_string(out, "]");
    begin_array("events", out);
    for (size_t e = 0, n = 0; e < catalog->n_events && r == 0; e++) {
        if (catalog->events[e].kind != EVENT_COUNTED)
            continue;
        begin_entry(n++, out);
        r = render_event(catalog, &catalog->events[e], out);
    }
    text_string(out, "]}\n");
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}
