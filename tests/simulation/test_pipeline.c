// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// Rules 1 to 6 and 10 of docs/ARCHITECTURE.md on a simulated host whose truth is known.

static const char STEADY[] = "tests/data/scenarios/steady.json";
static const char *const DEFAULT_GROUPS[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
static const uint64_t SLOT_NS = SECOND_NS / 5;

static void start_default(struct pipeline *p, uint64_t seed) { pipeline_start(p, SLOT_NS, seed, DEFAULT_GROUPS); }

static void assert_gauges_are_true(const struct pipeline *p, double relative) {
    for (size_t scope = 0; scope < p->layout->n_scopes; scope++)
        assert_gauges_true(p, scope, relative);
}

static void assert_totals_are_true(const struct pipeline *p, double relative) {
    for (size_t scope = 0; scope < p->layout->n_scopes; scope++)
        assert_totals_true(p, scope, relative);
}

static double slots_of(const struct pipeline *p, size_t scope) {
    double sum = 0;
    for (size_t i = 0; i < p->layout->n_level1; i++)
        sum += p->snapshot->values[snapshot_category(p->layout, scope, i)];
    return sum;
}

static void test_every_metric_of_a_steady_load_equals_the_truth(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    pipeline_start(&p, SLOT_NS, 1, NULL);
    pipeline_run(&p, 5);
    assert_int_equal(p.plan->n_metrics, 50 + 7); // and bounds of actions
    assert_gauges_are_true(&p, 1e-6);
    assert_totals_are_true(&p, 1e-6);
    assert_int_equal((int)pipeline_windows(&p, WINDOW_CONTENDED), 0);
    assert_int_equal((int)pipeline_windows(&p, WINDOW_STARVED), 0);
    pipeline_stop(&p);
}

static void test_hours_pass_and_totals_still_equal_the_truth(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    start_default(&p, 2);
    uint64_t end_ns = EPOCH_NS + 6 * 3600 * SECOND_NS;
    while (p.now_ns < end_ns)
        pipeline_step(&p, 0);
    assert_totals_are_true(&p, 1e-7);
    double seconds = (double)(p.snapshot->end_ns - p.start_ns) * 1e-9;
    assert_near(p.snapshot->values[snapshot_covered(p.layout, 0)], 8 * seconds, 1e-9, "covered CPU seconds");
    pipeline_stop(&p);
}

static void test_level1_categories_add_up_to_all_pipeline_slots(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, "scenarios/demo.json");
    start_default(&p, 3);
    for (int i = 0; i < 100; i++) {
        pipeline_run(&p, 1);
        for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
            assert_near(slots_of(&p, scope), p.snapshot->values[snapshot_pipeline_slots(p.layout, scope)], 1e-9,
                        "sum of categories");
    }
    double sockets = slots_of(&p, snapshot_scope_socket(0)) + slots_of(&p, snapshot_scope_socket(1));
    assert_near(sockets, slots_of(&p, 0), 1e-12, "sum of sockets");
    pipeline_stop(&p);
}

static void test_level1_counts_width_times_cycles(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    start_default(&p, 4);
    pipeline_run(&p, 10);
    const struct formula_sum cycles = {
        .terms = &(struct formula_term){(unsigned)catalog_find_event(p.catalog, "CPU_CYCLES"), 8}, .n = 1};
    for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
        assert_near(slots_of(&p, scope), pipeline_true_sum(&p, scope, &cycles, p.start_ns, p.snapshot->end_ns), 1e-9,
                    "pipeline slots");
    assert_true(p.snapshot->values[snapshot_deviation(p.layout, 0)] < 1e-9);
    pipeline_stop(&p);
}

// Neoverse V2: of 16e9 pipeline slots a second 12e9 stall, 4e9 at the front and 6e9 at the back, so the vendor's
// formulas add up to (16 - 12 + 4 + 6) / 16 = 0.875. Scaled to all pipeline slots each is 1 / 0.875 of itself.
static void test_the_difference_to_the_vendors_formula_is_told(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    struct scenario_keyframe *keyframe = &p.scenario->loads[0].keyframes[0];
    for (size_t i = 0; i < keyframe->n_rates; i++)
        if (strcmp(keyframe->rates[i].event, "STALL_SLOT") == 0)
            keyframe->rates[i].per_second = 12e9;
    start_default(&p, 5);
    pipeline_run(&p, 5);
    static const char *const categories[] = {"frontend_bound_ratio", "bad_speculation_ratio", "retiring_ratio",
                                             "backend_bound_ratio"};
    double sum = 0, largest = 0;
    for (size_t i = 0; i < 4; i++) {
        double share = pipeline_gauge(&p, 0, categories[i]);
        sum += share;
        largest = fmax(largest, share);
    }
    assert_near(sum, 0.875, 1e-6, "sum of the vendor's formulas");
    assert_near(p.snapshot->values[snapshot_deviation(p.layout, 0)], largest * (1 / 0.875 - 1), 1e-6, "deviation");
    pipeline_stop(&p);
}

