// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include "collectors/pmu/sampler_core.h"

// When a core is held on its event group, and which of its rounds count as held (collectors/pmu/sampler_core.h).

#define SECOND_NS UINT64_C(1000000000)

struct setup {
    struct catalog *catalog;
    struct plan *plan;
    struct schedule schedule;
    unsigned order[8];
    struct sampler_core core;
};

// Two event groups with slots of a second; the core counts the first one.
static void setup_init(struct setup *setup) {
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    group_of(builder, "All", "ab cd");
    setup->catalog = catalog_builder_finish(builder);
    const struct plan_selection selection = {.group = 0, .weight = 1};
    setup->plan = build_plan(&(struct plan_request){.catalog = setup->catalog,
                                                    .general_counters = 2,
                                                    .selections = &selection,
                                                    .n_selections = 1,
                                                    .slot_ns = SECOND_NS,
                                                    .idle = 0.1});
    setup->schedule = schedule_of(setup->plan, 8, PLAN_INTERVAL_NS, 1);
    setup->core = (struct sampler_core){.order = setup->order, .group = 0, .hold_ns = 5 * SECOND_NS};
}

static void setup_deinit(struct setup *setup) {
    plan_free(setup->plan);
    catalog_free(setup->catalog);
}

static bool end_tick(struct setup *setup, bool busy_known, uint64_t now_ns) {
    return sampler_core_end_tick(&setup->core, &setup->schedule, 0, busy_known, 1, now_ns);
}

static void test_a_core_is_held_that_slept_is_online_and_counts(void **state) {
    (void)state;
    struct setup setup;
    for (int i = 0; i < 6; i++) {
        setup_init(&setup);
        setup.core.offline = i == 1; // its event groups are closed, so it must find the next one open again
        setup.core.group = i == 2 ? SAMPLER_IDLE : 0;
        setup.core.busy_ns = i == 3 ? SECOND_NS / 4 : 0;
        uint64_t now_ns = i == 5 ? 5 * SECOND_NS : SECOND_NS;
        assert_int_equal(end_tick(&setup, i != 4, now_ns), i == 0);
        assert_int_equal(setup.core.held, i == 0);
        assert_int_equal(setup.core.round_held, i == 0);
        assert_true(setup.core.slot_ns == (i == 0 ? 0 : now_ns)); // else a slot begins
        setup_deinit(&setup);
    }
}

// A held core goes on in its order when the round ends, so the next round is not one of all its slots either.
static void test_the_round_after_a_held_one_counts_as_held_too(void **state) {
    (void)state;
    struct setup setup;
    setup_init(&setup);
    static const bool held_at[] = {true, false, false, true, true, false, false};
    static const bool held[] = {true, true, false, true, true, true, false};
    for (size_t round = 0; round < N_OF(held); round++) {
        uint64_t end_ns = (2 + 2 * round) * SECOND_NS;
        setup.core.busy_ns = held_at[round] ? 0 : SECOND_NS;
        (void)end_tick(&setup, true, end_ns - SECOND_NS); // in the middle of the round
        setup.core.busy_ns = SECOND_NS;
        (void)end_tick(&setup, true, end_ns);
        struct core_round ended = sampler_core_end_round(&setup.core, 3, end_ns);
        assert_int_equal(ended.held, held[round]);
        assert_true(ended.core == 3 && ended.end_ns == end_ns && setup.core.start_ns == end_ns);
    }
    setup_deinit(&setup);
}

// A core that is held over the end of a round is held in both.
static void test_a_core_held_over_a_rounds_end_is_held_in_the_next_round(void **state) {
    (void)state;
    struct setup setup;
    setup_init(&setup);
    assert_true(end_tick(&setup, true, SECOND_NS));
    assert_true(sampler_core_end_round(&setup.core, 0, SECOND_NS).held);
    assert_true(setup.core.round_held && setup.core.in_old_order);
    setup_deinit(&setup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_core_is_held_that_slept_is_online_and_counts),
        cmocka_unit_test(test_the_round_after_a_held_one_counts_as_held_too),
        cmocka_unit_test(test_a_core_held_over_a_rounds_end_is_held_in_the_next_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
