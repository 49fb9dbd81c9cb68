// SPDX-License-Identifier: Apache-2.0
//
// What stands on the two pages: the families of core/family.h in the order of that table, then a gauge for each metric
// of the plan, then the process. Here everything is decided; rendering (prometheus_page.c) only fills in numbers.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/family.h"
#include "exporters/prometheus_page.h"

enum { NUMBER_MAX = 24 };

static void add_family(struct prometheus_page *page, enum family family) {
    const struct family_info *info = &family_table[family];
    page_family(page, info->name, info->type, info->help);
}

static const char *number_text(char out[NUMBER_MAX], unsigned long long number) {
    (void)snprintf(out, NUMBER_MAX, "%llu", number);
    return out;
}

// A scope's own labels: {socket}, or {socket,cpu} where there are two.
struct scope_labels {
    size_t n;
    size_t scope;
    char socket[NUMBER_MAX], cpu[NUMBER_MAX];
};

static struct scope_labels socket_labels(const struct view *view, size_t socket) {
    struct scope_labels labels = {.n = 1, .scope = snapshot_scope_socket(socket)};
    number_text(labels.socket, view->layout->topology->sockets[socket].id);
    return labels;
}

static struct scope_labels cpu_labels(const struct view *view, size_t cpu) {
    const struct topology *topology = view->layout->topology;
    struct scope_labels labels = {.n = 2, .scope = snapshot_scope_cpu(view->layout, cpu)};
    number_text(labels.socket, topology->sockets[topology->cpus[cpu].socket].id);
    number_text(labels.cpu, topology->cpus[cpu].id);
    return labels;
}

// A series of a scope, with one label more where `name` is not NULL.
static void add_scoped(struct prometheus_page *page, const struct scope_labels *scope, const char *name,
                       const char *value, enum page_kind kind, size_t index) {
    struct page_label labels[3] = {{"socket", scope->socket}, {"cpu", scope->cpu}};
    labels[scope->n] = (struct page_label){name, value};
    page_series(page, "", labels, scope->n + (name ? 1 : 0), kind, index);
}

static void add_categories(struct prometheus_page *page, const struct view *view, const struct scope_labels *scope) {
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    for (size_t i = 0; i < view->layout->n_level1; i++)
        add_scoped(page, scope, "category", category_name(level1->categories[i].category), PAGE_WHOLE,
                   snapshot_category(view->layout, scope->scope, i));
}

static void add_uncovered(struct prometheus_page *page, const struct view *view, const struct scope_labels *scope) {
    for (int reason = 0; reason < UNCOVERED_N; reason++)
        add_scoped(page, scope, "reason", uncovered_name((enum uncovered)reason), PAGE_REAL,
                   snapshot_uncovered(view->layout, scope->scope, (enum uncovered)reason));
}

// Whether the metric's quotient is exported, and what it is multiplied with.
static bool exported_ratio(const struct view *view, size_t metric, double *k) {
    return view_exported(view, metric) && catalog_metric_ratio(view_metric(view, metric), k);
}

static bool same(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

// Appends "<k> for: a, b" with all metrics whose factor is k.
static void append_factor(const struct view *view, double k, struct text *help) {
    char digits[TEXT_NUMBER_MAX];
    text_append(help, digits, text_number(digits, k));
    const char *separator = " for: ";
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        double other;
        if (!exported_ratio(view, i, &other) || !same(other, k))
            continue;
        text_format(help, "%s%s", separator, view_metric(view, i)->export_name);
        separator = ", ";
    }
}

// Whether an earlier metric has the same factor.
static bool factor_seen(const struct view *view, size_t metric, double k) {
    for (size_t i = 0; i < metric; i++) {
        double other;
        if (exported_ratio(view, i, &other) && same(other, k))
            return true;
    }
    return false;
}

