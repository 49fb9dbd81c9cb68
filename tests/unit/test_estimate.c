// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/estimate_rig.h"

#include "core/base/student.h"
#include "core/estimate/estimate_slope.h"

// Toy plans with one or two units, fed with rounds by hand; expected values are worked out in the comments.

enum { ROUNDS = 200, CPUS_MAX = 8 };

static const char *const EVENTS[] = {"A", "B", "C"};

// Metric 0: A / B; metric 1: `second`. One event group has A and B.
static void rig_init(struct rig *rig, size_t n_cpus, const char *second, double memory_rounds) {
    struct catalog_builder *builder = builder_of(EVENTS, 3);
    metric_of(builder, "ratio", "A / B", "");
    metric_of(builder, "second", second, "");
    group_of(builder, "all", "ratio second");
    rig_begin(rig, builder, (struct plan_request){.general_counters = 4}, build_cpus(0, (unsigned)n_cpus, 2),
              memory_rounds);
    assert_int_equal(rig->plan->n_units, 1);
}

// A CPU's counts in `seconds`, in one window.
static void count(struct rig *rig, size_t cpu, double seconds, double a, double b) {
    double *values = cells_values(rig->cells, cpu, 0);
    values[0] = seconds;
    values[1] = a;
    values[2] = b;
    cells_at(rig->cells, cpu, 0)->running_seconds = seconds;
}

static void round_of(struct rig *rig, double seconds) {
    for (size_t cpu = 0; cpu < rig->cells->n_cpus; cpu++)
        cells_end_round(rig->cells, cpu, seconds);
    estimate_take_round(rig->estimate, rig->cells, seconds);
}

static struct estimate_interval interval(const struct rig *rig, size_t scope, size_t metric, double value) {
    return estimate_get(rig->estimate, scope, metric, value, 1);
}

// ---- Student's t ----

static void test_student_agrees_with_the_table(void **state) {
    (void)state;
    static const double table[][2] = {{1, 12.706}, {2, 4.303},  {5, 2.571},  {10, 2.228},
                                      {12, 2.179}, {20, 2.086}, {30, 2.042}, {1e9, 1.960}};
    for (size_t i = 0; i < N_OF(table); i++)
        expect_near(student_95(table[i][0]), table[i][1], 0.001);
    assert_true(student_95(0) == student_95(1));
    for (double d = 1; d < 100; d += 0.25)
        assert_true(student_95(d + 0.25) < student_95(d));
}

// ---- derivatives ----

enum { NODES_MAX = 32 };

static double slope_at(const char *text, double a, double b, unsigned which) {
    struct catalog_builder *builder = builder_of(EVENTS, 3);
    metric_of(builder, "m", text, "");
    struct lanes events[] = {lanes_all(1), lanes_all(a), lanes_all(b), lanes_all(0)}, slopes[3];
    struct catalog *catalog = catalog_builder_finish(builder);
    struct formula_node nodes[NODES_MAX];
    assert_true(catalog->metrics[0].formula->n_steps <= NODES_MAX);
    estimate_slopes(catalog->metrics[0].formula, events, NULL, nodes, slopes);
    double slope = slopes[which].of[0];
    for (size_t l = 0; l < LANES; l++)
        assert_true(events[1].of[l] == a && events[2].of[l] == b && slopes[which].of[l] == slope);
    catalog_free(catalog);
    return slope;
}

static void test_derivatives_by_hand(void **state) {
    (void)state;
    expect_near(slope_at("A / B", 30, 10, 0), 0.1, 1e-6);
    expect_near(slope_at("A / B", 30, 10, 1), -0.3, 1e-6);
    expect_near(slope_at("1 - A * A / (B * B)", 3, 6, 0), -6.0 / 36, 1e-6);
    expect_near(slope_at("max(A / B - 1, 0)", 30, 10, 0), 0.1, 1e-6);
    assert_true(slope_at("max(A / B - 5, 0)", 30, 10, 0) == 0);
    expect_near(slope_at("max(A - B, 0)", 10, 10, 0), 0.5, 1e-6); // at the kink: the mean of 0 and 1
    assert_true(slope_at("A / B", 0, 10, 0) == 0);
    assert_true(slope_at("A / B", 3, 0, 0) == 0); // no value
    expect_near(slope_at("min(A, B) * 3", 5, 10, 0), 3, 1e-12);
    assert_true(slope_at("min(A, B) * 3", 5, 10, 1) == 0);
    expect_near(slope_at("-A * B - (B - A)", 5, 10, 0), -10 + 1, 1e-12);
    expect_near(slope_at("A * B if A < B else A", 5, 10, 0), 10, 1e-12);
    expect_near(slope_at("A * B if A > B else A", 5, 10, 0), 1, 1e-12);
    expect_near(slope_at("A / (B - 10) if A > B else A + B", 5, 10, 1), 1, 1e-12); // the other branch has no value
    expect_near(slope_at("d_ratio(A, B - 10) + B", 5, 10, 1), 1, 1e-12);
    expect_near(slope_at("A / B * A", 6, 3, 0), 4, 1e-12);
    assert_true(slope_at("A % B", 6, 4, 0) == 0); // steps between whole numbers
}

