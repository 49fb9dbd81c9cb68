// SPDX-License-Identifier: Apache-2.0
//
// The plan's metrics: quotients, and a gauge family for each metric. Metrics of several core types with the same name
// form one family.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/family.h"
#include "exporters/series/series_private.h"

// Traffic has families of its own, in bytes, and so have events that the configuration names.
static bool exported(const struct view *view, size_t metric) {
    return view_has_series(view, metric) && view_metric(view, metric)->traffic == TRAFFIC_NONE &&
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

static void add_sums(struct series *series, const struct view *view, const struct series_labels *scope,
                     bool numerator) {
    const struct snapshot_layout *layout = view->layout;
    for (size_t i = 0; i < layout->n_metrics; i++) {
        const struct catalog_metric *metric = view_metric(view, i);
        double k;
        if (!exported_ratio(view, i, &k))
            continue;
        const struct formula *formula = metric->formula;
        size_t index =
            numerator ? snapshot_numerator(layout, scope->scope, i) : snapshot_denominator(layout, scope->scope, i);
        series_add_scoped(series, scope, "metric", metric->export_name,
                          kind_of_sum(numerator ? &formula->numerator : &formula->denominator), index);
    }
}

void series_add_numerators(struct series *series, const struct view *view, const struct series_labels *scope) {
    add_sums(series, view, scope, true);
}

void series_add_denominators(struct series *series, const struct view *view, const struct series_labels *scope) {
    add_sums(series, view, scope, false);
}

void series_add_metric_infos(struct series *series, const struct view *view) {
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        const struct catalog_metric *metric = view_metric(view, i);
        const struct series_label labels[] = {{"metric", metric->export_name}, {"definition", metric->definition}};
        if (exported(view, i) && metric->definition[0] != '\0' && !metric->unmeasurable)
            series_add_fixed(series, labels, 2, 1);
    }
}

void series_add_standard_errors(struct series *series, const struct view *view, const struct series_labels *scope) {
    for (size_t i = 0; i < view->layout->n_metrics && view->standard_error; i++)
        if (view_plannable(view, i) && exported(view, i))
            series_add_scoped(series, scope, "metric", view_metric(view, i)->export_name, SERIES_REAL,
                              snapshot_standard_error(view->layout, scope->scope, i));
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

static void add_gauge(struct series *series, const struct view *view, size_t metric, enum series_scope of) {
    for (size_t i = 0; i < series_n_scopes(view, of); i++) {
        struct series_labels scope = series_scope(view, of, i);
        series_add_scoped(series, &scope, NULL, NULL, SERIES_REAL, snapshot_metric(view->layout, scope.scope, metric));
    }
}

// Boxes are no CPUs.
static size_t count_types(const struct shown *shown, enum series_scope of) {
    return of == OF_CPUS ? shown->n : shown_all(shown);
}

// Adds the family of a metric of core type `first` and of the later types with a metric of this name. Its help is the
// first's.
static void add_gauge_family(struct series *series, size_t first, size_t metric, enum series_scope of) {
    const struct shown *shown = series->shown;
    const struct view *view = shown->types[first].view;
    const char *export_name = view_metric(view, metric)->export_name;
    struct text name = {0}, help = {0};
    text_format(&name, "topdownd_%s%s", of == OF_CPUS ? "cpu_" : "", export_name);
    text_append(&name, "", 1);
    append_gauge_help(view, metric, &help);
    series->failed = series->failed || name.failed || help.failed;
    if (!series->failed)
        series_begin_named(series, name.data, "gauge", help.data);
    for (size_t type = first; type < count_types(shown, of) && !series->failed; type++) {
        int same_name = find_gauge(shown->types[type].view, export_name);
        if (same_name >= 0)
            add_gauge(series, series_begin_type(series, type), (size_t)same_name, of);
    }
    text_free(&name);
    text_free(&help);
}

void series_add_gauges(struct series *series, enum series_scope of) {
    const struct shown *shown = series->shown;
    for (size_t type = 0; type < count_types(shown, of); type++)
        for (size_t i = 0; i < shown->types[type].view->layout->n_metrics; i++) {
            const struct view *view = shown->types[type].view;
            const char *name = view_metric(view, i)->export_name;
            size_t earlier = 0;
            while (earlier < type && find_gauge(shown->types[earlier].view, name) < 0)
                earlier++;
            if (earlier == type && view_plannable(view, i) && exported(view, i))
                add_gauge_family(series, type, i, of);
        }
}
