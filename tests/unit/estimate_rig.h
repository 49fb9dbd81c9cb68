// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_ESTIMATE_RIG_H
#define TOPDOWND_TESTS_UNIT_ESTIMATE_RIG_H

// A toy plan and the estimate of it, for tests of core/estimate that feed rounds by hand.

#include "tests/unit/core_check.h"

#include <math.h>

#include "core/estimate/estimate.h"

struct rig {
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
    struct estimate *estimate;
    struct rows *rows;
    struct cells *cells;
};

// Takes the builder. The request is filled in with its catalog and slots of a second.
static inline void rig_begin(struct rig *rig, struct catalog_builder *builder, struct plan_request request,
                             struct topology *topology, double memory_rounds) {
    *rig = (struct rig){.catalog = catalog_builder_finish(builder), .topology = topology};
    request.catalog = rig->catalog;
    request.slot_ns = UINT64_C(1000000000);
    rig->plan = build_plan(&request);
    rig->estimate = estimate_new(rig->plan, topology, memory_rounds);
    rig->rows = rows_new(rig->plan);
    rig->cells = cells_new(rig->rows, topology->n_cpus);
    assert_true(rig->estimate && rig->rows && rig->cells);
}

static inline void rig_free(struct rig *rig) {
    cells_free(rig->cells);
    rows_free(rig->rows);
    estimate_free(rig->estimate);
    topology_free(rig->topology);
    plan_free(rig->plan);
    catalog_free(rig->catalog);
}

static inline void expect_near(double value, double wanted, double relative) {
    if (!(fabs(value - wanted) <= relative * fabs(wanted)))
        fail_msg("%.12g instead of %.12g", value, wanted);
}

#endif
