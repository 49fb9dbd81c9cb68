// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_TREE_HOST_H
#define TOPDOWND_TESTS_TREE_HOST_H

// exporter_host.h's host with a tree:
//
//     frontend_bound             > 15
//       fetch_latency            > 10 & frontend_bound > 15, of cycles
//     bad_speculation            no threshold
//     retiring                   > 70 | hidden > 0.1
//     backend_bound              > 20
//       memory_bound             > 0.2 & backend_bound > 20, from events and core_part
//         hidden                 not selected
//           deep                 no threshold, of cycles
//       core_bound               from core_part and memory_bound alone
//
// core_part is not selected, but needed. The methodology begins at backend_bound, whose code samples of STALL_B show.

#include "exporter_host.h"

static inline void tree_add(struct catalog_builder *builder, const char *name, const char *formula, const char *units,
                            const char *parent, const char *threshold) {
    const struct catalog_metric_text text = {
        .name = name, .title = name, .units = units, .formula = formula, .meaning = "Mend <this> & that."};
    struct fault error;
    int metric = catalog_builder_add_metric(builder, &text, &error);
    assert_true(metric >= 0);
    if (parent)
        assert_int_equal(catalog_builder_set_parent(builder, (unsigned)metric, parent, &error), 0);
    if (threshold)
        assert_int_equal(catalog_builder_set_threshold(builder, (unsigned)metric, threshold, &error), 0);
}

static inline struct catalog_builder *tree_builder(void) {
    static const char *const selected[] = {"fetch_latency", "memory_bound", "core_bound", "deep"};
    static const char *const next[] = {"memory_bound", "hidden", "Others", "Deeper"};
    static const char *const thresholds[][2] = {{"frontend_bound", "frontend_bound > 15"},
                                                {"retiring", "retiring > 70 | hidden > 0.1"},
                                                {"backend_bound", "backend_bound > 20"}};
    struct catalog_builder *builder = host_builder();
    struct fault error;
    tree_add(builder, "core_part", "STALL_B / (4 * CYCLES)", "share of slots", NULL, NULL);
    tree_add(builder, "fetch_latency", "100 * (MISPREDICTED / CYCLES)", "percent of cycles", "frontend_bound",
             "fetch_latency > 10 & frontend_bound > 15");
    tree_add(builder, "memory_bound", "core_part * L1D_MISS / CYCLES", "share of slots", "backend_bound",
             "memory_bound > 0.2 & backend_bound > 20");
    tree_add(builder, "core_bound", "max(0, core_part - memory_bound)", "share of slots", "backend_bound", NULL);
    tree_add(builder, "hidden", "INST / CYCLES", "share of slots", "memory_bound", NULL);
    tree_add(builder, "deep", "L1D_MISS / CYCLES", "share of cycles", "hidden", NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(catalog_builder_set_threshold(
                             builder, (unsigned)catalog_find_metric(catalog_builder_catalog(builder), thresholds[i][0]),
                             thresholds[i][1], &error),
                         0);
    assert_true(catalog_builder_add_group(builder, "Deeper", "Below", "What is below.", selected, 4, &error) >= 0);
    assert_int_equal(catalog_builder_add_node(builder, "backend_bound", true, next, 4, &error), 0);
    assert_int_equal(catalog_builder_add_sample(builder, 0, "STALL_B", &error), 0);
    return builder;
}

static inline void tree_set(const struct exporter_host *host, struct snapshot *snapshot, size_t scope, const char *name,
                            double value) {
    size_t metric = host_metric(host, name);
    snapshot->values[snapshot_metric(host->layout, scope, metric)] = value;
    snapshot->values[snapshot_low(host->layout, scope, metric)] = NAN; // no interval
    snapshot->values[snapshot_high(host->layout, scope, metric)] = NAN;
    snapshot->absent[snapshot_state(host->layout, scope, metric)] = isnan(value) ? ABSENT_STARVED : ABSENT_NOT;
}

// The 95 % interval around a metric's value.
static inline void tree_set_margin(const struct exporter_host *host, struct snapshot *snapshot, size_t scope,
                                   const char *name, double margin) {
    size_t metric = host_metric(host, name);
    double value = snapshot->values[snapshot_metric(host->layout, scope, metric)];
    snapshot->values[snapshot_low(host->layout, scope, metric)] = value - margin;
    snapshot->values[snapshot_high(host->layout, scope, metric)] = value + margin;
}

// In every scope; each of these is exported as a share from 0 to 1.
static inline struct snapshot *tree_snapshot(const struct exporter_host *host) {
    struct snapshot *snapshot = host_snapshot(host);
    for (size_t s = 0; s < host->layout->n_scopes; s++) {
        tree_set(host, snapshot, s, "frontend_bound", 0.18);
        tree_set(host, snapshot, s, "bad_speculation", 0.02);
        tree_set(host, snapshot, s, "retiring", 0.45);
        tree_set(host, snapshot, s, "backend_bound", 0.35);
        tree_set(host, snapshot, s, "fetch_latency", 0.09);
        tree_set(host, snapshot, s, "memory_bound", 0.25);
        tree_set(host, snapshot, s, "core_bound", 0.1);
        tree_set(host, snapshot, s, "deep", 0.5);
        tree_set(host, snapshot, s, "core_part", 0.35);
        for (size_t m = 0; m < host->layout->n_metrics; m++)
            if (plan_metric_planned(&host->plan->metrics[m]))
                tree_set_margin(host, snapshot, s, host->catalog->metrics[host->plan->metrics[m].metric].name,
                                0.0078125);
    }
    snapshot->verdicts[0].now.since = (struct verdict_since){.seconds = 1699999940.5}; // of the host alone
    host_judge(snapshot);
    return snapshot;
}

static inline void tree_host_init(struct exporter_host *host) {
    host_init_with(host, catalog_builder_finish(tree_builder()), 4);
}

#endif
