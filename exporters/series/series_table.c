// SPDX-License-Identifier: Apache-2.0
//
// The contents of the two pages: the families of core/spec/family.h in the order of that table, then a gauge for each
// metric of the plan, then the process. This file decides everything; exporters only fill in numbers.
//
// A family has the series of all core types, one type after the other.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/family.h"
#include "exporters/health/health.h"
#include "exporters/series/series_private.h"

// Makes later series the host's or the daemon's.
static const struct view *begin_host(struct series *series, const struct shown *shown) {
    const struct view *view = series_begin_type(series, shown, 0);
    series->core_type = NULL;
    return view;
}

static void add_of_first(struct series *series, const struct shown *shown, size_t n, enum family family,
                         void (*add)(struct series *, const struct view *)) {
    series_begin_family(series, family);
    for (size_t type = 0; type < n; type++)
        add(series, series_begin_type(series, shown, type));
}

static void add_of_types(struct series *series, const struct shown *shown, enum family family,
                         void (*add)(struct series *, const struct view *)) {
    add_of_first(series, shown, shown->n, family, add);
}

static void add_peaks(struct series *series, const struct view *view) {
    const struct topology *topology = view->layout->topology;
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    double peak = view->layout->plan->level1_unit >= 0 ? level1->width * topology->maximum_frequency_hz : 0;
    for (size_t s = 0; s < topology->n_sockets && peak > 0; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        const struct series_label label = {"socket", scope.socket};
        series_add_fixed(series, &label, 1, peak * topology->sockets[s].cores);
    }
}

static void add_cpus(struct series *series, const struct view *view) {
    const struct topology *topology = view->layout->topology;
    for (size_t s = 0; s < topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        struct series_label labels[] = {{"socket", scope.socket}, {"state", "measured"}};
        series_add(series, "", labels, 2, SERIES_WHOLE, snapshot_measured(view->layout, s));
        labels[1].value = "excluded";
        series_add_fixed(series, labels, 2, topology->sockets[s].excluded);
        labels[1].value = "isolated";
        series_add_fixed(series, labels, 2, topology->sockets[s].isolated);
        labels[1].value = "offline";
        series_add(series, "", labels, 2, SERIES_WHOLE, snapshot_offline(view->layout, s));
    }
}

static void add_covered(struct series *series, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        series_add_scoped(series, &scope, NULL, NULL, SERIES_REAL, snapshot_covered(view->layout, scope.scope));
    }
}

static void add_guest(struct series *series, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets && view->guests_excluded; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        series_add_scoped(series, &scope, NULL, NULL, SERIES_REAL, snapshot_guest(view->layout, scope.scope));
    }
}

static void add_all_uncovered(struct series *series, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        series_add_uncovered(series, view, &scope);
    }
}

static void add_windows(struct series *series, const struct view *view) {
    const struct plan *plan = view->layout->plan;
    for (size_t g = 0; g < plan->n_groups; g++)
        for (int result = 0; result < WINDOW_RESULT_N; result++) {
            const struct series_label labels[] = {{"event_group", plan->groups[g].name},
                                                  {"result", window_result_name((enum window_result)result)}};
            series_add(series, "", labels, 2, SERIES_WHOLE,
                       snapshot_windows(view->layout, g, (enum window_result)result));
        }
}

static void add_enabled(struct series *series, const struct view *view) {
    for (size_t g = 0; g < view->layout->plan->n_groups; g++) {
        const struct series_label label = {"event_group", view->layout->plan->groups[g].name};
        series_add(series, "", &label, 1, SERIES_REAL, snapshot_enabled(view->layout, g));
    }
}

static void add_running(struct series *series, const struct view *view) {
    for (size_t g = 0; g < view->layout->plan->n_groups; g++) {
        const struct series_label label = {"event_group", view->layout->plan->groups[g].name};
        series_add(series, "", &label, 1, SERIES_REAL, snapshot_running(view->layout, g));
    }
}

static void add_not_live(struct series *series, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    series->n_rare += layout->n_events * EVENT_TROUBLE_N;
    for (size_t e = 0; e < layout->n_events; e++)
        for (int state = 0; state < EVENT_TROUBLE_N; state++) {
            const struct series_label labels[] = {{"event", layout->catalog->events[layout->events[e]].name},
                                                  {"state", event_trouble_name((enum event_trouble)state)}};
            series_add(series, "", labels, 2, SERIES_WHOLE, snapshot_trouble(layout, e, (enum event_trouble)state));
        }
}

