// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "core/adapt/budget.h"

static void test_the_budget_is_the_larger_of_two(void **state) {
    (void)state;
    struct budget budget;
    budget_init(&budget, 4, 0, 0);
    assert_true(budget.allowed == 0.001); // 0.01 % of 4 CPUs is 0.0004
    budget_init(&budget, 256, 0, 0);
    assert_true(fabs(budget.allowed - 0.0256) < 1e-12);
    assert_true(isnan(budget.used));
    assert_true(budget.factor == 1);
}

static void test_nothing_is_judged_before_a_period_is_over(void **state) {
    (void)state;
    struct budget budget;
    budget_init(&budget, 4, 100, 5);
    assert_false(budget_update(&budget, 129, 50));
    assert_true(isnan(budget.used));
}

static void test_slots_grow_step_by_step_while_the_budget_is_exceeded(void **state) {
    (void)state;
    struct budget budget;
    double cost = 0;
    budget_init(&budget, 4, 0, 0);
    for (int period = 1; period <= 3; period++) {
        cost += 0.06; // twice the 0.03 CPU seconds of a period
        assert_true(budget_update(&budget, period * 30, cost));
        assert_true(fabs(budget.used - 2) < 1e-9);
        assert_true(fabs(budget.factor - pow(1.5, period)) < 1e-9);
    }
    for (int period = 4; period < 40; period++)
        budget_update(&budget, period * 30, cost += 1);
    assert_true(budget.factor == BUDGET_FACTOR_MAX);
}

// Cost that falls as slots grow, as in reality: the length settles and does not oscillate.
static void test_the_length_settles(void **state) {
    (void)state;
    struct budget budget;
    double cost = 0;
    int changes = 0;
    budget_init(&budget, 4, 0, 0);
    for (int period = 1; period <= 100; period++) {
        cost += 0.09 / budget.factor; // three times the budget at the configured length
        int changed = budget_update(&budget, period * 30, cost);
        changes += changed;
        assert_true(period <= 5 || !changed);
    }
    assert_int_equal(changes, 3); // 1.5, 2.25, 3.375
    assert_true(budget.used < 1);
}

static void test_slots_shrink_back_when_there_is_room(void **state) {
    (void)state;
    struct budget budget;
    budget_init(&budget, 4, 0, 0);
    assert_true(budget_update(&budget, 30, 0.06));
    assert_true(budget.factor == 1.5);
    assert_false(budget_update(&budget, 60, 0.06 + 0.018)); // 0.6 used: 0.9 with shorter slots
    assert_true(budget_update(&budget, 90, 0.078 + 0.012)); // 0.4 used: 0.6 with shorter slots
    assert_true(budget.factor == 1);
    assert_false(budget_update(&budget, 120, 0.09)); // never shorter than configured
    assert_true(budget.factor == 1 && budget.used == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_budget_is_the_larger_of_two),
        cmocka_unit_test(test_nothing_is_judged_before_a_period_is_over),
        cmocka_unit_test(test_slots_grow_step_by_step_while_the_budget_is_exceeded),
        cmocka_unit_test(test_the_length_settles),
        cmocka_unit_test(test_slots_shrink_back_when_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
