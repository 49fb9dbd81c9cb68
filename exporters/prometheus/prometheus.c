// SPDX-License-Identifier: Apache-2.0
//
// The contents of the two pages: the families of core/spec/family.h in the order of that table, then a gauge for each
// metric of the plan, then the process. This file decides everything; rendering (prometheus_page.c) only fills in
// numbers.
//
// A family has the series of all core types, one type after the other.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/family.h"
#include "exporters/health/health.h"
#include "exporters/prometheus/prometheus_parts.h"

// Makes later series the host's or the daemon's.
static const struct view *begin_host(struct prometheus_page *page, const struct shown *shown) {
    const struct view *view = page_begin_type(page, shown, 0);
    page->core_type = NULL;
    return view;
}

static void add_of_first(struct prometheus_page *page, const struct shown *shown, size_t n, enum family family,
                         void (*add)(struct prometheus_page *, const struct view *)) {
    page_add_family(page, family);
    for (size_t type = 0; type < n; type++)
        add(page, page_begin_type(page, shown, type));
}

static void add_of_types(struct prometheus_page *page, const struct shown *shown, enum family family,
                         void (*add)(struct prometheus_page *, const struct view *)) {
    add_of_first(page, shown, shown->n, family, add);
}

static void add_peaks(struct prometheus_page *page, const struct view *view) {
    const struct topology *topology = view->layout->topology;
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    double peak = view->layout->plan->level1_unit >= 0 ? level1->width * topology->maximum_frequency_hz : 0;
    for (size_t s = 0; s < topology->n_sockets && peak > 0; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        const struct page_label label = {"socket", scope.socket};
        page_series_fixed(page, &label, 1, peak * topology->sockets[s].cores);
    }
}

static void add_cpus(struct prometheus_page *page, const struct view *view) {
    const struct topology *topology = view->layout->topology;
    for (size_t s = 0; s < topology->n_sockets; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        struct page_label labels[] = {{"socket", scope.socket}, {"state", "measured"}};
        page_series(page, "", labels, 2, PAGE_WHOLE, snapshot_measured(view->layout, s));
        labels[1].value = "excluded";
        page_series_fixed(page, labels, 2, topology->sockets[s].excluded);
        labels[1].value = "isolated";
        page_series_fixed(page, labels, 2, topology->sockets[s].isolated);
        labels[1].value = "offline";
        page_series(page, "", labels, 2, PAGE_WHOLE, snapshot_offline(view->layout, s));
    }
}

static void add_covered(struct prometheus_page *page, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        page_scoped(page, &scope, NULL, NULL, PAGE_REAL, snapshot_covered(view->layout, scope.scope));
    }
}

static void add_guest(struct prometheus_page *page, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets && view->guests_excluded; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        page_scoped(page, &scope, NULL, NULL, PAGE_REAL, snapshot_guest(view->layout, scope.scope));
    }
}

static void add_all_uncovered(struct prometheus_page *page, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        page_add_uncovered(page, view, &scope);
    }
}

static void add_windows(struct prometheus_page *page, const struct view *view) {
    const struct plan *plan = view->layout->plan;
    for (size_t g = 0; g < plan->n_groups; g++)
        for (int result = 0; result < WINDOW_RESULT_N; result++) {
            const struct page_label labels[] = {{"event_group", plan->groups[g].name},
                                                {"result", window_result_name((enum window_result)result)}};
            page_series(page, "", labels, 2, PAGE_WHOLE, snapshot_windows(view->layout, g, (enum window_result)result));
        }
}

static void add_enabled(struct prometheus_page *page, const struct view *view) {
    for (size_t g = 0; g < view->layout->plan->n_groups; g++) {
        const struct page_label label = {"event_group", view->layout->plan->groups[g].name};
        page_series(page, "", &label, 1, PAGE_REAL, snapshot_enabled(view->layout, g));
    }
}

static void add_running(struct prometheus_page *page, const struct view *view) {
    for (size_t g = 0; g < view->layout->plan->n_groups; g++) {
        const struct page_label label = {"event_group", view->layout->plan->groups[g].name};
        page_series(page, "", &label, 1, PAGE_REAL, snapshot_running(view->layout, g));
    }
}

static void add_not_live(struct prometheus_page *page, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    page->n_rare += layout->n_events * EVENT_TROUBLE_N;
    for (size_t e = 0; e < layout->n_events; e++)
        for (int state = 0; state < EVENT_TROUBLE_N; state++) {
            const struct page_label labels[] = {{"event", layout->catalog->events[layout->events[e]].name},
                                                {"state", event_trouble_name((enum event_trouble)state)}};
            page_series(page, "", labels, 2, PAGE_WHOLE, snapshot_trouble(layout, e, (enum event_trouble)state));
        }
}

