// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"
#include "tests/simulation/taped.h"

// A snapshot is made every two seconds, however long the rounds and however few the cores. What counts all the time is
// exact in each; what rotates advances when a core's round ends.

enum { SECONDS = 120 };

// A host of a few cores whose spec has, simulated, events that need none of the core's counters; its rounds are long.
static void start(struct pipeline *p, unsigned cores) {
    pipeline_load_spec(p, "zen4", 1);
    p->scenario->cores_per_socket = cores;
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
    p->interval_ns = PLAN_INTERVAL_NS;
    pipeline_start(p, SECOND_NS / 5, 1, NULL);
    assert_true(p->plan->round_ns > 5 * SECOND_NS && plan_n_rotating(p->plan) + 1 == p->plan->n_groups);
}

static bool stands(const struct pipeline *p, unsigned event) {
    const struct plan_group *group = &p->plan->groups[p->plan->n_groups - 1];
    for (size_t i = 0; i < group->n_events; i++)
        if (group->events[i] == event)
            return true;
    return false;
}

// The true number of an event on all CPUs from the start to the present.
static double truth_of(const struct pipeline *p, unsigned event) {
    double sum = 0;
    for (size_t cpu = 0; cpu < p->topology->n_cpus; cpu++)
        sum += pmu_sim_truth(p->recorder.inner, p->topology->cpus[cpu].id, event, p->start_ns, p->snapshot->end_ns);
    return sum;
}

static void assert_events(const struct pipeline *p, bool all) {
    size_t n = 0;
    for (size_t e = 0; e < p->layout->n_events; e++) {
        unsigned event = p->layout->events[e];
        if (!all && !stands(p, event))
            continue;
        double total = p->snapshot->values[snapshot_event(p->layout, 0, e)];
        if (isfinite(total))
            assert_near(total, truth_of(p, event), 1e-6, p->catalog->events[event].name);
        n += isfinite(total) && total > 0;
    }
    assert_true(n > 0);
}

static void check_intervals(unsigned cores) {
    struct pipeline p;
    start(&p, cores);
    uint64_t last_ns = EPOCH_NS, slot_ns = p.plan->slot_ns;
    size_t within = 0, over = 0;
    while (p.now_ns < EPOCH_NS + SECONDS * SECOND_NS) {
        if (!pipeline_step(&p, 0))
            continue;
        assert_true(p.snapshot->end_ns - last_ns <= PLAN_INTERVAL_NS + PLAN_INTERVAL_NS / 2 + 2 * slot_ns);
        last_ns = p.snapshot->end_ns;
        if (cores < 24) // else not every snapshot reads all CPUs, as each ends rounds of some
            assert_events(&p, false);
        within += p.snapshot->within_round;
        over += !p.snapshot->within_round;
        if (p.snapshot->within_round || cores >= 2 * SCHEDULE_COHORT_CORES)
            continue;
        assert_events(&p, true); // a steady load: what rotates is right whenever all rounds end
        assert_all_accounted(&p, 1e-9);
    }
    assert_true(over > 5 && within > 2 * over);
    pipeline_stop(&p);
}

static void test_every_host_has_a_snapshot_every_two_seconds_and_standing_events_are_exact(void **state) {
    (void)state;
    static const unsigned cores[] = {1, 2, 8, 16, 24};
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        check_intervals(cores[i]);
}

static size_t reads_between(const struct pipeline *p, size_t begin) {
    size_t n = 0;
    for (size_t i = begin; i < p->recorder.n_calls; i++)
        n += p->recorder.calls[i].kind == CALL_READ &&
             (size_t)p->recorder.calls[i].handle % p->plan->n_groups == p->plan->n_groups - 1;
    return n;
}

// One read for each CPU and interval is all that it costs.
static void test_a_snapshot_within_a_round_costs_one_read_of_each_cpu(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 2);
    pipeline_run(&p, 3);
    size_t begin = p.recorder.n_calls;
    pipeline_run(&p, 10);
    assert_int_equal(reads_between(&p, begin), 10 * p.topology->n_cpus);
    pipeline_stop(&p);
}

// Before the first round has ended, what rotates has no value and is not said to have trouble.
static void test_before_the_first_round_ends_what_rotates_is_not_yet_measured(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 2);
    pipeline_run(&p, 1);
    assert_true(p.snapshot->within_round && p.snapshot->sequence == 0);
    size_t n = 0;
    for (size_t m = 0; m < p.layout->n_metrics; m++)
        if (p.plan->metrics[m].unit >= 0 && !plan_unit_stands(p.plan, (unsigned)p.plan->metrics[m].unit)) {
            assert_int_equal(p.snapshot->absent[snapshot_state(p.layout, 0, m)], ABSENT_NO_ROUND);
            n++;
        }
    assert_true(n > 3);
    for (size_t e = 0; e < p.layout->n_events; e++)
        assert_true(isnan(p.snapshot->values[snapshot_trouble(p.layout, e, EVENT_STARVED)]));
    while (p.snapshot->within_round)
        pipeline_run(&p, 1);
    assert_int_equal(p.snapshot->sequence, 1);
    pipeline_stop(&p);
}

