// SPDX-License-Identifier: Apache-2.0
//
// What to look at after a metric that is high: metric groups, and the command that finds the code.

#include "tests/unit/plan_check.h"

#include <glob.h>

#include "config/spec/spec_json.h"
#include "core/diagnosis/next.h"
#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"

struct seen {
    struct snapshot_layout *layout;
    struct view view;
};

static void see_plan(struct seen *seen, struct plan *plan) {
    seen->layout = build_layout(plan, build_cpus(0, 1, 1));
    seen->view = (struct view){.layout = seen->layout, .pmu = "cpu"};
}

// The plan measures this group alone.
static void see(struct seen *seen, struct catalog *catalog, const char *group) {
    const struct plan_selection selection = {.group = (unsigned)catalog_find_group(catalog, group), .weight = 1};
    see_plan(seen, plan_of(catalog, 6, 0.1, &selection, 1));
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

static void test_groups_of_which_nothing_can_be_measured_are_not_named(void **state) {
    (void)state;
    static const char *const of_top[] = {"Sockets", "Missing", "Wide", "Mixed"}, *const of_part[] = {"Sockets"};
    const struct catalog_event_text far = {.name = "FAR", .terms = "event=0", .takes = 1, .pmu = "far_pmu"};
    uint8_t support[EVENTS_N + 2] = {0};
    struct fault fault;
    struct catalog_builder *builder = empty_builder();
    int event = catalog_builder_add_event_text(builder, &far, &fault);
    assert_int_equal(event, EVENTS_N + 1);
    metric_of(builder, "top", "A / FIXED_CYCLES", "percent of cycles");
    metric_of(builder, "part", "B / FIXED_CYCLES", "percent of cycles");
    metric_of(builder, "socket", "FAR / FIXED_CYCLES", "");
    metric_of(builder, "derived", "100 * socket", "");
    metric_of(builder, "missing", "K / FIXED_CYCLES", "");
    metric_of(builder, "wide", "A + B + C + D + E + F + G", ""); // for seven counters
    metric_of(builder, "near", "J / FIXED_CYCLES", "");
    group_of(builder, "Topdown_L1", "top part");
    group_of(builder, "Sockets", "socket derived");
    group_of(builder, "Missing", "missing");
    group_of(builder, "Wide", "wide");
    group_of(builder, "Mixed", "socket near");
    assert_int_equal(catalog_builder_set_parent(builder, 1, "top", &fault), 0);
    add_node(builder, "top", of_top, 4);
    add_node(builder, "part", of_part, 1);
    struct catalog *catalog = catalog_builder_finish(builder);
    support[catalog_find_event(catalog, "K")] = PLAN_UNSUPPORTED; // that FAR is of a socket needs no host
    struct seen seen;
    const struct plan_selection selection = {.group = 0, .weight = 1}, all[] = {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}};
    see_plan(&seen, plan_supporting(catalog, support, 6, 0.1, &selection, 1));
    assert_next(&seen, "top", "look at the metric group Mixed (not measured)");
    assert_next(&seen, "part", "look at the metric group Mixed (not measured)"); // those of the node above
    assert_next(&seen, "derived", "");
    snapshot_layout_unref(seen.layout);
    support[event] = PLAN_ELSEWHERE; // as a host binds it
    see_plan(&seen, plan_supporting(catalog, support, 6, 0.1, all, 5));
    assert_next(&seen, "top", "look at the metric group Mixed"); // in the profile, the others give nothing either
    unsee(&seen, catalog);
}

// A host's statement: only these PMUs beside the core's count for each CPU.
static uint8_t *support_of(const struct catalog *catalog) {
    static const char *const per_cpu[] = {"software", "msr", "hardware", "hw_cache"};
    uint8_t *support = calloc(catalog->n_events, sizeof *support);
    assert_non_null(support);
    for (size_t e = 0; e < catalog->n_events; e++) {
        bool counts = catalog->events[e].kind != EVENT_COUNTED || catalog->events[e].code.pmu == 0;
        for (size_t i = 0; i < sizeof per_cpu / sizeof *per_cpu; i++)
            counts = counts || strcmp(catalog->pmus[catalog->events[e].code.pmu], per_cpu[i]) == 0;
        support[e] = counts ? PLAN_SUPPORT_UNKNOWN : PLAN_ELSEWHERE;
    }
    return support;
}

