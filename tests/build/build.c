// SPDX-License-Identifier: Apache-2.0
#include "tests/build/build.h"

#include <stdio.h>
#include <string.h>

enum { GROUPS_MAX = 256, CPUS_MAX = 64 };

struct catalog_builder *builder_for(const char *pmu) {
    struct catalog_builder *builder;
    assert_int_equal(catalog_builder_new("toy", "Acme", "Toy", "toy", pmu, &builder), 0);
    return builder;
}

struct catalog_builder *builder_of(const char *const *events, size_t n) {
    struct catalog_builder *builder = builder_for("toy_pmu");
    struct fault error;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(catalog_builder_add_event(builder, events[i], "", i, &error), i + 1);
    for (size_t i = 0; i < n; i++)
        if (strncmp(events[i], "FIXED", 5) == 0)
            assert_int_equal(catalog_builder_set_counters(builder, 4, &events[i], 1, &error), 0);
    return builder;
}

void metric_of(struct catalog_builder *builder, const char *name, const char *formula, const char *units) {
    const struct catalog_metric_text text = {.name = name, .formula = formula, .units = units};
    struct fault error;
    if (catalog_builder_add_metric(builder, &text, &error) < 0)
        fail_msg("%s", error.text);
}

void level1_of(struct catalog_builder *builder, const char *pipeline_slots, const char *frontend, const char *backend) {
    struct fault error;
    metric_of(builder, "frontend_bound", frontend, "percent of slots");
    metric_of(builder, "backend_bound", backend, "percent of slots");
    assert_int_equal(
        catalog_builder_set_level1(builder, LEVEL1_USUAL,
                                   &(struct catalog_level1_text){.pipeline_slots = pipeline_slots, .width = 4}, &error),
        0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_FRONTEND_BOUND, "frontend_bound", &error), 0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_BACKEND_BOUND, "backend_bound", &error), 0);
}

void group_of(struct catalog_builder *builder, const char *name, const char *metrics) {
    char text[512];
    const char *names[32];
    size_t n = 0;
    struct fault error;
    (void)snprintf(text, sizeof text, "%s", metrics);
    for (char *rest = text, *metric; (metric = strsep(&rest, " "));)
        names[n++] = metric;
    if (catalog_builder_add_group(builder, name, "", "", names, n, &error) < 0)
        fail_msg("%s", error.text);
}

struct topology *build_topology(const struct topology_source *cpus, size_t n) {
    struct topology *topology;
    assert_int_equal(topology_new(cpus, n, 0, &topology), 0);
    return topology;
}

struct topology *build_cpus(unsigned first, unsigned n, unsigned sockets) {
    struct topology_source cpus[CPUS_MAX];
    assert_true(n <= N_OF(cpus));
    for (unsigned i = 0; i < n; i++)
        cpus[i] = (struct topology_source){
            .id = first + i, .core = (int)(i / sockets), .package = (int)(i % sockets), .selected = true};
    return build_topology(cpus, n);
}

struct plan *build_plan(const struct plan_request *request) {
    struct plan_selection all[GROUPS_MAX] = {0};
    struct plan_request usual = *request;
    struct plan *plan;
    if (!usual.selections) {
        usual.n_selections = usual.catalog->n_groups;
        assert_true(usual.n_selections <= N_OF(all));
        for (size_t g = 0; g < usual.n_selections; g++)
            all[g].group = (unsigned)g;
        usual.selections = all;
    }
    if (usual.slot_ns == 0)
        usual.slot_ns = UINT64_C(200000000);
    assert_int_equal(plan_new(&usual, &plan), 0);
    return plan;
}

struct snapshot_layout *build_layout(struct plan *plan, struct topology *topology) {
    struct snapshot_layout *layout = snapshot_layout_new(plan, topology);
    assert_non_null(layout);
    return layout;
}
