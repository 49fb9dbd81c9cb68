// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

static const char *const EVENTS[] = {"FIXED_CYCLES", "A", "B", "C"};

static struct catalog_builder *small(void) { return builder_of(EVENTS, N_OF(EVENTS)); }

static void refused(int r, const struct fault *error, const char *wanted) {
    if (r != -EINVAL || !strstr(error->text, wanted))
        fail_msg("got %d, \"%s\"; wanted \"%s\"", r, error->text, wanted);
}

static void test_a_new_catalog_counts_cpu_time_and_nothing_else(void **state) {
    (void)state;
    struct catalog_builder *builder;
    assert_int_equal(catalog_builder_new("toy", "Acme", "Toy \"1\"", NULL, "pmu*", &builder), 0);
    const struct catalog *catalog = catalog_builder_catalog(builder);
    assert_int_equal(catalog->n_events, 1);
    assert_int_equal(catalog_find_event(catalog, "cpu_seconds"), CATALOG_CPU_SECONDS);
    assert_string_equal(catalog->product.name, "Toy \"1\"");
    assert_string_equal(catalog->product.microarchitecture, "");
    assert_int_equal(catalog->n_metrics + catalog->n_groups, 0);
    assert_false(catalog->level1.present);
    assert_null(catalog_builder_free(builder));
    assert_null(catalog_free(NULL));
}

static void test_what_is_added_is_copied_and_found_by_name(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    char name[] = "D", title[] = "dees";
    assert_int_equal(catalog_builder_add_event(builder, name, title, 0x99, &error), 5);
    name[0] = title[0] = '?';
    assert_int_equal(catalog_find_event(catalog, "D"), 5);
    assert_string_equal(catalog->events[5].title, "dees");
    assert_int_equal(catalog->events[5].code.config, 0x99);
    assert_int_equal(catalog_find_event(catalog, "d"), -1);
    metric_of(builder, "m", "A / B", NULL);
    assert_int_equal(catalog_find_metric(catalog, "m"), 0);
    assert_int_equal(catalog_find_metric(catalog, "M"), -1);
    catalog_builder_free(builder);
}

static void test_an_event_that_stands_twice_is_refused(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    refused(catalog_builder_add_event(builder, "A", "", 0, &error), &error, "the event A stands twice");
    refused(catalog_builder_add_event(builder, "cpu_seconds", "", 0, &error), &error,
            "the event cpu_seconds stands twice");
    assert_int_equal(catalog->n_events, 5);
    catalog_builder_free(builder);
}

static void test_names_are_printable_and_of_bounded_length(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    struct fault error;
    char name[122];
    memset(name, 'x', 121);
    name[121] = '\0';
    const char *const bad[] = {"", "a b", "a\"b", "a\\b", "a\nb", "\x7f", "caf\xc3\xa9", name};
    for (size_t i = 0; i < N_OF(bad); i++)
        refused(catalog_builder_add_event(builder, bad[i], "", 0, &error), &error,
                "is empty, too long or has characters");
    assert_true(catalog_builder_add_event(builder, name + 1, "", 0, &error) > 0);
    refused(catalog_builder_add_group(builder, "a b", "", "", NULL, 0, &error), &error, "the metric group name 'a b'");
    catalog_builder_free(builder);
}

static void test_a_fixed_counter_names_an_event(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    const char *const unknown[] = {"NOPE"}, *const time[] = {"cpu_seconds"}, *const b[] = {"B"};
    refused(catalog_builder_set_counters(builder, 6, unknown, 1, &error), &error, "NOPE is not among the events");
    refused(catalog_builder_set_counters(builder, 6, time, 1, &error), &error, "cpu_seconds is not among the events");
    assert_int_equal(catalog_builder_set_counters(builder, 6, b, 1, &error), 0);
    assert_int_equal(catalog->general_counters, 6);
    assert_true(catalog->events[catalog_find_event(catalog, "B")].fixed);
    assert_false(catalog->events[catalog_find_event(catalog, "A")].fixed);
    catalog_builder_free(builder);
}

