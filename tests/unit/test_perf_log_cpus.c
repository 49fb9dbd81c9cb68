// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf_log_check.h"

#include "config/perf_log/perf_log_cpus.h"

// How many CPUs perf added up (perf stat -a without -A, --per-socket ...), and what is "per second and CPU" then. An
// event that is open on each of N CPUs has been enabled for N times the interval: running / share.

static unsigned cpus_each(const char *text) {
    struct errors errors = {0};
    struct perf_log *log;
    struct catalog *catalog = load_spec("software");
    assert_int_equal(parse(text, &errors, &log), 0);
    const struct perf_log_request request = {.name = "log", .log = log, .catalog = catalog};
    unsigned each = perf_log_cpus_each(&request);
    perf_log_free(log);
    catalog_free(catalog);
    return each;
}

static void test_the_number_of_cpus_follows_from_times_clocks_or_perfs_own_column(void **state) {
    (void)state;
    assert_int_equal(cpus_each("1.0,800,,context-switches,64000000000,100.00,,\n"), 64);
    assert_int_equal(cpus_each("1.0,800,,context-switches,32001000000,50.00,,\n"), 64);
    assert_int_equal(
        cpus_each(
            "1.0,800,,context-switches,0,100.00,,\n1.0,4002.11,msec,cpu-clock,4002110000,100.00,4.0,CPUs utilized\n"),
        4);
    assert_int_equal(cpus_each("          1,604,113      context-switches          #   40.0 K/sec\n"
                               "          32,001.17 msec cpu-clock                 #    4.000 CPUs utilized\n\n"
                               "       8.000301290 seconds time elapsed\n"),
                     4);
    assert_int_equal(cpus_each("     1.000000000 S0        4                800      context-switches\n"
                               "     1.000000000 S1        4                900      context-switches\n"),
                     4);
    assert_int_equal(
        cpus_each("1.0,CPU0,8,,context-switches,1000000000,100.00,,\n1.0,CPU1,8,,context-switches,1,100.00,,\n"), 1);
    assert_int_equal(
        cpus_each("1.0,8,,context-switches,999000000,100.00,,\n2.0,8,,context-switches,1001000000,100.00,,\n"), 1);
}

static void test_where_the_log_does_not_tell_the_number_is_unknown(void **state) {
    (void)state;
    assert_int_equal(cpus_each("     1.000000000              800      context-switches\n"), 0);
    assert_int_equal(cpus_each("1.0,800,context-switches\n"), 0);
    // lines of other PMUs, of time itself and without a count have numbers of their own
    assert_int_equal(cpus_each("1.0,S0,28,800,,context-switches,28000000000,100.00,,\n"
                               "1.0,S0,1,12.5,Joules,power/energy-pkg/,1000000000,100.00,,\n"
                               "1.0,S0,0,<not counted>,,page-faults,0,0.00,,\n"
                               "1.0,S0,1,1000000000,ns,duration_time,1000000000,100.00,,\n"),
                     28);
    assert_int_equal(cpus_each("1.0,S0,28,800,,context-switches,28000000000,100.00,,\n"
                               "1.0,S1,4,800,,context-switches,4000000000,100.00,,\n"),
                     0);
    assert_int_equal(cpus_each("1.0,800,,context-switches,2345678901,100.00,,\n"), 0); // tasks
    assert_int_equal(cpus_each("1.0,800,,context-switches,62500000000,100.00,,\n"), 0);
    assert_int_equal(
        cpus_each("1.0,8,,context-switches,2000000000,100.00,,\n2.0,8,,context-switches,3000000000,100.00,,\n"), 0);
    assert_int_equal(
        cpus_each(
            "1.0,S0,4,8,,context-switches,4000000000,100.00,,\n1.0,S1,2,8,,context-switches,2000000000,100.00,,\n"),
        0);
    assert_int_equal(cpus_each("1.0,800,,uncore_imc_0/cas_count_read/,1000000000,100.00,,\n"),
                     0); // of one CPU a socket
}

// Of --per-socket and of --per-node, which perf cannot mix.
static void test_sums_of_sockets_and_of_nodes_are_of_sockets_of_their_numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[256];
        struct errors errors = {0};
        struct perf_log *log;
        (void)snprintf(text, sizeof text,
                       "1.0,%c0,4,800,,context-switches,4000000000,100.00,,\n"
                       "1.0,%c1,4,900,,context-switches,4000000000,100.00,,\n",
                       "SN"[i], "SN"[i]);
        assert_int_equal(parse(text, &errors, &log), 0);
        struct derived derived = derive_log(log, "software");
        const struct topology *topology = derived.layout->topology;
        assert_int_equal(topology->n_sockets, 2);
        assert_int_equal(topology->sockets[0].id, 0);
        assert_int_equal(topology->sockets[1].id, 1);
        derived_end(&derived);
    }
}

static double rate_of(const char *text, double *total, double *seconds) {
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(parse(text, &errors, &log), 0);
    struct derived derived = derive_log(log, "software");
    size_t m = place_of(&derived, "context_switches");
    double rate = value(&derived, derived.n - 1, 0, "context_switches");
    *total = derived.rounds[derived.n - 1]->values[snapshot_numerator(derived.layout, 0, m)];
    *seconds = derived.rounds[derived.n - 1]->values[snapshot_denominator(derived.layout, 0, m)];
    derived_end(&derived);
    return rate;
}

static void test_a_sum_over_cpus_is_divided_by_their_number_and_its_counts_are_not(void **state) {
    (void)state;
    double total, seconds;
    assert_close(rate_of("1.0,800,,context-switches,64000000000,100.00,,\n"
                         "2.0,1600,,context-switches,64000000000,100.00,,\n",
                         &total, &seconds),
                 1600.0 / 64);
    assert_close(total, 2400);
    assert_close(seconds, 2 * 64); // so that the quotient of their rates is the same
    assert_close(rate_of("     1.000000000              800      context-switches\n"
                         "     2.000000000            1,600      context-switches\n",
                         &total, &seconds),
                 1600); // nobody knows of how many
    assert_close(seconds, 2);
}

static void test_what_adds_up_an_unknown_number_of_cpus_is_per_second(void **state) {
    (void)state;
    struct catalog *catalog = load_spec("software");
    char unit[CATALOG_UNIT_MAX];
    size_t n = 0;
    for (size_t m = 0; m < catalog->n_metrics; m++)
        n += strcmp(catalog->metrics[m].units, "per second and CPU") == 0;
    assert_true(n > 3);
    catalog_add_up(catalog);
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        catalog_metric_unit(&catalog->metrics[m], unit, sizeof unit);
        assert_null(strstr(unit, "CPU"));
        assert_null(strstr(catalog->metrics[m].help, "per second and CPU"));
        n -= strcmp(unit, "per second") == 0;
    }
    assert_int_equal(n, 0);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_number_of_cpus_follows_from_times_clocks_or_perfs_own_column),
        cmocka_unit_test(test_sums_of_sockets_and_of_nodes_are_of_sockets_of_their_numbers),
        cmocka_unit_test(test_where_the_log_does_not_tell_the_number_is_unknown),
        cmocka_unit_test(test_a_sum_over_cpus_is_divided_by_their_number_and_its_counts_are_not),
        cmocka_unit_test(test_what_adds_up_an_unknown_number_of_cpus_is_per_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