// ---- the standard error ----

static void test_there_is_no_interval_before_the_second_round(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "100 * A / B", 16);
    assert_int_equal(interval(&rig, 0, 0, 0.5).quality, ESTIMATE_NONE);
    count(&rig, 0, 1, 50, 100);
    round_of(&rig, 2);
    assert_int_equal(interval(&rig, 0, 0, 0.5).quality, ESTIMATE_NONE);
    assert_int_equal(interval(&rig, 0, 0, 0.5).doubt, ESTIMATE_FEW_ROUNDS);
    assert_true(isnan(interval(&rig, 0, 0, 0.5).low));
    round_of(&rig, 2);
    assert_true(isfinite(interval(&rig, 0, 0, 0.5).low));
    rig_free(&rig);
}

// One difference and two do not tell a width, however narrow it is; 2 n^2 / (3 n - 1) degrees of freedom of four
// differences are 2.9, of which a 95 % interval takes 3.2 standard errors.
static void test_an_interval_that_few_rounds_tell_is_poor_and_says_so(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "100 * A / B", 16);
    for (int r = 0; r < 6; r++) {
        count(&rig, 0, 1, r % 2 == 0 ? 50 : 50.01, 100);
        round_of(&rig, 2);
        struct estimate_interval of = interval(&rig, 0, 0, 0.5);
        if (r == 0)
            continue;
        assert_true(of.high - 0.5 < 0.01); // narrow enough
        assert_int_equal(of.quality, r < 4 ? ESTIMATE_POOR : ESTIMATE_GOOD);
        assert_int_equal(of.doubt, r < 4 ? ESTIMATE_FEW_ROUNDS : ESTIMATE_SURE);
    }
    rig_free(&rig);
}

static void test_an_interval_of_a_load_that_varies_is_poor_for_that(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "100 * A / B", 16);
    for (int r = 0; r < 12; r++) {
        count(&rig, 0, 1, r % 2 == 0 ? 20 : 60, 100);
        round_of(&rig, 2);
    }
    assert_int_equal(interval(&rig, 0, 0, 0.4).quality, ESTIMATE_POOR);
    assert_int_equal(interval(&rig, 0, 0, 0.4).doubt, ESTIMATE_VARIES);
    rig_free(&rig);
}

// Two rounds of 10 s, 2 s of each covered: A 40 then 60 of B 100, extrapolated 200 and 300 of 500. The mean is 250 of
// 500, so a residual is (A - 0.5 B) / 500: the difference is 0.2, half its square 0.02, less the share covered 0.016.
static void test_two_rounds_by_hand(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "100 * A / B", 16);
    count(&rig, 0, 2, 40, 100);
    round_of(&rig, 10);
    count(&rig, 0, 2, 60, 100);
    round_of(&rig, 10);
    struct estimate_interval of = interval(&rig, 0, 0, 0.6);
    expect_near(of.standard_error, sqrt(0.016), 1e-6);
    expect_near(estimate_degrees(rig.estimate, 0, 0), 1, 1e-9);
    expect_near(of.high - 0.6, 12.7062 * sqrt(0.016), 1e-4);
    assert_true(of.low == 0); // a ratio of counts is not negative
    assert_int_equal(of.quality, ESTIMATE_POOR);
    assert_int_equal(of.doubt, ESTIMATE_FEW_ROUNDS);
    expect_near(interval(&rig, 0, 1, 60).standard_error, 100 * sqrt(0.016), 1e-6);
    expect_near(estimate_get(rig.estimate, 0, 0, 0.5, 4).standard_error, sqrt(0.016 / 4), 1e-6);
    rig_free(&rig);
}

