// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf_log_check.h"

// Logs of perf stat -I: real ones of the installed perf 6.1 on a machine without a hardware PMU (*-6.1.*), and ones
// written in the ways of other versions, CPUs and locales. The way from text to metrics is that of a replay.

static const char *const APERF = "../shared/telemetry/recorded/aws-aperf";

// ---- tests of the text ----

static void test_real_logs_of_each_format_hold_the_same_events(void **state) {
    (void)state;
    static const struct {
        const char *file;
        size_t n_places;
    } logs[] = {{"cpus-6.1.csv", 4}, {"together-6.1.csv", 1}, {"cpus-6.1.json", 4}, {"sockets-6.1.json", 1}};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct perf_log *log = load_log(logs[i].file);
        assert_int_equal(log->n_places, logs[i].n_places);
        assert_int_equal(log->n_events, 7);
        assert_string_equal(log->events[0], "context-switches");
        assert_int_equal(log->n_intervals, 3); // 1.2 s in steps of half a second
        assert_int_equal(log->n_rows, 3 * 7 * logs[i].n_places);
        assert_int_equal(log->n_skipped, 0);
        assert_in_range(log->intervals[0].end_ns, 500000000, 510000000);
        for (size_t r = 0; r < log->n_rows; r++)
            assert_int_equal(log->rows[r].state == PERF_LOG_NOT_SUPPORTED, log->rows[r].event == 6); // cycles
        perf_log_free(log);
    }
}

static void test_a_real_log_gives_the_rates_that_its_counts_say(void **state) {
    (void)state;
    struct perf_log *log = load_log("cpus-6.1.csv");
    assert_string_equal(log->places[2], "CPU2");
    double rates[3] = {0}, host[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        uint64_t begin_ns = i > 0 ? log->intervals[i - 1].end_ns : 0;
        double seconds = (double)(log->intervals[i].end_ns - begin_ns) * 1e-9;
        for (size_t r = log->intervals[i].first; r < log->intervals[i].first + log->intervals[i].n_rows; r++) {
            if (log->rows[r].event != 0)
                continue;
            host[i] += (double)log->rows[r].count / seconds / 4;
            rates[i] += log->rows[r].place == 2 ? (double)log->rows[r].count / seconds : 0;
        }
    }
    struct derived derived = derive_log(log, "software");
    for (size_t i = 0; i < 3; i++) {
        assert_close(value(&derived, i, 0, "context_switches"), host[i]);
        assert_close(value(&derived, i, cpu_scope(&derived, 2), "context_switches"), rates[i]);
    }
    derived_end(&derived);
}

static void test_a_multiplexed_log_gives_what_perf_printed_beside_it(void **state) {
    (void)state;
    struct derived derived = derive_log(load_log("multiplexed.csv"), "neoverse-v1");
    assert_int_equal(derived.n, 2);
    assert_close(value(&derived, 0, cpu_scope(&derived, 0), "ipc"), 1.5);
    assert_close(value(&derived, 0, cpu_scope(&derived, 1), "ipc"), 0.5);
    assert_close(value(&derived, 0, 0, "ipc"), 3.5 / 3); // sums first
    assert_close(value(&derived, 1, cpu_scope(&derived, 0), "ipc"), 0.25);
    assert_true(isnan(value(&derived, 1, cpu_scope(&derived, 1), "ipc"))); // <not counted>
    assert_int_equal(
        derived.rounds[1]->absent[snapshot_state(derived.layout, cpu_scope(&derived, 1), place_of(&derived, "ipc"))],
        ABSENT_STARVED);
    const double *values = derived.rounds[1]->values;
    assert_true(values[snapshot_windows(derived.layout, 0, WINDOW_CONTENDED)] == 2);
    assert_true(values[snapshot_windows(derived.layout, 0, WINDOW_COMPLETE)] == 1);
    assert_true(values[snapshot_windows(derived.layout, 0, WINDOW_STARVED)] == 1);
    derived_end(&derived);
}

static void test_a_metric_whose_events_are_not_in_the_log_says_so(void **state) {
    (void)state;
    struct derived derived = derive_log(load_log("multiplexed.csv"), "neoverse-v1");
    const struct plan_metric *metric = &derived.layout->plan->metrics[place_of(&derived, "branch_mpki")];
    assert_int_equal(metric->unit, PLAN_NOT_PLANNABLE);
    assert_non_null(strstr(metric->reason, "BR_MIS_PRED_RETIRED is not in the log"));
    assert_int_equal(derived.layout->plan->n_units, 1);
    derived_end(&derived);
}