static void test_thirty_percent_stolen_is_contended_scaled_and_counted(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_PINNED, 6);
    rival->period_seconds = 0.1;
    rival->on_seconds = 0.03;
    start_default(&p, 5);
    pipeline_run(&p, 20);
    assert_gauges_are_true(&p, 1e-5);
    assert_totals_are_true(&p, 1e-5);
    // every window of a slot of 200 ms meets two of the rival's turns
    assert_int_equal((int)pipeline_windows(&p, WINDOW_COMPLETE), 0);
    assert_true(pipeline_windows(&p, WINDOW_CONTENDED) > 0);
    for (size_t g = 0; g < p.plan->n_groups; g++) {
        double enabled = p.snapshot->values[snapshot_enabled(p.layout, g)];
        double running = p.snapshot->values[snapshot_running(p.layout, g)];
        assert_true(running / enabled < 0.71); // 70 %, less the wait for the tick after each turn
        assert_true(running / enabled > 0.63);
    }
    pipeline_stop(&p);
}

static void test_counters_never_had_give_no_sample_and_totals_stand_still(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_PINNED, 6);
    rival->from_seconds = 10;
    rival->until_seconds = 60;
    start_default(&p, 6);
    while (p.now_ns < EPOCH_NS + 30 * SECOND_NS)
        pipeline_step(&p, 0);
    double before[2] = {p.snapshot->values[snapshot_numerator(p.layout, 0, pipeline_metric(&p, "ipc"))],
                        slots_of(&p, 0)};
    pipeline_run(&p, 5);
    for (size_t m = 0; m < p.plan->n_metrics; m++) {
        assert_true(isnan(p.snapshot->values[snapshot_metric(p.layout, 0, m)]));
        assert_int_equal(p.snapshot->absent[m], ABSENT_STARVED);
    }
    assert_true(before[0] == p.snapshot->values[snapshot_numerator(p.layout, 0, pipeline_metric(&p, "ipc"))]);
    assert_true(before[1] == slots_of(&p, 0));
    assert_true(pipeline_uncovered(&p, UNCOVERED_STARVED) > 8 * 20);
    while (p.now_ns < EPOCH_NS + 70 * SECOND_NS)
        pipeline_step(&p, 0);
    assert_gauges_are_true(&p, 1e-6);
    double covered = p.snapshot->values[snapshot_covered(p.layout, 0)];
    double uncovered = pipeline_uncovered(&p, UNCOVERED_STARVED);
    assert_near(covered + uncovered, 8 * (double)(p.snapshot->end_ns - p.start_ns) * 1e-9, 1e-9,
                "covered and uncovered");
    assert_true(uncovered > 8 * 47 && uncovered < 8 * 53);
    pipeline_stop(&p);
}

static void test_a_short_gap_is_made_up_for(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_PINNED, 6);
    rival->from_seconds = 20;
    rival->until_seconds = 23; // two rounds are 3.1 s: at most two of them have no data
    start_default(&p, 7);
    while (p.now_ns < EPOCH_NS + 40 * SECOND_NS)
        pipeline_step(&p, 0);
    assert_totals_are_true(&p, 1e-6);
    assert_true(pipeline_uncovered(&p, UNCOVERED_STARVED) == 0);
    pipeline_stop(&p);
}

