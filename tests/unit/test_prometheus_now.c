// SPDX-License-Identifier: Apache-2.0
//
// A page's statements about the current moment: that values are stale, and the schedule's decisions.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prometheus_check.h"

// The samples of the page that are no gauge's; owned by the caller.
static char *totals_of(const char *exposition) {
    char *totals = calloc(1, strlen(exposition) + 1);
    bool gauge = false;
    assert_non_null(totals);
    for (const char *line = exposition, *end; *line; line = end) {
        end = strchr(line, '\n') + 1;
        if (strncmp(line, "# TYPE ", 7) == 0)
            gauge = memmem(line, (size_t)(end - line), " gauge\n", 7) != NULL;
        else if (*line != '#' && !gauge)
            strncat(totals, line, (size_t)(end - line));
    }
    return totals;
}

static void test_a_stale_page_has_all_totals_and_of_the_gauges_only_what_is_still_true(void **state) {
    (void)state;
    static const char *const gauges[] = {"peak_pipeline_slots_per_second",
                                         "event_not_live",
                                         "cpus",
                                         "level1_composite",
                                         "pmu_up",
                                         "pmu_error",
                                         "pmu_counters",
                                         "cpu_info",
                                         "metric_info",
                                         "guests_excluded",
                                         "not_ready",
                                         "last_snapshot_timestamp_seconds",
                                         "build_info",
                                         "config_info",
                                         "config_last_reload_successful",
                                         "config_last_reload_success_timestamp_seconds"};
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host), *stale = snapshot_stale(snapshot);
    assert_non_null(stale);
    assert_true(stale->stale && !snapshot->stale && stale->sequence == snapshot->sequence);
    char *fresh_text = render(&host.view, snapshot, false), *text = render(&host.view, stale, false);
    char *fresh_totals = totals_of(fresh_text), *totals = totals_of(text);
    assert_string_equal(totals, fresh_totals);
    size_t n = 0;
    for (const char *line = strstr(text, "# TYPE topdownd_"); line; line = strstr(line + 1, "# TYPE topdownd_")) {
        char name[128], type[16];
        assert_int_equal(sscanf(line, "# TYPE topdownd_%127s %15s", name, type), 2);
        bool known = strcmp(type, "gauge") != 0;
        n += !known;
        for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
            known = known || strcmp(name, gauges[i]) == 0;
        if (!known)
            fail_msg("%s is there", name);
    }
    assert_int_equal(n, sizeof(gauges) / sizeof(gauges[0]));
    assert_line(text, "topdownd_pmu_up{pmu=\"toy_pmu_0\"} 0");
    assert_absent(text, "state=\"measured\"");
    assert_absent(text, "state=\"starved\"");
    assert_absent(text, "process_resident_memory_bytes");
    free(totals);
    free(fresh_totals);
    free(text);
    free(fresh_text);
    snapshot_unref(stale);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_decisions_are_counted_by_reason_where_the_schedule_is_adaptive(void **state) {
    (void)state;
    struct exporter_host host;
    struct adapt_group groups[2];
    host_init(&host);
    const struct adapt_report report = host_report(groups);
    struct snapshot *snapshot = host_snapshot(&host);
    char *text = render(&host.view, snapshot, false);
    assert_null(strstr(text, "schedule_decisions"));
    free(text);
    host.view.adapt = &report;
    text = render(&host.view, snapshot, false);
    assert_non_null(strstr(text, "topdownd_schedule_decisions_total{reason=\"frontend_bound_fell\"} 1\n"));
    assert_non_null(strstr(text, "topdownd_schedule_decisions_total{reason=\"backend_bound_high\"} 1\n"));
    assert_non_null(strstr(text, "topdownd_schedule_decisions_total{reason=\"backend_bound_fell\"} 0\n"));
    assert_non_null(strstr(text, "topdownd_schedule_decisions_total{reason=\"other_high\"} 0\n"));
    assert_null(strstr(text, "reason=\"smt_contention_high\"")); // this CPU has no such category
    free(text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stale_page_has_all_totals_and_of_the_gauges_only_what_is_still_true),
        cmocka_unit_test(test_decisions_are_counted_by_reason_where_the_schedule_is_adaptive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
