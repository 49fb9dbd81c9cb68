// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "core/plan/plan_fetch.h"

// Plans with metrics that nobody selected, fetched as far as there is room.

enum { SLOT_NS = 200000000 };

// Two counters. Selected: G with two metrics. The rest can be fetched.
static struct catalog *make_catalog(void) {
    static const char *const events[] = {"A", "B", "C", "D", "E", "F", "H", "I"};
    struct catalog_builder *builder = builder_of(events, 8);
    metric_of(builder, "a", "A / B", NULL);
    metric_of(builder, "b", "C / D", NULL);
    metric_of(builder, "counted", "B / A", NULL);
    metric_of(builder, "one", "E / F", NULL);
    metric_of(builder, "two", "H / I", NULL);
    metric_of(builder, "small", "E", NULL);
    metric_of(builder, "both", "one * two", NULL);
    group_of(builder, "G", "a b");
    group_of(builder, "Other", "counted one two small both");
    return catalog_builder_finish(builder);
}

static unsigned metric(const struct catalog *catalog, const char *name) {
    return (unsigned)catalog_find_metric(catalog, name);
}

static bool is_there(const struct plan *plan, const char *name) {
    return plan->place[metric(plan->catalog, name)] >= 0;
}

// A plan of G and of what the words name, in this order, with room for so many groups and events.
static struct plan *fetch(const struct catalog *catalog, const char *words, unsigned groups, unsigned events) {
    static const struct plan_selection selection = {.group = 0};
    struct plan_fetched fetched[8];
    size_t n = 0;
    char text[128];
    (void)snprintf(text, sizeof text, "%s", words);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest));)
        fetched[n++] = (struct plan_fetched){.metric = metric(catalog, word), .group = 1};
    return build_plan(&(struct plan_request){.catalog = catalog,
                                             .general_counters = 2,
                                             .selections = &selection,
                                             .n_selections = 1,
                                             .fetched = fetched,
                                             .n_fetched = n,
                                             .fetched_groups = groups,
                                             .fetched_events = events,
                                             .slot_ns = SLOT_NS,
                                             .idle = 0.1});
}

static void test_what_is_selected_keeps_its_event_groups_and_what_is_fetched_comes_after(void **state) {
    (void)state;
    struct catalog *catalog = make_catalog();
    struct plan *without = fetch(catalog, "", 9, 99), *with = fetch(catalog, "one two", 9, 99);
    assert_int_equal(without->n_groups, 2);
    assert_int_equal(with->n_groups, 4);
    for (size_t g = 0; g < without->n_groups; g++) {
        assert_true(plan_group_same(&without->groups[g], &with->groups[g]));
        assert_string_equal(without->groups[g].name, with->groups[g].name);
        assert_false(plan_unit_fetched(with, with->groups[g].unit));
    }
    assert_string_equal(with->groups[2].name, "other");
    assert_string_equal(with->groups[3].name, "other_2");
    assert_true(plan_unit_fetched(with, with->groups[2].unit) && plan_unit_fetched(with, with->groups[3].unit));
    assert_true(with->metrics[with->place[metric(catalog, "one")]].fetched);
    assert_false(with->metrics[with->place[metric(catalog, "a")]].fetched);
    plan_free(with);
    plan_free(without);
    catalog_free(catalog);
}

static void test_what_is_counted_anyway_needs_no_event_group(void **state) {
    (void)state;
    struct catalog *catalog = make_catalog();
    struct plan *plan = fetch(catalog, "counted", 0, 0);
    const struct plan_metric *counted = &plan->metrics[plan->place[metric(catalog, "counted")]];
    assert_int_equal(plan->n_groups, 2);
    assert_int_equal(counted->unit, plan->metrics[plan->place[metric(catalog, "a")]].unit);
    assert_false(plan_unit_fetched(plan, (unsigned)counted->unit));
    plan_free(plan);
    catalog_free(catalog);
}

