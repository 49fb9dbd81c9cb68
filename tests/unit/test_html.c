// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exporter_host.h"
#include "exporters/html/html.h"

static void test_the_page_escapes_what_comes_from_outside_and_tells_simulation_and_trouble(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    host.view.simulated = true;
    struct snapshot *snapshot = host_snapshot(&host);
    size_t frontend = host_metric(&host, "frontend_bound");
    snapshot->values[snapshot_metric(host.layout, snapshot_scope_socket(0), frontend)] = 0.25;
    snapshot->values[snapshot_rate_above(host.layout, 0, host_metric(&host, "faults"))] = 2500;
    struct text text = {0};
    assert_int_equal(html_render(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}}, &text),
                     0);
    text_append(&text, "", 1);
    assert_null(strstr(text.data, "<box>"));
    assert_string_equal(strstr(text.data, "<script"),
                        "<script src=\"/page.js\"></script></body></html>\n"); // ours alone
    assert_non_null(strstr(text.data, "topdownd on &lt;box&gt;"));
    assert_non_null(strstr(text.data, "<b>Simulated data.</b>"));
    assert_non_null(strstr(text.data, "&lt;load&gt; its driver"));
    assert_non_null(
        strstr(text.data, "2500 a second on this host, more than 100 needs a cause. Look for &lt;swap&gt;."));
    assert_non_null(strstr(text.data, "Toy &quot;one&quot;"));
    assert_non_null(strstr(text.data, "<title>&lt;box&gt;: topdownd</title>"));
    assert_non_null(strstr(text.data, "<span class=\"c0\" style=\"width:25.00%\">"));
    assert_non_null(strstr(text.data, host.plan->metrics[host_metric(&host, "wide")].reason));
    text_free(&text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static char *render_html(struct exporter_host *host, const struct snapshot *snapshot) {
    struct text text = {0};
    assert_int_equal(
        html_render(&(struct shown){.n = 1, .types = {{.view = &host->view, .snapshot = snapshot}}}, &text), 0);
    text_append(&text, "", 1);
    return text.data;
}

static void test_the_page_tells_what_is_not_measured_and_why(void **state) {
    (void)state;
    struct exporter_host host;
    host_init_with(&host, host_catalog(), 2);
    struct snapshot *snapshot = host_snapshot(&host);
    char *page = render_html(&host, snapshot);
    assert_null(strstr(page, "Pipeline slots in the last round"));
    assert_non_null(strstr(page, "<h2>Metrics that cannot be measured now</h2>"));
    assert_non_null(strstr(page, "<tr><th>retiring_ratio<td>the level-1 categories need 4 counters at once, this host "
                                 "has 2, and the spec has no split that fits\n"));
    assert_null(strstr(page, "data-metric=\"wide\"")); // not among those that are measured
    assert_non_null(strstr(page, "<h2>Events that yield no samples</h2>"));
    assert_non_null(strstr(page, "<tr><td>L1D_MISS<td>unsupported<td>this CPU's PMU does not have it\n"));
    assert_non_null(
        strstr(page, "<tr><th>CPUs<td>3 measured on 2 sockets, 1 of them offline in the last round, 1 excluded"));
    free(page);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_page_says_nothing_of_trouble_where_there_is_none(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = snapshot_new(host.layout);
    host.plan->metrics[host_metric(&host, "wide")].unit = 0; // as if there were more counters
    char *page = render_html(&host, snapshot);
    assert_null(strstr(page, "cannot be measured now"));
    assert_null(strstr(page, "Events that yield no samples"));
    assert_null(strstr(page, "offline"));
    assert_non_null(strstr(page, "<tr><th>CPUs<td>3 measured on 2 sockets, 1 excluded\n"));
    free(page);
    host.layout->topology->sockets[1].isolated = 2;
    page = render_html(&host, snapshot);
    assert_non_null(strstr(page, "<tr><th>CPUs<td>3 measured on 2 sockets, 2 isolated, 1 excluded\n"));
    free(page);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_page_says_what_is_wrong_with_the_daemon_and_what_to_do(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    snapshot->status.config = (struct status_config){true, 1.7e9};
    snapshot->engine.recording.on = snapshot->status.textfile.tried = true;
    host.view.files.recording = "/data/<r>";
    host.view.files.textfile = "/prom";
    char *page = render_html(&host, snapshot);
    assert_null(strstr(page, "topdownd's"));
    free(page);
    snapshot->status.config = (struct status_config){false, 1.7e9};
    snapshot->engine.recording.error = -ENOSPC;
    snapshot->engine.recording.rounds_lost = 7;
    snapshot->status.textfile.error = -ENOENT;
    page = render_html(&host, snapshot);
    assert_non_null(strstr(page,
                           "<p class=\"warn\"><b>topdownd's configuration</b>: the last one that topdownd read is "
                           "wrong, so the one before it is still in force. &#39;topdownd check-config&#39; names "));
    assert_non_null(strstr(page,
                           "<p class=\"warn\"><b>topdownd's recording</b>: /data/&lt;r&gt; cannot be written, and 7 "
                           "rounds are lost so far. No space left on device: make room on its disk.\n"));
    assert_non_null(strstr(page,
                           "<p class=\"warn\"><b>topdownd's textfile</b>: the file for Prometheus in /prom cannot be "
                           "written. The folder does not exist: make it, or "));
    free(page);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_each_core_type_has_a_recording_and_all_have_one_configuration(void **state) {
    (void)state;
    struct exporter_host host;
    struct text text = {0};
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    struct view views[] = {host.view, host.view};
    views[0].core_type = views[0].files.recording = "big";
    views[1].core_type = views[1].files.recording = "little";
    snapshot->status.config = (struct status_config){false, 1.7e9};
    snapshot->engine.recording = (struct status_recording){.on = true, .error = -EIO};
    const struct shown shown = {
        .n = 2, .types = {{.view = &views[0], .snapshot = snapshot}, {.view = &views[1], .snapshot = snapshot}}};
    assert_int_equal(html_render(&shown, &text), 0);
    text_append(&text, "", 1);
    const char *configuration = strstr(text.data, "<b>topdownd's configuration</b>");
    assert_non_null(configuration);
    assert_null(strstr(configuration + 1, "<b>topdownd's configuration</b>"));
    assert_non_null(strstr(text.data, "<b>topdownd's recording</b>: big cannot be written"));
    assert_non_null(strstr(text.data, "<b>topdownd's recording</b>: little cannot be written"));
    text_free(&text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

// What stands behind the value of a metric with this interval, counted for this share of the time.
static void assert_margin_of(const char *metric, double value, double high, double share, const char *expected) {
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t m = host_metric(&host, metric);
    for (size_t s = 0; s < 2; s++) {
        snapshot->values[snapshot_metric(host.layout, snapshot_scope_socket(s), m)] = value;
        snapshot->values[snapshot_low(host.layout, snapshot_scope_socket(s), m)] = 2 * value - high;
        snapshot->values[snapshot_high(host.layout, snapshot_scope_socket(s), m)] = high;
        snapshot->values[snapshot_share_of_time(host.layout, snapshot_scope_socket(s), m)] = share;
    }
    char *page = render_html(&host, snapshot), row[64];
    (void)snprintf(row, sizeof row, "<tr><td><a id=\"metric--%s-0\"",
                   host.catalog->metrics[host.plan->metrics[m].metric].export_name);
    const char *at = strstr(page, row);
    assert_non_null(at);
    const char *cell = strstr(at, "class=\"n\">") + strlen("class=\"n\">");
    if (strncmp(cell, expected, strlen(expected)) != 0)
        fail_msg("%.100s", cell);
    free(page);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void assert_margin(const char *metric, double value, double high, const char *expected) {
    assert_margin_of(metric, value, high, 0.125, expected);
}

// Windows that took turns may have been alike: that is no proof that nothing was missed.
static void test_exact_is_what_was_counted_all_the_time_and_nothing_else(void **state) {
    (void)state;
    assert_margin_of("ipc", 0, 0, 1, "0 <small class=\"soft\">exact</small><td");
    assert_margin_of("ipc", 2, 2, 1, "2 <small class=\"soft\">exact</small><td");
    assert_margin_of("ipc", 2, 2, 0.166, "2 <small class=\"soft\">&plusmn;&nbsp;0</small><td");
    assert_margin_of("ipc", 0, 0, 0.9, "0 <small class=\"soft\">&plusmn;&nbsp;0</small><td");
    assert_margin_of("ipc", 2, 2, NAN, "2 <small class=\"soft\">&plusmn;&nbsp;0</small><td");
    assert_margin_of("ipc", 2, 3.5, 1, "2 <small class=\"soft\">&plusmn;&nbsp;1.5</small><td"); // as fields are rounded
}

static void test_an_interval_that_tells_nothing_is_said_in_words(void **state) {
    (void)state;
    assert_margin("ipc", 1345, 41345, "1345 <small class=\"soft\">too uncertain to tell</small><td");
    assert_margin("ipc", 2, 4, "2 <small class=\"soft\">too uncertain to tell</small><td");
    assert_margin("ipc", 2, 3.5, "2 <small class=\"soft\">&plusmn;&nbsp;1.5</small><td");
    assert_margin("ipc", 2, NAN, "2<td");
    assert_margin("frontend_bound", 0.02, 0.06,
                  "0.02 <small class=\"soft\">&plusmn;&nbsp;0.04</small><td"); // it is small
    assert_margin("frontend_bound", 0.25, 0.75, "0.25 <small class=\"soft\">too uncertain to tell</small><td");
}

static void test_the_last_hour_is_a_plot_with_what_happened(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    const double values[] = {0.25, NAN, 0.5};
    struct view_history_mark mark = {.view = &host.view, .mark = {.at_ns = 21000000000, .kind = MARK_CPUS}};
    (void)snprintf(mark.mark.text, sizeof mark.mark.text, "<one> CPU offline");
    struct view_history_series series = {
        .view = &host.view, .metric = host_metric(&host, "backend_bound"), .id = -1, .values = values};
    struct view_history history = {.view = &host.view,
                                   .step_ns = 10000000000,
                                   .first = 1,
                                   .n_steps = 3,
                                   .wall_offset_ns = 1000000000,
                                   .series = &series,
                                   .n_series = 1,
                                   .marks = &mark,
                                   .n_marks = 1};
    const struct shown shown = {.history = &history, .n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}};
    struct text text = {0};
    assert_int_equal(html_render(&shown, &text), 0);
    text_append(&text, "", 1);
    // the last three of thirty steps of 24, the middle one unknown
    assert_non_null(strstr(text.data, "<polygon class=\"f3\" points=\"648,120 672,120 672,160 648,160 \"/>"));
    assert_non_null(strstr(text.data, "<polygon class=\"f3\" points=\"696,80 720,80 720,160 696,160 \"/>"));
    assert_non_null(strstr(text.data, "<li>00:00:22 &lt;one&gt; CPU offline</li>"));
    history.n_series = 0; // level 1 is not measured
    text.length = 0;
    assert_int_equal(html_render(&shown, &text), 0);
    text_append(&text, "", 1);
    assert_null(strstr(text.data, "<svg"));
    assert_non_null(
        strstr(text.data, "<h2>What happened in the last hour</h2>\n<ol class=\"marks\">\n<li>00:00:22 &lt;one&gt;"));
    text_free(&text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_each_event_group_says_its_share_coverage_and_trust(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    for (size_t g = 0; g < host.plan->n_groups; g++)
        for (int result = 0; result < WINDOW_RESULT_N; result++)
            snapshot->values[snapshot_windows(host.layout, g, (enum window_result)result)] =
                result == WINDOW_COMPLETE  ? 75
                : result == WINDOW_STARVED ? 25
                                           : 0;
    for (size_t m = 0; m < host.layout->n_metrics; m++)
        snapshot->quality[snapshot_state(host.layout, 0, m)] = ESTIMATE_FAIR;
    char *page = render_html(&host, snapshot), row[256];
    const struct plan_group *group = &host.plan->groups[0];
    size_t n = 0;
    for (size_t m = 0; m < host.layout->n_metrics; m++)
        n += host.plan->metrics[m].unit == (int)group->unit && !host.plan->metrics[m].auxiliary;
    (void)snprintf(row, sizeof row,
                   "<tr><td>%s<td data-name=\"share of time\" class=\"n\">%.3g %%<td>75 %% of 100 windows complete, 25 "
                   "starved<td>%zu fair<td",
                   group->name, 100 * plan_share(host.plan, group->unit), n);
    if (!strstr(page, row))
        fail_msg("there is no %s", row);
    assert_non_null(strstr(page, "no counter is held, so that others can count"));
    free(page);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_large_numbers_have_a_prefix(void **state) {
    (void)state;
    assert_margin("ipc", 2.8e9, 2.867e9, "2.8 G <small class=\"soft\">&plusmn;&nbsp;67 M</small><td");
    assert_margin("ipc", 54.15e9, 54.42e9,
                  "54.15 G <small class=\"soft\">&plusmn;&nbsp;270 M</small><td"); // not 2.7e+02
    assert_margin("ipc", 999999, 1099999, "999999 <small class=\"soft\">&plusmn;&nbsp;100000</small><td");
}

static void test_small_numbers_have_no_exponent(void **state) {
    (void)state;
    assert_margin("ipc", 0.5, 0.50012, "0.5 <small class=\"soft\">&plusmn;&nbsp;0.00012</small><td");
    assert_margin("ipc", 0.02, 0.02002, "0.02 <small class=\"soft\">&plusmn;&nbsp;0.00002</small><td");
    assert_margin("ipc", 0.00002345, 0.00003345, "0.00002345 <small class=\"soft\">&plusmn;&nbsp;0.00001</small><td");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_hour_is_a_plot_with_what_happened),
        cmocka_unit_test(test_the_page_escapes_what_comes_from_outside_and_tells_simulation_and_trouble),
        cmocka_unit_test(test_the_page_tells_what_is_not_measured_and_why),
        cmocka_unit_test(test_the_page_says_nothing_of_trouble_where_there_is_none),
        cmocka_unit_test(test_the_page_says_what_is_wrong_with_the_daemon_and_what_to_do),
        cmocka_unit_test(test_each_core_type_has_a_recording_and_all_have_one_configuration),
        cmocka_unit_test(test_exact_is_what_was_counted_all_the_time_and_nothing_else),
        cmocka_unit_test(test_an_interval_that_tells_nothing_is_said_in_words),
        cmocka_unit_test(test_each_event_group_says_its_share_coverage_and_trust),
        cmocka_unit_test(test_large_numbers_have_a_prefix),
        cmocka_unit_test(test_small_numbers_have_no_exponent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
