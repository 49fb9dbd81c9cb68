// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf_log_check.h"

#include "core/base/random.h"

// For how much of the time perf counted an event, and what that says of the values: perf takes turns with events that
// do not fit the counters together, scales the counts, and prints the share (print_running in the kernel's
// tools/perf/util/stat-display.c): always with -x and -j, in the table only where it is not all.

// ---- the share in the text ----

static double share_in(const char *text) {
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(parse(text, &errors, &log), 0);
    assert_int_equal(log->n_rows, 1);
    assert_int_equal(log->rows[0].count, 123456);
    double share = log->rows[0].share;
    perf_log_free(log);
    return share;
}

static void check_share(const char *text, double expected) {
    double share = share_in(text);
    if (!(fabs(share - expected) < 1e-7) && !(isnan(share) && isnan(expected)))
        fail_msg("%s: %g is not %g", text, share, expected);
}

static void test_the_share_is_read_in_every_way_of_perf(void **state) {
    (void)state;
    check_share("1.0,123456,,r11,166000000,16.60,,\n", 0.166);
    check_share("1.0,S0,4,123456,,r11,664000000,16.60,,\n", 0.166);
    check_share("1.0,CPU3,123456,,r11,166000000,16.60,0.40,insn per cycle\n", 0.166);
    check_share("1.0,123456,,r11,1.20%,166000000,16.60,,\n", 0.166); // repeated runs
    check_share("1.0;123456;;r11;166000000;16,60;;\n", 0.166);       // a locale's decimal comma ...
    check_share("1.0,123456,,r11,166000000,16,60,,\n", 0.166);       // ... which is the separator too
    check_share("1.0,123456,,r11,1000000000,100,00,,\n", 1);
    check_share("1.0,123456,,r11,1000000000,100.00,0.40,insn per cycle\n", 1);
    check_share("{\"interval\" : 1.0, \"counter-value\" : \"123456.0\", \"unit\" : \"\", \"event\" : \"r11\", "
                "\"event-runtime\" : 166000000, \"pcnt-running\" : 16.60}\n",
                0.166);
    check_share("     1.000000000            123,456      r11                            ( 16.60% )\n", 0.166);
    check_share("     1.000000000            123,456      r11     #  0.40  insn per cycle   (16.60%)\n", 0.166);
    check_share("     1.000000000            123.456      r11                            (16,60%)\n", 0.166);
    check_share("     1.000000000            123,456      r11      ( +-  1.20% )  [16.60%]\n", 0.166);
    check_share("     1.000000000            123,456      r11\n", 1); // the table says where it is less
}

static void test_a_share_that_the_log_does_not_say_is_unknown(void **state) {
    (void)state;
    check_share("1.0,123456,r11\n", NAN); // perf before 4.1
    check_share("1.0,123456,,r11\n", NAN);
    check_share("1.0,123456,,r11,166000000,nan,,\n", NAN);
    check_share("1.0,123456,,r11,166000000,-nan,,\n", NAN);
    check_share("1.0,123456,,r11,166000000,inf,,\n", NAN);
    check_share("1.0,123456,,r11,166000000,,,\n", NAN);
    check_share("{\"interval\" : 1.0, \"counter-value\" : \"123456.0\", \"event\" : \"r11\"}\n", NAN);
}

// perf prints two decimals: an event with a count ran, so 0.00 % is up to 0.005 %.
static void test_a_share_is_never_zero_nor_more_than_all(void **state) {
    (void)state;
    check_share("1.0,123456,,r11,10000,0.00,,\n", 0.00005);
    check_share("1.0,123456,,r11,10000,0,00,,\n", 0.00005);
    check_share("     1.000000000            123,456      r11                            (0.00%)\n", 0.00005);
    check_share("1.0,123456,,r11,1000000001,100.01,,\n", 1);
}

// ---- what it says of values ----

static double of_metric(const struct derived *derived, size_t round, const char *name,
                        size_t (*field)(const struct snapshot_layout *, size_t, size_t)) {
    return derived->rounds[round]->values[field(derived->layout, 0, place_of(derived, name))];
}

static double low_of(const struct derived *derived, size_t round, const char *name) {
    return of_metric(derived, round, name, snapshot_low);
}
static double high_of(const struct derived *derived, size_t round, const char *name) {
    return of_metric(derived, round, name, snapshot_high);
}
static double share_of_time(const struct derived *derived, size_t round, const char *name) {
    return of_metric(derived, round, name, snapshot_share_of_time);
}
static enum estimate_quality quality_of(const struct derived *derived, size_t round, const char *name) {
    return snapshot_quality(derived->rounds[round], snapshot_state(derived->layout, 0, place_of(derived, name)));
}