static void add_deviation(struct prometheus_page *page, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets && view->layout->n_level1 > 0; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        page_scoped(page, &scope, NULL, NULL, PAGE_REAL, snapshot_deviation(view->layout, scope.scope));
    }
}

static void add_composite(struct prometheus_page *page, const struct view *view) {
    if (view->layout->plan->level1_unit >= 0)
        page_series_fixed(page, NULL, 0, view_composite(view));
}

static void add_level1_error(struct prometheus_page *page, const struct view *view) {
    if (view->layout->plan->level1_unit >= 0)
        page_series(page, "", NULL, 0, PAGE_REAL, snapshot_level1_error(view->layout, 0));
}

static void add_pmu_up(struct prometheus_page *page, const struct view *view) {
    const struct page_label label = {"pmu", view->pmu};
    if (view->layout->plan->n_units > 0 || view->replayed) // else the plan asks nothing of the PMU
        page_series(page, "", &label, 1, PAGE_WHOLE, snapshot_self(view->layout, SELF_PMU_UP));
}

static void add_pmu_kernel_memory(struct prometheus_page *page, const struct view *view) {
    const struct page_label label = {"pmu", view->pmu};
    page_series(page, "", &label, 1, PAGE_WHOLE, snapshot_self(view->layout, SELF_PMU_KERNEL_BYTES));
}

static void add_pmu_errors(struct prometheus_page *page, const struct view *view) {
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        if (view->pmu_errors[i].uncore)
            continue;
        const struct page_label error[] = {{"pmu", view->pmu_errors[i].pmu}, {"reason", view->pmu_errors[i].reason}};
        page->core_type = view->pmu_errors[i].of_host ? NULL : view->core_type;
        page_series_fixed(page, error, 2, 1);
    }
}

static void add_pmu_counters(struct prometheus_page *page, const struct view *view) {
    struct page_label labels[] = {{"pmu", view->pmu}, {"state", "total"}};
    if (view->counters.total == 0)
        return;
    page_series_fixed(page, labels, 2, view->counters.total);
    labels[1].value = "usable";
    page_series_fixed(page, labels, 2, view->counters.usable);
}

static void add_guests_excluded(struct prometheus_page *page, const struct view *view) {
    const struct page_label label = {"pmu", view->pmu};
    if (view->counters.total > 0)
        page_series_fixed(page, &label, 1, view->guests_excluded);
}

static void add_rotation(struct prometheus_page *page, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    page_add_family(page, FAMILY_ROTATION_DURATION);
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
    page_add_family(page, family);
    page_series(page, "", NULL, 0, kind, snapshot_self(view->layout, value));
}

static void add_decisions(struct prometheus_page *page, const struct view *view) {
    for (size_t i = 0; view->adapt && i < ADAPT_CAUSES_N; i++) {
        char reason[PAGE_NUMBER_MAX + 16];
        const struct page_label label = {"reason", reason};
        if (!adapt_cause_exists(view->layout->catalog, i))
            continue;
        (void)snprintf(reason, sizeof(reason), "%s_high", adapt_cause_name(i));
        page_series_fixed(page, &label, 1, view->adapt->causes[i].high);
        (void)snprintf(reason, sizeof(reason), "%s_fell", adapt_cause_name(i));
        page_series_fixed(page, &label, 1, view->adapt->causes[i].fell);
    }
}

static void add_last_snapshot(struct prometheus_page *page, const struct view *view) {
    page_series(page, "", NULL, 0, PAGE_REAL, snapshot_self(view->layout, SELF_LAST_COUNTED_TIMESTAMP));
}

static void add_gauges_age(struct prometheus_page *page, const struct view *view) {
    page_series(page, "", NULL, 0, PAGE_REAL, snapshot_gauges_age(view->layout));
    page->n_rare++; // only where rounds are long and cores are few
}

static void add_recording(struct prometheus_page *page, const struct view *view, enum self_value value) {
    if (view->files.recording)
        page_series(page, "", NULL, 0, PAGE_WHOLE, snapshot_self(view->layout, value));
}

static void add_recording_up(struct prometheus_page *page, const struct view *view) {
    add_recording(page, view, SELF_RECORDING_UP);
}

static void add_recording_bytes(struct prometheus_page *page, const struct view *view) {
    add_recording(page, view, SELF_RECORDING_BYTES);
}

static void add_recording_rounds_lost(struct prometheus_page *page, const struct view *view) {
    add_recording(page, view, SELF_RECORDING_ROUNDS_LOST);
}

