// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "core/plan/fit.h"

// The fit of events to counters: cases of real CPUs by hand, and random small ones against every possible assignment.

enum { MANY = 12 };

static const struct event_need ANY = {.fixed = -1};

static bool fits(const struct fit_pmu *pmu, const struct event_need *needs, size_t n, struct fit_reason *why) {
    unsigned events[64];
    assert_true(n <= N_OF(events));
    for (unsigned i = 0; i < n; i++)
        events[i] = i;
    bool fit = fit_check(pmu, needs, events, n, why);
    assert_int_equal(fit, fit_excess(pmu, needs, events, n, 0) == 0);
    return fit;
}

static void test_any_counter_will_do_until_there_is_none_left(void **state) {
    (void)state;
    const struct event_need needs[] = {ANY, ANY, ANY, ANY};
    const struct fit_pmu four = {.general = 4}, three = {.general = 3}, reserved = {.general = 4, .reserved = 2},
                         none = {.general = 4, .reserved = 9}, unlimited = {.general = 0, .reserved = 3};
    struct fit_reason why = {0};
    assert_true(fits(&four, needs, 4, NULL));
    assert_false(fits(&three, needs, 4, &why));
    assert_true(why.cause == FIT_COUNTERS && why.needed == 4 && why.available == 3 && why.n == 0);
    assert_true(fits(&reserved, needs, 2, NULL));
    assert_false(fits(&reserved, needs, 3, &why));
    assert_true(why.cause == FIT_COUNTERS && why.needed == 3 && why.available == 2);
    assert_false(fits(&none, needs, 1, NULL));
    assert_true(fits(&none, needs, 0, NULL));
    assert_true(fits(&unlimited, needs, 4, NULL));
}

static void test_an_event_that_comes_twice_counts_once(void **state) {
    (void)state;
    const struct event_need needs[] = {ANY, {.fixed = -1, .counters = 1}};
    const struct fit_pmu pmu = {.general = 2};
    const unsigned events[] = {0, 1, 0, 1, 1};
    assert_true(fit_check(&pmu, needs, events, 5, NULL));
    assert_int_equal(fit_excess(&pmu, needs, events, 5, 0), 0);
}

// Nehalem: four counters, and the events of the first-level data cache only on counters 0 and 1.
static void test_three_events_of_two_counters_do_not_fit_four(void **state) {
    (void)state;
    const struct event_need l1d = {.fixed = -1, .counters = 0x3}, needs[] = {l1d, ANY, l1d, ANY, l1d};
    const struct fit_pmu nehalem = {.general = 4};
    const unsigned all_l1d[] = {0, 2, 4};
    struct fit_reason why = {0};
    assert_true(fits(&nehalem, needs, 4, NULL));
    assert_false(fit_check(&nehalem, needs, all_l1d, 3, &why));
    assert_int_equal(why.cause, FIT_CHOICE);
    assert_int_equal(why.needed, 3);
    assert_int_equal(why.available, 2);
    assert_int_equal(why.n, 3);
    assert_int_equal(fit_excess(&nehalem, needs, all_l1d, 3, 0), 1);
}

static void test_an_event_makes_way_for_one_that_has_less_choice(void **state) {
    (void)state;
    const struct event_need needs[] = {{.fixed = -1, .counters = 0x3},
                                       {.fixed = -1, .counters = 0x6},
                                       {.fixed = -1, .counters = 0x4},
                                       {.fixed = -1, .counters = 0x9}};
    const struct fit_pmu pmu = {.general = 4}; // 2 on counter 2, 1 on 1, 0 on 0, 3 on 3
    assert_true(fits(&pmu, needs, 4, NULL));
    const struct fit_pmu three = {.general = 3}; // without counter 3, events 0 to 3 have counters 0 to 2
    struct fit_reason why;
    assert_true(fits(&three, needs, 3, NULL));
    assert_false(fits(&three, needs, 4, &why));
    assert_int_equal(why.cause, FIT_COUNTERS);
}

