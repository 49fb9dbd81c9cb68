// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/base/alarm.h"

// Rounds of 2 s and a threshold of 100: five of them make a change.

static bool round_of(struct alarm *alarm, double rate) { return alarm_update(alarm, rate, 100, 2); }

static void raise_alarm(struct alarm *alarm) {
    for (int i = 0; i < 4; i++)
        assert_false(round_of(alarm, 150));
    assert_false(alarm->on);
    assert_true(round_of(alarm, 150));
    assert_true(alarm->on);
}

static void test_a_rate_must_be_above_for_a_while(void **state) {
    (void)state;
    struct alarm alarm = {0};
    for (int i = 0; i < 100; i++)
        assert_false(round_of(&alarm, i % 4 < 3 ? 1000 : 100)); // 6 s at a time
    raise_alarm(&alarm);
    for (int i = 0; i < 100; i++)
        assert_false(round_of(&alarm, 150)); // said once
}

static void test_it_is_over_when_the_rate_is_well_below_for_a_while(void **state) {
    (void)state;
    struct alarm alarm = {0};
    raise_alarm(&alarm);
    for (int i = 0; i < 100; i++)
        assert_false(round_of(&alarm, i % 2 ? 50 : 101)); // about the threshold
    for (int i = 0; i < 4; i++)
        assert_false(round_of(&alarm, 49));
    assert_false(round_of(&alarm, 50)); // a break
    for (int i = 0; i < 4; i++)
        assert_false(round_of(&alarm, 0));
    assert_true(round_of(&alarm, 49));
    assert_false(alarm.on);
    raise_alarm(&alarm);
}

static void test_a_round_without_a_rate_changes_nothing(void **state) {
    (void)state;
    struct alarm alarm = {0};
    for (int i = 0; i < 4; i++) {
        assert_false(round_of(&alarm, 150));
        assert_false(round_of(&alarm, NAN));
    }
    assert_true(round_of(&alarm, 150));
    for (int i = 0; i < 100; i++)
        assert_false(round_of(&alarm, NAN));
    assert_true(alarm.on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rate_must_be_above_for_a_while),
        cmocka_unit_test(test_it_is_over_when_the_rate_is_well_below_for_a_while),
        cmocka_unit_test(test_a_round_without_a_rate_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
