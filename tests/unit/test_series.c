// SPDX-License-Identifier: Apache-2.0
//
// How rows of a table of families become series: for which views and scopes, in which order, and how they are counted.
// A host with two core types and two kinds of PMUs outside the cores. All numbers are fixed, so there is no snapshot.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "exporters/prometheus/prometheus.h"
#include "exporters/series/series_private.h"

enum { VIEWS = 4, SCOPES = 5 }; // the host, two sockets, two CPUs

struct host {
    struct topology_socket sockets[2];
    struct topology_cpu cpus[2];
    struct topology topology;
    struct snapshot_layout layout;
    struct view views[VIEWS];
    struct shown shown;
    struct series series;
};

static void host_init(struct host *host) {
    static const char *const core_types[VIEWS] = {"big", "little", NULL, NULL};
    memset(host, 0, sizeof *host);
    host->sockets[1].id = 7;
    host->cpus[0].id = 3;
    host->cpus[1] = (struct topology_cpu){.id = 9, .socket = 1};
    host->topology =
        (struct topology){.sockets = host->sockets, .n_sockets = 2, .cpus = host->cpus, .n_cpus = 2, .n_cores = 2};
    host->layout.topology = &host->topology;
    host->layout.n_scopes = SCOPES;
    for (size_t i = 0; i < VIEWS; i++) {
        host->views[i].layout = &host->layout;
        host->views[i].core_type = core_types[i];
        host->views[i].counters.total = (unsigned)i + 1;
        host->shown.types[i].view = &host->views[i];
    }
    host->shown.n = 2;
    host->shown.n_boxes = 2;
    host->series.memos = calloc(VIEWS, sizeof *host->series.memos);
    assert_non_null(host->series.memos);
    host->series.n_memos = VIEWS;
    host->series.shown = &host->shown;
}

static void host_deinit(struct host *host) {
    series_end(&host->series);
    free(host->series.families);
    free(host->series.lines);
    text_free(&host->series.pool);
}

// A series with the view's number.
static void add_number(struct series *series, const struct view *view) {
    series_add_fixed(series, NULL, 0, view->counters.total);
}

// A series with the number of the scope in a snapshot.
static void add_scope(struct series *series, const struct view *view, const struct series_labels *scope) {
    const struct series_label labels[] = {{"socket", scope->socket}, {"cpu", scope->cpu}};
    (void)view;
    series_add_fixed(series, labels, scope->n, (double)scope->scope);
}

static bool is_little(struct series *series, const struct view *view) {
    (void)series;
    return view->core_type && strcmp(view->core_type, "little") == 0;
}

// The samples of the rows, or their headers; the host has no others.
static void expect(const struct series_row *rows, size_t n, const char *lines) {
    struct host host;
    struct text all = {0}, samples = {0};
    host_init(&host);
    series_add_rows(&host.series, rows, n);
    assert_false(host.series.failed);
    assert_int_equal(prometheus_render(&host.series, &host.shown, &all), 0);
    text_append(&all, "", 1);
    for (const char *line = all.data; *line; line = strchr(line, '\n') + 1)
        if (*line != '#' || strncmp(line, "# TYPE", 6) == 0)
            text_append(&samples, line, strcspn(line, "\n") + 1);
    text_append(&samples, "", 1);
    assert_string_equal(samples.data, lines);
    text_free(&samples);
    text_free(&all);
    host_deinit(&host);
}

static void test_a_row_is_for_the_host_for_core_types_for_kinds_or_for_all(void **state) {
    (void)state;
    static const struct series_row rows[] = {
        {FAMILY_CPUS, EACH_ONCE, .add_view = add_number},
        {FAMILY_COMPOSITE, EACH_CORE_TYPE, .add_view = add_number},
        {FAMILY_UNCORE_UP, EACH_KIND, .add_view = add_number},
        {FAMILY_PMU_UP, EACH_TYPE, .add_view = add_number},
    };
    expect(rows, sizeof rows / sizeof *rows,
           "# TYPE topdownd_cpus gauge\n"
           "topdownd_cpus 1\n"
           "# TYPE topdownd_level1_composite gauge\n"
           "topdownd_level1_composite{core_type=\"big\"} 1\n"
           "topdownd_level1_composite{core_type=\"little\"} 2\n"
           "# TYPE topdownd_uncore_up gauge\n"
           "topdownd_uncore_up 3\n"
           "topdownd_uncore_up 4\n"
           "# TYPE topdownd_pmu_up gauge\n"
           "topdownd_pmu_up{core_type=\"big\"} 1\n"
           "topdownd_pmu_up{core_type=\"little\"} 2\n"
           "topdownd_pmu_up 3\n"
           "topdownd_pmu_up 4\n");
}

