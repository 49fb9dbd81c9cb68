// SPDX-License-Identifier: Apache-2.0
#include "bench/host/v2_host.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/spec/spec_json.h"
#include "core/plan/plan.h"

enum { CPUS_MAX = 1024 };

static void give_up(const char *what) {
    (void)fprintf(stderr, "bench: %s\n", what);
    exit(EXIT_FAILURE);
}

static struct plan *make_plan(const struct catalog *catalog) {
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
    struct plan_selection selections[4];
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        int group = catalog_find_group(catalog, groups[i]);
        if (group >= 0)
            selections[n++] = (struct plan_selection){.group = (unsigned)group};
    }
    const struct plan_request request = {.catalog = catalog,
                                         .general_counters = catalog->general_counters,
                                         .selections = selections,
                                         .n_selections = n,
                                         .slot_ns = 200000000,
                                         .idle = 0.1};
    struct plan *plan;
    if (plan_new(&request, &plan) < 0)
        give_up("no plan");
    return plan;
}

static struct topology *make_topology(unsigned n) {
    struct topology_source cpus[CPUS_MAX];
    unsigned cores = n / 2;
    struct topology *topology;
    for (unsigned i = 0; i < n; i++)
        cpus[i] = (struct topology_source){i, (int)(i % cores), i % cores < cores / 2 ? 0 : 1, true};
    if (topology_new(cpus, n, 3.4e9, &topology) < 0)
        give_up("no topology");
    return topology;
}

static void fill(const struct snapshot_layout *layout, struct snapshot *snapshot) {
    for (size_t i = 0; i < layout->n_values; i++)
        snapshot->values[i] = 1e13 * drand48();
    for (size_t s = 0; s < layout->n_scopes; s++) {
        for (size_t m = 0; m < layout->n_metrics; m++)
            snapshot->values[snapshot_metric(layout, s, m)] = drand48();
        snapshot->values[snapshot_deviation(layout, s)] = drand48();
        snapshot->values[snapshot_covered(layout, s)] = 1e5 * drand48();
    }
}

void v2_host_init(struct v2_host *host, unsigned cpus) {
    struct errors errors = {0};
    if (spec_json_load("specs/neoverse-v2.json", NULL, &errors, &host->catalog) < 0)
        give_up("specs/neoverse-v2.json cannot be read: start from the source folder");
    host->layout = snapshot_layout_new(make_plan(host->catalog), make_topology(cpus));
    if (!host->layout)
        give_up("memory is short");
    host->view = (struct view){.layout = host->layout,
                               .version = "0",
                               .hostname = "bench",
                               .pmu = "armv8_pmuv3_0",
                               .cpu_vendor = "Arm",
                               .cpu_model = "Neoverse V2",
                               .cpu_microarchitecture = "neoverse-v2",
                               .profile = "default",
                               .interval_ns = 2000000000,
                               .counters.total = 7,
                               .counters.usable = 7,
                               .references = 1};
}

void v2_host_deinit(struct v2_host *host) {
    snapshot_layout_unref(host->layout);
    catalog_free(host->catalog);
}

struct snapshot *v2_host_snapshot(const struct v2_host *host) {
    struct snapshot *snapshot = snapshot_new(host->layout);
    if (!snapshot)
        give_up("memory is short");
    fill(host->layout, snapshot);
    return snapshot;
}
