// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include "config/spec/spec_json.h"
#include "core/plan/plan_turns.h"

// Event groups that count all the time, because their events need no counter.

static const char *const NEEDY[] = {"A", "B", "C", "D"};

// Metrics ab and cd need counters, s and t none; st mixes s's event with a counted one. Group All has them all.
static struct catalog *mixed_catalog(const char *metrics) {
    struct catalog_builder *builder = builder_of(NEEDY, N_OF(NEEDY));
    struct fault fault;
    static const char *const names[] = {"SWITCHES", "FAULTS"};
    for (size_t i = 0; i < N_OF(names); i++)
        assert_true(catalog_builder_add_event_text(
                        builder,
                        &(struct catalog_event_text){.name = names[i], .terms = i ? "event=0x92" : "event=0x91"},
                        &fault) >= 0);
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    metric_of(builder, "s", "SWITCHES / cpu_seconds", NULL);
    metric_of(builder, "t", "FAULTS / cpu_seconds", NULL);
    metric_of(builder, "st", "SWITCHES / A", NULL);
    group_of(builder, "All", metrics);
    return catalog_builder_finish(builder);
}

static unsigned unit_of(const struct plan *plan, size_t metric) { return (unsigned)plan->metrics[metric].unit; }

static void test_what_needs_no_counter_stands_in_one_group_after_those_that_rotate(void **state) {
    (void)state;
    struct catalog *catalog = mixed_catalog("s ab t cd");
    struct plan *plan = plan_of_all(catalog, 2, 0.1);
    assert_int_equal(plan->n_groups, 3);
    assert_int_equal(plan_n_rotating(plan), 2);
    assert_int_equal(unit_of(plan, 0), unit_of(plan, 2)); // s and t
    assert_true(plan_unit_stands(plan, unit_of(plan, 0)) && plan_group_stands(plan, 2));
    assert_false(plan_unit_stands(plan, unit_of(plan, 1)) || plan_unit_stands(plan, unit_of(plan, 3)));
    assert_int_equal(plan->groups[2].n_events, 2);
    assert_true(plan_share(plan, unit_of(plan, 0)) == 1);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_it_takes_no_slot_from_the_others(void **state) {
    (void)state;
    struct catalog *mixed = mixed_catalog("s ab t cd"), *needy = mixed_catalog("ab cd");
    struct plan *plan = plan_of_all(mixed, 2, 0.1), *without = plan_of_all(needy, 2, 0.1);
    assert_int_equal(plan->round_ns, without->round_ns);
    assert_int_equal(plan->idle_ns, without->idle_ns);
    assert_int_equal(plan->n_round, without->n_round);
    assert_int_equal(plan->n_windows, without->n_windows + 1); // one more to read
    for (unsigned u = 0; u < without->n_units; u++)
        assert_true(plan_share(plan, u) == plan_share(without, u));
    plan_free(plan);
    plan_free(without);
    catalog_free(mixed);
    catalog_free(needy);
}

static void test_a_metric_that_also_counts_needs_one_window_and_rotates(void **state) {
    (void)state;
    struct catalog *catalog = mixed_catalog("st s");
    struct plan *plan = plan_of_all(catalog, 2, 0.1);
    assert_int_equal(plan_n_rotating(plan), 1);
    assert_false(plan_unit_stands(plan, unit_of(plan, 0)));
    assert_int_equal(plan->groups[0].n_events, 2); // SWITCHES is counted beside A, too
    assert_true(plan_unit_stands(plan, unit_of(plan, 1)));
    plan_free(plan);
    catalog_free(catalog);
}

static void test_where_only_such_events_are_counted_nothing_rotates(void **state) {
    (void)state;
    struct errors errors = {0};
    struct catalog *software;
    assert_int_equal(spec_json_load("specs/software.json", NULL, &errors, &software), 0);
    struct plan *plan = plan_of_all(software, 0, 0.1);
    assert_int_equal(plan->n_groups, 1);
    assert_int_equal(plan_n_rotating(plan), 0);
    assert_int_equal(plan->groups[0].n_events, 6);
    assert_int_equal(plan_slots(plan), 0);
    assert_int_equal(plan->round_ns, 2000000000);
    assert_int_equal(plan->n_round, 1); // one slot in which no counter is held
    assert_int_equal(plan->n_windows, 1);
    plan_free(plan);
    catalog_free(software);
}

static void test_weights_and_raising_leave_it_alone(void **state) {
    (void)state;
    struct catalog *catalog = mixed_catalog("s ab t cd");
    const struct plan_selection heavy[] = {{0, 7}};
    const bool raised[] = {true};
    struct plan *plan = build_plan(&(struct plan_request){.catalog = catalog,
                                                          .general_counters = 2,
                                                          .selections = heavy,
                                                          .n_selections = 1,
                                                          .raised = raised,
                                                          .slot_ns = SLOT_NS,
                                                          .adaptive = true,
                                                          .idle = 0.1});
    unsigned standing = unit_of(plan, 0);
    assert_int_equal(plan->units[standing].slots, 0);
    assert_true(plan->units[standing].baseline_share == 1);
    plan_free(plan);
    catalog_free(catalog);
}

// ---- boxes ----

struct box_plan {
    const char *spec;
    unsigned n_units, n_groups, n_events; // events of each group
    double share;                         // of time, with nobody else there
};

static struct plan *plan_of_boxes(const struct catalog *catalog) {
    return build_plan(&(struct plan_request){.catalog = catalog,
                                             .general_counters = catalog->general_counters,
                                             .boxes = true,
                                             .slot_ns = SLOT_NS,
                                             .idle = 0.1});
}

static void check_boxes(const struct box_plan *wanted) {
    struct errors errors = {0};
    struct catalog *catalog;
    char path[128];
    (void)snprintf(path, sizeof path, "specs/uncore/%s.json", wanted->spec);
    assert_int_equal(spec_json_load(path, NULL, &errors, &catalog), 0);
    struct plan *plan = plan_of_boxes(catalog);
    size_t n_events = 0;
    assert_int_equal(plan->n_units, wanted->n_units);
    assert_int_equal(plan->n_groups, wanted->n_groups);
    assert_int_equal(plan_n_rotating(plan), 0);
    check_groups(plan);
    for (size_t g = 0; g < plan->n_groups; g++) {
        assert_int_equal(plan->groups[g].n_events, wanted->n_events);
        n_events += plan->groups[g].n_events;
    }
    assert_int_equal(n_events, catalog->n_events - 1); // each once; the first one is the CPU's seconds
    for (size_t m = 0; m < plan->n_metrics; m++)
        assert_true(plan->metrics[m].unit >= 0);
    for (unsigned u = 0; u < plan->n_units; u++) {
        assert_true(plan_unit_stands(plan, u));
        assert_true(plan->units[u].baseline_share == 1 && plan_share(plan, u) == 1);
        assert_true(plan_turns_share(plan, u) == wanted->share);
    }
    assert_int_equal(plan->n_windows, wanted->n_groups);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_events_of_boxes_stand_in_groups_that_fit(void **state) {
    (void)state;
    static const struct box_plan plans[] = {
        {"imc-sandy-bridge", 1, 1, 2, 1}, // read and write together
        {"imc-granite-rapids", 1, 1, 4, 1},
        {"imc-free-running", 1, 1, 2, 1}, // no counter needed
        {"df-zen4", 2, 2, 16, 0.5},       // local and remote, each in a group of its own
        {"df-zen1", 1, 2, 4, 0.5},        // eight channels are one sum on four counters
        {"dmc-620", 2, 2, 1, 1},          // eight counters, but the driver takes one event a group
        {"mesh-home-cmn-s3", 2, 2, 1,
         0.5}, // local and remote are values of one filter, of which a node has one at a time
    };
    for (size_t i = 0; i < N_OF(plans); i++)
        check_boxes(&plans[i]);
}

// As AMD's of memory, which Linux' files say cannot be counted together.
static void test_a_sum_of_boxes_may_exceed_their_counters(void **state) {
    (void)state;
    struct catalog_builder *builder = builder_of(NEEDY, N_OF(NEEDY));
    struct fault fault;
    metric_of(builder, "sum", "64 * (A + B + C + D)", NULL);
    metric_of(builder, "rate", "(A + B + C + D) / cpu_seconds", NULL);
    metric_of(builder, "seconds", "A + B + C + D + cpu_seconds", NULL);
    metric_of(builder, "product", "A * B * C * D", NULL);
    group_of(builder, "All", "sum rate seconds product");
    assert_int_equal(catalog_builder_set_counters(builder, 3, NULL, 0, &fault), 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    catalog->metrics[0].constraint = CONSTRAINT_NO_GROUP;
    struct plan *plan = plan_of_boxes(catalog);
    for (unsigned m = 0; m < 2; m++)
        assert_int_equal(plan->units[unit_of(plan, m)].n_groups, 2);
    for (unsigned m = 2; m < 4; m++) {
        assert_int_equal(plan->metrics[m].unit, PLAN_NOT_PLANNABLE);
        assert_non_null(strstr(plan->metrics[m].reason, "needs 4 counters at once"));
    }
    plan_free(plan);
    catalog_free(catalog);
}

static void test_a_ratio_of_boxes_still_comes_from_one_window(void **state) {
    (void)state;
    struct catalog_builder *builder = builder_of(NEEDY, N_OF(NEEDY));
    struct fault fault;
    metric_of(builder, "ratio", "(A + B) / (C + D)", NULL);
    metric_of(builder, "bytes", "64 * (A + B + C + D) / cpu_seconds", NULL);
    metric_of(builder, "pair", "A / B", NULL);
    group_of(builder, "All", "ratio bytes pair");
    assert_int_equal(catalog_builder_set_counters(builder, 3, NULL, 0, &fault), 0);
    assert_int_equal(catalog_builder_set_traffic(builder, 1, "memory_all", &fault), 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of_boxes(catalog);
    assert_int_equal(plan->metrics[0].unit, PLAN_NOT_PLANNABLE);
    assert_non_null(strstr(plan->metrics[0].reason, "needs 4 counters at once"));
    assert_int_equal(plan->units[unit_of(plan, 1)].n_groups, 2);
    assert_int_equal(plan->units[unit_of(plan, 2)].n_groups, 1);
    // groups of two, three and one event on three counters: beginning with each in turn, the kernel puts on the first,
    // the second, then the third and the first
    assert_float_equal(plan_turns_share(plan, unit_of(plan, 2)), 2.0 / 3, 1e-12);
    assert_float_equal(plan_turns_share(plan, unit_of(plan, 1)), 1.0 / 3, 1e-12);
    plan_free(plan);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_needs_no_counter_stands_in_one_group_after_those_that_rotate),
        cmocka_unit_test(test_it_takes_no_slot_from_the_others),
        cmocka_unit_test(test_a_metric_that_also_counts_needs_one_window_and_rotates),
        cmocka_unit_test(test_where_only_such_events_are_counted_nothing_rotates),
        cmocka_unit_test(test_weights_and_raising_leave_it_alone),
        cmocka_unit_test(test_events_of_boxes_stand_in_groups_that_fit),
        cmocka_unit_test(test_a_ratio_of_boxes_still_comes_from_one_window),
        cmocka_unit_test(test_a_sum_of_boxes_may_exceed_their_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
