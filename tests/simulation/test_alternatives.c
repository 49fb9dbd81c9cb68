// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_alternative.h"
#include "tests/simulation/measuring.h"

// Metrics with several definitions: where an event runs and never counts, the next definition takes its place.

static const char SCENARIO[] = "tests/data/scenarios/dead.json";
static const char YAML[] = "slot: 200ms\nprofiles: {default: {groups: [General, LL_Cache_Effectiveness, MPKI]}}\n";

// What the rates of an event are from the start, or 0.
static void set_rate(struct measuring *m, const char *event, double per_second) {
    struct scenario_keyframe *keyframe = &measuring_scenario(m)->loads[0].keyframes[0];
    for (size_t i = 0; i < keyframe->n_rates; i++)
        if (strcmp(keyframe->rates[i].event, event) == 0) {
            keyframe->rates[i].per_second = per_second;
            return;
        }
    struct scenario_rate *rates = realloc(keyframe->rates, (keyframe->n_rates + 1) * sizeof *rates);
    assert_non_null(rates);
    keyframe->rates = rates;
    rates[keyframe->n_rates++] = (struct scenario_rate){.event = strdup(event), .per_second = per_second};
}

static size_t place_of(const struct measuring *m, const char *export_name) {
    const struct plan *plan = measuring_plan(m);
    size_t found = plan->n_metrics, n = 0;
    for (size_t i = 0; i < plan->n_metrics; i++)
        if (strcmp(plan->catalog->metrics[plan->metrics[i].metric].export_name, export_name) == 0) {
            found = i;
            n++;
        }
    assert_int_equal(n, 1); // one of the definitions
    return found;
}

static void assert_definition(const struct measuring *m, const char *export_name, const char *definition,
                              double value) {
    const struct plan *plan = measuring_plan(m);
    const struct snapshot_layout *layout = m->snapshot->layout;
    size_t place = place_of(m, export_name);
    unsigned metric = plan->metrics[place].metric;
    assert_string_equal(plan->catalog->metrics[metric].definition, definition);
    assert_int_equal(plan->place[metric], (int)place);
    assert_int_equal(plan->place[catalog_metric_named(plan->catalog, metric)], (int)place);
    double found = m->snapshot->values[snapshot_metric(layout, 0, place)];
    if (isnan(value))
        assert_true(isnan(found) && isnan(m->snapshot->values[snapshot_numerator(layout, 0, place)]));
    else
        assert_near(found, value, 1e-6, export_name);
}

static void begin(struct measuring *m) { measuring_load(m, SCENARIO, YAML); }

static void run(struct measuring *m, double seconds) {
    measuring_start(m);
    measuring_run_until(m, seconds);
}

static void test_the_next_definition_takes_the_place_of_one_whose_event_is_dead(void **state) {
    (void)state;
    struct measuring m;
    begin(&m);
    measuring_start(&m);
    while (!m.snapshot || m.snapshot->sequence == 0)
        measuring_step(&m);
    assert_definition(&m, "ll_cache_mpki", "reads", NAN); // nothing is believed, and nothing decided
    measuring_run_until(&m, 30);
    assert_definition(&m, "ll_cache_mpki", "l3_refills", 5);
    assert_definition(&m, "ll_cache_miss_ratio", "l3_refills_per_access", 0.25);
    assert_definition(&m, "l2_cache_mpki", "refills", 10);
    assert_int_equal(measuring_said(&m, "ll_cache_mpki is measured by its definition l3_refills from now on: "
                                        "LL_CACHE_MISS_RD runs and never counts here"),
                     1);
    size_t place = place_of(&m, "ll_cache_mpki");
    double quotient = m.snapshot->values[snapshot_numerator(m.snapshot->layout, 0, place)] /
                      m.snapshot->values[snapshot_denominator(m.snapshot->layout, 0, place)];
    assert_near(quotient * 1000, 5, 1e-6, "of the totals");
    measuring_forget(&m);
    size_t n_plans = m.n_plans;
    measuring_run_until(&m, 120);
    assert_int_equal(m.n_plans, n_plans); // and that is all
    measuring_stop(&m);
}

static void test_definitions_are_tried_in_order(void **state) {
    (void)state;
    struct measuring m;
    begin(&m);
    set_rate(&m, "L3D_CACHE_REFILL", 0);
    run(&m, 60);
    assert_definition(&m, "ll_cache_mpki", "l2_refills", 10);
    assert_definition(&m, "ll_cache_miss_ratio", "l2_refills_per_access", 0.1);
    measuring_stop(&m);
}

