// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_EXPORTER_HOST_H
#define TOPDOWND_TESTS_EXPORTER_HOST_H

// A small host for the exporters' tests: a made-up CPU with every kind of metric, two sockets whose ids have a gap, and
// a snapshot with easily distinguished values.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/adapt/adapt.h"
#include "core/diagnosis/bound.h"
#include "exporters/view/view.h"
#include "tests/build/build.h"

struct exporter_host {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct plan *plan;         // the layout's
    struct topology *topology; // the layout's
    struct view view;          // without reference counting: tests may change it
};

static inline void host_add_metric(struct catalog_builder *builder, const char *name, const char *formula,
                                   const char *units, const char *help) {
    const struct catalog_metric_text text = {
        .name = name, .title = name, .help = help, .units = units, .formula = formula};
    struct fault error;
    assert_true(catalog_builder_add_metric(builder, &text, &error) >= 0);
}

static inline void host_add_metrics(struct catalog_builder *builder) {
    host_add_metric(builder, "frontend_bound", "100 * (STALL_F / (4 * CYCLES))", "percent of slots", "Fetch is late.");
    host_add_metric(builder, "bad_speculation", "100 * (FLUSHED / (4 * CYCLES))", "percent of slots", "");
    host_add_metric(builder, "retiring", "100 * (RETIRED / (4 * CYCLES))", "percent of slots", "Work \\ done\nwell.");
    host_add_metric(builder, "backend_bound", "100 * (STALL_B / (4 * CYCLES))", "percent of slots", "");
    const struct catalog_metric_text ipc = {
        .name = "ipc", .title = "ipc", .formula = "INST / CYCLES", .units = "per cycle", .definition = "retired"};
    struct fault error;
    assert_true(catalog_builder_add_metric(builder, &ipc, &error) >= 0);
    host_add_metric(builder, "stall_cycles", "100 * (STALLED / CYCLES)", "percent of cycles", "");
    host_add_metric(builder, "branch_mpki", "1000 * (MISPREDICTED / INST)", "MPKI", "");
    host_add_metric(builder, "l1d_mpki", "1000 * (L1D_MISS / INST)", "MPKI", "");
    host_add_metric(builder, "fault_time", "0.5 * (L1D_MISS / INST)", "", "");
    host_add_metric(builder, "odd", "max(INST, CYCLES) / CYCLES", "", "");
    host_add_metric(builder, "wide", "(STALL_F + STALL_B + FLUSHED + RETIRED + STALLED) / INST", "", "");
    const struct catalog_metric_text faults = {.name = "faults",
                                               .export_name = "faults_per_second",
                                               .title = "Faults",
                                               .units = "per second and CPU",
                                               .formula = "FAULTS / cpu_seconds",
                                               .rate_threshold = 100,
                                               .rate_advice = "Look for <swap>."};
    assert_true(catalog_builder_add_metric(builder, &faults, &error) >= 0);
}

static inline void host_add_level1(struct catalog_builder *builder) {
    struct fault error;
    assert_int_equal(
        catalog_builder_set_level1(builder, LEVEL1_USUAL,
                                   &(struct catalog_level1_text){.pipeline_slots = "4 * CYCLES", .width = 4}, &error),
        0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_FRONTEND_BOUND, "frontend_bound", &error), 0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_BAD_SPECULATION, "bad_speculation", &error), 0);
    assert_int_equal(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "retiring", &error), 0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_BACKEND_BOUND, "backend_bound", &error), 0);
}

static inline struct catalog_builder *host_builder(void) {
    static const char *const events[] = {"CYCLES",  "INST",    "STALL_F",      "STALL_B",  "FLUSHED",
                                         "RETIRED", "STALLED", "MISPREDICTED", "L1D_MISS", "FAULTS"};
    static const char *const fixed[] = {"CYCLES"};
    static const char *const level1[] = {"frontend_bound", "bad_speculation", "retiring", "backend_bound"};
    static const char *const others[] = {"ipc",        "stall_cycles", "branch_mpki", "l1d_mpki",
                                         "fault_time", "odd",          "wide",        "faults"};
    struct catalog_builder *builder;
    struct fault error;
    assert_int_equal(catalog_builder_new("toy-1", "Acme", "Toy 1", "toy", "toy_pmu", &builder), 0);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        assert_true(catalog_builder_add_event(builder, events[i], "", 0x11 + i, &error) > 0);
    assert_int_equal(catalog_builder_set_counters(builder, 4, fixed, 1, &error), 0);
    host_add_metrics(builder);
    host_add_level1(builder);
    assert_true(catalog_builder_add_group(builder, "Topdown_L1", "", "", level1, 4, &error) >= 0);
    assert_true(catalog_builder_add_group(builder, "Others", "", "", others, 8, &error) >= 0);
    return builder;
}

static inline struct catalog *host_catalog(void) { return catalog_builder_finish(host_builder()); }

