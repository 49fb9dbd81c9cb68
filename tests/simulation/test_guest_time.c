// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"
#include "tests/simulation/sim_host.h"
#include "tests/simulation/taped.h"

#include "collectors/pmu/trial.h"

// Guests of KVM on a host with a steady load, whose events exclude guests (docs/measurement.md): what the host
// did beside them is counted once, whoever has the counters meanwhile. With the mediated virtual PMU the events'
// enabled time lacks the guests' (kernel/events/core.c, __perf_event_time_ctx); else it goes on (arch/x86/events/intel/
// core.c, intel_guest_get_msrs).

static const double PERIOD_SECONDS = 0.0137, SHARE = 0.9; // of CPUs 0 to 3; no slot is a multiple of the period
static const char GUESTS_CPUS[] = "0-3";

// The kernel's account of guests, in steps of 10 ms: what CPUs 0 to 3 have run since the last call.
struct guest_clock {
    struct busy_clock clock; // first
    uint64_t *now_ns, taken_ns;
};

static bool know_nothing(struct busy_clock *clock, const struct topology *topology, uint64_t now_ns,
                         uint64_t *busy_ns) {
    (void)clock, (void)topology, (void)now_ns, (void)busy_ns;
    return false;
}

static bool take_guests(struct busy_clock *clock, const struct topology *topology, uint64_t *guest_ns) {
    struct guest_clock *guests = (struct guest_clock *)clock;
    uint64_t all_ns = (uint64_t)(SHARE * (double)(*guests->now_ns - EPOCH_NS)) / 10000000 * 10000000;
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
        guest_ns[cpu] = topology->cpus[cpu].id < 4 && guests->taken_ns > 0 ? all_ns - guests->taken_ns : 0;
    guests->taken_ns = all_ns;
    return true;
}

// Guests run for all of the time (`share` 1) or for most of it.
static void load_guests(struct pipeline *p, enum scenario_rival_kind kind, double share, struct guest_clock *clock) {
    fault_load(p);
    struct scenario_rival *guest = add_rival(p, kind, 0, GUESTS_CPUS, 0, 0);
    if (share < 1) {
        guest->period_seconds = PERIOD_SECONDS;
        guest->on_seconds = PERIOD_SECONDS * share;
    }
    *clock = (struct guest_clock){.clock = {know_nothing, take_guests}, .now_ns = &p->now_ns};
    p->busy_clock = &clock->clock;
}

static double level1_sum(const struct pipeline *p, size_t scope) {
    double sum = 0;
    for (size_t i = 0; i < p->layout->n_level1; i++)
        sum += p->snapshot->values[snapshot_category(p->layout, scope, i)];
    return sum;
}

static void check_ninety_percent(enum scenario_rival_kind kind) {
    struct pipeline p;
    struct guest_clock clock;
    load_guests(&p, kind, SHARE, &clock);
    start(&p);
    pipeline_run_until(&p, 60);
    const struct formula_sum slots = {
        .terms = &(struct formula_term){(unsigned)catalog_find_event(p.catalog, "CPU_CYCLES"), 8}, .n = 1};
    const size_t scopes[] = {0, snapshot_scope_cpu(p.layout, 0), snapshot_scope_cpu(p.layout, 7)};
    for (size_t i = 0; i < 3; i++) {
        size_t scope = scopes[i];
        assert_totals_true(&p, scope, 0.02); // of a beat of slots and period
        assert_near(level1_sum(&p, scope), pipeline_true_sum(&p, scope, &slots, p.start_ns, p.snapshot->end_ns), 0.02,
                    "pipeline slots");
        assert_near(level1_sum(&p, scope), p.snapshot->values[snapshot_pipeline_slots(p.layout, scope)], 1e-9,
                    "sum of categories");
    }
    assert_gauges_true(&p, 0, 0.02);
    assert_all_accounted(&p, 1e-9);
    for (unsigned reason = 0; reason < UNCOVERED_N; reason++)
        assert_true(uncovered(&p, 0, (enum uncovered)reason) == 0);
    assert_true(pipeline_windows(&p, WINDOW_STARVED) == 0 && pipeline_windows(&p, WINDOW_CONTENDED) == 0);
    assert_int_equal(p.n_plans, 1);
    pipeline_stop(&p);
}

