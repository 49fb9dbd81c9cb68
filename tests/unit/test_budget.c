// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "core/adapt/budget.h"

static const struct budget_cost NO_COST = {0};

static struct budget_cost rotating(double seconds) { return (struct budget_cost){.rotation_seconds = seconds}; }

static void test_the_budget_is_the_larger_of_two(void **state) {
    (void)state;
    struct budget budget;
    budget_init(&budget, 4, 0, NO_COST);
    assert_true(budget.allowed == 0.001); // 0.01 % of 4 CPUs is 0.0004
    budget_init(&budget, 256, 0, NO_COST);
    assert_true(fabs(budget.allowed - 0.0256) < 1e-12);
    assert_true(isnan(budget.used));
    assert_true(budget.factor == 1);
}

static void test_nothing_is_judged_before_a_period_is_over(void **state) {
    (void)state;
    struct budget budget;
    budget_init(&budget, 4, 100, rotating(5));
    assert_false(budget_update(&budget, 129, rotating(50)));
    assert_true(isnan(budget.used));
}

static void test_slots_grow_step_by_step_while_the_budget_is_exceeded(void **state) {
    (void)state;
    struct budget budget;
    double cost = 0;
    budget_init(&budget, 4, 0, NO_COST);
    for (int period = 1; period <= 3; period++) {
        cost += 0.06; // twice the 0.03 CPU seconds of a period
        assert_true(budget_update(&budget, period * 30, rotating(cost)));
        assert_true(fabs(budget.used - 2) < 1e-9);
        assert_true(fabs(budget.factor - pow(1.5, period)) < 1e-9);
    }
    for (int period = 4; period < 40; period++)
        budget_update(&budget, period * 30, rotating(cost += 1));
    assert_true(budget.factor == BUDGET_FACTOR_MAX);
}

// Cost that falls as slots grow, as in reality: the length settles and does not oscillate.
static void test_the_length_settles(void **state) {
    (void)state;
    struct budget budget;
    double cost = 0;
    int changes = 0;
    budget_init(&budget, 4, 0, NO_COST);
    for (int period = 1; period <= 100; period++) {
        cost += 0.09 / budget.factor; // three times the budget at the configured length
        int changed = budget_update(&budget, period * 30, rotating(cost));
        changes += changed;
        assert_true(period <= 5 || !changed);
    }
    assert_int_equal(changes, 3); // 1.5, 2.25, 3.375
    assert_true(budget.used < 1);
}

static void test_slots_shrink_back_when_there_is_room(void **state) {
    (void)state;
    struct budget budget;
    budget_init(&budget, 4, 0, NO_COST);
    assert_true(budget_update(&budget, 30, rotating(0.06)));
    assert_true(budget.factor == 1.5);
    assert_false(budget_update(&budget, 60, rotating(0.06 + 0.018))); // 0.6 used: 0.9 with shorter slots
    assert_true(budget_update(&budget, 90, rotating(0.078 + 0.012))); // 0.4 used: 0.6 with shorter slots
    assert_true(budget.factor == 1);
    assert_false(budget_update(&budget, 120, rotating(0.09))); // never shorter than configured
    assert_true(budget.factor == 1 && budget.used == 0);
}

// Closing and opening once costs ten seconds of the budget, and as much again a period later.
static void test_what_a_change_costs_is_used_and_does_not_move_the_length(void **state) {
    (void)state;
    struct budget budget;
    struct budget_cost cost = NO_COST;
    budget_init(&budget, 4, 0, NO_COST);
    for (int period = 1; period <= 20; period++) {
        cost.rotation_seconds += 0.018; // 0.6 of the budget
        cost.change_seconds += period == 5 || period == 6 ? 0.3 : 0;
        assert_false(budget_update(&budget, period * 30, cost));
        double used = period == 5 || period == 6 ? 10.6 : 0.6;
        assert_true(fabs(budget.used - used) < 1e-9);
    }
    assert_true(budget.factor == 1);
}

// Rotation uses 0.6 of 1 ms a second: 0.4 ms a second pays the debt. What was not needed before is not saved up.
static void test_the_rest_of_the_budget_pays_for_changes(void **state) {
    (void)state;
    struct budget budget;
    struct budget_cost cost = {.change_seconds = 7};
    budget_init(&budget, 4, 0, cost);
    for (int period = 1; period <= 10; period++) {
        cost.rotation_seconds += 0.018;
        budget_update(&budget, period * 30, cost);
    }
    assert_true(budget_debt(&budget, 300, cost) == 0);
    cost.change_seconds += 0.02;
    assert_true(fabs(budget_debt(&budget, 300, cost) - 0.02) < 1e-12);
    assert_true(fabs(budget_debt(&budget, 320, cost) - 0.012) < 1e-12);
    cost.rotation_seconds += 0.018;
    budget_update(&budget, 330, cost);
    assert_true(fabs(budget_debt(&budget, 330, cost) - 0.008) < 1e-12);
    assert_true(fabs(budget_debt(&budget, 340, cost) - 0.004) < 1e-12);
    assert_true(budget_debt(&budget, 350.001, cost) == 0);
}

