// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "history_past.h"

// The history's values follow from sums, stay in bounded memory, and survive a change of plan.

static void change_plan(struct past *past, unsigned counters) {
    struct snapshot_layout *before = past->host.layout;
    past->host.layout = host_layout(past->host.catalog, counters);
    past->host.plan = past->host.layout->plan;
    past->host.topology = past->host.layout->topology;
    struct snapshot *other = snapshot_new(past->host.layout);
    other->end_ns = past->snapshot->end_ns;
    snapshot_unref(past->snapshot);
    past->snapshot = other;
    snapshot_layout_unref(before);
}

static void test_a_steps_quotient_is_that_of_its_sums(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_branches(&past, 0, 100, 1000);
    take_after(&past, 0);
    set_branches(&past, 0, 110, 2000); // 10 a thousand
    set_gauge(&past, 0, "branch_mpki", 10);
    take_after(&past, 2);
    set_branches(&past, 0, 1010, 11000); // 100 a thousand of nine times as many
    set_gauge(&past, 0, "branch_mpki", 100);
    take_after(&past, 2);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 91));
    set_branches(&past, 0, 1030, 12000);
    take_after(&past, 8);
    assert_int_equal(history_range(past.history, false).n, 2);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 20));
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 1), 91));
    assert_int_equal(history_range(past.history, true).n, 1);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", true, 0), 1000 * 930.0 / 11000));
    end(&past);
}

static void test_a_step_in_which_nothing_grew_has_the_last_gauge(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_branches(&past, 0, 100, 1000);
    set_gauge(&past, 0, "branch_mpki", 7);
    take_after(&past, 0);
    take_after(&past, 10);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 7));
    set_branches(&past, 0, 103, 2000);
    take_after(&past, 2); // then sums alone
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 3));
    set_gauge(&past, 0, "branch_mpki", NAN);
    take_after(&past, 10);
    assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", false, 0)));
    end(&past);
}

static void test_level1_follows_from_pipeline_slots_and_others_from_gauges_by_time(void **state) {
    (void)state;
    struct past past;
    size_t category = 0;
    begin(&past);
    const struct catalog_level1 *level1 = &past.host.catalog->level1;
    while (level1->categories[category].category != CATEGORY_RETIRING)
        category++;
    double *slots = &past.snapshot->values[snapshot_pipeline_slots(past.host.layout, 0)],
           *retiring = &past.snapshot->values[snapshot_category(past.host.layout, 0, category)];
    *slots = 4000;
    *retiring = 1000;
    set_gauge(&past, 0, "odd", 1);
    take_after(&past, 0);
    *slots = 8000;
    *retiring = 3000;
    take_after(&past, 1);
    set_gauge(&past, 0, "odd", 5);
    take_after(&past, 3);
    assert_true(near(value(&past, HISTORY_HOST, "retiring_ratio", false, 0), 0.5));
    assert_true(near(value(&past, HISTORY_HOST, "odd", false, 0), (1 * 1 + 3 * 5) / 4.0));
    end(&past);
}

// Sets how long before the snapshot the last round began and ended.
static void set_round(struct past *past, double begun, double ended) {
    past->snapshot->values[snapshot_gauges_begun(past->host.layout)] = begun;
    past->snapshot->values[snapshot_gauges_ended(past->host.layout)] = ended;
}

// Rounds of 24 s, and a snapshot every 2 s: the gauge of a round is repeated until the next one ends.
static void test_a_step_without_a_round_has_the_gauge_of_the_round_around_it_and_no_other(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_gauge(&past, 0, "branch_mpki", 3);
    set_gauge(&past, 0, "odd", 4);
    set_round(&past, 24, 0);
    take_after(&past, 2);
    for (double age = 2; age < 24; age += 2) {
        set_round(&past, 24 + age, age);
        take_after(&past, 2);
    }
    static const char *const metrics[] = {"branch_mpki", "odd"};
    for (size_t i = 0; i < 2; i++) {
        assert_true(isnan(value(&past, HISTORY_HOST, metrics[i], false, 0)));
        assert_true(isnan(value(&past, HISTORY_HOST, metrics[i], false, 1)));
        assert_true(near(value(&past, HISTORY_HOST, metrics[i], false, 2), i == 0 ? 3 : 4));
    }
    set_gauge(&past, 0, "branch_mpki", 30);
    set_gauge(&past, 0, "odd", 40);
    set_round(&past, 24, 0);
    take_after(&past, 2); // the round was going on all the time from 10 to 20 s
    for (size_t i = 0; i < 2; i++) {
        assert_true(near(value(&past, HISTORY_HOST, metrics[i], false, 0), i == 0 ? 30 : 40));
        assert_true(near(value(&past, HISTORY_HOST, metrics[i], false, 1), i == 0 ? 30 : 40));
        assert_true(near(value(&past, HISTORY_HOST, metrics[i], false, 2), i == 0 ? 3 : 4));
    }
    end(&past);
}

