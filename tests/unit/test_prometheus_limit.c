// SPDX-License-Identifier: Apache-2.0
//
// The limit of /metrics/cpu: what is left out, in which order, and that the page says so.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prometheus_check.h"

// Three CPUs with 4 categories, 10 events, covered time, 7 reasons of uncovered time and 11 metrics each.
enum { CPUS = 3, ALL = CPUS * (4 + 10 + 1 + UNCOVERED_N + 11) };

struct rig {
    struct exporter_host host;
    struct snapshot *snapshot;
};

static void rig_init(struct rig *rig) {
    host_init(&rig->host);
    rig->snapshot = host_snapshot(&rig->host);
}

static void rig_deinit(struct rig *rig) {
    snapshot_unref(rig->snapshot);
    host_deinit(&rig->host);
}

// Renders with this limit and checks how many series are there, besides those that say what is missing.
static char *render_limited(struct rig *rig, unsigned max, size_t expected, size_t expected_kinds) {
    rig->host.view.max_cpu_series = max;
    char *text = render(&rig->host.view, rig->snapshot, true);
    size_t kinds = 0;
    for (const char *p = text; (p = strstr(p, "\ntopdownd_cpu_series_omitted{")); p++)
        kinds++;
    assert_int_equal(kinds, expected_kinds);
    assert_int_equal(count_series(text) - kinds, expected);
    return text;
}

static void test_a_page_within_its_limit_is_whole_and_says_nothing(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    static const unsigned limits[] = {0, ALL, ALL + 1, 1000000};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        free(render_limited(&rig, limits[i], ALL, 0));
    rig_deinit(&rig);
}

static void test_kinds_are_left_out_from_the_least_useful_one_on_and_named(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t per_cpu;
        const char *family;
    } order[] = {{"events", 10, "topdownd_cpu_event_total{"},
                 {"metrics", 11, "topdownd_cpu_ipc{"},
                 {"uncovered", UNCOVERED_N, "topdownd_cpu_uncovered_seconds_total{"},
                 {"covered", 1, "topdownd_cpu_covered_seconds_total{"},
                 {"categories", 4, "topdownd_cpu_pipeline_slots_total{"}};
    struct rig rig;
    rig_init(&rig);
    size_t left = ALL;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        unsigned limit = (unsigned)left - 1;
        left -= CPUS * order[i].per_cpu;
        char *text = render_limited(&rig, limit, left, i + 1), line[128];
        for (size_t j = 0; j <= i; j++) {
            (void)snprintf(line, sizeof(line), "topdownd_cpu_series_omitted{kind=\"%s\"} %zu", order[j].name,
                           CPUS * order[j].per_cpu);
            assert_line(text, line);
            assert_absent(text, order[j].family);
        }
        if (i + 1 < sizeof(order) / sizeof(order[0]))
            assert_non_null(strstr(text, order[i + 1].family));
        free(text);
    }
    assert_int_equal(left, 0);
    rig_deinit(&rig);
}

static void test_the_limit_is_for_all_core_types_together(void **state) {
    (void)state;
    struct exporter_host hosts[2];
    struct shown shown = {.n = 2};
    struct text omitted = {0};
    for (size_t i = 0; i < 2; i++) {
        host_init(&hosts[i]);
        hosts[i].view.core_type = i == 0 ? "big" : "little";
        hosts[i].view.max_cpu_series = 2 * ALL - 1;
        shown.types[i].view = &hosts[i].view;
    }
    assert_int_equal(series_count_cpus(&shown, &omitted), 2 * ALL);
    text_append(&omitted, "", 1);
    assert_string_equal(omitted.data, "events");
    text_free(&omitted);
    hosts[0].view.max_cpu_series = 2 * ALL;
    assert_int_equal(series_count_cpus(&shown, &omitted), 2 * ALL);
    assert_int_equal(omitted.length, 0);
    text_free(&omitted);
    for (size_t i = 0; i < 2; i++)
        host_deinit(&hosts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_within_its_limit_is_whole_and_says_nothing),
        cmocka_unit_test(test_kinds_are_left_out_from_the_least_useful_one_on_and_named),
        cmocka_unit_test(test_the_limit_is_for_all_core_types_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