static void add_cpu_info(struct prometheus_page *page, const struct view *view) {
    const struct page_label labels[] = {{"vendor", view->cpu_vendor},
                                        {"model", view->cpu_model},
                                        {"microarchitecture", view->cpu_microarchitecture},
                                        {"spec", view->layout->catalog->product.spec}};
    page_series_fixed(page, labels, 4, 1);
}

static void add_info(struct prometheus_page *page, const struct view *view) {
    char hash[PAGE_NUMBER_MAX];
    (void)snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)view->config_hash);
    const struct page_label build[] = {{"version", view->version}, {"revision", view->revision}};
    const struct page_label config[] = {{"profile", view->profile}, {"hash", hash}};
    if (view->platform) {
        page_add_family(page, FAMILY_PLATFORM_INFO);
        page_add_platform(page, view->platform);
    }
    page_add_family(page, FAMILY_BUILD_INFO);
    page_series_fixed(page, build, view->revision ? 2 : 1, 1);
    page_add_family(page, FAMILY_CONFIG_INFO);
    page_series_fixed(page, config, 2, 1);
    add_self(page, view, FAMILY_CONFIG_SUCCESSFUL, PAGE_WHOLE, SELF_CONFIG_SUCCESSFUL);
    add_self(page, view, FAMILY_CONFIG_SUCCESS_TIMESTAMP, PAGE_REAL, SELF_CONFIG_SUCCESS_TIMESTAMP);
    add_self(page, view, FAMILY_CERTIFICATE_EXPIRY, PAGE_REAL, SELF_CERTIFICATE_EXPIRY);
    page->n_rare++; // only with TLS, which may be configured for one host and not the next
}

static void add_categories_of_sockets(struct prometheus_page *page, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        page_add_categories(page, view, &scope);
    }
}

static void add_contention_of_sockets(struct prometheus_page *page, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct page_scope scope = page_socket_labels(view, s);
        page_add_contention(page, view, &scope);
    }
}

struct family_series {
    enum family family;
    void (*add)(struct prometheus_page *, const struct view *);
    bool boxes; // those of PMUs outside the cores, too
};

static void add_table(struct prometheus_page *page, const struct shown *shown, const struct family_series *table,
                      size_t n) {
    for (size_t i = 0; i < n; i++)
        add_of_first(page, shown, table[i].boxes ? shown_all(shown) : shown->n, table[i].family, table[i].add);
}

// Adds the daemon's cost and its timing: all core types together.
static void add_cost(struct prometheus_page *page, const struct view *view) {
    add_rotation(page, view);
    add_self(page, view, FAMILY_COLLECTION, PAGE_REAL, SELF_COLLECTION_SECONDS);
    add_self(page, view, FAMILY_CALLS, PAGE_WHOLE, SELF_CALLS);
    add_self(page, view, FAMILY_INTERRUPTS, PAGE_WHOLE, SELF_INTERRUPTS);
    add_self(page, view, FAMILY_INTERRUPT_SECONDS, PAGE_REAL, SELF_INTERRUPT_SECONDS);
    add_self(page, view, FAMILY_BUDGET, PAGE_REAL, SELF_BUDGET_USED);
}

static void add_process(struct prometheus_page *page, const struct view *view) {
    add_self(page, view, FAMILY_PROCESS_CPU, PAGE_REAL, SELF_PROCESS_CPU_SECONDS);
    add_self(page, view, FAMILY_PROCESS_RESIDENT, PAGE_WHOLE, SELF_PROCESS_RESIDENT_BYTES);
    add_self(page, view, FAMILY_PROCESS_VIRTUAL, PAGE_WHOLE, SELF_PROCESS_VIRTUAL_BYTES);
    add_self(page, view, FAMILY_PROCESS_OPEN_FDS, PAGE_WHOLE, SELF_PROCESS_OPEN_FDS);
    add_self(page, view, FAMILY_PROCESS_MAX_FDS, PAGE_WHOLE, SELF_PROCESS_MAX_FDS);
    add_self(page, view, FAMILY_PROCESS_START, PAGE_REAL, SELF_PROCESS_START_TIMESTAMP);
}

static void add_not_ready(struct prometheus_page *page) {
    page_add_family(page, FAMILY_NOT_READY);
    page_begin_health(page);
    for (int reason = HEALTH_FINE + 1; reason < HEALTH_REASON_N; reason++) {
        const struct page_label label = {"reason", health_reason_name((enum health_reason)reason)};
        page_series(page, "", &label, 1, PAGE_WHOLE, (size_t)reason);
    }
    page->n_rare += HEALTH_REASON_N - 1; // one of them has a value, or none
}

