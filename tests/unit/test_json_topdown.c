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

#include "exporters/html/html.h"
#include "exporters/json/json.h"
#include "exporters/prometheus/prometheus.h"
#include "exporters/view/view_bound.h"
#include "exporters/view/view_sample.h"
#include "tree_host.h"

// Compares with tests/data/golden/NAME, or writes it where TOPDOWND_GOLDEN_WRITE is set.
static void check_golden(const char *name, struct text *text) {
    char path[256];
    (void)snprintf(path, sizeof(path), "tests/data/golden/%s", name);
    text_append(text, "", 1);
    assert_false(text->failed);
    bool write = getenv("TOPDOWND_GOLDEN_WRITE") != NULL;
    FILE *file = fopen(path, write ? "w" : "r");
    if (!file)
        fail_msg("%s cannot be opened: the test runs in the source root", path);
    if (write) {
        assert_int_equal(fwrite(text->data, 1, text->length - 1, file), text->length - 1);
    } else {
        char *expected = calloc(1, 1 << 20);
        assert_non_null(expected);
        assert_true(fread(expected, 1, (1 << 20) - 1, file) > 0);
        assert_string_equal(text->data, expected);
        free(expected);
    }
    (void)fclose(file);
    cJSON *root = cJSON_ParseWithOpts(text->data, NULL, 1);
    assert_non_null(root);
    cJSON_Delete(root);
    text_free(text);
}

