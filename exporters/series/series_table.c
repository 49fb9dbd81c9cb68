// SPDX-License-Identifier: Apache-2.0
//
// Which series there are, and in which order: a row for each family, then a gauge for each metric of the plan, then the
// process. A family has the series of all core types, one type after the other.

#include <stdio.h>
#include <stdlib.h>

#include "exporters/health/health.h"
#include "exporters/series/series_private.h"

static void add_peak(struct series *series, const struct view *view, const struct series_labels *scope) {
    const struct topology *topology = view->layout->topology;
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    const struct series_label label = {"socket", scope->socket};
    double peak = view->layout->plan->level1_unit >= 0 ? level1->width * topology->maximum_frequency_hz : 0;
    if (peak > 0)
        series_add_fixed(series, &label, 1, peak * topology->sockets[scope->index].cores);
}

static void add_cpus(struct series *series, const struct view *view, const struct series_labels *scope) {
    const struct topology_socket *socket = &view->layout->topology->sockets[scope->index];
    struct series_label labels[] = {{"socket", scope->socket}, {"state", "measured"}};
    series_add(series, "", labels, 2, SERIES_WHOLE, snapshot_measured(view->layout, scope->index));
    labels[1].value = "excluded";
    series_add_fixed(series, labels, 2, socket->excluded);
    labels[1].value = "isolated";
    series_add_fixed(series, labels, 2, socket->isolated);
    labels[1].value = "offline";
    series_add(series, "", labels, 2, SERIES_WHOLE, snapshot_offline(view->layout, scope->index));
}

// Event groups that come and go with the verdict have none.
static bool has_series(const struct plan *plan, size_t group) {
    return !plan_unit_fetched(plan, plan->groups[group].unit);
}

static void add_windows(struct series *series, const struct view *view) {
    const struct plan *plan = view->layout->plan;
    for (size_t g = 0; g < plan->n_groups; g++)
        for (int result = 0; result < WINDOW_RESULT_N && has_series(plan, g); result++) {
            const struct series_label labels[] = {{"event_group", plan->groups[g].name},
                                                  {"result", window_result_name((enum window_result)result)}};
            series_add(series, "", labels, 2, SERIES_WHOLE,
                       snapshot_windows(view->layout, g, (enum window_result)result));
        }
}

static void add_enabled(struct series *series, const struct view *view) {
    for (size_t g = 0; g < view->layout->plan->n_groups; g++) {
        const struct series_label label = {"event_group", view->layout->plan->groups[g].name};
        if (has_series(view->layout->plan, g))
            series_add(series, "", &label, 1, SERIES_REAL, snapshot_enabled(view->layout, g));
    }
}

static void add_running(struct series *series, const struct view *view) {
    for (size_t g = 0; g < view->layout->plan->n_groups; g++) {
        const struct series_label label = {"event_group", view->layout->plan->groups[g].name};
        if (has_series(view->layout->plan, g))
            series_add(series, "", &label, 1, SERIES_REAL, snapshot_running(view->layout, g));
    }
}

static void add_not_live(struct series *series, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    for (size_t e = 0; e < layout->n_events; e++)
        for (int state = 0; state < EVENT_TROUBLE_N && view_event_has_series(view, e); state++) {
            const struct series_label labels[] = {{"event", layout->catalog->events[layout->events[e]].name},
                                                  {"state", event_trouble_name((enum event_trouble)state)}};
            series_add(series, "", labels, 2, SERIES_WHOLE, snapshot_trouble(layout, e, (enum event_trouble)state));
        }
}

static void add_deviation(struct series *series, const struct view *view, const struct series_labels *scope) {
    if (view->layout->n_level1 > 0)
        series_add_scoped(series, scope, NULL, NULL, SERIES_REAL, snapshot_deviation(view->layout, scope->scope));
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
        series_add_engine(series, &label, 1, SERIES_WHOLE, STATUS_PMU_UP);
}