// Two CPUs with equal counts that differ in opposite ways: the host's variance is the sum of both, by twice the size.
// Each CPU's residual in the host's metric is half of its own, so the variance is 2 x 0.016 / 4.
static void test_variances_of_cpus_add_up(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 2, "100 * A / B", 16);
    count(&rig, 0, 2, 40, 100);
    count(&rig, 1, 2, 60, 100);
    round_of(&rig, 10);
    count(&rig, 0, 2, 60, 100);
    count(&rig, 1, 2, 40, 100);
    round_of(&rig, 10);
    expect_near(interval(&rig, 0, 0, 0.5).standard_error, sqrt(0.008), 1e-6);
    expect_near(interval(&rig, 1, 0, 0.6).standard_error, sqrt(0.016), 1e-6); // sockets of one CPU each
    expect_near(interval(&rig, 3, 0, 0.6).standard_error, sqrt(0.016), 1e-6); // the CPU
    expect_near(estimate_degrees(rig.estimate, 0, 0), 2, 1e-9);
    rig_free(&rig);
}

// The same with two siblings of a core that change alike: their residuals of 0.1 each are one of 0.2 together.
static void test_siblings_of_a_core_are_one_draw(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 2, "A", 16);
    estimate_free(rig.estimate);
    topology_free(rig.topology);
    const struct topology_source sources[] = {{0, 0, 0, true}, {1, 0, 0, true}};
    rig.topology = build_topology(sources, 2);
    rig.estimate = estimate_new(rig.plan, rig.topology, 16);
    for (int r = 0; r < 2; r++) {
        count(&rig, 0, 2, 40 + 20 * r, 100);
        count(&rig, 1, 2, 40 + 20 * r, 100);
        round_of(&rig, 10);
    }
    expect_near(interval(&rig, 0, 0, 0.6).standard_error, sqrt(0.016), 1e-6);
    expect_near(interval(&rig, 2, 0, 0.6).standard_error, sqrt(0.016), 1e-6); // one of them
    expect_near(estimate_degrees(rig.estimate, 0, 0), 1, 1e-9);
    rig_free(&rig);
}

static void test_a_load_that_never_changes_has_no_error(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 2, "1 - A / B", 16);
    for (int r = 0; r < 10; r++) {
        count(&rig, 0, 0.3, 0.3 * 7e9, 0.3 * 9e9);
        count(&rig, 1, 0.7, 0.7 * 1e8, 0.7 * 3e8);
        round_of(&rig, 3);
    }
    for (size_t scope = 0; scope < 5; scope++) {
        assert_true(interval(&rig, scope, 0, 0.5).standard_error < 1e-9);
        assert_true(interval(&rig, scope, 1, 0.5).standard_error < 1e-9);
    }
    rig_free(&rig);
}

static void test_what_is_covered_entirely_has_no_error(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "A", 16);
    for (int r = 0; r < 10; r++) {
        count(&rig, 0, 2, 30 + 5 * (r % 2), 100);
        round_of(&rig, 2);
    }
    assert_true(interval(&rig, 0, 0, 0.3).standard_error == 0);
    rig_free(&rig);
}

// Half of the counters' time is another's: what was not seen inside the slots is uncovered, too.
static void test_contention_leaves_less_covered(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "A", 16);
    for (int r = 0; r < 2; r++) {
        count(&rig, 0, 2, 30 + 10 * r, 100);
        cells_at(rig.cells, 0, 0)->running_seconds = 1;
        round_of(&rig, 2);
    }
    expect_near(interval(&rig, 0, 0, 0.3).standard_error, sqrt(0.1 * 0.1 / 2 * 0.5), 1e-6);
    rig_free(&rig);
}