static void test_the_tree_of_the_host_is_as_on_file(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = tree_snapshot(&host);
    struct text text = {0};
    tree_set(&host, snapshot, 0, "core_bound", NAN);
    assert_int_equal(json_render_topdown(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}},
                                         0, JSON_HOST, &text),
                     0);
    check_golden("toy_topdown.json", &text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_catalog_is_as_on_file(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct text text = {0};
    assert_int_equal(json_render_catalog(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, 0, &text), 0);
    check_golden("toy_catalog.json", &text);
    host_deinit(&host);
}

// What the scope is bound by: its path as "a/b", and the text.
static void find_bound(const struct exporter_host *host, struct snapshot *snapshot, char path[256], char sentence[1024],
                       enum judge_answer *exceeded) {
    const struct verdict *verdict = &snapshot->verdicts[0].now;
    host_judge(snapshot);
    path[0] = '\0';
    for (size_t i = 0; i < verdict->n; i++) {
        strcat(path, i > 0 ? "/" : "");
        strcat(path, host->catalog->metrics[verdict->path[i]].name);
    }
    struct text text = {0};
    view_bound_text(&host->view, verdict, snapshot, 0, &text);
    text_append(&text, "", 1);
    assert_false(text.failed);
    (void)snprintf(sentence, 1024, "%s", text.data);
    *exceeded = verdict->high;
    text_free(&text);
}

static void assert_bound(const struct exporter_host *host, struct snapshot *snapshot, const char *expected_path,
                         enum judge_answer expected_exceeded, const char *expected_sentence) {
    char path[256], sentence[1024];
    enum judge_answer exceeded;
    find_bound(host, snapshot, path, sentence, &exceeded);
    assert_string_equal(path, expected_path);
    assert_string_equal(sentence, expected_sentence);
    assert_int_equal(exceeded, expected_exceeded);
}

static void assert_command(const struct view *view, const char *metric, const char *expected) {
    struct text text = {0};
    int index = catalog_find_metric(view->layout->catalog, metric);
    assert_true(index >= 0);
    view_sample_command(view, (unsigned)index, &text);
    text_append(&text, "", 1);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

static void test_samples_of_the_nearest_node_show_the_code(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    host.view.pmu = "armv8_pmuv3_7";
    static const char of_backend[] = "perf record -a -g -F 199 -e armv8_pmuv3_7/config=0x14,name=STALL_B/P -- sleep 10";
    assert_command(&host.view, "backend_bound", of_backend);
    assert_command(&host.view, "memory_bound", of_backend); // names no events itself
    assert_command(&host.view, "deep", of_backend);
    assert_command(&host.view, "frontend_bound", "perf record -a -g -F 199 -e cycles:P -- sleep 10");
    host.view.replayed = true; // of another host, whose PMU the spec knows
    assert_command(&host.view, "backend_bound",
                   "perf record -a -g -F 199 -e toy_pmu/config=0x14,name=STALL_B/P -- sleep 10");
    strcpy(host.catalog->pmus[0], "toy*"); // but not by which number
    assert_command(&host.view, "backend_bound", "perf record -a -g -F 199 -e r14:P -- sleep 10");
    host_deinit(&host);
}

// Retiring is larger, but below its threshold. Hidden has no value, so what is below it does not count.
static void test_the_largest_branch_above_its_threshold_is_followed_down(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = tree_snapshot(&host);
    assert_bound(
        &host, snapshot, "backend_bound/memory_bound", JUDGE_YES,
        "backend_bound, 35 % of pipeline slots; in it memory_bound, 25 % of pipeline slots. Mend <this> & that.");
    tree_set(&host, snapshot, 0, "frontend_bound", 0.4);
    assert_bound(&host, snapshot, "frontend_bound", JUDGE_YES, "frontend_bound, 40 % of pipeline slots.");
    tree_set(&host, snapshot, 0, "fetch_latency", 0.101); // a threshold of 10: in the formula's own scale
    assert_bound(
        &host, snapshot, "frontend_bound/fetch_latency", JUDGE_YES,
        "frontend_bound, 40 % of pipeline slots; in it fetch_latency, 10.1 % of clock cycles. Mend <this> & that.");
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_where_nothing_is_above_its_threshold_the_largest_is_named(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = tree_snapshot(&host);
    tree_set(&host, snapshot, 0, "frontend_bound", 0.15);
    tree_set(&host, snapshot, 0, "backend_bound", 0.2);
    assert_bound(&host, snapshot, "retiring", JUDGE_UNKNOWN,
                 "Nothing stands out. The largest share: retiring, 45 % of pipeline slots. Not every threshold of the "
                 "first level could be judged.");
    tree_set(&host, snapshot, 0, "retiring", 0.71);
    assert_bound(&host, snapshot, "retiring", JUDGE_YES, "retiring, 71 % of pipeline slots.");
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_where_every_root_is_low_the_answer_says_so(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host); // without thresholds
    struct snapshot *snapshot = host_snapshot(&host);
    tree_set(&host, snapshot, 0, "frontend_bound", 0.2);
    tree_set(&host, snapshot, 0, "bad_speculation", 0.1);
    tree_set(&host, snapshot, 0, "retiring", 0.6);
    tree_set(&host, snapshot, 0, "backend_bound", 0.1);
    assert_bound(&host, snapshot, "retiring", JUDGE_NO,
                 "Nothing stands out. The largest share: retiring, 60 % of pipeline slots. No share of the first level "
                 "is above its threshold.");
    tree_set(&host, snapshot, 0, "frontend_bound", 0.21);
    assert_bound(&host, snapshot, "frontend_bound", JUDGE_YES, "frontend_bound, 21 % of pipeline slots.");
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_an_answer_whose_interval_overlaps_the_next_ones_says_so(void **state) {
    (void)state;
    static const char certain[] = "frontend_bound, 40 % of pipeline slots.";
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = tree_snapshot(&host);
    tree_set(&host, snapshot, 0, "frontend_bound", 0.4);
    assert_bound(&host, snapshot, "frontend_bound", JUDGE_YES, certain); // no interval, as in the first round
    tree_set_margin(&host, snapshot, 0, "frontend_bound", 0.02);
    assert_bound(&host, snapshot, "frontend_bound", JUDGE_YES, certain);
    tree_set_margin(&host, snapshot, 0, "backend_bound", 0.029); // 35 + 2.9 < 40 - 2
    assert_bound(&host, snapshot, "frontend_bound", JUDGE_YES, certain);
    tree_set_margin(&host, snapshot, 0, "retiring", 0.3); // no candidate: it is not above its threshold
    assert_bound(&host, snapshot, "frontend_bound", JUDGE_YES, certain);
    tree_set_margin(&host, snapshot, 0, "backend_bound", 0.031);
    assert_bound(&host, snapshot, "frontend_bound", JUDGE_YES,
                 "frontend_bound, 40 % of pipeline slots. frontend_bound cannot be told apart from backend_bound, 35 % "
                 "of pipeline slots: their 95 % intervals overlap.");
    struct text text = {0};
    assert_int_equal(json_render_topdown(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}},
                                         0, JSON_HOST, &text),
                     0);
    text_append(&text, "", 1);
    assert_non_null(strstr(text.data, "\"not_told_apart_from\":\t\"backend_bound_ratio\""));
    text_free(&text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_answer_names_the_event_that_never_counts_and_an_idle_host(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = snapshot_new(host.layout);
    for (size_t m = 0; m < host.layout->n_metrics; m++)
        snapshot->absent[snapshot_state(host.layout, 0, m)] = ABSENT_UNDEFINED;
    assert_bound(&host, snapshot, "", JUDGE_UNKNOWN, "Not known: nothing was done: no pipeline slots were counted.");
    for (size_t m = 0; m < host.layout->n_metrics; m++)
        snapshot->absent[snapshot_state(host.layout, 0, m)] = ABSENT_STALLED;
    assert_bound(&host, snapshot, "", JUDGE_UNKNOWN, "Not known: an event that it needs runs and has never counted.");
    snapshot->values[snapshot_trouble(host.layout, 0, EVENT_STALLED)] = 1;
    assert_bound(
        &host, snapshot, "", JUDGE_UNKNOWN,
        "Not known: it needs CYCLES, which runs and has never counted: this CPU, or its hypervisor, may lack it.");
    for (size_t e = 1; e < host.layout->n_events; e++)
        snapshot->values[snapshot_trouble(host.layout, e, EVENT_STALLED)] = 1;
    assert_bound(&host, snapshot, "", JUDGE_UNKNOWN,
                 "Not known: it needs CYCLES and others, which run and have never counted: this CPU, or its "
                 "hypervisor, may lack them.");
    for (size_t m = 0; m < host.layout->n_metrics; m++)
        snapshot->absent[snapshot_state(host.layout, 0, m)] = ABSENT_FILTERED;
    for (size_t e = 0; e < host.layout->n_events; e++) {
        snapshot->values[snapshot_trouble(host.layout, e, EVENT_STALLED)] = NAN;
        snapshot->values[snapshot_trouble(host.layout, e, EVENT_FILTERED)] = e == 0 ? 1 : NAN;
    }
    assert_bound(&host, snapshot, "", JUDGE_UNKNOWN,
                 "Not known: it needs CYCLES, which has never counted, as others that must: something filters events "
                 "here, such as the hypervisor.");
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_without_values_the_answer_is_why(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = snapshot_new(host.layout);
    char sentence[256];
    (void)snprintf(sentence, sizeof(sentence), "Not known: %s.", absent_text(ABSENT_NO_ROUND));
    assert_bound(&host, snapshot, "", JUDGE_UNKNOWN, sentence);
    struct text text = {0};
    assert_int_equal(json_render_topdown(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}},
                                         0, JSON_CPU, &text),
                     0);
    text_append(&text, "", 1);
    cJSON *root = cJSON_ParseWithOpts(text.data, NULL, 1);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(root, "bound")));
    assert_string_equal(cJSON_GetObjectItem(root, "bound_reason")->valuestring, absent_text(ABSENT_NO_ROUND));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "scopes")), 3);
    cJSON_Delete(root);
    text_free(&text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static enum judge_answer high_of(const struct exporter_host *host, const struct snapshot *snapshot, const char *name) {
    enum judge_answer high = JUDGE_UNKNOWN;
    struct tree *tree = tree_new(host->layout);
    bool found = false;
    assert_non_null(tree);
    tree_evaluate(tree, snapshot, 0);
    for (size_t i = 0; i < tree->n; i++) {
        if (strcmp(host->catalog->metrics[tree->nodes[i].metric].name, name) == 0) {
            high = tree->nodes[i].high;
            found = true;
        }
    }
    assert_true(found);
    tree_free(tree);
    return high;
}

static void test_a_threshold_is_judged_as_far_as_what_it_reads_is_measured(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = tree_snapshot(&host);
    assert_int_equal(high_of(&host, snapshot, "backend_bound"), JUDGE_YES);
    assert_int_equal(high_of(&host, snapshot, "fetch_latency"), JUDGE_NO);
    assert_int_equal(high_of(&host, snapshot, "bad_speculation"), JUDGE_NO); // a root: a fifth
    assert_int_equal(high_of(&host, snapshot, "core_bound"), JUDGE_UNKNOWN); // no root, and has none
    assert_int_equal(high_of(&host, snapshot, "retiring"), JUDGE_UNKNOWN);   // hidden decides
    tree_set(&host, snapshot, 0, "retiring", 0.8);
    assert_int_equal(high_of(&host, snapshot, "retiring"), JUDGE_YES); // whatever hidden is
    tree_set(&host, snapshot, 0, "frontend_bound", NAN);
    assert_int_equal(high_of(&host, snapshot, "fetch_latency"), JUDGE_NO); // 9 is not above 10
    assert_int_equal(high_of(&host, snapshot, "frontend_bound"), JUDGE_UNKNOWN);
    tree_set(&host, snapshot, 0, "fetch_latency", 0.2);
    assert_int_equal(high_of(&host, snapshot, "fetch_latency"), JUDGE_UNKNOWN);
    tree_set(&host, snapshot, 0, "fetch_latency", NAN);
    tree_set(&host, snapshot, 0, "frontend_bound", 0.1);
    assert_int_equal(high_of(&host, snapshot, "fetch_latency"), JUDGE_NO); // whatever it is: 10 is not above 15
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_missing_value_between_two_limits_leaves_a_threshold_open(void **state) {
    (void)state;
    struct exporter_host host;
    struct fault error;
    struct catalog_builder *builder = tree_builder();
    int metric = catalog_find_metric(catalog_builder_catalog(builder), "bad_speculation");
    assert_int_equal(
        catalog_builder_set_threshold(builder, (unsigned)metric, "hidden > 0.1 & hidden < 0.5 & retiring > 10", &error),
        0);
    host_init_with(&host, catalog_builder_finish(builder), 4);
    struct snapshot *snapshot = tree_snapshot(&host);
    tree_set(&host, snapshot, 0, "retiring", 0.2);
    assert_int_equal(high_of(&host, snapshot, "bad_speculation"), JUDGE_UNKNOWN);
    tree_set(&host, snapshot, 0, "retiring", 0.05);
    assert_int_equal(high_of(&host, snapshot, "bad_speculation"), JUDGE_NO);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static bool contains(struct text *text, const char *word) {
    text_append(text, "", 1);
    assert_false(text->failed);
    bool found = strstr(text->data, word) != NULL;
    text->length--;
    return found;
}

// core_part is what another metric needs; memory_bound is made of it, and core_bound of metrics alone.
static void test_what_was_not_selected_is_measured_but_not_exported(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    assert_true(host.plan->metrics[host_metric(&host, "core_part")].auxiliary);
    assert_int_equal(host.plan->metrics[host_metric(&host, "core_bound")].unit, PLAN_COMBINED);
    struct snapshot *snapshot = tree_snapshot(&host);
    struct text text = {0};
    for (int per_cpu = 0; per_cpu < 2; per_cpu++) {
        struct series *series = series_new(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, per_cpu);
        assert_non_null(series);
        text.length = 0;
        assert_int_equal(prometheus_render(series, &(struct shown){.n = 1, .types = {{.snapshot = snapshot}}}, &text),
                         0);
        assert_false(contains(&text, "core_part"));
        assert_true(contains(&text, per_cpu ? "\ntopdownd_cpu_core_bound_ratio{" : "\ntopdownd_core_bound_ratio{"));
        series_free(series);
    }
    text.length = 0;
    assert_int_equal(
        json_render_snapshot(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}}, 0,
                             JSON_HOST, &text),
        0);
    assert_false(contains(&text, "core_part"));
    assert_true(contains(&text, "\"core_bound_ratio\":{\"value\":0.1,"));
    text_free(&text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static const cJSON *find_named(const cJSON *array, const char *key, const char *value) {
    const cJSON *item;
    cJSON_ArrayForEach(item, array) {
        const cJSON *member = key ? cJSON_GetObjectItem(item, key) : item;
        if (strcmp(member->valuestring, value) == 0)
            return item;
    }
    return NULL;
}

static void test_the_plan_marks_what_was_not_selected_and_what_is_combined(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct text text = {0};
    assert_int_equal(json_render_plan(&(struct shown){.n = 1, .types = {{.view = &host.view}}}, 0, &text), 0);
    text_append(&text, "", 1);
    cJSON *root = cJSON_Parse(text.data);
    const cJSON *group, *combined = cJSON_GetObjectItem(root, "combined");
    int found = 0;
    cJSON_ArrayForEach(group, cJSON_GetObjectItem(root, "event_groups")) {
        found += find_named(cJSON_GetObjectItem(group, "auxiliary_metrics"), NULL, "core_part_ratio") != NULL;
        assert_null(find_named(cJSON_GetObjectItem(group, "metrics"), NULL, "core_part_ratio"));
    }
    assert_int_equal(found, 1);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(combined, "metrics")), 1);
    assert_non_null(find_named(cJSON_GetObjectItem(combined, "metrics"), NULL, "core_bound_ratio"));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(combined, "auxiliary_metrics")), 0);
    assert_null(find_named(cJSON_GetObjectItem(root, "not_plannable"), "metric", "core_bound_ratio"));
    cJSON_Delete(root);
    text_free(&text);
    host_deinit(&host);
}

