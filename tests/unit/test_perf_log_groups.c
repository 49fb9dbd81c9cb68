// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf_log_check.h"

#include "config/perf_log/perf_log_columns.h"

// What of a log belongs together: events that stand several times, in several event groups; events of one core type;
// and what can be derived of a group that is not there as a whole.

static const char *const LKP = "../shared/telemetry/recorded/lkp-tests";

// ---- events that stand several times ----

// The groups of a log with one interval, as a text: "0 0 1 1".
static void check_groups(const char *text, const char *expected) {
    struct errors errors = {0};
    struct perf_log *log;
    char groups[256];
    size_t length = 0;
    assert_int_equal(parse(text, &errors, &log), 0);
    for (size_t c = 0; c < log->n_columns; c++)
        length +=
            (size_t)snprintf(groups + length, sizeof groups - length, "%s%u", c > 0 ? " " : "", log->columns[c].group);
    assert_string_equal(groups, expected);
    perf_log_free(log);
}

static void test_a_group_is_what_ran_equally_long_or_what_an_event_that_repeats_begins_or_ends(void **state) {
    (void)state;
    check_groups("1.0,1,,cycles,7,50.00,,\n1.0,1,,a,7,50.00,,\n1.0,1,,b,8,50.00,,\n1.0,1,,cycles,8,50.00,,\n",
                 "0 0 1 1");
    check_groups("1.0,1,cycles\n1.0,1,a\n1.0,1,cycles\n1.0,1,b\n1.0,1,cycles\n1.0,1,c\n", "0 0 1 1 2 2");
    check_groups("1.0,1,cycles\n1.0,1,inst\n1.0,1,a\n1.0,1,cycles\n1.0,1,inst\n1.0,1,b\n", "0 0 0 1 1 1");
    struct errors errors = {0}; // the repeated event stands last: groups are numbered from the end
    struct perf_log *log;
    assert_int_equal(parse("1.0,1,a\n1.0,1,cycles\n1.0,1,b\n1.0,1,cycles\n", &errors, &log), 0);
    assert_int_equal(log->n_columns, 4);
    assert_int_equal(log->n_events, 3);
    assert_true(log->columns[0].group == log->columns[1].group && log->columns[2].group == log->columns[3].group);
    assert_true(log->columns[1].group != log->columns[2].group);
    assert_int_equal(log->columns[3].nth, 1);
    perf_log_free(log);
}

// Front-end stalls are 30 of the 100 cycles of their own window. Over the first cycles in the log they would be 60 %.
static void test_a_ratio_takes_the_counts_of_its_own_group(void **state) {
    (void)state;
    static const char timed[] = "1.0,50,,r11,9,30.00,,\n1.0,20,,r8,9,30.00,,\n1.0,100,,r11,8,30.00,,\n"
                                "1.0,30,,r23,8,30.00,,\n1.0,200,,r11,7,30.00,,\n1.0,10,,r24,7,30.00,,\n";
    static const char *const logs[] = {timed,
                                       "1.0,50,r11\n1.0,20,r8\n1.0,100,r11\n1.0,30,r23\n1.0,200,r11\n1.0,10,r24\n",
                                       "1.0,20,r8\n1.0,50,r11\n1.0,30,r23\n1.0,100,r11\n1.0,10,r24\n1.0,200,r11\n"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct derived derived = derive_text(logs[i], "neoverse-v1");
        assert_close(value(&derived, 0, 0, "ipc"), 0.4);
        assert_close(value(&derived, 0, 0, "frontend_stalled_cycles"), 30);
        assert_close(value(&derived, 0, 0, "backend_stalled_cycles"), 5);
        derived_end(&derived);
    }
}

