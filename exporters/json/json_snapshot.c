// SPDX-License-Identifier: Apache-2.0
//
// All values of a round, scope by scope, one per line: a thousand CPUs make megabytes. So the text of a scope is made
// once and copied with each scope's values.

#include "exporters/json/json.h"
#include "exporters/json/json_boxes.h"
#include "exporters/json/json_form.h"
#include "exporters/json/json_parts.h"

// ---- what each scope has for itself ----

static size_t pipeline_slots_of(const struct snapshot_layout *layout, size_t scope, size_t i) {
    (void)i;
    return snapshot_pipeline_slots(layout, scope);
}

static size_t contention_of(const struct snapshot_layout *layout, size_t scope, size_t i) {
    (void)i;
    return snapshot_contention(layout, scope);
}

static size_t deviation_of(const struct snapshot_layout *layout, size_t scope, size_t i) {
    (void)i;
    return snapshot_deviation(layout, scope);
}

static size_t covered_of(const struct snapshot_layout *layout, size_t scope, size_t i) {
    (void)i;
    return snapshot_covered(layout, scope);
}

static size_t uncovered_of(const struct snapshot_layout *layout, size_t scope, size_t i) {
    return snapshot_uncovered(layout, scope, (enum uncovered)i);
}

static size_t busy_of(const struct snapshot_layout *layout, size_t scope, size_t i) {
    (void)i;
    return snapshot_busy(layout, scope);
}

static size_t guest_of(const struct snapshot_layout *layout, size_t scope, size_t i) {
    (void)i;
    return snapshot_guest(layout, scope);
}

static const char *reason_of(const struct json_of *of, size_t i) {
    const char *reason = view_absent_text(of->view, of->snapshot, of->scope, i);
    return reason[0] ? reason : NULL;
}

static const char *quality_of(const struct json_of *of, size_t i) {
    return estimate_quality_name(snapshot_quality(of->snapshot, snapshot_state(of->view->layout, of->scope, i)));
}

static const char *quality_reason_of(const struct json_of *of, size_t i) {
    return view_quality_reason(of->view, of->snapshot, of->scope, i);
}

static bool exact_of(const struct json_of *of, size_t i) { return view_exact(of->view, of->snapshot, of->scope, i); }

static const char *interval_reason_of(const struct json_of *of, size_t i) {
    return view_interval_reason(of->view, of->snapshot, of->scope, i);
}

static const struct topology_cpu *cpu_of(const struct json_of *of) {
    return &of->view->layout->topology->cpus[of->scope - scope_of_cpu(of->view->layout->topology, 0)];
}

static double cpu_id_of(const struct json_of *of) { return cpu_of(of)->id; }

static double socket_id_of_cpu(const struct json_of *of) {
    return of->view->layout->topology->sockets[cpu_of(of)->socket].id;
}

static double socket_id_of(const struct json_of *of) {
    return of->view->layout->topology->sockets[of->scope - snapshot_scope_socket(0)].id;
}

// ---- the object of a scope ----

static void add_name(struct json_form *form, enum json_scope kind) {
    if (kind == JSON_HOST)
        json_string(&form->json, "scope", "host");
    if (kind == JSON_CPU)
        json_form_number(form, "cpu", cpu_id_of);
    if (kind != JSON_HOST)
        json_form_number(form, "socket", kind == JSON_CPU ? socket_id_of_cpu : socket_id_of);
}

static void add_level1(struct json_form *form, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    struct json *json = &form->json;
    if (layout->n_level1 == 0) {
        json_null(json, "level1");
        return;
    }
    json_begin_object(json, "level1");
    json_form_value(form, "pipeline_slots_total", pipeline_slots_of, 0);
    json_begin_object(json, "categories");
    for (size_t i = 0; i < layout->n_level1; i++) {
        enum category category = layout->catalog->level1.categories[i].category;
        unsigned metric = layout->catalog->level1.categories[i].metric;
        json_begin_object(json, category_name(category));
        json_form_value(form, "pipeline_slots_total", snapshot_category, i);
        json_string(json, "metric", layout->catalog->metrics[metric].export_name);
        json_end_object(json);
    }
    json_end_object(json);
    if (layout->catalog->level1.per_thread) {
        json_begin_object(json, category_name(CATEGORY_SMT_CONTENTION));
        json_form_value(form, "pipeline_slots_total", contention_of, 0);
        json_string(json, "metric", layout->catalog->metrics[layout->catalog->level1.contention].export_name);
        json_end_object(json);
    }
    json_form_value(form, "deviation_ratio", deviation_of, 0);
    json_bool(json, "composite", view_composite(view));
    json_end_object(json);
}

