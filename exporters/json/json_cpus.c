// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_cpus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cpuset.h"
#include "exporters/json/json.h"
#include "exporters/json/json_parts.h"

// Index of the metric among those of the plan that the profile selects; -1: none has the name.
static int find_metric(const struct view *view, const char *name) {
    for (size_t m = 0; m < view->layout->n_metrics; m++)
        if (view_exported(view, m) && strcmp(view_metric(view, m)->export_name, name) == 0)
            return (int)m;
    return -1;
}

// The metric that is shown where none was asked for: the last node of what the host is bound by, else the first one.
static const char *find_default(const struct shown *shown) {
    const struct view *view = shown->types[0].view;
    const struct snapshot *snapshot = shown->types[0].snapshot;
    const struct verdict *verdict = snapshot->verdicts ? &snapshot->verdicts[0].now : NULL;
    const char *name =
        verdict && verdict->n > 0 ? view->layout->catalog->metrics[verdict->path[verdict->n - 1]].export_name : NULL;
    for (size_t m = 0; m < view->layout->n_metrics && (!name || find_metric(view, name) < 0); m++)
        if (view_exported(view, m))
            name = view_metric(view, m)->export_name;
    return name ? name : "";
}

// What the metric is, from the first core type that has it; NULL: none has.
static const struct catalog_metric *find_meaning(const struct shown *shown, const char *name,
                                                 const struct catalog **catalog) {
    for (size_t i = 0; i < shown->n; i++) {
        const struct view *view = shown->types[i].view;
        int metric = find_metric(view, name);
        *catalog = view->layout->catalog;
        if (metric >= 0)
            return view_metric(view, (size_t)metric);
    }
    return NULL;
}

// Returns 0, or -EINVAL if the text is no number of a CPU that is measured.
static int find_cpu(const struct shown *shown, const char *text, unsigned *cpu) {
    char *end = NULL;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number >= CPUSET_MAX)
        return -EINVAL;
    *cpu = (unsigned)number;
    for (size_t i = 0; i < shown->n; i++)
        if (topology_find_cpu(shown->types[i].view->layout->topology, *cpu) >= 0)
            return 0;
    return -EINVAL;
}

// ---- columns ----

typedef double cpu_number(const struct topology *topology, size_t cpu); // NaN: not known

static double id_of(const struct topology *topology, size_t cpu) { return topology->cpus[cpu].id; }

static double core_of(const struct topology *topology, size_t cpu) { return topology->cpus[cpu].core; }

static double socket_of(const struct topology *topology, size_t cpu) {
    return topology->sockets[topology->cpus[cpu].socket].id;
}

static double known(int number) { return number < 0 ? (double)NAN : (double)number; }

static double node_of(const struct topology *topology, size_t cpu) {
    return topology->places ? known(topology->places[cpu].node) : NAN;
}

static double cache_of(const struct topology *topology, size_t cpu) {
    return topology->places ? known(topology->places[cpu].cache) : NAN;
}

static void add_places(struct json *json, const char *key, const struct topology *topology, cpu_number *number) {
    json_begin_line(json, JSON_COMPACT);
    json_begin_array(json, key);
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
        json_number(json, NULL, number(topology, cpu));
    json_end_array(json);
}

typedef size_t cpu_index(const struct snapshot_layout *layout, size_t scope, size_t i);

// `index` NULL: no CPU has it.
static void add_values(struct json *json, const char *key, const struct snapshot *snapshot, cpu_index *index,
                       size_t i) {
    const struct snapshot_layout *layout = snapshot->layout;
    json_begin_line(json, JSON_COMPACT);
    json_begin_array(json, key);
    for (size_t cpu = 0; cpu < layout->topology->n_cpus; cpu++)
        json_number(json, NULL, index ? snapshot->values[index(layout, snapshot_scope_cpu(layout, cpu), i)] : NAN);
    json_end_array(json);
}

static size_t pipeline_slots_of(const struct snapshot_layout *layout, size_t scope, size_t i) {
    (void)i;
    return snapshot_pipeline_slots(layout, scope);
}

