// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "config/spec/spec_json.h"
#include "core/formula/formula.h"

// Arm's own file for CMN-700, unmodified, becomes a catalog; evaluate_mesh.py computes the same values from the file.

#define FILE_OF_ARM "../shared/telemetry/arm/cmn/cmn_700_r0p0_pmu.json"

// `context`: the type of node that the mesh lacks.
static bool has_node(const void *context, const char *node) { return strcmp(node, context) != 0; }

static void need_file(void) {
    if (access(FILE_OF_ARM, R_OK) != 0) {
        print_message("skipped: %s is not there\n", FILE_OF_ARM);
        skip();
    }
}

static struct catalog *load(const struct spec_mesh_nodes *nodes) {
    struct errors errors = {0};
    struct catalog_builder *builder = NULL;
    if (spec_json_read_mesh(FILE_OF_ARM, nodes, &errors, &builder) != 0)
        fail_msg("%s", errors.items[0].text);
    return catalog_builder_finish(builder);
}

static void write_task(const struct catalog *catalog, const char *lack, FILE *out) {
    double *counts = calloc(catalog->n_events, sizeof *counts), *values = calloc(catalog->n_metrics, sizeof *values);
    uint64_t random = 700;
    const double seconds = 2;
    cJSON *task = cJSON_CreateObject(), *rates = cJSON_AddObjectToObject(task, "rates");
    cJSON *of_metrics = cJSON_AddObjectToObject(task, "values"), *lacks = cJSON_AddArrayToObject(task, "lacks");
    assert_true(counts && values && rates && of_metrics && lacks);
    assert_non_null(cJSON_AddStringToObject(task, "file", FILE_OF_ARM));
    assert_true(cJSON_AddItemToArray(lacks, cJSON_CreateString(lack)));
    for (size_t e = 0; e < catalog->n_events; e++) {
        counts[e] = 1 + (double)random_below(&random, 1000000);
        if (catalog->events[e].kind == EVENT_COUNTED)
            assert_non_null(cJSON_AddNumberToObject(rates, catalog->events[e].name, counts[e] / seconds));
    }
    counts[CATALOG_CPU_SECONDS] = seconds;
    for (size_t m = 0; m < catalog->n_metrics; m++) { // each comes before those that use it
        values[m] = formula_evaluate(catalog->metrics[m].formula, counts, values);
        if (!catalog->metrics[m].unmeasurable)
            assert_non_null(cJSON_AddNumberToObject(of_metrics, catalog->metrics[m].name, values[m]));
    }
    char *line = cJSON_PrintUnformatted(task);
    assert_non_null(line);
    fprintf(out, "%s\n", line);
    free(line);
    cJSON_Delete(task);
    free(values);
    free(counts);
}

static void expect_same_values(const char *lack) {
    char path[] = "/tmp/topdownd-mesh-XXXXXX", command[256], line[1024];
    const struct spec_mesh_nodes nodes = {.has = has_node, .context = lack};
    struct catalog *catalog = load(&nodes);
    FILE *task = fdopen(mkstemp(path), "w");
    assert_non_null(task);
    write_task(catalog, lack, task);
    assert_int_equal(fclose(task), 0);
    (void)snprintf(command, sizeof command, "python3 tests/unit/evaluate_mesh.py < %s", path);
    FILE *results = popen(command, "r");
    size_t wrong = 0;
    assert_non_null(results);
    for (; fgets(line, sizeof line, results); wrong++)
        print_message("%s", line);
    assert_int_equal(pclose(results), 0);
    assert_int_equal(wrong, 0);
    (void)unlink(path);
    catalog_free(catalog);
}

static void test_metrics_are_worth_what_another_evaluator_finds(void **state) {
    (void)state;
    need_file();
    expect_same_values("HNS");
    expect_same_values("HNF"); // a later mesh
}