// The mean of two rounds is 110 of 200 in 4 s; the last one counted a tenth of the first.
static void test_a_round_of_little_is_less_certain(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "A", 16);
    count(&rig, 0, 1, 100, 200);
    round_of(&rig, 2);
    count(&rig, 0, 1, 10, 10);
    round_of(&rig, 2);
    double lasting = estimate_get(rig.estimate, 0, 0, 0.5, 2).standard_error * sqrt(2);
    double slope_a = 1.0 / 210, slope_b = 110.0 / 210 / 210; // the mean round: 110 of A, 210 of B
    double usual = slope_a * 110 + slope_b * 210, now = slope_a * 20 + slope_b * 20;
    expect_near(interval(&rig, 0, 0, 1).standard_error, lasting * usual / now, 1e-6);
    rig_free(&rig);
}

static void test_a_round_without_data_changes_nothing(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "A", 16);
    for (int r = 0; r < 3; r++) {
        count(&rig, 0, 1, 30 + 10 * (r % 2), 100);
        round_of(&rig, 2);
    }
    struct estimate_interval before = interval(&rig, 0, 0, 0.3);
    count(&rig, 0, 0, 0, 0);
    round_of(&rig, 2);
    assert_true(interval(&rig, 0, 0, 0.3).standard_error == before.standard_error);
    rig_free(&rig);
}

static void test_after_a_gap_rounds_are_no_neighbours(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1, "A", 16);
    count(&rig, 0, 1, 30, 100);
    round_of(&rig, 2);
    estimate_forget_cpu(rig.estimate, 0);
    count(&rig, 0, 1, 90, 100);
    round_of(&rig, 2);
    assert_int_equal(interval(&rig, 0, 0, 0.9).quality, ESTIMATE_NONE);
    rig_free(&rig);
}

// ---- fields of PERF_METRICS ----

static const char *const TOPDOWN[] = {"SLOTS", "GOOD", "LOST"};

static struct catalog *led_catalog(void) {
    struct fault error;
    struct catalog_builder *builder = builder_for("toy_pmu");
    for (unsigned i = 0; i < N_OF(TOPDOWN); i++) {
        struct catalog_event_text text = {.name = TOPDOWN[i], .title = "", .terms = "", .takes = i == 0};
        char terms[16];
        (void)snprintf(terms, sizeof terms, "config=%u", i + 1);
        text.terms = terms;
        assert_int_equal(catalog_builder_add_event_text(builder, &text, &error), i + 1);
    }
    assert_int_equal(catalog_builder_set_counters(builder, 4, TOPDOWN, 1, &error), 0);
    assert_int_equal(catalog_builder_set_topdown(builder, TOPDOWN, N_OF(TOPDOWN), &error), 0);
    metric_of(builder, "ratio", "GOOD / (GOOD + LOST)", "");
    metric_of(builder, "second", "GOOD / SLOTS", "");
    metric_of(builder, "lost", "LOST / SLOTS", "");
    metric_of(builder, "rest", "2 - second - lost", "");
    metric_of(builder, "again", "rest + second", "");
    group_of(builder, "all", "ratio second lost rest again");
    return catalog_builder_finish(builder);
}

// 100 of 200 slots in each round, half of the time covered. A field is a multiple of a 255th, off by a standard error
// of 1 / sqrt(12) of that; by each of both fields the ratio's derivative times the slots is 0.5, so its standard error
// is sqrt(2) x 0.5 / 255 / sqrt(12), however many rounds there are; GOOD / SLOTS has 1 / 255 / sqrt(12). What is left
// of both has sqrt(2) of that, and where one of them is given back the other's rounding is left.
static void test_rounding_of_fields_is_a_floor(void **state) {
    (void)state;
    struct rig rig = {.catalog = led_catalog()};
    rig.plan = build_plan(
        &(struct plan_request){.catalog = rig.catalog, .general_counters = 4, .slot_ns = UINT64_C(1000000000)});
    assert_int_equal(rig.plan->n_units, 1);
    rig.topology = build_cpus(0, 1, 1);
    rig.estimate = estimate_new(rig.plan, rig.topology, 16);
    rig.rows = rows_new(rig.plan);
    rig.cells = cells_new(rig.rows, 1);
    cells_add_values(rig.cells, 0, 0, (const double[]){1, 200, 100, 100}); // seconds, SLOTS, GOOD, LOST
    cells_note_window(rig.cells, 0, 0, 1);
    for (int r = 0; r < 5; r++)
        round_of(&rig, 2);
    double wanted = sqrt(2) * 0.5 / 255 / sqrt(12);
    expect_near(interval(&rig, 0, 0, 0.5).standard_error, wanted, 1e-6);
    expect_near(estimate_get(rig.estimate, 0, 0, 0.5, 100).standard_error, wanted, 1e-6);
    expect_near(interval(&rig, 0, 0, 0.5).high, 0.5 + 1.96 * wanted, 1e-4);
    expect_near(interval(&rig, 0, 1, 0.5).standard_error, 1.0 / 255 / sqrt(12), 1e-6);
    expect_near(interval(&rig, 0, 3, 1).standard_error, sqrt(2) / 255 / sqrt(12), 1e-6);
    expect_near(interval(&rig, 0, 4, 1.5).standard_error, 1.0 / 255 / sqrt(12), 1e-6);
    rig_free(&rig);
}

