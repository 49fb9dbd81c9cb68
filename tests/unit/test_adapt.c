// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include "core/adapt/adapt.h"

// When the adaptive schedule raises metric groups, and when it lowers them.

enum { STAGE_1, L1D, L2, BRANCH, DEEP, SELECTIONS_N }; // selections, and groups of the catalog
enum { FRONTEND, BACKEND, RETIRING, L2_MISS, SPEED, VALUES_N };
static const uint64_t ROUND_NS = 2000000000;

struct host {
    struct catalog *catalog;
    struct adapt *adapt;
    struct diagnosis *diagnosis;
    struct snapshot_layout *layout;
    struct snapshot *snapshot;
    size_t place[VALUES_N]; // in the snapshot
    double values[VALUES_N];
};

static void node_of(struct catalog_builder *builder, const char *metric, bool root, const char *first,
                    const char *second) {
    const char *const next[] = {first, second};
    struct fault error;
    assert_true(catalog_builder_add_node(builder, metric, root, next, second ? 2 : 1, &error) >= 0);
}

static void threshold_of(struct catalog_builder *builder, const char *metric, const char *text) {
    struct fault error;
    assert_int_equal(
        catalog_builder_set_threshold(builder, (unsigned)catalog_find_metric(catalog_builder_catalog(builder), metric),
                                      text, &error),
        0);
}

static struct catalog_builder *tree(void) {
    struct catalog_builder *builder = empty_builder();
    struct fault error;
    metric_of(builder, "retiring", "100 * (C / (4 * FIXED_CYCLES))", "percent of slots");
    level1_of(builder, "4 * FIXED_CYCLES", "100 * (A / (4 * FIXED_CYCLES))", "100 * (B / (4 * FIXED_CYCLES))");
    assert_int_equal(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "retiring", &error), 0);
    metric_of(builder, "l1d_miss", "D / E", "");
    metric_of(builder, "l2_miss", "F / G", "");
    metric_of(builder, "branch_miss", "H / I", "");
    metric_of(builder, "deep", "J / K", "");
    metric_of(builder, "speed", "I / FIXED_CYCLES", "");
    group_of(builder, "stage_1", "frontend_bound backend_bound retiring");
    group_of(builder, "L1D", "l1d_miss");
    group_of(builder, "L2", "l2_miss");
    group_of(builder, "Branch", "branch_miss speed");
    group_of(builder, "Deep", "deep");
    threshold_of(builder, "backend_bound", "backend_bound > 20");
    threshold_of(builder, "l2_miss", "l2_miss > 0.1 & backend_bound > 20");
    node_of(builder, "frontend_bound", true, "branch", "stage_1");
    node_of(builder, "backend_bound", true, "L1D", "l2_miss"); // a group, and a metric of one
    node_of(builder, "retiring", true, "Branch", NULL);
    node_of(builder, "l2_miss", false, "Deep", NULL);
    int l2_miss = catalog_find_metric(catalog_builder_catalog(builder), "l2_miss");
    assert_int_equal(catalog_builder_set_parent(builder, (unsigned)l2_miss, "backend_bound", &error), 0);
    return builder;
}

static size_t place_of(const struct host *h, const char *name) {
    for (size_t i = 0; i < h->layout->n_metrics; i++)
        if ((int)h->layout->plan->metrics[i].metric == catalog_find_metric(h->catalog, name))
            return snapshot_metric(h->layout, 0, i);
    fail();
    return 0;
}

static void begin_with(struct host *h, struct catalog *catalog) {
    static const char *const names[VALUES_N] = {"frontend_bound", "backend_bound", "retiring", "l2_miss", "speed"};
    struct plan_selection selections[SELECTIONS_N] = {{0}};
    h->catalog = catalog;
    for (unsigned s = 0; s < SELECTIONS_N; s++)
        selections[s].group = s;
    h->layout = build_layout(plan_of(catalog, 3, 0.1, selections, SELECTIONS_N), build_cpus(0, 1, 1));
    h->snapshot = snapshot_new(h->layout);
    assert_non_null(h->snapshot);
    for (size_t i = 0; i < VALUES_N; i++) {
        h->place[i] = place_of(h, names[i]);
        h->values[i] = 0;
    }
    h->values[SPEED] = 2;
    assert_int_equal(adapt_new(catalog, selections, SELECTIONS_N, &h->adapt), 0);
    h->diagnosis = diagnosis_new(h->layout);
    assert_non_null(h->diagnosis);
}