static void test_time_without_snapshots_has_no_values(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_branches(&past, 0, 0, 0);
    take_after(&past, 0);
    for (int i = 1; i <= 3; i++) {
        set_branches(&past, 0, i, 1000 * i);
        past.snapshot->values[snapshot_uncovered(past.host.layout, 0, UNCOVERED_GAP)] = i >= 2 ? 25 : 0;
        take_after(&past, i == 2 ? 30 : 5);
    }
    assert_int_equal(history_range(past.history, false).n, 5); // steps at 0, 10, 20, 30 and 40 s
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 1), 1));
    assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", false, 2)));
    assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", false, 3)));
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 4), 1));
    set_gauge(&past, 0, "branch_mpki", 9);
    take_after(&past, 2); // within one step: says nothing of those before
    for (size_t ago = 2; ago <= 3; ago++)
        assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", false, ago)));
    set_gauge(&past, 0, "branch_mpki", NAN);
    set_branches(&past, 0, 5, 4000);
    past.snapshot->values[snapshot_uncovered(past.host.layout, 0, UNCOVERED_GAP)] = 99999;
    take_after(&past, 100000); // more than the rings hold
    assert_int_equal(history_range(past.history, false).n, HISTORY_FINE_N);
    assert_int_equal(history_range(past.history, true).n, HISTORY_COARSE_N);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 2));
    for (size_t ago = 1; ago < HISTORY_FINE_N; ago++)
        assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", false, ago)));
    for (size_t ago = 1; ago < HISTORY_COARSE_N; ago++)
        assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", true, ago)));
    end(&past);
}

static void test_a_snapshot_stands_for_all_steps_of_its_interval(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_branches(&past, 0, 0, 0);
    take_after(&past, 0);
    set_branches(&past, 0, 2, 1000);
    set_gauge(&past, 0, "branch_mpki", 3);
    set_gauge(&past, 0, "odd", 4);
    take_after(&past, 45);
    assert_int_equal(history_range(past.history, false).n, 5);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 2));
    for (size_t ago = 1; ago <= 3; ago++) {
        assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, ago), 3));
        assert_true(near(value(&past, HISTORY_HOST, "odd", false, ago), 4));
    }
    set_branches(&past, 0, 4, 2000);
    take_after(&past, 1000000); // more than the rings hold
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, HISTORY_FINE_N - 1), 3));
    end(&past);
}

static void test_series_that_go_on_keep_their_past_when_others_come(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    change_plan(&past, 2); // level 1 does not fit
    set_branches(&past, 0, 0, 0);
    take_after(&past, 0);
    set_branches(&past, 0, 8, 1000);
    take_after(&past, 10);
    change_plan(&past, 4); // metrics that come first in the plan are new
    set_branches(&past, 0, 16, 2000);
    take_after(&past, 10);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 1), 8));
    end(&past);
}

static void test_the_rings_keep_an_hour_and_a_day(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_branches(&past, 0, 0, 0);
    take_after(&past, 0);
    double misses = 0;
    for (int i = 1; i <= 90000 / 10; i++) { // 25 hours; the misses of a step are its number
        set_branches(&past, 0, misses += i, 1000.0 * i);
        take_after(&past, 10);
    }
    assert_int_equal(history_range(past.history, false).n, HISTORY_FINE_N);
    for (size_t ago = 0; ago < HISTORY_FINE_N; ago++)
        assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, ago), 9000 - (double)ago));
    assert_int_equal(history_range(past.history, true).n, HISTORY_COARSE_N);
    for (size_t ago = 1; ago < HISTORY_COARSE_N; ago++) // a mean over thirty steps of ten seconds
        assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", true, ago) -
                             value(&past, HISTORY_HOST, "branch_mpki", true, ago - 1),
                         -30) ||
                    ago == 1); // the last one has not ended
    end(&past);
}