// Haswell with SMT at boot: an exclusive event leaves half of four counters, whoever takes them.
static void test_an_exclusive_event_leaves_half_of_the_counters(void **state) {
    (void)state;
    const struct event_need exclusive = {.fixed = -1, .exclusive = true}, own = {.fixed = 0, .exclusive = true},
                            needs[] = {exclusive, ANY, ANY, exclusive, own};
    const struct fit_pmu smt = {.general = 4, .hardware = 4}, off = {.general = 4},
                         held = {.general = 3, .hardware = 4}, reserved = {.general = 4, .reserved = 1, .hardware = 4};
    const unsigned three[] = {0, 1, 2}, two[] = {0, 1}, exclusives[] = {0, 3}, any[] = {1, 2}, fixed[] = {1, 2, 4};
    struct fit_reason why = {0};
    assert_true(fit_check(&off, needs, three, 3, NULL));
    assert_false(fit_check(&smt, needs, three, 3, &why));
    assert_int_equal(why.cause, FIT_EXCLUSIVE);
    assert_true(why.needed == 3 && why.available == 2 && why.n == 1 && why.events[0] == 0);
    assert_int_equal(fit_excess(&smt, needs, three, 3, 1), 2);
    assert_true(fit_check(&smt, needs, two, 2, NULL) && fit_check(&smt, needs, exclusives, 2, NULL));
    assert_int_equal(fit_used(&smt, needs, two, 2), 2);
    assert_true(fit_check(&smt, needs, fixed, 3, NULL)); // on its fixed counter it concerns nobody
    assert_false(fit_check(&held, needs, two, 2, &why)); // what others hold counts too
    assert_true(why.cause == FIT_EXCLUSIVE && why.available == 1);
    assert_true(fit_check(&held, needs, any, 2, NULL));
    assert_false(fit_check(&reserved, needs, two, 2, NULL));
    assert_true(fit_is_constrained(&smt, &exclusive) && !fit_is_constrained(&off, &exclusive));
}

static void test_an_event_of_a_counter_that_is_not_there_never_fits(void **state) {
    (void)state;
    const struct event_need needs[] = {{.fixed = -1, .counters = 0xf0}};
    const struct fit_pmu four = {.general = 4}, eight = {.general = 8};
    struct fit_reason why;
    assert_true(fits(&eight, needs, 1, NULL));
    assert_false(fits(&four, needs, 1, &why));
    assert_true(why.cause == FIT_CHOICE && why.needed == 1 && why.available == 0 && why.n == 1);
}

// Others' events move out of the way too, so reserved counters are no certain ones.
static void test_reserved_counters_limit_how_many_and_not_which(void **state) {
    (void)state;
    const struct event_need needs[] = {{.fixed = -1, .counters = 0x8}, {.fixed = -1, .counters = 0x1}, ANY};
    const struct fit_pmu pmu = {.general = 4, .reserved = 2};
    assert_true(fits(&pmu, needs, 2, NULL));
    assert_false(fits(&pmu, needs, 3, NULL));
}

static void test_a_fixed_counter_leaves_the_general_ones_alone(void **state) {
    (void)state;
    const struct event_need needs[] = {{.fixed = 0}, {.fixed = 1}, {.fixed = 2}, ANY};
    const struct fit_pmu pmu = {.general = 1}, none = {.general = 1, .reserved = 1};
    assert_true(fits(&pmu, needs, 4, NULL));
    assert_true(fits(&none, needs, 3, NULL));
    assert_int_equal(fit_width(&pmu, &needs[0]), 0);
    assert_false(fit_is_constrained(&pmu, &needs[0]));
}

// The NMI watchdog counts cycles on the fixed counter of cycles.
static void test_with_the_watchdog_on_cycles_take_a_general_counter(void **state) {
    (void)state;
    const struct event_need needs[] = {{.fixed = 1}, ANY, ANY, ANY, ANY};
    const struct fit_pmu off = {.general = 4}, on = {.general = 4, .fixed_taken = 0x2};
    struct fit_reason why;
    assert_true(fits(&off, needs, 5, NULL));
    assert_true(fits(&on, needs, 4, NULL));
    assert_false(fits(&on, needs, 5, &why));
    assert_true(why.cause == FIT_COUNTERS && why.needed == 5 && why.available == 4);
    assert_int_equal(fit_width(&on, &needs[0]), 1);
}