static void add_pmu_kernel_memory(struct series *series, const struct view *view) {
    const struct series_label label = {"pmu", view->pmu};
    series_add_engine(series, &label, 1, SERIES_WHOLE, STATUS_PMU_KERNEL_BYTES);
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
    (void)view; // all core types together
    series_begin_source(series, FROM_STATUS);
    for (size_t i = 0; i < STATUS_BUCKETS_N; i++) {
        char bound[TEXT_NUMBER_MAX + 1];
        bound[text_number(bound, status_rotation_bounds[i])] = '\0';
        const struct series_label le = {"le", bound};
        series_add(series, "_bucket", &le, 1, SERIES_WHOLE, STATUS_ROTATIONS_WITHIN + i);
    }
    const struct series_label infinite = {"le", "+Inf"};
    series_add(series, "_bucket", &infinite, 1, SERIES_WHOLE, STATUS_ROTATIONS);
    series_add(series, "_sum", NULL, 0, SERIES_REAL, STATUS_ROTATION_SECONDS);
    series_add(series, "_count", NULL, 0, SERIES_WHOLE, STATUS_ROTATIONS);
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

static void add_gauges_age(struct series *series, const struct view *view) {
    series_add(series, "", NULL, 0, SERIES_REAL, snapshot_gauges_age(view->layout));
}

static void add_cpu_info(struct series *series, const struct view *view) {
    const struct series_label labels[] = {{"vendor", view->cpu_vendor},
                                          {"model", view->cpu_model},
                                          {"microarchitecture", view->cpu_microarchitecture},
                                          {"spec", view->layout->catalog->product.spec}};
    series_add_fixed(series, labels, 4, 1);
}

static void add_build_info(struct series *series, const struct view *view) {
    const struct series_label labels[] = {{"version", view->version}, {"revision", view->revision}};
    series_add_fixed(series, labels, view->revision ? 2 : 1, 1);
}

static void add_config_info(struct series *series, const struct view *view) {
    char hash[SERIES_NUMBER_MAX];
    (void)snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)view->config_hash);
    const struct series_label labels[] = {{"profile", view->profile}, {"hash", hash}};
    series_add_fixed(series, labels, 2, 1);
}

static void add_not_ready(struct series *series, const struct view *view) {
    (void)view; // it is judged of all of them
    series_begin_source(series, FROM_HEALTH);
    for (int reason = HEALTH_FINE + 1; reason < HEALTH_REASON_N; reason++) {
        const struct series_label label = {"reason", health_reason_name((enum health_reason)reason)};
        series_add(series, "", &label, 1, SERIES_WHOLE, (size_t)reason);
    }
    series->n_rare += HEALTH_REASON_N - 1; // one of them has a value, or none
}

static bool is_recorded(struct series *series, const struct view *view) {
    (void)series;
    return view->files.recording;
}

static bool has_textfile(struct series *series, const struct view *view) {
    (void)series;
    return view->files.textfile;
}