// A snapshot says of when its gauges are, and those that repeat the ones before have become older.
static void test_gauges_say_of_when_they_are_and_age_until_the_next_round_ends(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 2);
    size_t ipc = snapshot_metric(p.layout, 0, pipeline_metric(&p, "ipc")), repeated = 0;
    double before = NAN, age_before = NAN;
    for (size_t i = 0; i < 40; i++) {
        pipeline_run(&p, 1);
        const double *values = p.snapshot->values;
        double begun = values[snapshot_gauges_begun(p.layout)], ended = values[snapshot_gauges_ended(p.layout)],
               age = values[snapshot_gauges_age(p.layout)], round = (double)p.plan->round_ns * 1e-9,
               interval = (double)(p.snapshot->end_ns - p.snapshot->start_ns) * 1e-9;
        assert_true(isfinite(begun) == (p.snapshot->sequence > 0) && isfinite(begun) == isfinite(ended));
        if (!isfinite(begun))
            continue;
        assert_true(fabs(begun - ended - round) < 1e-6);
        assert_true(p.snapshot->within_round ? fabs(ended - age_before - interval) < 1e-6 : ended == 0);
        assert_true(p.snapshot->within_round ? values[ipc] == before && age == ended : !(age > 0));
        repeated += p.snapshot->within_round;
        before = values[ipc];
        age_before = ended;
    }
    assert_true(repeated > 20);
    pipeline_stop(&p);
}

// A pause that begins within a round is uncovered from where each part of the counts ended.
static void test_a_pause_within_a_round_is_uncovered_once(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 2);
    do
        pipeline_run(&p, 1);
    while (p.snapshot->within_round);
    pipeline_run(&p, 2);
    assert_true(p.snapshot->within_round);
    pipeline_yield(&p, 30);
    do
        pipeline_run(&p, 1);
    while (p.snapshot->within_round);
    assert_all_accounted(&p, 1e-9);
    pipeline_stop(&p);
}

// A CPU that goes away is known to be away with the next snapshot, and measured again with the one after it is back.
static void test_a_cpu_that_goes_within_a_round_is_missed_by_the_next_snapshot(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "zen4", 1);
    struct scenario_rival *away = pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    away->cpus = (struct cpuset){0};
    cpuset_add(&away->cpus, 1);
    away->from_seconds = 30;
    away->until_seconds = 42;
    p.interval_ns = PLAN_INTERVAL_NS;
    pipeline_start(&p, SECOND_NS / 5, 1, NULL);
    double offline = 0;
    pipeline_run_until(&p, 29.9);
    for (size_t s = 0; s < p.topology->n_sockets; s++)
        offline += p.snapshot->values[snapshot_offline(p.layout, s)];
    assert_true(offline == 0);
    pipeline_run_until(&p, 34);
    for (size_t s = 0; s < p.topology->n_sockets; s++)
        offline += p.snapshot->values[snapshot_offline(p.layout, s)];
    assert_true(offline == 1);
    pipeline_run_until(&p, 100);
    assert_int_equal(p.recorder.n_open, p.topology->n_cpus * p.plan->n_groups);
    pipeline_stop(&p);
}

static void test_snapshots_within_rounds_are_replayed_bit_by_bit(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    start(&p, 2);
    taped_begin(&taped, &p);
    taped_run(&taped, &p, 20);
    taped_yield(&taped, &p, 10);
    taped_run(&taped, &p, 20);
    taped_assert_plays(&taped, 40);
    taped_end(&taped);
    pipeline_stop(&p);
}

// ---- as the daemon does it ----

static const char LONG_ROUNDS[] = "slot: 1s\nprofiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n";

static void test_the_daemon_is_blind_after_three_intervals_however_long_its_rounds(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/steady.json", LONG_ROUNDS);
    measuring_add_rival(&m, RIVAL_PINNED, 6, "0-7", 20.5, 60);
    measuring_start(&m);
    measuring_run_until(&m, 20);
    assert_true(measuring_plan(&m)->round_ns > 6 * SECOND_NS);
    assert_true(!m.snapshot->blind && status_engine_series(&m.snapshot->engine, STATUS_PMU_UP) == 1);
    size_t before = m.n_snapshots;
    while (!m.snapshot->blind) {
        measuring_step(&m);
        assert_true(measuring_seconds(&m) < 31);
    }
    assert_true(status_engine_series(&m.snapshot->engine, STATUS_PMU_UP) == 0 && m.n_snapshots - before >= 3);
    measuring_run_until(&m, 64);
    assert_false(m.snapshot->blind);
    measuring_stop(&m);
}

static void test_the_interval_is_as_configured_also_where_nothing_rotates(void **state) {
    (void)state;
    static const char *const scenarios[] = {"tests/data/scenarios/steady.json",
                                            "tests/data/scenarios/steady-software.json"};
    for (int i = 0; i < 2; i++) {
        struct measuring m;
        char yaml[160];
        (void)snprintf(yaml, sizeof yaml, "%sinterval: 5s\n", i == 0 ? LONG_ROUNDS : "");
        measuring_load(&m, scenarios[i], yaml);
        measuring_start(&m);
        measuring_run_until(&m, 40);
        size_t before = m.n_snapshots;
        measuring_run_until(&m, 100);
        assert_in_range(m.n_snapshots - before, 10, 15); // every 4 or 5 seconds
        assert_true(view_stale(m.view, 20000) && !view_stale(m.view, 14000));
        measuring_stop(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_host_has_a_snapshot_every_two_seconds_and_standing_events_are_exact),
        cmocka_unit_test(test_a_snapshot_within_a_round_costs_one_read_of_each_cpu),
        cmocka_unit_test(test_before_the_first_round_ends_what_rotates_is_not_yet_measured),
        cmocka_unit_test(test_gauges_say_of_when_they_are_and_age_until_the_next_round_ends),
        cmocka_unit_test(test_a_pause_within_a_round_is_uncovered_once),
        cmocka_unit_test(test_a_cpu_that_goes_within_a_round_is_missed_by_the_next_snapshot),
        cmocka_unit_test(test_snapshots_within_rounds_are_replayed_bit_by_bit),
        cmocka_unit_test(test_the_daemon_is_blind_after_three_intervals_however_long_its_rounds),
        cmocka_unit_test(test_the_interval_is_as_configured_also_where_nothing_rotates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