// Three intervals in which the IPC is 0.5, 0.25 and 0.4; `share` as perf writes it, "": an old perf.
static struct derived derive_changing(const char *share) {
    static const unsigned counts[3][2] = {{1000000, 500000}, {2000000, 500000}, {1500000, 600000}};
    char text[1024];
    size_t n = 0;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned e = 0; e < 2; e++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%u.000000000,%u,,%s%s%s%s\n", i + 1, counts[i][e],
                                  e == 0 ? "r11" : "r8", share[0] != '\0' ? ",166000000," : "", share,
                                  share[0] != '\0' ? ",," : "");
    return derive_text(text, "neoverse-v1");
}

static void test_a_multiplexed_log_has_intervals_from_how_its_intervals_differ(void **state) {
    (void)state;
    static const char *const shares[] = {"16.60", "50.00"};
    double errors[2];
    for (size_t i = 0; i < 2; i++) {
        struct derived derived = derive_changing(shares[i]);
        assert_close(value(&derived, 1, 0, "ipc"), 0.25); // what perf printed
        assert_true(fabs(share_of_time(&derived, 2, "ipc") - atof(shares[i]) / 100) < 1e-6);
        assert_int_equal(quality_of(&derived, 0, "ipc"), ESTIMATE_NONE);
        assert_true(isnan(high_of(&derived, 0, "ipc")));
        assert_true(low_of(&derived, 2, "ipc") < 0.4 && high_of(&derived, 2, "ipc") > 0.4);
        assert_int_not_equal(quality_of(&derived, 2, "ipc"), ESTIMATE_NONE);
        errors[i] = of_metric(&derived, 2, "ipc", snapshot_standard_error);
        derived_end(&derived);
    }
    assert_close(errors[0] / errors[1], sqrt((1 - 0.166) / (1 - 0.5))); // finite-population correction
}

static void test_a_window_of_a_log_ran_for_the_share_that_perf_printed(void **state) {
    (void)state;
    struct derived derived = derive_changing("16.60");
    const double *values = derived.rounds[2]->values;
    assert_true(values[snapshot_windows(derived.layout, 0, WINDOW_CONTENDED)] == 3);
    assert_true(fabs(values[snapshot_running(derived.layout, 0)] - 3 * 0.166) < 1e-6);
    assert_true(fabs(values[snapshot_enabled(derived.layout, 0)] - 3) < 1e-9);
    derived_end(&derived);
}

// A ratio is known as badly as the event of it that ran least.
static void test_events_that_took_turns_apart_count_with_the_smallest_share(void **state) {
    (void)state;
    struct derived derived = derive_text("1.0,1000000,,r11,1000000000,100.00,,\n1.0,500000,,r8,166000000,16.60,,\n"
                                         "2.0,1000000,,r11,1000000000,100.00,,\n2.0,400000,,r8,500000000,50.00,,\n",
                                         "neoverse-v1");
    assert_true(fabs(share_of_time(&derived, 0, "ipc") - 0.166) < 1e-6);
    assert_true(fabs(share_of_time(&derived, 1, "ipc") - 0.5) < 1e-6);
    assert_true(high_of(&derived, 1, "ipc") > 0.4);
    derived_end(&derived);
}

