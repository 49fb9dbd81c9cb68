// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/led_catalog.h"

#include <math.h>

// Plans of metrics that need other metrics, and of event groups under the PMU's topdown leader.

enum { SLOT_NS = 200000000 };

struct host {
    struct catalog_builder *builder; // until the plan is made
    struct catalog *catalog;
    struct plan_request request;
    uint8_t support[32];
};

static void host_init(struct host *host, struct catalog_builder *builder, unsigned counters) {
    *host = (struct host){.builder = builder};
    host->request = (struct plan_request){.general_counters = counters, .slot_ns = SLOT_NS, .idle = 0.1};
}

// Events A to C on any counter; no level 1.
static void plain_init(struct host *host, unsigned counters) {
    static const char *const events[] = {"CYCLES", "A", "B", "C"};
    host_init(host, builder_of(events, 4), counters);
}

// A plan of all groups.
static struct plan *plan_host(struct host *host) {
    host->request.catalog = host->catalog = catalog_builder_finish(host->builder);
    host->request.support = host->support;
    assert_true(host->catalog->n_events <= N_OF(host->support));
    return build_plan(&host->request);
}

static void end(struct host *host, struct plan *plan) {
    plan_free(plan);
    catalog_free(host->catalog);
}

static void constrained_metric_of(struct catalog_builder *builder, const char *name, const char *formula,
                                  enum metric_constraint constraint) {
    const struct catalog_metric_text text = {.name = name, .formula = formula, .constraint = constraint};
    assert_true(catalog_builder_add_metric(builder, &text, &(struct fault){0}) >= 0);
}

static const struct plan_metric *find(const struct plan *plan, const char *name) {
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (strcmp(plan->catalog->metrics[plan->metrics[m].metric].name, name) == 0)
            return &plan->metrics[m];
    fail_msg("%s is not in the plan", name);
    return NULL;
}

static void expect_reason(const struct plan *plan, const char *name, const char *reason) {
    const struct plan_metric *metric = find(plan, name);
    assert_string_equal(metric->reason, reason);
    assert_int_equal(metric->unit, PLAN_NOT_PLANNABLE);
}

// The names of an event group's events.
static void expect_group(const struct plan *plan, int group, const char *wanted) {
    char text[256] = "";
    assert_true(group >= 0);
    for (size_t i = 0; i < plan->groups[group].n_events; i++)
        strcat(strcat(text, i > 0 ? " " : ""), plan->catalog->events[plan->groups[group].events[i]].name);
    assert_string_equal(text, wanted);
}

static int group_of_metric(const struct plan *plan, const char *name) {
    int unit = find(plan, name)->unit;
    assert_true(unit >= 0);
    return (int)plan->units[unit].first_group;
}

static void expect_after(const struct plan *plan, const char *first, const char *second) {
    size_t a = 0, b = 0;
    for (size_t i = 0; i < plan->n_metrics; i++) {
        const struct plan_metric *metric = &plan->metrics[plan->evaluation[i]];
        a = metric == find(plan, first) ? i : a;
        b = metric == find(plan, second) ? i : b;
    }
    assert_true(a < b);
}

// ---- metrics of metrics ----

static void test_what_a_metric_needs_is_planned_beside_it(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 2);
    metric_of(host.builder, "part", "A / CYCLES", NULL);
    metric_of(host.builder, "other", "B / CYCLES", NULL);
    metric_of(host.builder, "combined", "part * other", NULL);
    metric_of(host.builder, "mixed", "combined * C / CYCLES", NULL);
    group_of(host.builder, "G", "mixed part");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->n_metrics, 4);
    assert_false(find(plan, "mixed")->auxiliary || find(plan, "part")->auxiliary);
    assert_true(find(plan, "combined")->auxiliary && find(plan, "other")->auxiliary);
    assert_int_equal(find(plan, "combined")->unit, PLAN_COMBINED);
    assert_string_equal(find(plan, "combined")->reason, "");
    assert_int_equal(plan->n_groups, 3);
    expect_group(plan, group_of_metric(plan, "part"), "CYCLES A");
    expect_group(plan, group_of_metric(plan, "other"), "CYCLES B");
    expect_group(plan, group_of_metric(plan, "mixed"), "CYCLES C");
    expect_after(plan, "part", "combined");
    expect_after(plan, "other", "combined");
    expect_after(plan, "combined", "mixed");
    end(&host, plan);
}