static void add_deviation(struct series *series, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets && view->layout->n_level1 > 0; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        series_add_scoped(series, &scope, NULL, NULL, SERIES_REAL, snapshot_deviation(view->layout, scope.scope));
    }
}

static void add_composite(struct series *series, const struct view *view) {
    if (view->layout->plan->level1_unit >= 0)
        series_add_fixed(series, NULL, 0, view_composite(view));
}

static void add_level1_error(struct series *series, const struct view *view) {
    if (view->layout->plan->level1_unit >= 0)
        series_add(series, "", NULL, 0, SERIES_REAL, snapshot_level1_error(view->layout, 0));
}

static void add_pmu_up(struct series *series, const struct view *view) {
    const struct series_label label = {"pmu", view->pmu};
    if (view->layout->plan->n_units > 0 || view->replayed) // else the plan asks nothing of the PMU
        series_add(series, "", &label, 1, SERIES_WHOLE, snapshot_self(view->layout, SELF_PMU_UP));
}

static void add_pmu_kernel_memory(struct series *series, const struct view *view) {
    const struct series_label label = {"pmu", view->pmu};
    series_add(series, "", &label, 1, SERIES_WHOLE, snapshot_self(view->layout, SELF_PMU_KERNEL_BYTES));
}

static void add_pmu_errors(struct series *series, const struct view *view) {
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        if (view->pmu_errors[i].uncore)
            continue;
        const struct series_label error[] = {{"pmu", view->pmu_errors[i].pmu}, {"reason", view->pmu_errors[i].reason}};
        series->core_type = view->pmu_errors[i].of_host ? NULL : view->core_type;
        series_add_fixed(series, error, 2, 1);
    }
}

static void add_pmu_counters(struct series *series, const struct view *view) {
    struct series_label labels[] = {{"pmu", view->pmu}, {"state", "total"}};
    if (view->counters.total == 0)
        return;
    series_add_fixed(series, labels, 2, view->counters.total);
    labels[1].value = "usable";
    series_add_fixed(series, labels, 2, view->counters.usable);
}

static void add_guests_excluded(struct series *series, const struct view *view) {
    const struct series_label label = {"pmu", view->pmu};
    if (view->counters.total > 0)
        series_add_fixed(series, &label, 1, view->guests_excluded);
}

static void add_rotation(struct series *series, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    series_begin_family(series, FAMILY_ROTATION_DURATION);
    for (size_t i = 0; i < SELF_BUCKETS_N; i++) {
        char bound[TEXT_NUMBER_MAX + 1];
        bound[text_number(bound, snapshot_rotation_bounds[i])] = '\0';
        const struct series_label le = {"le", bound};
        series_add(series, "_bucket", &le, 1, SERIES_WHOLE,
                   snapshot_self(layout, (enum self_value)(SELF_ROTATION_BUCKETS + i)));
    }
    const struct series_label infinite = {"le", "+Inf"};
    series_add(series, "_bucket", &infinite, 1, SERIES_WHOLE, snapshot_self(layout, SELF_ROTATION_COUNT));
    series_add(series, "_sum", NULL, 0, SERIES_REAL, snapshot_self(layout, SELF_ROTATION_SUM));
    series_add(series, "_count", NULL, 0, SERIES_WHOLE, snapshot_self(layout, SELF_ROTATION_COUNT));
}

static void add_self(struct series *series, const struct view *view, enum family family, enum series_kind kind,
                     enum self_value value) {
    series_begin_family(series, family);
    series_add(series, "", NULL, 0, kind, snapshot_self(view->layout, value));
}

static void add_decisions(struct series *series, const struct view *view) {
    for (size_t i = 0; view->adapt && i < ADAPT_CAUSES_N; i++) {
        char reason[SERIES_NUMBER_MAX + 16];
        const struct series_label label = {"reason", reason};
        if (!adapt_cause_exists(view->layout->catalog, i))
            continue;
        (void)snprintf(reason, sizeof(reason), "%s_high", adapt_cause_name(i));
        series_add_fixed(series, &label, 1, view->adapt->causes[i].high);
        (void)snprintf(reason, sizeof(reason), "%s_fell", adapt_cause_name(i));
        series_add_fixed(series, &label, 1, view->adapt->causes[i].fell);
    }
}