static const struct view_pmu_error HOST_PMU_ERRORS[] = {
    {.pmu = "cpu_core", .reason = "absent", .text = "the kernel shows no cpu_core: <load> its driver"}};

// The layout of all metric groups with this number of counters on these CPUs. The PMU states that it has CYCLES and
// nothing about other events.
static inline struct snapshot_layout *host_layout_on(const struct catalog *catalog, unsigned counters,
                                                     const struct topology_source *cpus, size_t n_cpus) {
    static const uint8_t support[11] = {[1] = PLAN_SUPPORTED}; // by catalog event; the first is time
    const struct plan_request request = {
        .catalog = catalog, .general_counters = counters, .idle = 0.1, .support = support};
    struct topology *topology;
    assert_int_equal(catalog->n_events, sizeof(support));
    assert_int_equal(topology_new(cpus, n_cpus, 2e9, &topology), 0);
    return build_layout(build_plan(&request), topology);
}

static inline struct snapshot_layout *host_layout(const struct catalog *catalog, unsigned counters) {
    const struct topology_source cpus[] = {
        {0, 0, 0, true}, {1, 1, 0, true}, {4, 0, 7, true}, {5, 1, 7, false}}; // id, core, package, selected
    return host_layout_on(catalog, counters, cpus, 4);
}

// A host whose plan has this many of four counters.
static inline void host_init_with(struct exporter_host *host, struct catalog *catalog, unsigned counters) {
    host->catalog = catalog;
    host->layout = host_layout(catalog, counters);
    host->plan = host->layout->plan;
    host->topology = host->layout->topology;
    host->view = (struct view){.layout = host->layout,
                               .interval_ns = host->plan->round_ns,
                               .version = "1.2.3",
                               .revision = "0123456789ab",
                               .hostname = "<box>",
                               .pmu = "toy_pmu_0",
                               .cpu_vendor = "Acme",
                               .cpu_model = "Toy \"one\"\\\n",
                               .cpu_microarchitecture = "toy",
                               .profile = "default",
                               .config_hash = 0xABC,
                               .seed = 18446744073709551615u,
                               .counters.total = 7,
                               .counters.usable = counters + 1,
                               .pmu_errors = HOST_PMU_ERRORS,
                               .n_pmu_errors = 1};
}

static inline void host_init(struct exporter_host *host) { host_init_with(host, host_catalog(), 4); }

static inline void host_deinit(struct exporter_host *host) {
    assert_int_equal(atomic_load(&host->layout->references), 1); // no reference is left
    snapshot_layout_unref(host->layout);
    catalog_free(host->catalog);
}

// Index of a metric in the plan.
static inline size_t host_metric(const struct exporter_host *host, const char *name) {
    for (size_t i = 0; i < host->plan->n_metrics; i++)
        if (strcmp(host->catalog->metrics[host->plan->metrics[i].metric].name, name) == 0)
            return i;
    fail_msg("no metric %s in the plan", name);
    return 0;
}

// Totals grow with the scope: scope s has s + 1 thousand, million, billion ... and a little to tell them apart.
static inline void host_fill_scope(const struct exporter_host *host, struct snapshot *snapshot, size_t s) {
    const struct snapshot_layout *layout = host->layout;
    double *values = snapshot->values, n = (double)(s + 1);
    for (size_t m = 0; m < layout->n_metrics; m++) {
        double k;
        if (!plan_metric_planned(&host->plan->metrics[m])) {
            snapshot->absent[snapshot_state(layout, s, m)] = ABSENT_NOT_PLANNABLE;
            continue;
        }
        values[snapshot_metric(layout, s, m)] = n + (double)m / 100;
        snapshot->absent[snapshot_state(layout, s, m)] = ABSENT_NOT;
        values[snapshot_standard_error(layout, s, m)] = n / 64;
        values[snapshot_low(layout, s, m)] = n + (double)m / 100 - n / 32;
        values[snapshot_high(layout, s, m)] = n + (double)m / 100 + n / 32;
        values[snapshot_metric_windows(layout, s, m)] = 10 * n;
        values[snapshot_share_of_time(layout, s, m)] = 0.125 * n;
        snapshot_set_trust(snapshot, snapshot_state(layout, s, m), ESTIMATE_FAIR, ESTIMATE_SURE);
        if (!catalog_metric_ratio(&host->catalog->metrics[host->plan->metrics[m].metric], &k))
            continue;
        values[snapshot_numerator(layout, s, m)] = n * 1e6 + (double)m + 0.25;
        values[snapshot_denominator(layout, s, m)] = n * 1e9 + (double)m + 0.75;
    }
    if (host->plan->level1_unit >= 0) {
        values[snapshot_deviation(layout, s)] = n / 1000;
        values[snapshot_level1_error(layout, s)] = n / 128;
        for (size_t c = 0; c < layout->n_level1; c++)
            values[snapshot_category(layout, s, c)] = n * 1e12 + (double)c + 0.25;
        values[snapshot_pipeline_slots(layout, s)] = n * 4e12 + 7;
    }
    for (size_t e = 0; e < layout->n_events; e++)
        values[snapshot_event(layout, s, e)] = n * 1e15 + (double)e;
    values[snapshot_covered(layout, s)] = n * 100 + 0.125;
    for (int r = 0; r < UNCOVERED_N; r++)
        values[snapshot_uncovered(layout, s, (enum uncovered)r)] = n + r * 0.5;
    values[snapshot_guest(layout, s)] = n + 0.25;
}