static void add_numerator_family(struct prometheus_page *page, const struct view *view) {
    const struct family_info *info = &family_table[FAMILY_NUMERATOR];
    struct text help = {0};
    text_format(&help, "%s k is 1", info->help);
    const char *separator = ", but ";
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        double k;
        if (!exported_ratio(view, i, &k) || same(k, 1) || factor_seen(view, i, k))
            continue;
        text_string(&help, separator);
        append_factor(view, k, &help);
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
    if (numerator)
        add_numerator_family(page, view);
    else
        add_family(page, FAMILY_DENOMINATOR);
    const struct snapshot_layout *layout = view->layout;
    for (size_t s = 0; s < layout->topology->n_sockets; s++) {
        struct scope_labels scope = socket_labels(view, s);
        for (size_t i = 0; i < layout->n_metrics; i++) {
            const struct catalog_metric *metric = view_metric(view, i);
            double k;
            if (!exported_ratio(view, i, &k))
                continue;
            const struct formula *formula = metric->formula;
            size_t index =
                numerator ? snapshot_numerator(layout, scope.scope, i) : snapshot_denominator(layout, scope.scope, i);
            add_scoped(page, &scope, "metric", metric->export_name,
                       kind_of_sum(numerator ? &formula->numerator : &formula->denominator), index);
        }
    }
}

static void add_standard_errors(struct prometheus_page *page, const struct view *view) {
    if (!view->standard_error)
        return;
    add_family(page, FAMILY_STANDARD_ERROR);
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct scope_labels scope = socket_labels(view, s);
        for (size_t i = 0; i < view->layout->n_metrics; i++)
            if (view_plannable(view, i) && view_exported(view, i))
                add_scoped(page, &scope, "metric", view_metric(view, i)->export_name, PAGE_REAL,
                           snapshot_standard_error(view->layout, scope.scope, i));
    }
}

// The families that have a fixed number per socket.
static void add_hardware(struct prometheus_page *page, const struct view *view) {
    const struct topology *topology = view->layout->topology;
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    add_family(page, FAMILY_PEAK_PIPELINE_SLOTS);
    double peak = view->layout->plan->level1_unit >= 0 ? level1->width * topology->maximum_frequency_hz : 0;
    for (size_t s = 0; s < topology->n_sockets && peak > 0; s++) {
        struct scope_labels scope = socket_labels(view, s);
        const struct page_label label = {"socket", scope.socket};
        const struct topology_socket *socket = &topology->sockets[s];
        page_series_fixed(page, &label, 1, peak * (level1->per_thread ? socket->measured : socket->cores));
    }
}

static void add_cpus(struct prometheus_page *page, const struct view *view) {
    const struct topology *topology = view->layout->topology;
    add_family(page, FAMILY_CPUS);
    for (size_t s = 0; s < topology->n_sockets; s++) {
        struct scope_labels scope = socket_labels(view, s);
        struct page_label labels[] = {{"socket", scope.socket}, {"state", "measured"}};
        page_series(page, "", labels, 2, PAGE_WHOLE, snapshot_measured(view->layout, s));
        labels[1].value = "excluded";
        page_series_fixed(page, labels, 2, topology->sockets[s].excluded);
        labels[1].value = "offline";
        page_series(page, "", labels, 2, PAGE_WHOLE, snapshot_offline(view->layout, s));
    }
}

static void add_coverage(struct prometheus_page *page, const struct view *view) {
    const size_t n = view->layout->topology->n_sockets;
    add_family(page, FAMILY_COVERED);
    for (size_t s = 0; s < n; s++) {
        struct scope_labels scope = socket_labels(view, s);
        add_scoped(page, &scope, NULL, NULL, PAGE_REAL, snapshot_covered(view->layout, scope.scope));
    }
    add_family(page, FAMILY_UNCOVERED);
    for (size_t s = 0; s < n; s++) {
        struct scope_labels scope = socket_labels(view, s);
        add_uncovered(page, view, &scope);
    }
}

