// SPDX-License-Identifier: Apache-2.0
//
// Whole expositions are compared with files in tests/data/golden, which promtool and a person have looked at;
// TOPDOWND_GOLDEN_WRITE=1 writes them anew.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/series/series_private.h"
#include "prometheus_check.h"

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be read", path);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    size_t n = fread(text, 1, (1 << 16) - 1, file);
    assert_true(n > 0 && n < (1 << 16) - 1);
    fclose(file);
    return text;
}

static void assert_golden(const char *path, const char *actual) {
    if (getenv("TOPDOWND_GOLDEN_WRITE")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(actual, file);
        assert_int_equal(fclose(file), 0);
    }
    char *expected = read_file(path);
    size_t i = 0, line = 1;
    for (; expected[i] && expected[i] == actual[i]; i++)
        line += expected[i] == '\n';
    if (expected[i] != actual[i])
        fail_msg("%s:%zu differs: ...%.200s", path, line, actual + i);
    free(expected);
}

static void test_the_host_page_is_the_golden_one(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    host.view.standard_error = host.view.guests_excluded = true;
    snapshot->status.certificate_expiry_seconds = 1731536000;
    char *text = render(&host.view, snapshot, false);
    assert_golden("tests/data/golden/toy.prom", text);
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_cpu_page_is_the_golden_one(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    host.view.simulated = host.view.guests_excluded = true;
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, true);
    assert_golden("tests/data/golden/toy_cpu_simulated.prom", text);
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_before_the_first_round_only_what_is_known_is_there(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = snapshot_new(host.layout); // all NaN
    char *text = render(&host.view, snapshot, false);
    assert_golden("tests/data/golden/toy_nothing_measured.prom", text);
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void assert_every_series_has(struct exporter_host *host, const char *label) {
    struct snapshot *snapshot = host_snapshot(host);
    for (int per_cpu = 0; per_cpu < 2; per_cpu++) {
        char *text = render(&host->view, snapshot, per_cpu);
        size_t marked = 0;
        for (const char *p = text; (p = strstr(p, label)); p++)
            marked++;
        assert_true(marked > 20);
        assert_int_equal(marked, count_series(text));
        free(text);
    }
    snapshot_unref(snapshot);
}

static void test_every_series_of_simulated_data_or_of_a_replay_says_so(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    host.view.simulated = true;
    assert_every_series_has(&host, "simulated=\"true\"} ");
    host.view.replayed = true;
    assert_every_series_has(&host, "simulated=\"true\",replay=\"true\"} ");
    assert_false(view_stale(&host.view, UINT64_MAX)); // however old
    host.view.replayed = false;
    assert_true(view_stale(&host.view, UINT64_MAX));
    host_deinit(&host);
}

static void test_a_value_that_is_absent_has_no_line_and_the_last_one_takes_its_header_along(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t ipc = host_metric(&host, "ipc");
    snapshot->values[snapshot_metric(host.layout, snapshot_scope_socket(0), ipc)] = NAN;
    char *text = render(&host.view, snapshot, false);
    assert_absent(text, "topdownd_ipc{socket=\"0\"}");
    assert_line(text, "# TYPE topdownd_ipc gauge");
    assert_line(text, "topdownd_ipc{socket=\"7\"} 3.04"); // scope 2, fifth metric
    free(text);
    snapshot->values[snapshot_metric(host.layout, snapshot_scope_socket(1), ipc)] = INFINITY;
    text = render(&host.view, snapshot, false);
    assert_absent(text, "topdownd_ipc{");
    assert_absent(text, "topdownd_ipc gauge");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_counts_are_whole_and_seconds_are_not(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t faults = host_metric(&host, "faults"), ipc = host_metric(&host, "ipc");
    size_t socket0 = snapshot_scope_socket(0);
    snapshot->values[snapshot_numerator(host.layout, socket0, faults)] = 1234.5678;
    snapshot->values[snapshot_denominator(host.layout, socket0, faults)] = 1234.5678; // CPU seconds
    snapshot->values[snapshot_denominator(host.layout, socket0, ipc)] = 123456789012345.7;
    char *text = render(&host.view, snapshot, false);
    assert_line(text, "topdownd_metric_numerator_total{socket=\"0\",metric=\"faults_per_second\"} 1235");
    assert_line(text, "topdownd_metric_denominator_total{socket=\"0\",metric=\"faults_per_second\"} 1234.5678");
    assert_line(text, "topdownd_metric_denominator_total{socket=\"0\",metric=\"ipc\"} 123456789012346");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_labels_are_escaped(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    host.view.profile = "gr\xFCn"; // Latin-1: no UTF-8
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    assert_line(text, "topdownd_cpu_info{vendor=\"Acme\",model=\"Toy \\\"one\\\"\\\\\\n\",microarchitecture=\"toy\","
                      "spec=\"toy-1\"} 1");
    assert_line(text, "# HELP topdownd_retiring_ratio retiring, ratio of pipeline slots, over the last round.");
    assert_line(text, "topdownd_config_info{profile=\"gr\xEF\xBF\xBDn\",hash=\"0000000000000abc\"} 1");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_help_is_escaped_so_that_both_formats_read_it(void **state) {
    (void)state;
    struct series series = {.failed = false};
    const struct shown shown = {.n = 1};
    struct text text = {0};
    series_begin_named(&series, "toys", "gauge", "a\\b\nc \"d\" gr\xFCn.");
    series_add_fixed(&series, NULL, 0, 1);
    assert_false(series.failed);
    assert_int_equal(prometheus_render(&series, &shown, &text), 0);
    assert_int_equal(prometheus_render_openmetrics(&series, &shown, &text), 0);
    text_append(&text, "", 1);
    static const char lines[] = "# HELP toys a\\\\b\\nc 'd' gr\xEF\xBF\xBDn.\n# TYPE toys gauge\ntoys 1\n";
    assert_int_equal(strncmp(text.data, lines, sizeof lines - 1), 0);
    assert_string_equal(text.data + sizeof lines - 1 + strlen(lines), "# EOF\n");
    text_free(&text);
    free(series.families);
    free(series.lines);
    text_free(&series.pool);
}

static void test_without_memory_for_its_text_a_page_fails_and_nothing_else_does(void **state) {
    (void)state;
    static const char *const types[] = {"counter", "info", "gauge"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct series series = {.pool = {.failed = true}};
        series_begin_named(&series, "toys_seconds_total", types[i], "Toys.");
        series_add_fixed(&series, NULL, 0, 1);
        assert_true(series.failed);
        free(series.families);
        free(series.lines);
    }
}

static void test_help_is_short(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, "# HELP ", 7) == 0) {
            const char *help = strchr(line + 7, ' ') + 1;
            assert_in_range(strchr(help, '\n') - help, 4, 90);
        }
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_metric_that_is_no_ratio_of_sums_has_only_a_gauge(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    assert_line(text, "# TYPE topdownd_odd gauge");
    assert_absent(text, "metric=\"odd\"");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_metric_that_never_could_be_planned_is_not_there(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    assert_absent(text, "wide");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_metric_that_can_no_longer_be_planned_keeps_its_counters(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t wide = host_metric(&host, "wide"), socket7 = snapshot_scope_socket(1);
    assert_false(view_plannable(&host.view, wide));
    snapshot->values[snapshot_numerator(host.layout, socket7, wide)] = 41; // of when there were more counters
    snapshot->values[snapshot_denominator(host.layout, socket7, wide)] = 42;
    char *text = render(&host.view, snapshot, false);
    assert_line(text, "topdownd_metric_numerator_total{socket=\"7\",metric=\"wide\"} 41");
    assert_line(text, "topdownd_metric_denominator_total{socket=\"7\",metric=\"wide\"} 42");
    assert_absent(text, "topdownd_wide");
    assert_absent(text, "{socket=\"0\",metric=\"wide\"}");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_level_1_that_is_selected_and_cannot_be_planned_has_no_pipeline_slots(void **state) {
    (void)state;
    struct exporter_host host;
    host_init_with(&host, host_catalog(), 3); // the categories need four
    assert_true(host.plan->level1_selected);
    assert_int_equal(host.plan->level1_unit, -1);
    struct snapshot *snapshot = host_snapshot(&host);
    for (int per_cpu = 0; per_cpu < 2; per_cpu++) {
        char *text = render(&host.view, snapshot, per_cpu);
        assert_absent(text, "pipeline_slots");
        assert_absent(text, "category=");
        assert_absent(text, "deviation");
        assert_absent(text, "_bound");
        assert_non_null(strstr(text, per_cpu ? "topdownd_cpu_ipc{" : "topdownd_ipc{")); // the rest is there
        free(text);
    }
    for (size_t c = 0; c < 4; c++) // and where it has been measured before, it stands still
        snapshot->values[snapshot_category(host.layout, snapshot_scope_socket(1), c)] = 100 + (double)c;
    char *text = render(&host.view, snapshot, false);
    assert_line(text, "topdownd_pipeline_slots_total{socket=\"7\",category=\"retiring\"} 102");
    assert_absent(text, "topdownd_peak_pipeline_slots_per_second");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_events_and_cpus_that_are_all_right_are_not_listed(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    for (size_t e = 0; e < host.layout->n_events; e++)
        for (int t = 0; t < EVENT_TROUBLE_N; t++)
            snapshot->values[snapshot_trouble(host.layout, e, (enum event_trouble)t)] = NAN;
    char *text = render(&host.view, snapshot, false);
    assert_absent(text, "topdownd_event_not_live");
    free(text);
    snapshot->values[snapshot_trouble(host.layout, host_event(&host, "INST"), EVENT_STARVED)] = 1;
    text = render(&host.view, snapshot, false);
    assert_line(text, "topdownd_event_not_live{event=\"INST\",state=\"starved\"} 1");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_peak_slots_are_width_times_frequency_times_cores(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    // 4 pipeline slots a cycle, 2 GHz, two cores measured on socket 0 and one on socket 7
    assert_line(text, "topdownd_peak_pipeline_slots_per_second{socket=\"0\"} 16000000000");
    assert_line(text, "topdownd_peak_pipeline_slots_per_second{socket=\"7\"} 8000000000");
    free(text);
    assert_int_equal(host.topology->sockets[0].measured, 2);
    host.topology->sockets[0].cores = 1; // as where the two are SMT siblings: they share one core's pipeline
    text = render(&host.view, snapshot, false);
    assert_line(text, "topdownd_peak_pipeline_slots_per_second{socket=\"0\"} 8000000000");
    assert_null(strstr(text, "topdownd_smt_contention_pipeline_slots_total"));
    free(text);
    host.catalog->level1.per_thread = true; // also where each of the two counts all of that core's slots
    snapshot->values[snapshot_contention(snapshot->layout, snapshot_scope_socket(0))] = 5;
    text = render(&host.view, snapshot, false);
    assert_line(text, "topdownd_peak_pipeline_slots_per_second{socket=\"0\"} 8000000000");
    assert_line(text, "topdownd_smt_contention_pipeline_slots_total{socket=\"0\"} 5");
    free(text);
    host.topology->maximum_frequency_hz = 0;
    text = render(&host.view, snapshot, false);
    assert_absent(text, "topdownd_peak_pipeline_slots_per_second");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_level_1_says_whether_it_is_a_composite(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    assert_non_null(strstr(text, "\ntopdownd_level1_composite 0\n"));
    free(text);
    host.plan->units[host.plan->level1_unit].n_groups = 2; // as on too few counters
    text = render(&host.view, snapshot, false);
    assert_non_null(strstr(text, "\ntopdownd_level1_composite 1\n"));
    free(text);
    host.plan->units[host.plan->level1_unit].n_groups = 1;
    snapshot_unref(snapshot);
    host_deinit(&host);
    host_init_with(&host, host_catalog(), 2); // no level 1
    snapshot = host_snapshot(&host);
    text = render(&host.view, snapshot, false);
    assert_absent(text, "topdownd_level1_composite");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_software_events_have_no_counters_to_count(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    host.view.counters.total = host.view.counters.usable = 0;
    host.view.n_pmu_errors = 0;
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    assert_absent(text, "topdownd_pmu_counters");
    assert_absent(text, "topdownd_pmu_error");
    assert_line(text, "topdownd_pmu_up{pmu=\"toy_pmu_0\"} 1");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_metric_with_a_definition_says_so_whether_it_is_planned_or_not(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    assert_line(text, "topdownd_metric_info{metric=\"ipc\",definition=\"retired\"} 1");
    assert_absent(text, "topdownd_metric_info{metric=\"branch_mpki\"");
    free(text);
    host.plan->metrics[host.plan->place[catalog_find_metric(host.catalog, "ipc")]].unit = -1; // its totals stay
    text = render(&host.view, snapshot, false);
    assert_absent(text, "topdownd_ipc{");
    assert_line(text, "topdownd_metric_info{metric=\"ipc\",definition=\"retired\"} 1");
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_number_of_series_is_the_one_of_the_documentation(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    struct platform *platform = host.view.platform = platform_new("not known");
    for (size_t s = 1; s <= 2; s++) { // the sockets' verdicts: nothing is high
        snapshot->values[snapshot_verdict(host.layout, s, host.layout->n_metrics)] = 1;
        snapshot->values[snapshot_verdict_since(host.layout, s)] = 1700000000;
        snapshot->values[snapshot_verdict_certain(host.layout, s)] = 1;
        snapshot->values[snapshot_busy(host.layout, s)] = 7;
    }
    // docs/metrics.md: S = 2 sockets, C = 4 categories, M = 11 plannable metrics, R = 10 of them ratios, G event
    // groups, E = 1 PMU error, L = 3 events that are not live, D = 1 metric with a definition, 5 counters. Per socket:
    // peak, deviation, covered, uncovered, CPUs, the verdict, the busy time. Per host: composite, two standard errors,
    // the histogram, what measuring costs, the PMU, its memory in the kernel, guests, the last snapshot, infos, the
    // process.
    size_t expected = 2 * (4 + 11 + 2 * 10 + 1 + 1 + 1 + UNCOVERED_N + 4 + 3 + 1) +
                      (WINDOW_RESULT_N + 2) * host.plan->n_groups + 1 + 3 + 1 +
                      (1 + 2 + 6 + 5 + 1 + 2 + 1 + 1 + 1 + 6 + 6);
    assert_int_equal(expected, 2 * (4 + 11 + 2 * 10 + 17 + 1) + 7 * host.plan->n_groups + 1 + 3 + 1 + 32);
    char *text = render(&host.view, snapshot, false);
    assert_int_equal(count_series(text), expected);
    free(text);
    text = render(&host.view, snapshot, true);
    assert_int_equal(count_series(text), 3 * (4 + 11 + 10 + 1 + UNCOVERED_N)); // 3 CPUs, 10 events
    assert_int_equal(UNCOVERED_N + 1, 8);                                      // docs/metrics.md
    free(text);
    host.view.standard_error = true; // adds S x M
    text = render(&host.view, snapshot, false);
    assert_int_equal(count_series(text), expected + 2 * 11);
    free(text);
    host.view.standard_error = false;
    struct series *series = series_new(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, false);
    // at most: every event in all five states, the counters of the ratio that cannot be planned, each category as
    // the verdict, its beginning that was not seen, the age of the gauges, the certificate's expiry, and nine reasons
    // not to be ready
    assert_int_equal(series_count(series), expected - 3 + 5 * 10 + 2 * 2 + 2 * 4 + 3 + 1 + 9);
    // usually: no event in trouble, and one verdict for each socket
    assert_int_equal(series_count_usual(series), expected - 3 + 2 * 2);
    series_free(series);
    platform_unref(platform);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_plan_without_metrics_still_makes_a_page(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct plan *empty;
    const struct plan_request request = {.catalog = host.catalog, .general_counters = 4, .slot_ns = 1000000};
    assert_int_equal(plan_new(&request, &empty), 0);
    struct snapshot_layout *layout = snapshot_layout_new(empty, topology_copy(host.topology));
    assert_non_null(layout);
    struct view view = host.view;
    view.layout = layout;
    struct snapshot *snapshot = snapshot_new(layout);
    char *text = render(&view, snapshot, false);
    assert_line(text, "topdownd_build_info{version=\"1.2.3\",revision=\"0123456789ab\"} 1");
    assert_absent(text, "pipeline_slots");
    free(text);
    text = render(&view, snapshot, true);
    assert_string_equal(text, "");
    free(text);
    snapshot_unref(snapshot);
    snapshot_layout_unref(layout);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_host_page_is_the_golden_one),
        cmocka_unit_test(test_the_cpu_page_is_the_golden_one),
        cmocka_unit_test(test_before_the_first_round_only_what_is_known_is_there),
        cmocka_unit_test(test_every_series_of_simulated_data_or_of_a_replay_says_so),
        cmocka_unit_test(test_a_value_that_is_absent_has_no_line_and_the_last_one_takes_its_header_along),
        cmocka_unit_test(test_counts_are_whole_and_seconds_are_not),
        cmocka_unit_test(test_labels_are_escaped),
        cmocka_unit_test(test_help_is_escaped_so_that_both_formats_read_it),
        cmocka_unit_test(test_without_memory_for_its_text_a_page_fails_and_nothing_else_does),
        cmocka_unit_test(test_help_is_short),
        cmocka_unit_test(test_a_metric_that_is_no_ratio_of_sums_has_only_a_gauge),
        cmocka_unit_test(test_a_metric_that_never_could_be_planned_is_not_there),
        cmocka_unit_test(test_a_metric_that_can_no_longer_be_planned_keeps_its_counters),
        cmocka_unit_test(test_level_1_that_is_selected_and_cannot_be_planned_has_no_pipeline_slots),
        cmocka_unit_test(test_events_and_cpus_that_are_all_right_are_not_listed),
        cmocka_unit_test(test_peak_slots_are_width_times_frequency_times_cores),
        cmocka_unit_test(test_level_1_says_whether_it_is_a_composite),
        cmocka_unit_test(test_software_events_have_no_counters_to_count),
        cmocka_unit_test(test_a_metric_with_a_definition_says_so_whether_it_is_planned_or_not),
        cmocka_unit_test(test_the_number_of_series_is_the_one_of_the_documentation),
        cmocka_unit_test(test_a_plan_without_metrics_still_makes_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
