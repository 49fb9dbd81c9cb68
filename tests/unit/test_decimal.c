// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "core/base/decimal.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

static void test_a_number_is_read_up_to_what_is_none(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        const char *rest;
    } cases[] = {{"0", 0, ""},
                 {"007", 7, ""},
                 {"0.1", 0.1, ""},
                 {"12.5%", 12.5, "%"},
                 {"3 4", 3, " 4"},
                 {"1e3", 1, "e3"},
                 {"1.2.3", 1.2, ".3"},
                 {"999999999999999", 999999999999999, ""},
                 {"0.00000000000001", 0.00000000000001, ""}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const char *text = cases[i].text;
        struct decimal number;
        assert_true(decimal_read(&text, &number));
        assert_true(decimal_value(number) == cases[i].value);
        assert_string_equal(text, cases[i].rest);
    }
}

static void test_what_is_no_number_leaves_everything_alone(void **state) {
    (void)state;
    static const char *const words[] = {"", ".", ".5", "5.", "5.s", "-1", "+1", " 1", "inf", "1000000000000000"};
    for (size_t i = 0; i < N_OF(words); i++) {
        const char *text = words[i];
        struct decimal number = {.digits = 42, .places = 7};
        assert_false(decimal_read(&text, &number));
        assert_ptr_equal(text, words[i]);
        assert_true(number.digits == 42 && number.places == 7);
    }
}

static void test_a_duration_has_a_number_and_a_unit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double ns;
    } cases[] = {{"200ms", 200e6}, {"12.5ms", 12.5e6}, {"1s", 1e9}, {"0.25s", 0.25e9}, {"60s", 60e9},  {"1.5m", 90e9},
                 {"1h", 3600e9},   {"0.5h", 1800e9},   {"0s", 0},   {"0.1s", 100e6},   {"0.01s", 10e6}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        double ns = -1;
        assert_int_equal(decimal_read_duration(cases[i].text, &ns), 0);
        assert_true(ns == cases[i].ns);
    }
}

static void test_what_is_no_duration_says_whether_the_unit_is_missing(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "s", "1 s", "1S", "5d", "1ss", "1hour", "-1s", "1e3s", "1.s", "forever"};
    double ns = 42;
    for (size_t i = 0; i < N_OF(wrong); i++)
        assert_int_equal(decimal_read_duration(wrong[i], &ns), -EINVAL);
    assert_int_equal(decimal_read_duration("60", &ns), -EDOM);
    assert_int_equal(decimal_read_duration("0.5", &ns), -EDOM);
    assert_true(ns == 42);
}

static void test_a_size_has_a_number_and_m_or_g(void **state) {
    (void)state;
    double bytes = -1;
    assert_int_equal(decimal_read_size("256M", &bytes), 0);
    assert_true(bytes == 268435456);
    assert_int_equal(decimal_read_size("0.5G", &bytes), 0);
    assert_true(bytes == 536870912);
    static const char *const words[] = {"", "M", "256", "256MB", "256m", "256 M", "1T", "-1M"};
    for (size_t i = 0; i < N_OF(words); i++) {
        assert_int_equal(decimal_read_size(words[i], &bytes), -EINVAL);
        assert_true(bytes == 536870912);
    }
}

static void test_a_size_is_written_in_the_unit_that_leaves_few_digits(void **state) {
    (void)state;
    char text[DECIMAL_SIZE_MAX];
    assert_string_equal(decimal_write_size(0, text), "0 bytes");
    assert_string_equal(decimal_write_size(1023, text), "1023 bytes");
    assert_string_equal(decimal_write_size(24576, text), "24 KiB");
    assert_string_equal(decimal_write_size(44040192, text), "42 MiB");
    assert_string_equal(decimal_write_size(5e18, text), "4.547e+06 TiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_number_is_read_up_to_what_is_none),
        cmocka_unit_test(test_what_is_no_number_leaves_everything_alone),
        cmocka_unit_test(test_a_duration_has_a_number_and_a_unit),
        cmocka_unit_test(test_what_is_no_duration_says_whether_the_unit_is_missing),
        cmocka_unit_test(test_a_size_has_a_number_and_m_or_g),
        cmocka_unit_test(test_a_size_is_written_in_the_unit_that_leaves_few_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
