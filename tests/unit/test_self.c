// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "daemon/base/self.h"

// The daemon's report of its own cost, with the test's clocks.

static const uint64_t MS = 1000000, SECOND = 1000000000;

struct hands {
    uint64_t now_ns, cpu_ns;
};

static uint64_t hands_now_ns(const void *context) { return ((const struct hands *)context)->now_ns; }
static uint64_t hands_cpu_ns(const void *context) { return ((const struct hands *)context)->cpu_ns; }
static double hands_realtime(const void *context) {
    (void)context;
    return 1.7e9;
}

struct cost {
    struct hands hands;
    struct clocks clocks;
    struct self self;
};

static void begin(struct cost *cost, size_t n_cpus) {
    *cost = (struct cost){.hands = {.now_ns = 500 * SECOND, .cpu_ns = 3 * SECOND}};
    cost->clocks = (struct clocks){hands_now_ns, hands_cpu_ns, hands_realtime, &cost->hands};
    self_init(&cost->self, &cost->clocks, n_cpus, cost->hands.now_ns);
}

// A step that takes so long, and so much CPU time.
static void step(struct cost *cost, uint64_t took_ns, uint64_t cpu_ns, uint64_t calls, uint64_t interrupts) {
    self_step_begin(&cost->self);
    cost->hands.now_ns += took_ns;
    cost->hands.cpu_ns += cpu_ns;
    self_step_end(&cost->self, calls, interrupts);
}

static void assert_seconds(double value, double wanted) {
    if (fabs(value - wanted) > 1e-12)
        fail_msg("%.12g s, not %.12g s", value, wanted);
}

static void test_cpu_time_is_collected_and_the_time_between_steps_is_not(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    step(&cost, 9 * MS, 2 * MS, 10, 0);
    cost.hands.cpu_ns += 700 * MS; // something else of the daemon
    step(&cost, 9 * MS, 3 * MS, 10, 0);
    assert_seconds(cost.self.status.cost.collection_seconds, 0.005);
    assert_seconds(cost.self.status.rotations.seconds, 0.018);
    assert_true(cost.self.status.rotations.n == 2 && cost.self.status.cost.calls == 20);
}

// What was looked at and not due has cost something, and is no rotation.
static void test_a_step_without_calls_costs_and_is_no_rotation(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    step(&cost, 2 * MS, MS, 0, 0);
    assert_seconds(cost.self.status.cost.collection_seconds, 0.001);
    assert_seconds(cost.self.status.cost.interrupt_seconds, 0);
    assert_true(cost.self.status.rotations.n == 0 && cost.self.status.rotations.seconds == 0 &&
                cost.self.status.rotations.within[STATUS_BUCKETS_N - 1] == 0);
}

// Each interrupt costs its CPU what a call cost here: of 6 ms for 3 calls, 2 ms for each of 2 interrupts.
static void test_interrupts_cost_other_cpus_as_much_as_a_call_costs_here(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    step(&cost, 60 * MS, 6 * MS, 3, 2);
    assert_seconds(cost.self.status.cost.interrupt_seconds, 0.004);
    step(&cost, 60 * MS, 5 * MS, 10, 10);
    assert_seconds(cost.self.status.cost.interrupt_seconds, 0.009);
    assert_true(cost.self.status.cost.interrupts == 12 && cost.self.status.cost.calls == 13);
    assert_seconds(cost.self.status.cost.collection_seconds, 0.011);
}

// 1 ms a second is allowed on 8 CPUs: 40 ms in 40 s. Own cost 25 ms, interrupts as much again.
static void test_the_budget_is_charged_with_both(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    for (int i = 0; i < 20; i++)
        step(&cost, MS, 1250000, 4, 4);
    assert_true(self_follow_budget(&cost.self, 540 * SECOND));
    assert_seconds(cost.self.budget.used, 1.25);
    assert_true(cost.self.budget.factor == 1.5);
    assert_false(self_follow_budget(&cost.self, 540 * SECOND)); // a period begins
}