static void test_sockets_have_their_own_and_an_only_socket_the_hosts(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    for (size_t scope = 0; scope <= 2; scope++)
        set_branches(&past, scope, 0, 0);
    take_after(&past, 0);
    for (size_t scope = 0; scope <= 2; scope++)
        set_branches(&past, scope, (double)scope + 1, 1000);
    take_after(&past, 1);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 1));
    assert_true(near(value(&past, 0, "branch_mpki", false, 0), 2));
    assert_true(near(value(&past, 7, "branch_mpki", false, 0), 3));
    assert_true(history_has(past.history, 7, "ipc") && !history_has(past.history, 1, "ipc"));
    assert_true(isnan(value(&past, 1, "branch_mpki", false, 0)));
    assert_false(history_has(past.history, HISTORY_HOST, "nothing"));
    end(&past);

    const struct topology_source one[] = {{0, 0, 3, true}};
    struct past only;
    begin(&only);
    snapshot_unref(only.snapshot);
    snapshot_layout_unref(only.host.layout);
    only.host.layout = host_layout_on(only.host.catalog, 4, one, 1);
    only.host.plan = only.host.layout->plan;
    only.snapshot = snapshot_new(only.host.layout);
    only.snapshot->end_ns = 1000 * SECOND_NS;
    set_branches(&only, 0, 0, 0);
    take_after(&only, 0);
    set_branches(&only, 0, 4, 1000);
    take_after(&only, 1);
    assert_true(near(value(&only, 3, "branch_mpki", false, 0), 4));
    end(&only);
}

static void test_traffic_is_that_of_all_boxes_and_other_metrics_are_not_multiplied(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    struct topology *topology = past.host.topology;
    size_t metric = past.host.plan->metrics[host_metric(&past.host, "branch_mpki")].metric;
    topology->boxes = true;
    unsigned all = topology->sockets[0].measured + topology->sockets[1].measured;
    assert_int_not_equal(topology->sockets[1].measured, all);
    for (int traffic = 0; traffic <= 1; traffic++) {
        past.host.catalog->metrics[metric].traffic = traffic ? TRAFFIC_MEMORY_READ : TRAFFIC_NONE;
        for (size_t scope = 0; scope <= 2; scope++)
            set_branches(&past, scope, 0, 0);
        take_after(&past, 10);
        for (size_t scope = 0; scope <= 2; scope++)
            set_branches(&past, scope, 5, 1000);
        take_after(&past, 10);
        assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), traffic ? 5 * all : 5));
        assert_true(near(value(&past, 7, "branch_mpki", false, 0), traffic ? 5 * topology->sockets[1].measured : 5));
        take_after(&past, 10); // nothing is new
        set_gauge(&past, 0, "branch_mpki", 3);
        take_after(&past, 10);
        assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), traffic ? 3 * all : 3));
    }
    end(&past);
}

static void test_events_that_the_configuration_names_are_those_of_all_boxes(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    struct topology *topology = past.host.topology;
    topology->boxes = true;
    past.host.catalog->product.chosen = true;
    unsigned all = topology->sockets[0].measured + topology->sockets[1].measured;
    set_branches(&past, 0, 0, 0);
    take_after(&past, 10);
    set_branches(&past, 0, 5, 1000);
    take_after(&past, 10);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 5 * all));
    past.host.catalog->product.chosen = false;
    end(&past);
}

static void test_another_plan_goes_on_under_the_same_names(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    change_plan(&past, 2); // level 1 does not fit
    set_branches(&past, 0, 0, 0);
    take_after(&past, 0);
    set_branches(&past, 0, 8, 1000);
    take_after(&past, 1);
    assert_false(history_has(past.history, HISTORY_HOST, "retiring_ratio"));
    for (int i = 1; i <= 3; i++) {
        change_plan(&past, i % 2 ? 4 : 2);
        set_branches(&past, 0, 8 + 12.0 * i, 1000 + 1000.0 * i); // totals pass to the next plan
        take_after(&past, 1);
        assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), (8 + 12.0 * i) / (1 + i)));
        assert_true(history_has(past.history, HISTORY_HOST, "retiring_ratio")); // also when it is lost again
    }
    end(&past);
}

