// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/held_host.h"

// Cores that sleep are held on their event group, so that nothing wakes them (core/plan/schedule.h).

// Calls of a kind for a CPU, one after the other: the next one from *at on, or NULL.
static const struct call *next_call(const struct pipeline *p, unsigned cpu, enum call_kind kind, size_t *at) {
    while (*at < p->recorder.n_calls) {
        const struct call *call = &p->recorder.calls[(*at)++];
        if (call->kind == kind && p->recorder.cpu_of[call->handle] == cpu)
            return call;
    }
    return NULL;
}

// ---- interrupts ----

static void test_a_core_that_sleeps_is_interrupted_a_tenth_as_often_and_not_by_idle_pieces(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    for (size_t core = 0; core < 4; core++)
        busy_always(&held.bursts[core]);
    held_start(&held, 1);
    pipeline_run_until(&held.p, 300);
    double busy = 0, asleep = 0;
    for (unsigned cpu = 0; cpu < CORES; cpu++)
        *(cpu < 4 ? &busy : &asleep) += (double)pmu_sim_interrupts(held.p.recorder.inner, cpu) / (cpu < 4 ? 4 : 12);
    assert_true(busy > 300 * 2 * 4); // four edges a second, a start and a stop each
    if (!(asleep <= 0.11 * busy && asleep >= 0.05 * busy))
        fail_msg("%g interrupts asleep, %g busy", asleep, busy);
    for (unsigned cpu = 4; cpu < CORES; cpu++) {
        size_t at = 0;
        const struct call *before = NULL, *call;
        while ((call = next_call(&held.p, cpu, CALL_DISABLE, &at)) != NULL) {
            assert_true(!before || call->at_ns - before->at_ns >= 5 * SLOT_NS);
            before = call;
        }
    }
    held_stop(&held);
}

static void test_a_core_that_wakes_goes_on_at_the_next_tick(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    held.bursts[5] = (struct bursts){.period_seconds = 1000};
    add_burst(&held.bursts[5], 60, 90);
    held_start(&held, 2);
    pipeline_run_until(&held.p, 120);
    size_t at = 0, n_busy = 0, n_asleep = 0;
    const struct call *call;
    uint64_t woken_ns = EPOCH_NS + 60 * SECOND_NS, asleep_ns = EPOCH_NS + 90 * SECOND_NS, first_ns = 0;
    while ((call = next_call(&held.p, 5, CALL_DISABLE, &at)) != NULL) {
        first_ns = first_ns == 0 && call->at_ns > woken_ns ? call->at_ns : first_ns;
        n_busy += call->at_ns > woken_ns && call->at_ns <= asleep_ns;
        n_asleep += call->at_ns > asleep_ns + SECOND_NS;
    }
    // within a tick that ends too early for a quarter of a slot, the next tick, and a piece
    assert_in_range(first_ns, woken_ns + SLOT_NS / 4, woken_ns + SLOT_NS * 5 / 4 + SECOND_NS / 10);
    uint64_t tick_ns = SLOT_NS * 10 / 9; // with its part of the idle pieces; some go on with the same event group
    assert_in_range(n_busy, 30 * SECOND_NS / tick_ns * 8 / 10, 30 * SECOND_NS / tick_ns + 2);
    assert_in_range(n_asleep, 29 / 3, 29);
    held_stop(&held);
}

static void test_the_clock_is_not_asked_where_that_saves_nothing(void **state) {
    (void)state;
    struct held held;
    held_load(&held); // level 1 of three event groups with two counters: a composite's parts follow one another
    held.p.scenario->general_counters = 2;
    held_start(&held, 3);
    pipeline_run_until(&held.p, 60);
    assert_int_equal(held.n_reads, 0);
    held_stop(&held);
    held_load(&held); // few cores
    held.p.scenario->cores_per_socket = 3;
    topology_free(held.p.topology);
    assert_int_equal(pmu_sim_topology(held.p.scenario, NULL, &held.p.topology), 0);
    held_start(&held, 3);
    pipeline_run_until(&held.p, 30);
    assert_int_equal(held.n_reads, 0);
    held_stop(&held);
}

static void test_what_no_clock_tells_is_treated_as_busy(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    held.unknown_every = 1;
    held_start(&held, 4);
    pipeline_run_until(&held.p, 60);
    uint64_t first = pmu_sim_interrupts(held.p.recorder.inner, 0);
    assert_true(first > 60 * 2 * 4);
    for (unsigned cpu = 1; cpu < CORES; cpu++)
        assert_in_range(pmu_sim_interrupts(held.p.recorder.inner, cpu), first - first / 10, first + first / 10);
    assert_all_accounted(&held.p, 1e-9);
    held_stop(&held);
}

// ---- what comes between ----