static void test_a_cpu_nine_tenths_in_a_guest_shows_what_the_host_did_beside_it(void **state) {
    (void)state;
    check_ninety_percent(RIVAL_MEDIATED);
    check_ninety_percent(RIVAL_GUEST);
}

static double guest_seconds(const struct pipeline *p, size_t scope) {
    return p->snapshot->values[snapshot_guest(p->layout, scope)];
}

static void test_what_guests_took_is_told_by_cpu_socket_and_host(void **state) {
    (void)state;
    struct pipeline p;
    struct guest_clock clock;
    load_guests(&p, RIVAL_MEDIATED, SHARE, &clock);
    start(&p);
    pipeline_run(&p, 1);
    pipeline_run_until(&p, 60);
    double one = SHARE * elapsed_seconds(&p);
    for (unsigned cpu = 0; cpu < 8; cpu++) // the first account has nothing before it
        assert_near(guest_seconds(&p, snapshot_scope_cpu(p.layout, cpu)), cpu < 4 ? one : 0, 0.05, "of a CPU");
    double of_cpu_0 = guest_seconds(&p, snapshot_scope_cpu(p.layout, 0));
    assert_near(guest_seconds(&p, snapshot_scope_socket(0)), 4 * of_cpu_0, 1e-9, "of the first socket");
    assert_true(guest_seconds(&p, snapshot_scope_socket(1)) == 0);
    assert_near(guest_seconds(&p, 0), 4 * of_cpu_0, 1e-9, "of the host");
    pipeline_replan(&p); // totals go on
    pipeline_run(&p, 1);
    assert_true(guest_seconds(&p, 0) >= 4 * of_cpu_0);
    pipeline_stop(&p);
}

static void test_where_nobody_tells_of_guests_there_is_no_value(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    start(&p);
    pipeline_run(&p, 2);
    for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
        assert_true(isnan(p.snapshot->values[snapshot_guest(p.layout, scope)]));
    pipeline_stop(&p);
}

// A CPU that only runs a guest did nothing else: its windows have data, and these say 0.
static void test_a_cpu_that_only_runs_a_guest_does_not_starve(void **state) {
    (void)state;
    struct pipeline p;
    struct guest_clock clock;
    load_guests(&p, RIVAL_MEDIATED, 1, &clock);
    start(&p);
    pipeline_run_until(&p, 30);
    assert_true(pipeline_windows(&p, WINDOW_STARVED) == 0);
    assert_only_uncovered(&p, 0, UNCOVERED_STARVED);
    assert_true(uncovered(&p, 0, UNCOVERED_STARVED) == 0);
    assert_int_equal(p.n_plans, 1);
    for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
        assert_totals_true(&p, scope, 1e-6);
    assert_gauges_true(&p, snapshot_scope_socket(1), 1e-6);
    pipeline_stop(&p);
}

// Others have the counters for 30 % of the time that is left.
static void test_others_beside_a_guest_are_told_apart_from_it(void **state) {
    (void)state;
    struct pipeline p;
    struct guest_clock clock;
    load_guests(&p, RIVAL_MEDIATED, SHARE, &clock);
    struct scenario_rival *pinned = add_rival(&p, RIVAL_PINNED, 6, GUESTS_CPUS, 0, 0);
    pinned->period_seconds = 0.0011;
    pinned->on_seconds = 0.3 * pinned->period_seconds;
    start(&p);
    pipeline_run_until(&p, 15);
    assert_true(pipeline_windows(&p, WINDOW_CONTENDED) > 0 && pipeline_windows(&p, WINDOW_STARVED) == 0);
    assert_totals_true(&p, 0, 0.03);
    pipeline_stop(&p);
}