static void test_the_own_cost_alone_is_charged_where_nobody_is_interrupted(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    for (int i = 0; i < 20; i++)
        step(&cost, MS, 1250000, 4, 0);
    assert_false(self_follow_budget(&cost.self, 540 * SECOND));
    assert_seconds(cost.self.budget.used, 0.625);
    for (int i = 0; i < 20; i++)
        step(&cost, MS, 2500000, 0, 0); // not due, and yet not free
    assert_true(self_follow_budget(&cost.self, 580 * SECOND));
    assert_seconds(cost.self.budget.used, 1.25);
}

static void test_rotations_are_in_the_buckets_of_their_duration(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    for (size_t i = 0; i < STATUS_BUCKETS_N; i++)
        step(&cost, (uint64_t)(status_rotation_bounds[i] * 1e9 * 0.99), MS, 1, 1);
    for (size_t i = 0; i < STATUS_BUCKETS_N; i++)
        assert_true(cost.self.status.rotations.within[i] == i + 1);
}

// Slots grow for what comes back with every round. What a call has waited once, for a CPU that went offline or that a
// hypervisor had stopped, is a debt.
static void test_a_step_that_takes_unusually_long_once_does_not_lengthen_slots(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    for (int i = 0; i < 200; i++)
        step(&cost, MS, i == 100 ? 80 * MS : MS / 20, 10, 10);
    assert_seconds(cost.self.status.cost.interrupt_seconds, 199 * 50e-6 + 16 * 50e-6);
    assert_seconds(cost.self.status.cost.collection_seconds, 199 * 50e-6 + 0.08);
    assert_false(self_follow_budget(&cost.self, 540 * SECOND));
    assert_true(cost.self.budget.factor == 1 && cost.self.budget.rotation < 0.9 && cost.self.budget.used > 2);
    assert_false(self_may_change(&cost.self, 540 * SECOND));
    assert_true(self_may_change(&cost.self, 700 * SECOND));
}

// If all steps take long from now on, they soon count in full.
static void test_steps_that_go_on_taking_long_do(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    for (int i = 0; i < 150; i++)
        step(&cost, MS, i < 100 ? MS / 1000 : MS, 10, 10);
    assert_true(self_follow_budget(&cost.self, 540 * SECOND));
    assert_true(cost.self.budget.factor == 1.5);
}

// A process that is stopped in the middle of a step uses no CPU time.
static void test_a_stop_of_the_process_costs_nothing(void **state) {
    (void)state;
    struct cost cost;
    begin(&cost, 8);
    for (int i = 0; i < 100; i++)
        step(&cost, i == 50 ? 25 * SECOND : MS, MS / 20, 10, 10);
    assert_seconds(cost.self.status.cost.collection_seconds, 0.005);
    assert_seconds(cost.self.status.cost.interrupt_seconds, 0.005);
    assert_false(self_follow_budget(&cost.self, 540 * SECOND));
    assert_seconds(cost.self.budget.used, 0.25);
    assert_true(self_may_change(&cost.self, 540 * SECOND));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_time_is_collected_and_the_time_between_steps_is_not),
        cmocka_unit_test(test_a_step_without_calls_costs_and_is_no_rotation),
        cmocka_unit_test(test_interrupts_cost_other_cpus_as_much_as_a_call_costs_here),
        cmocka_unit_test(test_the_budget_is_charged_with_both),
        cmocka_unit_test(test_the_own_cost_alone_is_charged_where_nobody_is_interrupted),
        cmocka_unit_test(test_rotations_are_in_the_buckets_of_their_duration),
        cmocka_unit_test(test_a_step_that_takes_unusually_long_once_does_not_lengthen_slots),
        cmocka_unit_test(test_steps_that_go_on_taking_long_do),
        cmocka_unit_test(test_a_stop_of_the_process_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
