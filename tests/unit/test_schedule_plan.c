// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include "config/spec/spec_json.h"
#include "core/plan/schedule.h"

// Which event group a core counts at which tick, where the idle pieces are, and when rounds begin
// (core/plan/schedule.h).

#define SECOND_NS UINT64_C(1000000000)

enum { ROUNDS = 10000, ENTRIES_MAX = 2048 };

struct setup {
    struct catalog *catalog;
    struct plan *plan;
};

// Four event groups that share no event. Three of them have `weight` slots in a round and the fourth has one.
static void setup_init(struct setup *setup, unsigned weight, uint64_t slot_ns, double idle) {
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    metric_of(builder, "ef", "E / F", NULL);
    metric_of(builder, "gh", "G / H", NULL);
    group_of(builder, "Three", "ab cd ef");
    group_of(builder, "One", "gh");
    const struct plan_selection selections[] = {{0, weight}, {1, 1}};
    setup->catalog = catalog_builder_finish(builder);
    setup->plan = build_plan(&(struct plan_request){.catalog = setup->catalog,
                                                    .general_counters = 2,
                                                    .selections = selections,
                                                    .n_selections = 2,
                                                    .slot_ns = slot_ns,
                                                    .idle = idle});
}

static void setup_deinit(struct setup *setup) {
    plan_free(setup->plan);
    catalog_free(setup->catalog);
}

// Rounds of 7 entries of 1 s, with an idle slot that is no entry of the orders.
static struct schedule schedule_of_7(struct setup *setup, size_t n_cores, uint64_t seed) {
    setup_init(setup, 2, SECOND_NS, 0.1);
    struct schedule schedule = schedule_of(setup->plan, n_cores, PLAN_INTERVAL_NS, seed);
    assert_int_equal(schedule.n_entries, 7);
    assert_int_equal(schedule.n_ticks, 7);
    return schedule;
}

// Whatever plans and hosts there are.
static struct schedule random_schedule(struct setup *setup, uint64_t *random) {
    static const double idles[] = {0, 0.05, 0.1, 0.5, 0.9};
    setup_init(setup, 1 + (unsigned)random_below(random, 100), 1000000 + random_below(random, SECOND_NS),
               idles[random_below(random, N_OF(idles))]);
    return schedule_of(setup->plan, 1 + random_below(random, 1024), 1 + random_below(random, 10 * SECOND_NS),
                       random_next(random));
}

// ---- orders ----

static void test_an_order_holds_every_entry_once_and_can_be_repeated(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    for (int i = 0; i < 300; i++) {
        struct setup setup;
        struct schedule schedule = random_schedule(&setup, &random);
        size_t core = random_below(&random, schedule.n_cores);
        uint64_t round = random_next(&random);
        unsigned order[ENTRIES_MAX], again[ENTRIES_MAX];
        bool seen[ENTRIES_MAX] = {false};
        assert_true(schedule.n_entries <= ENTRIES_MAX);
        schedule_order(&schedule, core, round, order);
        schedule_order(&schedule, core, round, again);
        assert_memory_equal(order, again, schedule.n_entries * sizeof *order);
        for (size_t j = 0; j < schedule.n_entries; j++) {
            assert_true(order[j] < schedule.n_entries && !seen[order[j]]);
            assert_true(setup.plan->round[order[j]] < setup.plan->n_units); // not the idle slot
            seen[order[j]] = true;
        }
        setup_deinit(&setup);
    }
}

static void test_each_entry_is_once_at_each_place_of_a_blocks_cores(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    for (int i = 0; i < 50; i++) {
        struct setup setup;
        setup_init(&setup, 1 + (unsigned)random_below(&random, 6), SECOND_NS, 0.1);
        struct schedule schedule = schedule_of(setup.plan, 256, PLAN_INTERVAL_NS, random_next(&random));
        size_t n = schedule.n_entries, blocks = schedule.n_cores / schedule.n_cohorts / n;
        uint64_t round = random_below(&random, 1000);
        assert_true(blocks > 0 && n <= 32);
        for (size_t block = 0; block < blocks * schedule.n_cohorts; block++) {
            unsigned at_place[32] = {0}, order[32]; // bit e: entry e was there
            for (size_t j = 0; j < n; j++) {
                size_t in_cohort = block / schedule.n_cohorts * n + j;
                schedule_order(&schedule, in_cohort * schedule.n_cohorts + block % schedule.n_cohorts, round, order);
                for (size_t place = 0; place < n; place++)
                    at_place[place] |= 1u << order[place];
            }
            for (size_t place = 0; place < n; place++)
                assert_int_equal(at_place[place], (1u << n) - 1);
        }
        setup_deinit(&setup);
    }
}