static void test_a_count_is_counted_with_what_uses_it(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 4);
    metric_of(host.builder, "clks", "CYCLES + B", NULL);
    metric_of(host.builder, "share", "A / clks", NULL);
    group_of(host.builder, "G", "share");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->n_metrics, 1);
    expect_group(plan, group_of_metric(plan, "share"), "CYCLES A B");
    end(&host, plan);
}

static void test_of_a_chain_the_reason_is_the_one_at_its_end(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 4);
    metric_of(host.builder, "low", "A / CYCLES", NULL);
    metric_of(host.builder, "good", "B / CYCLES", NULL);
    metric_of(host.builder, "middle", "low * good", NULL);
    metric_of(host.builder, "top", "middle * C / CYCLES", NULL);
    group_of(host.builder, "G", "top");
    host.support[2] = PLAN_UNSUPPORTED; // A
    struct plan *plan = plan_host(&host);
    expect_reason(plan, "low", "this CPU's PMU does not support the event A");
    expect_reason(plan, "middle", "needs the metric low: this CPU's PMU does not support the event A");
    expect_reason(plan, "top", "needs the metric low: this CPU's PMU does not support the event A");
    expect_reason(plan, "good", "none of the metrics that need it can be planned");
    assert_int_equal(plan->n_groups, 0);
    end(&host, plan);
}

static void test_what_another_metric_still_needs_stays(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 4);
    metric_of(host.builder, "low", "A / CYCLES", NULL);
    metric_of(host.builder, "good", "B / CYCLES", NULL);
    metric_of(host.builder, "bad_user", "low * good", NULL);
    metric_of(host.builder, "good_user", "1 - good", NULL);
    group_of(host.builder, "G", "bad_user good_user");
    host.support[2] = PLAN_UNSUPPORTED;
    struct plan *plan = plan_host(&host);
    expect_group(plan, group_of_metric(plan, "good"), "CYCLES B");
    assert_int_equal(find(plan, "good_user")->unit, PLAN_COMBINED);
    assert_int_equal(plan->n_groups, 1);
    end(&host, plan);
}

static void test_what_needs_an_unmeasurable_metric_says_why(void **state) {
    (void)state;
    struct host host;
    struct fault error;
    plain_init(&host, 4);
    const struct catalog_metric_text lost = {.name = "lost", .formula = "UNCORE / B"};
    assert_int_equal(catalog_builder_add_unmeasurable(host.builder, &lost, "nobody counts UNCORE", &error), 0);
    metric_of(host.builder, "user", "lost + A / B", NULL);
    group_of(host.builder, "G", "user");
    struct plan *plan = plan_host(&host);
    expect_reason(plan, "user", "needs the metric lost: nobody counts UNCORE");
    end(&host, plan);
}

static void test_a_formula_that_comes_to_a_number_on_this_host_counts_nothing(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 4);
    metric_of(host.builder, "constant", "1 if #smt_on else A / B", NULL);
    metric_of(host.builder, "user", "constant * A / B", NULL);
    group_of(host.builder, "G", "constant user");
    struct plan *plan = plan_host(&host);
    expect_reason(plan, "constant", "its formula counts no event on this host");
    expect_group(plan, group_of_metric(plan, "user"), "A B");
    end(&host, plan);
}

// ---- what the vendor and the event say ----

static const char *const NO_GROUP = "its events cannot be counted together, says the vendor (NO_GROUP_EVENTS)";
static const char *const NO_GROUP_SMT =
    "its events cannot be counted together while SMT is on, says the vendor (NO_GROUP_EVENTS_SMT)";
static const char *const NO_GROUP_NMI =
    "its events cannot be counted together while the NMI watchdog holds a counter: kernel.nmi_watchdog=0 gives it back";