static void test_there_are_no_more_fixed_counters_than_bits_in_a_mask(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    const char *events[EVENT_FIXED_MAX + 1];
    for (size_t i = 0; i < N_OF(events); i++)
        events[i] = "B";
    refused(catalog_builder_set_counters(builder, 6, events, N_OF(events), &error), &error,
            "more than 64 fixed counters");
    assert_false(catalog->events[catalog_find_event(catalog, "B")].fixed);
    assert_int_equal(catalog_builder_set_counters(builder, 6, events, EVENT_FIXED_MAX, &error), 0);
    catalog_builder_free(builder);
}

// What metric `name` with these units is exported as, by default.
static void exported(const char *name, const char *units, const char *export_name, double scale,
                     enum metric_domain domain) {
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    metric_of(builder, name, "A / B", units);
    assert_string_equal(catalog->metrics[0].export_name, export_name);
    assert_true(catalog->metrics[0].export_scale == scale);
    assert_int_equal(catalog->metrics[0].domain, domain);
    catalog_builder_free(builder);
}

static void test_per_cent_becomes_a_ratio_and_its_name_says_of_what(void **state) {
    (void)state;
    exported("frontend_bound", "percent of slots", "frontend_bound_ratio", 0.01, METRIC_PIPELINE_SLOTS);
    exported("frontend_stalled_cycles", "percent of cycles", "frontend_stalled_clocks_ratio", 0.01, METRIC_CLOCKS);
    exported("Some-Share", "percent of cycles", "some_share_clocks_ratio", 0.01, METRIC_CLOCKS);
    exported("memory_bound", "percent of back-end stall cycles", "memory_bound_stalls_ratio", 0.01, METRIC_STALLS);
    exported("load_percentage", "percent of operations", "load_ratio", 0.01, METRIC_OTHER);
    exported("hit_ratio", "percent", "hit_ratio", 0.01, METRIC_OTHER);
    exported("odd_cycles", "percent of operations", "odd_cycles_ratio", 0.01, METRIC_OTHER);
    exported("ipc", "per cycle", "ipc", 1, METRIC_OTHER);
    exported("core_frequency", "GHz", "core_frequency_hertz", 1e9, METRIC_OTHER);
    exported("fill_bw", "GB per second", "fill_bw_bytes_per_second", 1e9, METRIC_OTHER);
    exported("frequency", "hertz", "frequency", 1, METRIC_OTHER);
    exported("L1D.MPKI", "MPKI", "l1d_mpki", 1, METRIC_OTHER);
    exported("slots", "slots", "slots", 1, METRIC_OTHER);
    exported("x", NULL, "x", 1, METRIC_OTHER);
}

static int add_as(struct catalog_builder *builder, const char *name, const char *export_name, struct fault *error) {
    const struct catalog_metric_text text = {.name = name, .export_name = export_name, .formula = "A / B"};
    return catalog_builder_add_metric(builder, &text, error);
}

static void test_an_export_name_is_sound_free_and_not_the_daemons_own(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    assert_int_equal(add_as(builder, "m", "faults_per_second", &error), 0);
    assert_string_equal(catalog->metrics[0].export_name, "faults_per_second");
    refused(add_as(builder, "n", "Faults", &error), &error, "'Faults' is not made of a-z, 0-9 and _");
    refused(add_as(builder, "n", "", &error), &error, "is not made of");
    refused(add_as(builder, "n", "a{b}", &error), &error, "is not made of");
    const struct catalog_metric_text defined = {.name = "n", .formula = "A / B", .definition = "Not so"};
    refused(catalog_builder_add_metric(builder, &defined, &error), &error,
            "its definition 'Not so' is not made of a-z, 0-9 and _");
    refused(add_as(builder, "n", "faults_per_second", &error), &error,
            "metric m is exported as topdownd_faults_per_second already");
    refused(add_as(builder, "n", "build_info", &error), &error, "topdownd_build_info is a family of the daemon's own");
    refused(add_as(builder, "cpu_something", NULL, &error), &error, "topdownd_cpu_something is a family");
    refused(add_as(builder, "m", "other", &error), &error, "the metric m stands twice");
    assert_int_equal(catalog->n_metrics, 1);
    catalog_builder_free(builder);
}

static void test_a_wrong_formula_is_refused_with_its_column(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    struct catalog_metric_text text = {.name = "m", .formula = "A / NOPE"};
    refused(catalog_builder_add_metric(builder, &text, &error), &error, "formula, column 5: unknown name 'NOPE'");
    text.formula = "1 + 2";
    refused(catalog_builder_add_metric(builder, &text, &error), &error, "the formula names no event");
    assert_int_equal(catalog->n_metrics, 0);
    catalog_builder_free(builder);
}