static void test_a_group_that_was_not_counted_gives_way_to_the_next_with_the_same_events(void **state) {
    (void)state;
    struct derived derived = derive_text("1.0,<not counted>,,r11,0,0.00,,\n1.0,<not counted>,,r8,0,0.00,,\n"
                                         "1.0,100,,r11,8,30.00,,\n1.0,50,,r8,8,30.00,,\n1.0,9,,r23,8,30.00,,\n"
                                         "2.0,100,,r11,9,30.00,,\n2.0,20,,r8,9,30.00,,\n"
                                         "2.0,100,,r11,8,30.00,,\n2.0,60,,r8,8,30.00,,\n2.0,9,,r23,8,30.00,,\n",
                                         "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 0.5);
    assert_close(value(&derived, 1, 0, "ipc"), 0.2);
    derived_end(&derived);
}

static void test_counts_of_user_code_are_not_divided_by_those_of_all_code(void **state) {
    (void)state;
    struct derived derived =
        derive_text("1.0,100,,r11:k,9,100.00,,\n1.0,400,,r11:u,8,100.00,,\n1.0,200,,r8:u,7,100.00,,\n", "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 0.5);
    derived_end(&derived);
}

// ---- a group that is not there as a whole ----

// perf stat -M PipelineL2 counts all of level 1 except what a sibling took. Each slot of a thread that dispatches
// nothing is the front end's, the back end's or the sibling's (AMD's PPR, PMCx1A0). So the core's slots are those that
// dispatched and those that the thread left empty, 6000 + 1200 + 1800.
static void test_of_a_level_with_an_event_missing_the_rest_is_derived(void **state) {
    (void)state;
    struct derived derived = derive_log(load_log("pipeline-l2.csv"), "zen4");
    static const struct {
        const char *name;
        double value;
    } values[] = {{"frontend_bound", 1200.0 / 6000},
                  {"backend_bound", 1800.0 / 6000},
                  {"bad_speculation", 1200.0 / 12000},
                  {"retiring", 4800.0 / 12000},
                  {"frontend_bound_latency", 600.0 / 6000},
                  {"frontend_bound_bandwidth", 600.0 / 6000},
                  {"bad_speculation_mispredicts", 0.1 * 30 / 40},
                  {"bad_speculation_pipeline_restarts", 0.1 * 10 / 40},
                  {"backend_bound_memory", 0.3 * 0.75},
                  {"backend_bound_cpu", 0.3 * 0.25},
                  {"retiring_fastpath", 0.4 * 0.8},
                  {"retiring_microcode", 0.4 * 0.2},
                  {"core_frontend_bound", 1200.0 / 9000},
                  {"core_backend_bound", 1800.0 / 9000},
                  {"core_bad_speculation", 1200.0 / 9000},
                  {"core_retiring", 4800.0 / 9000},
                  {"core_retiring_microcode", 4800.0 / 9000 * 0.2}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_close(value(&derived, 0, 0, values[i].name), values[i].value);
    const struct plan *plan = derived.layout->plan;
    const struct plan_metric *contention = &plan->metrics[place_of(&derived, "smt_contention")];
    assert_int_equal(contention->unit, PLAN_NOT_PLANNABLE);
    assert_non_null(strstr(contention->reason, "de_no_dispatch_per_slot.smt_contention is not in the log"));
    const double *totals = derived.rounds[0]->values; // the split of the core's slots
    size_t retiring = snapshot_category_of(derived.layout, place_of(&derived, "core_retiring"));
    assert_close(totals[snapshot_pipeline_slots(derived.layout, 0)], 9000);
    assert_close(totals[snapshot_category(derived.layout, 0, retiring)], 4800);
    assert_true(isnan(totals[snapshot_contention(derived.layout, 0)])); // which nobody counted
    derived_end(&derived);
}

// Of two threads that always run, each loses slots to the other: with the event and without it the core is the same.
static void test_level_1_of_a_core_is_the_same_without_the_event_that_follows_from_the_others(void **state) {
    (void)state;
    static const char *const specs[] = {"zen4", "zen5"};
    static const char rest[] = "1.0,1000,,ls_not_halted_cyc,9,100.00,,\n"
                               "1.0,%u,,de_no_dispatch_per_slot.no_ops_from_frontend,9,100.00,,\n"
                               "1.0,%u,,de_no_dispatch_per_slot.backend_stalls,9,100.00,,\n"
                               "1.0,%u,,de_src_op_disp.all,9,100.00,,\n1.0,%u,,ex_ret_ops,9,100.00,,\n";
    static const char *const names[] = {"core_frontend_bound", "core_backend_bound", "core_bad_speculation",
                                        "core_retiring"};
    for (unsigned s = 0; s < 2; s++) {
        unsigned all = s == 0 ? 6000 : 8000;
        char text[1024];
        int n = snprintf(text, sizeof text, rest, 700U, 900U, 2500U, 2300U);
        struct derived without = derive_text(text, specs[s]);
        (void)snprintf(text + n, sizeof text - (size_t)n, "1.0,%u,,de_no_dispatch_per_slot.smt_contention,9,100.00,,\n",
                       all - 700 - 900 - 2500);
        struct derived with = derive_text(text, specs[s]);
        for (size_t i = 0; i < 4; i++)
            assert_close(value(&without, 0, 0, names[i]), value(&with, 0, 0, names[i]));
        assert_close(value(&with, 0, 0, "core_retiring"), 2300.0 / 4100);
        derived_end(&with);
        derived_end(&without);
    }
}

// perf counted the cycles while less was done than in the rest: the core's slots are still those that are accounted
// for.
static void test_level_1_of_a_core_adds_up_where_perf_counted_its_events_at_different_times(void **state) {
    (void)state;
    struct derived derived = derive_text(
        "1.0,1000,,ls_not_halted_cyc,5,50.00,,\n1.0,1200,,de_no_dispatch_per_slot.no_ops_from_frontend,5,50.00,,\n"
        "1.0,1800,,de_no_dispatch_per_slot.backend_stalls,5,50.00,,\n1.0,6000,,de_src_op_disp.all,4,50.00,,\n"
        "1.0,4800,,ex_ret_ops,4,50.00,,\n",
        "zen4");
    assert_close(value(&derived, 0, 0, "core_frontend_bound"), 1200.0 / 9000);
    assert_close(value(&derived, 0, 0, "core_backend_bound"), 1800.0 / 9000);
    assert_close(value(&derived, 0, 0, "core_retiring"), 4800.0 / 9000);
    derived_end(&derived);
}

// Of two events none can be told.
static void test_level_1_without_another_event_names_it(void **state) {
    (void)state;
    struct derived derived =
        derive_text("1.0,1000,,ls_not_halted_cyc,9,100.00,,\n1.0,700,,de_no_dispatch_per_slot.no_ops_from_frontend,9,"
                    "100.00,,\n1.0,2500,,de_src_op_disp.all,9,100.00,,\n1.0,2300,,ex_ret_ops,9,100.00,,\n",
                    "zen4");
    const struct plan_metric *retiring = &derived.layout->plan->metrics[place_of(&derived, "core_retiring")];
    assert_int_equal(retiring->unit, PLAN_NOT_PLANNABLE);
    assert_non_null(strstr(retiring->reason, "backend_stalls is not in the log"));
    assert_close(value(&derived, 0, 0, "retiring"), 2300.0 / 6000); // of the thread
    assert_int_equal(derived.layout->plan->level1_unit, -1);
    derived_end(&derived);
}

static void test_an_event_that_never_counts_gives_no_values_as_in_the_daemon(void **state) {
    (void)state;
    static const char text[] = "1.0,1000,,r11,9,100.00,,\n1.0,500,,r8,9,100.00,,\n1.0,0,,r37,9,100.00,,\n"
                               "2.0,1000,,r11,9,100.00,,\n2.0,500,,r8,9,100.00,,\n2.0,5,,r37,9,100.00,,\n"
                               "3.0,1000,,r11,9,100.00,,\n3.0,500,,r8,9,100.00,,\n3.0,0,,r37,9,100.00,,\n";
    struct derived derived = derive_text(text, "neoverse-v1");
    assert_true(isnan(value(&derived, 0, 0, "ll_cache_read_mpki")));
    assert_close(value(&derived, 1, 0, "ll_cache_read_mpki"), 10);
    assert_close(value(&derived, 2, 0, "ll_cache_read_mpki"), 0);
    derived_end(&derived);
    derived = derive_text("1.0,0,,context-switches,9,100.00,,\n", "software"); // these always count
    assert_close(value(&derived, 0, 0, "context_switches"), 0);
    derived_end(&derived);
}

// In all of the log look-ups in the L1, which must happen, are 0: something filters, so ASE_SPEC's 0 is not believed.
static void test_behind_a_filter_a_logs_zeros_are_not_believed(void **state) {
    (void)state;
    struct derived derived =
        derive_text("1.0,3000000,,r11,9,100.00,,\n1.0,400000,,r1b,9,100.00,,\n1.0,7000000,,r3,9,100.00,,\n"
                    "1.0,0,,r4,9,100.00,,\n1.0,0,,r74,9,100.00,,\n",
                    "neoverse-v1");
    assert_true(isnan(value(&derived, 0, 0, "simd_percentage")));
    derived_end(&derived);
    derived = derive_text("1.0,3000000,,r11,9,100.00,,\n1.0,400000,,r1b,9,100.00,,\n1.0,7000000,,r3,9,100.00,,\n"
                          "1.0,90,,r4,9,100.00,,\n1.0,0,,r74,9,100.00,,\n",
                          "neoverse-v1");
    assert_close(value(&derived, 0, 0, "simd_percentage"), 0);
    derived_end(&derived);
}

// ---- core types ----

static void test_each_core_type_of_a_log_is_derived_for_itself(void **state) {
    (void)state;
    char pmus[PERF_LOG_PMUS_MAX][PERF_LOG_NAME_MAX + 1];
    struct perf_log *log = load_log("hybrid.csv");
    assert_int_equal(perf_log_core_pmus(log, pmus), 2);
    assert_string_equal(pmus[0], "cpu_atom");
    assert_string_equal(pmus[1], "cpu_core");
    struct derived derived = derive_log_of(log, "intel-generic", "cpu_atom");
    assert_close(value(&derived, 0, 0, "ipc"), 0.5);
    assert_close(value(&derived, 0, 0, "branch_miss_ratio"), 0.05);
    derived_end(&derived);
    derived = derive_log_of(load_log("hybrid.csv"), "intel-generic", "cpu_core");
    assert_close(value(&derived, 0, 0, "ipc"), 2);
    assert_close(value(&derived, 0, 0, "branch_miss_ratio"), 0.01);
    derived_end(&derived);
}

static void test_a_core_type_has_the_cpus_that_counted_its_events(void **state) {
    (void)state;
    struct derived derived = derive_log_of(load_log("hybrid-cpus.csv"), "intel-generic", "cpu_core");
    assert_int_equal(derived.layout->topology->n_cpus, 2);
    assert_close(value(&derived, 0, 0, "ipc"), 20.0 / 12);
    assert_close(value(&derived, 0, cpu_scope(&derived, 1), "ipc"), 1);
    derived_end(&derived);
    derived = derive_log_of(load_log("hybrid-cpus.csv"), "intel-generic", "cpu_atom");
    assert_int_equal(derived.layout->topology->n_cpus, 1);
    assert_close(value(&derived, 0, cpu_scope(&derived, 4), "ipc"), 0.5);
    derived_end(&derived);
}

static void test_events_of_other_pmus_are_not_taken_for_a_cores(void **state) {
    (void)state;
    struct catalog *catalog = load_spec("skylake-sp");
    int cycles = catalog_find_event(catalog, "CPU_CLK_UNHALTED.THREAD");
    assert_int_equal(perf_log_find_event(catalog, NULL, "cpu/event=0x3c/"), cycles);
    assert_int_equal(perf_log_find_event(catalog, NULL, "uncore_imc_0/event=0x3c/"), -1);
    assert_int_equal(perf_log_find_event(catalog, NULL, "uncore_imc_0/r3c/"), -1);
    catalog_free(catalog);
}

// ---- logs of the Linux kernel performance tests ----

struct printed {
    size_t round;
    double ipc, branch_miss_ratio;
};

// Compares with what perf printed beside the counts, in two decimals.
static void check_lkp(const char *file, const char *pmu, const struct printed *printed, size_t n) {
    char path[256], *text;
    size_t length;
    struct errors errors = {0};
    struct perf_log *log;
    (void)snprintf(path, sizeof path, "%s/%s", LKP, file);
    assert_int_equal(json_read_file(path, 1 << 20, &errors, &text, &length), 0);
    assert_int_equal(perf_log_parse(path, text, length, &errors, &log), 0);
    free(text);
    struct derived derived = derive_log_of(log, "intel-generic", pmu);
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(value(&derived, printed[i].round, 0, "ipc") - printed[i].ipc) <= 0.00501);
        assert_true(fabs(value(&derived, printed[i].round, 0, "branch_miss_ratio") * 100 -
                         printed[i].branch_miss_ratio) <= 0.00501);
    }
    derived_end(&derived);
}

static void test_logs_of_kernel_tests_give_what_perf_printed_beside_them(void **state) {
    (void)state;
    static const struct printed atoms[] = {{0, 0.72, 2.51}, {1, 0.77, 2.27}, {2, 0.33, 8.68}};
    static const struct printed cores[] = {{0, 1.56, 5.21}, {1, 1.37, 6.31}, {2, 1.25, 6.41}};
    static const struct printed first[] = {{0, 1.25, 5.97}}, second[] = {{0, 0.99, 6.11}};
    if (access(LKP, R_OK) < 0) {
        print_message("skipped: %s is not there\n", LKP);
        skip();
    }
    check_lkp("perf-stat-5.log", "cpu_atom", atoms, 3);
    check_lkp("perf-stat-5.log", "cpu_core", cores, 3);
    check_lkp("perf-stat-1.log", NULL, first, 1);
    check_lkp("perf-stat-2.log", NULL, second, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_is_what_ran_equally_long_or_what_an_event_that_repeats_begins_or_ends),
        cmocka_unit_test(test_a_ratio_takes_the_counts_of_its_own_group),
        cmocka_unit_test(test_a_group_that_was_not_counted_gives_way_to_the_next_with_the_same_events),
        cmocka_unit_test(test_counts_of_user_code_are_not_divided_by_those_of_all_code),
        cmocka_unit_test(test_of_a_level_with_an_event_missing_the_rest_is_derived),
        cmocka_unit_test(test_level_1_of_a_core_is_the_same_without_the_event_that_follows_from_the_others),
        cmocka_unit_test(test_level_1_of_a_core_adds_up_where_perf_counted_its_events_at_different_times),
        cmocka_unit_test(test_level_1_without_another_event_names_it),
        cmocka_unit_test(test_an_event_that_never_counts_gives_no_values_as_in_the_daemon),
        cmocka_unit_test(test_behind_a_filter_a_logs_zeros_are_not_believed),
        cmocka_unit_test(test_each_core_type_of_a_log_is_derived_for_itself),
        cmocka_unit_test(test_a_core_type_has_the_cpus_that_counted_its_events),
        cmocka_unit_test(test_events_of_other_pmus_are_not_taken_for_a_cores),
        cmocka_unit_test(test_logs_of_kernel_tests_give_what_perf_printed_beside_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