static void test_constraints_hold_where_their_condition_does(void **state) {
    (void)state;
    const struct {
        enum metric_constraint constraint;
        bool watchdog, smt;
        const char *reason;
    } cases[] = {{CONSTRAINT_NONE, true, true, ""},
                 {CONSTRAINT_NO_GROUP, false, false, NO_GROUP},
                 {CONSTRAINT_NO_GROUP_NMI, false, true, ""},
                 {CONSTRAINT_NO_GROUP_NMI, true, false, NO_GROUP_NMI},
                 {CONSTRAINT_NO_GROUP_SMT, true, false, ""},
                 {CONSTRAINT_NO_GROUP_SMT, false, true, NO_GROUP_SMT},
                 {CONSTRAINT_NO_THRESHOLD_AND_NMI, true, true, ""}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct host host;
        plain_init(&host, 4);
        struct environment environment;
        environment_init(&environment);
        environment.facts.literals[LITERAL_SMT_ON] = cases[i].smt;
        catalog_builder_set_environment(host.builder, &environment);
        host.request.nmi_watchdog = cases[i].watchdog;
        constrained_metric_of(host.builder, "m", "A / B", cases[i].constraint);
        constrained_metric_of(host.builder, "single", "A / cpu_seconds", cases[i].constraint);
        group_of(host.builder, "G", "m single");
        struct plan *plan = plan_host(&host);
        assert_string_equal(find(plan, "m")->reason, cases[i].reason);
        assert_string_equal(find(plan, "single")->reason, ""); // one event is no group
        end(&host, plan);
    }
}

static void test_sampled_events_and_those_of_other_pmus_say_so(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 4);
    struct fault error;
    const struct catalog_event_text sampled = {.name = "S", .terms = "config=1", .takes = 1, .sampling_only = true};
    const struct catalog_event_text other = {.name = "O", .terms = "event=0", .takes = 1, .pmu = "far_pmu"};
    const struct catalog_event_text tsc = {.name = "TSC", .terms = "event=0", .takes = 1, .pmu = "msr"};
    assert_int_equal(catalog_builder_add_event_text(host.builder, &sampled, &error), 5);
    assert_int_equal(catalog_builder_add_event_text(host.builder, &other, &error), 6);
    assert_int_equal(catalog_builder_add_event_text(host.builder, &tsc, &error), 7);
    host.support[6] = PLAN_ELSEWHERE;
    metric_of(host.builder, "s", "S / A", NULL);
    metric_of(host.builder, "o", "O / A", NULL);
    metric_of(host.builder, "t", "(A + B + C + CYCLES) / TSC", NULL);
    group_of(host.builder, "G", "s o t");
    struct plan *plan = plan_host(&host);
    expect_reason(plan, "s", "the event S can only be sampled, not counted");
    expect_reason(plan, "o",
                  "the event O belongs to the PMU far_pmu, which this host lacks or which does not count for each CPU");
    expect_group(plan, group_of_metric(plan, "t"), "CYCLES A B C TSC"); // TSC takes no counter of the four
    end(&host, plan);
}

// ---- level 1 ----

// frontend is made of `helper`, which has the constraint.
static void level1_host(struct host *host, unsigned counters, enum metric_constraint constraint) {
    plain_init(host, counters);
    constrained_metric_of(host->builder, "helper", "B / CYCLES", constraint);
    level1_of(host->builder, "4 * CYCLES", "100 * helper", "100 * A / (4 * CYCLES)");
}

static void test_level_1_and_what_it_is_made_of_are_one_unit(void **state) {
    (void)state;
    struct host host;
    level1_host(&host, 3, CONSTRAINT_NONE);
    group_of(host.builder, "L1", "frontend_bound backend_bound");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->n_groups, 1);
    assert_int_equal(plan->level1_unit, 0);
    assert_int_equal(find(plan, "frontend_bound")->unit, 0);
    assert_int_equal(find(plan, "backend_bound")->unit, 0);
    assert_int_equal(find(plan, "helper")->unit, 0);
    expect_group(plan, 0, "CYCLES A B");
    end(&host, plan);
}