static void test_a_rate_threshold_needs_a_ratio(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    struct catalog_metric_text text = {.name = "m", .formula = "A - B", .rate_threshold = 100, .rate_advice = "Look."};
    refused(catalog_builder_add_metric(builder, &text, &error), &error,
            "a rate threshold needs a formula of the form k A/B");
    text.formula = "A / cpu_seconds";
    assert_int_equal(catalog_builder_add_metric(builder, &text, &error), 0);
    assert_string_equal(catalog->metrics[0].rate_advice, "Look.");
    catalog_builder_free(builder);
}

static void test_k_takes_in_the_export_scale(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    metric_of(builder, "share", "100 * A / B", "percent of operations");
    metric_of(builder, "mpki", "1000 * A / B", "MPKI");
    metric_of(builder, "difference", "A / B - C / B", "");
    double k = -1;
    assert_true(catalog_metric_ratio(&catalog->metrics[0], &k));
    assert_true(fabs(k - 1) < 1e-15);
    assert_true(catalog_metric_ratio(&catalog->metrics[1], &k));
    assert_true(k == 1000);
    assert_false(catalog_metric_ratio(&catalog->metrics[2], &k));
    assert_true(k == 1000);
    catalog_builder_free(builder);
}

static void test_groups_are_found_without_case_dashes_and_underscores(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    metric_of(builder, "m", "A / B", NULL);
    metric_of(builder, "n", "A / C", NULL);
    group_of(builder, "Topdown_L1", "n m n");
    assert_int_equal(catalog_find_group(catalog, "topdown-l1"), 0);
    assert_int_equal(catalog_find_group(catalog, "TopdownL1"), 0);
    assert_int_equal(catalog_find_group(catalog, "Topdown_L2"), -1);
    assert_int_equal(catalog->groups[0].n_metrics, 2); // each once
    assert_int_equal(catalog->groups[0].metrics[0], 1);
    assert_int_equal(catalog->groups[0].metrics[1], 0);
    const char *const names[] = {"m", "NOPE"};
    refused(catalog_builder_add_group(builder, "topdownl1", "", "", names, 1, &error), &error,
            "the metric group topdownl1 stands twice");
    refused(catalog_builder_add_group(builder, "Other", "", "", names, 2, &error), &error,
            "metric group Other names the metric NOPE");
    catalog_builder_free(builder);
}

static void test_a_union_holds_each_metric_of_its_groups_once(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    metric_of(builder, "m", "A / B", NULL);
    metric_of(builder, "n", "A / C", NULL);
    metric_of(builder, "o", "B / C", NULL);
    group_of(builder, "One", "o m");
    group_of(builder, "Two", "m n");
    const char *const groups[] = {"one", "TWO"}, *const unknown[] = {"one", "three"};
    assert_int_equal(catalog_builder_add_union(builder, "stage_1", groups, 2, &error), 2);
    const struct catalog_group *group = &catalog->groups[2];
    assert_int_equal(group->n_metrics, 3);
    assert_int_equal(group->metrics[0], 2);
    assert_int_equal(group->metrics[1], 0);
    assert_int_equal(group->metrics[2], 1);
    refused(catalog_builder_add_union(builder, "stage_2", unknown, 2, &error), &error, "names the metric group three");
    refused(catalog_builder_add_union(builder, "Stage1", groups, 2, &error), &error, "stands twice");
    catalog_builder_free(builder);
}

static struct catalog_builder *with_level1(void) {
    struct catalog_builder *builder = small();
    level1_of(builder, "4 * FIXED_CYCLES", "100 * A / (4 * FIXED_CYCLES)", "100 * B / (4 * FIXED_CYCLES)");
    return builder;
}