// True if a profile with the group has a metric of it.
static bool can_be_measured(const struct catalog *catalog, const uint8_t *support, unsigned group) {
    const struct plan_selection selection = {.group = group, .weight = 1};
    struct plan *plan = plan_supporting(catalog, support, catalog->general_counters, 0.1, &selection, 1);
    bool any = false;
    for (size_t m = 0; m < plan->n_metrics; m++)
        any = any || (plan_metric_planned(&plan->metrics[m]) && !plan->metrics[m].auxiliary);
    plan_free(plan);
    return any;
}

// Returns how many groups are named that `seen` did not have.
static size_t check_named(const char *path, const struct view *view, const uint8_t *support, bool *seen) {
    const struct catalog *catalog = view->layout->catalog;
    size_t n_named = 0;
    for (unsigned m = 0; m < catalog->n_metrics; m++) {
        unsigned groups[NEXT_GROUPS_MAX];
        size_t n = next_groups(view->layout->plan, m, groups);
        for (size_t i = 0; i < n; i++) {
            if (!seen[groups[i]] && !can_be_measured(catalog, support, groups[i]))
                fail_msg("%s: %s leads to %s, of which nothing can be measured", path, catalog->metrics[m].name,
                         catalog->groups[groups[i]].name);
            n_named += !seen[groups[i]];
            seen[groups[i]] = true;
        }
    }
    return n_named;
}

// With the least plan, and with all that the spec has.
static size_t check_possible(const char *path) {
    struct errors errors = {0};
    struct catalog *catalog;
    struct seen seen;
    size_t n = 0;
    assert_int_equal(spec_json_load(path, NULL, &errors, &catalog), 0);
    uint8_t *support = support_of(catalog);
    struct plan_selection *all = calloc(catalog->n_groups + 1, sizeof *all);
    bool *named = calloc(catalog->n_groups + 1, sizeof *named);
    assert_non_null(all);
    assert_non_null(named);
    for (unsigned g = 0; g < catalog->n_groups; g++)
        all[g] = (struct plan_selection){.group = g, .weight = 1};
    size_t first = (size_t)catalog_find_group(catalog, "stage_1");
    for (int every = 0; every < 2; every++) {
        see_plan(&seen, plan_supporting(catalog, support, catalog->general_counters, 0.1, every ? all : &all[first],
                                        every ? catalog->n_groups : 1));
        n += check_named(path, &seen.view, support, named);
        snapshot_layout_unref(seen.layout);
    }
    free(named);
    free(all);
    free(support);
    catalog_free(catalog);
    return n;
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
        unsigned groups[NEXT_GROUPS_MAX];
        struct text command = {0};
        if (!node)
            continue;
        n++;
        if (next_groups(seen.layout->plan, m, groups) == 0)
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

static size_t check_specs(size_t (*check)(const char *path)) {
    glob_t specs;
    size_t n = 0;
    assert_int_equal(glob("specs/*.json", 0, NULL, &specs), 0);
    for (size_t i = 0; i < specs.gl_pathc; i++)
        if (!strstr(specs.gl_pathv[i], "/cpus.json") && !strstr(specs.gl_pathv[i], "/software.json"))
            n += check(specs.gl_pathv[i]);
    globfree(&specs);
    return n;
}

static void test_whatever_is_high_on_any_cpu_leads_to_metric_groups_and_to_a_command(void **state) {
    (void)state;
    assert_true(check_specs(check_spec) > 500);
}

static void test_no_cpu_leads_to_a_metric_group_of_which_nothing_can_be_measured(void **state) {
    (void)state;
    assert_true(check_specs(check_possible) > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_those_that_the_tree_names_or_that_have_the_metrics_it_names),
        cmocka_unit_test(test_groups_of_which_nothing_can_be_measured_are_not_named),
        cmocka_unit_test(test_no_cpu_leads_to_a_metric_group_of_which_nothing_can_be_measured),
        cmocka_unit_test(test_whatever_is_high_on_any_cpu_leads_to_metric_groups_and_to_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