static void begin(struct host *h) { begin_with(h, catalog_builder_finish(tree())); }

static void end(struct host *h) {
    diagnosis_free(h->diagnosis);
    adapt_free(h->adapt);
    snapshot_unref(h->snapshot);
    snapshot_layout_unref(h->layout);
    catalog_free(h->catalog);
}

// A round with h->values, as exported. True where the raised groups changed.
static bool one_round(struct host *h) {
    h->snapshot->end_ns += ROUND_NS;
    h->snapshot->taken_seconds = (double)h->snapshot->end_ns * 1e-9 + 1000;
    for (size_t i = 0; i < VALUES_N; i++)
        h->snapshot->values[h->place[i]] = h->values[i];
    diagnosis_round(h->diagnosis, h->snapshot);
    return adapt_round(h->adapt, h->diagnosis, h->snapshot);
}

// Runs rounds, of which only the last changes the raised groups.
static void expect_change_in(struct host *h, unsigned rounds) {
    for (unsigned i = 1; i <= rounds; i++)
        assert_int_equal(one_round(h), i == rounds);
}

static void expect_no_change_in(struct host *h, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++)
        assert_false(one_round(h));
}

// `wanted`: a letter for each selection, in upper case if raised.
static void expect_raised(const struct host *h, const char *wanted) {
    char now[] = "slibd";
    for (size_t s = 0; s < SELECTIONS_N; s++) {
        if (adapt_raised(h->adapt)[s])
            now[s] = (char)(now[s] - 'a' + 'A');
        assert_int_equal(adapt_report(h->adapt)->groups[s].raised, adapt_raised(h->adapt)[s]);
    }
    assert_string_equal(now, wanted);
}

static void test_a_node_raises_the_groups_it_leads_to_after_three_rounds(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    expect_no_change_in(&h, 5);
    expect_raised(&h, "slibd");
    h.values[BACKEND] = 0.21; // exported as a ratio; the threshold is 20 of 100
    expect_change_in(&h, 3);
    expect_raised(&h, "sLIbd");
    expect_no_change_in(&h, 100);
    end(&h);
}

static void test_two_rounds_above_are_no_reason(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    for (int i = 0; i < 50; i++) {
        h.values[BACKEND] = i % 3 == 2 ? 0.19 : 0.9;
        assert_false(one_round(&h));
    }
    end(&h);
}

static void test_a_node_falls_after_ten_rounds_below_four_fifths_of_its_threshold(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    h.values[BACKEND] = 0.5;
    expect_change_in(&h, 3);
    h.values[BACKEND] = 0.161; // below the threshold, not below four fifths of it
    expect_no_change_in(&h, 200);
    h.values[BACKEND] = 0.159;
    expect_no_change_in(&h, 9);
    h.values[BACKEND] = 0.161;
    expect_no_change_in(&h, 1);
    h.values[BACKEND] = 0.159;
    expect_change_in(&h, 10);
    expect_raised(&h, "slibd");
    end(&h);
}

static void test_the_plan_changes_at_most_once_a_minute(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    h.values[BACKEND] = 0.5;
    expect_change_in(&h, 3);
    h.values[FRONTEND] = 0.5; // high two seconds later, but 60 s are 30 rounds
    expect_change_in(&h, 30);
    expect_raised(&h, "sLIBd");
    h.values[BACKEND] = h.values[FRONTEND] = 0;
    expect_change_in(&h, 30);
    expect_raised(&h, "slibd");
    end(&h);
}

static void test_what_has_no_value_is_as_if_the_round_had_not_been(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    for (int i = 0; i < 3; i++) {
        for (size_t v = 0; v < VALUES_N; v++)
            h.values[v] = NAN;
        assert_false(one_round(&h));
        h.values[BACKEND] = 0.5;
        assert_int_equal(one_round(&h), i == 2);
    }
    for (size_t v = 0; v < VALUES_N; v++)
        h.values[v] = NAN;
    expect_no_change_in(&h, 500);
    expect_raised(&h, "sLIbd");
    end(&h);
}

static void test_a_missing_value_that_cannot_decide_is_not_waited_for(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    h.values[BACKEND] = 0.5;
    h.values[L2_MISS] = 0.2;
    expect_change_in(&h, 3);
    expect_raised(&h, "sLIbD");
    h.values[L2_MISS] = NAN; // l2_miss > 0.1 & backend_bound > 20
    expect_no_change_in(&h, 100);
    expect_raised(&h, "sLIbD");
    h.values[BACKEND] = 0.1; // settles it
    expect_change_in(&h, 10);
    expect_raised(&h, "slibd");
    end(&h);
}

