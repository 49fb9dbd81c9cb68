// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/estimate_rig.h"

#include "core/estimate/estimate_within.h"

// Four units that count B alike, each beside an event of its own, in one of ten seconds.
enum { UNITS = 4, CPUS = 4 };
static const double SLOW[] = {10, 100}, FAST[] = {60, 300}; // what a window counts of the own event, and of B

static void rig_init(struct rig *rig, double idle) {
    static const char *const events[] = {"A", "B", "C", "D", "E"};
    struct catalog_builder *builder = builder_of(events, 5);
    metric_of(builder, "first", "A / B", "");
    metric_of(builder, "second", "C / B", "");
    metric_of(builder, "third", "D / B", "");
    metric_of(builder, "fourth", "E / B", "");
    group_of(builder, "all", "first second third fourth");
    rig_begin(rig, builder, (struct plan_request){.general_counters = 2, .idle = idle}, build_cpus(0, CPUS, 1),
              INFINITY);
    assert_int_equal(rig->plan->n_units, UNITS);
}

static void count(struct rig *rig, size_t cpu, size_t unit, const double *of) {
    double *values = cells_values(rig->cells, cpu, unit);
    size_t place = rows_place_in_unit(rig->rows, unit, (unsigned)catalog_find_event(rig->catalog, "B"));
    assert_true(place > 0);
    values[0] = cells_at(rig->cells, cpu, unit)->running_seconds = of ? 1 : 0;
    cells_at(rig->cells, cpu, unit)->n_windows = of ? 1 : 0;
    for (size_t i = 1; i < rows_n(rig->rows, unit); i++)
        values[i] = of ? of[i == place] : 0;
}

static void end_round(struct rig *rig, bool held) {
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        cells_end_round(rig->cells, cpu, 10);
        rig->cells->times[cpu].held = held;
        rig->cells->times[cpu].end_ns = 1000;
    }
    estimate_take_round(rig->estimate, rig->cells, 10);
}

// Rounds that are slow and fast in turn, in which all units see the same; the last unit may count nothing.
static void feed_turns(struct rig *rig, bool held, bool last) {
    for (int r = 0; r < 8; r++) {
        for (size_t cpu = 0; cpu < CPUS; cpu++)
            for (size_t u = 0; u < UNITS; u++)
                count(rig, cpu, u, u + 1 == UNITS && !last ? NULL : r % 2 ? FAST : SLOW);
        end_round(rig, held);
    }
}

static double error_of(const struct rig *rig, size_t scope, double rounds) {
    return estimate_get(rig->estimate, scope, 0, 0.175, rounds).standard_error;
}

// All units see the same in each round, so no window missed anything, however much rounds differ.
static void test_changes_from_round_to_round_are_no_errors_where_units_agree(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0);
    feed_turns(&rig, false, true);
    for (size_t scope = 0; scope < scope_count(rig.topology); scope++)
        assert_true(error_of(&rig, scope, 8) < 1e-9);
    rig_free(&rig);
}

static void test_a_unit_without_data_is_not_compared(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0);
    feed_turns(&rig, false, false);
    for (size_t scope = 0; scope < scope_count(rig.topology); scope++)
        assert_true(error_of(&rig, scope, 8) < 1e-9);
    rig_free(&rig);
}

// A core that is held has windows of any length, so units tell nothing of a round: its rounds do, as they did.
static void test_of_cores_that_are_held_rounds_tell(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0);
    feed_turns(&rig, true, false);
    for (size_t scope = scope_of_cpu(rig.topology, 0); scope < scope_count(rig.topology); scope++)
        assert_true(error_of(&rig, scope, 8) > 1e-3);
    rig_free(&rig);
}

// The mean square over the rounds, from the second one on, of how much the ratio changes with a count of B of the
// round. A changes by 0.25 for each of B, and derivatives are at the mean of the rounds so far, which are slow and fast
// in turn.
static double squared_slope(void) {
    double a = 0, b = 0, sum = 0;
    for (int r = 0; r < 8; r++) {
        a += 10 * (r % 2 ? FAST[0] : SLOW[0]);
        b += 10 * (r % 2 ? FAST[1] : SLOW[1]);
        double slope = (0.25 - a / b) / (b / (r + 1));
        sum += r > 0 ? slope * slope : 0;
    }
    return sum / 7;
}

// B, as cycles of a load that never sleeps, is the same in all rounds but for a few counts, and in all units but for a
// few hundred. A changes once, which has nothing to do with B: no slope goes through a few counts, and rounds tell what
// they tell without units. A / B changes once by 0.25, and 0.9 x 0.25^2 / 2 is the only one of seven squares.
static void test_an_event_that_never_changes_explains_nothing(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0);
    for (int r = 0; r < 8; r++) {
        for (size_t cpu = 0; cpu < CPUS; cpu++)
            for (size_t u = 0; u < UNITS; u++) {
                double b = 4e9 + 400 * (double)u + 4 * (double)((cpu + (size_t)r) % 3);
                count(&rig, cpu, u, (const double[]){r < 4 ? 1e9 : 2e9, b});
            }
        end_round(&rig, false);
    }
    for (size_t scope = scope_of_cpu(rig.topology, 0); scope < scope_count(rig.topology); scope++)
        expect_near(error_of(&rig, scope, 8), sqrt(0.9 * 0.25 * 0.25 / 2 / 7 / 8), 1e-6);
    rig_free(&rig);
}