static void test_where_all_are_dead_the_first_is_back_and_not_believed(void **state) {
    (void)state;
    struct measuring m;
    begin(&m);
    set_rate(&m, "L3D_CACHE_REFILL", 0);
    set_rate(&m, "L2D_CACHE_REFILL", 0);
    pipeline_must_count(m.setup.types[0].source->catalog, "L2D_CACHE_REFILL");
    run(&m, 90);
    assert_definition(&m, "ll_cache_mpki", "reads", NAN);
    assert_int_equal(m.snapshot->absent[snapshot_state(m.snapshot->layout, 0, place_of(&m, "ll_cache_mpki"))],
                     ABSENT_STALLED);
    measuring_stop(&m);
}

// Only what must count is dead where it does not, and a definition that the spec does without is no evidence of a
// filter.
static void test_the_zero_of_the_last_definition_is_a_zero(void **state) {
    (void)state;
    struct measuring m;
    begin(&m);
    set_rate(&m, "L3D_CACHE_REFILL", 0);
    set_rate(&m, "L2D_CACHE_REFILL", 0);
    run(&m, 90);
    assert_definition(&m, "ll_cache_mpki", "l2_refills", 0);
    assert_definition(&m, "l2_cache_mpki", "refills", 0);
    measuring_stop(&m);
}

static void test_an_event_that_happens_rarely_is_not_dead(void **state) {
    (void)state;
    struct measuring m;
    begin(&m);
    set_rate(&m, "LL_CACHE_MISS_RD", 100);
    run(&m, 90);
    assert_definition(&m, "ll_cache_mpki", "reads", 1e-4);
    assert_definition(&m, "ll_cache_miss_ratio", "reads", 100 / 9e6);
    measuring_stop(&m);
}

static void test_on_an_idle_host_nothing_is_dead(void **state) {
    (void)state;
    struct measuring m;
    begin(&m);
    static const char *const events[] = {"CPU_CYCLES", "INST_RETIRED",     "L2D_CACHE",  "L2D_CACHE_REFILL",
                                         "L3D_CACHE",  "L3D_CACHE_REFILL", "LL_CACHE_RD"};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        set_rate(&m, events[i], 10000);
    run(&m, 90);
    assert_definition(&m, "ll_cache_mpki", "reads", NAN);
    measuring_stop(&m);
}

// Choosing follows what the host has, whichever counters are free.
static void test_a_definition_without_its_events_gives_way_at_once(void **state) {
    (void)state;
    struct measuring m;
    begin(&m);
    run(&m, 1);
    const struct catalog *catalog = m.setup.types[0].source->catalog;
    static const enum plan_support MISSING[] = {PLAN_UNSUPPORTED, PLAN_ELSEWHERE, PLAN_NOT_RECORDED};
    uint8_t *support = calloc(catalog->n_events, sizeof *support);
    assert_non_null(support);
    unsigned metric = (unsigned)catalog_find_metric(catalog, "ll_cache_read_mpki");
    for (size_t i = 0; i < sizeof MISSING / sizeof *MISSING; i++) {
        support[catalog_find_event(catalog, "LL_CACHE_MISS_RD")] = (uint8_t)MISSING[i];
        assert_int_equal(plan_alternative_choose(catalog, metric, support, NULL),
                         catalog_find_metric(catalog, "ll_cache_read_mpki.l3_refills"));
        support[catalog_find_event(catalog, "L3D_CACHE_REFILL")] = (uint8_t)MISSING[i];
        assert_int_equal(plan_alternative_choose(catalog, metric, support, NULL),
                         catalog_find_metric(catalog, "ll_cache_read_mpki.l2_refills"));
        support[catalog_find_event(catalog, "INST_RETIRED")] = (uint8_t)MISSING[i]; // of all definitions
        assert_int_equal(plan_alternative_choose(catalog, metric, support, NULL), metric);
        memset(support, PLAN_SUPPORT_UNKNOWN, catalog->n_events);
        assert_int_equal(plan_alternative_choose(catalog, metric, support, NULL), metric);
    }
    free(support);
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_next_definition_takes_the_place_of_one_whose_event_is_dead),
        cmocka_unit_test(test_definitions_are_tried_in_order),
        cmocka_unit_test(test_where_all_are_dead_the_first_is_back_and_not_believed),
        cmocka_unit_test(test_the_zero_of_the_last_definition_is_a_zero),
        cmocka_unit_test(test_an_event_that_happens_rarely_is_not_dead),
        cmocka_unit_test(test_on_an_idle_host_nothing_is_dead),
        cmocka_unit_test(test_a_definition_without_its_events_gives_way_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
