// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "core/base/random.h"
#include "core/counts/carries.h"

// Counters of differences of counts.

static void test_an_amount_below_zero_is_owed_and_paid_back(void **state) {
    (void)state;
    struct carry carry = {0};
    assert_true(carry_take(&carry, 10) == 10);
    assert_true(carry_take(&carry, -4) == 0);
    assert_true(carry_take(&carry, -1) == 0);
    assert_true(carry.owed == -5);
    assert_true(carry_take(&carry, 3) == 0);
    assert_true(carry_take(&carry, 6) == 4); // 10 - 4 - 1 + 3 + 6 = 10 + 4
    assert_true(carry.owed == 0);
}

static void test_noise_builds_up_no_bias(void **state) {
    (void)state;
    uint64_t random = 7;
    struct carry carry = {0};
    double counter = 0, truth = 0;
    for (int i = 0; i < 100000; i++) { // 1 on average, 100 times as much noise
        double amount = 1 + 200 * ((double)random_below(&random, 1000001) / 1e6 - 0.5);
        double increase = carry_take(&carry, amount);
        assert_true(increase >= 0);
        counter += increase;
        truth += amount;
    }
    assert_true(counter + carry.owed - truth < 1e-6 * truth);
    assert_true(counter - truth <= CARRY_DEBT_MAX * carry.largest);
}

static void test_a_debt_has_a_limit(void **state) {
    (void)state;
    struct carry carry = {0};
    for (int i = 0; i < 1000; i++)
        assert_true(carry_take(&carry, -1) == 0);
    assert_true(carry.owed == -CARRY_DEBT_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_amount_below_zero_is_owed_and_paid_back),
        cmocka_unit_test(test_noise_builds_up_no_bias),
        cmocka_unit_test(test_a_debt_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