// The totals whose quotient the metric is, times k; null where it is none.
static void add_parts(struct json *json, const struct snapshot *snapshot, const struct catalog_metric *metric,
                      size_t m) {
    const struct snapshot_layout *layout = snapshot->layout;
    size_t category = snapshot_category_of(layout, m);
    double k = 1;
    bool level1 = category < layout->n_level1, ratio = !level1 && catalog_metric_ratio(metric, &k);
    if (!level1 && !ratio) {
        json_null(json, "numerator_total");
        json_null(json, "denominator_total");
    } else {
        add_values(json, "numerator_total", snapshot, level1 ? snapshot_category : snapshot_numerator,
                   level1 ? category : m);
        add_values(json, "denominator_total", snapshot, level1 ? pipeline_slots_of : snapshot_denominator, m);
    }
    json_number(json, "k", k);
}

static void add_metric(struct json *json, const struct view *view, const struct snapshot *snapshot, int metric) {
    size_t m = metric >= 0 ? (size_t)metric : 0;
    bool here = metric >= 0;
    add_values(json, "values", snapshot, here ? snapshot_metric : NULL, m);
    add_values(json, "low", snapshot, here ? snapshot_low : NULL, m);
    add_values(json, "high", snapshot, here ? snapshot_high : NULL, m);
    if (here) {
        add_parts(json, snapshot, view_metric(view, m), m);
    } else {
        json_null(json, "numerator_total");
        json_null(json, "denominator_total");
        json_number(json, "k", 1);
    }
}

// ---- the document ----

static int put_type(const struct shown *shown, const struct shown_type *type, const char *name, struct text *out) {
    const struct topology *topology = type->view->layout->topology;
    const struct catalog *catalog = type->view->layout->catalog;
    const struct catalog_metric *meaning = find_meaning(shown, name, &catalog);
    struct json json = json_begin_document(type->view, out, JSON_COMPACT);
    json_moment(&json, type->view, type->snapshot, JSON_CPU);
    json_string(&json, "metric", meaning ? meaning->export_name : NULL);
    if (meaning) {
        json_meaning(&json, catalog, meaning);
    } else {
        json_null(&json, "unit");
        json_null(&json, "domain");
        json_null(&json, "definition");
    }
    add_places(&json, "cpus", topology, id_of);
    add_places(&json, "sockets", topology, socket_of);
    add_places(&json, "cores", topology, core_of);
    add_places(&json, "nodes", topology, node_of);
    add_places(&json, "caches", topology, cache_of);
    add_metric(&json, type->view, type->snapshot, find_metric(type->view, name));
    json_end_object(&json);
    return json_end(&json);
}

// One document, or an array of those of all core types.
static int put_types(const struct shown *shown, const char *name, const unsigned *cpu, struct text *out) {
    bool several = shown->types[0].view->core_type != NULL;
    int r = 0;
    text_string(out, several ? "{\"core_types\":[\n" : "");
    for (size_t i = 0; i < shown->n && r == 0; i++) {
        text_string(out, i > 0 ? "," : "");
        r = cpu ? json_render_snapshot_cpu(shown, i, *cpu, out) : put_type(shown, &shown->types[i], name, out);
    }
    text_string(out, several ? "]}\n" : "");
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}

int json_render_cpus(const struct shown *shown, const struct json_cpus_query *query, struct text *out, char *error,
                     size_t size) {
    const char *name = query->metric ? query->metric : find_default(shown);
    const struct catalog *catalog;
    unsigned cpu = 0;
    if (query->metric && !find_meaning(shown, name, &catalog)) {
        (void)snprintf(error, size, "no metric that is selected has this name: /api/v1/snapshot lists them");
        return -EINVAL;
    }
    if (query->cpu && find_cpu(shown, query->cpu, &cpu) < 0) {
        (void)snprintf(error, size, "`cpu` is no number of a CPU that is measured");
        return -EINVAL;
    }
    return put_types(shown, name, query->cpu ? &cpu : NULL, out);
}
