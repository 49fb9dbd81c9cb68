// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exporter_host.h"
#include "exporters/json/json.h"

// What a path such as "scopes[1].metrics.ipc.value" leads to.
static const cJSON *at(const cJSON *root, const char *path) {
    const cJSON *item = root;
    char key[128];
    for (const char *p = path; *p;) {
        if (*p == '[') {
            item = cJSON_GetArrayItem(item, atoi(p + 1));
            p = strchr(p, ']') + 1;
        } else {
            p += *p == '.';
            size_t n = strcspn(p, ".[");
            assert_true(n < sizeof(key));
            memcpy(key, p, n);
            key[n] = '\0';
            item = cJSON_GetObjectItemCaseSensitive(item, key);
            p += n;
        }
        if (!item)
            fail_msg("no %s", path);
    }
    return item;
}

static void assert_number(const cJSON *root, const char *path, double expected) {
    const cJSON *item = at(root, path);
    assert_true(cJSON_IsNumber(item));
    if (item->valuedouble != expected)
        fail_msg("%s is %.17g, not %.17g", path, item->valuedouble, expected);
}

static void assert_text(const cJSON *root, const char *path, const char *expected) {
    const cJSON *item = at(root, path);
    assert_true(cJSON_IsString(item));
    assert_string_equal(item->valuestring, expected);
}

static cJSON *parse(struct text *text) {
    text_append(text, "", 1);
    assert_false(text->failed);
    cJSON *root = cJSON_ParseWithOpts(text->data, NULL, 1);
    if (!root)
        fail_msg("this is no JSON: %.2000s", text->data);
    text_free(text);
    return root;
}

static cJSON *render_snapshot(const struct exporter_host *host, const struct snapshot *snapshot,
                              enum json_scope scope) {
    struct text text = {0};
    assert_int_equal(
        json_render_snapshot(
            &(struct shown){.n = 1, .types = {{.view = (struct view *)(uintptr_t)&host->view, .snapshot = snapshot}}},
            0, scope, &text),
        0);
    return parse(&text);
}

static cJSON *render_status(const struct exporter_host *host, const struct snapshot *snapshot) {
    struct text text = {0};
    assert_int_equal(
        json_render_status(
            &(struct shown){.n = 1, .types = {{.view = (struct view *)(uintptr_t)&host->view, .snapshot = snapshot}}},
            0, &text),
        0);
    return parse(&text);
}