static void add_event_groups(struct prometheus_page *page, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    const struct plan *plan = layout->plan;
    add_family(page, FAMILY_WINDOWS);
    for (size_t g = 0; g < plan->n_groups; g++)
        for (int result = 0; result < WINDOW_RESULT_N; result++) {
            const struct page_label labels[] = {{"event_group", plan->groups[g].name},
                                                {"result", window_result_name((enum window_result)result)}};
            page_series(page, "", labels, 2, PAGE_WHOLE, snapshot_windows(layout, g, (enum window_result)result));
        }
    add_family(page, FAMILY_ENABLED);
    for (size_t g = 0; g < plan->n_groups; g++) {
        const struct page_label label = {"event_group", plan->groups[g].name};
        page_series(page, "", &label, 1, PAGE_REAL, snapshot_enabled(layout, g));
    }
    add_family(page, FAMILY_RUNNING);
    for (size_t g = 0; g < plan->n_groups; g++) {
        const struct page_label label = {"event_group", plan->groups[g].name};
        page_series(page, "", &label, 1, PAGE_REAL, snapshot_running(layout, g));
    }
}

static void add_not_live(struct prometheus_page *page, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    add_family(page, FAMILY_NOT_LIVE);
    for (size_t e = 0; e < layout->n_events; e++)
        for (int state = 0; state < EVENT_TROUBLE_N; state++) {
            const struct page_label labels[] = {{"event", layout->catalog->events[layout->events[e]].name},
                                                {"state", event_trouble_name((enum event_trouble)state)}};
            page_series(page, "", labels, 2, PAGE_WHOLE, snapshot_trouble(layout, e, (enum event_trouble)state));
        }
}

static void add_deviation(struct prometheus_page *page, const struct view *view) {
    add_family(page, FAMILY_DEVIATION);
    for (size_t s = 0; s < view->layout->topology->n_sockets && view->layout->n_level1 > 0; s++) {
        struct scope_labels scope = socket_labels(view, s);
        add_scoped(page, &scope, NULL, NULL, PAGE_REAL, snapshot_deviation(view->layout, scope.scope));
    }
}

static void add_composite(struct prometheus_page *page, const struct view *view) {
    if (view->layout->plan->level1_unit < 0)
        return;
    add_family(page, FAMILY_COMPOSITE);
    page_series_fixed(page, NULL, 0, view_composite(view));
}

static void add_pmu(struct prometheus_page *page, const struct view *view) {
    struct page_label labels[] = {{"pmu", view->pmu}, {NULL, NULL}};
    add_family(page, FAMILY_PMU_UP);
    page_series(page, "", labels, 1, PAGE_WHOLE, snapshot_self(view->layout, SELF_PMU_UP));
    add_family(page, FAMILY_PMU_ERROR);
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        const struct page_label error[] = {{"pmu", view->pmu_errors[i].pmu}, {"reason", view->pmu_errors[i].reason}};
        page_series_fixed(page, error, 2, 1);
    }
    add_family(page, FAMILY_PMU_COUNTERS);
    if (view->counters_total == 0)
        return;
    labels[1] = (struct page_label){"state", "total"};
    page_series_fixed(page, labels, 2, view->counters_total);
    labels[1].value = "usable";
    page_series_fixed(page, labels, 2, view->counters_usable);
    add_family(page, FAMILY_GUESTS_EXCLUDED);
    page_series_fixed(page, labels, 1, view->guests_excluded);
}

static void add_rotation(struct prometheus_page *page, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    add_family(page, FAMILY_ROTATION_DURATION);
    for (size_t i = 0; i < SELF_BUCKETS_N; i++) {
        char bound[TEXT_NUMBER_MAX + 1];
        bound[text_number(bound, snapshot_rotation_bounds[i])] = '\0';
        const struct page_label le = {"le", bound};
        page_series(page, "_bucket", &le, 1, PAGE_WHOLE,
                    snapshot_self(layout, (enum self_value)(SELF_ROTATION_BUCKETS + i)));
    }
    const struct page_label infinite = {"le", "+Inf"};
    page_series(page, "_bucket", &infinite, 1, PAGE_WHOLE, snapshot_self(layout, SELF_ROTATION_COUNT));
    page_series(page, "_sum", NULL, 0, PAGE_REAL, snapshot_self(layout, SELF_ROTATION_SUM));
    page_series(page, "_count", NULL, 0, PAGE_WHOLE, snapshot_self(layout, SELF_ROTATION_COUNT));
}