static void test_a_recording_has_what_guests_took(void **state) {
    (void)state;
    struct pipeline p;
    struct guest_clock clock;
    struct taped taped;
    load_guests(&p, RIVAL_MEDIATED, SHARE, &clock);
    pipeline_start(&p, SECOND_NS / 5, 1, (const char *const[]){"stage_1", "General", NULL});
    taped_begin(&taped, &p);
    taped_run(&taped, &p, 12);
    assert_true(p.snapshot->values[snapshot_guest(p.layout, 0)] > 0);
    taped_assert_plays(&taped, 12);
    taped_end(&taped);
    pipeline_stop(&p);
}

// ---- probe and trial ----

static unsigned probe_beside(const char *cpus, double share) {
    struct pipeline p;
    const char *unknown;
    struct pmu *pmu;
    uint64_t now_ns = EPOCH_NS;
    fault_load(&p);
    struct scenario_rival *guest = add_rival(&p, RIVAL_MEDIATED, 0, cpus, 0, 0);
    if (share < 1) {
        guest->period_seconds = 0.005;
        guest->on_seconds = 0.005 * share;
    }
    assert_int_equal(pmu_sim_new(p.scenario, p.catalog, EPOCH_NS, &unknown, &pmu), 0);
    struct probe *probe = pipeline_probe(&p, pmu, &now_ns);
    unsigned counters = probe_counters(probe);
    assert_int_equal(probe_error(probe), 0);
    probe_free(probe);
    pmu->ops->free(pmu);
    pipeline_stop(&p);
    return counters;
}

static void test_all_counters_are_found_beside_guests(void **state) {
    (void)state;
    assert_int_equal(probe_beside("0-5", 1), 6); // two CPUs of eight answer
    assert_int_equal(probe_beside("0-7", 0.9), 6);
    assert_int_equal(probe_beside("0-7", 1), 6); // nobody can be asked: what the kernel opens fits
}

static void test_a_trial_beside_a_guest_says_nothing(void **state) {
    (void)state;
    struct host host;
    struct topology *topology;
    struct trial *trial;
    uint64_t deadline_ns;
    host_init(&host, 2, 4);
    host_add_rival(&host, RIVAL_MEDIATED, 0); // on CPU 0
    host_start(&host);
    assert_int_equal(pmu_sim_topology(&host.scenario, NULL, &topology), 0);
    const struct trial_group group = {.events = &host.catalog->events[G1].code, .n_events = 1};
    for (unsigned core = 0; core < 2; core++) {
        uint64_t now_ns = HOST_EPOCH_NS + (1 + core) * SECOND;
        assert_int_equal(trial_new(host.pmu, topology, core, &group, 1, &trial), 0);
        assert_int_equal(trial_step(trial, now_ns, now_ns + SECOND, &deadline_ns), 0);
        assert_int_equal(trial_step(trial, deadline_ns, deadline_ns, &deadline_ns), 1);
        assert_int_equal(trial_answer(trial, 0), core == 0 ? -EAGAIN : 1);
        trial_free(trial);
    }
    topology_free(topology);
    host_stop(&host);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cpu_nine_tenths_in_a_guest_shows_what_the_host_did_beside_it),
        cmocka_unit_test(test_what_guests_took_is_told_by_cpu_socket_and_host),
        cmocka_unit_test(test_where_nobody_tells_of_guests_there_is_no_value),
        cmocka_unit_test(test_a_cpu_that_only_runs_a_guest_does_not_starve),
        cmocka_unit_test(test_others_beside_a_guest_are_told_apart_from_it),
        cmocka_unit_test(test_a_recording_has_what_guests_took),
        cmocka_unit_test(test_all_counters_are_found_beside_guests),
        cmocka_unit_test(test_a_trial_beside_a_guest_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
