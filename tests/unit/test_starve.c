// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include "core/adapt/starve.h"

// Event groups that starve: when they are tried, what the plan makes of the answers, and when they are tried again.

#define SECOND_NS UINT64_C(1000000000)

enum { COUNTERS = 4 };

// What happened to each event group in a round, by its number: '.' ran, 's' starved.
static void round_of(struct follow *follow, const char *groups, uint64_t end_ns) {
    struct window windows[16];
    size_t n = strlen(groups);
    assert_true(n <= N_OF(windows));
    for (size_t g = 0; g < n; g++)
        windows[g] = (struct window){.group = (unsigned)g,
                                     .result = groups[g] == 's' ? WINDOW_STARVED : WINDOW_COMPLETE,
                                     .running_ns = groups[g] != 's'};
    const struct readings readings = {.windows = windows, .n_windows = n, .end_ns = end_ns};
    follow_round(follow, &readings);
}

// Two metric groups: `wide` fills the counters with three metrics, `other` with one.
static struct catalog *two_groups(void) {
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", "u");
    metric_of(builder, "ba", "B / A", "u");
    metric_of(builder, "cd", "C / D", "u");
    metric_of(builder, "e", "E / FIXED_CYCLES", "u");
    metric_of(builder, "efgh", "E * F / G / H", "u");
    group_of(builder, "wide", "ab ba cd");
    group_of(builder, "other", "e efgh");
    return catalog_builder_finish(builder);
}

static struct plan *plan_with(const struct catalog *catalog, const uint8_t *findings) {
    return build_plan(&(struct plan_request){
        .catalog = catalog, .general_counters = COUNTERS, .findings = findings, .slot_ns = SLOT_NS, .idle = 0.1});
}

static const struct plan_metric *metric_at(const struct plan *plan, const char *name) {
    int metric = catalog_find_metric(plan->catalog, name);
    assert_true(metric >= 0 && plan->place[metric] >= 0);
    return &plan->metrics[plan->place[metric]];
}

struct case_ {
    struct catalog *catalog;
    struct plan *plan;
    struct starve *starve;
    struct follow follow;
    uint64_t now_ns;
};

static void begin(struct case_ *c, struct catalog *catalog) {
    *c = (struct case_){.catalog = catalog, .plan = plan_with(catalog, NULL), .now_ns = 100 * SECOND_NS};
    assert_int_equal(starve_new(catalog, &c->starve), 0);
    follow_init(&c->follow, COUNTERS);
}

static void end(struct case_ *c) {
    starve_free(c->starve);
    plan_free(c->plan);
    catalog_free(c->catalog);
}

// The groups starve, and the probe's answer is the old one.
static void starve_and_probe(struct case_ *c, const char *groups) {
    round_of(&c->follow, groups, c->now_ns);
    assert_false(follow_answer(&c->follow, COUNTERS, c->now_ns));
}

// A trial in which the current plan's groups do not run, and those of the trial's plan that hold one of `bad` neither.
static bool try(struct case_ *c, enum starve_answer whole, const char *bad) {
    enum starve_answer answers[16], of_trial[16];
    struct plan *trial = plan_with(c->catalog, starve_ask(c->starve, &c->follow, c->plan));
    assert_true(c->plan->n_groups <= 16 && trial->n_groups <= 16);
    for (size_t g = 0; g < 16; g++)
        answers[g] = whole;
    for (size_t g = 0; g < trial->n_groups; g++) {
        of_trial[g] = starve_asks_unit(c->starve, trial, trial->groups[g].unit) ? STARVE_RAN : STARVE_UNKNOWN;
        for (const char *b = bad; *b != '\0' && of_trial[g] == STARVE_RAN; b++) {
            const char name[] = {*b, '\0'};
            if (holds(trial->groups[g].events, trial->groups[g].n_events,
                      (unsigned)catalog_find_event(c->catalog, name)))
                of_trial[g] = STARVE_DID_NOT_RUN;
        }
    }
    bool changed = starve_take(c->starve, &c->follow, c->plan, answers, trial, of_trial, c->now_ns);
    plan_free(trial);
    if (!changed)
        return false;
    plan_free(c->plan);
    c->plan = plan_with(c->catalog, starve_findings(c->starve));
    follow_plan_changed(&c->follow);
    return true;
}

static void test_a_group_is_tried_once_the_probes_answer_is_the_old_one(void **state) {
    (void)state;
    struct case_ c;
    begin(&c, two_groups());
    assert_int_equal(c.plan->n_groups, 2);
    round_of(&c.follow, "..", c.now_ns);
    assert_false(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns));
    round_of(&c.follow, "s.", c.now_ns);
    assert_false(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns)); // not yet probed
    assert_false(follow_answer(&c.follow, COUNTERS, c.now_ns));
    assert_true(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns));
    round_of(&c.follow, "ss", c.now_ns); // nothing runs: others hold the counters
    assert_false(follow_answer(&c.follow, COUNTERS, c.now_ns));
    assert_false(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns));
    end(&c);
}

static void test_metrics_whose_events_run_alone_get_groups_of_their_own(void **state) {
    (void)state;
    struct case_ c;
    begin(&c, two_groups());
    starve_and_probe(&c, "s.");
    assert_true(try(&c, STARVE_DID_NOT_RUN, ""));
    assert_int_equal(c.plan->n_groups, 3);
    int ab = metric_at(c.plan, "ab")->unit, cd = metric_at(c.plan, "cd")->unit;
    assert_true(ab != cd && metric_at(c.plan, "ba")->unit == ab); // the same events
    assert_int_equal(c.plan->units[ab].n_events, 2);
    assert_int_equal(c.plan->units[cd].n_events, 2);
    assert_true(metric_at(c.plan, "e")->unit == metric_at(c.plan, "efgh")->unit);
    end(&c);
}