static void test_of_two_events_with_one_fixed_counter_one_takes_a_general_one(void **state) {
    (void)state;
    // counter 0 is the only one for the first and the third, so the first takes the fixed one
    const struct event_need needs[] = {{.fixed = 0, .counters = 0x1}, {.fixed = 0}, {.fixed = -1, .counters = 0x1}};
    const struct fit_pmu two = {.general = 2}, one = {.general = 1};
    assert_true(fits(&one, needs, 2, NULL));
    assert_true(fits(&two, needs, 3, NULL));
    assert_false(fits(&one, needs, 3, NULL));
}

// AMD: an even counter and the next one.
static void test_an_event_of_two_counters_takes_an_even_one_and_the_next(void **state) {
    (void)state;
    const struct event_need wide = {.fixed = -1, .takes = 2}, needs[] = {wide, wide, wide, ANY};
    const struct fit_pmu six = {.general = 6}, five = {.general = 5};
    struct fit_reason why;
    assert_true(fits(&six, needs, 3, NULL));
    assert_false(fits(&six, needs, 4, &why));
    assert_true(why.cause == FIT_COUNTERS && why.needed == 7 && why.available == 6);
    assert_true(fits(&five, needs, 2, NULL));
    assert_int_equal(fit_width(&six, &wide), 2);
    const struct event_need odd[] = {wide, {.fixed = -1, .counters = 0x2}, {.fixed = -1, .counters = 0x4}};
    const struct fit_pmu four = {.general = 4}; // 1 and 2 are taken: no even counter has a free neighbour
    assert_false(fits(&four, odd, 3, &why));
    assert_int_equal(why.cause, FIT_PLACE);
    assert_int_equal(why.n, 3);
    assert_true(fits(&six, odd, 3, NULL));
}

static void test_a_wide_event_moves_where_the_others_leave_room(void **state) {
    (void)state;
    const struct event_need needs[] = {{.fixed = -1, .takes = 2},
                                       {.fixed = -1, .takes = 2, .counters = 0x1},
                                       {.fixed = -1, .counters = 0xc},
                                       {.fixed = -1, .counters = 0xc}};
    const struct fit_pmu pmu = {.general = 6};
    assert_true(fits(&pmu, needs, 4, NULL)); // 0 on 4 and 5, 1 on 0 and 1
}

// Nehalem has one register for OFFCORE_RESPONSE.
static void test_a_shared_register_holds_one_value_at_a_time(void **state) {
    (void)state;
    const struct event_need needs[] = {{.fixed = -1, .reg = 1, .reg_value = 0x4011},
                                       {.fixed = -1, .reg = 1, .reg_value = 0x4011},
                                       {.fixed = -1, .reg = 1, .reg_value = 0x2011},
                                       {.fixed = -1, .reg = 2, .reg_value = 0x2011}};
    const struct fit_pmu nehalem = {.general = 4, .registers = {0, 1, 1}},
                         westmere = {.general = 4, .registers = {0, 2, 1}}, unlimited = {.general = 4};
    const unsigned other[] = {0, 1, 3};
    struct fit_reason why;
    assert_true(fits(&nehalem, needs, 2, NULL));
    assert_true(fit_check(&nehalem, needs, other, 3, NULL));
    assert_false(fits(&nehalem, needs, 4, &why));
    assert_true(why.cause == FIT_REGISTER && why.reg == 1 && why.needed == 2 && why.available == 1 && why.n == 2);
    assert_true(why.events[0] == 0 && why.events[1] == 2);
    assert_true(fits(&westmere, needs, 4, NULL));
    assert_true(fits(&unlimited, needs, 4, NULL));
    assert_true(fit_is_constrained(&nehalem, &needs[0]));
}

static void test_what_takes_no_counter_always_fits(void **state) {
    (void)state;
    const struct event_need software = {.fixed = -1, .free = true}, needs[] = {software, software, ANY};
    const struct fit_pmu pmu = {.general = 1}, full = {.general = 1, .reserved = 1};
    assert_true(fits(&pmu, needs, 3, NULL));
    assert_true(fits(&full, needs, 2, NULL));
}

