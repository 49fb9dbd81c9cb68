// SPDX-License-Identifier: Apache-2.0
//
// Which CPUs, cores and sockets differ: in a snapshot, from round to round, and on hosts of 1,024 CPUs.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/random.h"
#include "core/diagnosis/around.h"
#include "exporters/view/view_bound.h"
#include "patient.h"

// ---- where ----

static void test_cpus_that_differ_are_named_the_largest_loss_first(void **state) {
    (void)state;
    struct patient p;
    struct text text = {0};
    begin(&p, "specs/sapphire-rapids.json");
    set_healthy(&p);
    assert_int_equal(judge(&p)->n, 1);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 0);
    set_cpu(&p, 5, "frontend_bound_ratio", 0.7);
    const size_t sick[] = {1, 3, 9}; // dealt out to the sockets by turns: all of socket 1
    for (size_t i = 0; i < 3; i++) {
        set_cpu(&p, sick[i], "backend_bound_ratio", 0.8);
        set_cpu(&p, sick[i], "utilization_ratio", 1);
    }
    (void)judge(&p);
    const struct circumstances *found = &p.snapshot->circumstances;
    assert_int_equal(found->n_outliers, 2);
    assert_string_equal(p.catalog->metrics[found->outliers[0].metric].export_name, "backend_bound_ratio");
    assert_int_equal(found->outliers[0].n, 3);
    assert_true(fabs(found->outliers[0].share - (0.8)) < 1e-9);
    assert_true(fabs(found->outliers[0].usual - (0.18)) < 1e-9);
    assert_true(fabs(found->outliers[0].slots - (3 * (0.8 - 0.18))) < 1e-9);
    view_bound_cpus(p.snapshot, &found->outliers[0], &text);
    text_append(&text, "", 1);
    assert_string_equal(text.data, "CPUs 1, 3 and 9 of socket 1");
    text_free(&text);
    assert_int_equal(found->outliers[1].n, 1);
    assert_int_equal(found->outliers[1].ranges[0].first, 5);
    end(&p);
}

static void test_neither_noise_nor_sleep_nor_a_wide_spread_makes_an_outlier(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/sapphire-rapids.json");
    size_t place;
    set_healthy(&p);
    set_cpu(&p, 4, "backend_bound_ratio", 0.8);
    place = place_of(&p, "backend_bound_ratio");
    // Its 95 % interval is above the median's, and that of 16 comparisons is not: it is 1.51 times as wide.
    p.snapshot->values[snapshot_low(p.layout, snapshot_scope_cpu(p.layout, 4), place)] = 0.38;
    (void)judge(&p);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 0);
    p.snapshot->values[snapshot_low(p.layout, snapshot_scope_cpu(p.layout, 4), place)] = 0.42;
    (void)judge(&p);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 1);
    set_cpu(&p, 4, "backend_bound_ratio", 0.8);
    set_cpu(&p, 4, "utilization_ratio", 0.02);
    (void)judge(&p);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 0);
    set_cpu(&p, 4, "utilization_ratio", 0.6);
    (void)judge(&p);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 1);
    for (size_t cpu = 0; cpu < CPUS; cpu++) // many different loads: none is beside the others
        set_cpu(&p, cpu, "backend_bound_ratio", 0.05 * (double)cpu);
    (void)judge(&p);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 0);
    end(&p);
}

// The defaults of many CPUs do not measure for how long they sleep. The kernel's ticks on sleeping CPUs are front-end
// bound.
static void test_where_nothing_tells_sleep_cpus_that_hardly_run_are_no_outliers(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/neoverse-v2.json");
    size_t ipc = place_of(&p, "ipc");
    set_healthy(&p);
    set(&p, "utilization_ratio", NAN);
    set_cpu(&p, 4, "frontend_bound_ratio", 0.8);
    (void)judge(&p);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 1); // nothing is known of it
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        p.snapshot->values[snapshot_denominator(p.layout, snapshot_scope_cpu(p.layout, cpu), ipc)] = 1e12;
    (void)judge(&p);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 1);
    assert_true(fabs(p.snapshot->circumstances.outliers[0].slots - (0.8 - 0.12)) < 1e-9);
    p.snapshot->values[snapshot_denominator(p.layout, snapshot_scope_cpu(p.layout, 4), ipc)] = 3e10;
    (void)judge(&p);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 0);
    end(&p);
}

