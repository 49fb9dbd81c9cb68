// SPDX-License-Identifier: Apache-2.0
//
// What pages say of guests: whether events exclude them, and what time they took.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/json/json.h"
#include "exporters/series/series.h"
#include "prometheus_check.h"

struct rig {
    struct exporter_host host; // two sockets, three CPUs
    struct snapshot *snapshot;
};

static void rig_init(struct rig *rig, bool excluded) {
    host_init(&rig->host);
    rig->host.view.guests_excluded = excluded;
    rig->snapshot = host_snapshot(&rig->host);
}

static void rig_deinit(struct rig *rig) {
    snapshot_unref(rig->snapshot);
    host_deinit(&rig->host);
}

static struct shown shown_of(struct rig *rig) {
    return (struct shown){.n = 1, .types = {{.view = &rig->host.view, .snapshot = rig->snapshot}}};
}

static char *json_snapshot_of(struct rig *rig) {
    struct text text = {0};
    const struct shown shown = shown_of(rig);
    assert_int_equal(json_render_snapshot(&shown, 0, JSON_HOST, &text), 0);
    text_append(&text, "", 1);
    return text.data;
}

static void test_prometheus_says_whether_events_exclude_guests(void **state) {
    (void)state;
    for (int excluded = 0; excluded < 2; excluded++) {
        struct rig rig;
        rig_init(&rig, excluded);
        char *text = render(&rig.host.view, rig.snapshot, false);
        assert_line(text, excluded ? "topdownd_guests_excluded{pmu=\"toy_pmu_0\"} 1"
                                   : "topdownd_guests_excluded{pmu=\"toy_pmu_0\"} 0");
        free(text);
        rig_deinit(&rig);
    }
}

static void test_json_says_whether_events_exclude_guests(void **state) {
    (void)state;
    for (int excluded = 0; excluded < 2; excluded++) {
        struct rig rig;
        struct text text = {0};
        rig_init(&rig, excluded);
        assert_int_equal(json_render_status(&(struct shown){.n = 1,
                                                            .types = {{.view = (struct view *)(uintptr_t)&rig.host.view,
                                                                       .snapshot = rig.snapshot}}},
                                            0, &text),
                         0);
        text_append(&text, "", 1);
        assert_non_null(strstr(text.data, excluded ? "\"guests_excluded\":\ttrue" : "\"guests_excluded\":\tfalse"));
        free(text.data);
        rig_deinit(&rig);
    }
}

static void test_what_guests_took_is_a_counter_of_each_socket(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, true);
    char *text = render(&rig.host.view, rig.snapshot, false);
    assert_line(text, "topdownd_guest_cpu_seconds_total{socket=\"0\"} 2.25");
    assert_line(text, "topdownd_guest_cpu_seconds_total{socket=\"7\"} 3.25");
    free(text);
    text = json_snapshot_of(&rig);
    assert_non_null(strstr(text, "\"guest_cpu_seconds\":1.25"));
    free(text);
    rig_deinit(&rig);
}

static void test_what_guests_took_is_a_counter_of_each_cpu_on_its_own_page(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, true);
    char *text = render(&rig.host.view, rig.snapshot, true);
    size_t n = count_series(text);
    const char *first = strstr(text, "\ntopdownd_cpu_guest_seconds_total{");
    assert_true(first && strstr(first, " 4.25\n")); // after the host and two sockets
    free(text);
    rig.host.view.guests_excluded = false;
    text = render(&rig.host.view, rig.snapshot, true);
    assert_absent(text, "topdownd_cpu_guest_seconds_total{");
    assert_int_equal(n, count_series(text) + rig.host.topology->n_cpus);
    free(text);
    rig_deinit(&rig);
}

static void test_the_pages_number_of_series_has_those_of_guests(void **state) {
    (void)state;
    size_t n[2], cpus[2];
    for (int excluded = 0; excluded < 2; excluded++) {
        struct rig rig;
        struct text omitted = {0};
        rig_init(&rig, excluded);
        const struct shown shown = shown_of(&rig);
        struct series *series = series_new(&shown, false);
        assert_non_null(series);
        n[excluded] = series_count(series);
        cpus[excluded] = series_count_cpus(&shown, &omitted);
        series_free(series);
        text_free(&omitted);
        rig_deinit(&rig);
    }
    assert_int_equal(n[1], n[0] + 2);
    assert_int_equal(cpus[1], cpus[0] + 3);
}

static void test_time_that_is_not_known_has_no_line_and_is_null(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, true);
    for (size_t scope = 0; scope < rig.host.layout->n_scopes; scope++)
        rig.snapshot->values[snapshot_guest(rig.host.layout, scope)] = NAN;
    char *text = render(&rig.host.view, rig.snapshot, false);
    assert_absent(text, "topdownd_guest_cpu_seconds_total{");
    free(text);
    text = json_snapshot_of(&rig);
    assert_non_null(strstr(text, "\"guest_cpu_seconds\":null"));
    free(text);
    rig_deinit(&rig);
}

static void test_where_guests_are_counted_nothing_is_said_of_their_time(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, false);
    char *text = render(&rig.host.view, rig.snapshot, false);
    assert_absent(text, "guest_cpu_seconds");
    free(text);
    text = json_snapshot_of(&rig);
    assert_null(strstr(text, "guest_cpu_seconds"));
    free(text);
    rig_deinit(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prometheus_says_whether_events_exclude_guests),
        cmocka_unit_test(test_json_says_whether_events_exclude_guests),
        cmocka_unit_test(test_what_guests_took_is_a_counter_of_each_socket),
        cmocka_unit_test(test_what_guests_took_is_a_counter_of_each_cpu_on_its_own_page),
        cmocka_unit_test(test_the_pages_number_of_series_has_those_of_guests),
        cmocka_unit_test(test_time_that_is_not_known_has_no_line_and_is_null),
        cmocka_unit_test(test_where_guests_are_counted_nothing_is_said_of_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