static void test_a_core_that_sleeps_has_no_ratios_and_covered_time(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    busy_always(&held.bursts[0]);
    held_start(&held, 5);
    struct pipeline *p = &held.p;
    for (unsigned i = 0; i < 100; i++) {
        pipeline_run(p, 1);
        for (size_t cpu = 1; cpu < CORES; cpu++) {
            size_t scope = snapshot_scope_cpu(p->layout, cpu);
            assert_true(isnan(pipeline_gauge(p, scope, "ipc")));
            assert_true(isnan(pipeline_gauge(p, scope, "branch_mpki")));
        }
        size_t hot = snapshot_scope_cpu(p->layout, 0);
        assert_true(isnan(pipeline_gauge(p, hot, "ipc")) || fabs(pipeline_gauge(p, hot, "ipc") - 1.5) < 1e-3);
    }
    assert_near(pipeline_gauge(p, 0, "ipc"), 1.5, 1e-3, "ipc of the host");
    assert_all_accounted(p, 1e-9);
    assert_near(p->snapshot->values[snapshot_covered(p->layout, 0)],
                CORES * (double)(p->snapshot->end_ns - p->start_ns) * 1e-9, 1e-9, "covered time");
    held_stop(&held);
}

static void test_a_cpu_that_goes_away_while_its_core_is_held_is_uncovered_and_counts_again(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    busy_always(&held.bursts[0]);
    held.bursts[9] = (struct bursts){.period_seconds = 1000};
    add_burst(&held.bursts[9], 130, 300);
    struct scenario_rival *away = pipeline_add_rival(&held.p, RIVAL_OFFLINE, 0);
    away->cpus = (struct cpuset){0};
    cpuset_add(&away->cpus, 9);
    away->from_seconds = 30;
    away->until_seconds = 90;
    held_start(&held, 6);
    struct pipeline *p = &held.p;
    pipeline_run_until(p, 120);
    double offline = pipeline_uncovered(p, UNCOVERED_OFFLINE);
    // found when the slot ends on which it is held, at most 15 slots later; found again at the end of a round
    double late = 15 * 0.2 + 3 * (double)p->plan->round_ns * 1e-9;
    if (!(offline >= 60 - late && offline <= 60 + late))
        fail_msg("offline for %g s", offline);
    assert_all_accounted(p, 1e-9);
    pipeline_run_until(p, 260);
    assert_all_accounted(p, 1e-9);
    assert_near(p->snapshot->values[snapshot_event(p->layout, snapshot_scope_cpu(p->layout, 9),
                                                   event_place(p, "INST_RETIRED"))],
                pmu_sim_truth(p->recorder.inner, 9, p->layout->events[event_place(p, "INST_RETIRED")], p->start_ns,
                              p->snapshot->end_ns),
                0.1, "instructions after that");
    held_stop(&held);
}

// The clock tells that a CPU has gone: its core goes on at the next tick, and finds out with its next event group.
static void test_a_cpu_that_goes_away_while_its_core_is_held_is_noticed_within_an_interval(void **state) {
    (void)state;
    for (unsigned cpu = 1; cpu < CORES; cpu++) {
        struct held held;
        held_load(&held);
        struct scenario_rival *away = pipeline_add_rival(&held.p, RIVAL_OFFLINE, 0);
        away->cpus = (struct cpuset){0};
        cpuset_add(&away->cpus, cpu);
        away->from_seconds = 30;
        away->until_seconds = 60;
        held.away = away;
        held_start(&held, cpu);
        struct pipeline *p = &held.p;
        pipeline_run_until(p, 29.5);
        size_t n_open = p->recorder.n_open;
        pipeline_run_until(p, 32);
        assert_true(p->recorder.n_open < n_open);
        pipeline_run_until(p, 90);
        assert_int_equal(p->recorder.n_open, n_open);
        double offline = pipeline_uncovered(p, UNCOVERED_OFFLINE), round = (double)p->plan->round_ns * 1e-9;
        // each of its event groups counts again when the core, which sleeps, comes to it
        if (!(offline >= 30 - 2 * round && offline <= 30 + 2 * 15 * 0.2 + 3 * round))
            fail_msg("CPU %u was offline for %g s", cpu, offline);
        held_stop(&held);
    }
}

