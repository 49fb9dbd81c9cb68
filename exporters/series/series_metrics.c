// SPDX-License-Identifier: Apache-2.0
//
// The plan's metrics on the pages: quotients, and a gauge family for each metric. Metrics of several core types with
// the same name form one family.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/family.h"
#include "exporters/series/series_private.h"

void series_begin_family(struct series *series, enum family family) {
    const struct family_info *info = &family_table[family];
    series_begin_named(series, info->name, info->type, info->help);
}

const struct view *series_begin_type(struct series *series, const struct shown *shown, size_t type) {
    const struct view *view = shown->types[type].view;
    series_begin(series, type, view->core_type, view->layout->n_scopes);
    return view;
}

static void number_text(char out[SERIES_NUMBER_MAX], unsigned number) { out[text_number(out, number)] = '\0'; }

struct series_labels series_socket_labels(const struct view *view, size_t socket) {
    struct series_labels labels = {.n = 1, .scope = snapshot_scope_socket(socket)};
    number_text(labels.socket, view->layout->topology->sockets[socket].id);
    return labels;
}

struct series_labels series_cpu_labels(const struct view *view, size_t cpu) {
    const struct topology *topology = view->layout->topology;
    struct series_labels labels = {.n = 2, .scope = snapshot_scope_cpu(view->layout, cpu)};
    number_text(labels.socket, topology->sockets[topology->cpus[cpu].socket].id);
    number_text(labels.cpu, topology->cpus[cpu].id);
    return labels;
}

void series_add_scoped(struct series *series, const struct series_labels *scope, const char *name, const char *value,
                       enum series_kind kind, size_t index) {
    const struct series_label labels[] = {{"socket", scope->socket}, {"cpu", scope->cpu}};
    const struct series_label more = {name, value};
    series_add_shared(series, scope->scope, labels, scope->n, name ? &more : NULL, kind, index);
}

// Traffic has families of its own, in bytes, and so have events that the configuration names.
static bool exported(const struct view *view, size_t metric) {
    return view_exported(view, metric) && view_metric(view, metric)->traffic == TRAFFIC_NONE &&
           !view->layout->catalog->product.chosen;
}

// True if the metric's quotient is exported; *k is its factor.
static bool exported_ratio(const struct view *view, size_t metric, double *k) {
    return exported(view, metric) && catalog_metric_ratio(view_metric(view, metric), k);
}

// A sum of whole counts is exported as a whole number; CPU seconds are not.
static enum series_kind kind_of_sum(const struct formula_sum *sum) {
    for (size_t i = 0; i < sum->n; i++)
        if (sum->terms[i].variable == CATALOG_CPU_SECONDS ||
            sum->terms[i].coefficient != rint(sum->terms[i].coefficient))
            return SERIES_REAL;
    return SERIES_WHOLE;
}

static void add_sums(struct series *series, const struct view *view, bool numerator) {
    const struct snapshot_layout *layout = view->layout;
    for (size_t s = 0; s < layout->topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        for (size_t i = 0; i < layout->n_metrics; i++) {
            const struct catalog_metric *metric = view_metric(view, i);
            double k;
            if (!exported_ratio(view, i, &k))
                continue;
            const struct formula *formula = metric->formula;
            size_t index =
                numerator ? snapshot_numerator(layout, scope.scope, i) : snapshot_denominator(layout, scope.scope, i);
            series_add_scoped(series, &scope, "metric", metric->export_name,
                              kind_of_sum(numerator ? &formula->numerator : &formula->denominator), index);
        }
    }
}

void series_add_numerators(struct series *series, const struct view *view) { add_sums(series, view, true); }

void series_add_denominators(struct series *series, const struct view *view) { add_sums(series, view, false); }

void series_add_metric_infos(struct series *series, const struct view *view) {
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        const struct catalog_metric *metric = view_metric(view, i);
        const struct series_label labels[] = {{"metric", metric->export_name}, {"definition", metric->definition}};
        if (exported(view, i) && metric->definition[0] != '\0' && !metric->unmeasurable)
            series_add_fixed(series, labels, 2, 1);
    }
}