static void test_a_daemon_that_did_not_run_leaves_a_gap_and_no_invented_counts(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    start_default(&p, 8);
    pipeline_run(&p, 3);
    pipeline_step(&p, 0);
    pipeline_step(&p, 60 * SECOND_NS);
    pipeline_run(&p, 3);
    double gap = pipeline_uncovered(&p, UNCOVERED_GAP);
    assert_near(gap, 8 * 60, 0.01, "gap");
    double elapsed = (double)(p.snapshot->end_ns - p.start_ns) * 1e-9;
    assert_near(p.snapshot->values[snapshot_covered(p.layout, 0)] + gap, 8 * elapsed, 1e-9, "covered and gap");
    size_t ipc = pipeline_metric(&p, "ipc");
    double cycles = p.snapshot->values[snapshot_denominator(p.layout, 0, ipc)];
    assert_near(cycles, 2e9 * (8 * elapsed - gap), 1e-6, "cycles of the covered time");
    pipeline_stop(&p);
}

static void test_a_slow_caller_gets_full_slots_and_true_values(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    start_default(&p, 9);
    unsigned rounds = 0;
    for (unsigned i = 0; rounds < 20; i++)
        rounds += pipeline_step(&p, i % 3 * 70 * 1000 * 1000);
    assert_gauges_are_true(&p, 1e-6);
    assert_totals_are_true(&p, 1e-6);
    assert_int_equal((int)pipeline_windows(&p, WINDOW_FAILED), 0);
    pipeline_stop(&p);
}

static void test_an_event_that_cannot_be_opened_costs_only_what_needs_it(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    int walk = catalog_find_event(p.catalog, "DTLB_WALK");
    p.recorder.refused_config = p.catalog->events[walk].code.config;
    start_default(&p, 10);
    pipeline_run(&p, 6);
    size_t absent = 0;
    for (size_t m = 0; m < p.plan->n_metrics; m++) {
        bool hit = false;
        if (p.plan->metrics[m].unit == PLAN_COMBINED)
            continue; // it is absent where a metric is that it is made of
        const struct plan_unit *unit = &p.plan->units[p.plan->metrics[m].unit];
        for (size_t e = 0; e < unit->n_events; e++)
            hit = hit || unit->events[e] == (unsigned)walk;
        assert_int_equal(isnan(p.snapshot->values[snapshot_metric(p.layout, 0, m)]), hit);
        assert_int_equal(p.snapshot->absent[m], hit ? ABSENT_FAILED : ABSENT_NOT);
        absent += hit;
    }
    assert_true(absent > 0 && absent < p.plan->n_metrics / 2);
    assert_true(pipeline_uncovered(&p, UNCOVERED_FAILED) > 0);
    size_t n_failed;
    assert_int_equal(sampler_open_error(p.sampler, &n_failed), -EINVAL);
    assert_true(n_failed % p.topology->n_cpus == 0 && n_failed > 0);
    pipeline_stop(&p);
}

static void test_a_cpu_that_cannot_be_measured_leaves_the_others_right(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_REFUSE, 0);
    rival->cpus = (struct cpuset){{0}};
    cpuset_add(&rival->cpus, 3);
    start_default(&p, 11);
    pipeline_run(&p, 5);
    size_t ipc = pipeline_metric(&p, "ipc");
    assert_true(isnan(p.snapshot->values[snapshot_metric(p.layout, snapshot_scope_cpu(p.layout, 3), ipc)]));
    assert_near(pipeline_gauge(&p, 0, "ipc"), 1.5, 1e-6, "ipc of the host");
    double elapsed = (double)(p.snapshot->end_ns - p.start_ns) * 1e-9;
    assert_near(p.snapshot->values[snapshot_denominator(p.layout, 0, ipc)], 2e9 * 7 * elapsed, 1e-6,
                "cycles of 7 CPUs");
    pipeline_stop(&p);
}

// Two counters: level 1 comes from parts in adjacent slots.
static void test_level1_on_two_counters_is_a_composite_and_right_on_a_steady_load(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    p.scenario->general_counters = 2;
    start_default(&p, 12);
    assert_true(p.plan->units[p.plan->level1_unit].n_groups > 1);
    pipeline_run(&p, 10);
    assert_gauges_are_true(&p, 1e-6);
    assert_totals_are_true(&p, 1e-6);
    assert_near(slots_of(&p, 0), 8.0 * 2e9 * 8 * (double)(p.snapshot->end_ns - p.start_ns) * 1e-9, 1e-6, "slots");
    pipeline_stop(&p);
}

