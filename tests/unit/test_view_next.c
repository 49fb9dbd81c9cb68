// SPDX-License-Identifier: Apache-2.0
//
// What to look at after a metric that is high: metric groups, and the command that finds the code.

#include "tests/unit/plan_check.h"

#include <glob.h>

#include "config/spec/spec_json.h"
#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"

// The plan measures the group Topdown_L1 alone.
struct seen {
    struct snapshot_layout *layout;
    struct view view;
};

static void see(struct seen *seen, struct catalog *catalog, const char *group) {
    const struct plan_selection selection = {.group = (unsigned)catalog_find_group(catalog, group), .weight = 1};
    seen->layout = build_layout(plan_of(catalog, 6, 0.1, &selection, 1), build_cpus(0, 1, 1));
    seen->view = (struct view){.layout = seen->layout, .pmu = "cpu"};
}

static void unsee(struct seen *seen, struct catalog *catalog) {
    snapshot_layout_unref(seen->layout);
    catalog_free(catalog);
}

static void assert_next(const struct seen *seen, const char *metric, const char *expected) {
    struct text text = {0};
    int index = catalog_find_metric(seen->layout->catalog, metric);
    assert_true(index >= 0);
    assert_int_equal(view_next_text(&seen->view, (unsigned)index, &text), expected[0] != '\0');
    text_append(&text, "", 1);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

static void add_node(struct catalog_builder *builder, const char *metric, const char *const *next, size_t n) {
    struct fault fault;
    assert_true(catalog_builder_add_node(builder, metric, true, next, n, &fault) >= 0);
}

static void test_groups_are_those_that_the_tree_names_or_that_have_the_metrics_it_names(void **state) {
    (void)state;
    static const char *const named[] = {"first_part", "Caches"}, *const metrics[] = {"first_part", "second_part"};
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "top", "A / FIXED_CYCLES", "percent of cycles");
    metric_of(builder, "other", "B / FIXED_CYCLES", "percent of cycles");
    metric_of(builder, "first_part", "C / FIXED_CYCLES", "percent of cycles");
    metric_of(builder, "second_part", "D / FIXED_CYCLES", "percent of cycles");
    metric_of(builder, "misses", "E / FIXED_CYCLES", "");
    group_of(builder, "Topdown_L1", "top other");
    group_of(builder, "Everything", "top other first_part second_part misses");
    group_of(builder, "Parts", "first_part second_part");
    group_of(builder, "Caches", "misses");
    add_node(builder, "top", named, 2);
    add_node(builder, "other", metrics, 2);
    struct catalog *catalog = catalog_builder_finish(builder);
    struct seen seen;
    see(&seen, catalog, "Topdown_L1");
    assert_next(&seen, "top", "look at the metric groups Caches (not measured) and Parts (not measured)");
    assert_next(&seen, "other", "look at the metric group Parts (not measured)");
    assert_next(&seen, "misses", "look at the metric group Caches (not measured)"); // outside the tree
    snapshot_layout_unref(seen.layout);
    see(&seen, catalog, "Parts"); // its metrics are selected, so the tree leads to the caches alone
    assert_next(&seen, "top", "look at the metric group Caches (not measured)");
    assert_next(&seen, "other", "look at the metric group Parts");
    unsee(&seen, catalog);
}

// Returns the number of metrics that can be high.
static size_t check_spec(const char *path) {
    struct errors errors = {0};
    struct catalog *catalog;
    struct seen seen;
    size_t n = 0;
    assert_int_equal(spec_json_load(path, NULL, &errors, &catalog), 0);
    see(&seen, catalog, "stage_1");
    for (unsigned m = 0; m < catalog->n_metrics; m++) {
        bool node = catalog->metrics[m].parent >= 0 || catalog->metrics[m].threshold;
        for (size_t i = 0; i < catalog->n_nodes; i++)
            node = node || catalog->nodes[i].metric == m;
        unsigned groups[VIEW_NEXT_MAX];
        struct text command = {0};
        if (!node)
            continue;
        n++;
        if (view_next_groups(&seen.view, m, groups) == 0)
            fail_msg("%s: nothing comes after %s", path, catalog->metrics[m].name);
        view_sample_command(&seen.view, m, &command);
        text_append(&command, "", 1);
        assert_non_null(strstr(command.data, "perf record -a -g"));
        assert_non_null(strstr(command.data, " -e "));
        text_free(&command);
    }
    unsee(&seen, catalog);
    return n;
}

static void test_whatever_is_high_on_any_cpu_leads_to_metric_groups_and_to_a_command(void **state) {
    (void)state;
    glob_t specs;
    size_t n = 0;
    assert_int_equal(glob("specs/*.json", 0, NULL, &specs), 0);
    for (size_t i = 0; i < specs.gl_pathc; i++)
        if (!strstr(specs.gl_pathv[i], "/cpus.json") && !strstr(specs.gl_pathv[i], "/software.json"))
            n += check_spec(specs.gl_pathv[i]);
    assert_true(n > 500);
    globfree(&specs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_those_that_the_tree_names_or_that_have_the_metrics_it_names),
        cmocka_unit_test(test_whatever_is_high_on_any_cpu_leads_to_metric_groups_and_to_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