static void test_absurd_needs_do_not_fit_and_harm_nobody(void **state) {
    (void)state;
    struct event_need needs[400];
    unsigned events[400];
    for (unsigned i = 0; i < N_OF(needs); i++) {
        needs[i] = (struct event_need){.fixed = (int)(i % 70), .takes = i % 3, .counters = UINT64_C(1) << (i % 64)};
        events[i] = i;
    }
    const struct fit_pmu pmu = {.general = 1000, .registers = {0}}, none = {.general = 0};
    assert_false(fit_check(&pmu, needs, events, 400, NULL));
    assert_true(fit_excess(&pmu, needs, events, 400, 0) > 0);
    assert_true(fit_check(&none, needs, events, 400, NULL));
    needs[0] = (struct event_need){.fixed = -1, .takes = UINT32_MAX};
    assert_false(fit_check(&pmu, needs, events, 1, NULL));
    needs[0].takes = 64;
    assert_true(fit_check(&pmu, needs, events, 1, NULL));
}

// ---- against all assignments ----

struct brute {
    const struct fit_pmu *pmu;
    const struct event_need *needs;
    size_t n;
    unsigned limit;
};

static bool assign(const struct brute *b, size_t i, uint64_t general, uint64_t fixed) {
    if ((unsigned)__builtin_popcountll(general) > b->limit)
        return false;
    if (i == b->n)
        return true;
    const struct event_need *need = &b->needs[i];
    if (need->free)
        return assign(b, i + 1, general, fixed);
    if (need->fixed >= 0 && (fixed >> need->fixed & 1) == 0 &&
        assign(b, i + 1, general, fixed | UINT64_C(1) << need->fixed))
        return true;
    unsigned takes = need->takes > 0 ? need->takes : 1;
    uint64_t place = (UINT64_C(1) << takes) - 1;
    for (unsigned first = 0; first + takes <= b->pmu->general; first += takes)
        if ((need->counters == 0 || (need->counters >> first & 1)) && (general & place << first) == 0 &&
            assign(b, i + 1, general | place << first, fixed))
            return true;
    return false;
}

static bool brute_registers(const struct fit_pmu *pmu, const struct event_need *needs, size_t n) {
    for (unsigned reg = 1; reg <= 2; reg++) {
        unsigned values = 0; // a bit for each of 0 to 3
        for (size_t i = 0; i < n; i++)
            values |= needs[i].reg == reg ? 1U << needs[i].reg_value : 0;
        if (pmu->registers[reg] > 0 && (unsigned)__builtin_popcount(values) > pmu->registers[reg])
            return false;
    }
    return true;
}

static struct event_need random_need(uint64_t *random, unsigned general) {
    struct event_need need = {.fixed = -1};
    uint64_t kind = random_below(random, 10);
    if (kind < 6)
        need.counters = random_below(random, UINT64_C(1) << (general + 1));
    if (kind == 6 || kind == 7)
        need.takes = 2; // such events have no fixed counter
    else if (random_below(random, 4) == 0)
        need.fixed = (int)random_below(random, 2);
    need.free = random_below(random, 20) == 0;
    if (random_below(random, 4) == 0) {
        need.reg = 1 + (unsigned)random_below(random, 2);
        need.reg_value = random_below(random, 4);
    }
    return need;
}

static void test_no_random_case_differs_from_trying_all_assignments(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    size_t answers[2] = {0}, causes[4] = {0};
    for (int i = 0; i < 60000; i++) {
        struct fit_pmu pmu = {.general = 1 + (unsigned)random_below(&random, 6)};
        pmu.reserved = (unsigned)random_below(&random, 3) == 0 ? (unsigned)random_below(&random, 3) : 0;
        pmu.fixed_taken = random_below(&random, 3) == 0 ? random_below(&random, 4) : 0;
        pmu.registers[1] = (unsigned)random_below(&random, 3);
        pmu.registers[2] = (unsigned)random_below(&random, 3);
        struct event_need needs[MANY];
        size_t n = 1 + (size_t)random_below(&random, 7);
        for (size_t e = 0; e < n; e++)
            needs[e] = random_need(&random, pmu.general);
        const struct brute b = {&pmu, needs, n, pmu.reserved < pmu.general ? pmu.general - pmu.reserved : 0};
        bool wanted = assign(&b, 0, 0, pmu.fixed_taken) && brute_registers(&pmu, needs, n);
        struct fit_reason why;
        assert_int_equal(fits(&pmu, needs, n, &why), wanted);
        answers[wanted]++;
        causes[wanted ? 0 : why.cause] += !wanted;
        if (!wanted && why.cause != FIT_PLACE)
            assert_true(why.needed > why.available);
    }
    assert_true(answers[0] > 5000 && answers[1] > 5000);
    assert_true(causes[FIT_COUNTERS] > 0 && causes[FIT_CHOICE] > 0 && causes[FIT_PLACE] > 0 &&
                causes[FIT_REGISTER] > 0);
}