// The first entries of two streams of orders, counted together: as independent as 49 cells of 10,000 can show.
// Chi-square with 48 degrees of freedom is above 110 once in a million.
static void check_independent(const struct schedule *a, const struct schedule *b, size_t core_b, uint64_t round_shift) {
    double pairs[7][7] = {0}, chi_square = 0, expected = (double)ROUNDS / 49;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        unsigned of_a[7], of_b[7];
        schedule_order(a, 0, round, of_a);
        schedule_order(b, core_b, round + round_shift, of_b);
        pairs[of_a[0]][of_b[0]]++;
    }
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++)
            chi_square += (pairs[i][j] - expected) * (pairs[i][j] - expected) / expected;
    if (chi_square > 110)
        fail_msg("core %zu, %llu rounds on, seed %llu: chi-square %g", core_b, (unsigned long long)round_shift,
                 (unsigned long long)b->seed, chi_square);
}

static void test_orders_of_other_blocks_cohorts_rounds_and_seeds_are_independent(void **state) {
    (void)state;
    struct setup setup;
    struct schedule few = schedule_of_7(&setup, 15, 1), many = schedule_of(setup.plan, 64, PLAN_INTERVAL_NS, 1);
    assert_int_equal(few.n_cohorts, 1);
    check_independent(&few, &few, 7, 0); // the next blocks
    check_independent(&few, &few, 14, 0);
    check_independent(&few, &few, 13, 0); // at another place of its block
    assert_int_equal(many.n_cohorts, 4);  // rounds of 7.8 s
    for (size_t core = 1; core < 4; core++)
        check_independent(&many, &many, core, 0); // the first blocks of the other cohorts
    check_independent(&many, &many, 28, 0);       // the next block of the same cohort
    for (uint64_t shift = 1; shift < 8; shift++) {
        check_independent(&few, &few, 0, shift);
        check_independent(&few, &few, (size_t)shift % 7, shift); // within a block
    }
    for (uint64_t seed = 2; seed < 6; seed++) {
        struct schedule other = schedule_of(setup.plan, 15, PLAN_INTERVAL_NS, seed);
        check_independent(&few, &other, 0, 0);
        check_independent(&few, &other, 3, 0);
    }
    setup_deinit(&setup);
}

static void test_every_entry_comes_at_every_place_equally_often(void **state) {
    (void)state;
    struct setup setup;
    struct schedule schedule = schedule_of_7(&setup, 16, 42);
    double expected = (double)ROUNDS / 7, deviation = sqrt(expected * (1 - 1.0 / 7));
    for (size_t core = 0; core < 16; core++) {
        double counts[7][7] = {0};
        for (uint64_t round = 0; round < ROUNDS; round++) {
            unsigned order[7];
            schedule_order(&schedule, core, round, order);
            for (size_t place = 0; place < 7; place++)
                counts[order[place]][place]++;
        }
        for (size_t i = 0; i < 7; i++)
            for (size_t j = 0; j < 7; j++)
                assert_true(fabs(counts[i][j] - expected) < 5 * deviation); // 784 of them
    }
    setup_deinit(&setup);
}

// Two neighbours in a block differ by any distance equally often: no event group always follows the same one.
static void test_places_in_a_block_are_drawn_anew_in_each_round(void **state) {
    (void)state;
    struct setup setup;
    struct schedule schedule = schedule_of_7(&setup, 7, 3);
    double counts[7] = {0}, expected = (double)ROUNDS / 6;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        unsigned first[7], second[7];
        size_t distance = 0;
        schedule_order(&schedule, 0, round, first);
        schedule_order(&schedule, 1, round, second);
        while (first[distance] != second[0])
            distance++;
        for (size_t place = 0; place < 7; place++) // the same cycle
            assert_int_equal(second[place], first[(place + distance) % 7]);
        counts[distance]++;
    }
    assert_true(counts[0] == 0);
    for (size_t distance = 1; distance < 7; distance++)
        assert_true(fabs(counts[distance] - expected) < 5 * sqrt(expected));
    setup_deinit(&setup);
}