static void test_a_row_of_scopes_runs_through_each_views_sockets_or_cpus(void **state) {
    (void)state;
    static const struct series_row rows[] = {
        {FAMILY_CPUS, EACH_CORE_TYPE, OF_SOCKETS, .add_scope = add_scope},
        {FAMILY_PMU_UP, EACH_CORE_TYPE, OF_CPUS, .where = is_little, .add_scope = add_scope},
    };
    expect(rows, sizeof rows / sizeof *rows,
           "# TYPE topdownd_cpus gauge\n"
           "topdownd_cpus{socket=\"0\",core_type=\"big\"} 1\n"
           "topdownd_cpus{socket=\"7\",core_type=\"big\"} 2\n"
           "topdownd_cpus{socket=\"0\",core_type=\"little\"} 1\n"
           "topdownd_cpus{socket=\"7\",core_type=\"little\"} 2\n"
           "# TYPE topdownd_pmu_up gauge\n"
           "topdownd_pmu_up{socket=\"0\",cpu=\"3\",core_type=\"little\"} 3\n"
           "topdownd_pmu_up{socket=\"7\",cpu=\"9\",core_type=\"little\"} 4\n");
}

static void test_rows_of_one_family_that_stand_together_are_one_family(void **state) {
    (void)state;
    static const struct series_row rows[] = {
        {FAMILY_UNCORE_ERROR, EACH_ONCE, .add_view = add_number},
        {FAMILY_UNCORE_ERROR, EACH_KIND, .add_view = add_number},
    };
    expect(rows, sizeof rows / sizeof *rows,
           "# TYPE topdownd_uncore_error gauge\n"
           "topdownd_uncore_error 1\n"
           "topdownd_uncore_error 3\n"
           "topdownd_uncore_error 4\n");
}

static void test_rare_series_are_counted_but_not_among_the_usual_ones(void **state) {
    (void)state;
    static const struct series_row rows[] = {
        {FAMILY_CPUS, EACH_CORE_TYPE, .add_view = add_number},
        {FAMILY_PMU_UP, EACH_TYPE, OF_SOCKETS, .rare = true, .add_scope = add_scope},
    };
    struct host host;
    host_init(&host);
    series_add_rows(&host.series, rows, sizeof rows / sizeof *rows);
    assert_int_equal(series_count(&host.series), 2 + VIEWS * 2);
    assert_int_equal(series_count_usual(&host.series), 2);
    host_deinit(&host);
}

static void test_series_share_the_text_of_their_scope_and_of_their_other_label(void **state) {
    (void)state;
    static const char *const reasons[] = {"a", "b"};
    struct host host;
    host_init(&host);
    series_begin_family(&host.series, FAMILY_UNCOVERED);
    const struct view *view = series_begin_type(&host.series, 0);
    for (size_t i = 0; i < series_n_scopes(view, OF_SOCKETS); i++) {
        struct series_labels scope = series_scope(view, OF_SOCKETS, i);
        for (size_t reason = 0; reason < 2; reason++)
            series_add_scoped(&host.series, &scope, "reason", reasons[reason], SERIES_REAL, 0);
    }
    const struct series_line *lines = host.series.lines;
    assert_int_equal(host.series.n_lines, 4);
    assert_int_equal(lines[0].head.text, lines[1].head.text);
    assert_int_equal(lines[2].head.text, lines[3].head.text);
    assert_int_not_equal(lines[0].head.text, lines[2].head.text);
    assert_int_equal(lines[0].tail.text, lines[2].tail.text);
    assert_int_equal(lines[1].tail.text, lines[3].tail.text);
    assert_int_not_equal(lines[0].tail.text, lines[1].tail.text);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_is_for_the_host_for_core_types_for_kinds_or_for_all),
        cmocka_unit_test(test_a_row_of_scopes_runs_through_each_views_sockets_or_cpus),
        cmocka_unit_test(test_rows_of_one_family_that_stand_together_are_one_family),
        cmocka_unit_test(test_rare_series_are_counted_but_not_among_the_usual_ones),
        cmocka_unit_test(test_series_share_the_text_of_their_scope_and_of_their_other_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