static void test_the_host_has_totals_gauges_and_events(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    cJSON *root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_true(cJSON_IsFalse(at(root, "simulated")));
    assert_number(root, "sequence", 3);
    assert_number(root, "round.start_ns", 5000000000);
    assert_number(root, "round.end_ns", 7500000000);
    assert_number(root, "round.seconds", 2.5);
    assert_number(root, "timestamp_seconds", 1700000000.125);
    assert_text(root, "scope", "host");
    assert_int_equal(cJSON_GetArraySize(at(root, "scopes")), 1);
    assert_text(root, "scopes[0].scope", "host");
    assert_number(root, "scopes[0].level1.pipeline_slots_total", 4e12 + 7);
    assert_number(root, "scopes[0].level1.categories.retiring.pipeline_slots_total", 1e12 + 2.25);
    assert_text(root, "scopes[0].level1.categories.retiring.metric", "retiring_ratio");
    assert_int_equal(cJSON_GetArraySize(at(root, "scopes[0].level1.categories")), 4);
    assert_number(root, "scopes[0].level1.deviation_ratio", 0.001);
    assert_true(cJSON_IsFalse(at(root, "scopes[0].level1.composite")));
    assert_number(root, "scopes[0].metrics.branch_mpki.value", 1.06);
    assert_true(cJSON_IsNull(at(root, "scopes[0].metrics.branch_mpki.reason")));
    assert_text(root, "scopes[0].metrics.branch_mpki.unit", "MPKI");
    assert_number(root, "scopes[0].metrics.branch_mpki.low", 1.06 - 1.0 / 32);
    assert_number(root, "scopes[0].metrics.branch_mpki.high", 1.06 + 1.0 / 32);
    assert_number(root, "scopes[0].metrics.branch_mpki.windows", 10);
    assert_number(root, "scopes[0].metrics.branch_mpki.share_of_time", 0.125);
    assert_text(root, "scopes[0].metrics.branch_mpki.quality", "fair");
    assert_true(cJSON_IsNull(at(root, "scopes[0].metrics.branch_mpki.quality_reason")));
    assert_true(cJSON_IsFalse(at(root, "scopes[0].metrics.branch_mpki.exact")));
    assert_true(cJSON_IsNull(at(root, "scopes[0].metrics.branch_mpki.interval_reason")));
    assert_number(root, "scopes[0].metrics.branch_mpki.numerator_total", 1000006.25);
    assert_number(root, "scopes[0].metrics.branch_mpki.denominator_total", 1000000006.75);
    assert_number(root, "scopes[0].metrics.branch_mpki.k", 1000);
    assert_text(root, "scopes[0].metrics.retiring_ratio.unit", "ratio of pipeline slots");
    assert_number(root, "scopes[0].events.INST", 1e15 + 1);
    assert_number(root, "scopes[0].covered_cpu_seconds", 100.125);
    static const char *const reasons[] = {"starved", "failed", "offline", "stalled", "not_plannable", "yielded", "gap"};
    assert_int_equal(cJSON_GetArraySize(at(root, "scopes[0].uncovered_cpu_seconds")), 7);
    for (int i = 0; i < 7; i++) {
        char path[64];
        (void)snprintf(path, sizeof(path), "scopes[0].uncovered_cpu_seconds.%s", reasons[i]);
        assert_number(root, path, 1 + i * 0.5);
    }
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_sockets_and_cpus_carry_the_kernels_numbers(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    cJSON *root = render_snapshot(&host, snapshot, JSON_SOCKET);
    assert_text(root, "scope", "socket");
    assert_int_equal(cJSON_GetArraySize(at(root, "scopes")), 2);
    assert_number(root, "scopes[1].socket", 7);
    assert_number(root, "scopes[1].metrics.ipc.value", 3.04);
    assert_null(cJSON_GetObjectItem(at(root, "scopes[1]"), "attention"));
    cJSON_Delete(root);
    root = render_snapshot(&host, snapshot, JSON_CPU);
    assert_int_equal(cJSON_GetArraySize(at(root, "scopes")), 3);
    assert_number(root, "scopes[2].cpu", 4);
    assert_number(root, "scopes[2].socket", 7);
    assert_number(root, "scopes[2].events.CYCLES", 6e15);
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_what_is_absent_is_null_with_a_reason(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t ipc = host_metric(&host, "ipc");
    snapshot->values[snapshot_metric(host.layout, 0, ipc)] = NAN;
    snapshot->absent[ipc] = ABSENT_STARVED;
    cJSON *root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_true(cJSON_IsNull(at(root, "scopes[0].metrics.ipc.value")));
    assert_text(root, "scopes[0].metrics.ipc.reason", absent_text(ABSENT_STARVED));
    assert_true(cJSON_IsNull(at(root, "scopes[0].metrics.wide.value")));
    assert_text(root, "scopes[0].metrics.wide.reason", host.plan->metrics[host_metric(&host, "wide")].reason);
    assert_non_null(strstr(at(root, "scopes[0].metrics.wide.reason")->valuestring, "counters"));
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    snapshot = snapshot_new(host.layout);
    root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_text(root, "scopes[0].metrics.ipc.reason", absent_text(ABSENT_NO_ROUND));
    assert_true(cJSON_IsNull(at(root, "timestamp_seconds")));
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

// Sets an interval of the host's IPC, and the share of the time behind it.
static void set_interval(const struct exporter_host *host, struct snapshot *snapshot, double low, double high,
                         double share) {
    size_t ipc = host_metric(host, "ipc");
    snapshot->values[snapshot_low(host->layout, 0, ipc)] = low;
    snapshot->values[snapshot_high(host->layout, 0, ipc)] = high;
    snapshot->values[snapshot_share_of_time(host->layout, 0, ipc)] = share;
}

static void test_exact_is_what_was_counted_all_the_time(void **state) {
    (void)state;
    static const struct {
        double low, high, share;
        bool exact;
    } cases[] = {{2, 2, 1, true}, {2, 2, 0.166, false}, {2, 2, NAN, false}, {1.5, 2.5, 1, false}, {NAN, NAN, 1, false}};
    struct exporter_host host;
    host_init(&host);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct snapshot *snapshot = host_snapshot(&host);
        set_interval(&host, snapshot, cases[i].low, cases[i].high, cases[i].share);
        cJSON *root = render_snapshot(&host, snapshot, JSON_HOST);
        assert_int_equal(cJSON_IsTrue(at(root, "scopes[0].metrics.ipc.exact")), cases[i].exact);
        assert_int_equal(cJSON_IsString(at(root, "scopes[0].metrics.ipc.interval_reason")), isnan(cases[i].low));
        cJSON_Delete(root);
        snapshot_unref(snapshot);
    }
    host_deinit(&host);
}

static void test_a_value_without_an_interval_says_why(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    set_interval(&host, snapshot, NAN, NAN, 0.166);
    cJSON *root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_non_null(strstr(at(root, "scopes[0].metrics.ipc.interval_reason")->valuestring, "second round"));
    cJSON_Delete(root);
    host.view.replayed = true; // and no topdownd recorded it: a log of perf
    host.view.files.recorder = NULL;
    root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_non_null(strstr(at(root, "scopes[0].metrics.ipc.interval_reason")->valuestring, "perf took turns"));
    cJSON_Delete(root);
    root = render_snapshot(&host, snapshot, JSON_CPU); // the same text for a thousand CPUs
    assert_null(cJSON_GetObjectItem(at(root, "scopes[0].metrics.ipc"), "interval_reason"));
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

// On pages of single CPUs as well, which are poor more often.
static void test_a_poor_interval_says_why(void **state) {
    (void)state;
    static const enum json_scope kinds[] = {JSON_HOST, JSON_CPU};
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    for (size_t i = 0; i < snapshot_n_states(host.layout); i++)
        snapshot_set_trust(snapshot, i, ESTIMATE_POOR, ESTIMATE_SLEPT);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        cJSON *root = render_snapshot(&host, snapshot, kinds[k]);
        assert_text(root, "scopes[0].metrics.ipc.quality", "poor");
        assert_non_null(strstr(at(root, "scopes[0].metrics.ipc.quality_reason")->valuestring, "the core slept"));
        cJSON_Delete(root);
    }
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_rate_above_its_threshold_asks_for_attention(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t rate = snapshot_rate_above(host.layout, 0, host_metric(&host, "faults"));
    const double quiet[] = {NAN, 3, 100};
    for (int i = 0; i < 3; i++) {
        snapshot->values[rate] = quiet[i];
        cJSON *root = render_snapshot(&host, snapshot, JSON_HOST);
        assert_int_equal(cJSON_GetArraySize(at(root, "scopes[0].attention")), 0);
        cJSON_Delete(root);
    }
    snapshot->values[rate] = 100.5;
    cJSON *root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_text(root, "scopes[0].attention[0].metric", "faults_per_second");
    assert_number(root, "scopes[0].attention[0].rate", 100.5);
    assert_number(root, "scopes[0].attention[0].threshold", 100);
    assert_text(root, "scopes[0].attention[0].advice", "Look for <swap>.");
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_plan_names_event_groups_and_what_cannot_be_planned(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct text text = {0};
    assert_int_equal(json_render_plan(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, 0, &text), 0);
    cJSON *root = parse(&text);
    assert_number(root, "slot_seconds", 0.2);
    assert_text(root, "seed", "18446744073709551615");
    assert_int_equal(cJSON_GetArraySize(at(root, "event_groups")), (int)host.plan->n_groups);
    assert_text(root, "event_groups[0].name", "topdown_l1");
    assert_int_equal(cJSON_GetArraySize(at(root, "event_groups[0].metrics")), 4);
    assert_text(root, "event_groups[0].events[0].name", "CYCLES");
    assert_text(root, "event_groups[0].events[0].code", "0x11");
    assert_int_equal(cJSON_GetArraySize(at(root, "not_plannable")), 1);
    assert_text(root, "not_plannable[0].metric", "wide");
    double shares = at(root, "idle_seconds")->valuedouble / at(root, "round_seconds")->valuedouble;
    const cJSON *group;
    cJSON_ArrayForEach(group, at(root, "event_groups")) shares += at(group, "share_of_time")->valuedouble;
    assert_true(fabs(shares - 1) < 1e-9);
    cJSON_Delete(root);
    host_deinit(&host);
}

static void test_a_fixed_plan_says_so(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct text text = {0};
    assert_int_equal(json_render_plan(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, 0, &text), 0);
    cJSON *root = parse(&text);
    assert_text(root, "mode", "fixed");
    assert_true(cJSON_IsNull(at(root, "adaptive")));
    const cJSON *group;
    cJSON_ArrayForEach(group, at(root, "event_groups")) assert_true(
        fabs(at(group, "share_of_time")->valuedouble - at(group, "baseline_share_of_time")->valuedouble) < 1e-9);
    cJSON_Delete(root);
    host_deinit(&host);
}

// As if the plan gave the groups other than level 1's more slots than it does while nothing is raised.
static void give_more_slots(struct exporter_host *host) {
    for (unsigned u = 0; u < host->plan->n_units; u++)
        if (host->plan->level1_unit != (int)u)
            host->plan->units[u].baseline_share /= 2;
}

static void test_an_adaptive_plan_says_what_is_raised_why_and_since_when(void **state) {
    (void)state;
    struct exporter_host host;
    struct adapt_group groups[2];
    host_init(&host);
    give_more_slots(&host);
    const struct adapt_report report = host_report(groups);
    struct text text = {0};
    host.view.adapt = &report;
    assert_int_equal(json_render_plan(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, 0, &text), 0);
    cJSON *root = parse(&text);
    assert_text(root, "mode", "adaptive");
    assert_text(root, "adaptive.groups[0].group", "Topdown_L1");
    assert_true(cJSON_IsFalse(at(root, "adaptive.groups[0].raised")));
    assert_true(cJSON_IsNull(at(root, "adaptive.groups[0].raised_by")));
    assert_true(cJSON_IsNull(at(root, "adaptive.groups[0].since_timestamp_seconds")));
    assert_true(cJSON_IsTrue(at(root, "adaptive.groups[1].raised")));
    assert_text(root, "adaptive.groups[1].raised_by", "backend_bound_ratio");
    assert_number(root, "adaptive.groups[1].value", 0.5);
    assert_number(root, "adaptive.groups[1].since_timestamp_seconds", 1700000200);
    assert_int_equal(cJSON_GetArraySize(at(root, "adaptive.decisions")), 3);
    assert_text(root, "adaptive.decisions[0].reason", "Others is raised: backend_bound_ratio is high (0.5)");
    assert_text(root, "adaptive.decisions[1].reason", "Others is no longer raised: frontend_bound_ratio has fallen");
    assert_true(cJSON_IsNull(at(root, "adaptive.decisions[1].value")));
    assert_number(root, "adaptive.decisions[2].timestamp_seconds", 1700000000);
    // each metric group has event groups of its own here: theirs and the idle time are the round
    double sum = at(root, "idle_seconds")->valuedouble / at(root, "round_seconds")->valuedouble;
    for (int i = 0; i < 2; i++)
        sum += at(cJSON_GetArrayItem(at(root, "adaptive.groups"), i), "share_of_time")->valuedouble;
    assert_true(fabs(sum - 1) < 1e-9);
    cJSON_Delete(root);
    host_deinit(&host);
}

static void test_status_and_page_say_what_is_raised(void **state) {
    (void)state;
    struct exporter_host host;
    struct adapt_group groups[2];
    host_init(&host);
    give_more_slots(&host);
    const struct adapt_report report = host_report(groups);
    struct snapshot *snapshot = host_snapshot(&host);
    struct text text = {0};
    assert_int_equal(
        json_render_status(
            &(struct shown){.n = 1, .types = {{.view = (struct view *)(uintptr_t)&host.view, .snapshot = snapshot}}}, 0,
            &text),
        0);
    cJSON *root = parse(&text);
    assert_text(root, "schedule.mode", "fixed");
    assert_int_equal(cJSON_GetArraySize(at(root, "schedule.raised")), 0);
    cJSON_Delete(root);
    host.view.adapt = &report;
    assert_int_equal(
        json_render_status(
            &(struct shown){.n = 1, .types = {{.view = (struct view *)(uintptr_t)&host.view, .snapshot = snapshot}}}, 0,
            &text),
        0);
    root = parse(&text);
    assert_text(root, "schedule.mode", "adaptive");
    assert_int_equal(cJSON_GetArraySize(at(root, "schedule.raised")), 1);
    assert_text(root, "schedule.raised[0]", "Others");
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_plan_says_of_each_event_whether_the_pmu_has_it(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    host.plan->support[catalog_find_event(host.catalog, "L1D_MISS")] = PLAN_UNSUPPORTED;
    host.plan->reserved_counters = 2;
    struct text text = {0};
    assert_int_equal(json_render_plan(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, 0, &text), 0);
    cJSON *root = parse(&text);
    assert_number(root, "general_counters", 4);
    assert_number(root, "reserved_counters", 2);
    assert_number(root, "counters_total", 7);
    assert_number(root, "counters_usable", 5);
    assert_int_equal(cJSON_GetArraySize(at(root, "events")), 10); // also those of what cannot be planned
    assert_text(root, "events[0].name", "CYCLES");
    assert_text(root, "events[0].code", "0x11");
    assert_text(root, "events[0].support", "supported");
    assert_text(root, "events[1].support", "unknown");
    assert_text(root, "events[8].name", "L1D_MISS");
    assert_text(root, "events[8].support", "unsupported");
    cJSON_Delete(root);
    host.view.counters.total = host.view.counters.usable = 0;
    assert_int_equal(json_render_plan(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, 0, &text), 0);
    root = parse(&text);
    assert_true(cJSON_IsNull(at(root, "counters_total")));
    assert_true(cJSON_IsNull(at(root, "counters_usable")));
    cJSON_Delete(root);
    host_deinit(&host);
}

static void test_the_status_lists_the_events_that_are_not_live(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    cJSON *root = render_status(&host, snapshot);
    static const char *const expected[][2] = {
        {"STALLED", "stalled"}, {"L1D_MISS", "unsupported"}, {"FAULTS", "starved"}};
    assert_int_equal(cJSON_GetArraySize(at(root, "events_not_live")), 3);
    for (int i = 0; i < 3; i++) {
        const cJSON *event = cJSON_GetArrayItem(at(root, "events_not_live"), i);
        assert_text(event, "event", expected[i][0]);
        assert_text(event, "state", expected[i][1]);
        assert_true(strlen(at(event, "text")->valuestring) > 10);
    }
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    snapshot = snapshot_new(host.layout); // before the first round
    root = render_status(&host, snapshot);
    assert_int_equal(cJSON_GetArraySize(at(root, "events_not_live")), 0);
    assert_true(cJSON_IsNull(at(root, "sockets[0].cpus_offline")));
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_level_1_that_cannot_be_planned_is_null_and_no_composite(void **state) {
    (void)state;
    struct exporter_host host;
    host_init_with(&host, host_catalog(), 2);
    assert_int_equal(host.plan->level1_unit, -1);
    assert_false(view_composite(&host.view));
    struct snapshot *snapshot = host_snapshot(&host);
    cJSON *root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_true(cJSON_IsNull(at(root, "scopes[0].level1.pipeline_slots_total")));
    assert_true(cJSON_IsNull(at(root, "scopes[0].level1.categories.retiring.pipeline_slots_total")));
    assert_true(cJSON_IsFalse(at(root, "scopes[0].level1.composite")));
    assert_non_null(strstr(at(root, "scopes[0].metrics.retiring_ratio.reason")->valuestring, "need 4 counters"));
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_metric_that_can_no_longer_be_planned_keeps_its_totals(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    cJSON *root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_true(cJSON_IsNull(at(root, "scopes[0].metrics.wide.numerator_total"))); // never measured
    cJSON_Delete(root);
    snapshot->values[snapshot_numerator(host.layout, 0, host_metric(&host, "wide"))] = 41;
    snapshot->values[snapshot_denominator(host.layout, 0, host_metric(&host, "wide"))] = 42;
    root = render_snapshot(&host, snapshot, JSON_HOST);
    assert_true(cJSON_IsNull(at(root, "scopes[0].metrics.wide.value")));
    assert_number(root, "scopes[0].metrics.wide.numerator_total", 41);
    assert_number(root, "scopes[0].metrics.wide.denominator_total", 42);
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_status_tells_the_host_the_pmu_and_the_configuration(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    host.view.simulated = true;
    host.view.hostname = "b\xFFx\"";
    struct snapshot *snapshot = host_snapshot(&host);
    cJSON *root = render_status(&host, snapshot);
    assert_text(root, "version", "1.2.3");
    assert_true(cJSON_IsTrue(at(root, "simulated")));
    assert_text(root, "hostname", "b\xEF\xBF\xBDx\"");
    assert_text(root, "cpu.model", "Toy \"one\"\\\n");
    assert_number(root, "sockets[1].cpus_excluded", 1);
    assert_number(root, "pmu.up", 1);
    assert_number(root, "sockets[0].cpus_offline", 1);
    assert_number(root, "sockets[1].cpus_offline", 0);
    assert_number(root, "pmu.counters_total", 7);
    assert_number(root, "pmu.counters_usable", 5);
    assert_number(root, "pmu.kernel_memory_bytes", 612 * 2048);
    assert_text(root, "pmu_errors[0].text", "the kernel shows no cpu_core: <load> its driver");
    assert_text(root, "config.hash", "0000000000000abc");
    assert_number(root, "snapshot.sequence", 3);
    assert_number(root, "process.resident_bytes", 13);
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_view_is_a_copy_that_lives_until_its_last_reference_goes(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    char reason[] = "absent", words[] = "remedy";
    const struct view_pmu_error error = {.pmu = "cpu", .reason = reason, .text = words};
    host.view.pmu_errors = &error;
    struct view *view = view_new(&host.view);
    assert_non_null(view);
    reason[0] = words[0] = '!'; // the view has its own
    assert_string_equal(view->pmu_errors[0].reason, "absent");
    assert_string_equal(view->pmu_errors[0].text, "remedy");
    assert_int_equal(atomic_load(&view->references), 1);
    assert_int_equal(atomic_load(&host.layout->references), 2);
    assert_ptr_equal(view_ref(view), view);
    assert_null(view_unref(view));
    assert_string_equal(view->version, "1.2.3"); // still there: the address sanitizer watches
    assert_null(view_unref(view));
    assert_int_equal(atomic_load(&host.layout->references), 1);
    assert_null(view_unref(NULL));
    host_deinit(&host);
}

// All that can be raised is raised: nothing gets more.
static void test_what_gets_no_more_of_the_round_is_not_told_to_be_raised(void **state) {
    (void)state;
    struct exporter_host host;
    struct adapt_group groups[2];
    host_init(&host);
    const struct adapt_report report = host_report(groups);
    struct snapshot *snapshot = host_snapshot(&host);
    struct text text = {0};
    host.view.adapt = &report;
    assert_int_equal(json_render_plan(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, 0, &text), 0);
    cJSON *root = parse(&text);
    assert_true(cJSON_IsFalse(at(root, "adaptive.groups[1].raised")));
    assert_true(cJSON_IsNull(at(root, "adaptive.groups[1].raised_by")));
    cJSON_Delete(root);
    assert_int_equal(
        json_render_status(
            &(struct shown){.n = 1, .types = {{.view = (struct view *)(uintptr_t)&host.view, .snapshot = snapshot}}}, 0,
            &text),
        0);
    root = parse(&text);
    assert_int_equal(cJSON_GetArraySize(at(root, "schedule.raised")), 0);
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_host_has_totals_gauges_and_events),
        cmocka_unit_test(test_sockets_and_cpus_carry_the_kernels_numbers),
        cmocka_unit_test(test_what_is_absent_is_null_with_a_reason),
        cmocka_unit_test(test_exact_is_what_was_counted_all_the_time),
        cmocka_unit_test(test_a_value_without_an_interval_says_why),
        cmocka_unit_test(test_a_poor_interval_says_why),
        cmocka_unit_test(test_a_rate_above_its_threshold_asks_for_attention),
        cmocka_unit_test(test_the_plan_names_event_groups_and_what_cannot_be_planned),
        cmocka_unit_test(test_a_fixed_plan_says_so),
        cmocka_unit_test(test_an_adaptive_plan_says_what_is_raised_why_and_since_when),
        cmocka_unit_test(test_status_and_page_say_what_is_raised),
        cmocka_unit_test(test_what_gets_no_more_of_the_round_is_not_told_to_be_raised),
        cmocka_unit_test(test_the_plan_says_of_each_event_whether_the_pmu_has_it),
        cmocka_unit_test(test_the_status_tells_the_host_the_pmu_and_the_configuration),
        cmocka_unit_test(test_the_status_lists_the_events_that_are_not_live),
        cmocka_unit_test(test_level_1_that_cannot_be_planned_is_null_and_no_composite),
        cmocka_unit_test(test_a_metric_that_can_no_longer_be_planned_keeps_its_totals),
        cmocka_unit_test(test_a_view_is_a_copy_that_lives_until_its_last_reference_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
