// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>
#include <string.h>

#include "core/estimate/estimate.h"

// Cores that are not alike, of which every third one is held. One estimate always has the intervals of single CPUs;
// another one is told when they are wanted.

enum { CORES = 20, SEED = 11, UNWANTED_FROM = 4, WANTED_FROM = 9, ROUNDS = 40 };

struct rig {
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
    struct estimate *always, *told;
    struct rows *rows;
    struct cells *cells;
    uint64_t random;
};

static void rig_init(struct rig *rig) {
    static const char *const events[] = {"A", "B", "C", "D"};
    struct catalog_builder *builder = builder_of(events, 4);
    metric_of(builder, "ratio", "A / B", "");
    metric_of(builder, "other", "A / (C + D)", "");
    metric_of(builder, "made", "ratio * other", "");
    group_of(builder, "all", "ratio other made");
    *rig = (struct rig){.catalog = catalog_builder_finish(builder), .random = SEED};
    rig->plan = build_plan(&(struct plan_request){
        .catalog = rig->catalog, .general_counters = 3, .slot_ns = UINT64_C(1000000000), .idle = 0.1});
    assert_int_equal(rig->plan->n_units, 2);
    rig->topology = build_cpus(0, CORES, 2);
    rig->always = estimate_new(rig->plan, rig->topology, 16);
    rig->told = estimate_new(rig->plan, rig->topology, 16);
    rig->rows = rows_new(rig->plan);
    rig->cells = cells_new(rig->rows, rig->topology->n_cpus);
    assert_true(rig->always && rig->told && rig->rows && rig->cells);
}

static void rig_free(struct rig *rig) {
    cells_free(rig->cells);
    rows_free(rig->rows);
    estimate_free(rig->told);
    estimate_free(rig->always);
    topology_free(rig->topology);
    plan_free(rig->plan);
    catalog_free(rig->catalog);
}

// Draws a round of every CPU.
static void draw_round(struct rig *rig) {
    for (size_t cpu = 0; cpu < rig->topology->n_cpus; cpu++) {
        for (size_t u = 0; u < rig->plan->n_units; u++) {
            double *values = cells_values(rig->cells, cpu, u);
            struct cell *cell = cells_at(rig->cells, cpu, u);
            values[0] = cell->running_seconds = 2 + random_unit(&rig->random);
            cell->n_windows = 1;
            for (size_t i = 1; i < rows_n(rig->rows, u); i++)
                values[i] = values[0] * (100 + 100 * random_unit(&rig->random));
        }
        cells_end_round(rig->cells, cpu, 10);
        rig->cells->times[cpu].held = cpu % 3 == 0;
        rig->cells->times[cpu].end_ns = 1000;
    }
}

// Whether both give the same bits of a scope. `*some`, if not NULL, becomes true if there is an interval.
static void expect_same(const struct rig *rig, const struct estimate *one, const struct estimate *other, size_t scope,
                        bool *some) {
    for (size_t m = 0; m < rig->plan->n_metrics; m++) {
        const struct estimate_interval a = estimate_get(one, scope, m, 0.5, 1),
                                       b = estimate_get(other, scope, m, 0.5, 1);
        assert_memory_equal(&a.standard_error, &b.standard_error, sizeof a.standard_error);
        assert_memory_equal(&a.low, &b.low, sizeof a.low);
        assert_memory_equal(&a.high, &b.high, sizeof a.high);
        assert_int_equal(a.quality, b.quality);
        assert_true(estimate_degrees(one, scope, m) == estimate_degrees(other, scope, m));
        if (some)
            *some = *some || a.quality != ESTIMATE_NONE;
    }
}

static size_t first_cpu(const struct rig *rig) { return scope_of_cpu(rig->topology, 0); }

static void take(struct rig *rig, struct estimate *estimate) { estimate_take_round(estimate, rig->cells, 10); }

static void test_intervals_that_are_wanted_again_are_those_of_cpus_begun_then(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    struct estimate *begun = estimate_new(rig.plan, rig.topology, 16); // it knows what all cores tell together
    estimate_want_cpus(begun, false);
    for (int r = 0; r < ROUNDS; r++) {
        bool some = false, unwanted = r >= UNWANTED_FROM && r < WANTED_FROM;
        estimate_want_cpus(rig.told, !unwanted);
        if (r == WANTED_FROM)
            estimate_want_cpus(begun, true);
        draw_round(&rig);
        take(&rig, rig.always);
        take(&rig, rig.told);
        take(&rig, begun);
        for (size_t scope = 0; scope < first_cpu(&rig); scope++)
            expect_same(&rig, rig.told, rig.always, scope, NULL);
        for (size_t scope = first_cpu(&rig); scope < scope_count(rig.topology) && !unwanted; scope++)
            expect_same(&rig, rig.told, r < WANTED_FROM ? rig.always : begun, scope, &some);
        assert_true(unwanted || some == (r > 0 && r != WANTED_FROM)); // the second round has intervals
    }
    estimate_free(begun);
    rig_free(&rig);
}

static void test_without_a_reader_a_cpu_has_no_interval(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (int r = 0; r < ROUNDS; r++) {
        estimate_want_cpus(rig.told, r < UNWANTED_FROM);
        draw_round(&rig);
        take(&rig, rig.told);
    }
    for (size_t scope = 0; scope < scope_count(rig.topology); scope++) {
        const struct estimate_interval interval = estimate_get(rig.told, scope, 0, 0.5, 1);
        bool told = scope < first_cpu(&rig);
        assert_true((interval.quality != ESTIMATE_NONE) == told && isnan(interval.low) != told);
        assert_true((estimate_degrees(rig.told, scope, 0) > 0) == told);
    }
    rig_free(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_that_are_wanted_again_are_those_of_cpus_begun_then),
        cmocka_unit_test(test_without_a_reader_a_cpu_has_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
