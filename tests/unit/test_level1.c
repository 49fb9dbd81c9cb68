// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "config/spec/spec_json.h"
#include "core/base/random.h"
#include "core/base/span.h"
#include "core/base/total.h"
#include "core/counts/level1.h"

// Pipeline slots that add up, their sums over years, and the time that they represent.

// ---- split ----

enum { CYCLES = 1, A, B, C, D };

// Four categories over the events CYCLES and A to D, 4 pipeline slots a cycle.
static struct catalog *four_categories(void) {
    static const char *const events[] = {"CYCLES", "A", "B", "C", "D"};
    static const char *const names[] = {"frontend_bound", "bad_speculation", "retiring", "backend_bound"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    struct fault error;
    metric_of(builder, names[0], "100 * (A / (4 * CYCLES) - D / CYCLES)", "percent of slots");
    metric_of(builder, names[1], "100 * (B / (4 * CYCLES) + D / CYCLES)", "percent of slots");
    metric_of(builder, names[2], "100 * (C / (4 * CYCLES))", "percent of slots");
    metric_of(builder, names[3], "100 * (1 - (A + B + C) / (4 * CYCLES))", "percent of slots");
    assert_int_equal(
        catalog_builder_set_level1(builder, LEVEL1_USUAL,
                                   &(struct catalog_level1_text){.pipeline_slots = "4 * CYCLES", .width = 4}, &error),
        0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(catalog_builder_set_category(builder, LEVEL1_USUAL, (enum category)i, names[i], &error), 0);
    return catalog_builder_finish(builder);
}

enum { LANE = 5 }; // of the window at hand, among others

static struct lanes *among_others(const struct catalog *catalog, const double *counts) {
    struct lanes *windows = calloc(catalog->n_events, sizeof *windows);
    assert_non_null(windows);
    for (size_t e = 0; e < catalog->n_events; e++)
        for (size_t l = 0; l < LANES; l++)
            windows[e].of[l] = l == LANE ? counts[e] : (double)((l + 1) * 1000 + e);
    return windows;
}

// Splits a window. False if that is impossible; the outputs are untouched then.
static bool split(const struct catalog *catalog, const double *counts, double *categories, double *slots) {
    struct lanes *windows = among_others(catalog, counts), *values = calloc(catalog->n_metrics, sizeof *values);
    struct level1_split all;
    assert_non_null(values);
    level1_split(catalog, windows, values, &all);
    for (size_t i = 0; i < catalog->level1.n_categories && all.possible[LANE]; i++)
        categories[i] = all.categories[i].of[LANE];
    *slots = all.possible[LANE] ? all.slots.of[LANE] : *slots;
    free(values);
    free(windows);
    return all.possible[LANE];
}

static double contention(const struct catalog *catalog, const double *counts) {
    struct lanes *windows = among_others(catalog, counts);
    double slots = level1_contention(catalog, windows).of[LANE];
    free(windows);
    return slots;
}

static bool near(double a, double b, double relative) { return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)); }

static void test_a_split_shares_out_all_pipeline_slots(void **state) {
    (void)state;
    struct catalog *catalog = four_categories();
    const double counts[] = {0, 1000, 800, 200, 2000, 50};
    double slots = 0, categories[4];
    assert_true(split(catalog, counts, categories, &slots));
    assert_true(slots == 4000);
    const double wanted[] = {600, 400, 2000, 1000};
    for (size_t i = 0; i < 4; i++)
        assert_true(near(categories[i], wanted[i], 1e-12));
    catalog_free(catalog);
}

static void test_a_negative_share_stays_negative(void **state) {
    (void)state;
    struct catalog *catalog = four_categories();
    const double counts[] = {0, 1000, 100, 500, 3450, 50}; // A - 4 D: -100; the rest: -50
    double slots, categories[4];
    assert_true(split(catalog, counts, categories, &slots));
    const double wanted[] = {-100, 700, 3450, -50};
    for (size_t i = 0; i < 4; i++)
        assert_true(near(categories[i], wanted[i], 1e-12));
    catalog_free(catalog);
}