static void add_self(struct prometheus_page *page, const struct view *view, enum family family, enum page_kind kind,
                     enum self_value value) {
    add_family(page, family);
    page_series(page, "", NULL, 0, kind, snapshot_self(view->layout, value));
}

static void add_decisions(struct prometheus_page *page, const struct view *view) {
    if (!view->adapt)
        return;
    add_family(page, FAMILY_DECISIONS);
    for (size_t i = 0; i < ADAPT_CAUSES_N; i++) {
        char reason[NUMBER_MAX + 16];
        const struct page_label label = {"reason", reason};
        if (!adapt_cause_exists(view->layout->catalog, i))
            continue;
        (void)snprintf(reason, sizeof(reason), "%s_high", adapt_cause_name(i));
        page_series_fixed(page, &label, 1, view->adapt->causes[i].high);
        (void)snprintf(reason, sizeof(reason), "%s_fell", adapt_cause_name(i));
        page_series_fixed(page, &label, 1, view->adapt->causes[i].fell);
    }
}

static void add_info(struct prometheus_page *page, const struct view *view) {
    char hash[NUMBER_MAX];
    (void)snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)view->config_hash);
    const struct page_label cpu[] = {{"vendor", view->cpu_vendor},
                                     {"model", view->cpu_model},
                                     {"microarchitecture", view->cpu_microarchitecture},
                                     {"spec", view->layout->catalog->product.spec}};
    const struct page_label build[] = {{"version", view->version}};
    const struct page_label config[] = {{"profile", view->profile}, {"hash", hash}};
    add_family(page, FAMILY_CPU_INFO);
    page_series_fixed(page, cpu, 4, 1);
    add_family(page, FAMILY_BUILD_INFO);
    page_series_fixed(page, build, 1, 1);
    add_family(page, FAMILY_CONFIG_INFO);
    page_series_fixed(page, config, 2, 1);
}

// One line for people: what it is, the unit, and what the vendor calls it.
static void append_gauge_help(const struct view *view, const struct catalog_metric *metric, struct text *help) {
    char unit[VIEW_UNIT_MAX];
    view_metric_unit(metric, unit, sizeof(unit));
    text_format(help, "%s", view_title(metric));
    if (metric->help[0])
        text_format(help, ": %s", metric->help);
    text_format(help, "%s %s's name: %s.", help->length > 0 && help->data[help->length - 1] == '.' ? "" : ".",
                view->layout->catalog->product.vendor, metric->name);
    if (unit[0])
        text_format(help, " Unit: %s.", unit);
    if (metric->domain == METRIC_CLOCKS)
        text_string(help, " Shares of clock cycles overlap and do not add up.");
    text_append(help, "", 1);
}

static void add_gauges(struct prometheus_page *page, const struct view *view, bool per_cpu) {
    const struct topology *topology = view->layout->topology;
    size_t n = per_cpu ? topology->n_cpus : topology->n_sockets;
    struct text name = {0}, help = {0};
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        if (!view_plannable(view, i) || !view_exported(view, i))
            continue;
        const struct catalog_metric *metric = view_metric(view, i);
        name.length = help.length = 0;
        text_format(&name, "topdownd_%s%s", per_cpu ? "cpu_" : "", metric->export_name);
        text_append(&name, "", 1);
        append_gauge_help(view, metric, &help);
        if (name.failed || help.failed) {
            page->failed = true;
            break;
        }
        page_family(page, name.data, "gauge", help.data);
        for (size_t s = 0; s < n; s++) {
            struct scope_labels scope = per_cpu ? cpu_labels(view, s) : socket_labels(view, s);
            add_scoped(page, &scope, NULL, NULL, PAGE_REAL, snapshot_metric(view->layout, scope.scope, i));
        }
    }
    text_free(&name);
    text_free(&help);
}