static void test_a_missing_value_between_two_limits_is_waited_for(void **state) {
    (void)state;
    struct host h;
    struct catalog_builder *builder = tree();
    threshold_of(builder, "speed", "speed > 0.5 & speed < 1");
    node_of(builder, "speed", false, "Deep", NULL);
    begin_with(&h, catalog_builder_finish(builder));
    h.values[SPEED] = 0.8;
    expect_change_in(&h, 3);
    expect_raised(&h, "slibD");
    h.values[SPEED] = NAN; // neither a very small nor a very large one would be high
    expect_no_change_in(&h, 100);
    expect_raised(&h, "slibD");
    end(&h);
}

static void test_a_root_without_a_threshold_is_high_above_a_fifth_and_retiring_above_seven_tenths(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    h.values[FRONTEND] = 0.2;
    h.values[RETIRING] = 0.7;
    expect_no_change_in(&h, 20);
    h.values[FRONTEND] = 0.201;
    expect_change_in(&h, 3);
    expect_raised(&h, "sliBd"); // stage_1 too is next, and is never raised: it has its third
    h.values[FRONTEND] = 0.15;
    expect_change_in(&h, 30);
    h.values[RETIRING] = 0.701;
    expect_change_in(&h, 30);
    expect_raised(&h, "sliBd");
    end(&h);
}

static void test_a_threshold_from_below_has_its_band_above(void **state) {
    (void)state;
    struct host h;
    struct catalog_builder *builder = tree();
    threshold_of(builder, "speed", "speed < 1");
    node_of(builder, "speed", false, "Deep", NULL);
    begin_with(&h, catalog_builder_finish(builder));
    h.values[SPEED] = 0.9;
    expect_change_in(&h, 3);
    expect_raised(&h, "slibD");
    h.values[SPEED] = 1.24; // 0.8 of it is below 1
    expect_no_change_in(&h, 100);
    h.values[SPEED] = 1.26;
    expect_change_in(&h, 10);
    end(&h);
}

static void test_a_group_stays_raised_while_one_of_its_nodes_is_high(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    h.values[FRONTEND] = 0.5;
    h.values[RETIRING] = 0.8;
    expect_change_in(&h, 3);
    h.values[FRONTEND] = 0;
    expect_no_change_in(&h, 100);
    h.values[RETIRING] = 0;
    expect_change_in(&h, 10);
    expect_raised(&h, "slibd");
    end(&h);
}

static void test_every_decision_is_told_with_its_reason(void **state) {
    (void)state;
    struct host h;
    char text[ADAPT_TEXT_MAX];
    begin(&h);
    h.values[BACKEND] = 0.5;
    h.values[L2_MISS] = 0.25;
    expect_change_in(&h, 3);
    const struct adapt_report *report = adapt_report(h.adapt);
    assert_int_equal(report->n_decisions, 3);
    assert_int_equal(report->n_new, 3);
    adapt_decision_text(h.catalog, &report->decisions[0], text, sizeof text);
    assert_string_equal(text, "L1D is raised: backend_bound_ratio is high (0.5)");
    adapt_decision_text(h.catalog, &report->decisions[2], text, sizeof text);
    assert_string_equal(text, "Deep is raised: l2_miss is high (0.25)");
    assert_true(report->decisions[2].at_seconds == 1006);
    assert_true(report->groups[L1D].since_seconds == 1006 && report->groups[L1D].value == 0.5);
    assert_true(isnan(report->groups[BRANCH].since_seconds));
    assert_true(report->causes[CATEGORY_BACKEND_BOUND].high == 3); // l2_miss is below backend_bound
    h.values[L2_MISS] = 0.01;
    expect_change_in(&h, 30);
    assert_int_equal(report->n_new, 1);
    adapt_decision_text(h.catalog, &report->decisions[3], text, sizeof text);
    assert_string_equal(text, "Deep is no longer raised: l2_miss has fallen (0.01)");
    assert_true(report->causes[CATEGORY_BACKEND_BOUND].fell == 1 && report->causes[CATEGORY_N].fell == 0);
    end(&h);
}