// The families of /metrics, but for the gauges of metrics and what follows them.
static const struct series_row HOST[] = {
    {FAMILY_PIPELINE_SLOTS, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = series_add_categories},
    {FAMILY_SMT_CONTENTION, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = series_add_contention},
    {FAMILY_NUMERATOR, EACH_TYPE, OF_SOCKETS, .add_scope = series_add_numerators},
    {FAMILY_DENOMINATOR, EACH_TYPE, OF_SOCKETS, .add_scope = series_add_denominators},
    {FAMILY_METRIC_INFO, EACH_TYPE, .add_view = series_add_metric_infos},
    {FAMILY_STANDARD_ERROR, EACH_TYPE, OF_SOCKETS, .add_scope = series_add_standard_errors},
    {FAMILY_PEAK_PIPELINE_SLOTS, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = add_peak},
    {FAMILY_BOUND, EACH_CORE_TYPE, .add_view = series_add_bounds},
    {FAMILY_BOUND_SINCE, EACH_CORE_TYPE, OF_SOCKETS, .where = series_has_tree, .add_scope = series_add_bound_since},
    // most verdicts have followed another one
    {FAMILY_BOUND_UNSEEN, EACH_CORE_TYPE, OF_SOCKETS, .rare = true, .where = series_has_tree,
     .add_scope = series_add_bound_unseen},
    {FAMILY_BOUND_CERTAIN, EACH_CORE_TYPE, OF_SOCKETS, .where = series_has_tree, .add_scope = series_add_bound_certain},
    {FAMILY_OPPORTUNITY, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = series_add_opportunities},
    {FAMILY_COVERED, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = series_add_covered},
    {FAMILY_UNCOVERED, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = series_add_uncovered},
    {FAMILY_GUEST, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = series_add_guest},
    {FAMILY_BUSY, EACH_CORE_TYPE, OF_SOCKETS, .where = series_lacks_utilization, .add_scope = series_add_busy},
    {FAMILY_CPUS, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = add_cpus},
    {FAMILY_WINDOWS, EACH_CORE_TYPE, .add_view = add_windows},
    {FAMILY_ENABLED, EACH_CORE_TYPE, .add_view = add_enabled},
    {FAMILY_RUNNING, EACH_CORE_TYPE, .add_view = add_running},
    {FAMILY_NOT_LIVE, EACH_CORE_TYPE, .rare = true, .add_view = add_not_live},
    {FAMILY_DEVIATION, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = add_deviation},
    {FAMILY_COMPOSITE, EACH_CORE_TYPE, .add_view = add_composite},
    {FAMILY_LEVEL1_ERROR, EACH_CORE_TYPE, .add_view = add_level1_error},
    {FAMILY_IPC_ERROR, EACH_CORE_TYPE, .add_view = series_add_ipc_error},
    {FAMILY_PMU_UP, EACH_CORE_TYPE, .add_view = add_pmu_up},
    {FAMILY_PMU_ERROR, EACH_CORE_TYPE, .add_view = add_pmu_errors},
    {FAMILY_PMU_COUNTERS, EACH_CORE_TYPE, .add_view = add_pmu_counters},
    {FAMILY_PMU_KERNEL_MEMORY, EACH_CORE_TYPE, .add_view = add_pmu_kernel_memory},
    {FAMILY_GUESTS_EXCLUDED, EACH_CORE_TYPE, .add_view = add_guests_excluded},
    {FAMILY_MEMORY_BYTES, EACH_KIND, .add_view = series_add_traffic},
    {FAMILY_MEMORY_PEAK, EACH_KIND, OF_SOCKETS, .add_scope = series_add_memory_peak},
    {FAMILY_LLC_MISS_BYTES, EACH_KIND, .add_view = series_add_traffic},
    {FAMILY_INTERCONNECT_BYTES, EACH_KIND, .add_view = series_add_traffic},
    {FAMILY_IO_BYTES, EACH_KIND, .add_view = series_add_traffic},
    {FAMILY_UNCORE_EVENT, EACH_KIND, .add_view = series_add_uncore_events},
    {FAMILY_UNCORE_UP, EACH_KIND, .add_view = series_add_uncore_up},
    {FAMILY_UNCORE_ERROR, EACH_ONCE, .add_view = series_add_uncore_errors}, // what the host lacks
    {FAMILY_UNCORE_ERROR, EACH_KIND, .add_view = series_add_uncore_errors},
    {FAMILY_NUMA_ALLOCATIONS, EACH_ONCE, .add_view = series_add_host_memory},
    {FAMILY_NUMA_MISSED, EACH_ONCE, .add_view = series_add_host_memory},
    {FAMILY_NUMA_HINT_FAULTS, EACH_ONCE, .add_view = series_add_host_memory},
    {FAMILY_TIER_MOVED, EACH_ONCE, .add_view = series_add_host_memory},
    {FAMILY_RESCTRL_BYTES, EACH_ONCE, .add_view = series_add_resctrl},
    // the daemon's cost and its timing: all core types together
    {FAMILY_ROTATION_DURATION, EACH_ONCE, .add_view = add_rotation},
    {FAMILY_COLLECTION, EACH_ONCE, .own = {STATUS_COLLECTION_SECONDS, SERIES_REAL}},
    {FAMILY_CALLS, EACH_ONCE, .own = {STATUS_CALLS, SERIES_WHOLE}},
    {FAMILY_INTERRUPTS, EACH_ONCE, .own = {STATUS_INTERRUPTS, SERIES_WHOLE}},
    {FAMILY_INTERRUPT_SECONDS, EACH_ONCE, .own = {STATUS_INTERRUPT_SECONDS, SERIES_REAL}},
    {FAMILY_BUDGET, EACH_ONCE, .own = {STATUS_BUDGET_USED, SERIES_REAL}},
    {FAMILY_NOT_READY, EACH_ONCE, .add_view = add_not_ready},
    {FAMILY_DECISIONS, EACH_CORE_TYPE, .add_view = add_decisions},
    {FAMILY_LAST_SNAPSHOT, EACH_CORE_TYPE, .own = {STATUS_COUNTED_TIMESTAMP, SERIES_REAL}},
    // only where rounds are long and cores are few
    {FAMILY_GAUGES_AGE, EACH_CORE_TYPE, .rare = true, .add_view = add_gauges_age},
    {FAMILY_RECORDING_UP, EACH_CORE_TYPE, .where = is_recorded, .own = {STATUS_RECORDING_UP, SERIES_WHOLE}},
    {FAMILY_RECORDING_BYTES, EACH_CORE_TYPE, .where = is_recorded, .own = {STATUS_RECORDING_BYTES, SERIES_WHOLE}},
    {FAMILY_RECORDING_ROUNDS_LOST, EACH_CORE_TYPE, .where = is_recorded,
     .own = {STATUS_RECORDING_ROUNDS_LOST, SERIES_WHOLE}},
    {FAMILY_CPU_INFO, EACH_CORE_TYPE, .add_view = add_cpu_info},
    {FAMILY_TEXTFILE_UP, EACH_ONCE, .where = has_textfile, .own = {STATUS_TEXTFILE_UP, SERIES_WHOLE}},
    {FAMILY_TEXTFILE_FAILURES, EACH_ONCE, .where = has_textfile, .own = {STATUS_TEXTFILE_FAILURES, SERIES_WHOLE}},
    {FAMILY_PLATFORM_INFO, EACH_ONCE, .add_view = series_add_platform},
    {FAMILY_BUILD_INFO, EACH_ONCE, .add_view = add_build_info},
    {FAMILY_CONFIG_INFO, EACH_ONCE, .add_view = add_config_info},
    {FAMILY_CONFIG_SUCCESSFUL, EACH_ONCE, .own = {STATUS_CONFIG_SUCCESSFUL, SERIES_WHOLE}},
    {FAMILY_CONFIG_SUCCESS_TIMESTAMP, EACH_ONCE, .own = {STATUS_CONFIG_SUCCESS_TIMESTAMP, SERIES_REAL}},
    // only with TLS, which may be configured for one host and not the next
    {FAMILY_CERTIFICATE_EXPIRY, EACH_ONCE, .rare = true, .own = {STATUS_CERTIFICATE_EXPIRY, SERIES_REAL}},
};