static void test_an_event_that_was_not_counted_costs_only_its_own_metrics(void **state) {
    (void)state;
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(parse("1.0,2000,,r11,1,100.00,,\n1.0,1000,,r8,1,100.00,,\n1.0,<not counted>,,r22,0,0.00,,\n"
                           "2.0,2000,,r11,1,100.00,,\n2.0,1000,,r8,1,100.00,,\n2.0,5,,r22,1,100.00,,\n",
                           &errors, &log),
                     0);
    struct derived derived = derive_log(log, "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 0.5);
    assert_true(isnan(value(&derived, 0, 0, "branch_mpki")));
    assert_close(value(&derived, 1, 0, "branch_mpki"), 5);
    derived_end(&derived);
}

static void test_a_log_without_units_and_times_is_of_an_old_perf(void **state) {
    (void)state;
    struct derived derived = derive_log(load_log("old.csv"), "neoverse-v1");
    assert_int_equal(derived.n, 3);
    assert_close(value(&derived, 0, 0, "ipc"), 1.5);
    assert_true(isnan(value(&derived, 1, 0, "ipc")));
    assert_close(value(&derived, 2, 0, "ipc"), 0.25);
    derived_end(&derived);
}

static void test_decimal_commas_of_a_locale_are_understood(void **state) {
    (void)state;
    struct perf_log *log = load_log("locale.csv");
    assert_int_equal(log->n_skipped, 1); // "1.234,50" could be either
    assert_int_equal(log->rows[0].count, 1234500000);
    assert_string_equal(log->events[0], "task-clock");
    struct derived derived = derive_log(log, "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 1.5);
    derived_end(&derived);
    log = load_log("comma.csv");
    assert_int_equal(log->n_rows, 2);
    assert_int_equal(log->rows[0].count, 1234500000);
    assert_int_equal(log->rows[1].count, 13);
    perf_log_free(log);
}

static void test_events_written_as_terms_are_found_by_their_code(void **state) {
    (void)state;
    struct derived derived = derive_log(load_log("terms.csv"), "skylake-sp");
    assert_int_equal(derived.layout->topology->n_sockets, 2);
    assert_close(value(&derived, 0, snapshot_scope_socket(0), "ipc"), 1.5);
    assert_close(value(&derived, 0, snapshot_scope_socket(1), "ipc"), 2.5);
    assert_close(value(&derived, 0, 0, "ipc"), 5.5 / 3);
    derived_end(&derived);
}

static void test_what_is_no_log_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",     "\n\n",         "# started on\n",       "hello\n",
        "{}\n", "13,,cycles\n", "1.0,CPU0,x,,cycles\n", "{\"event\":\"r11\",\"counter-value\":\"1\"}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct errors errors = {0};
        struct perf_log *log;
        assert_int_equal(parse(texts[i], &errors, &log), -EINVAL);
        assert_non_null(strstr(errors.items[0].text, "perf stat -I"));
    }
}

static void test_two_logs_in_one_file_are_refused_with_the_line(void **state) {
    (void)state;
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(parse("2.0,5,,r11,1,100.00,,\n# again\n1.0,5,,r11,1,100.00,,\n", &errors, &log), -EINVAL);
    assert_int_equal(errors.items[0].line, 3);
}

// ---- counts of Graviton hosts ----

// aperf's ratios, each of counts of its own window, and the metrics of ours that mean the same; `times` of ours. Not
// among them: branch-mpki, whose misses are of branches that did not complete too, code-sparsity and strex-spec-pki.
static const struct {
    const char *theirs, *numerator, *denominator, *ours;
    double times;
} RATIOS[] = {{"ipc", "r8", "r11", "ipc", 1},
              {"stall-frontend-pkc", "r23", "r11", "frontend_stalled_cycles", 10},
              {"stall-backend-pkc", "r24", "r11", "backend_stalled_cycles", 10},
              {"inst-tlb-mpki", "r2", "r8", "l1i_tlb_mpki", 1},
              {"inst-tlb-tw-pki", "r35", "r8", "itlb_mpki", 1},
              {"inst-l1-mpki", "r1", "r8", "l1i_cache_mpki", 1},
              {"l2-mpki", "r17", "r8", "l2_cache_mpki", 1},
              {"l3-mpki", "r37", "r8", "ll_cache_read_mpki", 1},
              {"data-tlb-mpki", "r5", "r8", "l1d_tlb_mpki", 1},
              {"data-tlb-tw-pki", "r34", "r8", "dtlb_mpki", 1},
              {"data-l1-mpki", "r3", "r8", "l1d_cache_mpki", 1}};

struct aperf_row {
    unsigned sample, cpu;
    char metric[40];
    double numerator, denominator, scale;
};

static bool next_row(const char **at, struct aperf_row *row) {
    while (*at && **at != '\0') {
        const char *line = *at, *end = strchr(line, '\n');
        *at = end ? end + 1 : NULL;
        if (sscanf(line, "%u,%u,%39[^,],%lf,%lf,%lf", &row->sample, &row->cpu, row->metric, &row->numerator,
                   &row->denominator, &row->scale) == 6)
            return true;
    }
    return false;
}