static void test_metrics_whose_events_do_not_run_are_not_plannable_and_say_why(void **state) {
    (void)state;
    struct case_ c;
    begin(&c, two_groups());
    starve_and_probe(&c, "s.");
    assert_true(try(&c, STARVE_DID_NOT_RUN, "D"));
    assert_int_equal(metric_at(c.plan, "cd")->unit, PLAN_NOT_PLANNABLE);
    assert_non_null(strstr(metric_at(c.plan, "cd")->reason, "got no counters, not even alone on a core"));
    assert_true(plan_metric_planned(metric_at(c.plan, "ab")));
    c.now_ns += 10 * SECOND_NS + 1;
    assert_true(try(&c, STARVE_UNKNOWN, "D")); // the others go back
    assert_int_equal(metric_at(c.plan, "cd")->unit, PLAN_NOT_PLANNABLE);
    static const uint64_t waits[] = {10, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600};
    for (size_t i = 0; i < N_OF(waits); i++) { // nothing starves: it is tried for the metric that is missing
        assert_false(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns + waits[i] * SECOND_NS));
        c.now_ns += waits[i] * SECOND_NS + 1;
        assert_true(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns));
        if (i + 1 < N_OF(waits))
            assert_false(try(&c, STARVE_UNKNOWN, "D"));
    }
    assert_true(try(&c, STARVE_UNKNOWN, ""));
    assert_true(plan_metric_planned(metric_at(c.plan, "cd")));
    end(&c);
}

static void test_a_group_that_runs_when_it_is_tried_stays_and_is_tried_more_rarely(void **state) {
    (void)state;
    struct case_ c;
    begin(&c, two_groups());
    starve_and_probe(&c, "s.");
    assert_false(try(&c, STARVE_RAN, "ABCD"));
    assert_false(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns + 10 * SECOND_NS));
    c.now_ns += 10 * SECOND_NS + 1;
    assert_true(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns));
    assert_true(try(&c, STARVE_UNKNOWN, "")); // of the group nothing is known this time
    assert_int_equal(c.plan->n_groups, 3);
    end(&c);
}

// What was a group's cause to starve has gone: metrics go back, all together.
static void test_metrics_go_back_when_all_would_run_as_before(void **state) {
    (void)state;
    struct case_ c;
    begin(&c, two_groups());
    starve_and_probe(&c, "s.");
    assert_true(try(&c, STARVE_DID_NOT_RUN, ""));
    round_of(&c.follow, "...", c.now_ns);
    assert_false(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns + 10 * SECOND_NS));
    c.now_ns += 10 * SECOND_NS + 1;
    assert_true(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns));
    assert_false(try(&c, STARVE_UNKNOWN, "D"));
    assert_int_equal(c.plan->n_groups, 3);
    c.now_ns += 10 * SECOND_NS + 1;
    assert_true(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns));
    assert_true(try(&c, STARVE_UNKNOWN, ""));
    assert_int_equal(c.plan->n_groups, 2);
    assert_false(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns + 9999 * SECOND_NS));
    end(&c);
}

static void test_another_number_of_counters_makes_findings_void(void **state) {
    (void)state;
    struct case_ c;
    begin(&c, two_groups());
    starve_and_probe(&c, "s.");
    assert_true(try(&c, STARVE_DID_NOT_RUN, "AD"));
    assert_false(plan_metric_planned(metric_at(c.plan, "ab")));
    starve_forget(c.starve);
    plan_free(c.plan);
    c.plan = plan_with(c.catalog, starve_findings(c.starve));
    assert_true(plan_metric_planned(metric_at(c.plan, "ab")) && c.plan->n_groups == 2);
    end(&c);
}

// Two categories over three events, with a split of two parts.
static struct catalog *level1_catalog(void) {
    static const char *const parts[2][2] = {{"FIXED_CYCLES", "A"}, {"FIXED_CYCLES", "B"}};
    struct fault fault;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "e", "E / F / G / H", "u");
    level1_of(builder, "4 * FIXED_CYCLES", "A / (4 * FIXED_CYCLES)", "B / (4 * FIXED_CYCLES)");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, parts[i], 2, &fault), 0);
    group_of(builder, "level1", "frontend_bound backend_bound");
    group_of(builder, "four", "e");
    return catalog_builder_finish(builder);
}

static void test_level_1_that_does_not_run_in_one_group_is_split(void **state) {
    (void)state;
    struct case_ c;
    begin(&c, level1_catalog());
    assert_true(c.plan->level1_unit >= 0 && c.plan->units[c.plan->level1_unit].n_groups == 1);
    char groups[] = "...";
    groups[c.plan->units[c.plan->level1_unit].first_group] = 's';
    starve_and_probe(&c, groups);
    assert_false(try(&c, STARVE_DID_NOT_RUN, "A"));                    // in one group
    assert_true(starve_is_due(c.starve, &c.follow, c.plan, c.now_ns)); // in its parts, at once
    assert_true(try(&c, STARVE_DID_NOT_RUN, ""));
    assert_int_equal(c.plan->units[c.plan->level1_unit].n_groups, 2);
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_is_tried_once_the_probes_answer_is_the_old_one),
        cmocka_unit_test(test_metrics_whose_events_run_alone_get_groups_of_their_own),
        cmocka_unit_test(test_metrics_whose_events_do_not_run_are_not_plannable_and_say_why),
        cmocka_unit_test(test_a_group_that_runs_when_it_is_tried_stays_and_is_tried_more_rarely),
        cmocka_unit_test(test_metrics_go_back_when_all_would_run_as_before),
        cmocka_unit_test(test_another_number_of_counters_makes_findings_void),
        cmocka_unit_test(test_level_1_that_does_not_run_in_one_group_is_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