static void test_level_1_is_checked_as_it_is_added(void **state) {
    (void)state;
    struct catalog_builder *builder = with_level1();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    metric_of(builder, "other", "A / C", "");
    metric_of(builder, "retiring", "C / A", "percent of slots");
    assert_int_equal(catalog_builder_check(builder, &error), 0);
    refused(catalog_builder_set_level1(builder, LEVEL1_USUAL,
                                       &(struct catalog_level1_text){.pipeline_slots = "A", .width = 4}, &error),
            &error, "level 1 stands twice");
    refused(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "NOPE", &error), &error,
            "names the metric NOPE");
    refused(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "other", &error), &error,
            "whose units are neither 'percent of slots'");
    refused(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_FRONTEND_BOUND, "retiring", &error), &error,
            "category frontend_bound or its metric stands twice");
    refused(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "frontend_bound", &error), &error,
            "category retiring or its metric stands twice");
    assert_int_equal(catalog->level1.n_categories, 2);
    catalog_builder_free(builder);
}

static void test_the_width_is_a_number_of_slots_a_cycle(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    const double bad[] = {-1, 65, NAN, INFINITY};
    for (size_t i = 0; i < N_OF(bad); i++)
        refused(catalog_builder_set_level1(builder, LEVEL1_USUAL,
                                           &(struct catalog_level1_text){.pipeline_slots = "A", .width = bad[i]},
                                           &error),
                &error, "between 1 and 64");
    refused(catalog_builder_set_level1(builder, LEVEL1_USUAL,
                                       &(struct catalog_level1_text){.pipeline_slots = "A +", .width = 8}, &error),
            &error, "formula, column 4");
    assert_false(catalog->level1.present);
    catalog_builder_free(builder);
}

static void test_the_width_may_be_unknown_except_per_thread(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    struct catalog_level1_text text = {.pipeline_slots = "A", .thread = {"A", "B", "A", "B"}};
    refused(catalog_builder_set_level1(builder, LEVEL1_USUAL, &text, &error), &error, "per thread needs the width");
    assert_false(catalog->level1.present);
    text = (struct catalog_level1_text){.pipeline_slots = "A"};
    assert_int_equal(catalog_builder_set_level1(builder, LEVEL1_USUAL, &text, &error), 0);
    assert_true(catalog->level1.present && catalog->level1.width == 0);
    catalog_builder_free(builder);
}

static void test_level_1_is_checked_as_a_whole(void **state) {
    (void)state;
    struct fault error;
    struct catalog_builder *builder = small();
    metric_of(builder, "one", "A / B", "percent of slots");
    assert_int_equal(catalog_builder_check(builder, &error), 0);
    assert_int_equal(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "one", &error), 0);
    refused(catalog_builder_check(builder, &error), &error, "but no pipeline slots");
    assert_int_equal(catalog_builder_set_level1(builder, LEVEL1_USUAL,
                                                &(struct catalog_level1_text){.pipeline_slots = "A", .width = 4},
                                                &error),
                     0);
    refused(catalog_builder_check(builder, &error), &error, "level 1 needs at least two categories");
    catalog_builder_free(builder);
}

static void test_a_split_shares_an_event_and_holds_them_all(void **state) {
    (void)state;
    const char *const a[] = {"FIXED_CYCLES", "A"}, *const b[] = {"FIXED_CYCLES", "B"}, *const only_b[] = {"B"},
                      *const c[] = {"FIXED_CYCLES", "C"}, *const unknown[] = {"NOPE"};
    struct fault error;
    struct catalog_builder *builder = with_level1();
    refused(catalog_builder_add_part(builder, LEVEL1_USUAL, unknown, 1, &error), &error,
            "the split names the event NOPE");
    assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, a, 2, &error), 0);
    refused(catalog_builder_check(builder, &error), &error, "needs at least two parts");
    assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, b, 2, &error), 0);
    assert_int_equal(catalog_builder_check(builder, &error), 0);
    assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, only_b, 1, &error), 0);
    refused(catalog_builder_check(builder, &error), &error, "one event that is in all of them");
    catalog_builder_free(builder);

    builder = with_level1();
    assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, a, 2, &error), 0);
    assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, c, 2, &error), 0);
    refused(catalog_builder_check(builder, &error), &error, "no part of the level-1 split holds the event B");
    catalog_builder_free(builder);

    builder = small();
    level1_of(builder, "4 * C", "A / FIXED_CYCLES", "B / FIXED_CYCLES");
    assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, a, 2, &error), 0);
    assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, b, 2, &error), 0);
    refused(catalog_builder_check(builder, &error), &error, "no part of the level-1 split holds the event C");
    catalog_builder_free(builder);
}