static void test_in_parts_what_level_1_is_made_of_has_no_event_group_of_its_own(void **state) {
    (void)state;
    struct host host;
    static const char *const parts[][2] = {{"CYCLES", "A"}, {"CYCLES", "B"}};
    struct fault error;
    level1_host(&host, 2, CONSTRAINT_NONE);
    group_of(host.builder, "L1", "frontend_bound backend_bound");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(catalog_builder_add_part(host.builder, LEVEL1_USUAL, parts[i], 2, &error), 0);
    assert_int_equal(catalog_builder_check(host.builder, &error), 0);
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->n_units, 1);
    assert_int_equal(plan->n_groups, 2);
    assert_int_equal(find(plan, "helper")->unit, plan->level1_unit);
    end(&host, plan);
}

static void test_the_categories_fall_together(void **state) {
    (void)state;
    struct host host;
    level1_host(&host, 4, CONSTRAINT_NO_GROUP);
    metric_of(host.builder, "user", "backend_bound * 2", NULL);
    group_of(host.builder, "G", "helper frontend_bound backend_bound user");
    struct plan *plan = plan_host(&host);
    expect_reason(plan, "helper", NO_GROUP);
    char wanted[200];
    (void)snprintf(wanted, sizeof wanted, "needs the metric helper: %s", NO_GROUP);
    expect_reason(plan, "frontend_bound", wanted);
    expect_reason(plan, "backend_bound", wanted);
    expect_reason(plan, "user", wanted);
    assert_int_equal(plan->level1_unit, -1);
    assert_true(plan->level1_selected);
    assert_int_equal(plan->n_units, 0);
    end(&host, plan);
}

static void test_without_a_part_of_level_1_there_are_no_categories(void **state) {
    (void)state;
    struct host host;
    struct fault error;
    plain_init(&host, 4);
    const struct catalog_metric_text lost = {.name = "lost", .formula = "UNCORE / B"};
    assert_int_equal(catalog_builder_add_unmeasurable(host.builder, &lost, "nobody counts UNCORE", &error), 0);
    level1_of(host.builder, "4 * CYCLES", "100 * lost", "100 * A / (4 * CYCLES)");
    group_of(host.builder, "L1", "backend_bound frontend_bound");
    struct plan *plan = plan_host(&host);
    expect_reason(plan, "backend_bound", "the level-1 categories need the metric lost: nobody counts UNCORE");
    expect_reason(plan, "frontend_bound", "the level-1 categories need the metric lost: nobody counts UNCORE");
    assert_int_equal(plan->n_units, 0);
    end(&host, plan);
}

// ---- event groups that the topdown leader leads ----

static void test_the_leader_leads_every_group_and_level_1_counts_in_each(void **state) {
    (void)state;
    struct host host;
    host_init(&host, led_builder(), 2);
    group_of(host.builder, "L1", "frontend_bound backend_bound");
    metric_of(host.builder, "a", "A / INST", NULL);
    metric_of(host.builder, "b", "B / INST", NULL);
    metric_of(host.builder, "ipc", "INST / SLOTS", NULL);
    group_of(host.builder, "More", "a b ipc");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->n_groups, 2); // one counter is set aside for DROP, so a and b take turns
    expect_group(plan, group_of_metric(plan, "a"), "SLOTS RET FE INST A");
    expect_group(plan, group_of_metric(plan, "b"), "SLOTS RET FE INST B");
    assert_int_equal(plan->common_unit, plan->level1_unit);
    assert_int_equal(find(plan, "ipc")->unit, plan->common_unit);
    const struct plan_unit *common = &plan->units[plan->common_unit], *unit = &plan->units[find(plan, "a")->unit];
    assert_int_equal(common->n_groups, 0);
    assert_int_equal(common->n_events, 4);
    assert_int_equal(unit->n_events, 2); // A and INST, from the same window
    assert_int_equal(common->slots, 0);
    size_t slots = 0;
    for (size_t u = 0; u < plan->n_units; u++)
        slots += plan->units[u].slots;
    assert_int_equal(plan->n_windows, slots);
    for (size_t i = 0; i < plan->n_round; i++)
        assert_int_not_equal(plan->round[i], plan->common_unit);
    assert_true(fabs(plan_share(plan, (unsigned)plan->common_unit) - 0.9) < 1e-9); // all but the idle time
    end(&host, plan);
}

