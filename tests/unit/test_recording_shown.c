// SPDX-License-Identifier: Apache-2.0
//
// The pages' information about a recording, and none without a recording.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exporter_host.h"
#include "exporters/json/json.h"
#include "exporters/prometheus/prometheus.h"

static const char FILE_NAME[] = "/var/lib/topdownd/\"x\"";

static void fill(struct snapshot *snapshot, int error, uint64_t bytes, uint64_t lost) {
    snapshot->engine.recording = (struct status_recording){true, -error, bytes, lost};
}

static char *page_of(const struct shown *shown, bool per_cpu) {
    struct text text = {0};
    struct series *series = series_new(shown, per_cpu);
    assert_non_null(series);
    assert_int_equal(prometheus_render(series, shown, &text), 0);
    series_free(series);
    text_append(&text, "", 1);
    assert_false(text.failed);
    return text.data;
}

static char *page(struct exporter_host *host, const struct snapshot *snapshot) {
    return page_of(&(struct shown){.n = 1, .types = {{.view = &host->view, .snapshot = snapshot}}}, false);
}

static cJSON *status(const struct exporter_host *host, const struct snapshot *snapshot) {
    struct text text = {0};
    assert_int_equal(
        json_render_status(
            &(struct shown){.n = 1, .types = {{.view = (struct view *)(uintptr_t)&host->view, .snapshot = snapshot}}},
            0, &text),
        0);
    text_append(&text, "", 1);
    cJSON *root = cJSON_Parse(text.data);
    assert_non_null(root);
    text_free(&text);
    return root;
}

static const cJSON *field(const cJSON *root, const char *key) {
    const cJSON *recording = cJSON_GetObjectItemCaseSensitive(root, "recording");
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(recording, key);
    if (!item)
        fail_msg("no recording.%s", key);
    return item;
}

static size_t lines_of(const char *text) {
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void test_a_recording_has_three_series_and_each_its_header(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char *without = page(&host, snapshot);
    assert_null(strstr(without, "recording"));
    host.view.files.recording = FILE_NAME;
    fill(snapshot, 0, 12345678901, 17);
    char *with = page(&host, snapshot);
    assert_int_equal(lines_of(with), lines_of(without) + 3 * 3);
    assert_non_null(strstr(with, "\n# TYPE topdownd_recording_up gauge\ntopdownd_recording_up 1\n"));
    assert_non_null(strstr(with, "\n# TYPE topdownd_recording_bytes_total counter\n"
                                 "topdownd_recording_bytes_total 12345678901\n"));
    assert_non_null(strstr(with, "\n# TYPE topdownd_recording_rounds_lost_total counter\n"
                                 "topdownd_recording_rounds_lost_total 17\n"));
    free(with);
    fill(snapshot, ENOSPC, 1, 2);
    with = page(&host, snapshot);
    assert_non_null(strstr(with, "\ntopdownd_recording_up 0\n"));
    assert_null(strstr(with, FILE_NAME)); // a path is no label
    free(with);
    char *cpus = page_of(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}}, true);
    assert_null(strstr(cpus, "recording"));
    free(cpus);
    free(without);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_each_core_type_has_the_recording_of_its_own(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshots[] = {host_snapshot(&host), host_snapshot(&host)};
    struct view views[] = {host.view, host.view};
    views[0].core_type = "big";
    views[1].core_type = "little";
    views[0].files.recording = views[1].files.recording = FILE_NAME;
    fill(snapshots[0], ENOSPC, 10, 3);
    fill(snapshots[1], 0, 20, 0);
    char *text = page_of(&(struct shown){.n = 2,
                                         .types = {{.view = &views[0], .snapshot = snapshots[0]},
                                                   {.view = &views[1], .snapshot = snapshots[1]}}},
                         false);
    assert_non_null(strstr(text, "topdownd_recording_up{core_type=\"big\"} 0\n"
                                 "topdownd_recording_up{core_type=\"little\"} 1\n"));
    assert_non_null(strstr(text, "topdownd_recording_bytes_total{core_type=\"big\"} 10\n"
                                 "topdownd_recording_bytes_total{core_type=\"little\"} 20\n"));
    assert_non_null(strstr(text, "topdownd_recording_rounds_lost_total{core_type=\"big\"} 3\n"
                                 "topdownd_recording_rounds_lost_total{core_type=\"little\"} 0\n"));
    free(text);
    snapshot_unref(snapshots[0]);
    snapshot_unref(snapshots[1]);
    host_deinit(&host);
}

static void test_the_status_names_the_file_and_the_reason(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    cJSON *root = status(&host, snapshot);
    assert_null(cJSON_GetObjectItemCaseSensitive(root, "recording"));
    cJSON_Delete(root);
    host.view.files.recording = FILE_NAME;
    fill(snapshot, 0, 1234, 5);
    root = status(&host, snapshot);
    assert_string_equal(field(root, "file")->valuestring, FILE_NAME);
    assert_true(field(root, "up")->valuedouble == 1);
    assert_true(cJSON_IsNull(field(root, "reason")));
    assert_true(field(root, "bytes_total")->valuedouble == 1234);
    assert_true(field(root, "rounds_lost_total")->valuedouble == 5);
    cJSON_Delete(root);
    fill(snapshot, ENOSPC, 1234, 6);
    root = status(&host, snapshot);
    assert_true(cJSON_IsNumber(field(root, "up")) && field(root, "up")->valuedouble == 0);
    assert_string_equal(field(root, "reason")->valuestring, "No space left on device: make room on its disk");
    cJSON_Delete(root);
    fill(snapshot, ENOBUFS, 1234, 6);
    root = status(&host, snapshot);
    assert_string_equal(field(root, "reason")->valuestring,
                        "the disk is too slow: record to a faster one, or fewer metric groups");
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_stale_page_does_not_say_whether_recording_works_and_keeps_its_totals(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    host.view.files.recording = FILE_NAME;
    struct snapshot *snapshot = host_snapshot(&host);
    fill(snapshot, ENOSPC, 1234, 6);
    struct snapshot *stale = snapshot_stale(snapshot);
    char *text = page(&host, stale);
    assert_null(strstr(text, "topdownd_recording_up"));
    assert_non_null(strstr(text, "\ntopdownd_recording_bytes_total 1234\n"));
    assert_non_null(strstr(text, "\ntopdownd_recording_rounds_lost_total 6\n"));
    free(text);
    cJSON *root = status(&host, stale);
    assert_true(cJSON_IsNull(field(root, "up")) && cJSON_IsNull(field(root, "reason")));
    assert_true(field(root, "rounds_lost_total")->valuedouble == 6);
    cJSON_Delete(root);
    snapshot_unref(stale);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_recording_has_three_series_and_each_its_header),
        cmocka_unit_test(test_each_core_type_has_the_recording_of_its_own),
        cmocka_unit_test(test_the_status_names_the_file_and_the_reason),
        cmocka_unit_test(test_a_stale_page_does_not_say_whether_recording_works_and_keeps_its_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
