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
    struct text text = {0};
    assert_int_equal(html_render(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}}, &text),
                     0);
    text_append(&text, "", 1);
    assert_null(strstr(text.data, "<box>"));
    assert_null(strstr(text.data, "<script"));
    assert_null(strstr(text.data, "style="));
    assert_null(strstr(text.data, "=\"/")); // links stay below a proxy's path
    assert_non_null(strstr(text.data, "topdownd on &lt;box&gt;"));
    assert_non_null(strstr(text.data, "<b>Simulated data.</b>"));
    assert_non_null(strstr(text.data, "&lt;load&gt; its driver"));
    assert_non_null(strstr(text.data, "<title>&lt;box&gt;: topdownd</title>"));
    assert_non_null(strstr(text.data, "<tr><td><th scope=\"col\" class=\"n\">host<th scope=\"col\" class=\"n\">socket 0"
                                      "<th scope=\"col\" class=\"n\">socket 7\n<tr><th scope=\"row\">"));
    assert_non_null(strstr(text.data, "<td class=\"n\">25.0 %<td"));
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
    assert_null(strstr(page, "<p class=\"alert\"><b>recording"));
    free(page);
    snapshot->status.config = (struct status_config){false, 1.7e9};
    snapshot->engine.recording.error = -ENOSPC;
    snapshot->engine.recording.rounds_lost = 7;
    snapshot->status.textfile.error = -ENOENT;
    page = render_html(&host, snapshot);
    assert_non_null(strstr(page,
                           "<p class=\"alert\"><b>configuration</b> the last one that topdownd read is "
                           "wrong, so the one before it is still in force. &#39;topdownd check-config&#39; names "));
    assert_non_null(strstr(page, "<p class=\"alert\"><b>recording</b> /data/&lt;r&gt; cannot be written, and 7 "
                                 "rounds are lost so far. No space left on device: make room on its disk.\n"));
    assert_non_null(strstr(page, "<p class=\"alert\"><b>textfile</b> the file for Prometheus in /prom cannot be "
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
    const char *configuration = strstr(text.data, "<b>configuration</b>");
    assert_non_null(configuration);
    assert_null(strstr(configuration + 1, "<b>configuration</b>"));
    assert_non_null(strstr(text.data, "<b>recording</b> big cannot be written"));
    assert_non_null(strstr(text.data, "<b>recording</b> little cannot be written"));
    text_free(&text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_page_escapes_what_comes_from_outside_and_tells_simulation_and_trouble),
        cmocka_unit_test(test_the_page_says_what_is_wrong_with_the_daemon_and_what_to_do),
        cmocka_unit_test(test_each_core_type_has_a_recording_and_all_have_one_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
