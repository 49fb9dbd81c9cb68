// SPDX-License-Identifier: Apache-2.0
//
// Numbers are compared with printf's "%.15g", which is slow but correct.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exporters/text/text.h"

static uint64_t random_next(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

static uint64_t new_seed(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    printf("seed %llu\n", (unsigned long long)seed);
    return seed;
}

static void assert_number(double value, const char *expected) {
    char out[TEXT_NUMBER_MAX + 1];
    size_t n = text_number(out, value);
    assert_true(n <= TEXT_NUMBER_MAX);
    out[n] = 0;
    assert_string_equal(out, expected);
}

static double parse(const char *digits, size_t n) {
    char copy[TEXT_NUMBER_MAX + 1];
    memcpy(copy, digits, n);
    copy[n] = 0;
    char *end;
    double value = strtod(copy, &end);
    assert_ptr_equal(end, copy + n);
    return value;
}

static double through_printf(double value) {
    char reference[64];
    snprintf(reference, sizeof(reference), "%.15g", value);
    return strtod(reference, NULL);
}

static void test_whole_numbers_are_written_in_full(void **state) {
    (void)state;
    assert_number(0, "0");
    assert_number(-0.0, "0");
    assert_number(7, "7");
    assert_number(10, "10");
    assert_number(-42, "-42");
    assert_number(100, "100");
    assert_number(123456789012345678.0, "123456789012345680"); // the double itself, exactly
    assert_number(9007199254740993.0, "9007199254740992");
    assert_number(18446744073709549568.0, "18446744073709549568"); // the largest double below 2^64
    assert_number(-18446744073709549568.0, "-18446744073709549568");
}

static void test_fractions_have_up_to_15_digits_and_no_zeros_at_the_end(void **state) {
    (void)state;
    assert_number(0.5, "0.5");
    assert_number(0.1, "0.1");
    assert_number(-0.25, "-0.25");
    assert_number(1.0 / 3, "0.333333333333333");
    assert_number(2.0 / 3, "0.666666666666667");
    assert_number(100.125, "100.125");
    assert_number(0.1 + 0.2, "0.3");
    assert_number(0.000012345, "0.000012345");
    assert_number(99999999999999.5, "99999999999999.5");
    assert_number(999999999999999.5, "1000000000000000"); // to even
    assert_number(0.99999999999999989, "1");
    assert_number(9.9999999999999982, "10");
    assert_number(1e-9, "0.000000001");
    assert_number(1.5e-12, "1.5e-12");
    assert_number(1e300, "1e+300");
    assert_number(DBL_MIN, "2.2250738585072e-308");
}

static void test_a_number_reads_back_as_what_printf_reads_back(void **state) {
    (void)state;
    uint64_t random = new_seed();
    for (int i = 0; i < 3000000; i++) {
        double mantissa = (double)(random_next(&random) >> 11) / 0x1p53 + 1;
        double value = ldexp(mantissa, (int)(random_next(&random) % 82) - 31); // 4.6e-10 to 1.1e15
        if (i % 4 == 0)
            value = rint(value * 1000) / 1000; // what people write
        if (i % 2)
            value = -value;
        char out[TEXT_NUMBER_MAX];
        size_t n = text_number(out, value);
        assert_true(n <= TEXT_NUMBER_MAX);
        double back = parse(out, n);
        bool whole = value == rint(value);
        double expected = whole ? value : fabs(value) >= 1e15 ? rint(value) : through_printf(value);
        if (back != expected)
            fail_msg("%.17g was written as %.*s", value, (int)n, out);
    }
}

static void test_any_finite_double_reads_back_within_15_digits(void **state) {
    (void)state;
    uint64_t random = new_seed();
    for (int i = 0; i < 1000000; i++) {
        uint64_t bits = random_next(&random);
        double value;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value) || fabs(value) < DBL_MIN)
            continue;
        char out[TEXT_NUMBER_MAX];
        size_t n = text_number(out, value);
        assert_true(n <= TEXT_NUMBER_MAX);
        if (fabs(parse(out, n) / value - 1) > 6e-15)
            fail_msg("%.17g was written as %.*s", value, (int)n, out);
    }
}

