// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// PMUs outside the cores in the place of CPUs: what is always on is exact, and what takes turns on too few counters has
// intervals that hold the truth about as often as they say.

enum {
    BOXES_PER_SOCKET = 4,
    BOXES_N = 2 * BOXES_PER_SOCKET,
    KEYFRAMES = 4000,
    LEARN_ROUNDS = 5,
    ROUNDS = 30,
    SEEDS = 2
};
static const char *const TRAFFIC[] = {"Traffic", NULL}; // what is measured by default

// How the rate of each event changes.
struct swing {
    const char *name;
    double seconds;  // between two draws; the kernel's turns last 4 ms
    bool bursts;     // a quarter of the mean or four times as much, instead of between 0 and twice as much
    double accuracy; // the most that a box may be off, on average
};
static const struct swing NOISE = {"noise", 0.0025, false, 0.005};

static void make_boxes(struct pipeline *p) {
    struct scenario *scenario = p->scenario;
    scenario->sockets = 2;
    scenario->cores_per_socket = BOXES_PER_SOCKET;
    scenario->threads_per_core = 1;
    for (unsigned box = 0; box < BOXES_N; box++)
        cpuset_add(&scenario->assignments[0].cpus, box);
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(scenario, NULL, &p->topology), 0);
    p->topology->boxes = true;
    for (size_t e = 0; e < p->catalog->n_events; e++)
        p->support[e] = PLAN_SUPPORTED;
}

// Of each event by a draw of its own each time.
static void make_noisy(struct pipeline *p, const struct swing *swing, uint64_t seed) {
    struct scenario_load *load = &p->scenario->loads[0];
    const struct scenario_keyframe base = load->keyframes[0];
    struct scenario_keyframe *frames = calloc(KEYFRAMES, sizeof *frames);
    assert_non_null(frames);
    frames[0] = base;
    for (size_t f = 1; f < KEYFRAMES; f++) {
        frames[f] = (struct scenario_keyframe){.at_seconds = (double)f * swing->seconds,
                                               .rates = calloc(base.n_rates, sizeof *base.rates),
                                               .n_rates = base.n_rates};
        assert_non_null(frames[f].rates);
        for (size_t i = 0; i < base.n_rates; i++) {
            double draw = (double)(random_next(&seed) >> 11) * 0x1p-53;
            double factor = !swing->bursts ? 2 * draw : draw < 0.8 ? 0.25 : 4;
            frames[f].rates[i].event = strdup(base.rates[i].event);
            frames[f].rates[i].per_second = base.rates[i].per_second * factor;
        }
    }
    free(load->keyframes);
    load->keyframes = frames;
    load->n_keyframes = KEYFRAMES;
    load->period_seconds = KEYFRAMES * swing->seconds;
    p->scenario->assignments[0].stagger_seconds = 0.7;
}

struct coverage {
    size_t right, n;
    double error, width; // sums, relative to the truth
};

static void compare(const struct pipeline *p, size_t scope, struct coverage *coverage) {
    const double *values = p->snapshot->values;
    for (size_t m = 0; m < p->layout->n_metrics; m++) {
        double truth = pipeline_truth(p, scope, m, p->snapshot->start_ns, p->snapshot->end_ns);
        double value = values[snapshot_metric(p->layout, scope, m)];
        double low = values[snapshot_low(p->layout, scope, m)], high = values[snapshot_high(p->layout, scope, m)];
        double share = values[snapshot_share_of_time(p->layout, scope, m)];
        assert_true(share > 0 && share <= 1 + 1e-9 && (high > low || share > 1 - 1e-9));
        coverage->n++;
        coverage->right += low <= truth && truth <= high;
        coverage->error += fabs(value / truth - 1);
        coverage->width += (high - low) / truth;
    }
}

static void start(struct pipeline *p, const char *spec, const struct swing *swing, uint64_t seed) {
    pipeline_load_spec(p, spec, seed);
    make_boxes(p);
    make_noisy(p, swing, seed);
}

// In the host, in its sockets and in their boxes.
static void run(const char *spec, const struct swing *swing, uint64_t seed, struct coverage coverage[3]) {
    struct pipeline p;
    start(&p, spec, swing, seed);
    pipeline_start(&p, SECOND_NS / 5, seed, TRAFFIC);
    pipeline_run(&p, LEARN_ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        pipeline_run(&p, 1);
        compare(&p, 0, &coverage[0]);
        for (size_t s = 0; s < 2; s++)
            compare(&p, snapshot_scope_socket(s), &coverage[1]);
        for (size_t box = 0; box < BOXES_N; box++)
            compare(&p, snapshot_scope_cpu(p.layout, box), &coverage[2]);
    }
    pipeline_stop(&p);
}