// Counting the counters of what any will do for is the same as asking about all events.
static void test_events_that_any_counter_will_do_for_may_be_counted_instead(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    size_t too_many = 0, counted = 0;
    for (int i = 0; i < 20000; i++) {
        const struct fit_pmu pmu = {.general = 2 + (unsigned)random_below(&random, 5), .registers = {0, 1, 2}};
        struct event_need needs[MANY];
        unsigned all[MANY], some[MANY], others = 0;
        size_t n_some = 0;
        for (unsigned e = 0; e < MANY; e++) {
            all[e] = e;
            needs[e] = random_below(&random, 2) == 0 ? ANY : random_need(&random, pmu.general);
            if (needs[e].fixed < 0 && !fit_is_constrained(&pmu, &needs[e]))
                others += fit_width(&pmu, &needs[e]);
            else
                some[n_some++] = e;
        }
        unsigned excess = fit_excess(&pmu, needs, all, MANY, 0);
        assert_int_equal(fit_excess(&pmu, needs, some, n_some, others), excess);
        too_many += excess > 0;
        counted += others;
    }
    assert_true(too_many > 1000 && counted > 20000);
}

// What a choice's reason names does not fit by itself, and needs as many counters as it says.
static void test_the_events_that_a_reason_names_collide_by_themselves(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    size_t seen = 0;
    for (int i = 0; i < 20000; i++) {
        const struct fit_pmu pmu = {.general = 6};
        struct event_need needs[6];
        for (size_t e = 0; e < 6; e++)
            needs[e] = (struct event_need){.fixed = -1, .counters = 1 + random_below(&random, 63)};
        struct fit_reason why;
        if (fits(&pmu, needs, 6, &why))
            continue;
        uint64_t counters = 0;
        assert_int_equal(why.cause, FIT_CHOICE);
        for (size_t e = 0; e < why.n; e++)
            counters |= needs[why.events[e]].counters;
        assert_int_equal(why.n, why.needed);
        assert_int_equal(__builtin_popcountll(counters), why.available);
        assert_int_equal(why.needed, why.available + 1);
        assert_false(fit_check(&pmu, needs, why.events, why.n, NULL));
        seen++;
    }
    assert_true(seen > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_counter_will_do_until_there_is_none_left),
        cmocka_unit_test(test_an_event_that_comes_twice_counts_once),
        cmocka_unit_test(test_three_events_of_two_counters_do_not_fit_four),
        cmocka_unit_test(test_an_event_makes_way_for_one_that_has_less_choice),
        cmocka_unit_test(test_an_exclusive_event_leaves_half_of_the_counters),
        cmocka_unit_test(test_an_event_of_a_counter_that_is_not_there_never_fits),
        cmocka_unit_test(test_reserved_counters_limit_how_many_and_not_which),
        cmocka_unit_test(test_a_fixed_counter_leaves_the_general_ones_alone),
        cmocka_unit_test(test_with_the_watchdog_on_cycles_take_a_general_counter),
        cmocka_unit_test(test_of_two_events_with_one_fixed_counter_one_takes_a_general_one),
        cmocka_unit_test(test_an_event_of_two_counters_takes_an_even_one_and_the_next),
        cmocka_unit_test(test_a_wide_event_moves_where_the_others_leave_room),
        cmocka_unit_test(test_a_shared_register_holds_one_value_at_a_time),
        cmocka_unit_test(test_what_takes_no_counter_always_fits),
        cmocka_unit_test(test_absurd_needs_do_not_fit_and_harm_nobody),
        cmocka_unit_test(test_no_random_case_differs_from_trying_all_assignments),
        cmocka_unit_test(test_events_that_any_counter_will_do_for_may_be_counted_instead),
        cmocka_unit_test(test_the_events_that_a_reason_names_collide_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
