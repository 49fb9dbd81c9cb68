// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/base/log_limit.h"

// Messages that repeat: which pass, and what is said of the others.

static const uint64_t SECOND = UINT64_C(1000000000);

static bool pass(struct log_limit *limit, uint64_t second, const char *text) {
    return log_limit_pass(limit, second * SECOND, text, strlen(text));
}

static void test_five_a_minute_pass_and_the_others_are_counted(void **state) {
    (void)state;
    struct log_limit limit = {0};
    char text[LOG_LIMIT_TEXT_MAX];
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(pass(&limit, 100 + i, "the disk is full\n"), i < LOG_LIMIT_BURST);
    assert_int_equal(log_limit_due_ns(&limit), 160 * SECOND);
    assert_int_equal(log_limit_take(&limit, 159 * SECOND, false, text), 0);
    assert_int_equal(log_limit_take(&limit, 160 * SECOND, false, text), 15);
    assert_string_equal(text, "the disk is full\n");
    assert_int_equal(log_limit_take(&limit, 160 * SECOND, false, text), 0);
    assert_true(log_limit_due_ns(&limit) == UINT64_MAX);
    assert_true(pass(&limit, 161, "the disk is full\n")); // a minute of its own
}

static void test_numbers_do_not_make_another_kind_and_names_do(void **state) {
    (void)state;
    struct log_limit limit = {0};
    char text[64];
    for (unsigned i = 0; i < 20; i++) {
        (void)snprintf(text, sizeof text, "process %u used %u.5 %%", 3 + i, 90 * i);
        assert_int_equal(pass(&limit, 1, text), i < LOG_LIMIT_BURST);
    }
    for (unsigned i = 0; i < 20; i++) {
        (void)snprintf(text, sizeof text, "metric l%ud_cache is not plannable", i);
        assert_true(pass(&limit, 1, text));
        (void)snprintf(text, sizeof text, "event group stage_%u starves", i);
        assert_true(pass(&limit, 1, text));
    }
}

static void test_a_kind_that_is_quiet_for_a_minute_begins_anew(void **state) {
    (void)state;
    struct log_limit limit = {0};
    for (unsigned minute = 0; minute < 10; minute++)
        for (unsigned i = 0; i < LOG_LIMIT_BURST; i++)
            assert_true(pass(&limit, 60 * minute, "again"));
    assert_true(log_limit_due_ns(&limit) == UINT64_MAX);
}

static void test_the_first_of_a_kind_passes_however_many_kinds_there_are(void **state) {
    (void)state;
    struct log_limit limit = {0};
    char text[64], taken[LOG_LIMIT_TEXT_MAX];
    unsigned held = 0;
    for (unsigned kind = 0; kind < 3 * LOG_LIMIT_KINDS; kind++)
        for (unsigned i = 0; i < 10; i++) {
            (void)snprintf(text, sizeof text, "kind_%u", kind);
            bool passed = pass(&limit, 1, text);
            assert_true(passed || i >= LOG_LIMIT_BURST);
            held += !passed;
        }
    assert_int_equal(held, LOG_LIMIT_KINDS * (10 - LOG_LIMIT_BURST)); // those without a place all pass
    for (unsigned n; (n = log_limit_take(&limit, 2 * SECOND, true, taken)) > 0; held -= n)
        assert_int_equal(n, 10 - LOG_LIMIT_BURST);
    assert_int_equal(held, 0);
}

static void test_a_long_message_is_cut_where_it_is_repeated(void **state) {
    (void)state;
    struct log_limit limit = {0};
    char longer[2 * LOG_LIMIT_TEXT_MAX], text[LOG_LIMIT_TEXT_MAX];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    for (unsigned i = 0; i < 7; i++)
        (void)pass(&limit, 1, longer);
    assert_int_equal(log_limit_take(&limit, 2 * SECOND, true, text), 2);
    assert_int_equal(strlen(text), LOG_LIMIT_TEXT_MAX - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_five_a_minute_pass_and_the_others_are_counted),
        cmocka_unit_test(test_numbers_do_not_make_another_kind_and_names_do),
        cmocka_unit_test(test_a_kind_that_is_quiet_for_a_minute_begins_anew),
        cmocka_unit_test(test_the_first_of_a_kind_passes_however_many_kinds_there_are),
        cmocka_unit_test(test_a_long_message_is_cut_where_it_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