// ---- idle pieces ----

static void test_the_pieces_of_a_round_add_up_to_its_idle_time_and_each_part_has_one(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    for (int i = 0; i < 300; i++) {
        struct setup setup;
        struct schedule schedule = random_schedule(&setup, &random);
        uint64_t n = schedule.n_pieces, first = random_below(&random, 1000) * schedule.n_ticks;
        assert_true((n == 0) == (setup.plan->idle_ns == 0) && n <= schedule.n_ticks);
        for (unsigned round = 0; round < 3; round++, first += schedule.n_ticks) {
            uint64_t sum_ns = 0, pieces = 0;
            for (uint64_t at = 0; at < schedule.n_ticks; at++) {
                uint64_t piece_ns = schedule_piece_ns(&schedule, first + at);
                if (piece_ns == 0)
                    continue;
                assert_int_equal(at * n / schedule.n_ticks, pieces); // the part of this tick has had none yet
                assert_true(piece_ns >= setup.plan->idle_ns / n && piece_ns <= setup.plan->idle_ns / n + 1);
                sum_ns += piece_ns;
                pieces++;
            }
            assert_int_equal(pieces, n);
            assert_true(sum_ns == setup.plan->idle_ns);
        }
        setup_deinit(&setup);
    }
}

static void test_pieces_come_about_each_three_quarters_of_a_second(void **state) {
    (void)state;
    static const struct {
        unsigned weight; // 3 x weight + 1 slots
        uint64_t slot_ns;
        double idle;
        unsigned n_pieces;
    } cases[] = {
        {33, SECOND_NS / 5, 0.1, 30}, // 20 s and 20/9 s: 22.22 / 0.75 = 29.6
        {3, SECOND_NS / 5, 0.5, 5},   // 4 s: 5.3
        {3, 3 * SECOND_NS, 0.1, 10},  // 33 s, but only ten slots
        {3, SECOND_NS / 100, 0.1, 1}, // at least a second: 1.1 s
        {3, SECOND_NS / 5, 0, 0},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct setup setup;
        setup_init(&setup, cases[i].weight, cases[i].slot_ns, cases[i].idle);
        struct schedule schedule = schedule_of(setup.plan, 8, PLAN_INTERVAL_NS, 1);
        assert_int_equal(schedule.n_pieces, cases[i].n_pieces);
        setup_deinit(&setup);
    }
}

static void test_a_piece_is_at_every_place_of_its_part_equally_often(void **state) {
    (void)state;
    struct setup setup;
    setup_init(&setup, 33, SECOND_NS / 20, 0.1); // 100 ticks, 5.56 s: 7 parts of 14 or 15
    struct schedule schedule = schedule_of(setup.plan, 8, PLAN_INTERVAL_NS, 7);
    assert_int_equal(schedule.n_ticks, 100);
    assert_int_equal(schedule.n_pieces, 7);
    double counts[100] = {0};
    for (uint64_t tick = 0; tick < ROUNDS * UINT64_C(100); tick++)
        counts[tick % 100] += schedule_piece_ns(&schedule, tick) > 0;
    for (unsigned at = 0; at < 100; at++) {
        unsigned part = at * 7 / 100, size = 0;
        for (unsigned other = 0; other < 100; other++)
            size += other * 7 / 100 == part;
        double expected = (double)ROUNDS / size;
        if (!(fabs(counts[at] - expected) < 5 * sqrt(expected)))
            fail_msg("tick %u: %g pieces, should be %g", at, counts[at], expected);
    }
    setup_deinit(&setup);
}

static void test_places_of_pieces_differ_by_round_part_and_seed(void **state) {
    (void)state;
    struct setup setup;
    setup_init(&setup, 33, SECOND_NS / 20, 0.1);
    struct schedule a = schedule_of(setup.plan, 8, PLAN_INTERVAL_NS, 7), b = a;
    b.seed = 8;
    unsigned both = 0, of_a = 0, next = 0;
    for (uint64_t tick = 0; tick < 100000; tick++) {
        bool is_a = schedule_piece_ns(&a, tick) > 0;
        of_a += is_a;
        both += is_a && schedule_piece_ns(&b, tick) > 0;
        next += is_a && schedule_piece_ns(&a, tick + 100) > 0;
    }
    assert_int_equal(of_a, 7000);
    assert_in_range(both, 400, 580); // 7,000 / 14.3, within 4 deviations
    assert_in_range(next, 400, 580);
    setup_deinit(&setup);
}