static void add_last_snapshot(struct series *series, const struct view *view) {
    series_add(series, "", NULL, 0, SERIES_REAL, snapshot_self(view->layout, SELF_LAST_COUNTED_TIMESTAMP));
}

static void add_gauges_age(struct series *series, const struct view *view) {
    series_add(series, "", NULL, 0, SERIES_REAL, snapshot_gauges_age(view->layout));
    series->n_rare++; // only where rounds are long and cores are few
}

static void add_recording(struct series *series, const struct view *view, enum self_value value) {
    if (view->files.recording)
        series_add(series, "", NULL, 0, SERIES_WHOLE, snapshot_self(view->layout, value));
}

static void add_recording_up(struct series *series, const struct view *view) {
    add_recording(series, view, SELF_RECORDING_UP);
}

static void add_recording_bytes(struct series *series, const struct view *view) {
    add_recording(series, view, SELF_RECORDING_BYTES);
}

static void add_recording_rounds_lost(struct series *series, const struct view *view) {
    add_recording(series, view, SELF_RECORDING_ROUNDS_LOST);
}

static void add_cpu_info(struct series *series, const struct view *view) {
    const struct series_label labels[] = {{"vendor", view->cpu_vendor},
                                          {"model", view->cpu_model},
                                          {"microarchitecture", view->cpu_microarchitecture},
                                          {"spec", view->layout->catalog->product.spec}};
    series_add_fixed(series, labels, 4, 1);
}

static void add_info(struct series *series, const struct view *view) {
    char hash[SERIES_NUMBER_MAX];
    (void)snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)view->config_hash);
    const struct series_label build[] = {{"version", view->version}, {"revision", view->revision}};
    const struct series_label config[] = {{"profile", view->profile}, {"hash", hash}};
    if (view->platform) {
        series_begin_family(series, FAMILY_PLATFORM_INFO);
        series_add_platform(series, view->platform);
    }
    series_begin_family(series, FAMILY_BUILD_INFO);
    series_add_fixed(series, build, view->revision ? 2 : 1, 1);
    series_begin_family(series, FAMILY_CONFIG_INFO);
    series_add_fixed(series, config, 2, 1);
    add_self(series, view, FAMILY_CONFIG_SUCCESSFUL, SERIES_WHOLE, SELF_CONFIG_SUCCESSFUL);
    add_self(series, view, FAMILY_CONFIG_SUCCESS_TIMESTAMP, SERIES_REAL, SELF_CONFIG_SUCCESS_TIMESTAMP);
    add_self(series, view, FAMILY_CERTIFICATE_EXPIRY, SERIES_REAL, SELF_CERTIFICATE_EXPIRY);
    series->n_rare++; // only with TLS, which may be configured for one host and not the next
}

static void add_categories_of_sockets(struct series *series, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        series_add_categories(series, view, &scope);
    }
}

static void add_contention_of_sockets(struct series *series, const struct view *view) {
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        series_add_contention(series, view, &scope);
    }
}

struct family_series {
    enum family family;
    void (*add)(struct series *, const struct view *);
    bool boxes; // those of PMUs outside the cores, too
};

static void add_table(struct series *series, const struct shown *shown, const struct family_series *table, size_t n) {
    for (size_t i = 0; i < n; i++)
        add_of_first(series, shown, table[i].boxes ? shown_all(shown) : shown->n, table[i].family, table[i].add);
}

// Adds the daemon's cost and its timing: all core types together.
static void add_cost(struct series *series, const struct view *view) {
    add_rotation(series, view);
    add_self(series, view, FAMILY_COLLECTION, SERIES_REAL, SELF_COLLECTION_SECONDS);
    add_self(series, view, FAMILY_CALLS, SERIES_WHOLE, SELF_CALLS);
    add_self(series, view, FAMILY_INTERRUPTS, SERIES_WHOLE, SELF_INTERRUPTS);
    add_self(series, view, FAMILY_INTERRUPT_SECONDS, SERIES_REAL, SELF_INTERRUPT_SECONDS);
    add_self(series, view, FAMILY_BUDGET, SERIES_REAL, SELF_BUDGET_USED);
}