// In each round, half of the units see it slow and half fast, and the others in the next one. A slot counts 1,000 or
// 3,000 of B for the round: a variance of 4 / 3 x 1,000^2. The first ratio is 350 / 2,000 = 0.175, and A changes by
// 0.25 for each of B, so the residual does by (0.25 - 0.175) / 2,000. A tenth of the round is seen.
static void test_what_units_differ_in_is_the_error(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0);
    for (int r = 0; r < 8; r++) {
        for (size_t cpu = 0; cpu < CPUS; cpu++)
            for (size_t u = 0; u < UNITS; u++)
                count(&rig, cpu, u, (u + (size_t)r) % 2 ? FAST : SLOW);
        end_round(&rig, false);
    }
    double variance = squared_slope() * 4.0 / 3 * 1e6 * 0.9;
    size_t cpu = scope_of_cpu(rig.topology, 2);
    expect_near(error_of(&rig, cpu, 8), sqrt(variance / 8), 1e-6);
    rig_free(&rig);
}

// Signs of slots show 500 counts of B alike in all units on two of the CPUs, 5,000 each for the round: 10,000 of the
// host's 80,000 differ between neighbours, of which the idle share is hidden. Any slots differ ten times as much, so
// the load is slow.
static void test_what_all_units_have_in_common_is_hidden_in_idle_pieces(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    for (size_t i = 0; i < 2 * UNITS; i++)
        for (size_t k = 0; k < CELL_SIGNS; k++)
            rig.cells->signed_counts[i * CELL_SIGNS + k] = k == CELL_PAIRED ? 500 : 5000;
    feed_turns(&rig, false, true);
    double hidden = 10000.0 * 10000 * plan_idle_share(rig.plan) * squared_slope() / (CPUS * CPUS);
    expect_near(error_of(&rig, 0, 8), sqrt(hidden / 8), 0.02);
    assert_true(error_of(&rig, scope_of_cpu(rig.topology, 0), 8) < 1e-9); // no more than its windows say
    rig_free(&rig);
}

// A piece is much shorter than a slot. What changes from each slot to the next may change within slots.
static void test_a_fast_load_differs_more_in_pieces_than_in_slots(void **state) {
    (void)state;
    struct estimate_together together = {.hidden = {lanes_all(2), lanes_all(20)}};
    expect_near(estimate_hidden_of(&together, 0, 3), 2 * (1 + 2 * 0.01), 1e-12);
    together.hidden[CELL_SINGLE] = lanes_all(1);
    expect_near(estimate_hidden_of(&together, 0, 3), 6, 1e-12);
    together.hidden[CELL_PAIRED] = lanes_all(-1); // by chance
    assert_true(estimate_hidden_of(&together, 0, 3) == 0);
}

// ---- degrees of freedom ----

static struct estimate_spread spread_of(double n, double within, double within2) {
    return (struct estimate_spread){.weights2 = lanes_all(1 / n),
                                    .within = lanes_all(within),
                                    .within2 = lanes_all(within2),
                                    .within_now = lanes_all(5),
                                    .within_degrees = lanes_all(3)};
}

// Rounds as even as chance leaves equal ones have three degrees of freedom each, and tell of one another.
static void test_even_rounds_have_all_degrees_of_freedom(void **state) {
    (void)state;
    struct estimate_spread spread = spread_of(10, 1, 1 + 2.0 / 3);
    expect_near(estimate_within_of(&spread, 0, false).degrees, 30, 1e-9);
    expect_near(estimate_within_of(&spread, 0, true).degrees, 30, 1e-9);
    expect_near(estimate_within_of(&spread, 0, true).variance, 1, 1e-9);
}

// One round of ten makes all: 10 once, so the mean is 1 and that of squares is 10. It has three, and the last round is
// mostly its own: rounds differ by 10 / (5 / 3) - 1 = 5, so it counts 5 / (5 + 2 / 3 x 6) = 5 / 9.
static void test_one_round_that_makes_all_has_its_own_degrees_of_freedom(void **state) {
    (void)state;
    struct estimate_spread spread = spread_of(10, 1, 10);
    expect_near(estimate_within_of(&spread, 0, false).degrees, 3, 1e-9);
    expect_near(estimate_within_of(&spread, 0, true).variance, 5.0 / 9 * 5 + 4.0 / 9, 1e-9);
    expect_near(estimate_within_of(&spread, 0, true).degrees, 4, 1e-9); // no fewer, as it is drawn to the mean
}

static void test_the_degrees_of_freedom_of_a_sum_are_those_of_its_larger_part(void **state) {
    (void)state;
    const struct estimate_freedom none = {0, INFINITY}, equal = {1, 3};
    expect_near(estimate_freedom_of(1, 3, &none), 3, 1e-9);
    expect_near(estimate_freedom_of(1, 3, &equal), 6, 1e-9);
    expect_near(estimate_freedom_of(1e-9, 3, &equal), 3, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_from_round_to_round_are_no_errors_where_units_agree),
        cmocka_unit_test(test_a_unit_without_data_is_not_compared),
        cmocka_unit_test(test_of_cores_that_are_held_rounds_tell),
        cmocka_unit_test(test_an_event_that_never_changes_explains_nothing),
        cmocka_unit_test(test_what_units_differ_in_is_the_error),
        cmocka_unit_test(test_what_all_units_have_in_common_is_hidden_in_idle_pieces),
        cmocka_unit_test(test_a_fast_load_differs_more_in_pieces_than_in_slots),
        cmocka_unit_test(test_even_rounds_have_all_degrees_of_freedom),
        cmocka_unit_test(test_one_round_that_makes_all_has_its_own_degrees_of_freedom),
        cmocka_unit_test(test_the_degrees_of_freedom_of_a_sum_are_those_of_its_larger_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