static void test_a_metric_without_room_keeps_out_no_smaller_one_behind_it(void **state) {
    (void)state;
    struct catalog *catalog = make_catalog();
    struct plan *plan = fetch(catalog, "both one two small", 1, 99);
    assert_false(is_there(plan, "both") || is_there(plan, "two"));
    assert_true(is_there(plan, "one") && is_there(plan, "small"));
    assert_int_equal(plan->n_groups, 3);
    plan_free(plan);
    plan = fetch(catalog, "one small", 9, 1); // files for one event more
    assert_false(is_there(plan, "one"));
    assert_true(is_there(plan, "small"));
    plan_free(plan);
    catalog_free(catalog);
}

static void test_what_a_fetched_metric_needs_comes_along(void **state) {
    (void)state;
    struct catalog *catalog = make_catalog();
    struct plan *plan = fetch(catalog, "both", 2, 99);
    const struct plan_metric *both = &plan->metrics[plan->place[metric(catalog, "both")]],
                             *one = &plan->metrics[plan->place[metric(catalog, "one")]];
    assert_int_equal(both->unit, PLAN_COMBINED);
    assert_true(both->fetched && !both->auxiliary && one->fetched && one->auxiliary);
    plan_free(plan);
    plan = fetch(catalog, "both one", 2, 99);
    assert_false(plan->metrics[plan->place[metric(catalog, "one")]].auxiliary); // asked for by itself as well
    plan_free(plan);
    catalog_free(catalog);
}

// Level 1 has three of seven slots of the selections.
static void test_level_1_keeps_its_share_of_the_time(void **state) {
    (void)state;
    static const char *const events[] = {"FIXED_CYCLES", "A", "B", "C", "D", "E", "F", "H", "I", "J", "K", "L", "M"};
    struct catalog_builder *builder = builder_of(events, 13);
    level1_of(builder, "4 * FIXED_CYCLES", "A / (4 * FIXED_CYCLES) * 100", "B / (4 * FIXED_CYCLES) * 100");
    metric_of(builder, "c", "C / D", NULL);
    metric_of(builder, "e", "E / F", NULL);
    metric_of(builder, "h", "H / I", NULL);
    metric_of(builder, "j", "J / K", NULL);
    metric_of(builder, "l", "L / M", NULL);
    group_of(builder, "G", "frontend_bound backend_bound c e h");
    group_of(builder, "Other", "j l");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *without = fetch(catalog, "", 0, 0), *with = fetch(catalog, "j l", 9, 99);
    assert_int_equal(with->n_groups, without->n_groups + 2);
    assert_true(plan_share(with, (unsigned)with->level1_unit) >=
                plan_share(without, (unsigned)without->level1_unit) - 1e-9);
    assert_true(plan_share(with, with->groups[with->n_groups - 1].unit) > 0);
    plan_free(with);
    plan_free(without);
    catalog_free(catalog);
}

static void test_there_is_room_for_four_times_the_slots_and_15_seconds(void **state) {
    (void)state;
    struct catalog *catalog = make_catalog();
    struct plan *plan = fetch(catalog, "", 0, 0); // two event groups, each three times in a round of at least a second
    assert_int_equal(plan_fetch_room(plan, 0.1, UINT64_C(15000000000)), 6);
    // a second has room for 4.5 slots
    assert_int_equal(plan_fetch_room(plan, 0.1, UINT64_C(1000000000)), 2);
    assert_int_equal(plan_fetch_room(plan, 0.1, 1), 0);
    plan_free(plan);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_selected_keeps_its_event_groups_and_what_is_fetched_comes_after),
        cmocka_unit_test(test_what_is_counted_anyway_needs_no_event_group),
        cmocka_unit_test(test_a_metric_without_room_keeps_out_no_smaller_one_behind_it),
        cmocka_unit_test(test_what_a_fetched_metric_needs_comes_along),
        cmocka_unit_test(test_level_1_keeps_its_share_of_the_time),
        cmocka_unit_test(test_there_is_room_for_four_times_the_slots_and_15_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
