// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/run/mark_limit.h"

static const uint64_t START_NS = UINT64_C(1000000000000);

static void test_some_are_allowed_at_once_and_then_one_each_time(void **state) {
    (void)state;
    struct mark_limit limit = {0};
    uint64_t now_ns = START_NS;
    for (int i = 0; i < MARK_LIMIT_BURST; i++)
        assert_true(mark_limit_take(&limit, now_ns));
    assert_false(mark_limit_take(&limit, now_ns));
    assert_false(mark_limit_take(&limit, now_ns + MARK_LIMIT_NS - 1));
    for (int i = 0; i < 20; i++) {
        now_ns += MARK_LIMIT_NS;
        assert_true(mark_limit_take(&limit, now_ns));
        assert_false(mark_limit_take(&limit, now_ns));
    }
    now_ns += MARK_LIMIT_BURST * MARK_LIMIT_NS; // after a while it is as at the beginning
    for (int i = 0; i < MARK_LIMIT_BURST; i++)
        assert_true(mark_limit_take(&limit, now_ns));
    assert_false(mark_limit_take(&limit, now_ns));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_some_are_allowed_at_once_and_then_one_each_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
