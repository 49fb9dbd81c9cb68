// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf_log_check.h"

// Logs of perf with numbers and repetitions beyond what any run of it makes: they lose what cannot be, and nothing
// else.

static void append(char **text, const char *line, size_t times) {
    size_t length = *text ? strlen(*text) : 0, n = strlen(line);
    *text = realloc(*text, length + times * n + 1);
    assert_non_null(*text);
    for (size_t i = 0; i < times; i++)
        memcpy(*text + length + i * n, line, n);
    (*text)[length + times * n] = '\0';
}

// Of the first that were not counted, the next one takes the place; what stands behind the most that are read does not.
static void test_an_event_that_stands_too_often_is_read_as_often_as_can_be(void **state) {
    (void)state;
    char *text = NULL;
    append(&text, "1.0,1000,,r8,1,100.00,,\n", 1);
    append(&text, "1.0,<not counted>,,r11,0,0.00,,\n", PERF_LOG_REPEATS_MAX - 1);
    append(&text, "1.0,2000,,r11,1,100.00,,\n", 1);
    append(&text, "1.0,8000,,r11,1,100.00,,\n", 10);
    struct derived derived = derive_text(text, "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 0.5);
    derived_end(&derived);
    free(text);
}

// perf writes the time since its start: a line at 0 would be of an interval of no length.
static void test_a_line_at_time_0_is_left_out(void **state) {
    (void)state;
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(
        parse("0.000000000,7,,r11,1,100.00,,\n1.0,2000,,r11,1,100.00,,\n1.0,1000,,r8,1,100.00,,\n", &errors, &log), 0);
    assert_int_equal(log->n_skipped, 1);
    assert_int_equal(log->n_intervals, 1);
    struct derived derived = derive_log(log, "neoverse-v1");
    assert_int_equal(derived.n, 1);
    assert_close(value(&derived, 0, 0, "ipc"), 0.5);
    derived_end(&derived);
}

// The kernel's counts are of 64 bits.
static void test_a_count_of_more_than_64_bits_is_none(void **state) {
    static const struct {
        const char *count;
        size_t skipped;
    } cases[] = {{"17000000000000000000", 0}, {"18446744073709551616", 1}, {"99999999999999999999999", 1}};
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[256];
        struct errors errors = {0};
        struct perf_log *log;
        (void)snprintf(text, sizeof text, "1.0,%s,,r11,1,100.00,,\n1.0,1000,,r8,1,100.00,,\n", cases[i].count);
        assert_int_equal(parse(text, &errors, &log), 0);
        assert_int_equal(log->n_skipped, cases[i].skipped);
        assert_int_equal(log->n_rows, 2 - cases[i].skipped);
        perf_log_free(log);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_event_that_stands_too_often_is_read_as_often_as_can_be),
        cmocka_unit_test(test_a_line_at_time_0_is_left_out),
        cmocka_unit_test(test_a_count_of_more_than_64_bits_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