// ---- properties ----

static void feed(struct rig *rig, uint64_t seed, size_t n_cpus, int rounds, double scale) {
    for (int r = 0; r < rounds; r++) {
        for (size_t cpu = 0; cpu < n_cpus; cpu++) {
            double b = scale * 1e6 * (1 + random_unit(&seed));
            count(rig, cpu, 1, b * (0.2 + 0.6 * random_unit(&seed)), b);
        }
        round_of(rig, 10);
    }
}

static void test_scaling_all_rates_leaves_errors_of_ratios(void **state) {
    (void)state;
    uint64_t seed = seed_begin();
    struct rig one, many;
    rig_init(&one, 4, "A * A / (B * B)", 16);
    rig_init(&many, 4, "A * A / (B * B)", 16);
    feed(&one, seed, 4, 30, 1);
    feed(&many, seed, 4, 30, 1000);
    for (size_t scope = 0; scope < 7; scope++)
        for (size_t m = 0; m < 2; m++)
            expect_near(interval(&many, scope, m, 0.5).standard_error, interval(&one, scope, m, 0.5).standard_error,
                        1e-6);
    rig_free(&many);
    rig_free(&one);
}

static void test_scaling_all_rates_scales_errors_of_counts(void **state) {
    (void)state;
    uint64_t seed = seed_begin();
    struct rig one, many;
    rig_init(&one, 2, "A + B", 16);
    rig_init(&many, 2, "A + B", 16);
    feed(&one, seed, 2, 30, 1);
    feed(&many, seed, 2, 30, 1000);
    expect_near(interval(&many, 0, 1, 1e9).standard_error, 1000 * interval(&one, 0, 1, 1e6).standard_error, 1e-6);
    rig_free(&many);
    rig_free(&one);
}

// Four times the rounds and four times the CPUs halve the error each: the first exactly, the second within what chance
// allows (of 400 terms, five standard deviations are 15 %).
static void test_errors_shrink_with_time_and_cpus(void **state) {
    (void)state;
    uint64_t seed = seed_begin();
    struct rig two, eight;
    rig_init(&two, 2, "A", INFINITY);
    rig_init(&eight, 8, "A", INFINITY);
    feed(&two, seed, 2, ROUNDS, 1);
    feed(&eight, seed, 8, ROUNDS, 1);
    double of_two = estimate_get(two.estimate, 0, 0, 0.5, 2).standard_error;
    expect_near(estimate_get(two.estimate, 0, 0, 0.5, 8).standard_error, of_two / 2, 1e-9);
    expect_near(estimate_get(eight.estimate, 0, 0, 0.5, 2).standard_error, of_two / 2, 0.25);
    rig_free(&eight);
    rig_free(&two);
}

// Counts of independent rounds: A / B varies by 0.6 / sqrt(12) from round to round, and so does the estimate say, less
// the tenth of the time that is covered.
static void test_the_error_is_that_of_independent_rounds(void **state) {
    (void)state;
    uint64_t seed = seed_begin();
    struct rig rig;
    rig_init(&rig, 1, "A", INFINITY);
    for (int r = 0; r < 4000; r++) {
        count(&rig, 0, 1, 1e6 * (0.2 + 0.6 * random_unit(&seed)), 1e6);
        round_of(&rig, 10);
    }
    expect_near(estimate_get(rig.estimate, 0, 0, 0.5, 2).standard_error, 0.6 / sqrt(12) * sqrt(0.9 / 2), 0.1);
    assert_true(estimate_degrees(rig.estimate, 0, 0) > 2000);
    rig_free(&rig);
}