// A CPU that ran for days and now sleeps has most of the cycles since the start, and hardly any of the last round.
static void test_sleep_is_judged_by_the_last_round(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/neoverse-v2.json");
    size_t ipc = place_of(&p, "ipc");
    struct tree *tree = tree_new(p.layout);
    struct around *around = around_new(p.layout, false);
    assert_non_null(tree);
    assert_non_null(around);
    set_healthy(&p);
    set(&p, "utilization_ratio", NAN);
    set_cpu(&p, 4, "frontend_bound_ratio", 0.8);
    for (int round = 0; round < 2; round++) {
        for (size_t cpu = 0; cpu < CPUS; cpu++)
            p.snapshot->values[snapshot_denominator(p.layout, snapshot_scope_cpu(p.layout, cpu), ipc)] =
                cpu == 4 ? 1e15 + 1e9 * round : 1e12 * (1 + round);
        tree_evaluate(tree, p.snapshot, 0);
        around_fill(around, tree, p.snapshot, !p.snapshot->within_round);
    }
    assert_int_equal(p.snapshot->circumstances.n_outliers, 0);
    p.snapshot->within_round = true; // nothing new is known
    around_fill(around, tree, p.snapshot, !p.snapshot->within_round);
    assert_int_equal(p.snapshot->circumstances.n_outliers, 0);
    around_free(around);
    tree_free(tree);
    end(&p);
}

// ---- where, from round to round ----

// Snapshots of one plan that follow one another.
struct series {
    struct patient p;
    struct tree *tree;
    struct around *around;
};

static void begin_series(struct series *s, struct topology *topology) {
    begin_with(&s->p, "specs/sapphire-rapids.json", topology);
    s->tree = tree_new(s->p.layout);
    s->around = around_new(s->p.layout, false);
    assert_non_null(s->tree);
    assert_non_null(s->around);
    set_healthy(&s->p);
}

static void end_series(struct series *s) {
    around_free(s->around);
    tree_free(s->tree);
    end(&s->p);
}

// The number of sets of outliers after a round.
static size_t next_round(struct series *s) {
    around_fill(s->around, s->tree, s->p.snapshot, true);
    return s->p.snapshot->circumstances.n_outliers;
}

static void test_one_noisy_round_makes_no_outlier_and_one_good_round_ends_none(void **state) {
    (void)state;
    struct series s;
    begin_series(&s, build_cpus(0, CPUS, SOCKETS));
    // How far CPU 4 is in each round, and whether it is named then.
    const struct {
        double backend;
        size_t named;
    } rounds[] = {{0.8, 0},  {0.18, 0}, {0.18, 0}, {0.8, 0},  {0.18, 0}, {0.8, 1},   // twice in three
                  {0.18, 1}, {0.8, 1},  {0.18, 1}, {0.18, 1}, {0.18, 0}, {0.8, 0},   // three without it
                  {0.8, 1},  {0.35, 1}, {0.35, 1}, {0.35, 1}, {0.35, 1}, {0.33, 1},  // 17 points: near the limit of 20
                  {0.33, 1}, {0.33, 0}, {0.35, 0}, {0.35, 0}, {0.35, 0}, {0.35, 0}}; // and no reason to begin
    for (size_t i = 0; i < N_OF(rounds); i++) {
        set_cpu(&s.p, 4, "backend_bound_ratio", rounds[i].backend);
        assert_int_equal(next_round(&s), rounds[i].named);
    }
    end_series(&s);
}

// What is shown in a round without it is what it was.
static void test_an_outlier_that_misses_a_round_keeps_its_share(void **state) {
    (void)state;
    struct series s;
    begin_series(&s, build_cpus(0, CPUS, SOCKETS));
    set_cpu(&s.p, 4, "backend_bound_ratio", 0.8);
    (void)next_round(&s);
    assert_int_equal(next_round(&s), 1);
    set_cpu(&s.p, 4, "backend_bound_ratio", 0.18);
    assert_int_equal(next_round(&s), 1);
    assert_true(fabs(s.p.snapshot->circumstances.outliers[0].share - 0.8) < 1e-9);
    end_series(&s);
}

static void test_without_intervals_three_rounds_in_a_row_tell(void **state) {
    (void)state;
    struct series s;
    begin_series(&s, build_cpus(0, CPUS, SOCKETS));
    size_t place = place_of(&s.p, "backend_bound_ratio"), scope = snapshot_scope_cpu(s.p.layout, 4);
    const struct {
        double backend;
        size_t named;
    } rounds[] = {{0.5, 0}, {0.5, 0}, {0.18, 0}, {0.5, 0}, {0.5, 0}, {0.5, 1}};
    for (size_t i = 0; i < N_OF(rounds); i++) {
        set_cpu(&s.p, 4, "backend_bound_ratio", rounds[i].backend);
        s.p.snapshot->values[snapshot_low(s.p.layout, scope, place)] = NAN;
        assert_int_equal(next_round(&s), rounds[i].named);
    }
    end_series(&s);
}