// The number of nodes that are high, each of which must have metric groups and a command.
static size_t check_next(const cJSON *nodes) {
    const cJSON *node;
    size_t n = 0;
    cJSON_ArrayForEach(node, nodes) {
        bool high = cJSON_IsTrue(cJSON_GetObjectItem(node, "exceeded"));
        assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(node, "next_groups")) > 0, high);
        assert_int_equal(cJSON_IsString(cJSON_GetObjectItem(node, "sample_command")), high);
        n += high + check_next(cJSON_GetObjectItem(node, "children"));
    }
    return n;
}

static void test_every_node_that_is_high_leads_on(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = tree_snapshot(&host);
    struct text json = {0};
    assert_int_equal(json_render_topdown(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}},
                                         0, JSON_HOST, &json),
                     0);
    text_append(&json, "", 1);
    cJSON *root = cJSON_Parse(json.data);
    size_t n = check_next(cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "scopes"), 0), "tree"));
    assert_true(n >= 3);
    cJSON_Delete(root);
    text_free(&json);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_the_short_page_shows_the_answer_escaped(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = tree_snapshot(&host);
    struct text text = {0};
    assert_int_equal(html_render(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}}, &text),
                     0);
    assert_true(contains(&text, "in it memory_bound, 25 % of pipeline slots. Mend &lt;this&gt; &amp; that.\n"));
    assert_true(contains(&text, "<p class=\"since\">Since 2023-11-14 22:12:20 UTC"));
    assert_true(contains(&text, "<p>Next, look at the metric group"));
    assert_true(contains(&text, "<code>perf record "));
    snapshot->verdicts[0].now.since = verdict_since_unknown();
    text.length = 0;
    assert_int_equal(html_render(&(struct shown){.n = 1, .types = {{.view = &host.view, .snapshot = snapshot}}}, &text),
                     0);
    assert_false(contains(&text, "class=\"since\""));
    text_free(&text);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_tree_of_the_host_is_as_on_file),
        cmocka_unit_test(test_the_catalog_is_as_on_file),
        cmocka_unit_test(test_samples_of_the_nearest_node_show_the_code),
        cmocka_unit_test(test_the_largest_branch_above_its_threshold_is_followed_down),
        cmocka_unit_test(test_where_nothing_is_above_its_threshold_the_largest_is_named),
        cmocka_unit_test(test_where_every_root_is_low_the_answer_says_so),
        cmocka_unit_test(test_an_answer_whose_interval_overlaps_the_next_ones_says_so),
        cmocka_unit_test(test_the_answer_names_the_event_that_never_counts_and_an_idle_host),
        cmocka_unit_test(test_without_values_the_answer_is_why),
        cmocka_unit_test(test_a_threshold_is_judged_as_far_as_what_it_reads_is_measured),
        cmocka_unit_test(test_a_missing_value_between_two_limits_leaves_a_threshold_open),
        cmocka_unit_test(test_what_was_not_selected_is_measured_but_not_exported),
        cmocka_unit_test(test_the_plan_marks_what_was_not_selected_and_what_is_combined),
        cmocka_unit_test(test_every_node_that_is_high_leads_on),
        cmocka_unit_test(test_the_short_page_shows_the_answer_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