static void test_memory_is_bounded(void **state) {
    (void)state;
    uint64_t seed = seed_begin();
    struct rig rig;
    rig_init(&rig, 1, "A", 16);
    feed(&rig, seed, 1, ROUNDS, 1);
    // sum of w (1 - w)^i squared is w / (2 - w): 31 differences, worth 2 n^2 / (3 n - 1) = 20.9, fewer by heavy tails
    assert_in_range((unsigned)estimate_degrees(rig.estimate, 0, 0), 5, 20);
    for (int r = 0; r < ROUNDS; r++) {
        count(&rig, 0, 1, 50, 100);
        round_of(&rig, 10);
    }
    assert_true(interval(&rig, 0, 0, 0.5).standard_error < 1e-3);
    rig_free(&rig);
}

// CPUs are estimated several at once, and each as if it was a host of its own: with its own load, gaps and rounds
// without data.
static void test_each_cpu_is_estimated_as_if_alone(void **state) {
    (void)state;
    enum { MANY = 2 * LANES + 3 };
    uint64_t random = 11;
    struct rig all, one[MANY];
    rig_init(&all, MANY, "max(1 - ratio, 0) * B / A", 16);
    for (size_t cpu = 0; cpu < MANY; cpu++)
        rig_init(&one[cpu], 1, "max(1 - ratio, 0) * B / A", 16);
    for (size_t r = 0; r < 40; r++) {
        for (size_t cpu = 0; cpu < MANY; cpu++) {
            bool data = random_unit(&random) > 0.1, gap = random_unit(&random) < 0.05;
            double a = 100 * random_unit(&random), b = random_unit(&random) < 0.1 ? 0 : 50 + a * random_unit(&random);
            count(&all, cpu, data ? 2 : 0, data ? a : 0, data ? b : 0);
            count(&one[cpu], 0, data ? 2 : 0, data ? a : 0, data ? b : 0);
            if (gap) {
                estimate_forget_cpu(all.estimate, cpu);
                estimate_forget_cpu(one[cpu].estimate, 0);
            }
            round_of(&one[cpu], 10);
        }
        round_of(&all, 10);
        for (size_t cpu = 0; cpu < MANY; cpu++)
            for (size_t m = 0; m < 2; m++) {
                struct estimate_interval together = interval(&all, scope_of_cpu(all.topology, cpu), m, 0.5);
                struct estimate_interval alone = interval(&one[cpu], 0, m, 0.5);
                assert_memory_equal(&together, &alone, offsetof(struct estimate_interval, quality));
                assert_int_equal(together.quality, alone.quality);
                assert_int_equal(together.doubt, alone.doubt);
            }
    }
    for (size_t cpu = 0; cpu < MANY; cpu++)
        rig_free(&one[cpu]);
    rig_free(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_cpu_is_estimated_as_if_alone),
        cmocka_unit_test(test_student_agrees_with_the_table),
        cmocka_unit_test(test_derivatives_by_hand),
        cmocka_unit_test(test_there_is_no_interval_before_the_second_round),
        cmocka_unit_test(test_an_interval_that_few_rounds_tell_is_poor_and_says_so),
        cmocka_unit_test(test_an_interval_of_a_load_that_varies_is_poor_for_that),
        cmocka_unit_test(test_two_rounds_by_hand),
        cmocka_unit_test(test_variances_of_cpus_add_up),
        cmocka_unit_test(test_siblings_of_a_core_are_one_draw),
        cmocka_unit_test(test_a_load_that_never_changes_has_no_error),
        cmocka_unit_test(test_what_is_covered_entirely_has_no_error),
        cmocka_unit_test(test_contention_leaves_less_covered),
        cmocka_unit_test(test_a_round_of_little_is_less_certain),
        cmocka_unit_test(test_a_round_without_data_changes_nothing),
        cmocka_unit_test(test_after_a_gap_rounds_are_no_neighbours),
        cmocka_unit_test(test_rounding_of_fields_is_a_floor),
        cmocka_unit_test(test_scaling_all_rates_leaves_errors_of_ratios),
        cmocka_unit_test(test_scaling_all_rates_scales_errors_of_counts),
        cmocka_unit_test(test_errors_shrink_with_time_and_cpus),
        cmocka_unit_test(test_the_error_is_that_of_independent_rounds),
        cmocka_unit_test(test_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