static void add_host(struct prometheus_page *page, const struct view *view) {
    add_family(page, FAMILY_PIPELINE_SLOTS);
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct scope_labels scope = socket_labels(view, s);
        add_categories(page, view, &scope);
    }
    add_sums(page, view, true);
    add_sums(page, view, false);
    add_standard_errors(page, view);
    add_hardware(page, view);
    add_coverage(page, view);
    add_cpus(page, view);
    add_event_groups(page, view);
    add_not_live(page, view);
    add_deviation(page, view);
    add_composite(page, view);
    add_pmu(page, view);
    add_rotation(page, view);
    add_self(page, view, FAMILY_COLLECTION, PAGE_REAL, SELF_COLLECTION_SECONDS);
    add_self(page, view, FAMILY_CALLS, PAGE_WHOLE, SELF_CALLS);
    add_self(page, view, FAMILY_INTERRUPTS, PAGE_WHOLE, SELF_INTERRUPTS);
    add_self(page, view, FAMILY_INTERRUPT_SECONDS, PAGE_REAL, SELF_INTERRUPT_SECONDS);
    add_self(page, view, FAMILY_BUDGET, PAGE_REAL, SELF_BUDGET_USED);
    add_decisions(page, view);
    add_self(page, view, FAMILY_LAST_SNAPSHOT, PAGE_REAL, SELF_LAST_SNAPSHOT_TIMESTAMP);
    add_info(page, view);
    add_gauges(page, view, false);
    add_self(page, view, FAMILY_PROCESS_CPU, PAGE_REAL, SELF_PROCESS_CPU_SECONDS);
    add_self(page, view, FAMILY_PROCESS_RESIDENT, PAGE_WHOLE, SELF_PROCESS_RESIDENT_BYTES);
    add_self(page, view, FAMILY_PROCESS_VIRTUAL, PAGE_WHOLE, SELF_PROCESS_VIRTUAL_BYTES);
    add_self(page, view, FAMILY_PROCESS_OPEN_FDS, PAGE_WHOLE, SELF_PROCESS_OPEN_FDS);
    add_self(page, view, FAMILY_PROCESS_MAX_FDS, PAGE_WHOLE, SELF_PROCESS_MAX_FDS);
    add_self(page, view, FAMILY_PROCESS_START, PAGE_REAL, SELF_PROCESS_START_TIMESTAMP);
}

static void add_cpu(struct prometheus_page *page, const struct view *view, enum family family, size_t cpu) {
    const struct snapshot_layout *layout = view->layout;
    struct scope_labels scope = cpu_labels(view, cpu);
    if (family == FAMILY_CPU_PIPELINE_SLOTS)
        add_categories(page, view, &scope);
    else if (family == FAMILY_CPU_COVERED)
        add_scoped(page, &scope, NULL, NULL, PAGE_REAL, snapshot_covered(layout, scope.scope));
    else if (family == FAMILY_CPU_UNCOVERED)
        add_uncovered(page, view, &scope);
    else
        for (size_t i = 0; i < layout->n_events; i++)
            add_scoped(page, &scope, "event", layout->catalog->events[layout->events[i]].name, PAGE_WHOLE,
                       snapshot_event(layout, scope.scope, i));
}

static void add_all_cpus(struct prometheus_page *page, const struct view *view) {
    static const enum family families[] = {FAMILY_CPU_PIPELINE_SLOTS, FAMILY_CPU_EVENT, FAMILY_CPU_COVERED,
                                           FAMILY_CPU_UNCOVERED};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        add_family(page, families[i]);
        for (size_t cpu = 0; cpu < view->layout->topology->n_cpus; cpu++)
            add_cpu(page, view, families[i], cpu);
    }
    add_gauges(page, view, true);
}

struct prometheus_page *prometheus_page_new(const struct view *view, bool per_cpu) {
    struct prometheus_page *page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    page->simulated = view->simulated;
    page->replayed = view->replayed;
    if (per_cpu)
        add_all_cpus(page, view);
    else
        add_host(page, view);
    return page->failed ? prometheus_page_free(page) : page;
}
