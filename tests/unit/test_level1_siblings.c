// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/counts/level1_siblings.h"

// Two threads of a core, each with 400 slots a round, which is half of the core's: one uses more of them than it has.

enum { THREADS = 2, FRONTEND = 0, BACKEND = 1, CATEGORIES, ROUND_SECONDS = 10 };

struct rig {
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
    struct rows *rows;
    struct scopes *scopes;
    struct cells *cells;
    struct level1_cpus *level1;
    double total[THREADS][CATEGORIES];
};

static void rig_init(struct rig *rig) {
    static const char *const events[] = {"CYCLES", "A"};
    static const struct topology_source cpus[THREADS] = {{.id = 0, .selected = true}, {.id = 1, .selected = true}};
    struct catalog_builder *builder = builder_of(events, 2);
    level1_of(builder, "4 * CYCLES", "A / (4 * CYCLES)", "1 - A / (4 * CYCLES)");
    group_of(builder, "all", "frontend_bound backend_bound");
    *rig = (struct rig){.catalog = catalog_builder_finish(builder)};
    rig->plan = build_plan(&(struct plan_request){.catalog = rig->catalog, .general_counters = 2});
    rig->topology = build_topology(cpus, THREADS);
    assert_int_equal(rig->topology->n_cores, 1);
    rig->rows = rows_new(rig->plan);
    rig->scopes = scopes_new(rig->topology);
    rig->cells = cells_new(rig->rows, THREADS);
    rig->level1 = level1_cpus_new(rig->rows, rig->scopes);
    assert_true(rig->rows && rig->scopes && rig->cells && rig->level1);
}

static void rig_free(struct rig *rig) {
    level1_cpus_free(rig->level1);
    cells_free(rig->cells);
    scopes_free(rig->scopes);
    rows_free(rig->rows);
    topology_free(rig->topology);
    plan_free(rig->plan);
    catalog_free(rig->catalog);
}

// A round in which the threads use so many slots; each has one window, of a tenth of the time.
static void round_of(struct rig *rig, double first, double second) {
    static const bool ended[THREADS] = {true, true};
    const double used[THREADS] = {first, second};
    size_t unit = (size_t)rig->plan->level1_unit;
    unsigned cycles = (unsigned)catalog_find_event(rig->catalog, "CYCLES");
    unsigned a = (unsigned)catalog_find_event(rig->catalog, "A");
    size_t base = rows_first(rig->rows, unit);
    for (size_t cpu = 0; cpu < THREADS; cpu++) {
        double values[8] = {1};
        values[rows_place(rig->rows, unit, cycles) - base] = 10;
        values[rows_place(rig->rows, unit, a) - base] = used[cpu] / ROUND_SECONDS;
        level1_cpus_begin_round(rig->level1, cpu);
        level1_cpus_take_window(rig->level1, cpu, values);
        cells_end_round(rig->cells, cpu, ROUND_SECONDS);
    }
    level1_cpus_end_windows(rig->level1);
    level1_siblings_lend(rig->level1, ended);
    for (size_t cpu = 0; cpu < THREADS; cpu++) {
        const double *increase = level1_cpus_advance(rig->level1, rig->cells, cpu, 3 * ROUND_SECONDS, false);
        for (size_t i = 0; i < CATEGORIES; i++)
            rig->total[cpu][i] += increase[i];
    }
}

// 560 slots of 400, and 40 of the sibling's 400: 600 of the core's 800.
static void test_a_thread_that_uses_more_than_its_half_gets_what_its_sibling_left(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (int round = 0; round < 200; round++)
        round_of(&rig, 560, 40);
    double used = rig.total[0][FRONTEND] + rig.total[1][FRONTEND];
    double unused = rig.total[0][BACKEND] + rig.total[1][BACKEND];
    assert_true(fabs(used + unused - 200 * 800) < 1e-6);
    if (!(fabs(used / 200 - 600) < 10))
        fail_msg("%g of 800 slots a round instead of 600", used / 200);
    assert_true(fabs(rig.total[0][FRONTEND] / 200 - 560) < 10 && fabs(rig.total[1][FRONTEND] / 200 - 40) < 1e-6);
    rig_free(&rig);
}

// 440 slots of 400 in one round, and 320 in the next: what it owes is less than a round.
static void test_what_is_negative_now_and_then_is_no_matter_of_the_sibling(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (int round = 0; round < 200; round++)
        round_of(&rig, round % 2 == 0 ? 440 : 320, 100);
    assert_true(fabs(rig.total[0][FRONTEND] / 200 - 380) < 1 && fabs(rig.total[1][FRONTEND] / 200 - 100) < 1e-6);
    assert_true(fabs(rig.total[1][BACKEND] / 200 - 300) < 1e-6);
    rig_free(&rig);
}

static void test_a_thread_lends_no_more_than_it_has_in_all(void **state) {
    (void)state;
    static const bool ended[THREADS] = {true, true};
    struct rig rig;
    rig_init(&rig);
    struct level1_cpu *to = &rig.level1->cpus[0], *from = &rig.level1->cpus[1];
    to->seconds = from->seconds = ROUND_SECONDS;
    to->debt.busiest_slots = 400;
    to->debt.owed[BACKEND] = -1000;
    to->slots[FRONTEND] = 560;
    to->slots[BACKEND] = -160;
    from->slots[FRONTEND] = -100;
    from->slots[BACKEND] = 150;
    level1_siblings_lend(rig.level1, ended);
    assert_true(from->slots[BACKEND] == 100 && to->slots[BACKEND] == -110);
    to->slots[BACKEND] = -160;
    from->slots[FRONTEND] = -200;
    from->slots[BACKEND] = 150;
    level1_siblings_lend(rig.level1, ended);
    assert_true(from->slots[BACKEND] == 150 && to->slots[BACKEND] == -160); // it has less than nothing
    rig_free(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_that_uses_more_than_its_half_gets_what_its_sibling_left),
        cmocka_unit_test(test_a_thread_lends_no_more_than_it_has_in_all),
        cmocka_unit_test(test_what_is_negative_now_and_then_is_no_matter_of_the_sibling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