static void add_textfile(struct prometheus_page *page, const struct view *view) {
    if (!view->files.textfile)
        return;
    add_self(page, view, FAMILY_TEXTFILE_UP, PAGE_WHOLE, SELF_TEXTFILE_UP);
    add_self(page, view, FAMILY_TEXTFILE_FAILURES, PAGE_WHOLE, SELF_TEXTFILE_FAILURES);
}

static void add_host(struct prometheus_page *page, const struct shown *shown) {
    static const struct family_series measured[] = {
        {.family = FAMILY_NUMERATOR, .add = page_add_numerators, .boxes = true},
        {.family = FAMILY_DENOMINATOR, .add = page_add_denominators, .boxes = true},
        {.family = FAMILY_METRIC_INFO, .add = page_add_metric_infos, .boxes = true},
        {.family = FAMILY_STANDARD_ERROR, .add = page_add_standard_errors, .boxes = true},
        {.family = FAMILY_PEAK_PIPELINE_SLOTS, .add = add_peaks},
        {.family = FAMILY_BOUND, .add = page_add_bounds},
        {.family = FAMILY_BOUND_SINCE, .add = page_add_bounds_since},
        {.family = FAMILY_BOUND_UNSEEN, .add = page_add_bounds_unseen},
        {.family = FAMILY_BOUND_CERTAIN, .add = page_add_bounds_certain},
        {.family = FAMILY_COVERED, .add = add_covered},
        {.family = FAMILY_UNCOVERED, .add = add_all_uncovered},
        {.family = FAMILY_GUEST, .add = add_guest},
        {.family = FAMILY_CPUS, .add = add_cpus},
        {.family = FAMILY_WINDOWS, .add = add_windows},
        {.family = FAMILY_ENABLED, .add = add_enabled},
        {.family = FAMILY_RUNNING, .add = add_running},
        {.family = FAMILY_NOT_LIVE, .add = add_not_live},
        {.family = FAMILY_DEVIATION, .add = add_deviation},
        {.family = FAMILY_COMPOSITE, .add = add_composite},
        {.family = FAMILY_LEVEL1_ERROR, .add = add_level1_error},
        {.family = FAMILY_IPC_ERROR, .add = page_add_ipc_error},
        {.family = FAMILY_PMU_UP, .add = add_pmu_up},
        {.family = FAMILY_PMU_ERROR, .add = add_pmu_errors},
        {.family = FAMILY_PMU_COUNTERS, .add = add_pmu_counters},
        {.family = FAMILY_PMU_KERNEL_MEMORY, .add = add_pmu_kernel_memory},
        {.family = FAMILY_GUESTS_EXCLUDED, .add = add_guests_excluded},
    };
    static const struct family_series after_cost[] = {
        {.family = FAMILY_DECISIONS, .add = add_decisions},
        {.family = FAMILY_LAST_SNAPSHOT, .add = add_last_snapshot},
        {.family = FAMILY_GAUGES_AGE, .add = add_gauges_age},
        {.family = FAMILY_RECORDING_UP, .add = add_recording_up},
        {.family = FAMILY_RECORDING_BYTES, .add = add_recording_bytes},
        {.family = FAMILY_RECORDING_ROUNDS_LOST, .add = add_recording_rounds_lost},
        {.family = FAMILY_CPU_INFO, .add = add_cpu_info},
    };
    add_of_types(page, shown, FAMILY_PIPELINE_SLOTS, add_categories_of_sockets);
    add_of_types(page, shown, FAMILY_SMT_CONTENTION, add_contention_of_sockets);
    add_table(page, shown, measured, sizeof(measured) / sizeof(measured[0]));
    page_add_uncore(page, shown);
    page_add_memory(page, shown);
    add_cost(page, begin_host(page, shown));
    add_not_ready(page);
    add_table(page, shown, after_cost, sizeof(after_cost) / sizeof(after_cost[0]));
    add_textfile(page, begin_host(page, shown));
    add_info(page, begin_host(page, shown));
    page_add_gauges(page, shown, false);
    add_process(page, begin_host(page, shown));
}

struct prometheus_page *prometheus_page_new(const struct shown *shown, bool per_cpu) {
    struct prometheus_page *page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    page->memos = calloc(shown_all(shown), sizeof *page->memos);
    if (!page->memos)
        return prometheus_page_free(page);
    page->n_memos = shown_all(shown);
    page->simulated = shown->types[0].view->simulated;
    page->replayed = shown->types[0].view->replayed;
    if (per_cpu)
        page_add_cpus(page, shown);
    else
        add_host(page, shown);
    page_end(page);
    return page->failed ? prometheus_page_free(page) : page;
}
