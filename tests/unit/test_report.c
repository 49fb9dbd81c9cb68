// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "daemon/report/report.h"
#include "daemon/report/report_csv.h"
#include "daemon/report/report_outside.h"
#include "daemon/report/report_table.h"
#include "tests/unit/exporter_host.h"

// What a measurement by hand tells (daemon/report/), of the exporters' made-up host. tests/e2e/test_measure.py has
// whole measurements.

struct told {
    struct exporter_host host;
    struct snapshot *snapshot;
    struct report report;
};

static void begin(struct told *told) {
    host_init(&told->host);
    told->snapshot = host_snapshot(&told->host);
}

static void report_as(struct told *told, enum report_scope finest) {
    assert_int_equal(report_init(&told->report, &told->host.view, told->snapshot, finest), 0);
}

static void end(struct told *told) {
    report_deinit(&told->report);
    snapshot_unref(told->snapshot);
    host_deinit(&told->host);
}

static const char *end_text(struct text *text) {
    text_append(text, "", 1);
    assert_false(text->failed);
    return text->data;
}

// ---- rows ----

static void test_the_most_that_memory_can_move_is_of_sockets_and_the_host_and_not_of_a_cpu(void **state) {
    (void)state;
    struct told told;
    begin(&told);
    for (size_t s = 0; s < told.host.topology->n_sockets; s++) {
        told.host.topology->sockets[s].memory_bytes_per_second = (double)(s + 1) * 1e11;
        told.host.topology->sockets[s].peak = TOPOLOGY_PEAK_HOST;
    }
    report_as(&told, REPORT_CPU);
    assert_true(report_memory_peak(&told.report, REPORT_HOST, 0) == 3e11);
    assert_true(report_memory_peak(&told.report, REPORT_SOCKET, 0) == 1e11);
    assert_true(report_memory_peak(&told.report, REPORT_SOCKET, 7) == 2e11);
    for (size_t i = 0; i < told.host.topology->n_cpus; i++)
        assert_true(isnan(report_memory_peak(&told.report, REPORT_CPU, told.host.topology->cpus[i].id)));
    end(&told);
}

static void set_running(struct told *told, double seconds) {
    for (size_t g = 0; g < told->host.plan->n_groups; g++)
        told->snapshot->values[snapshot_running(told->host.layout, g)] = seconds;
}

// What counted for less than all of the time was scaled, and is no exact count.
static void test_a_count_is_exact_if_it_was_counted_all_the_time(void **state) {
    static const struct {
        double share;
        bool exact;
    } cases[] = {{1, true}, {0.999, false}, {0.9, false}, {0.1666, false}};
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct told told;
        begin(&told);
        report_as(&told, REPORT_HOST);
        set_running(&told, cases[i].share * told.report.cpu_seconds);
        report_deinit(&told.report);
        report_as(&told, REPORT_HOST);
        assert_true(told.report.n_events > 0);
        for (size_t e = 0; e < told.report.n_events; e++)
            assert_int_equal(told.report.events[e].exact, cases[i].exact);
        end(&told);
    }
}

// ---- the command to be repeated ----

// It is pasted into a shell, which must get the words that the user gave.
static void test_a_command_is_quoted_as_a_shell_needs_it(void **state) {
    static char *const command[] = {(char *)"sh", (char *)"-c", (char *)"echo it's $HOME", (char *)"", (char *)"a=b/c",
                                    (char *)"*",  NULL};
    struct told told;
    (void)state;
    begin(&told);
    report_as(&told, REPORT_HOST);
    text_free(&told.report.texts.sample);
    text_string(&told.report.texts.sample, "perf record -a -e cycles -- sleep 10");
    (void)end_text(&told.report.texts.sample);
    assert_int_equal(report_name_command(&told.report, command), 0);
    assert_string_equal(told.report.texts.sample.data,
                        "perf record -e cycles -- sh -c 'echo it'\\''s $HOME' '' a=b/c '*'");
    end(&told);
}