// ---- cohorts ----

static void test_every_core_is_in_a_cohort_and_cohorts_begin_one_after_the_other(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    for (int i = 0; i < 300; i++) {
        struct setup setup;
        struct schedule schedule = random_schedule(&setup, &random);
        unsigned n = schedule.n_cohorts, sizes[512] = {0};
        assert_in_range(n, 1, 512);
        for (size_t core = 0; core < schedule.n_cores; core++) {
            assert_true(schedule_cohort(&schedule, core) < n);
            sizes[schedule_cohort(&schedule, core)]++;
        }
        assert_int_equal(schedule_cohort_tick(&schedule, 0), 0);
        for (unsigned cohort = 0; cohort < n; cohort++) {
            assert_true(n == 1 || sizes[cohort] >= SCHEDULE_COHORT_CORES);
            assert_true(sizes[cohort] <= sizes[0] && sizes[cohort] + 1 >= sizes[0]);
            assert_true(schedule_cohort_tick(&schedule, cohort) < schedule.n_ticks);
            assert_true(schedule_interval_begins(&schedule, schedule_cohort_tick(&schedule, cohort)));
            assert_true(cohort == 0 ||
                        schedule_cohort_tick(&schedule, cohort) > schedule_cohort_tick(&schedule, cohort - 1));
        }
        setup_deinit(&setup);
    }
}

// Whatever the host: a snapshot interval is as long as it should be, to half of it or a slot.
static void test_every_host_has_a_snapshot_an_interval(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    for (int i = 0; i < 300; i++) {
        struct setup setup;
        struct schedule schedule = random_schedule(&setup, &random);
        uint64_t begun = 0, longest = 0, tick_ns = setup.plan->round_ns / schedule.n_ticks;
        unsigned n = 0;
        for (uint64_t at = 1; at <= schedule.n_ticks; at++) {
            if (!schedule_interval_begins(&schedule, 5 * (uint64_t)schedule.n_ticks + at))
                continue;
            longest = at - begun > longest ? at - begun : longest;
            assert_true(schedule.n_intervals == 1 || at - begun + 1 >= schedule.n_ticks / schedule.n_intervals);
            begun = at;
            n++;
        }
        assert_int_equal(n, schedule.n_intervals);
        assert_int_equal(begun, schedule.n_ticks);
        uint64_t longest_ns = longest * tick_ns, interval_ns = schedule_interval_ns(&schedule);
        assert_true(interval_ns >= longest_ns && interval_ns - longest_ns <= schedule.n_ticks);
        setup_deinit(&setup);
    }
}

static void test_snapshots_are_an_interval_apart_where_slots_allow_and_cohorts_where_cores_do(void **state) {
    (void)state;
    static const struct {
        size_t n_cores;
        uint64_t interval_ns;
        unsigned n_intervals, n_cohorts;
        bool reads_all;
    } cases[] = {{1, 2 * SECOND_NS, 4, 1, true}, // 7.78 s
                 {15, 2 * SECOND_NS, 4, 1, true},
                 {16, 2 * SECOND_NS, 4, 2, true},
                 {23, 2 * SECOND_NS, 4, 2, true},
                 {24, 2 * SECOND_NS, 4, 3, true},
                 {32, 2 * SECOND_NS, 4, 4, false},
                 {1024, 2 * SECOND_NS, 4, 4, false},
                 {1024, SECOND_NS, 7, 7, false},
                 {1024, 1, 7, 7, false}, // no more than slots
                 {1024, 8 * SECOND_NS, 1, 1, false},
                 {1, 8 * SECOND_NS, 1, 1, false},
                 {1024, 0, 1, 1, false},
                 {1, 0, 1, 1, false}}; // a whole round
    struct setup setup;
    (void)schedule_of_7(&setup, 1, 1);
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct schedule schedule = schedule_of(setup.plan, cases[i].n_cores, cases[i].interval_ns, 1);
        assert_int_equal(schedule.n_intervals, cases[i].n_intervals);
        assert_int_equal(schedule.n_cohorts, cases[i].n_cohorts);
        assert_int_equal(schedule_reads_all(&schedule), cases[i].reads_all);
    }
    setup_deinit(&setup);
}

