// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// Intervals of a whole host whose truth is known: they contain it about as often as they promise, and without variation
// only rounding and the resolution are left of them.

static const char STEADY[] = "tests/data/scenarios/steady.json";
static const char *const DEFAULT_GROUPS[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};

enum { KEYFRAMES = 2400, KEYFRAMES_A_SECOND = 10, LEARN_ROUNDS = 5, ROUNDS = 120, SEED = 5 };

// Makes the steady load noisy: every tenth of a second, every event but cycles happens between half and three halves as
// often, each by a draw of its own. CPUs are at different moments of the same four minutes.
static void make_noisy(struct pipeline *p) {
    struct scenario_load *load = &p->scenario->loads[0];
    const struct scenario_keyframe base = load->keyframes[0];
    struct scenario_keyframe *frames = calloc(KEYFRAMES, sizeof *frames);
    uint64_t state = SEED;
    assert_non_null(frames);
    frames[0] = base;
    for (size_t f = 1; f < KEYFRAMES; f++) {
        frames[f] = (struct scenario_keyframe){.at_seconds = (double)f / KEYFRAMES_A_SECOND,
                                               .rates = calloc(base.n_rates, sizeof *base.rates),
                                               .n_rates = base.n_rates};
        assert_non_null(frames[f].rates);
        for (size_t i = 0; i < base.n_rates; i++) {
            double factor = 0.5 + (double)(random_next(&state) >> 11) * 0x1p-53;
            bool cycles = strcmp(base.rates[i].event, "CPU_CYCLES") == 0;
            frames[f].rates[i].event = strdup(base.rates[i].event);
            frames[f].rates[i].per_second = base.rates[i].per_second * (cycles ? 1 : factor);
        }
    }
    free(load->keyframes);
    load->keyframes = frames;
    load->n_keyframes = KEYFRAMES;
    load->period_seconds = (double)KEYFRAMES / KEYFRAMES_A_SECOND;
    p->scenario->assignments[0].stagger_seconds = 29.3;
}

// The error of level 1 is that of its least certain category.
static void expect_level1_error(const struct pipeline *p, size_t scope) {
    const double *values = p->snapshot->values;
    double largest = 0;
    for (size_t m = 0; m < p->layout->n_metrics; m++)
        if (snapshot_category_of(p->layout, m) < p->layout->n_level1)
            largest = fmax(largest, values[snapshot_standard_error(p->layout, scope, m)]);
    assert_true(largest > 0 && values[snapshot_level1_error(p->layout, scope)] == largest);
}

// How many of the scope's level-1 intervals, and of those of instructions per cycle, hold the truth of the last round.
static size_t count_right(const struct pipeline *p, size_t scope, size_t *n) {
    static const char *const metrics[] = {"frontend_bound_ratio", "backend_bound_ratio", "ipc"};
    const double *values = p->snapshot->values;
    size_t right = 0;
    expect_level1_error(p, scope);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        size_t m = pipeline_metric(p, metrics[i]);
        double truth = pipeline_truth(p, scope, m, p->snapshot->start_ns, p->snapshot->end_ns);
        double low = values[snapshot_low(p->layout, scope, m)], high = values[snapshot_high(p->layout, scope, m)];
        assert_true(low < high && low <= values[snapshot_metric(p->layout, scope, m)]);
        right += low <= truth && truth <= high;
        ++*n;
    }
    return right;
}

static void test_intervals_hold_the_truth_about_as_often_as_they_say(void **state) {
    (void)state;
    struct pipeline p;
    size_t right[2] = {0}, n[2] = {0};
    pipeline_load(&p, STEADY);
    make_noisy(&p);
    pipeline_start(&p, SECOND_NS / 5, SEED, DEFAULT_GROUPS);
    pipeline_run(&p, LEARN_ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        pipeline_run(&p, 1);
        right[0] += count_right(&p, 0, &n[0]);
        for (size_t cpu = 0; cpu < p.topology->n_cpus; cpu++)
            right[1] += count_right(&p, snapshot_scope_cpu(p.layout, cpu), &n[1]);
    }
    for (int i = 0; i < 2; i++) {
        double share = (double)right[i] / (double)n[i];
        print_message("%s: %.1f %% of %zu\n", i == 0 ? "host" : "CPUs", 100 * share, n[i]);
        if (!(share >= 0.9 && share <= 0.99))
            fail_msg("%.1f %% instead of about 95 %%", 100 * share);
    }
    pipeline_stop(&p);
}

// The standard error of a round that knows of no variation: idle pieces are common to the cores of a host, so that 4
// points of a share, or a fifth of another metric, might be hidden in each of them, about one each 0.75 s.
static double least_error(const struct pipeline *p, size_t scope, size_t m, double value) {
    const struct catalog_metric *metric = &p->catalog->metrics[p->plan->metrics[m].metric];
    bool share = metric->domain == METRIC_PIPELINE_SLOTS || metric->domain == METRIC_CLOCKS;
    size_t n_scopes_of_many = p->layout->n_scopes - p->topology->n_cpus;
    double round = (double)p->plan->round_ns * 1e-9, idle = (double)p->plan->idle_ns * 1e-9 / round;
    double pieces = idle / sqrt(fmax(round / 0.75, 1));
    return scope >= n_scopes_of_many ? 0 : (share ? 0.04 : 0.2 * value) * pieces;
}

static void test_a_constant_load_has_intervals_of_its_resolution(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    pipeline_start(&p, SECOND_NS / 5, SEED, DEFAULT_GROUPS);
    pipeline_run(&p, LEARN_ROUNDS);
    for (size_t scope = 0; scope < p.layout->n_scopes; scope++) {
        for (size_t m = 0; m < snapshot_n_metrics(p.layout, scope); m++) {
            const double *values = p.snapshot->values;
            double value = values[snapshot_metric(p.layout, scope, m)];
            assert_true(values[snapshot_low(p.layout, scope, m)] <= value);
            double least = least_error(&p, scope, m, value), half = values[snapshot_high(p.layout, scope, m)] - value;
            assert_true(fabs(values[snapshot_standard_error(p.layout, scope, m)] - least) <= 1e-9 * value + 1e-15);
            assert_true(half <= 2.5 * least + 1e-9 * value);
            assert_int_equal(snapshot_quality(p.snapshot, snapshot_state(p.layout, scope, m)), ESTIMATE_GOOD);
        }
    }
    pipeline_stop(&p);
}

// Level 1 as fields of PERF_METRICS: half of 1/255, evenly, is 0.11 points; a category may be made of several fields.
static void test_fields_of_a_constant_load_keep_their_rounding(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "sapphire-rapids", SEED);
    pipeline_start(&p, SECOND_NS / 5, SEED, DEFAULT_GROUPS);
    pipeline_run(&p, LEARN_ROUNDS);
    assert_true(p.plan->common_unit >= 0);
    for (size_t c = 0; c < p.layout->n_level1; c++) {
        unsigned metric = p.catalog->level1.categories[c].metric;
        size_t m = pipeline_metric(&p, p.catalog->metrics[metric].export_name);
        double error = p.snapshot->values[snapshot_standard_error(p.layout, 0, m)];
        if (!(error > 0.0005 && error < 0.005))
            fail_msg("%s: %g", p.catalog->metrics[metric].name, error);
    }
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_hold_the_truth_about_as_often_as_they_say),
        cmocka_unit_test(test_a_constant_load_has_intervals_of_its_resolution),
        cmocka_unit_test(test_fields_of_a_constant_load_keep_their_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