// ---- CSV ----

// By RFC 4180, 2.6 and 2.7: fields with line breaks, commas or quotes stand in quotes, and a quote is doubled.
static void test_texts_with_separators_and_quotes_are_one_field(void **state) {
    static const char *const names[] = {"plain", "a,b", "say \"a\"", "two\nlines"};
    static const char *const fields[] = {",plain,events,", ",\"a,b\",events,", ",\"say \"\"a\"\"\",events,",
                                         ",\"two\nlines\",events,"};
    (void)state;
    for (size_t i = 0; i < N_OF(names); i++) {
        struct told told;
        struct text text = {0};
        begin(&told);
        report_as(&told, REPORT_HOST);
        told.report.events[0].name = names[i];
        report_csv(&told.report, &text);
        assert_non_null(strstr(end_text(&text), fields[i]));
        text_free(&text);
        end(&told);
    }
}

// ---- the table ----

static void test_one_reason_is_said_for_all_and_several_are_left_to_json(void **state) {
    static const struct {
        const char *reasons[2], *said;
    } cases[] = {{{"nobody counts it", "nobody counts it"}, "2 more are not known: nobody counts it\n"},
                 {{"nobody counts it", "it starved"}, "2 more are not known: --json says why\n"}};
    static const struct screen screen = {.width = 80};
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct told told;
        struct report_table table;
        struct text text = {0};
        begin(&told);
        report_as(&told, REPORT_HOST);
        report_table_init(&table, &screen, false);
        for (size_t k = 0; k < 2; k++) {
            const struct report_row row = {
                .metric = told.report.rows[k].metric, .value = NAN, .reason = cases[i].reasons[k]};
            report_table_add(&table, &told.report, &row);
        }
        report_table_end(&table, &text);
        assert_string_equal(end_text(&text), cases[i].said);
        text_free(&text);
        end(&told);
    }
}

// ---- outside the cores ----

// A kind may have boxes in one socket alone; the others' are told of all the same, whichever kind comes first.
static void test_each_socket_that_some_kind_has_is_told(void **state) {
    static const struct topology_source one_socket[] = {{0, 0, 0, true}};
    static const struct screen screen = {.width = 80};
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct told narrow, wide;
        struct text text = {0};
        begin(&wide);
        begin(&narrow);
        snapshot_unref(narrow.snapshot);
        snapshot_layout_unref(narrow.host.layout);
        narrow.host.layout = narrow.host.view.layout = host_layout_on(narrow.host.catalog, 4, one_socket, 1);
        narrow.host.plan = narrow.host.layout->plan;
        narrow.host.topology = narrow.host.layout->topology;
        narrow.snapshot = snapshot_new(narrow.host.layout);
        assert_non_null(narrow.snapshot);
        report_as(&narrow, REPORT_SOCKET);
        report_as(&wide, REPORT_SOCKET);
        const struct report reports[] = {first ? wide.report : narrow.report, first ? narrow.report : wide.report};
        const struct report_outside outside = {.reports = reports, .n = 2, .screen = &screen, .sockets = true};
        report_outside(&outside, &text);
        assert_non_null(strstr(end_text(&text), "  socket 0\n"));
        assert_non_null(strstr(text.data, "  socket 7\n"));
        text_free(&text);
        end(&narrow);
        end(&wide);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_most_that_memory_can_move_is_of_sockets_and_the_host_and_not_of_a_cpu),
        cmocka_unit_test(test_a_count_is_exact_if_it_was_counted_all_the_time),
        cmocka_unit_test(test_a_command_is_quoted_as_a_shell_needs_it),
        cmocka_unit_test(test_texts_with_separators_and_quotes_are_one_field),
        cmocka_unit_test(test_each_socket_that_some_kind_has_is_told),
        cmocka_unit_test(test_one_reason_is_said_for_all_and_several_are_left_to_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