// The rounds' spread, from which intervals come, is also the load's own, of which a part was counted: they are wider
// than they need be.
static void test_events_that_take_turns_have_intervals_that_hold_the_truth(void **state) {
    (void)state;
    static const char *const scopes[] = {"host", "sockets", "boxes"}, *const specs[] = {"df-zen1", "df-zen4"};
    for (int k = 0; k < 2; k++) {
        char spec[32];
        struct coverage coverage[3] = {{0}};
        (void)snprintf(spec, sizeof spec, "uncore/%s", specs[k]);
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            run(spec, &NOISE, seed, coverage);
        for (int i = 0; i < 3; i++) {
            double n = (double)coverage[i].n, right = (double)coverage[i].right / n, width = coverage[i].width / n;
            print_message("%s, %s: %.1f %% of %.0f; off by %.2f %%, intervals of %.2f %%\n", specs[k], scopes[i],
                          100 * right, n, 100 * coverage[i].error / n, 100 * width);
            if (!(right >= 0.93 && width < 0.05 && coverage[i].error / n < NOISE.accuracy))
                fail_msg("%.1f %% instead of about 95 %%, in intervals of %.2f", 100 * right, width);
        }
    }
}

// From bursts as long as the turns, which are the worst, to load that changes within a reading and from one to the
// next. Of the slower ones turns of 4 ms miss next to nothing, and readings differ the more: so the intervals there
// tell how the load swings, and hold the truth always. How much of the time was counted is beside each value.
static void test_intervals_hold_the_truth_of_a_load_that_swings(void **state) {
    (void)state;
    static const struct swing swings[] = {{"bursts of 2.5 ms", 0.0025, true, 0.02},
                                          {"bursts of 20 ms", 0.02, true, 0.005},
                                          {"bursts of 0.1 s", 0.1, true, 0.002},
                                          {"swings of 2 s", 2, false, 0.002}};
    for (size_t k = 0; k < sizeof swings / sizeof *swings; k++) {
        struct coverage coverage[3] = {{0}};
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            run("uncore/df-zen1", &swings[k], seed, coverage);
        for (int i = 0; i < 3; i++) {
            double n = (double)coverage[i].n, right = (double)coverage[i].right / n, error = coverage[i].error / n;
            if (!(right >= 0.93 && error < swings[k].accuracy))
                fail_msg("%s: %.1f %% instead of 95 %% or more, off by %.2f %%", swings[k].name, 100 * right,
                         100 * error);
        }
    }
}

static void test_what_is_always_on_is_exact(void **state) {
    (void)state;
    struct coverage coverage[3] = {{0}};
    run("uncore/imc-sapphire-rapids", &NOISE, 1, coverage);
    for (int i = 0; i < 3; i++)
        assert_true(coverage[i].error / (double)coverage[i].n < 1e-6 &&
                    coverage[i].width / (double)coverage[i].n < 1e-6);
}

// No total falls (pipeline_run looks), what the box would have counted is uncovered, and it counts again when it is
// back. The others notice nothing.
static void test_a_box_that_goes_and_comes_back_leaves_the_others_alone(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, "uncore/imc-sapphire-rapids", &NOISE, 1);
    struct scenario_rival *away = pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    away->cpus = (struct cpuset){0};
    cpuset_add(&away->cpus, 1);
    away->from_seconds = 9;
    away->until_seconds = 21;
    pipeline_start(&p, SECOND_NS / 5, 1, TRAFFIC);
    pipeline_run_until(&p, 20);
    assert_int_equal(p.recorder.n_open, BOXES_N - 1);
    for (unsigned box = 0; box < BOXES_N; box++) {
        struct coverage coverage = {0};
        if (box == 1)
            continue;
        compare(&p, snapshot_scope_cpu(p.layout, box), &coverage);
        assert_true(coverage.error < 1e-5);
    }
    pipeline_run_until(&p, 60);
    assert_int_equal(p.recorder.n_open, BOXES_N);
    assert_all_accounted(&p, 1e-9);
    double offline = pipeline_uncovered(&p, UNCOVERED_OFFLINE);
    assert_true(offline >= 12 && offline <= 12 + 3 * 2);
    pipeline_stop(&p);
}

// Another user's groups get their turns: share, and no bytes.
static void test_a_rival_costs_share_of_time_and_the_values_stay_true(void **state) {
    (void)state;
    struct pipeline p;
    struct coverage coverage = {0};
    start(&p, "uncore/df-zen1", &NOISE, 1);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_FLEXIBLE, 4);
    rival->cpus = (struct cpuset){0};
    cpuset_add(&rival->cpus, 0);
    pipeline_start(&p, SECOND_NS / 5, 1, TRAFFIC);
    pipeline_run(&p, LEARN_ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        pipeline_run(&p, 1);
        compare(&p, snapshot_scope_cpu(p.layout, 0), &coverage);
        for (unsigned box = 0; box < BOXES_N; box++)
            assert_near(p.snapshot->values[snapshot_share_of_time(p.layout, snapshot_scope_cpu(p.layout, box), 0)],
                        box == 0 ? 1.0 / 3 : 0.5, 0.05, "share of time");
    }
    assert_true((double)coverage.right >= 0.9 * (double)coverage.n);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_that_take_turns_have_intervals_that_hold_the_truth),
        cmocka_unit_test(test_intervals_hold_the_truth_of_a_load_that_swings),
        cmocka_unit_test(test_what_is_always_on_is_exact),
        cmocka_unit_test(test_a_box_that_goes_and_comes_back_leaves_the_others_alone),
        cmocka_unit_test(test_a_rival_costs_share_of_time_and_the_values_stay_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
