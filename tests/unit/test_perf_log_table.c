// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf_log_check.h"

// Logs of perf stat without -I, which are one interval, and perf's table for people: real ones of perf 6.1 on a machine
// without a hardware PMU (*-6.1.*), and ones written in the ways of other versions and locales.

static uint64_t length_ns(const struct perf_log *log, size_t i) {
    return log->intervals[i].end_ns - (i > 0 ? log->intervals[i - 1].end_ns : 0);
}

// ---- real logs ----

static void test_a_real_table_is_one_interval_as_long_as_it_says(void **state) {
    (void)state;
    struct perf_log *log = load_log("table-6.1.txt");
    assert_int_equal(log->n_intervals, 1);
    assert_int_equal(log->n_rows, 3);
    assert_in_range(length_ns(log, 0), 500000000, 600000000);
    assert_string_equal(log->events[0], "context-switches");
    assert_string_equal(log->events[1], "task-clock");
    assert_in_range(log->rows[1].count, 900000000, 1300000000); // msec become ns
    assert_int_equal(log->rows[2].state, PERF_LOG_NOT_SUPPORTED);
    double rate = (double)log->rows[0].count / ((double)length_ns(log, 0) * 1e-9);
    struct derived derived = derive_log(log, "software");
    assert_close(value(&derived, 0, 0, "context_switches"), rate / 2); // of two CPUs, as its task-clock says
    assert_true(fabs(value(&derived, 0, 0, "context_switches") / 708.732 - 1) < 0.005); // what perf printed beside it
    derived_end(&derived);
}

static void test_a_real_table_of_intervals_and_cpus_is_read(void **state) {
    (void)state;
    struct perf_log *log = load_log("table-cpus-6.1.txt");
    assert_int_equal(log->n_intervals, 3); // 0.7 s in steps of 0.3
    assert_in_range(log->n_places, 2, 64);
    assert_string_equal(log->places[1], "CPU1");
    assert_int_equal(log->n_rows, 3 * 2 * log->n_places);
    assert_int_equal(log->n_skipped, 0);
    assert_in_range(length_ns(log, 0), 300000000, 310000000);
    perf_log_free(log);
}

// The time that a CPU's event was enabled is the time that perf counted.
static void test_real_logs_without_times_are_one_interval(void **state) {
    (void)state;
    static const char *const files[] = {"once-6.1.csv", "once-6.1.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct perf_log *log = load_log(files[i]);
        assert_int_equal(log->n_intervals, 1);
        assert_int_equal(log->n_events, 2);
        assert_in_range(length_ns(log, 0), 490000000, 520000000);
        assert_int_equal(log->n_skipped, 0);
        perf_log_free(log);
    }
}

// ---- how long it lasted ----

static uint64_t parsed_length_ns(const char *text) {
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(parse(text, &errors, &log), 0);
    assert_int_equal(log->n_intervals, 1);
    uint64_t length = log->intervals[0].end_ns;
    perf_log_free(log);
    return length;
}

static void test_the_length_is_the_duration_event_or_the_longest_time_that_an_event_was_enabled(void **state) {
    (void)state;
    assert_int_equal(parsed_length_ns("5,,cycles,4000,50.00,,\n700,ns,duration_time,700,100.00,,\n"), 700);
    assert_int_equal(parsed_length_ns("5,,cycles,4000,50.00,,\n7,,instructions,6000,100.00,,\n"), 8000);
    assert_int_equal(parsed_length_ns("S0,4,5,,cycles,4000,50.00,,\nS1,4,5,,cycles,4000,50.00,,\n"), 2000);
    assert_int_equal(parsed_length_ns("CPU0;5;;cycles;4000;100,00;;\nCPU1;5;;cycles;4000;100,00;;\n"), 4000);
    assert_int_equal(parsed_length_ns("2,50,msec,task-clock\n5,cycles\n"), 2500000); // an old perf, a decimal comma
}