static void test_a_split_has_a_bounded_number_of_parts_and_events(void **state) {
    (void)state;
    const char *many[CATALOG_SPLIT_EVENTS_MAX + 1];
    for (size_t i = 0; i < N_OF(many); i++)
        many[i] = "A";
    struct fault error;
    struct catalog_builder *builder = with_level1();
    refused(catalog_builder_add_part(builder, LEVEL1_USUAL, many, N_OF(many), &error), &error,
            "at most 8 parts of 32 events");
    for (int i = 0; i < CATALOG_SPLIT_MAX; i++)
        assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, many, CATALOG_SPLIT_EVENTS_MAX, &error), 0);
    refused(catalog_builder_add_part(builder, LEVEL1_USUAL, many, 1, &error), &error, "at most 8 parts of 32 events");
    catalog_builder_free(builder);
}

static void test_a_catalog_holds_a_bounded_number_of_everything(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    char name[32];
    while (catalog->n_events < CATALOG_EVENTS_MAX) {
        (void)snprintf(name, sizeof name, "E%zu", catalog->n_events);
        assert_true(catalog_builder_add_event(builder, name, "", 0, &error) > 0);
    }
    refused(catalog_builder_add_event(builder, "more", "", 0, &error), &error, "more than 16384 events");
    while (catalog->n_groups < CATALOG_GROUPS_MAX) {
        (void)snprintf(name, sizeof name, "G%zu", catalog->n_groups);
        assert_true(catalog_builder_add_group(builder, name, "", "", NULL, 0, &error) >= 0);
    }
    refused(catalog_builder_add_group(builder, "more", "", "", NULL, 0, &error), &error,
            "more than 1024 metric groups");
    while (catalog->n_metrics < CATALOG_METRICS_MAX) {
        (void)snprintf(name, sizeof name, "m%zu", catalog->n_metrics);
        metric_of(builder, name, "A / B", NULL);
    }
    refused(add_as(builder, "more", NULL, &error), &error, "more than 8192 metrics");
    catalog_builder_free(builder);
}

static void test_every_category_has_a_name_of_its_own(void **state) {
    (void)state;
    static const char *const names[] = {"frontend_bound", "bad_speculation", "retiring", "backend_bound",
                                        "smt_contention"};
    assert_int_equal(N_OF(names), CATEGORY_N);
    for (size_t i = 0; i < N_OF(names); i++)
        assert_string_equal(category_name((enum category)i), names[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_catalog_counts_cpu_time_and_nothing_else),
        cmocka_unit_test(test_what_is_added_is_copied_and_found_by_name),
        cmocka_unit_test(test_an_event_that_stands_twice_is_refused),
        cmocka_unit_test(test_names_are_printable_and_of_bounded_length),
        cmocka_unit_test(test_a_fixed_counter_names_an_event),
        cmocka_unit_test(test_there_are_no_more_fixed_counters_than_bits_in_a_mask),
        cmocka_unit_test(test_per_cent_becomes_a_ratio_and_its_name_says_of_what),
        cmocka_unit_test(test_an_export_name_is_sound_free_and_not_the_daemons_own),
        cmocka_unit_test(test_a_wrong_formula_is_refused_with_its_column),
        cmocka_unit_test(test_a_rate_threshold_needs_a_ratio),
        cmocka_unit_test(test_k_takes_in_the_export_scale),
        cmocka_unit_test(test_groups_are_found_without_case_dashes_and_underscores),
        cmocka_unit_test(test_a_union_holds_each_metric_of_its_groups_once),
        cmocka_unit_test(test_level_1_is_checked_as_it_is_added),
        cmocka_unit_test(test_the_width_is_a_number_of_slots_a_cycle),
        cmocka_unit_test(test_the_width_may_be_unknown_except_per_thread),
        cmocka_unit_test(test_level_1_is_checked_as_a_whole),
        cmocka_unit_test(test_a_split_shares_an_event_and_holds_them_all),
        cmocka_unit_test(test_a_split_has_a_bounded_number_of_parts_and_events),
        cmocka_unit_test(test_a_catalog_holds_a_bounded_number_of_everything),
        cmocka_unit_test(test_every_category_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