static void test_the_last_decisions_are_kept_and_all_are_counted(void **state) {
    (void)state;
    struct host h;
    begin(&h);
    for (int i = 0; i < 20; i++) {
        h.values[BACKEND] = i % 2 == 0 ? 0.5 : 0;
        for (int r = 0; r < 30; r++)
            (void)one_round(&h);
    }
    const struct adapt_report *report = adapt_report(h.adapt);
    assert_true(report->causes[CATEGORY_BACKEND_BOUND].high == 20 && report->causes[CATEGORY_BACKEND_BOUND].fell == 20);
    assert_int_equal(report->n_decisions, ADAPT_DECISIONS_MAX);
    for (size_t i = 1; i < report->n_decisions; i++)
        assert_true(report->decisions[i].at_seconds >= report->decisions[i - 1].at_seconds);
    assert_false(report->decisions[report->n_decisions - 1].raised);
    struct adapt_report *copy = adapt_report_copy(report);
    assert_non_null(copy);
    assert_true(copy->groups != report->groups && copy->groups[L2].group == L2);
    assert_null(adapt_report_free(copy));
    end(&h);
}

// Begins a schedule of other selections, which continues the host's.
static struct adapt *continue_with(const struct host *h, const unsigned *groups, size_t n) {
    struct plan_selection selections[SELECTIONS_N] = {{0}};
    struct adapt *adapt;
    for (size_t s = 0; s < n; s++)
        selections[s].group = groups[s];
    assert_int_equal(adapt_new(h->catalog, selections, n, &adapt), 0);
    adapt_continue(adapt, h->adapt);
    return adapt;
}

static void test_other_selections_go_on_with_what_was_decided_and_counted(void **state) {
    (void)state;
    static const unsigned fewer[] = {DEEP, L2, STAGE_1}; // L1D is gone, the rest in another order
    struct host h;
    begin(&h);
    h.values[BACKEND] = 0.5;
    expect_change_in(&h, 3);
    expect_raised(&h, "sLIbd");
    struct adapt *next = continue_with(&h, fewer, N_OF(fewer));
    const struct adapt_report *report = adapt_report(next);
    assert_false(adapt_raised(next)[0]);
    assert_true(adapt_raised(next)[1] && report->groups[1].raised && report->groups[1].group == L2);
    assert_false(adapt_raised(next)[2]);
    assert_true(report->causes[CATEGORY_BACKEND_BOUND].high == 2);
    assert_int_equal(report->n_decisions, 2);
    adapt_free(h.adapt);
    h.adapt = next;
    h.values[BACKEND] = 0; // falls as if nothing had been, and no sooner than a minute after the last change
    expect_change_in(&h, 30);
    assert_false(adapt_raised(next)[1]);
    assert_true(report->causes[CATEGORY_BACKEND_BOUND].fell == 1);
    end(&h);
}

static void test_counts_go_on_where_the_schedule_was_fixed_meanwhile(void **state) {
    (void)state;
    struct adapt_cause_count counts[ADAPT_CAUSES_N] = {[CATEGORY_BACKEND_BOUND] = {.high = 7, .fell = 5}};
    struct host h;
    begin(&h);
    adapt_count_on(h.adapt, counts);
    h.values[BACKEND] = 0.5;
    expect_change_in(&h, 3);
    assert_true(adapt_report(h.adapt)->causes[CATEGORY_BACKEND_BOUND].high == 9);
    assert_true(adapt_report(h.adapt)->causes[CATEGORY_BACKEND_BOUND].fell == 5);
    end(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_selections_go_on_with_what_was_decided_and_counted),
        cmocka_unit_test(test_counts_go_on_where_the_schedule_was_fixed_meanwhile),
        cmocka_unit_test(test_a_node_raises_the_groups_it_leads_to_after_three_rounds),
        cmocka_unit_test(test_two_rounds_above_are_no_reason),
        cmocka_unit_test(test_a_node_falls_after_ten_rounds_below_four_fifths_of_its_threshold),
        cmocka_unit_test(test_the_plan_changes_at_most_once_a_minute),
        cmocka_unit_test(test_what_has_no_value_is_as_if_the_round_had_not_been),
        cmocka_unit_test(test_a_missing_value_that_cannot_decide_is_not_waited_for),
        cmocka_unit_test(test_a_missing_value_between_two_limits_is_waited_for),
        cmocka_unit_test(test_a_root_without_a_threshold_is_high_above_a_fifth_and_retiring_above_seven_tenths),
        cmocka_unit_test(test_a_threshold_from_below_has_its_band_above),
        cmocka_unit_test(test_a_group_stays_raised_while_one_of_its_nodes_is_high),
        cmocka_unit_test(test_every_decision_is_told_with_its_reason),
        cmocka_unit_test(test_the_last_decisions_are_kept_and_all_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