static void test_alone_what_groups_carry_is_a_group_like_any_other(void **state) {
    (void)state;
    struct host host;
    host_init(&host, led_builder(), 4);
    group_of(host.builder, "L1", "frontend_bound backend_bound");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->common_unit, -1);
    assert_int_equal(plan->n_units, 1);
    assert_int_equal(plan->level1_unit, 0);
    expect_group(plan, 0, "SLOTS RET FE INST");
    assert_true(plan->units[0].slots > 0);
    assert_int_equal(plan->n_windows, plan->units[0].slots);
    end(&host, plan);
}

static void test_the_leader_is_there_though_no_metric_names_it(void **state) {
    (void)state;
    struct host host;
    host_init(&host, led_builder(), 4);
    metric_of(host.builder, "fe", "FE / RET", NULL);
    group_of(host.builder, "G", "fe");
    struct plan *plan = plan_host(&host);
    expect_group(plan, 0, "SLOTS RET FE INST");
    assert_int_equal(plan->units[0].n_events, 4);
    end(&host, plan);
}

static void test_what_takes_a_counter_joins_only_the_group_that_needs_it(void **state) {
    (void)state;
    struct host host;
    host_init(&host, led_builder(), 2);
    metric_of(host.builder, "a", "A / DROP", NULL);
    metric_of(host.builder, "b", "B / INST", NULL);
    group_of(host.builder, "G", "a b");
    struct plan *plan = plan_host(&host);
    expect_group(plan, group_of_metric(plan, "a"), "SLOTS RET FE INST DROP A");
    expect_group(plan, group_of_metric(plan, "b"), "SLOTS RET FE INST B");
    end(&host, plan);
}

// A level-2 field alone is measured in every slot; together with another event, where that is.
static void test_a_level_2_field_joins_where_a_metric_needs_it(void **state) {
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        struct host host;
        host_init(&host, led_builder_with("L2"), 2);
        metric_of(host.builder, "a", alone ? "A / INST" : "A / L2", NULL);
        metric_of(host.builder, "b", "B / INST", NULL);
        metric_of(host.builder, "l2", "L2 / SLOTS", NULL);
        group_of(host.builder, "G", alone ? "a b l2" : "a b");
        struct plan *plan = plan_host(&host);
        expect_group(plan, group_of_metric(plan, "a"), "SLOTS RET FE INST L2 A");
        expect_group(plan, group_of_metric(plan, "b"), alone ? "SLOTS RET FE INST L2 B" : "SLOTS RET FE INST B");
        end(&host, plan);
    }
}

static void test_where_no_metric_needs_its_events_the_leader_leads_nothing(void **state) {
    (void)state;
    struct host host;
    host_init(&host, led_builder(), 4);
    metric_of(host.builder, "a", "A / B", NULL);
    group_of(host.builder, "G", "a");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->common_unit, -1);
    assert_int_equal(plan->n_units, 1);
    expect_group(plan, 0, "A B");
    end(&host, plan);
}

static void test_what_groups_may_carry_is_not_there_for_other_events(void **state) {
    (void)state;
    static const char *const reason = "needs 3 counters at once, this host has 3";
    for (unsigned counters = 3; counters <= 4; counters++) {
        struct host host;
        host_init(&host, led_builder(), counters);
        metric_of(host.builder, "abc", "(A + B) / C", NULL);
        group_of(host.builder, "G", "abc");
        struct plan *plan = plan_host(&host);
        assert_string_equal(find(plan, "abc")->reason, counters == 3 ? reason : ""); // DROP has the fourth
        end(&host, plan);
    }
}

static void test_an_event_that_the_pmu_lacks_takes_nothing(void **state) {
    (void)state;
    struct host host;
    host_init(&host, led_builder(), 3);
    host.support[R_DROP] = PLAN_UNSUPPORTED;
    metric_of(host.builder, "abc", "(A + B) / C", NULL);
    group_of(host.builder, "G", "abc");
    struct plan *plan = plan_host(&host);
    expect_group(plan, group_of_metric(plan, "abc"), "A B C");
    end(&host, plan);
}