static const struct series_row PROCESS[] = {
    {FAMILY_PROCESS_CPU, EACH_ONCE, .own = {STATUS_PROCESS_CPU_SECONDS, SERIES_REAL}},
    {FAMILY_PROCESS_RESIDENT, EACH_ONCE, .own = {STATUS_PROCESS_RESIDENT_BYTES, SERIES_WHOLE}},
    {FAMILY_PROCESS_VIRTUAL, EACH_ONCE, .own = {STATUS_PROCESS_VIRTUAL_BYTES, SERIES_WHOLE}},
    {FAMILY_PROCESS_OPEN_FDS, EACH_ONCE, .own = {STATUS_PROCESS_OPEN_FDS, SERIES_WHOLE}},
    {FAMILY_PROCESS_MAX_FDS, EACH_ONCE, .own = {STATUS_PROCESS_MAX_FDS, SERIES_WHOLE}},
    {FAMILY_PROCESS_START, EACH_ONCE, .own = {STATUS_PROCESS_START_TIMESTAMP, SERIES_REAL}},
};

static void add_host(struct series *series) {
    series_add_rows(series, HOST, sizeof HOST / sizeof *HOST);
    series_add_gauges(series, OF_SOCKETS);
    series_add_rows(series, PROCESS, sizeof PROCESS / sizeof *PROCESS);
}

struct series *series_new(const struct shown *shown, bool per_cpu) {
    struct series *series = calloc(1, sizeof(*series));
    if (!series)
        return NULL;
    series->memos = calloc(shown_all(shown), sizeof *series->memos);
    if (!series->memos)
        return series_free(series);
    series->n_memos = shown_all(shown);
    series->shown = shown;
    series->simulated = shown->types[0].view->simulated;
    series->replayed = shown->types[0].view->replayed;
    if (per_cpu)
        series_add_cpus(series);
    else
        add_host(series);
    series_end(series);
    return series->failed ? series_free(series) : series;
}