static void test_a_host_with_too_many_series_keeps_the_hosts_and_level1(void **state) {
    (void)state;
    struct past past;
    size_t measured = 0;
    begin(&past);
    for (size_t m = 0; m < past.host.plan->n_metrics; m++)
        measured += plan_metric_planned(&past.host.plan->metrics[m]);
    end(&past);
    begin_with(&past, measured + 5); // the host's, level 1 of a socket, one of another
    take_after(&past, 0);
    assert_true(history_has(past.history, HISTORY_HOST, "branch_mpki"));
    assert_true(history_has(past.history, 0, "retiring_ratio") && history_has(past.history, 7, "frontend_bound_ratio"));
    assert_false(history_has(past.history, 0, "ipc") || history_has(past.history, 7, "retiring_ratio"));
    end(&past);
}

static void test_times_are_those_of_the_last_snapshot_that_told_one(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    assert_int_equal(history_range(past.history, false).n, 0);
    take_after(&past, 0);
    assert_true(history_wall_offset_ns(past.history) == INT64_C(1700000000) * 1000000000);
    end(&past);
}

// A program that sets a mark each second hides nothing else.
static void test_of_marks_that_somebody_sets_the_newest_are_kept_and_all_others(void **state) {
    (void)state;
    static struct marks marks;
    size_t n_users = 0, others = 0;
    int64_t before = -1;
    for (int i = 0; i < 3 * MARKS_USER_MAX; i++)
        marks_add(&marks, i, i % 3 == 0 && i < 120 ? MARK_RELOAD : MARK_USER, "deploy");
    for (size_t i = 0; i < marks_count(&marks); i++) {
        const struct mark *mark = marks_get(&marks, i);
        assert_true(mark->at_ns > before);
        before = mark->at_ns;
        n_users += mark->kind == MARK_USER;
        others += mark->kind == MARK_RELOAD;
        assert_true(mark->kind == MARK_RELOAD || mark->at_ns >= 2 * MARKS_USER_MAX);
    }
    assert_int_equal(n_users, MARKS_USER_MAX);
    assert_int_equal(others, 40);
    assert_string_equal(mark_kind_name(MARK_USER), "user");
}

static void test_the_newest_marks_are_kept(void **state) {
    (void)state;
    static struct marks marks;
    for (int i = 0; i < MARKS_MAX + 3; i++) {
        char text[2 * MARK_TEXT_MAX];
        (void)snprintf(text, sizeof text, "%d %*s", i, MARK_TEXT_MAX, "x");
        marks_add(&marks, i, MARK_CPUS, text);
        assert_int_equal(marks_count(&marks), i < MARKS_MAX ? i + 1 : MARKS_MAX);
    }
    for (size_t i = 0; i < MARKS_MAX; i++) {
        assert_int_equal(marks_get(&marks, i)->at_ns, i + 3);
        assert_int_equal(strlen(marks_get(&marks, i)->text), MARK_TEXT_MAX - 1);
    }
    for (int kind = 0; kind < MARK_KINDS; kind++)
        assert_true(mark_kind_name((enum mark_kind)kind)[0] != '\0');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_steps_quotient_is_that_of_its_sums),
        cmocka_unit_test(test_a_step_in_which_nothing_grew_has_the_last_gauge),
        cmocka_unit_test(test_level1_follows_from_pipeline_slots_and_others_from_gauges_by_time),
        cmocka_unit_test(test_time_without_snapshots_has_no_values),
        cmocka_unit_test(test_a_step_without_a_round_has_the_gauge_of_the_round_around_it_and_no_other),
        cmocka_unit_test(test_a_snapshot_stands_for_all_steps_of_its_interval),
        cmocka_unit_test(test_series_that_go_on_keep_their_past_when_others_come),
        cmocka_unit_test(test_the_rings_keep_an_hour_and_a_day),
        cmocka_unit_test(test_sockets_have_their_own_and_an_only_socket_the_hosts),
        cmocka_unit_test(test_traffic_is_that_of_all_boxes_and_other_metrics_are_not_multiplied),
        cmocka_unit_test(test_events_that_the_configuration_names_are_those_of_all_boxes),
        cmocka_unit_test(test_another_plan_goes_on_under_the_same_names),
        cmocka_unit_test(test_a_host_with_too_many_series_keeps_the_hosts_and_level1),
        cmocka_unit_test(test_times_are_those_of_the_last_snapshot_that_told_one),
        cmocka_unit_test(test_of_marks_that_somebody_sets_the_newest_are_kept_and_all_others),
        cmocka_unit_test(test_the_newest_marks_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