// An event group that cannot be opened has no windows to tell of zeros.
static void test_what_cannot_be_opened_is_uncovered_also_where_cores_sleep(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    busy_always(&held.bursts[0]);
    held_give_loads(&held);
    for (size_t e = 0; e < held.p.catalog->n_events; e++)
        if (strcmp(held.p.catalog->events[e].name, "L1D_CACHE_REFILL") == 0)
            held.p.recorder.refused_config = held.p.catalog->events[e].code.config;
    pipeline_start(&held.p, SLOT_NS, 7, DEFAULT_GROUPS);
    pipeline_run_until(&held.p, 400);
    assert_all_accounted(&held.p, 1e-9);
    const struct snapshot *snapshot = held.p.snapshot;
    const struct snapshot_layout *layout = held.p.layout;
    double busy = snapshot->values[snapshot_uncovered(layout, snapshot_scope_cpu(layout, 0), UNCOVERED_FAILED)];
    assert_true(busy > 10);
    for (size_t cpu = 1; cpu < CORES; cpu++) { // from its first window on
        double asleep = snapshot->values[snapshot_uncovered(layout, snapshot_scope_cpu(layout, cpu), UNCOVERED_FAILED)];
        if (!(asleep >= 0.75 * busy && asleep <= busy * 1.01))
            fail_msg("CPU %zu: uncovered for %g s, a busy one for %g s", cpu, asleep, busy);
    }
    held_stop(&held);
}

static void test_a_yield_while_cores_are_held_is_uncovered_and_counts_nothing(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    for (size_t core = 0; core < 3; core++)
        busy_always(&held.bursts[core]);
    add_burst(&held.bursts[8], 40, 41); // while the counters are handed over
    held_start(&held, 8);
    struct pipeline *p = &held.p;
    while (p->now_ns < EPOCH_NS + 37 * SECOND_NS + SECOND_NS / 3)
        pipeline_step(p, 0);
    pipeline_yield(p, 20);
    pipeline_run_until(p, 120);
    assert_all_accounted(p, 1e-9);
    double yielded = pipeline_uncovered(p, UNCOVERED_YIELDED), longest = 20 + 2 * (double)p->plan->round_ns * 1e-9;
    assert_true(yielded >= CORES * 20 && yielded <= CORES * longest); // with the rounds that it cut off
    assert_true(p->snapshot->values[snapshot_event(p->layout, snapshot_scope_cpu(p->layout, 8),
                                                   event_place(p, "INST_RETIRED"))] == 0);
    held_stop(&held);
}

static void test_a_clock_that_fails_now_and_then_loses_no_time(void **state) {
    (void)state;
    struct held held;
    uint64_t random = 9;
    held_load(&held);
    for (size_t core = 0; core < CORES; core++)
        make_bursts(&held.bursts[core], kind_of(core), &random);
    held.unknown_every = 7;
    held_start(&held, 9);
    for (int i = 0; i < 600; i++)
        (void)pipeline_step(&held.p, random_below(&random, 10) == 0 ? random_below(&random, 3 * SECOND_NS) : 0);
    assert_all_accounted(&held.p, 1e-9);
    held_stop(&held);
}

// ---- replay ----

static void test_a_recording_of_cores_that_were_held_gives_the_live_values_bit_by_bit(void **state) {
    (void)state;
    struct held held;
    struct taped taped;
    uint64_t random = 10;
    held_load(&held);
    for (size_t core = 0; core < CORES; core++)
        make_bursts(&held.bursts[core], kind_of(core), &random);
    struct scenario_rival *away = pipeline_add_rival(&held.p, RIVAL_OFFLINE, 0);
    away->cpus = (struct cpuset){0};
    cpuset_add(&away->cpus, 11);
    away->from_seconds = 30;
    away->until_seconds = 50;
    held_start(&held, 10);
    taped_begin(&taped, &held.p);
    taped_run(&taped, &held.p, 30);
    taped_yield(&taped, &held.p, 5);
    taped_run(&taped, &held.p, 20);
    taped_assert_plays(&taped, 50);
    taped_end(&taped);
    held_stop(&held);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_core_that_sleeps_is_interrupted_a_tenth_as_often_and_not_by_idle_pieces),
        cmocka_unit_test(test_a_core_that_wakes_goes_on_at_the_next_tick),
        cmocka_unit_test(test_the_clock_is_not_asked_where_that_saves_nothing),
        cmocka_unit_test(test_what_no_clock_tells_is_treated_as_busy),
        cmocka_unit_test(test_a_core_that_sleeps_has_no_ratios_and_covered_time),
        cmocka_unit_test(test_a_cpu_that_goes_away_while_its_core_is_held_is_uncovered_and_counts_again),
        cmocka_unit_test(test_a_cpu_that_goes_away_while_its_core_is_held_is_noticed_within_an_interval),
        cmocka_unit_test(test_what_cannot_be_opened_is_uncovered_also_where_cores_sleep),
        cmocka_unit_test(test_a_yield_while_cores_are_held_is_uncovered_and_counts_nothing),
        cmocka_unit_test(test_a_clock_that_fails_now_and_then_loses_no_time),
        cmocka_unit_test(test_a_recording_of_cores_that_were_held_gives_the_live_values_bit_by_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