static void test_without_room_to_lead_only_fields_are_lost(void **state) {
    (void)state;
    static const char *const reason =
        "the event FE can only be counted in an event group that SLOTS leads, for which the CPU has no room";
    struct host host;
    host_init(&host, led_builder(), 2);
    host.request.reserved_counters = 2; // none is left for DROP
    metric_of(host.builder, "fe", "FE / SLOTS", NULL);
    metric_of(host.builder, "ipc", "INST / SLOTS", NULL); // fixed counters only
    group_of(host.builder, "G", "fe ipc");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->support[R_INST], PLAN_SUPPORT_UNKNOWN);
    expect_reason(plan, "fe", reason);
    expect_group(plan, group_of_metric(plan, "ipc"), "SLOTS INST");
    end(&host, plan);
}

static void test_a_field_counts_in_no_other_modes_than_its_leader(void **state) {
    (void)state;
    struct host host;
    host_init(&host, led_builder(), 4);
    metric_of(host.builder, "kernel", "FE:k / SLOTS", NULL);
    metric_of(host.builder, "a", "A:k / INST", NULL);
    group_of(host.builder, "G", "kernel a");
    struct plan *plan = plan_host(&host);
    expect_reason(plan, "kernel", "the event FE:k would count in other modes than SLOTS, which leads it");
    assert_true(plan_metric_planned(find(plan, "a")));
    end(&host, plan);
}

static void test_without_the_leader_groups_are_as_on_other_pmus(void **state) {
    (void)state;
    struct host host;
    host_init(&host, led_builder(), 4);
    host.support[R_SLOTS] = PLAN_UNSUPPORTED;
    metric_of(host.builder, "fe", "FE / RET", NULL);
    metric_of(host.builder, "a", "A / INST", NULL);
    group_of(host.builder, "G", "fe a");
    struct plan *plan = plan_host(&host);
    assert_int_equal(find(plan, "fe")->unit, PLAN_NOT_PLANNABLE);
    expect_group(plan, group_of_metric(plan, "a"), "INST A");
    assert_int_equal(plan->common_unit, -1);
    end(&host, plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_metric_needs_is_planned_beside_it),
        cmocka_unit_test(test_a_count_is_counted_with_what_uses_it),
        cmocka_unit_test(test_of_a_chain_the_reason_is_the_one_at_its_end),
        cmocka_unit_test(test_what_another_metric_still_needs_stays),
        cmocka_unit_test(test_what_needs_an_unmeasurable_metric_says_why),
        cmocka_unit_test(test_a_formula_that_comes_to_a_number_on_this_host_counts_nothing),
        cmocka_unit_test(test_constraints_hold_where_their_condition_does),
        cmocka_unit_test(test_sampled_events_and_those_of_other_pmus_say_so),
        cmocka_unit_test(test_level_1_and_what_it_is_made_of_are_one_unit),
        cmocka_unit_test(test_in_parts_what_level_1_is_made_of_has_no_event_group_of_its_own),
        cmocka_unit_test(test_the_categories_fall_together),
        cmocka_unit_test(test_without_a_part_of_level_1_there_are_no_categories),
        cmocka_unit_test(test_the_leader_leads_every_group_and_level_1_counts_in_each),
        cmocka_unit_test(test_alone_what_groups_carry_is_a_group_like_any_other),
        cmocka_unit_test(test_the_leader_is_there_though_no_metric_names_it),
        cmocka_unit_test(test_what_takes_a_counter_joins_only_the_group_that_needs_it),
        cmocka_unit_test(test_a_level_2_field_joins_where_a_metric_needs_it),
        cmocka_unit_test(test_where_no_metric_needs_its_events_the_leader_leads_nothing),
        cmocka_unit_test(test_what_groups_may_carry_is_not_there_for_other_events),
        cmocka_unit_test(test_an_event_that_the_pmu_lacks_takes_nothing),
        cmocka_unit_test(test_without_room_to_lead_only_fields_are_lost),
        cmocka_unit_test(test_a_field_counts_in_no_other_modes_than_its_leader),
        cmocka_unit_test(test_without_the_leader_groups_are_as_on_other_pmus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