static void test_a_new_plan_ends_no_outlier(void **state) {
    (void)state;
    struct series s, next;
    begin_series(&s, build_cpus(0, CPUS, SOCKETS));
    set_cpu(&s.p, 4, "backend_bound_ratio", 0.8);
    (void)next_round(&s);
    assert_int_equal(next_round(&s), 1);
    begin_series(&next, build_cpus(1, CPUS, SOCKETS)); // without CPU 0: the same one has another place
    set_cpu(&next.p, 3, "backend_bound_ratio", 0.8);
    around_continue(next.around, s.around);
    around_fill(next.around, next.tree, next.p.snapshot, false);
    assert_int_equal(next.p.snapshot->circumstances.n_outliers, 1);
    assert_int_equal(next.p.snapshot->circumstances.outliers[0].ranges[0].first, 4);
    end_series(&next);
    end_series(&s);
}

static void assert_named(const struct series *s, const char *expected) {
    assert_before((struct patient *)&s->p, expected);
}

static struct topology *threads(size_t sockets, size_t cores, size_t of_core) {
    struct topology_source *cpus = calloc(sockets * cores * of_core, sizeof *cpus);
    assert_non_null(cpus);
    for (size_t i = 0; i < sockets * cores * of_core; i++)
        cpus[i] = (struct topology_source){
            .id = (unsigned)i, .core = (int)(i % cores), .package = (int)(i / cores % sockets), .selected = true};
    struct topology *topology = build_topology(cpus, sockets * cores * of_core);
    free(cpus);
    return topology;
}

// Both siblings are far, and so is their core, which is named with both. A CPU that differs from its sibling is alone.
static void test_siblings_that_differ_together_are_a_core(void **state) {
    (void)state;
    struct series s;
    begin_series(&s, threads(1, 8, 2));
    set_cpu(&s.p, 3, "frontend_bound_ratio", 0.7);
    set_cpu(&s.p, 11, "frontend_bound_ratio", 0.6);
    set_cpu(&s.p, 5, "backend_bound_ratio", 0.9); // alone: its sibling is as all others
    (void)next_round(&s);
    assert_int_equal(next_round(&s), 2);
    assert_int_equal(s.p.snapshot->circumstances.outliers[0].unit, OUTLIERS_CORE);
    assert_named(&s,
                 "CPUs 3 and 11 (all threads of a core): Front-end bound, 65 % of their pipeline slots (12 % in the "
                 "median core). CPU 5: Back-end bound, 90 % of its pipeline slots (18 % in the median CPU); the rest "
                 "is fine. All CPUs together: ");
    end_series(&s);
}

// 15 points on every CPU of a socket are few for a CPU, and much for the host.
static void test_a_socket_that_differs_is_named_and_not_its_cpus(void **state) {
    (void)state;
    struct series s;
    begin_series(&s, threads(4, 8, 1));
    set_scope(&s.p, snapshot_scope_socket(2), "backend_bound_ratio", 0.33);
    for (size_t c = 16; c < 24; c++)
        set_cpu(&s.p, c, "backend_bound_ratio", 0.33);
    (void)next_round(&s);
    assert_int_equal(next_round(&s), 1);
    assert_named(&s,
                 "Socket 2: Back-end bound, 33 % of its pipeline slots (18 % in the median socket); the rest is fine. "
                 "All CPUs together: ");
    assert_true(fabs(s.p.snapshot->circumstances.outliers[0].slots - 8 * 0.6 * 0.15) < 1e-9);
    // The same mean, of two CPUs that wait all the time: these are named.
    for (size_t c = 16; c < 24; c++)
        set_cpu(&s.p, c, "backend_bound_ratio", c < 18 ? 0.78 : 0.18);
    for (int round = 0; round < 3; round++)
        (void)next_round(&s);
    assert_named(
        &s, "CPUs 16 to 17 of socket 2: Back-end bound, 78 % of their pipeline slots (18 % in the median CPU); the "
            "rest is fine. All CPUs together: ");
    end_series(&s);
}

// ---- 1,024 CPUs ----

static double noise(uint64_t *random) { // nearly normal, of deviation 1
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(random_next(random) >> 11) * 0x1p-53;
    return sum;
}