static void test_a_log_that_does_not_say_how_long_it_is_is_refused_with_the_remedy(void **state) {
    (void)state;
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(parse("13,,cycles\n17,,instructions\n", &errors, &log), -EINVAL);
    assert_non_null(strstr(errors.items[0].text, "duration_time"));
}

// ---- tables ----

static void test_a_table_in_another_locale_gives_what_perf_printed_beside_it(void **state) {
    (void)state;
    struct perf_log *log = load_log("table.txt");
    assert_int_equal(log->intervals[0].end_ns, 2000100000);
    assert_int_equal(log->n_rows, 5);
    assert_true(log->rows[0].share == 0.5);
    assert_int_equal(log->rows[0].count, 4000000000);
    assert_int_equal(log->rows[4].count, 8000250000);
    struct derived derived = derive_log(log, "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 1.50);
    const struct plan_metric *metric = &derived.layout->plan->metrics[place_of(&derived, "ll_cache_read_mpki")];
    assert_int_equal(metric->unit, PLAN_NOT_PLANNABLE); // its event is not supported
    derived_end(&derived);
}

static void test_a_table_of_intervals_gives_what_perf_printed_beside_it(void **state) {
    (void)state;
    struct derived derived = derive_log(load_log("table-cpus.txt"), "neoverse-v1");
    assert_int_equal(derived.n, 2);
    assert_close(value(&derived, 0, cpu_scope(&derived, 0), "ipc"), 1.50);
    assert_close(value(&derived, 0, cpu_scope(&derived, 1), "ipc"), 0.50);
    assert_close(value(&derived, 1, cpu_scope(&derived, 0), "ipc"), 0.25);
    assert_true(isnan(value(&derived, 1, cpu_scope(&derived, 1), "ipc"))); // <not counted>
    derived_end(&derived);
}

static void test_a_table_of_an_old_perf_is_read(void **state) {
    (void)state;
    struct perf_log *log = load_log("table-old.txt");
    assert_string_equal(log->events[0], "task-clock");
    assert_int_equal(log->rows[0].count, 2000000);
    assert_true(fabs(log->rows[2].share - 0.6) < 1e-6);
    struct derived derived = derive_log(log, "skylake-sp");
    assert_close(value(&derived, 0, 0, "ipc"), 0.75);
    derived_end(&derived);
}

static void test_tables_that_follow_one_another_are_an_interval_each(void **state) {
    (void)state;
    struct perf_log *log = load_log("tables-appended.txt");
    assert_int_equal(log->n_intervals, 2);
    assert_int_equal(length_ns(log, 1), 3000000000);
    struct derived derived = derive_log(log, "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 1.50);
    assert_close(value(&derived, 1, 0, "ipc"), 0.25);
    derived_end(&derived);
}

static void test_what_is_neither_log_nor_table_is_called_so(void **state) {
    (void)state;
    static const char *const texts[] = {"a,b,c\n1,2,3\n", "0,0,ipc,4313599,6119561,1\n",
                                        " Performance counter stats for 'x':\n\n 1.0 seconds time elapsed\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct errors errors = {0};
        struct perf_log *log;
        assert_int_equal(parse(texts[i], &errors, &log), -EINVAL);
        assert_non_null(strstr(errors.items[0].text, "is neither a recording"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_real_table_is_one_interval_as_long_as_it_says),
        cmocka_unit_test(test_a_real_table_of_intervals_and_cpus_is_read),
        cmocka_unit_test(test_real_logs_without_times_are_one_interval),
        cmocka_unit_test(test_the_length_is_the_duration_event_or_the_longest_time_that_an_event_was_enabled),
        cmocka_unit_test(test_a_log_that_does_not_say_how_long_it_is_is_refused_with_the_remedy),
        cmocka_unit_test(test_a_table_in_another_locale_gives_what_perf_printed_beside_it),
        cmocka_unit_test(test_a_table_of_intervals_gives_what_perf_printed_beside_it),
        cmocka_unit_test(test_a_table_of_an_old_perf_is_read),
        cmocka_unit_test(test_tables_that_follow_one_another_are_an_interval_each),
        cmocka_unit_test(test_what_is_neither_log_nor_table_is_called_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