// Rotation that needs more than its share lets slots grow until it leaves something for the debt.
static void test_a_debt_is_paid_however_much_rotation_costs(void **state) {
    (void)state;
    struct budget budget;
    struct budget_cost cost = {.change_seconds = 0.03};
    budget_init(&budget, 4, 0, NO_COST);
    double period = 0;
    do {
        cost.rotation_seconds += 0.03 * 0.95 / budget.factor;
        budget_update(&budget, ++period * 30, cost);
        assert_true(period < 20);
    } while (budget.debt_seconds > 0);
    assert_true(budget.factor == 1.5); // 0.95 is no overrun of the whole, and leaves too little
    assert_true(period <= 5);
}

// Many times the budget at the configured length, and changes whenever none is owed: all together keep to the budget.
static void test_rotation_and_changes_together_keep_to_the_budget(void **state) {
    (void)state;
    struct budget budget;
    struct budget_cost cost = NO_COST, settled = NO_COST;
    int changes = 0;
    budget_init(&budget, 4, 0, NO_COST);
    for (int second = 1; second <= 100000; second++) {
        cost.rotation_seconds += 0.003 / budget.factor;
        if (budget_debt(&budget, second, cost) == 0) {
            cost.change_seconds += 0.05;
            changes++;
        }
        budget_update(&budget, second, cost);
        if (second == 1000)
            settled = cost;
    }
    double used = cost.rotation_seconds - settled.rotation_seconds + cost.change_seconds - settled.change_seconds;
    assert_true(used / 99000 <= 0.001 * 1.001);
    assert_true(changes > 100);
}

static void test_slots_shrink_only_when_nothing_is_owed(void **state) {
    (void)state;
    struct budget budget;
    struct budget_cost cost = {.rotation_seconds = 0.06};
    budget_init(&budget, 4, 0, NO_COST);
    assert_true(budget_update(&budget, 30, cost));
    cost.change_seconds = 0.05;
    assert_false(budget_update(&budget, 60, cost)); // 0.03 are paid
    assert_true(fabs(budget.debt_seconds - 0.02) < 1e-9);
    assert_true(budget_update(&budget, 90, cost));
    assert_true(budget.factor == 1);
}

// A kind of boxes of which each reading costs so much, for a while; a second is the configured interval.
static double read_boxes(struct budget_boxes *boxes, const struct budget *budget, double *now, double *cost,
                         double reading_seconds, int periods) {
    for (double end = *now + periods * BUDGET_PERIOD_SECONDS; *now < end;) {
        *now += boxes->factor;
        *cost += reading_seconds;
        budget_boxes_update(boxes, budget, *now, *cost, 2);
    }
    return boxes->factor;
}

static void test_boxes_are_read_more_rarely_until_they_keep_to_their_share(void **state) {
    (void)state;
    struct budget budget;
    struct budget_boxes boxes;
    double now = 0, cost = 0, allowed = 0.001;
    budget_init(&budget, 4, 0, NO_COST);
    budget_boxes_init(&boxes, 0);
    assert_true(isnan(boxes.used) && boxes.factor == 1);
    assert_true(read_boxes(&boxes, &budget, &now, &cost, 0.2 * allowed, 3) == 1); // of two kinds each has a quarter
    assert_true(read_boxes(&boxes, &budget, &now, &cost, 0.9 * allowed, 5) == 4);
    assert_true(boxes.used <= 0.25 && boxes.used > 0.2);
    assert_true(read_boxes(&boxes, &budget, &now, &cost, 0.9 * allowed, 50) == 4); // it does not oscillate
    assert_true(read_boxes(&boxes, &budget, &now, &cost, 1, 10) == BUDGET_BOXES_FACTOR_MAX);
    assert_true(read_boxes(&boxes, &budget, &now, &cost, 0.01 * allowed, 10) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_budget_is_the_larger_of_two),
        cmocka_unit_test(test_nothing_is_judged_before_a_period_is_over),
        cmocka_unit_test(test_slots_grow_step_by_step_while_the_budget_is_exceeded),
        cmocka_unit_test(test_the_length_settles),
        cmocka_unit_test(test_slots_shrink_back_when_there_is_room),
        cmocka_unit_test(test_what_a_change_costs_is_used_and_does_not_move_the_length),
        cmocka_unit_test(test_the_rest_of_the_budget_pays_for_changes),
        cmocka_unit_test(test_a_debt_is_paid_however_much_rotation_costs),
        cmocka_unit_test(test_rotation_and_changes_together_keep_to_the_budget),
        cmocka_unit_test(test_slots_shrink_only_when_nothing_is_owed),
        cmocka_unit_test(test_boxes_are_read_more_rarely_until_they_keep_to_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