// A round of a host of 8 sockets on which every CPU has its own share and each round its own error. The intervals are
// what an estimate from eight rounds gives: Student's, of an error that is itself uncertain.
static void large_round(struct series *s, const bool *sick, bool intervals, uint64_t *random) {
    const struct snapshot_layout *layout = s->p.layout;
    size_t place = place_of(&s->p, "backend_bound_ratio");
    for (size_t c = 0; c < layout->topology->n_cpus; c++) {
        size_t scope = snapshot_scope_cpu(layout, c);
        double error = 0.05, seen = 0, usual = 0.15 + 0.05 * (double)(c % 7) / 6;
        for (int i = 0; i < 8; i++)
            seen += pow(error * noise(random), 2) / 8;
        double value = (sick[c] ? 0.61 : usual) + error * noise(random),
               half = intervals ? 2.3 * sqrt(seen) : (double)NAN;
        s->p.snapshot->values[snapshot_metric(layout, scope, place)] = value;
        s->p.snapshot->values[snapshot_low(layout, scope, place)] = value - half;
        s->p.snapshot->values[snapshot_high(layout, scope, place)] = value + half;
    }
}

static void test_of_1024_cpus_the_16_sick_ones_are_named_in_every_round(void **state) {
    (void)state;
    for (int intervals = 0; intervals < 2; intervals++) {
        struct series s;
        bool sick[1024] = {0};
        uint64_t random = 20261128;
        begin_series(&s, threads(8, 128, 1));
        for (size_t c = 0; c < 8; c++)
            sick[600 + c] = sick[904 + c] = true;
        for (int round = 0; round < 500; round++) {
            large_round(&s, sick, intervals, &random);
            (void)next_round(&s);
            if (round < 8)
                continue;
            const struct circumstances *found = &s.p.snapshot->circumstances;
            assert_int_equal(found->n_outliers, 1);
            assert_int_equal(found->outliers[0].n, 16);
            assert_int_equal(found->outliers[0].n_ranges, 2);
            assert_int_equal(found->outliers[0].ranges[0].first, 600);
            assert_int_equal(found->outliers[0].ranges[1].last, 911);
            assert_true(found->rest_is_fine);
            assert_true(fabs(found->outliers[0].share - 0.61) < 0.06);
        }
        struct text text = {0};
        view_bound_cpus(s.p.snapshot, &s.p.snapshot->circumstances.outliers[0], &text);
        text_append(&text, "", 1);
        assert_string_equal(text.data, "CPUs 600 to 607 of socket 4, and 904 to 911 of socket 7");
        text_free(&text);
        end_series(&s);
    }
}

static void test_of_1024_cpus_that_are_well_none_is_named_in_any_round(void **state) {
    (void)state;
    for (int intervals = 0; intervals < 2; intervals++) {
        struct series s;
        const bool none[1024] = {0};
        uint64_t random = 30;
        begin_series(&s, threads(8, 128, 1));
        for (int round = 0; round < 2000; round++) {
            large_round(&s, none, intervals, &random);
            assert_int_equal(next_round(&s), 0);
        }
        end_series(&s);
    }
}

// Of 64 CPUs one is hot, and its round errs as those of all others do.
static void test_one_hot_cpu_of_64_is_named(void **state) {
    (void)state;
    struct series s;
    bool sick[1024] = {0};
    uint64_t random = 64;
    sick[17] = true;
    begin_series(&s, threads(1, 64, 1));
    for (int round = 0; round < 500; round++) {
        large_round(&s, sick, true, &random);
        (void)next_round(&s);
        if (round < 8)
            continue;
        assert_int_equal(s.p.snapshot->circumstances.n_outliers, 1);
        assert_int_equal(s.p.snapshot->circumstances.outliers[0].n, 1);
        assert_int_equal(s.p.snapshot->circumstances.outliers[0].ranges[0].first, 17);
    }
    end_series(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpus_that_differ_are_named_the_largest_loss_first),
        cmocka_unit_test(test_neither_noise_nor_sleep_nor_a_wide_spread_makes_an_outlier),
        cmocka_unit_test(test_where_nothing_tells_sleep_cpus_that_hardly_run_are_no_outliers),
        cmocka_unit_test(test_sleep_is_judged_by_the_last_round),
        cmocka_unit_test(test_one_noisy_round_makes_no_outlier_and_one_good_round_ends_none),
        cmocka_unit_test(test_an_outlier_that_misses_a_round_keeps_its_share),
        cmocka_unit_test(test_without_intervals_three_rounds_in_a_row_tell),
        cmocka_unit_test(test_a_new_plan_ends_no_outlier),
        cmocka_unit_test(test_siblings_that_differ_together_are_a_core),
        cmocka_unit_test(test_a_socket_that_differs_is_named_and_not_its_cpus),
        cmocka_unit_test(test_of_1024_cpus_the_16_sick_ones_are_named_in_every_round),
        cmocka_unit_test(test_of_1024_cpus_that_are_well_none_is_named_in_any_round),
        cmocka_unit_test(test_one_hot_cpu_of_64_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