static inline void host_fill_self(struct snapshot *snapshot) {
    snapshot->status.cost = (struct status_cost){
        .collection_seconds = 1, .calls = 8, .interrupts = 9, .interrupt_seconds = 10, .budget_used = 11};
    snapshot->status.rotations = (struct status_rotations){.n = 61, .seconds = 0.0625, .within = {0, 10, 20}};
    snapshot->status.process = (struct status_process){.cpu_seconds = 12,
                                                       .resident_bytes = 13,
                                                       .virtual_bytes = 14,
                                                       .open_fds = 15,
                                                       .max_fds = 16,
                                                       .start_timestamp = 17};
    snapshot->taken_seconds = 1700000000.125;
    snapshot->engine.counted_seconds = 1700000000.125;
    snapshot->engine.pmu = (struct status_pmu){.used = true, .up = true, .kernel_bytes = 612 * 2048};
    snapshot->status.known = true;
    snapshot->status.config = (struct status_config){.successful = true, .success_seconds = 25};
}

// An adaptive schedule with both of the catalog's groups. The second was raised, lowered, and raised again.
static inline struct adapt_report host_report(struct adapt_group groups[2]) {
    groups[0] = (struct adapt_group){.group = 0, .value = NAN, .since_seconds = NAN};
    groups[1] =
        (struct adapt_group){.group = 1, .raised = true, .metric = 3, .value = 0.5, .since_seconds = 1700000200};
    struct adapt_report report = {.groups = groups, .n_groups = 2, .n_decisions = 3, .n_new = 1};
    report.decisions[0] = (struct adapt_decision){1, 0, true, 0.25, 1700000000};
    report.decisions[1] = (struct adapt_decision){1, 0, false, NAN, 1700000100};
    report.decisions[2] = (struct adapt_decision){1, 3, true, 0.5, 1700000200};
    report.causes[CATEGORY_FRONTEND_BOUND] = (struct adapt_cause_count){1, 1};
    report.causes[CATEGORY_BACKEND_BOUND] = (struct adapt_cause_count){1, 0};
    return report;
}

// Index of an event in the layout.
static inline size_t host_event(const struct exporter_host *host, const char *name) {
    for (size_t e = 0; e < host->layout->n_events; e++)
        if (strcmp(host->catalog->events[host->layout->events[e]].name, name) == 0)
            return e;
    fail_msg("no event %s in the layout", name);
    return 0;
}

// An event in each kind of trouble, and one of socket 0's CPUs offline.
static inline void host_fill_troubles(const struct exporter_host *host, struct snapshot *snapshot) {
    snapshot->values[snapshot_trouble(host->layout, host_event(host, "STALLED"), EVENT_STALLED)] = 1;
    snapshot->values[snapshot_trouble(host->layout, host_event(host, "L1D_MISS"), EVENT_UNSUPPORTED)] = 1;
    snapshot->values[snapshot_trouble(host->layout, host_event(host, "FAULTS"), EVENT_STARVED)] = 1;
    snapshot->values[snapshot_offline(host->layout, 0)] = 1;
    snapshot->values[snapshot_offline(host->layout, 1)] = 0;
    snapshot->values[snapshot_measured(host->layout, 0)] = 1;
    snapshot->values[snapshot_measured(host->layout, 1)] = 1;
}

// A snapshot with every possible value.
// Lets the verdicts be those of the values, as they are now.
static inline void host_judge(struct snapshot *snapshot) { assert_int_equal(bound_fill(snapshot), 0); }

static inline struct snapshot *host_snapshot(const struct exporter_host *host) {
    struct snapshot *snapshot = snapshot_new(host->layout);
    assert_non_null(snapshot);
    snapshot->sequence = 3;
    snapshot->start_ns = 5000000000;
    snapshot->end_ns = 7500000000;
    for (size_t s = 0; s < host->layout->n_scopes; s++)
        host_fill_scope(host, snapshot, s);
    for (size_t g = 0; g < host->plan->n_groups; g++) {
        for (int r = 0; r < WINDOW_RESULT_N; r++)
            snapshot->values[snapshot_windows(host->layout, g, (enum window_result)r)] = (double)(100 * (g + 1)) + r;
        snapshot->values[snapshot_enabled(host->layout, g)] = (double)(g + 1) * 20.5;
        snapshot->values[snapshot_running(host->layout, g)] = (double)(g + 1) * 20.25;
    }
    host_fill_troubles(host, snapshot);
    host_fill_self(snapshot);
    host_judge(snapshot);
    return snapshot;
}

#endif