static void add_process(struct series *series, const struct view *view) {
    add_self(series, view, FAMILY_PROCESS_CPU, SERIES_REAL, SELF_PROCESS_CPU_SECONDS);
    add_self(series, view, FAMILY_PROCESS_RESIDENT, SERIES_WHOLE, SELF_PROCESS_RESIDENT_BYTES);
    add_self(series, view, FAMILY_PROCESS_VIRTUAL, SERIES_WHOLE, SELF_PROCESS_VIRTUAL_BYTES);
    add_self(series, view, FAMILY_PROCESS_OPEN_FDS, SERIES_WHOLE, SELF_PROCESS_OPEN_FDS);
    add_self(series, view, FAMILY_PROCESS_MAX_FDS, SERIES_WHOLE, SELF_PROCESS_MAX_FDS);
    add_self(series, view, FAMILY_PROCESS_START, SERIES_REAL, SELF_PROCESS_START_TIMESTAMP);
}

static void add_not_ready(struct series *series) {
    series_begin_family(series, FAMILY_NOT_READY);
    series_begin_health(series);
    for (int reason = HEALTH_FINE + 1; reason < HEALTH_REASON_N; reason++) {
        const struct series_label label = {"reason", health_reason_name((enum health_reason)reason)};
        series_add(series, "", &label, 1, SERIES_WHOLE, (size_t)reason);
    }
    series->n_rare += HEALTH_REASON_N - 1; // one of them has a value, or none
}

static void add_textfile(struct series *series, const struct view *view) {
    if (!view->files.textfile)
        return;
    add_self(series, view, FAMILY_TEXTFILE_UP, SERIES_WHOLE, SELF_TEXTFILE_UP);
    add_self(series, view, FAMILY_TEXTFILE_FAILURES, SERIES_WHOLE, SELF_TEXTFILE_FAILURES);
}

static void add_host(struct series *series, const struct shown *shown) {
    static const struct family_series measured[] = {
        {.family = FAMILY_NUMERATOR, .add = series_add_numerators, .boxes = true},
        {.family = FAMILY_DENOMINATOR, .add = series_add_denominators, .boxes = true},
        {.family = FAMILY_METRIC_INFO, .add = series_add_metric_infos, .boxes = true},
        {.family = FAMILY_STANDARD_ERROR, .add = series_add_standard_errors, .boxes = true},
        {.family = FAMILY_PEAK_PIPELINE_SLOTS, .add = add_peaks},
        {.family = FAMILY_BOUND, .add = series_add_bounds},
        {.family = FAMILY_BOUND_SINCE, .add = series_add_bounds_since},
        {.family = FAMILY_BOUND_UNSEEN, .add = series_add_bounds_unseen},
        {.family = FAMILY_BOUND_CERTAIN, .add = series_add_bounds_certain},
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
        {.family = FAMILY_IPC_ERROR, .add = series_add_ipc_error},
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
    add_of_types(series, shown, FAMILY_PIPELINE_SLOTS, add_categories_of_sockets);
    add_of_types(series, shown, FAMILY_SMT_CONTENTION, add_contention_of_sockets);
    add_table(series, shown, measured, sizeof(measured) / sizeof(measured[0]));
    series_add_uncore(series, shown);
    series_add_memory(series, shown);
    add_cost(series, begin_host(series, shown));
    add_not_ready(series);
    add_table(series, shown, after_cost, sizeof(after_cost) / sizeof(after_cost[0]));
    add_textfile(series, begin_host(series, shown));
    add_info(series, begin_host(series, shown));
    series_add_gauges(series, shown, false);
    add_process(series, begin_host(series, shown));
}

struct series *series_new(const struct shown *shown, bool per_cpu) {
    struct series *series = calloc(1, sizeof(*series));
    if (!series)
        return NULL;
    series->memos = calloc(shown_all(shown), sizeof *series->memos);
    if (!series->memos)
        return series_free(series);
    series->n_memos = shown_all(shown);
    series->simulated = shown->types[0].view->simulated;
    series->replayed = shown->types[0].view->replayed;
    if (per_cpu)
        series_add_cpus(series, shown);
    else
        add_host(series, shown);
    series_end(series);
    return series->failed ? series_free(series) : series;
}
