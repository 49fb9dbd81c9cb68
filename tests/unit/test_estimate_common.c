// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/estimate/estimate.h"

// Four cores that have their idle pieces at the same times, a tenth of a round. Each counts A and B for a part of
// rounds of 10 s; extrapolated, 100 of B a second.

enum { CORES = 4, ROUNDS = 2 };

struct rig {
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
    struct estimate *estimate;
    struct rows *rows;
    struct cells *cells;
};

static void rig_init(struct rig *rig, double idle) {
    static const char *const events[] = {"A", "B"};
    struct catalog_builder *builder = builder_of(events, 2);
    metric_of(builder, "ratio", "A / B", "");
    group_of(builder, "all", "ratio");
    *rig = (struct rig){.catalog = catalog_builder_finish(builder)};
    rig->plan = build_plan(&(struct plan_request){
        .catalog = rig->catalog, .general_counters = 2, .slot_ns = UINT64_C(1000000000), .idle = idle});
    rig->topology = build_cpus(0, CORES, 1);
    rig->estimate = estimate_new(rig->plan, rig->topology, 16);
    rig->rows = rows_new(rig->plan);
    rig->cells = cells_new(rig->rows, CORES);
    assert_true(rig->estimate && rig->rows && rig->cells);
}

static void rig_free(struct rig *rig) {
    cells_free(rig->cells);
    rows_free(rig->rows);
    estimate_free(rig->estimate);
    topology_free(rig->topology);
    plan_free(rig->plan);
    catalog_free(rig->catalog);
}

// Takes a round in, of which each core counts `seconds`: `a` of A a second on the first half of the cores, `b` on the
// others.
static void round_of(struct rig *rig, double seconds, double a, double b) {
    for (size_t cpu = 0; cpu < CORES; cpu++) {
        double *values = cells_values(rig->cells, cpu, 0);
        values[0] = cells_at(rig->cells, cpu, 0)->running_seconds = seconds;
        values[1] = seconds * (cpu < CORES / 2 ? a : b);
        values[2] = seconds * 100;
        cells_end_round(rig->cells, cpu, 10);
    }
    estimate_take_round(rig->estimate, rig->cells, 10);
}

static double error_of(const struct rig *rig, double rounds) {
    return estimate_get(rig->estimate, 0, 0, 0.5, rounds).standard_error;
}

static void expect_near(double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-6 * wanted))
        fail_msg("%.12g instead of %.12g", value, wanted);
}

// Each core's residual differs by 0.2 / 4 between 40 and 60 of A: with a fifth unseen the variance is
// 4 x 0.05^2 / 2 x 0.2 = 0.001. Their sum differs by 0.2: as one population it has 0.2^2 / 2 = 0.02 instead of 0.005,
// of which a tenth is unseen, and 0.0015 more.
static void test_what_cores_do_in_step_is_unseen_on_all_of_them(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    round_of(&rig, 8, 40, 40);
    round_of(&rig, 8, 60, 60);
    expect_near(error_of(&rig, 1), sqrt(0.001 + 0.0015));
    // one draw for what they have in common, and one for each of four cores
    expect_near(estimate_degrees(rig.estimate, 0, 0), 0.0025 * 0.0025 / (0.001 * 0.001 / 4 + 0.0015 * 0.0015));
    rig_free(&rig);
}

static void test_what_cores_do_by_themselves_adds_nothing(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    round_of(&rig, 8, 40, 60);
    round_of(&rig, 8, 60, 40);
    expect_near(error_of(&rig, 1), sqrt(0.001));
    expect_near(estimate_degrees(rig.estimate, 0, 0), 4);
    rig_free(&rig);
}

// With windows of half of the time the cores' variance is 4 x 0.05^2 / 2 x 0.5 = 0.0025; that of their sum in step, in
// a tenth of the time, 4 x 0.005 x 0.5 x 0.1 = 0.001. That the load has changed by more says nothing of idle pieces.
static void test_a_slow_change_is_no_error_of_idle_pieces(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    round_of(&rig, 5, 40, 40);
    round_of(&rig, 5, 60, 60);
    expect_near(error_of(&rig, 1), sqrt(0.0025 + 0.001));
    rig_free(&rig);
}

static void test_without_idle_pieces_cores_have_nothing_in_common(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0);
    round_of(&rig, 8, 40, 40);
    round_of(&rig, 8, 60, 60);
    expect_near(error_of(&rig, 1), sqrt(0.001));
    rig_free(&rig);
}

// Half a per cent a round, or a tenth of a point of shares: what nothing tells of idle pieces.
static void test_a_round_claims_no_more_than_its_resolution(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    for (int r = 0; r < ROUNDS; r++)
        round_of(&rig, 8, 50, 50);
    expect_near(error_of(&rig, 1), 0.0025);
    expect_near(error_of(&rig, 25), 0.0005);
    size_t one = scope_of_cpu(rig.topology, 0); // has pieces at places that are independent of its windows
    assert_true(estimate_get(rig.estimate, one, 0, 0.5, 1).standard_error == 0);
    rig_free(&rig);
    rig_init(&rig, 0.1);
    for (int r = 0; r < ROUNDS; r++)
        round_of(&rig, 10, 50, 50); // all the time, in idle pieces too
    assert_true(error_of(&rig, 1) == 0);
    rig_free(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_cores_do_in_step_is_unseen_on_all_of_them),
        cmocka_unit_test(test_what_cores_do_by_themselves_adds_nothing),
        cmocka_unit_test(test_a_slow_change_is_no_error_of_idle_pieces),
        cmocka_unit_test(test_without_idle_pieces_cores_have_nothing_in_common),
        cmocka_unit_test(test_a_round_claims_no_more_than_its_resolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
