// SPDX-License-Identifier: Apache-2.0
#include "exporters/health/health.h"

#include "core_check.h"
#include "exporter_host.h"

// Whether a host counts what it is configured to count, from its views and snapshots alone. The second pair, where a
// test has one, is the same host as a kind of PMUs outside the cores.

struct judged {
    struct exporter_host hosts[2];
    struct view *views[2];
    struct snapshot *snapshots[2];
    struct shown shown;
};

static void begin(struct judged *j, size_t n_cores, size_t n_boxes) {
    *j = (struct judged){.shown = {.n = n_cores, .n_boxes = n_boxes}};
    for (size_t i = 0; i < n_cores + n_boxes; i++) {
        host_init(&j->hosts[i]);
        j->views[i] = view_new(&j->hosts[i].view);
        j->snapshots[i] = host_snapshot(&j->hosts[i]);
        assert_true(j->views[i] && j->snapshots[i]);
        j->shown.types[i] = (struct shown_type){j->views[i], j->snapshots[i]};
    }
}

static void end(struct judged *j) {
    for (size_t i = 0; i < shown_all(&j->shown); i++) {
        snapshot_unref(j->snapshots[i]);
        view_unref(j->views[i]);
        host_deinit(&j->hosts[i]);
    }
}

// All metrics of the host lack their values for this.
static void blind(struct judged *j, size_t i, enum absent absent) {
    j->snapshots[i]->blind = true;
    for (size_t m = 0; m < j->hosts[i].layout->n_metrics; m++)
        j->snapshots[i]->absent[snapshot_state(j->hosts[i].layout, 0, m)] = (uint8_t)absent;
}

static void expect(const struct judged *j, bool ready, enum health_reason reason, const char *says) {
    char text[HEALTH_TEXT_MAX];
    struct health health = health_judge(&j->shown, 0);
    assert_int_equal(health.ready, ready);
    assert_int_equal(health.reason, reason);
    health_text(&j->shown, 0, text, sizeof text);
    assert_true(says[0] == '\0' ? text[0] == '\0' : strstr(text, says) != NULL);
    for (int r = 0; r < HEALTH_REASON_N; r++) {
        double value = health_series(&j->shown, (enum health_reason)r);
        assert_true(r == (int)reason ? value == !ready : isnan(value));
    }
}

static void test_who_counts_is_ready_and_who_does_not_is_not_and_says_why(void **state) {
    (void)state;
    static const struct {
        enum absent absent;
        enum health_reason reason;
        const char *says;
    } ways[] = {
        {ABSENT_STARVED, HEALTH_STARVED, "others hold"},    {ABSENT_OFFLINE, HEALTH_OFFLINE, "offline"},
        {ABSENT_STALLED, HEALTH_SILENT, "never"},           {ABSENT_FILTERED, HEALTH_FILTERED, "filter"},
        {ABSENT_FAILED, HEALTH_FAILED, "Nothing has been"},
    };
    for (size_t i = 0; i < N_OF(ways); i++) {
        struct judged j;
        begin(&j, 1, 0);
        expect(&j, true, HEALTH_FINE, "");
        blind(&j, 0, ways[i].absent);
        expect(&j, false, ways[i].reason, ways[i].says);
        expect(&j, false, ways[i].reason, "for 3 snapshot intervals: ");
        j.snapshots[0]->never_counted = true;
        expect(&j, false, ways[i].reason, "Nothing has been counted since topdownd started: ");
        end(&j);
    }
}

static void test_what_has_not_begun_and_what_has_ended_is_not_ready(void **state) {
    (void)state;
    struct judged j;
    char text[HEALTH_TEXT_MAX];
    begin(&j, 1, 0);
    j.snapshots[0]->stale = true;
    expect(&j, false, HEALTH_STALE, "No snapshot has been made");
    j.snapshots[0]->stale = false;
    assert_int_equal(health_judge(&j.shown, 1).reason, HEALTH_STALE);
    health_text(&j.shown, 1, text, sizeof text);
    assert_non_null(strstr(text, "No snapshot has been made"));
    j.snapshots[0]->sequence = 0;
    expect(&j, false, HEALTH_STARTING, "the first round has not ended");
    end(&j);
}

// A filter tells more than what follows from it.
static void test_a_metric_behind_a_filter_is_the_reason(void **state) {
    (void)state;
    struct judged j;
    begin(&j, 1, 0);
    blind(&j, 0, ABSENT_STALLED);
    size_t last = j.hosts[0].layout->n_metrics;
    while (!view_exported(j.views[0], --last))
        ;
    j.snapshots[0]->absent[snapshot_state(j.hosts[0].layout, 0, last)] = ABSENT_FILTERED;
    expect(&j, false, HEALTH_FILTERED, "filter");
    end(&j);
}

// The kernel's error tells more than that windows failed, but not one of PMUs outside the cores.
static void test_the_reason_is_the_newest_error_of_the_own_pmu(void **state) {
    (void)state;
    static const struct view_pmu_error errors[] = {
        {.pmu = "cpu", .reason = "not_allowed", .text = "events of the cores: give it CAP_PERFMON"},
        {.pmu = "imc", .reason = "refused", .text = "events of the memory", .uncore = true}};
    struct judged j;
    begin(&j, 1, 0);
    blind(&j, 0, ABSENT_FAILED);
    struct view facts = j.hosts[0].view;
    facts.pmu_errors = errors;
    facts.n_pmu_errors = N_OF(errors);
    view_unref(j.views[0]);
    j.views[0] = j.shown.types[0].view = view_new(&facts);
    assert_non_null(j.views[0]);
    expect(&j, false, HEALTH_NOT_ALLOWED, "give it CAP_PERFMON");
    end(&j);
}

static void test_what_does_not_count_outside_the_cores_is_told_and_does_not_decide(void **state) {
    (void)state;
    struct judged j;
    begin(&j, 1, 1);
    blind(&j, 1, ABSENT_STARVED);
    expect(&j, true, HEALTH_STARVED, "Nothing has been counted");
    blind(&j, 0, ABSENT_FILTERED);
    expect(&j, false, HEALTH_FILTERED, "filter");
    end(&j);
}

static void test_every_reason_has_a_name_and_a_remedy(void **state) {
    (void)state;
    for (int r = 0; r < HEALTH_REASON_N; r++) {
        assert_true(health_reason_name((enum health_reason)r)[0] != '\0');
        assert_int_equal(health_remedy((enum health_reason)r)[0] == '\0', r == HEALTH_FINE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_counts_is_ready_and_who_does_not_is_not_and_says_why),
        cmocka_unit_test(test_what_has_not_begun_and_what_has_ended_is_not_ready),
        cmocka_unit_test(test_a_metric_behind_a_filter_is_the_reason),
        cmocka_unit_test(test_the_reason_is_the_newest_error_of_the_own_pmu),
        cmocka_unit_test(test_what_does_not_count_outside_the_cores_is_told_and_does_not_decide),
        cmocka_unit_test(test_every_reason_has_a_name_and_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
