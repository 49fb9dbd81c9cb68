// SPDX-License-Identifier: Apache-2.0
//
// "What is this machine bound by?" has one answer, whoever asks: the journal, Prometheus, JSON, the page and a report
// name the same metric of one run. What they take it from is core/tally/verdict.h.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/diagnosis/diagnosis.h"
#include "daemon/engine/verdict_log.h"
#include "daemon/report/report.h"
#include "exporters/html/html.h"
#include "exporters/json/json.h"
#include "exporters/prometheus/prometheus.h"
#include "tree_host.h"

struct run {
    struct exporter_host host;
    struct diagnosis *diagnosis;
    struct snapshot *snapshot;
    struct shown shown;
    struct verdict_log log;
    uint64_t now_ns;
};

static void begin(struct run *run) {
    *run = (struct run){.now_ns = 1000000000000};
    tree_host_init(&run->host);
    run->snapshot = tree_snapshot(&run->host);
    run->diagnosis = diagnosis_new(run->host.layout);
    assert_non_null(run->diagnosis);
    run->shown = (struct shown){.n = 1, .types = {{.view = &run->host.view, .snapshot = run->snapshot}}};
}

static void end(struct run *run) {
    diagnosis_free(run->diagnosis);
    snapshot_unref(run->snapshot);
    host_deinit(&run->host);
}

// A round that takes so long. Appends what the log says of it.
static void one_round(struct run *run, unsigned seconds, char *said, size_t size) {
    size_t length = strlen(said);
    FILE *before = stderr, *log = fmemopen(said + length, size - length, "w");
    assert_non_null(log);
    run->snapshot->start_ns = run->now_ns;
    run->snapshot->end_ns = run->now_ns += seconds * UINT64_C(1000000000);
    run->snapshot->taken_seconds = (double)run->now_ns * 1e-9;
    diagnosis_round(run->diagnosis, run->snapshot);
    stderr = log;
    verdict_log_round(&run->log, &run->shown.types[0], "");
    stderr = before;
    (void)fclose(log);
}

static void set_frontend(struct run *run) {
    for (size_t scope = 0; scope <= run->host.topology->n_sockets; scope++) {
        tree_set(&run->host, run->snapshot, scope, "backend_bound", 0.1);
        tree_set(&run->host, run->snapshot, scope, "frontend_bound", 0.5);
    }
}

static void assert_contains(struct text *text, const char *part) {
    text_append(text, "", 1);
    assert_false(text->failed);
    if (!strstr(text->data, part))
        fail_msg("%s is missing in %s", part, text->data);
    text_free(text);
}

static void expect_prometheus(const struct run *run, const char *path) {
    struct series *page = series_new(&run->shown, false);
    struct text text = {0};
    char series[256];
    assert_non_null(page);
    assert_int_equal(prometheus_render(page, &run->shown, &text), 0);
    (void)snprintf(series, sizeof series, "topdownd_bound_info{socket=\"0\",path=\"%s\"", path);
    assert_contains(&text, series);
    series_free(page);
}

static void test_every_output_names_the_same_metric(void **state) {
    (void)state;
    struct run run;
    struct report report;
    struct text text = {0}, page = {0};
    char name[VERDICT_LOG_NAME_MAX], said[2048] = "";
    begin(&run);
    for (int round = 0; round < 2; round++)
        one_round(&run, 70, said, sizeof said);
    verdict_log_name(run.snapshot, name);
    assert_string_equal(name, "topdownd_memory_bound_ratio");
    assert_non_null(strstr(said, "what this host is bound by: backend_bound, 35 % of pipeline slots; in it "
                                 "memory_bound, 25 % of pipeline slots."));
    expect_prometheus(&run, "backend_bound_ratio/memory_bound_ratio");
    assert_int_equal(json_render_topdown(&run.shown, 0, JSON_HOST, &text), 0);
    assert_contains(&text, "\"path\":\t[\"backend_bound_ratio\", \"memory_bound_ratio\"]");
    assert_int_equal(html_render(&run.shown, &page), 0);
    assert_contains(&page, "<p class=\"verdict\">backend_bound, 35 % of pipeline slots; in it memory_bound, 25 %");
    assert_int_equal(report_init(&report, &run.host.view, run.snapshot, REPORT_HOST), 0);
    assert_string_equal(report_last(&report)->export_name, "memory_bound_ratio");
    report_deinit(&report);
    end(&run);
}

// Two rounds of another verdict may be noise: Prometheus still has the one that lasts, and so has the log.
static void test_the_log_tells_of_another_verdict_no_sooner_than_prometheus(void **state) {
    (void)state;
    struct run run;
    char said[4096] = "";
    begin(&run);
    for (int round = 0; round < 4; round++)
        one_round(&run, 70, said, sizeof said);
    assert_non_null(strstr(said, "memory_bound, 25 %"));
    said[0] = '\0';
    set_frontend(&run);
    for (int round = 1; round < DIAGNOSIS_ROUNDS_HIGH; round++)
        one_round(&run, 70, said, sizeof said);
    expect_prometheus(&run, "backend_bound_ratio/memory_bound_ratio");
    assert_string_equal(said, "");
    one_round(&run, 70, said, sizeof said);
    expect_prometheus(&run, "frontend_bound_ratio");
    assert_non_null(strstr(said, "what this host is bound by: Mostly backend_bound ("));
    assert_non_null(strstr(said, ": frontend_bound, 50 %"));
    end(&run);
}

// A snapshot of no round says why nothing is known, wherever it is shown.
static void test_what_is_not_known_has_its_reason_without_being_judged_again(void **state) {
    (void)state;
    struct run run;
    struct text text = {0}, page = {0};
    char name[VERDICT_LOG_NAME_MAX], said[256] = "";
    begin(&run);
    snapshot_unref(run.snapshot);
    run.snapshot = snapshot_new(run.host.layout);
    assert_non_null(run.snapshot);
    run.shown.types[0].snapshot = run.snapshot;
    diagnosis_look(run.diagnosis, run.snapshot);
    verdict_log_name(run.snapshot, name);
    assert_string_equal(name, "none");
    one_round(&run, 70, said, sizeof said);
    assert_string_equal(said, "");
    assert_int_equal(json_render_topdown(&run.shown, 0, JSON_HOST, &text), 0);
    assert_contains(&text, "\"bound_reason\":\t\"nothing has been measured yet\"");
    assert_int_equal(html_render(&run.shown, &page), 0);
    assert_contains(&page, "<p class=\"verdict\">Not known: nothing has been measured yet.");
    end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_output_names_the_same_metric),
        cmocka_unit_test(test_the_log_tells_of_another_verdict_no_sooner_than_prometheus),
        cmocka_unit_test(test_what_is_not_known_has_its_reason_without_being_judged_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