// In what way the rows of aperf's ratios stand in a log of perf.
enum written {
    WRITTEN_APART,   // one ratio a log
    WRITTEN_TIMED,   // all ratios in one log; each group ran for a time of its own
    WRITTEN_UNTIMED, // all ratios in one log; running times say nothing
    WRITTEN_LEADING  // the same, and the denominator stands first in its group
};

static const struct {
    const char *theirs, *numerator, *denominator;
} UNUSED[] = {{"branch-mpki", "r10", "r8"}, {"code-sparsity", "r11c", "r8"}, {"strex-spec-pki", "r6f", "r8"}};

static bool codes_of(const char *theirs, const char **numerator, const char **denominator, size_t *number) {
    for (size_t i = 0; i < sizeof RATIOS / sizeof *RATIOS; i++) {
        if (strcmp(RATIOS[i].theirs, theirs) != 0)
            continue;
        *numerator = RATIOS[i].numerator;
        *denominator = RATIOS[i].denominator;
        *number = i;
        return true;
    }
    for (size_t i = 0; i < sizeof UNUSED / sizeof *UNUSED; i++) {
        if (strcmp(UNUSED[i].theirs, theirs) != 0)
            continue;
        *numerator = UNUSED[i].numerator;
        *denominator = UNUSED[i].denominator;
        *number = sizeof RATIOS / sizeof *RATIOS + i;
        return true;
    }
    return false;
}

// Writes the rows as perf would have; returns the length.
static size_t as_perf(const char *text, const char *only, enum written way, char *out, size_t size) {
    struct aperf_row row;
    size_t length = 0;
    for (const char *at = text; next_row(&at, &row);) {
        const char *numerator, *denominator;
        size_t number;
        if ((only && strcmp(row.metric, only) != 0) || !codes_of(row.metric, &numerator, &denominator, &number))
            continue;
        size_t running = 1000000000 - (way == WRITTEN_TIMED ? number : 0);
        bool leads = way == WRITTEN_LEADING;
        length += (size_t)snprintf(out + length, size - length,
                                   "%u.000000000,CPU%u,%.0f,,%s,%zu,100.00,,\n"
                                   "%u.000000000,CPU%u,%.0f,,%s,%zu,100.00,,\n",
                                   row.sample + 1, row.cpu, leads ? row.denominator : row.numerator,
                                   leads ? denominator : numerator, running, row.sample + 1, row.cpu,
                                   leads ? row.numerator : row.denominator, leads ? numerator : denominator, running);
    }
    assert_true(length < size);
    return length;
}

static bool follows(const struct derived *derived, const char *name, const char *definition) {
    unsigned metric = derived->layout->plan->metrics[place_of(derived, name)].metric;
    return strcmp(derived->catalog->metrics[metric].definition, definition) == 0;
}

// LL_CACHE_MISS_RD never counts. Where the log is long enough to tell, and has the L2's refills, these take its place.
static void check_dead(const struct derived *derived, const struct aperf_row *row, size_t ratio) {
    double ours = value(derived, row->sample, cpu_scope(derived, row->cpu), RATIOS[ratio].ours);
    double refills = strcmp(row->metric, "l3-mpki") == 0 && follows(derived, RATIOS[ratio].ours, "l2_refills")
                         ? value(derived, row->sample, cpu_scope(derived, row->cpu), "l2_cache_mpki")
                         : NAN;
    assert_true(isnan(ours) ? isnan(refills) : ours == refills);
}

// Checks the values against the author's. An event that has not counted yet has none.
static size_t check_derived(const char *text, const struct derived *derived, size_t ratio, size_t *dead) {
    struct aperf_row row;
    size_t checked = 0;
    double counted = 0;
    for (const char *at = text, *ahead; next_row(&at, &row);) {
        if (strcmp(row.metric, RATIOS[ratio].theirs) != 0 || row.denominator == 0)
            continue;
        struct aperf_row other; // of all CPUs up to this sample
        for (ahead = text; counted == 0 && next_row(&ahead, &other);)
            if (strcmp(other.metric, row.metric) == 0 && other.sample <= row.sample)
                counted += other.numerator;
        *dead += counted == 0;
        if (counted == 0)
            check_dead(derived, &row, ratio);
        else
            assert_close(value(derived, row.sample, cpu_scope(derived, row.cpu), RATIOS[ratio].ours) *
                             RATIOS[ratio].times,
                         row.numerator / row.denominator * row.scale);
        checked++;
    }
    return checked;
}