// ---- cores that are held ----

static void test_a_core_is_held_for_ten_slots_on_average(void **state) {
    (void)state;
    struct setup setup;
    struct schedule schedule = schedule_of_7(&setup, 8, 5);
    double sum = 0, together = 0;
    for (uint64_t tick = 0; tick < ROUNDS; tick++) {
        uint64_t hold_ns = schedule_hold_ns(&schedule, 3, tick);
        assert_true(hold_ns >= 5 * SECOND_NS && hold_ns <= 15 * SECOND_NS);
        sum += (double)hold_ns;
        uint64_t other_ns = schedule_hold_ns(&schedule, 4, tick);
        together += (hold_ns > 10 * SECOND_NS) == (other_ns > 10 * SECOND_NS);
    }
    assert_true(fabs(sum / ROUNDS / 1e9 - 10) < 5 * 10 / sqrt(12) / sqrt(ROUNDS));
    assert_true(fabs(together / ROUNDS - 0.5) < 5 * 0.5 / sqrt(ROUNDS)); // cores do not go on together
    setup_deinit(&setup);
}

static void test_a_core_slept_that_was_busy_for_less_than_a_quarter_of_a_slot(void **state) {
    (void)state;
    struct setup setup;
    struct schedule schedule = schedule_of_7(&setup, 8, 5);
    assert_true(schedule_slept(&schedule, 0) && schedule_slept(&schedule, 249999999));
    assert_false(schedule_slept(&schedule, 250000000));
    setup_deinit(&setup);
}

static void test_composites_are_never_held_nor_is_what_does_not_rotate(void **state) {
    (void)state;
    static struct errors errors;
    struct setup setup;
    struct catalog *catalog;
    struct schedule schedule = schedule_of_7(&setup, 8, 5);
    assert_true(schedule_may_hold(&schedule));
    setup_deinit(&setup);
    assert_int_equal(spec_json_load("specs/neoverse-v2.json", NULL, &errors, &catalog), 0);
    struct plan *plan = plan_of_all(catalog, 2, 0.1); // level 1 takes three event groups
    schedule = schedule_of(plan, 8, PLAN_INTERVAL_NS, 1);
    assert_false(schedule_may_hold(&schedule));
    plan_free(plan);
    plan = plan_of(catalog, 2, 0.1, NULL, 0); // nothing
    schedule = schedule_of(plan, 8, PLAN_INTERVAL_NS, 1);
    assert_false(schedule_may_hold(&schedule));
    assert_int_equal(schedule.n_ticks, 1);
    assert_int_equal(schedule.n_cohorts, 1);
    assert_true(schedule.tick_ns == plan->round_ns);
    for (uint64_t tick = 0; tick < 3; tick++) {
        assert_true(schedule_piece_ns(&schedule, tick) == 0);
        assert_true(schedule_interval_begins(&schedule, tick));
    }
    plan_free(plan);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_order_holds_every_entry_once_and_can_be_repeated),
        cmocka_unit_test(test_each_entry_is_once_at_each_place_of_a_blocks_cores),
        cmocka_unit_test(test_orders_of_other_blocks_cohorts_rounds_and_seeds_are_independent),
        cmocka_unit_test(test_every_entry_comes_at_every_place_equally_often),
        cmocka_unit_test(test_places_in_a_block_are_drawn_anew_in_each_round),
        cmocka_unit_test(test_the_pieces_of_a_round_add_up_to_its_idle_time_and_each_part_has_one),
        cmocka_unit_test(test_pieces_come_about_each_three_quarters_of_a_second),
        cmocka_unit_test(test_a_piece_is_at_every_place_of_its_part_equally_often),
        cmocka_unit_test(test_places_of_pieces_differ_by_round_part_and_seed),
        cmocka_unit_test(test_every_core_is_in_a_cohort_and_cohorts_begin_one_after_the_other),
        cmocka_unit_test(test_every_host_has_a_snapshot_an_interval),
        cmocka_unit_test(test_snapshots_are_an_interval_apart_where_slots_allow_and_cohorts_where_cores_do),
        cmocka_unit_test(test_a_core_is_held_for_ten_slots_on_average),
        cmocka_unit_test(test_a_core_slept_that_was_busy_for_less_than_a_quarter_of_a_slot),
        cmocka_unit_test(test_composites_are_never_held_nor_is_what_does_not_rotate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
