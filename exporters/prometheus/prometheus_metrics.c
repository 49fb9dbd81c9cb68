// SPDX-License-Identifier: Apache-2.0
//
// The plan's metrics on the pages: quotients, whose factors are in the help of one family, and a gauge family for each
// metric. Metrics of several core types with the same name form one family.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/family.h"
#include "exporters/prometheus/prometheus_parts.h"

const struct view *page_begin_type(struct prometheus_page *page, const struct shown *shown, size_t type) {
    const struct view *view = shown->types[type].view;
    page_begin(page, type, view->core_type, view->layout->n_scopes);
    return view;
}

static void number_text(char out[PAGE_NUMBER_MAX], unsigned number) { out[text_number(out, number)] = '\0'; }

struct page_scope page_socket_labels(const struct view *view, size_t socket) {
    struct page_scope labels = {.n = 1, .scope = snapshot_scope_socket(socket)};
    number_text(labels.socket, view->layout->topology->sockets[socket].id);
    return labels;
}

struct page_scope page_cpu_labels(const struct view *view, size_t cpu) {
    const struct topology *topology = view->layout->topology;
    struct page_scope labels = {.n = 2, .scope = snapshot_scope_cpu(view->layout, cpu)};
    number_text(labels.socket, topology->sockets[topology->cpus[cpu].socket].id);
    number_text(labels.cpu, topology->cpus[cpu].id);
    return labels;
}

void page_scoped(struct prometheus_page *page, const struct page_scope *scope, const char *name, const char *value,
                 enum page_kind kind, size_t index) {
    const struct page_label labels[] = {{"socket", scope->socket}, {"cpu", scope->cpu}};
    const struct page_label more = {name, value};
    page_series_scoped(page, scope->scope, labels, scope->n, name ? &more : NULL, kind, index);
}

// True if the metric's quotient is exported; *k is its factor.
static bool exported_ratio(const struct view *view, size_t metric, double *k) {
    return view_exported(view, metric) && catalog_metric_ratio(view_metric(view, metric), k);
}

static bool same(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

// A metric whose quotient is exported, and the quotient's factor.
struct quotient {
    size_t type, metric;
    const char *name;
    double k;
};

// Moves to the next quotient, or to the first if the name is NULL. False if there is none.
static bool next_quotient(const struct shown *shown, struct quotient *quotient) {
    size_t metric = quotient->name ? quotient->metric + 1 : 0;
    for (size_t type = quotient->type; type < shown->n; type++, metric = 0)
        for (const struct view *view = shown->types[type].view; metric < view->layout->n_metrics; metric++)
            if (exported_ratio(view, metric, &quotient->k)) {
                quotient->type = type;
                quotient->metric = metric;
                quotient->name = view_metric(view, metric)->export_name;
                return true;
            }
    return false;
}

// True if an earlier one has the same factor and this name (NULL: any).
static bool quotient_before(const struct shown *shown, const struct quotient *quotient, const char *name) {
    struct quotient other = {0};
    while (next_quotient(shown, &other) && (other.type != quotient->type || other.metric != quotient->metric))
        if (same(other.k, quotient->k) && (!name || strcmp(other.name, name) == 0))
            return true;
    return false;
}

// Appends "<k> for: a, b" with all metrics whose factor is k.
static void append_factor(const struct shown *shown, double k, struct text *help) {
    char digits[TEXT_NUMBER_MAX];
    text_append(help, digits, text_number(digits, k));
    const char *separator = " for: ";
    for (struct quotient other = {0}; next_quotient(shown, &other);) {
        if (!same(other.k, k) || quotient_before(shown, &other, other.name))
            continue;
        text_format(help, "%s%s", separator, other.name);
        separator = ", ";
    }
}

void page_add_numerator_family(struct prometheus_page *page, const struct shown *shown) {
    const struct family_info *info = &family_table[FAMILY_NUMERATOR];
    struct text help = {0};
    text_format(&help, "%s k is 1", info->help);
    const char *separator = ", but ";
    for (struct quotient quotient = {0}; next_quotient(shown, &quotient);) {
        if (same(quotient.k, 1) || quotient_before(shown, &quotient, NULL))
            continue;
        text_string(&help, separator);
        append_factor(shown, quotient.k, &help);
        separator = "; ";
    }
    text_append(&help, ".", 2); // with the terminating zero
    page->failed = page->failed || help.failed;
    if (!page->failed)
        page_family(page, info->name, info->type, help.data);
    text_free(&help);
}

// A sum of whole counts is exported as a whole number; CPU seconds are not.
static enum page_kind kind_of_sum(const struct formula_sum *sum) {
    for (size_t i = 0; i < sum->n; i++)
        if (sum->terms[i].variable == CATALOG_CPU_SECONDS ||
            sum->terms[i].coefficient != rint(sum->terms[i].coefficient))
            return PAGE_REAL;
    return PAGE_WHOLE;
}

static void add_sums(struct prometheus_page *page, const struct view *view, bool numerator) {
    const struct snapshot_layout *layout = view->layout;
    for (size_t s = 0; s < layout->topology->n_sockets; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        for (size_t i = 0; i < layout->n_metrics; i++) {
            const struct catalog_metric *metric = view_metric(view, i);
            double k;
            if (!exported_ratio(view, i, &k))
                continue;
            const struct formula *formula = metric->formula;
            size_t index =
                numerator ? snapshot_numerator(layout, scope.scope, i) : snapshot_denominator(layout, scope.scope, i);
            page_scoped(page, &scope, "metric", metric->export_name,
                        kind_of_sum(numerator ? &formula->numerator : &formula->denominator), index);
        }
    }
}

void page_add_numerators(struct prometheus_page *page, const struct view *view) { add_sums(page, view, true); }

void page_add_denominators(struct prometheus_page *page, const struct view *view) { add_sums(page, view, false); }

void page_add_metric_infos(struct prometheus_page *page, const struct view *view) {
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        const struct catalog_metric *metric = view_metric(view, i);
        const struct page_label labels[] = {{"metric", metric->export_name}, {"definition", metric->definition}};
        if (view_exported(view, i) && metric->definition[0] != '\0' && !metric->unmeasurable)
            page_series_fixed(page, labels, 2, 1);
    }
}