// A thousand CPUs have no texts that are the same for all of them.
static void add_metric(struct json_form *form, const struct view *view, enum json_scope kind, size_t i) {
    const struct catalog_metric *metric = view_metric(view, i);
    char unit[CATALOG_UNIT_MAX];
    double k;
    catalog_metric_unit(metric, unit, sizeof(unit));
    json_begin_object(&form->json, metric->export_name);
    json_form_value(form, "value", snapshot_metric, i);
    json_form_string(form, "reason", reason_of, i);
    json_string(&form->json, "unit", unit);
    json_form_value(form, "low", snapshot_low, i);
    json_form_value(form, "high", snapshot_high, i);
    json_form_value(form, "windows", snapshot_metric_windows, i);
    json_form_value(form, "share_of_time", snapshot_share_of_time, i);
    json_form_string(form, "quality", quality_of, i);
    json_form_string(form, "quality_reason", quality_reason_of, i);
    json_form_bool(form, "exact", exact_of, i);
    if (kind != JSON_CPU)
        json_form_string(form, "interval_reason", interval_reason_of, i);
    if (catalog_metric_ratio(metric, &k)) {
        json_form_value(form, "numerator_total", snapshot_numerator, i);
        json_form_value(form, "denominator_total", snapshot_denominator, i);
        json_number(&form->json, "k", k);
    }
    json_end_object(&form->json);
}

static void add_coverage(struct json_form *form, const struct view *view) {
    json_form_value(form, "covered_cpu_seconds", covered_of, 0);
    json_begin_object(&form->json, "uncovered_cpu_seconds");
    for (int reason = 0; reason < UNCOVERED_N; reason++)
        json_form_value(form, uncovered_name((enum uncovered)reason), uncovered_of, (size_t)reason);
    json_end_object(&form->json);
    json_form_value(form, "busy_cpu_seconds", busy_of, 0);
    if (view->guests_excluded)
        json_form_value(form, "guest_cpu_seconds", guest_of, 0);
}

static void write_form(struct json_form *form, const struct view *view, const struct snapshot *snapshot,
                       enum json_scope kind) {
    const struct snapshot_layout *layout = view->layout;
    struct json *json = &form->json;
    json_begin_object(json, NULL);
    add_name(form, kind);
    add_level1(form, view);
    json_begin_object(json, "metrics");
    for (size_t m = 0; m < layout->n_metrics; m++)
        if (view_exported(view, m))
            add_metric(form, view, kind, m);
    json_end_object(json);
    json_begin_object(json, "events");
    for (size_t e = 0; e < layout->n_events; e++)
        json_form_value(form, layout->catalog->events[layout->events[e]].name, snapshot_event, e);
    json_end_object(json);
    add_coverage(form, view);
    if (kind == JSON_HOST)
        json_attention(json, view, snapshot);
    json_end_object(json);
}

// What the values of all scopes are, once: a thousand CPUs have the same metrics.
static void add_meanings(struct json *json, const struct view *view) {
    json_begin_object(json, "metrics");
    for (size_t m = 0; m < view->layout->n_metrics; m++) {
        if (!view_exported(view, m))
            continue;
        json_begin_object(json, view_metric(view, m)->export_name);
        json_meaning(json, view->layout->catalog, view_metric(view, m));
        json_end_object(json);
    }
    json_end_object(json);
}

// `cpu` NULL: all of the scope, else the CPU with this number alone, if it is of this core type.
static int render(const struct shown *shown, size_t type, enum json_scope scope, const unsigned *cpu,
                  struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    struct json json = json_begin_document(view, out, JSON_COMPACT);
    struct json_form form;
    json_form_init(&form);
    write_form(&form, view, snapshot, scope);
    json_moment(&json, view, snapshot, scope);
    json_begin_line(&json, JSON_COMPACT);
    add_meanings(&json, view);
    json_begin_array(&json, "scopes");
    for (size_t i = 0; i < json_scope_count(view, scope); i++) {
        const struct json_of of = {view, snapshot, json_scope_index(view, scope, i)};
        if (cpu && view->layout->topology->cpus[i].id != *cpu)
            continue;
        json_begin_line(&json, JSON_COMPACT);
        json_form_fill(&form, &of, &json);
    }
    json_form_deinit(&form);
    json_end_array(&json);
    if (scope == JSON_SOCKET && type == 0) // what is outside the cores serves the cores of all types
        json_boxes(&json, shown);
    json_end_object(&json);
    return json_end(&json);
}

int json_render_snapshot(const struct shown *shown, size_t type, enum json_scope scope, struct text *out) {
    return render(shown, type, scope, NULL, out);
}

int json_render_snapshot_cpu(const struct shown *shown, size_t type, unsigned cpu, struct text *out) {
    return render(shown, type, JSON_CPU, &cpu, out);
}
