// SPDX-License-Identifier: Apache-2.0
//
// The facts of a platform as values, and on each page.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "exporters/json/json.h"
#include "prometheus_check.h"

static const char UNKNOWN[] = "no <file>";

static struct platform *made(void) {
    struct platform *platform = platform_new(UNKNOWN);
    struct platform_share shares[2] = {{.text = "performance"}, {.text = "power\"save\n"}};
    assert_non_null(platform);
    cpuset_add(&shares[0].cpus, 0);
    for (unsigned cpu = 1; cpu < 4; cpu++)
        cpuset_add(&shares[1].cpus, cpu);
    platform_set_shares(platform, PLATFORM_GOVERNOR, shares, 2);
    platform_set_shares(platform, PLATFORM_MICROCODE, &(struct platform_share){.text = "0x1"}, 1);
    platform_set_text(platform, PLATFORM_SMT, "on");
    platform_set_number(platform, PLATFORM_NUMA_NODES, 2);
    platform_set_number(platform, PLATFORM_FREQUENCY_MAXIMUM, 3.8e9);
    platform_set_number(platform, PLATFORM_RESERVED_HUGEPAGES, 3 * 1024 * 1024.);
    return platform;
}

static void test_what_formulas_are_told_is_taken_over_and_nothing_assumed(void **state) {
    (void)state;
    struct environment environment;
    struct platform *platform = platform_new(UNKNOWN);
    environment_init(&environment); // of no host: SMT is assumed for formulas
    platform_set_environment(platform, &environment.facts);
    for (int key = 0; key < PLATFORM_KEY_N; key++)
        assert_string_equal(platform->facts[key].reason, UNKNOWN);
    environment.facts.literals[LITERAL_NUM_CORES] = 32;
    environment.facts.literals[LITERAL_NUM_CPUS_ONLINE] = 64;
    environment.facts.literals[LITERAL_NUM_PACKAGES] = 2;
    platform_set_environment(platform, &environment.facts);
    assert_string_equal(platform->facts[PLATFORM_SMT].values[0].text, "on");
    assert_true(platform->facts[PLATFORM_THREADS_PER_CORE].values[0].number == 2);
    assert_true(platform->facts[PLATFORM_SOCKETS].values[0].number == 2);
    assert_string_equal(platform->facts[PLATFORM_KERNEL].reason, UNKNOWN);
    platform_unref(platform);
}

static void test_platforms_are_equal_only_in_all_facts(void **state) {
    (void)state;
    struct platform *a = made(), *b = made();
    assert_true(platform_equal(a, b));
    platform_set_unknown(b, PLATFORM_KERNEL, "%s", "another reason");
    assert_false(platform_equal(a, b));
    platform_set_text(b, PLATFORM_KERNEL, "6.8");
    assert_false(platform_equal(a, b));
    platform_unref(b);
    b = made();
    platform_set_number(b, PLATFORM_NUMA_NODES, 3);
    assert_false(platform_equal(a, b));
    platform_unref(a);
    platform_unref(b);
}

static const cJSON *fact_of(const cJSON *root, const char *key) {
    const cJSON *fact = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "platform"), key);
    assert_non_null(fact);
    return fact;
}

static void test_status_has_a_value_or_those_of_cpus_that_differ_or_a_reason(void **state) {
    (void)state;
    struct exporter_host host;
    struct text text = {0};
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    struct platform *platform = host.view.platform = made();
    assert_int_equal(
        json_render_status(
            &(struct shown){.n = 1, .types = {{.view = (struct view *)(uintptr_t)&host.view, .snapshot = snapshot}}}, 0,
            &text),
        0);
    text_append(&text, "", 1);
    cJSON *root = cJSON_Parse(text.data);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "platform")), PLATFORM_KEY_N);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(fact_of(root, "smt"), "value")), "on");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(fact_of(root, "smt"), "reason")));
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(fact_of(root, "microcode"), "value")), "0x1");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(fact_of(root, "microcode"), "by_cpus")), 0);
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(fact_of(root, "frequency_maximum_hertz"), "value")) == 3.8e9);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(fact_of(root, "kernel"), "value")));
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(fact_of(root, "kernel"), "reason")), UNKNOWN);
    const cJSON *governor = fact_of(root, "frequency_governor"),
                *others = cJSON_GetArrayItem(cJSON_GetObjectItem(governor, "by_cpus"), 1);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(governor, "value")));
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(governor, "reason")), "CPUs differ");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(others, "value")), "power\"save?");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(others, "cpus")), "1-3");
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(others, "n_cpus")) == 3);
    cJSON_Delete(root);
    text_free(&text);
    platform_unref(platform);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_prometheus_has_one_series_with_what_is_known(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    struct platform *platform = host.view.platform = made();
    char *text = render(&host.view, snapshot, false);
    assert_line(text,
                "topdownd_platform_info{smt=\"on\",numa_nodes=\"2\",frequency_governor=\"mixed\",microcode=\"0x1\"} 1");
    free(text);
    host.view.platform = NULL;
    text = render(&host.view, snapshot, false);
    assert_null(strstr(text, "platform_info"));
    free(text);
    platform_unref(platform);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

// The last page may still be read when the platform has changed.
static void test_a_view_keeps_its_platform(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct platform *platform = host.view.platform = made();
    struct view *view = view_new(&host.view);
    assert_non_null(view);
    platform_unref(platform);
    assert_string_equal(view->platform->facts[PLATFORM_SMT].values[0].text, "on");
    view_unref(view);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_formulas_are_told_is_taken_over_and_nothing_assumed),
        cmocka_unit_test(test_platforms_are_equal_only_in_all_facts),
        cmocka_unit_test(test_status_has_a_value_or_those_of_cpus_that_differ_or_a_reason),
        cmocka_unit_test(test_prometheus_has_one_series_with_what_is_known),
        cmocka_unit_test(test_a_view_keeps_its_platform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
