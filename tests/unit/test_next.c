// SPDX-License-Identifier: Apache-2.0
//
// "It is bound by this: what now?" Three ask, and each needs another answer: an alert, whose labels must not change
// with a plan; a person, who can only look at what this host can measure; and the adaptive schedule, which has windows
// to give to what is selected.

#include "tests/unit/plan_check.h"

#include "core/diagnosis/next.h"

enum { TOPDOWN, PARTS, MISSING, SOCKETS, BOTH, GROUPS_N };

struct host {
    struct catalog *catalog;
    struct plan *plan;
};

// The tree leads from frontend_bound to a metric, to groups that no CPU, and that this host, cannot measure, and to a
// name that a metric and a metric group have.
static void begin(struct host *host) {
    static const char *const next[] = {"first_part", "Missing", "Sockets", "both"};
    const struct catalog_event_text far = {.name = "FAR", .terms = "event=0", .takes = 1, .pmu = "far_pmu"};
    struct catalog_builder *builder = empty_builder();
    uint8_t support[EVENTS_N + 2] = {0};
    struct fault fault;
    assert_true(catalog_builder_add_event_text(builder, &far, &fault) >= 0);
    metric_of(builder, "retiring", "100 * (C / (4 * FIXED_CYCLES))", "percent of slots");
    level1_of(builder, "4 * FIXED_CYCLES", "100 * (A / (4 * FIXED_CYCLES))", "100 * (B / (4 * FIXED_CYCLES))");
    assert_int_equal(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "retiring", &fault), 0);
    metric_of(builder, "first_part", "D / FIXED_CYCLES", "");
    metric_of(builder, "second_part", "E / FIXED_CYCLES", "");
    metric_of(builder, "missing", "K / FIXED_CYCLES", "");
    metric_of(builder, "socket", "FAR / FIXED_CYCLES", "");
    metric_of(builder, "both", "F / FIXED_CYCLES", "");
    group_of(builder, "Topdown_L1", "frontend_bound backend_bound retiring first_part");
    group_of(builder, "Parts", "first_part second_part");
    group_of(builder, "Missing", "missing");
    group_of(builder, "Sockets", "socket");
    group_of(builder, "both", "both");
    assert_true(catalog_builder_add_node(builder, "frontend_bound", true, next, 4, &fault) >= 0);
    host->catalog = catalog_builder_finish(builder);
    support[catalog_find_event(host->catalog, "K")] = PLAN_UNSUPPORTED;
    const struct plan_selection selection = {.group = TOPDOWN, .weight = 1};
    host->plan = plan_supporting(host->catalog, support, 6, 0.1, &selection, 1);
}

static void end(struct host *host) {
    plan_free(host->plan);
    catalog_free(host->catalog);
}

static unsigned metric(const struct host *host, const char *name) {
    int found = catalog_find_metric(host->catalog, name);
    assert_true(found >= 0);
    return (unsigned)found;
}

static void expect_named(const struct host *host, const struct plan *plan, const char *const *names, size_t n) {
    unsigned frontend = metric(host, "frontend_bound");
    for (size_t i = 0; i < n; i++) {
        const struct catalog_step *step = next_named(host->catalog, plan, frontend, i);
        assert_non_null(step);
        assert_string_equal(step->name, names[i]);
        assert_int_equal(step->metric, catalog_find_metric(host->catalog, names[i]));
        assert_int_equal(step->group, catalog_find_group(host->catalog, names[i]));
    }
    assert_null(next_named(host->catalog, plan, frontend, n));
}

static void test_what_the_tree_names_is_the_same_on_every_host_that_has_this_cpu(void **state) {
    (void)state;
    static const char *const anywhere[] = {"first_part", "Missing", "both"}, *const here[] = {"first_part", "both"};
    struct host host;
    begin(&host);
    expect_named(&host, NULL, anywhere, N_OF(anywhere));
    expect_named(&host, host.plan, here, N_OF(here));
    assert_null(next_named(host.catalog, NULL, metric(&host, "retiring"), 0));
    end(&host);
}

static void test_a_person_is_sent_to_the_groups_that_this_host_can_measure(void **state) {
    (void)state;
    struct host host;
    unsigned groups[NEXT_GROUPS_MAX];
    begin(&host);
    assert_int_equal(next_groups(host.plan, metric(&host, "frontend_bound"), groups), 2);
    assert_true(groups[0] == PARTS && groups[1] == BOTH); // of the groups that it names, nothing can be measured
    assert_int_equal(next_groups(host.plan, metric(&host, "backend_bound"), groups), 1);
    assert_int_equal(groups[0], TOPDOWN); // the tree leads nowhere from here: its own
    assert_int_equal(next_groups(host.plan, metric(&host, "missing"), groups), 0);
    end(&host);
}

static void test_the_schedule_gives_windows_to_groups_that_the_node_names_or_has_a_metric_in(void **state) {
    (void)state;
    static const bool expected[GROUPS_N] = {[TOPDOWN] = false, // has first_part, but level 1 is measured in any case
                                            [PARTS] = true,
                                            [MISSING] = true,
                                            [SOCKETS] = true,
                                            [BOTH] = true};
    struct host host;
    begin(&host);
    for (unsigned group = 0; group < GROUPS_N; group++)
        assert_int_equal(next_leads(host.catalog, &host.catalog->nodes[0], group), expected[group]);
    end(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_tree_names_is_the_same_on_every_host_that_has_this_cpu),
        cmocka_unit_test(test_a_person_is_sent_to_the_groups_that_this_host_can_measure),
        cmocka_unit_test(test_the_schedule_gives_windows_to_groups_that_the_node_names_or_has_a_metric_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