static void assert_order_kept(double small, double large) {
    char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
    size_t n_a = text_number(a, small), n_b = text_number(b, large);
    if (parse(a, n_a) > parse(b, n_b))
        fail_msg("%.17g < %.17g were written as %.*s, %.*s", small, large, (int)n_a, a, (int)n_b, b);
}

static void test_a_larger_number_never_reads_smaller(void **state) {
    (void)state;
    const double edges[] = {1e-9, 1e-5, 0.1, 1, 10, 1e14, 1e15, 0x1p53, 0x1p64};
    for (size_t e = 0; e < sizeof(edges) / sizeof(edges[0]); e++) {
        double value = edges[e];
        for (int i = 0; i < 2000; i++)
            value = nextafter(value, 0);
        for (int i = 0; i < 4000; i++) {
            double next = nextafter(value, INFINITY);
            assert_order_kept(value, next);
            value = next;
        }
    }
    uint64_t random = new_seed();
    for (int i = 0; i < 500000; i++) {
        double value = ldexp((double)(random_next(&random) >> 11), (int)(random_next(&random) % 120) - 90);
        assert_order_kept(value, nextafter(value, INFINITY));
    }
}

static void test_text_grows_and_keeps_what_it_had(void **state) {
    (void)state;
    struct text text = {0};
    text_append(&text, "", 0);
    for (int i = 0; i < 20000; i++)
        text_format(&text, "%05d", i);
    assert_false(text.failed);
    assert_int_equal(text.length, 100000);
    assert_memory_equal(text.data + 5 * 12345, "12345", 5);
    text_free(&text);
    assert_null(text.data);
}

static void test_a_text_that_cannot_grow_says_so_and_drops_the_rest(void **state) {
    (void)state;
    struct text text = {0};
    text_string(&text, "kept");
    assert_null(text_room(&text, SIZE_MAX - 16));
    assert_true(text.failed);
    text_string(&text, "dropped");
    assert_int_equal(text.length, 4);
    text_free(&text);
}

static void assert_escaped(const char *string, const char *expected) {
    const struct text_escape escapes[] = {{'<', "&lt;"}, {'\n', "\\n"}, {0, NULL}};
    struct text text = {0};
    text_escaped(&text, string, escapes);
    text_append(&text, "", 1);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

static void test_characters_are_escaped_and_what_is_no_utf8_is_replaced(void **state) {
    (void)state;
    assert_escaped("", "");
    assert_escaped("a<b\n", "a&lt;b\\n");
    assert_escaped("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80",
                   "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
    assert_escaped("\x80", "\xEF\xBF\xBD");                                 // a continuation alone
    assert_escaped("\xC3", "\xEF\xBF\xBD");                                 // cut off
    assert_escaped("\xC3<", "\xEF\xBF\xBD&lt;");                            // cut off before another character
    assert_escaped("\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD");                 // overlong
    assert_escaped("\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"); // a surrogate
    assert_escaped("\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"); // beyond U+10FFFF
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers_are_written_in_full),
        cmocka_unit_test(test_fractions_have_up_to_15_digits_and_no_zeros_at_the_end),
        cmocka_unit_test(test_a_number_reads_back_as_what_printf_reads_back),
        cmocka_unit_test(test_any_finite_double_reads_back_within_15_digits),
        cmocka_unit_test(test_a_larger_number_never_reads_smaller),
        cmocka_unit_test(test_text_grows_and_keeps_what_it_had),
        cmocka_unit_test(test_a_text_that_cannot_grow_says_so_and_drops_the_rest),
        cmocka_unit_test(test_characters_are_escaped_and_what_is_no_utf8_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