static void test_of_a_single_total_that_took_turns_nothing_tells_how_far_it_is_off(void **state) {
    (void)state;
    struct derived derived =
        derive_text("1000000,,r11,166000000,16.60,,\n500000,,r8,166000000,16.60,,\n", "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 0.5);
    assert_true(isnan(low_of(&derived, 0, "ipc")) && isnan(high_of(&derived, 0, "ipc")));
    assert_int_equal(quality_of(&derived, 0, "ipc"), ESTIMATE_NONE);
    derived_end(&derived);
}

// The turns are not drawn at random, so that intervals which are alike may be off alike.
static void test_intervals_that_are_alike_are_no_interval_of_width_zero(void **state) {
    (void)state;
    static const char text[] = "1.0,1000000,,r11,166000000,16.60,,\n1.0,500000,,r8,166000000,16.60,,\n"
                               "2.0,1000000,,r11,166000000,16.60,,\n2.0,500000,,r8,166000000,16.60,,\n"
                               "3.0,1000000,,r11,166000000,16.60,,\n3.0,500000,,r8,166000000,16.60,,\n";
    struct derived derived = derive_text(text, "neoverse-v1");
    for (size_t i = 0; i < 3; i++) {
        assert_close(value(&derived, i, 0, "ipc"), 0.5);
        assert_true(isnan(high_of(&derived, i, "ipc")));
        assert_int_equal(quality_of(&derived, i, "ipc"), ESTIMATE_NONE);
    }
    derived_end(&derived);
}

static void test_what_perf_counted_all_the_time_has_no_error_from_the_first_interval_on(void **state) {
    (void)state;
    static const char *const logs[] = {
        "1000000,,r11,1000000000,100.00,,\n500000,,r8,1000000000,100.00,,\n",
        "            1,000,000      r11\n              500,000      r8     #    0.50  insn per cycle\n\n"
        "       1.000000000 seconds time elapsed\n"};
    for (size_t i = 0; i < 2; i++) {
        struct derived derived = derive_text(logs[i], "neoverse-v1");
        assert_true(low_of(&derived, 0, "ipc") == 0.5 && high_of(&derived, 0, "ipc") == 0.5);
        assert_true(share_of_time(&derived, 0, "ipc") == 1);
        derived_end(&derived);
    }
    struct derived derived = derive_changing("100.00");
    for (size_t i = 0; i < 3; i++)
        assert_true(low_of(&derived, i, "ipc") == high_of(&derived, i, "ipc"));
    derived_end(&derived);
}

// Nothing is subtracted from the variance then: the interval is that of an event that hardly ran.
static void test_an_old_log_that_says_no_share_is_not_taken_for_exact(void **state) {
    (void)state;
    struct derived old = derive_changing(""), half = derive_changing("50.00");
    assert_close(value(&old, 2, 0, "ipc"), 0.4);
    assert_true(isnan(share_of_time(&old, 2, "ipc")));
    double ratio =
        of_metric(&old, 2, "ipc", snapshot_standard_error) / of_metric(&half, 2, "ipc", snapshot_standard_error);
    assert_true(fabs(ratio - sqrt(2)) < 1e-6);
    derived_end(&half);
    derived_end(&old);
}

// The kernel counts a software event in a group of hardware events only while that group has its turn.
static void test_a_software_event_that_took_turns_is_not_exact(void **state) {
    (void)state;
    struct derived derived = derive_text("1.0,300,,context-switches,166000000,16.60,,\n", "software");
    assert_close(value(&derived, 0, 0, "context_switches"), 300);
    assert_true(isnan(high_of(&derived, 0, "context_switches")));
    derived_end(&derived);
    derived = derive_text("1.0,300,,context-switches,1000000000,100.00,,\n", "software");
    assert_true(high_of(&derived, 0, "context_switches") == low_of(&derived, 0, "context_switches"));
    derived_end(&derived);
}

// ---- any share, any way of writing it ----

enum { TRIALS = 300 };

static size_t write_share(uint64_t *random, unsigned hundredths, char *out, size_t size) {
    static const char *const odd[] = {"nan", "-nan", "inf", "", "0.00", "0,00", "100.00", "1e2", "-5.00"};
    if (random_below(random, 4) == 0)
        return (size_t)snprintf(out, size, "%s", odd[random_below(random, sizeof odd / sizeof *odd)]);
    return (size_t)snprintf(out, size, "%u%c%02u", hundredths / 100, random_below(random, 2) == 0 ? '.' : ',',
                            hundredths % 100);
}

static void test_no_share_makes_a_value_other_than_what_perf_printed(void **state) {
    (void)state;
    uint64_t seed = 20261128, random = seed;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int trial = 0; trial < TRIALS; trial++) {
        char text[512], share[16];
        char comma = random_below(&random, 2) == 0 ? ',' : ';';
        unsigned cycles = 1 + (unsigned)random_below(&random, 1000000), inst = (unsigned)random_below(&random, 1000000);
        (void)write_share(&random, (unsigned)random_below(&random, 10001), share, sizeof share);
        (void)snprintf(text, sizeof text, "1.0%c%u%c%cr11%c9%c%s%c%c\n1.0%c%u%c%cr8%c9%c%s%c%c\n", comma, cycles, comma,
                       comma, comma, comma, share, comma, comma, comma, inst, comma, comma, comma, comma, share, comma,
                       comma);
        struct derived derived = derive_text(text, "neoverse-v1");
        double time = share_of_time(&derived, 0, "ipc"),
               width = high_of(&derived, 0, "ipc") - low_of(&derived, 0, "ipc");
        if (inst > 0)
            assert_close(value(&derived, 0, 0, "ipc"), (double)inst / cycles);
        if (!(isnan(time) || (time > 0 && time <= 1)) || (width == 0) != (inst > 0 && time >= 0.99995))
            fail_msg("%s: %g of the time, width %g", text, time, width);
        derived_end(&derived);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_share_is_read_in_every_way_of_perf),
        cmocka_unit_test(test_a_share_that_the_log_does_not_say_is_unknown),
        cmocka_unit_test(test_a_share_is_never_zero_nor_more_than_all),
        cmocka_unit_test(test_a_multiplexed_log_has_intervals_from_how_its_intervals_differ),
        cmocka_unit_test(test_a_window_of_a_log_ran_for_the_share_that_perf_printed),
        cmocka_unit_test(test_events_that_took_turns_apart_count_with_the_smallest_share),
        cmocka_unit_test(test_of_a_single_total_that_took_turns_nothing_tells_how_far_it_is_off),
        cmocka_unit_test(test_intervals_that_are_alike_are_no_interval_of_width_zero),
        cmocka_unit_test(test_what_perf_counted_all_the_time_has_no_error_from_the_first_interval_on),
        cmocka_unit_test(test_an_old_log_that_says_no_share_is_not_taken_for_exact),
        cmocka_unit_test(test_a_software_event_that_took_turns_is_not_exact),
        cmocka_unit_test(test_no_share_makes_a_value_other_than_what_perf_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