void series_add_standard_errors(struct series *series, const struct view *view) {
    if (!view->standard_error)
        return;
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        for (size_t i = 0; i < view->layout->n_metrics; i++)
            if (view_plannable(view, i) && exported(view, i))
                series_add_scoped(series, &scope, "metric", view_metric(view, i)->export_name, SERIES_REAL,
                                  snapshot_standard_error(view->layout, scope.scope, i));
    }
}

// Appends the title and the unit. /api/v1/catalog has the rest: what the metric means, and the vendor's name.
static void append_gauge_help(const struct view *view, size_t i, struct text *help) {
    const struct catalog_metric *metric = view_metric(view, i);
    const struct plan *plan = view->layout->plan;
    int of_unit = plan->metrics[i].unit;
    bool stands = of_unit >= 0 && plan_unit_stands(plan, (unsigned)of_unit);
    char unit[CATALOG_UNIT_MAX];
    catalog_metric_unit(metric, unit, sizeof(unit));
    text_string(help, view_title(metric));
    if (unit[0])
        text_format(help, ", %s", unit);
    if (metric->domain != METRIC_OTHER && !strstr(unit, " of "))
        text_format(help, " of %s", view_whole(metric)); // shares of different wholes do not add up
    text_string(help, stands ? "." : ", over the last round.");
    text_append(help, "", 1); // the terminating zero
}

// The gauge of this name; -1 if there is none.
static int find_gauge(const struct view *view, const char *name) {
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        if (view_plannable(view, i) && exported(view, i) && strcmp(view_metric(view, i)->export_name, name) == 0)
            return (int)i;
    return -1;
}

void series_add_ipc_error(struct series *series, const struct view *view) {
    int ipc = find_gauge(view, CATALOG_IPC);
    if (ipc >= 0)
        series_add(series, "", NULL, 0, SERIES_REAL, snapshot_standard_error(view->layout, 0, (size_t)ipc));
}

static void add_gauge(struct series *series, const struct view *view, size_t metric, bool per_cpu) {
    const struct topology *topology = view->layout->topology;
    size_t n = per_cpu ? topology->n_cpus : topology->n_sockets;
    for (size_t s = 0; s < n; s++) {
        struct series_labels scope = per_cpu ? series_cpu_labels(view, s) : series_socket_labels(view, s);
        series_add_scoped(series, &scope, NULL, NULL, SERIES_REAL, snapshot_metric(view->layout, scope.scope, metric));
    }
}

// Adds the family of a metric of core type `first` and of the later types with a metric of this name. Its help is the
// first's.
static void add_gauge_family(struct series *series, const struct shown *shown, size_t first, size_t metric,
                             bool per_cpu) {
    const struct view *view = shown->types[first].view;
    const char *export_name = view_metric(view, metric)->export_name;
    size_t n_types = per_cpu ? shown->n : shown_all(shown); // a box is no CPU
    struct text name = {0}, help = {0};
    text_format(&name, "topdownd_%s%s", per_cpu ? "cpu_" : "", export_name);
    text_append(&name, "", 1);
    append_gauge_help(view, metric, &help);
    series->failed = series->failed || name.failed || help.failed;
    if (!series->failed)
        series_begin_named(series, name.data, "gauge", help.data);
    for (size_t type = first; type < n_types && !series->failed; type++) {
        int same_name = find_gauge(shown->types[type].view, export_name);
        if (same_name >= 0)
            add_gauge(series, series_begin_type(series, shown, type), (size_t)same_name, per_cpu);
    }
    text_free(&name);
    text_free(&help);
}

void series_add_gauges(struct series *series, const struct shown *shown, bool per_cpu) {
    size_t n = per_cpu ? shown->n : shown_all(shown);
    for (size_t type = 0; type < n; type++)
        for (size_t i = 0; i < shown->types[type].view->layout->n_metrics; i++) {
            const struct view *view = shown->types[type].view;
            const char *name = view_metric(view, i)->export_name;
            size_t earlier = 0;
            while (earlier < type && find_gauge(shown->types[earlier].view, name) < 0)
                earlier++;
            if (earlier == type && view_plannable(view, i) && exported(view, i))
                add_gauge_family(series, shown, type, i, per_cpu);
        }
}