static size_t check_ratios(const char *text, enum written way, size_t *dead, bool *l2_refills) {
    enum { SIZE = 1 << 20, N = sizeof RATIOS / sizeof *RATIOS };
    char *log_text = malloc(SIZE);
    size_t checked = 0;
    for (size_t ratio = 0; ratio < N; ratio++) {
        struct errors errors = {0};
        struct perf_log *log;
        size_t length = as_perf(text, way == WRITTEN_APART ? RATIOS[ratio].theirs : NULL, way, log_text, SIZE);
        assert_int_equal(perf_log_parse("aperf", log_text, length, &errors, &log), 0);
        struct derived derived = derive_log(log, "neoverse-v1");
        *l2_refills = *l2_refills || follows(&derived, "ll_cache_read_mpki", "l2_refills");
        checked += check_derived(text, &derived, ratio, dead);
        for (; way != WRITTEN_APART && ratio + 1 < N; ratio++)
            checked += check_derived(text, &derived, ratio + 1, dead);
        derived_end(&derived);
    }
    free(log_text);
    return checked;
}

static void test_counts_of_graviton_hosts_give_their_authors_ratios(void **state) {
    (void)state;
    static const char *const files[] = {"test_run_1", "aperf_v0_1_15_alpha_run"};
    if (access(APERF, R_OK) < 0) {
        print_message("skipped: %s is not there\n", APERF);
        skip();
    }
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[256], *text;
        size_t length;
        struct errors errors = {0};
        (void)snprintf(path, sizeof path, "%s/%s.perf_stat.csv", APERF, files[f]);
        assert_int_equal(json_read_file(path, 1 << 20, &errors, &text, &length), 0);
        for (enum written way = WRITTEN_APART; way <= WRITTEN_LEADING; way++) {
            bool l2_refills =
                false; // a log without LL_CACHE_MISS_RD needs no proof; no event of the first counts enough
            size_t dead = 0, checked = check_ratios(text, way, &dead, &l2_refills);
            assert_true(l2_refills == (f == 1 || way == WRITTEN_APART));
            print_message("%s: %zu ratios, %zu of a dead event\n", files[f], checked, dead);
            assert_true(checked > 400 && dead > 0 && dead < checked / 5);
        }
        free(text);
    }
}

static void check_refused(const char *text, size_t length, const char *reason) {
    struct errors errors = {0};
    struct perf_log *log = NULL;
    assert_int_equal(perf_log_parse("other", text, length, &errors, &log), -EINVAL);
    assert_non_null(strstr(errors.items[0].text, reason));
    assert_null(log);
}

static void test_what_is_no_log_at_all_is_called_so(void **state) {
    (void)state;
    static const char binary[] = "\0\1\2\n", times[] = "sample,cpu,metric,numerator\n0,0,ipc,4313599,6119561,1\n";
    static const char cut[] = "1.0,5,,context-switches,1000000000,100.00,,\n\0\1\n";
    check_refused(binary, sizeof binary - 1, "is neither a recording");
    check_refused(times, sizeof times - 1, "is neither a recording");
    check_refused(cut, sizeof cut - 1, "is no line of perf stat");
}

static void test_an_events_name_that_is_too_long_is_what_is_refused(void **state) {
    (void)state;
    for (int length = 255; length <= 256; length++) {
        char text[400], name[300];
        struct errors errors = {0};
        struct perf_log *log = NULL;
        memset(name, 'n', sizeof name);
        int n = snprintf(text, sizeof text, "1.0,5,,cycles,1000000000,100.00,,\n2.0,5,,%.*s,1000000000,100.00,,\n",
                         length, name);
        assert_int_equal(perf_log_parse("log", text, (size_t)n, &errors, &log), length > 255 ? -EINVAL : 0);
        if (length > 255) {
            assert_int_equal(errors.items[0].line, 2);
            assert_non_null(strstr(errors.items[0].text, "longer than 255 bytes"));
            assert_non_null(strstr(errors.items[0].text, "name=SHORT"));
        }
        perf_log_free(log);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_log_at_all_is_called_so),
        cmocka_unit_test(test_real_logs_of_each_format_hold_the_same_events),
        cmocka_unit_test(test_a_real_log_gives_the_rates_that_its_counts_say),
        cmocka_unit_test(test_a_multiplexed_log_gives_what_perf_printed_beside_it),
        cmocka_unit_test(test_a_metric_whose_events_are_not_in_the_log_says_so),
        cmocka_unit_test(test_an_event_that_was_not_counted_costs_only_its_own_metrics),
        cmocka_unit_test(test_a_log_without_units_and_times_is_of_an_old_perf),
        cmocka_unit_test(test_decimal_commas_of_a_locale_are_understood),
        cmocka_unit_test(test_events_written_as_terms_are_found_by_their_code),
        cmocka_unit_test(test_what_is_no_log_is_refused),
        cmocka_unit_test(test_an_events_name_that_is_too_long_is_what_is_refused),
        cmocka_unit_test(test_two_logs_in_one_file_are_refused_with_the_line),
        cmocka_unit_test(test_counts_of_graviton_hosts_give_their_authors_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