void page_add_standard_errors(struct prometheus_page *page, const struct view *view) {
    if (!view->standard_error)
        return;
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        for (size_t i = 0; i < view->layout->n_metrics; i++)
            if (view_plannable(view, i) && view_exported(view, i))
                page_scoped(page, &scope, "metric", view_metric(view, i)->export_name, PAGE_REAL,
                            snapshot_standard_error(view->layout, scope.scope, i));
    }
}

// Appends one line for people: title, unit, and the vendor's name.
static void append_gauge_help(const struct view *view, const struct catalog_metric *metric, struct text *help) {
    char unit[VIEW_UNIT_MAX];
    view_metric_unit(metric, unit, sizeof(unit));
    text_format(help, "%s", view_title(metric));
    if (metric->help[0])
        text_format(help, ": %s", metric->help);
    text_format(help, "%s %s's name: %s.", help->length > 0 && help->data[help->length - 1] == '.' ? "" : ".",
                metric->vendor[0] != '\0' ? metric->vendor : view->layout->catalog->product.vendor, metric->name);
    if (unit[0])
        text_format(help, " Unit: %s.", unit);
    if (metric->domain == METRIC_CLOCKS)
        text_string(help, " Shares of clock cycles overlap and do not add up.");
    if (metric->domain == METRIC_STALLS)
        text_format(help, " A share of the %s, not of all cycles.", view_whole(metric));
    text_append(help, "", 1);
}

// The gauge of this name; -1 if there is none.
static int find_gauge(const struct view *view, const char *name) {
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        if (view_plannable(view, i) && view_exported(view, i) && strcmp(view_metric(view, i)->export_name, name) == 0)
            return (int)i;
    return -1;
}

void page_add_ipc_error(struct prometheus_page *page, const struct view *view) {
    int ipc = find_gauge(view, CATALOG_IPC);
    if (ipc >= 0)
        page_series(page, "", NULL, 0, PAGE_REAL, snapshot_standard_error(view->layout, 0, (size_t)ipc));
}

static void add_gauge(struct prometheus_page *page, const struct view *view, size_t metric, bool per_cpu) {
    const struct topology *topology = view->layout->topology;
    size_t n = per_cpu ? topology->n_cpus : topology->n_sockets;
    for (size_t s = 0; s < n; s++) {
        struct page_scope scope = per_cpu ? page_cpu_labels(view, s) : page_socket_labels(view, s);
        page_scoped(page, &scope, NULL, NULL, PAGE_REAL, snapshot_metric(view->layout, scope.scope, metric));
    }
}

// Adds the family of a metric of core type `first` and of the later types with a metric of this name. Its help is the
// first's.
static void add_gauge_family(struct prometheus_page *page, const struct shown *shown, size_t first, size_t metric,
                             bool per_cpu) {
    const struct view *view = shown->types[first].view;
    const char *export_name = view_metric(view, metric)->export_name;
    struct text name = {0}, help = {0};
    text_format(&name, "topdownd_%s%s", per_cpu ? "cpu_" : "", export_name);
    text_append(&name, "", 1);
    append_gauge_help(view, view_metric(view, metric), &help);
    page->failed = page->failed || name.failed || help.failed;
    if (!page->failed)
        page_family(page, name.data, "gauge", help.data);
    for (size_t type = first; type < shown->n && !page->failed; type++) {
        int same_name = find_gauge(shown->types[type].view, export_name);
        if (same_name >= 0)
            add_gauge(page, page_begin_type(page, shown, type), (size_t)same_name, per_cpu);
    }
    text_free(&name);
    text_free(&help);
}

void page_add_gauges(struct prometheus_page *page, const struct shown *shown, bool per_cpu) {
    for (size_t type = 0; type < shown->n; type++)
        for (size_t i = 0; i < shown->types[type].view->layout->n_metrics; i++) {
            const struct view *view = shown->types[type].view;
            const char *name = view_metric(view, i)->export_name;
            size_t earlier = 0;
            while (earlier < type && find_gauge(shown->types[earlier].view, name) < 0)
                earlier++;
            if (earlier == type && view_plannable(view, i) && view_exported(view, i))
                add_gauge_family(page, shown, type, i, per_cpu);
        }
}