static void test_shares_that_do_not_add_up_to_1_are_scaled(void **state) {
    (void)state;
    static const char *const events[] = {"CYCLES", "A", "B"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    level1_of(builder, "4 * CYCLES", "A / CYCLES", "B / CYCLES");
    const double counts[] = {0, 1000, 300, 500}; // shares 0.3 and 0.5 of 0.8
    double slots, categories[2];
    struct catalog *catalog = catalog_builder_finish(builder);
    assert_true(split(catalog, counts, categories, &slots));
    assert_true(near(categories[0], 1500, 1e-12));
    assert_true(near(categories[1], 2500, 1e-12));
    catalog_free(catalog);
}

static void test_random_splits_add_up(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct catalog *catalog = four_categories();
    size_t negative = 0;
    for (int i = 0; i < 100000; i++) {
        double cycles = 1 + (double)random_below(&random, UINT64_C(1) << 40);
        const double counts[] = {0,
                                 cycles,
                                 2 * cycles * random_unit(&random),
                                 cycles * random_unit(&random),
                                 2 * cycles * random_unit(&random),
                                 0.1 * cycles * random_unit(&random)};
        double slots, categories[4], sum = 0, size = 0;
        assert_true(split(catalog, counts, categories, &slots));
        assert_true(slots == 4 * cycles);
        for (size_t c = 0; c < 4; c++) {
            sum += categories[c];
            size += fabs(categories[c]);
            negative += categories[c] < 0;
        }
        assert_true(fabs(sum - slots) <= 1e-12 * size);
    }
    assert_true(negative > 1000);
    catalog_free(catalog);
}

static void test_no_pipeline_slots_are_shared_out_as_none(void **state) {
    (void)state;
    struct catalog *catalog = four_categories();
    const double counts[] = {0, 0, 0, 0, 0, 0};
    double slots = 7, categories[4] = {7, 7, 7, 7};
    assert_true(split(catalog, counts, categories, &slots));
    assert_true(slots == 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(categories[i] == 0);
    catalog_free(catalog);
}

// A thread of six slots a cycle after one that lost nothing: its sibling got all of its slots, so that none of the
// core's is its own.
static void test_a_thread_that_lost_all_its_slots_says_how_many(void **state) {
    (void)state;
    struct errors errors = {0};
    struct catalog *catalog;
    assert_int_equal(spec_json_load("specs/zen4.json", NULL, &errors, &catalog), 0);
    double *counts = calloc(catalog->n_events, sizeof *counts);
    double categories[CATEGORY_N], slots;
    assert_true(counts && catalog->level1.per_thread);
    counts[catalog_find_event(catalog, "ls_not_halted_cyc")] = 1000;
    counts[catalog_find_event(catalog, "de_src_op_disp.all")] = 6000;
    counts[catalog_find_event(catalog, "ex_ret_ops")] = 6000;
    counts[catalog->core_slots[CORE_SLOTS_ALL]] = 6000;
    assert_true(split(catalog, counts, categories, &slots) && slots == 6000);
    assert_true(contention(catalog, counts) == 0);
    counts[catalog_find_event(catalog, "de_src_op_disp.all")] = counts[catalog_find_event(catalog, "ex_ret_ops")] = 0;
    counts[catalog->core_slots[CORE_SLOTS_ALL]] = 0;
    counts[catalog_find_event(catalog, "de_no_dispatch_per_slot.smt_contention")] = 6000;
    assert_true(split(catalog, counts, categories, &slots) && slots == 0);
    assert_true(contention(catalog, counts) == 6000);
    free(counts);
    catalog_free(catalog);
}

static void test_what_cannot_be_split_leaves_the_outputs_alone(void **state) {
    (void)state;
    static const char *const events[] = {"CYCLES", "A", "B", "C"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    level1_of(builder, "4 * CYCLES", "A / B", "1 - A / C");
    const double bad[][5] = {
        {0, NAN, 1, 1, 2},    // no pipeline slots to share out
        {0, -1000, 1, 1, 2},  // less than none
        {0, 1000, NAN, 1, 2}, // no shares
        {0, 1000, 1, 0, 2},   // a share divides by zero
        {0, 1000, 6, 3, 2},   // shares 2 and -2 add up to nothing
        {0, 1000, 6, 3, 1},   // 2 and -5 to less than nothing
    };
    struct catalog *catalog = catalog_builder_finish(builder);
    for (size_t i = 0; i < N_OF(bad); i++) {
        double slots = 7, categories[2] = {7, 7};
        assert_false(split(catalog, bad[i], categories, &slots));
        assert_true(slots == 7 && categories[0] == 7 && categories[1] == 7);
    }
    catalog_free(catalog);
}

static void test_a_share_made_of_what_has_no_value_is_no_share(void **state) {
    (void)state;
    static const char *const events[] = {"CYCLES", "A", "B", "C"};
    static const char *const shares[] = {"max(A / B, 0)", "0.5 if A / B < 1 else 0", "A / B > 1"};
    for (size_t i = 0; i < N_OF(shares); i++) {
        struct catalog_builder *builder = builder_of(events, N_OF(events));
        level1_of(builder, "4 * CYCLES", "C / CYCLES", shares[i]);
        const double counts[] = {0, 1000, 0, 0, 300}, later[] = {0, 1000, 1, 2, 300};
        double slots = 7, categories[2] = {7, 7};
        struct catalog *catalog = catalog_builder_finish(builder);
        assert_false(split(catalog, counts, categories, &slots));
        assert_true(slots == 7 && categories[0] == 7 && categories[1] == 7);
        assert_true(split(catalog, later, categories, &slots));
        catalog_free(catalog);
    }
}

// ---- increase ----

// About normal, mean 0 and deviation 1: the sum of 12 uniform numbers.
static double random_normal(uint64_t *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_unit(random);
    return sum;
}

// Signed slots of 4 categories: true shares 1, 30, 40 and 29 %; noise, as a share of all slots, goes from the first to
// the last. Returns all slots.
static double noisy_slots(uint64_t *random, double deviation, double *slots) {
    double all = 1e9 * (0.5 + random_unit(random)), noise = deviation * random_normal(random);
    slots[0] = (0.01 + noise) * all;
    slots[1] = 0.30 * all;
    slots[2] = 0.40 * all;
    slots[3] = (0.29 - noise) * all;
    return all;
}

static void test_an_increase_adds_up_is_never_negative_and_loses_nothing(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct level1_debt debt = {0};
    double given[4] = {0}, signed_sum[4] = {0}, slots[4], increase[4];
    int withheld = 0;
    for (int i = 0; i < 100000; i++) {
        double all = noisy_slots(&random, 0.01, slots), sum = 0;
        level1_increase(slots, 4, &debt, increase);
        for (size_t c = 0; c < 4; c++) {
            assert_true(increase[c] >= 0);
            sum += increase[c];
            given[c] += increase[c];
            signed_sum[c] += slots[c];
            assert_true(fabs(given[c] + debt.owed[c] - signed_sum[c]) <= 1e-9 * signed_sum[3]);
        }
        withheld += debt.owed[0] < -1e3; // not by rounding alone
        assert_true(near(sum, all, 1e-9));
    }
    assert_in_range(withheld, 1000, 99000);
}

// Counts 100,000 windows in which the first category has 1 % of the slots. Clipping each window at 0 would count the
// mean of max(0, x) for x normal: mean Phi(mean / deviation) + deviation phi(mean / deviation).
static void check_share_of_1_percent(double deviation, double clipped_wanted) {
    uint64_t random = 20240607;
    struct level1_debt debt = {0};
    double given = 0, signed_sum = 0, clipped = 0, all = 0, slots[4], increase[4];
    for (int i = 0; i < 100000; i++) {
        all += noisy_slots(&random, deviation, slots);
        level1_increase(slots, 4, &debt, increase);
        given += increase[0];
        signed_sum += slots[0];
        clipped += fmax(slots[0], 0);
    }
    double percent = 100 * given / all, clipped_percent = 100 * clipped / all;
    print_message("1 %% under noise of %g %%: counted %.4f %%, by clipping it would be %.4f %%\n", 100 * deviation,
                  percent, clipped_percent);
    assert_true(fabs(percent - 1) < 0.05);
    assert_true(fabs(given - signed_sum) < 1e-3 * signed_sum);
    assert_true(fabs(clipped_percent - clipped_wanted) < 0.02);
}

static void test_a_share_of_1_percent_under_noise_is_counted_as_1_percent(void **state) {
    (void)state;
    check_share_of_1_percent(0.01, 0.8413 + 0.2420);
    check_share_of_1_percent(0.02, 0.6915 + 2 * 0.3521); // the 1.4 % that clipping is known for
}

static void test_an_increase_is_what_was_signed_where_nothing_is_negative(void **state) {
    (void)state;
    const double slots[] = {100, 0, 300};
    struct level1_debt debt = {0};
    double increase[3];
    level1_increase(slots, 3, &debt, increase);
    for (size_t i = 0; i < 3; i++) {
        assert_true(near(increase[i], slots[i], 1e-15));
        assert_true(fabs(debt.owed[i]) < 1e-12);
    }
}

static void test_what_one_category_owes_the_others_give_up(void **state) {
    (void)state;
    const double first[] = {-100, 300, 700}, second[] = {200, 300, 400};
    struct level1_debt debt = {0};
    double increase[3];
    level1_increase(first, 3, &debt, increase); // 900 slots among 300 and 700
    assert_true(increase[0] == 0 && near(increase[1], 270, 1e-12) && near(increase[2], 630, 1e-12));
    assert_true(near(debt.owed[0], -100, 1e-12) && near(debt.owed[1], 30, 1e-12) && near(debt.owed[2], 70, 1e-12));
    level1_increase(second, 3, &debt, increase); // 200 - 100, 300 + 30, 400 + 70: nobody owes any more
    assert_true(near(increase[0], 100, 1e-12) && near(increase[1], 330, 1e-12) && near(increase[2], 470, 1e-12));
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(debt.owed[i]) < 1e-9);
}

static void test_a_window_without_slots_increases_nothing_and_changes_no_debt(void **state) {
    (void)state;
    const double slots[] = {0, 0, 0};
    struct level1_debt debt = {.owed = {-100, 30, 70}};
    double increase[] = {1, 1, 1};
    level1_increase(slots, 3, &debt, increase);
    assert_true(increase[0] == 0 && increase[1] == 0 && increase[2] == 0);
    assert_true(debt.owed[0] == -100 && debt.owed[1] == 30 && debt.owed[2] == 70);
}

static void test_a_debt_is_bounded_and_paid_back(void **state) {
    (void)state;
    const double bad[] = {-300, 400, 900}, good[] = {300, 300, 400};
    struct level1_debt debt = {0};
    double increase[3];
    for (int i = 0; i < 1000; i++) {
        level1_increase(bad, 3, &debt, increase);
        assert_true(increase[0] == 0);
        assert_true(debt.owed[0] >= -1000 * LEVEL1_DEBT_MAX - 1e-6);
        assert_true(fabs(debt.owed[0] + debt.owed[1] + debt.owed[2]) < 1e-6);
        assert_true(near(increase[0] + increase[1] + increase[2], 1000, 1e-9));
    }
    assert_true(debt.owed[0] < -999 * LEVEL1_DEBT_MAX);
    int silent = 0;
    do {
        level1_increase(good, 3, &debt, increase);
        silent++;
    } while (increase[0] == 0);
    assert_int_equal(silent, 334); // 100,000 of debt, 300 a window
}

// Busy and quiet rounds in random order; a true share of 1 % under 2 points of noise. Counted is what was signed, to 2
// %: what is still owed at the end, and nothing forgiven.
static void check_busy_and_quiet(uint64_t *random, double busy_share, double quiet) {
    struct level1_debt debt = {0};
    double increase[2], given = 0, signed_sum = 0;
    for (int i = 0; i < 200000; i++) {
        double slots = 1e10 * (random_unit(random) < busy_share ? 1 : quiet);
        double share = 0.01 + 0.02 * random_normal(random);
        level1_increase((const double[]){share * slots, (1 - share) * slots}, 2, &debt, increase);
        given += increase[0];
        signed_sum += share * slots;
    }
    if (fabs(given - signed_sum) > 0.02 * signed_sum)
        fail_msg("busy %g, quiet rounds of %g: %g counted instead of %g", busy_share, quiet, given, signed_sum);
}

static void test_quiet_rounds_forgive_nothing_of_busy_ones(void **state) {
    (void)state;
    static const double busy_shares[] = {0.5, 0.1, 0.01}, quiets[] = {0.5, 1e-2, 1e-3, 1e-4, 1e-6};
    uint64_t random = seed_begin();
    for (size_t b = 0; b < N_OF(busy_shares); b++)
        for (size_t q = 0; q < N_OF(quiets); q++)
            check_busy_and_quiet(&random, busy_shares[b], quiets[q]);
}

// A day of rounds of 1.56 s at -1 %, then 1 %: counted again before half of the next day is over, also where that day
// is much quieter.
static void test_a_category_negative_for_a_day_is_not_missing_for_the_next(void **state) {
    (void)state;
    enum { DAY = 55385 };
    static const double quiets[] = {1, 1e-2, 1e-4};
    for (size_t q = 0; q < N_OF(quiets); q++) {
        struct level1_debt debt = {0};
        const double bad[] = {-1e7, 1.01e9}, good[] = {1e7 * quiets[q], 9.9e8 * quiets[q]};
        double increase[2];
        for (int i = 0; i < DAY; i++) {
            level1_increase(bad, 2, &debt, increase);
            assert_true(increase[0] == 0);
        }
        int silent = 0;
        do {
            level1_increase(good, 2, &debt, increase);
            silent++;
        } while (increase[0] == 0);
        print_message("quieter by %g: missing for %d rounds\n", quiets[q], silent);
        assert_in_range(silent, LEVEL1_MEMORY, DAY / 2);
    }
}

// ---- totals ----

static void test_a_years_additions_stay_exact(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct total total = {0};
    double plain = 0;
    __extension__ __int128 exact = 0;
    for (int i = 0; i < 20000000; i++) {
        uint64_t amount = random_below(&random, UINT64_C(16000000000000)); // eighths, 1e12 on average
        total_add(&total, (double)amount / 8);
        plain += (double)amount / 8;
        exact += amount;
    }
    long double wanted = (long double)exact / 8;
    long double error = fabsl((long double)total_value(&total) - wanted) / wanted;
    print_message("relative error %.2Lg, of a plain sum %.2Lg\n", error, fabsl((long double)plain - wanted) / wanted);
    assert_true(error <= 1e-15L);
}

static void test_what_an_addition_rounds_away_is_added_back(void **state) {
    (void)state;
    struct total total = {0};
    double large = 1e20; // the next double is 16384 more, so that 8191 is rounded away beside it
    assert_true(large + 8191 == large);
    total_add(&total, 8191);
    total_add(&total, large); // the sum is the smaller one here
    total_add(&total, 8191);  // and the larger one here
    assert_true(total_value(&total) == large + 16384);
}

static void test_a_total_never_falls(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    for (int run = 0; run < 100; run++) {
        struct total total = {0};
        double before = 0;
        for (int i = 0; i < 20000; i++) {
            total_add(&total, ldexp(random_unit(&random), (int)random_below(&random, 60) - 20));
            double value = total_value(&total);
            assert_true(value >= before);
            before = value;
        }
    }
}

// ---- spans ----

struct span_case {
    bool data;
    double seconds, covered, uncovered;
};

// Rounds one after the other; a gap of more than 3 seconds is given up.
static void expect_spans(const struct span_case *cases, size_t n) {
    struct span span = {0};
    double all = 0, accounted = 0;
    for (size_t i = 0; i < n; i++) {
        struct span_step step = span_advance(&span, cases[i].seconds, cases[i].data, 3);
        if (step.covered_seconds != cases[i].covered || step.uncovered_seconds != cases[i].uncovered)
            fail_msg("round %zu: covered %g, uncovered %g", i, step.covered_seconds, step.uncovered_seconds);
        all += cases[i].seconds;
        accounted += step.covered_seconds + step.uncovered_seconds;
        assert_true(accounted + span.pending_seconds == all); // no second is lost or counted twice
    }
}

static void test_a_round_with_data_stands_for_itself(void **state) {
    (void)state;
    const struct span_case cases[] = {{true, 1, 1, 0}, {true, 1.5, 1.5, 0}, {true, 0, 0, 0}};
    expect_spans(cases, N_OF(cases));
}

static void test_a_short_gap_is_made_up_for(void **state) {
    (void)state;
    const struct span_case cases[] = {{true, 1, 1, 0},  {false, 1, 0, 0}, {true, 1, 2, 0}, {false, 1, 0, 0},
                                      {false, 1, 0, 0}, {false, 1, 0, 0}, {true, 1, 4, 0}, {true, 1, 1, 0}};
    expect_spans(cases, N_OF(cases));
}

static void test_a_long_gap_is_given_up_until_data_return(void **state) {
    (void)state;
    const struct span_case cases[] = {{false, 1, 0, 0}, {false, 2, 0, 0}, {false, 0.5, 0, 3.5}, {false, 1, 0, 1},
                                      {false, 1, 0, 1}, {true, 1, 1, 0},  {false, 1, 0, 0},     {true, 1, 2, 0}};
    expect_spans(cases, N_OF(cases));
}

static void test_one_round_longer_than_the_limit_is_given_up_at_once(void **state) {
    (void)state;
    const struct span_case cases[] = {{false, 4, 0, 4}, {false, 0.25, 0, 0.25}, {true, 1, 1, 0}, {false, 3, 0, 0}};
    expect_spans(cases, N_OF(cases));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_split_shares_out_all_pipeline_slots),
        cmocka_unit_test(test_a_negative_share_stays_negative),
        cmocka_unit_test(test_shares_that_do_not_add_up_to_1_are_scaled),
        cmocka_unit_test(test_random_splits_add_up),
        cmocka_unit_test(test_no_pipeline_slots_are_shared_out_as_none),
        cmocka_unit_test(test_a_thread_that_lost_all_its_slots_says_how_many),
        cmocka_unit_test(test_what_cannot_be_split_leaves_the_outputs_alone),
        cmocka_unit_test(test_a_share_made_of_what_has_no_value_is_no_share),
        cmocka_unit_test(test_an_increase_adds_up_is_never_negative_and_loses_nothing),
        cmocka_unit_test(test_a_share_of_1_percent_under_noise_is_counted_as_1_percent),
        cmocka_unit_test(test_an_increase_is_what_was_signed_where_nothing_is_negative),
        cmocka_unit_test(test_what_one_category_owes_the_others_give_up),
        cmocka_unit_test(test_a_window_without_slots_increases_nothing_and_changes_no_debt),
        cmocka_unit_test(test_a_debt_is_bounded_and_paid_back),
        cmocka_unit_test(test_quiet_rounds_forgive_nothing_of_busy_ones),
        cmocka_unit_test(test_a_category_negative_for_a_day_is_not_missing_for_the_next),
        cmocka_unit_test(test_a_years_additions_stay_exact),
        cmocka_unit_test(test_what_an_addition_rounds_away_is_added_back),
        cmocka_unit_test(test_a_total_never_falls),
        cmocka_unit_test(test_a_round_with_data_stands_for_itself),
        cmocka_unit_test(test_a_short_gap_is_made_up_for),
        cmocka_unit_test(test_a_long_gap_is_given_up_until_data_return),
        cmocka_unit_test(test_one_round_longer_than_the_limit_is_given_up_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
