// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "exporter_host.h"
#include "exporters/json/json_cpus.h"

// One metric of all CPUs as columns. The host's CPUs are 0 and 1 of socket 0, and 4 of socket 7; in scope s each value
// is s + 1 and a little, and the CPUs are the scopes 3 to 5.

enum { CPUS = 3 };

static int render(const struct exporter_host *host, const struct snapshot *snapshot,
                  const struct json_cpus_query *query, char error[64], cJSON **root) {
    struct text text = {0};
    const struct shown shown = {.n = 1,
                                .types = {{.view = (struct view *)(uintptr_t)&host->view, .snapshot = snapshot}}};
    int r = json_render_cpus(&shown, query, &text, error, 64);
    text_append(&text, "", 1);
    *root = r == 0 ? cJSON_ParseWithOpts(text.data, NULL, 1) : NULL;
    if (r == 0 && !*root)
        fail_msg("this is no JSON: %.2000s", text.data);
    text_free(&text);
    return r;
}

static cJSON *rendered(const struct exporter_host *host, const struct snapshot *snapshot, const char *metric) {
    char error[64];
    cJSON *root;
    assert_int_equal(render(host, snapshot, &(struct json_cpus_query){.metric = metric}, error, &root), 0);
    return root;
}

static void assert_column(const cJSON *root, const char *key, const double expected[CPUS]) {
    const cJSON *column = cJSON_GetObjectItemCaseSensitive(root, key);
    assert_int_equal(cJSON_GetArraySize(column), CPUS);
    for (int i = 0; i < CPUS; i++) {
        const cJSON *item = cJSON_GetArrayItem(column, i);
        if (isnan(expected[i]) ? !cJSON_IsNull(item) : !cJSON_IsNumber(item) || item->valuedouble != expected[i])
            fail_msg("%s[%d] is %.17g, not %.17g", key, i, item->valuedouble, expected[i]);
    }
}

static void assert_text(const cJSON *root, const char *key, const char *expected) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
    assert_true(cJSON_IsString(item));
    assert_string_equal(item->valuestring, expected);
}

static void test_columns_stand_in_the_order_of_the_cpus(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t m = host_metric(&host, "ipc");
    double little = (double)m / 100;
    cJSON *root = rendered(&host, snapshot, "ipc");
    assert_text(root, "metric", "ipc");
    assert_text(root, "scope", "cpu");
    assert_column(root, "cpus", (double[]){0, 1, 4});
    assert_column(root, "sockets", (double[]){0, 0, 7});
    assert_column(root, "cores", (double[]){0, 1, 2});
    assert_column(root, "nodes", (double[]){NAN, NAN, NAN});
    assert_column(root, "caches", (double[]){NAN, NAN, NAN});
    assert_column(root, "values", (double[]){4 + little, 5 + little, 6 + little});
    assert_column(root, "low", (double[]){4 + little - 4.0 / 32, 5 + little - 5.0 / 32, 6 + little - 6.0 / 32});
    assert_column(root, "high", (double[]){4 + little + 4.0 / 32, 5 + little + 5.0 / 32, 6 + little + 6.0 / 32});
    double odd = (double)m + 0.25;
    assert_column(root, "numerator_total", (double[]){4e6 + odd, 5e6 + odd, 6e6 + odd});
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_level_1_category_is_a_quotient_of_pipeline_slots(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t category = snapshot_category_of(host.layout, host_metric(&host, "retiring"));
    assert_true(category < host.layout->n_level1);
    cJSON *root = rendered(&host, snapshot, "retiring_ratio");
    double odd = (double)category + 0.25;
    assert_column(root, "numerator_total", (double[]){4e12 + odd, 5e12 + odd, 6e12 + odd});
    assert_column(root, "denominator_total", (double[]){16e12 + 7, 20e12 + 7, 24e12 + 7});
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_places_that_are_known_are_told(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    const struct topology_place places[CPUS] = {
        {.node = 2, .cache = 5}, {.node = -1, .cache = 5}, {.node = 3, .cache = -1}};
    assert_int_equal(topology_set_places(host.topology, places), 0);
    struct topology *copy = topology_copy(host.topology); // a plan's topology is a copy
    assert_int_equal(copy->places[2].node, 3);
    topology_free(copy);
    struct snapshot *snapshot = host_snapshot(&host);
    cJSON *root = rendered(&host, snapshot, "ipc");
    assert_column(root, "nodes", (double[]){2, NAN, 3});
    assert_column(root, "caches", (double[]){5, 5, NAN});
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_without_a_name_it_is_what_the_host_is_bound_by(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    size_t m = host_metric(&host, "retiring");
    snapshot->verdicts[0].now = (struct verdict){.n = 1, .path = {host.plan->metrics[m].metric}};
    cJSON *root = rendered(&host, snapshot, NULL);
    assert_text(root, "metric", "retiring_ratio");
    cJSON_Delete(root);
    snapshot->verdicts[0].now.n = 0; // not known: any that is selected
    root = rendered(&host, snapshot, NULL);
    assert_true(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(root, "metric")));
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_one_cpu_has_the_object_of_the_snapshot_alone(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char error[64];
    cJSON *root;
    assert_int_equal(render(&host, snapshot, &(struct json_cpus_query){.cpu = "4"}, error, &root), 0);
    const cJSON *scopes = cJSON_GetObjectItemCaseSensitive(root, "scopes"), *cpu = cJSON_GetArrayItem(scopes, 0);
    assert_int_equal(cJSON_GetArraySize(scopes), 1);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(cpu, "cpu")->valueint, 4);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(cpu, "socket")->valueint, 7);
    cJSON_Delete(root);
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_wrong_query_says_what_is_wrong(void **state) {
    (void)state;
    static const char *const cpus[] = {"5", "x", "", "-1", "0x4", "4 ", "99999999999999999999"};
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    char error[64];
    cJSON *root;
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        assert_int_equal(render(&host, snapshot, &(struct json_cpus_query){.cpu = cpus[i]}, error, &root), -EINVAL);
        assert_non_null(strstr(error, "no number of a CPU"));
    }
    assert_int_equal(render(&host, snapshot, &(struct json_cpus_query){.metric = "nonsense"}, error, &root), -EINVAL);
    assert_non_null(strstr(error, "no metric that is selected"));
    snapshot_unref(snapshot);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_stand_in_the_order_of_the_cpus),
        cmocka_unit_test(test_a_level_1_category_is_a_quotient_of_pipeline_slots),
        cmocka_unit_test(test_places_that_are_known_are_told),
        cmocka_unit_test(test_without_a_name_it_is_what_the_host_is_bound_by),
        cmocka_unit_test(test_one_cpu_has_the_object_of_the_snapshot_alone),
        cmocka_unit_test(test_a_wrong_query_says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
