// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_PATIENT_H
#define TOPDOWND_TESTS_UNIT_PATIENT_H

// A snapshot of a shipped CPU's default groups, into which a test puts values: shares with an interval of a point to
// either side.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/diagnosis/bound.h"
#include "exporters/view/view_circumstances.h"
#include "tests/build/build.h"
#include "tests/build/shipped.h"

enum { CPUS = 16, SOCKETS = 2 };

struct patient {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct snapshot *snapshot;
};

static inline void begin_with(struct patient *p, const char *spec, struct topology *topology) {
    p->catalog = shipped_load(spec);
    topology->maximum_frequency_hz = 3.9e9;
    p->layout = build_layout(build_plan(&(struct plan_request){.catalog = p->catalog}), topology);
    p->snapshot = snapshot_new(p->layout);
    assert_non_null(p->snapshot);
}

static inline void begin(struct patient *p, const char *spec) { begin_with(p, spec, build_cpus(0, CPUS, SOCKETS)); }

static inline void end(struct patient *p) {
    snapshot_unref(p->snapshot);
    snapshot_layout_unref(p->layout);
    catalog_free(p->catalog);
}

static inline size_t place_of(const struct patient *p, const char *exported) {
    for (size_t i = 0; i < p->layout->n_metrics; i++) {
        unsigned metric = catalog_metric_named(p->catalog, p->layout->plan->metrics[i].metric);
        if (strcmp(p->catalog->metrics[metric].export_name, exported) == 0)
            return i;
    }
    fail_msg("%s is not in the plan", exported);
    return 0;
}

static inline void set_scope(struct patient *p, size_t scope, const char *exported, double value) {
    size_t place = place_of(p, exported);
    p->snapshot->values[snapshot_metric(p->layout, scope, place)] = value;
    p->snapshot->values[snapshot_low(p->layout, scope, place)] = value - 0.01;
    p->snapshot->values[snapshot_high(p->layout, scope, place)] = value + 0.01;
}

static inline void set(struct patient *p, const char *exported, double value) {
    for (size_t scope = 0; scope < p->layout->n_scopes; scope++)
        set_scope(p, scope, exported, value);
}

static inline void set_cpu(struct patient *p, size_t cpu, const char *exported, double value) {
    set_scope(p, snapshot_scope_cpu(p->layout, cpu), exported, value);
}

static inline const struct verdict *judge(struct patient *p) {
    assert_int_equal(bound_fill(p->snapshot), 0);
    return &p->snapshot->verdicts[0].now;
}

static inline void set_healthy(struct patient *p) {
    set(p, "utilization_ratio", 0.6);
    set(p, "frontend_bound_ratio", 0.12);
    set(p, "bad_speculation_ratio", 0.05);
    set(p, "retiring_ratio", 0.65);
    set(p, "backend_bound_ratio", 0.18);
}

static inline void assert_before(struct patient *p, const char *expected) {
    struct text text = {0};
    view_circumstances_before(p->snapshot, &text);
    text_append(&text, "", 1);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

#endif