// No two values of a node's filter are in one group, no filter among them.
static void test_filters_of_later_nodes_are_events_that_exclude_one_another(void **state) {
    (void)state;
    const struct spec_mesh_nodes nodes = {.has = has_node, .context = "HNF"};
    need_file();
    struct catalog *catalog = load(&nodes);
    int all = catalog_find_event(catalog, "PMU_HNS_CACHE_MISS"),
        local = catalog_find_event(catalog, "PMU_HNS_CACHE_MISS.hbt_requests_selected"),
        remote = catalog_find_event(catalog, "PMU_HNS_CACHE_MISS.lbt_requests_selected");
    assert_true(all >= 0 && local >= 0 && remote >= 0);
    assert_true(catalog->events[remote].code.config == (UINT64_C(2) << 27 | 0x1 << 16 | 0x200));
    const struct event_need *needs[] = {&catalog->events[all].need, &catalog->events[local].need,
                                        &catalog->events[remote].need};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(needs[i]->reg, 1);
        assert_int_equal(needs[i]->reg_value, i);
    }
    assert_int_equal(catalog->registers[0].values, 1);
    assert_true(catalog_find_group(catalog, "HNS_SLC_Effectiveness") >= 0);
    assert_true(catalog_find_group(catalog, "HNF_Analysis_Ratio") < 0);
    catalog_free(catalog);
}

static void test_what_needs_watchpoints_is_listed_with_its_reason(void **state) {
    (void)state;
    size_t measurable = 0, watchpoints = 0;
    const struct spec_mesh_nodes nodes = {.has = has_node, .context = "HNS"};
    need_file();
    struct catalog *catalog = load(&nodes);
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        const struct catalog_metric *metric = &catalog->metrics[m];
        measurable += metric->unmeasurable == NULL;
        if (!metric->unmeasurable)
            continue;
        print_message("%s: %s\n", metric->name, metric->unmeasurable);
        watchpoints += strstr(metric->unmeasurable, "_WP_") != NULL;
    }
    print_message("%zu of %zu metrics, %zu need watchpoints\n", measurable, catalog->n_metrics, watchpoints);
    assert_true(measurable >= 55);
    assert_true(watchpoints >= 25);
    assert_true(catalog_find_group(catalog, "HNF_Analysis_Ratio") >= 0);
    assert_true(catalog_find_group(catalog, "CMN_Completer_Bandwidth") >= 0);
    assert_true(catalog_find_group(catalog, "HNS_Analysis_Ratio") < 0);
    int event = catalog_find_event(catalog, "PMU_HNF_POCQ_OCCUPANCY.write_requests");
    assert_true(event >= 0);
    assert_true(catalog->events[event].code.config == (UINT64_C(2) << 27 | 0xf << 16 | 5));
    catalog_free(catalog);
}

static void test_a_file_of_no_mesh_is_refused(void **state) {
    (void)state;
    struct errors errors = {0};
    struct catalog_builder *builder = NULL;
    assert_int_equal(spec_json_read_mesh("specs/neoverse-v2.json", NULL, &errors, &builder), -EINVAL);
    assert_non_null(strstr(errors.items[0].text, "describes no mesh"));
}

// Files of vendors may be of any form. Each of these crashed, or was told to be a lack of memory.
static void test_a_list_in_the_place_of_names_is_refused(void **state) {
    (void)state;
    static const char *const documents[] = {
        "{\"product_configuration\": {}, \"components\": [{\"events\": {}}]}",
        "{\"product_configuration\": {}, \"components\": {\"HNF\": 1}}",
        "{\"product_configuration\": {}, \"components\": {\"HNF\": {\"metrics\": [{}]}}}",
        "{\"product_configuration\": {}, \"components\": {\"HNF\": {\"groups\": {\"metrics\": [{}]}}}}",
        "{\"product_configuration\": {}, \"components\": {}, \"metrics\": [{}]}",
        "{\"components\": {}}",
    };
    const struct spec_mesh_nodes nodes = {.has = has_node, .context = "HNS"};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char path[] = "/tmp/topdownd-mesh-XXXXXX";
        struct errors errors = {0};
        struct catalog_builder *builder = NULL;
        FILE *file = fdopen(mkstemp(path), "w");
        assert_non_null(file);
        assert_true(fputs(documents[i], file) >= 0);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(spec_json_read_mesh(path, &nodes, &errors, &builder), -EINVAL);
        assert_non_null(strstr(errors.items[0].text, "describes no mesh"));
        (void)unlink(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_are_worth_what_another_evaluator_finds),
        cmocka_unit_test(test_filters_of_later_nodes_are_events_that_exclude_one_another),
        cmocka_unit_test(test_what_needs_watchpoints_is_listed_with_its_reason),
        cmocka_unit_test(test_a_file_of_no_mesh_is_refused),
        cmocka_unit_test(test_a_list_in_the_place_of_names_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