// The same work at a speed that swings between full and a twentieth: parts that are adjacent count very different
// numbers of cycles, and only the counts per cycle are steady.
static void test_a_composite_is_right_on_a_load_that_changes(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    p.scenario->general_counters = 2;
    struct scenario_load *load = &p.scenario->loads[0];
    struct scenario_keyframe *keyframes = realloc(load->keyframes, 2 * sizeof *keyframes);
    assert_non_null(keyframes);
    load->keyframes = keyframes;
    load->n_keyframes = 2;
    load->period_seconds = 0.73;
    keyframes[1] = (struct scenario_keyframe){.at_seconds = 0.3, .n_rates = keyframes[0].n_rates};
    keyframes[1].rates = calloc(keyframes[1].n_rates, sizeof *keyframes[1].rates);
    for (size_t i = 0; i < keyframes[0].n_rates; i++)
        keyframes[1].rates[i] =
            (struct scenario_rate){strdup(keyframes[0].rates[i].event), keyframes[0].rates[i].per_second / 20};
    start_default(&p, 13);
    assert_true(p.plan->units[p.plan->level1_unit].n_groups > 1);
    for (int i = 0; i < 20; i++) {
        pipeline_run(&p, 1);
        for (size_t scope = 0; scope < p.layout->n_scopes; scope++) {
            assert_near(pipeline_gauge(&p, scope, "frontend_bound_ratio"), 0.24, 1e-6, "frontend");
            assert_near(pipeline_gauge(&p, scope, "bad_speculation_ratio"), 0.0775, 1e-6, "bad speculation");
            assert_near(pipeline_gauge(&p, scope, "retiring_ratio"), 0.3375, 1e-6, "retiring");
            assert_near(pipeline_gauge(&p, scope, "backend_bound_ratio"), 0.345, 1e-6, "backend");
        }
    }
    pipeline_stop(&p);
}

static void test_totals_never_fall_whatever_happens(void **state) {
    (void)state;
    unsigned seed = 20261121;
    print_message("seed %u\n", seed);
    srand(seed);
    for (int i = 0; i < 20; i++) {
        struct pipeline p;
        pipeline_load(&p, "tests/data/scenarios/changing.json");
        for (int r = 0; r < 6; r++) {
            struct scenario_rival *rival =
                pipeline_add_rival(&p, (enum scenario_rival_kind)(rand() % 5), 1 + (unsigned)(rand() % 6));
            rival->from_seconds = rand() % 60;
            rival->until_seconds = rival->from_seconds + 1 + rand() % 30;
            if (rand() % 2) {
                rival->period_seconds = 0.05 + (rand() % 100) * 0.01;
                rival->on_seconds = rival->period_seconds * (rand() % 100) / 100;
            }
        }
        start_default(&p, (uint64_t)i);
        while (p.now_ns < EPOCH_NS + 120 * SECOND_NS) // pipeline_step asserts that nothing fell
            pipeline_step(&p, rand() % 50 == 0 ? (uint64_t)(rand() % 10) * SECOND_NS : 0);
        for (size_t scope = 0; scope < p.layout->n_scopes; scope++) {
            double slots = p.snapshot->values[snapshot_pipeline_slots(p.layout, scope)];
            if (!isnan(slots)) // a CPU that was never measured has none
                assert_near(slots_of(&p, scope), slots, 1e-9, "slots");
        }
        pipeline_stop(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_metric_of_a_steady_load_equals_the_truth),
        cmocka_unit_test(test_hours_pass_and_totals_still_equal_the_truth),
        cmocka_unit_test(test_level1_categories_add_up_to_all_pipeline_slots),
        cmocka_unit_test(test_level1_counts_width_times_cycles),
        cmocka_unit_test(test_the_difference_to_the_vendors_formula_is_told),
        cmocka_unit_test(test_thirty_percent_stolen_is_contended_scaled_and_counted),
        cmocka_unit_test(test_counters_never_had_give_no_sample_and_totals_stand_still),
        cmocka_unit_test(test_a_short_gap_is_made_up_for),
        cmocka_unit_test(test_a_daemon_that_did_not_run_leaves_a_gap_and_no_invented_counts),
        cmocka_unit_test(test_a_slow_caller_gets_full_slots_and_true_values),
        cmocka_unit_test(test_an_event_that_cannot_be_opened_costs_only_what_needs_it),
        cmocka_unit_test(test_a_cpu_that_cannot_be_measured_leaves_the_others_right),
        cmocka_unit_test(test_level1_on_two_counters_is_a_composite_and_right_on_a_steady_load),
        cmocka_unit_test(test_a_composite_is_right_on_a_load_that_changes),
        cmocka_unit_test(test_totals_never_fall_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
