// SPDX-License-Identifier: Apache-2.0
// The simulated host: what it counts, what it refuses, and its CPUs coming and going.

#include <stdlib.h>

#include "tests/simulation/sim_host.h"

static void test_steady_rates_are_counted_exactly(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    host_start(&host);
    int handle = host_open(&host, CYCLES, G1, G9);
    host_enable(&host, handle);
    for (unsigned slot = 1; slot <= 10; slot++) {
        host_go_to(&host, slot * 200 * MS);
        struct reading reading = host_read(&host, handle, 3);
        assert_int_equal(reading.times.enabled_ns, slot * 200 * MS);
        assert_int_equal(reading.times.running_ns, slot * 200 * MS);
        assert_int_equal(reading.counts[0], slot * UINT64_C(600000000));
        assert_int_equal(reading.counts[1], (slot * UINT64_C(100000007) + 2) / 5);
        assert_int_equal(reading.counts[2], (slot * UINT64_C(900000007) + 2) / 5);
    }
    host_stop(&host);
}

static void test_a_group_counts_only_while_it_is_enabled(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    host_start(&host);
    int handle = host_open(&host, CYCLES);
    host_go_to(&host, 5 * SECOND);
    assert_int_equal(host_read(&host, handle, 1).times.enabled_ns, 0);
    host_enable(&host, handle);
    host_enable(&host, handle); // twice is once
    host_go_to(&host, 6 * SECOND);
    host_disable(&host, handle);
    host_disable(&host, handle);
    host_go_to(&host, 9 * SECOND);
    struct reading reading = host_read(&host, handle, 1);
    assert_int_equal(reading.times.enabled_ns, SECOND);
    assert_int_equal(reading.times.running_ns, SECOND);
    assert_int_equal(reading.counts[0], 3000000000);
    host_stop(&host);
}

static void test_each_cpu_is_ahead_of_the_one_before_by_the_stagger(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 3, 6);
    // G1 rises from 0 to 8e6 a second within 4 s and falls back within the next 4 s.
    char name[] = "G1";
    struct scenario_rate top = {name, 8e6};
    struct scenario_keyframe keyframes[] = {{.at_seconds = 0, .rates = NULL, .n_rates = 0},
                                            {.at_seconds = 4, .rates = &top, .n_rates = 1}};
    host.load = (struct scenario_load){NULL, 8, keyframes, 2};
    host.assignment.offset_seconds = 1;
    host.assignment.stagger_seconds = 2;
    host_start(&host);
    static const uint64_t truth[] = {3000000, 7000000, 5000000}; // from second 1, 3 and 5 of the load, for a second
    for (unsigned cpu = 0; cpu < 3; cpu++) {
        int handle = host_open_on(&host, cpu, (const unsigned[]){G1, 0});
        host_enable(&host, handle);
        host_go_to(&host, host.now_ns + 8 * SECOND); // a whole period: back to where the load was
        host_go_to(&host, host.now_ns + SECOND);
        assert_int_equal(host_read(&host, handle, 1).counts[0], 32000000 + truth[cpu]);
        uint64_t from_ns = HOST_EPOCH_NS + host.now_ns - SECOND;
        assert_true(pmu_sim_truth(host.pmu, cpu, G1, from_ns, from_ns + SECOND) == (double)truth[cpu]);
        host_go_to(&host, 16 * SECOND * (cpu + 1));
    }
    host_stop(&host);
}

static void test_the_last_assignment_counts_and_without_one_a_cpu_is_idle(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 3, 6);
    struct scenario_rate slow[] = {{host.rates[1].event, 5}};
    struct scenario_keyframe keyframe = {.at_seconds = 0, .rates = slow, .n_rates = 1};
    struct scenario_load loads[] = {host.load, {NULL, 1, &keyframe, 1}};
    struct scenario_assignment assignments[] = {{.load = 0}, {.load = 1}};
    cpuset_add(&assignments[0].cpus, 0);
    cpuset_add(&assignments[0].cpus, 1);
    cpuset_add(&assignments[1].cpus, 1);
    host.scenario.loads = loads;
    host.scenario.n_loads = 2;
    host.scenario.assignments = assignments;
    host.scenario.n_assignments = 2;
    host_start(&host);
    static const uint64_t truth[] = {200000014, 10, 0};
    for (unsigned cpu = 0; cpu < 3; cpu++) {
        assert_true(pmu_sim_truth(host.pmu, cpu, G1, HOST_EPOCH_NS, HOST_EPOCH_NS + 2 * SECOND) == (double)truth[cpu]);
        assert_true(pmu_sim_truth(host.pmu, cpu, 0, HOST_EPOCH_NS, HOST_EPOCH_NS + 2 * SECOND) == 2);
    }
    host_stop(&host);
}

static void test_a_group_that_no_counters_could_hold_is_refused(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 2);
    host_start(&host);
    assert_true(host_open(&host, CYCLES, G1, G2) >= 0);
    assert_int_equal(host_open(&host, G1, G2, G3), -EINVAL);
    assert_true(host_open(&host, CYCLES, CYCLES, G1) >= 0); // the second takes a general counter
    assert_int_equal(host_open(&host, CYCLES, CYCLES, G1, G2), -EINVAL);
    assert_int_equal(host.pmu->ops->open(host.pmu, 0, (const struct pmu_event[]){{0}}, 0), -EINVAL);
    host_stop(&host);
}

// Enables a group for a second: true where it was on the counters, and then it has counted.
static bool runs(struct host *host, int handle, size_t n) {
    assert_true(handle >= 0);
    host_enable(host, handle);
    host_go_to(host, host->now_ns + SECOND);
    struct reading reading = host_read(host, handle, n);
    host_disable(host, handle);
    assert_true(reading.times.enabled_ns == SECOND);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(reading.counts[i] > 0, reading.times.running_ns > 0);
    return reading.times.running_ns > 0;
}

static void test_a_pmu_that_validates_nothing_accepts_a_group_that_never_runs(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 2);
    host.scenario.validates_nothing = true;
    host_start(&host);
    assert_true(runs(&host, host_open(&host, CYCLES, G1, G2), 3));
    assert_false(runs(&host, host_open(&host, G1, G2, G3), 3));
    assert_false(runs(&host, host_open(&host, CYCLES, G1, G2, G3, G4, G5, G6, G7, G8, G9), 10));
    host_stop(&host);
}

static void test_a_surplus_member_is_accepted_where_the_leader_needs_a_general_counter(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 2);
    host.scenario.surplus = true;
    host_start(&host);
    assert_true(runs(&host, host_open(&host, G1, G2), 2));
    assert_false(runs(&host, host_open(&host, G1, G2, G3), 3));
    assert_int_equal(host_open(&host, G1, G2, G3, G4), -EINVAL);
    assert_int_equal(host_open(&host, CYCLES, G1, G2, G3), -EINVAL); // its leader has a counter of its own
    host_stop(&host);
}

static void test_a_rival_on_the_cycle_counter_makes_cycles_take_a_general_one(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 2);
    host_add_rival(&host, RIVAL_PINNED, 0)->cycles = true;
    host_start(&host);
    assert_true(runs(&host, host_open(&host, G1, G2), 2));
    assert_true(runs(&host, host_open(&host, CYCLES, G1), 2));
    assert_false(runs(&host, host_open(&host, CYCLES, G1, G2), 3));
    host_stop(&host);
}

static void test_without_a_limit_everything_fits(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 0);
    (void)host_add_rival(&host, RIVAL_PINNED, 64);
    host_start(&host);
    int all = host_open(&host, CYCLES, G1, G2, G3, G4, G5, G6, G7, G8, G9), again = host_open(&host, CYCLES, G1, G2);
    host_enable(&host, all);
    host_enable(&host, again);
    host_go_to(&host, SECOND);
    assert_int_equal(host_read(&host, all, 10).times.running_ns, SECOND);
    assert_int_equal(host_read(&host, again, 3).times.running_ns, SECOND);
    host_stop(&host);
}

static void test_an_unknown_event_cpu_or_handle_is_refused(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 2, 6);
    host_start(&host);
    const struct pmu_event known = {.config = host_config(G1)}, unknown = {.config = 0xbad};
    assert_int_equal(host.pmu->ops->open(host.pmu, 0, &unknown, 1), -ENOENT);
    assert_int_equal(host.pmu->ops->open(host.pmu, 2, &known, 1), -ENODEV);
    assert_int_equal(host.pmu->ops->enable(host.pmu, 0, true), -EBADF);
    int handle = host.pmu->ops->open(host.pmu, 1, &known, 1);
    assert_int_equal(handle, 0);
    struct pmu_times times = {.enabled_ns = 77};
    uint64_t counts[2] = {88, 88};
    assert_int_equal(host.pmu->ops->read(host.pmu, handle, &times, counts, 2), -EINVAL);
    assert_int_equal(host.pmu->ops->read(host.pmu, 99, &times, counts, 1), -EBADF);
    assert_int_equal(host.pmu->ops->read(host.pmu, -1, &times, counts, 1), -EBADF);
    assert_true(times.enabled_ns == 77 && counts[0] == 88);
    host.pmu->ops->close(host.pmu, handle);
    assert_int_equal(host.pmu->ops->read(host.pmu, handle, &times, counts, 1), -EBADF);
    host_stop(&host);
}

static void test_a_closed_handle_is_used_again_and_starts_at_0(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 2);
    host_start(&host);
    int first = host_open(&host, G1, G2), second = host_open(&host, CYCLES);
    host_enable(&host, first);
    host_go_to(&host, SECOND);
    host.pmu->ops->close(host.pmu, first);
    assert_int_equal(host_open(&host, G3, G4), first);
    assert_int_equal(host_read(&host, first, 2).times.enabled_ns, 0);
    host_enable(&host, first); // the closed group left its counters
    host_go_to(&host, 2 * SECOND);
    assert_int_equal(host_read(&host, first, 2).times.running_ns, SECOND);
    assert_int_equal(host_read(&host, first, 2).counts[0], 300000007);
    assert_int_equal(host_read(&host, second, 1).times.enabled_ns, 0);
    host_stop(&host);
}

static void test_opens_are_refused_while_the_scenario_says_so(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 2, 6);
    struct scenario_rival *rival = host_add_rival(&host, RIVAL_REFUSE, 0);
    rival->from_seconds = 1;
    rival->until_seconds = 3;
    host_start(&host);
    int handle = host_open(&host, G1);
    host_enable(&host, handle);
    host_go_to(&host, SECOND);
    assert_int_equal(host_open(&host, G1), -EMFILE);
    assert_true(host_open_on(&host, 1, (const unsigned[]){G1, 0}) >= 0);
    host_go_to(&host, 3 * SECOND - 1);
    assert_int_equal(host_open(&host, G1), -EMFILE);
    host_go_to(&host, 3 * SECOND);
    assert_true(host_open(&host, G1) >= 0);
    assert_int_equal(host_read(&host, handle, 1).times.running_ns, 3 * SECOND); // what was open went on
    assert_true(isnan(pmu_sim_rival_share(host.pmu, 0, 0)));
    host_stop(&host);
}

static void test_a_group_dies_with_its_cpu_and_does_not_come_back_with_it(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 2, 6);
    struct scenario_rival *away = host_add_rival(&host, RIVAL_OFFLINE, 0);
    away->from_seconds = 5;
    away->until_seconds = 7;
    (void)host_add_rival(&host, RIVAL_PINNED, 2);
    host_start(&host);
    int running = host_open(&host, CYCLES, G1), stopped = host_open(&host, G2, G3);
    int elsewhere = host_open_on(&host, 1, (const unsigned[]){CYCLES, 0});
    host_enable(&host, running);
    host_enable(&host, elsewhere);
    host_go_to(&host, 5 * SECOND - 1);
    assert_int_equal(host_read(&host, running, 2).times.running_ns, 5 * SECOND - 1);
    struct pmu_times times;
    uint64_t counts[2];
    for (unsigned second = 5; second <= 8; second++) {
        host_go_to(&host, second * SECOND);
        assert_int_equal(host.pmu->ops->read(host.pmu, running, &times, counts, 2), -ENODEV);
        assert_int_equal(host.pmu->ops->read(host.pmu, stopped, &times, counts, 2), -ENODEV);
        host_enable(&host, stopped);
        host_disable(&host, running);
        int opened = host_open(&host, G1);
        assert_true(second < 7 ? opened == -ENODEV : opened >= 0);
    }
    int anew = host_open(&host, CYCLES, G1), large = host_open(&host, G1, G2, G3, G4, G5);
    host_enable(&host, anew);
    host_go_to(&host, 10 * SECOND);
    assert_int_equal(host_read(&host, anew, 2).counts[0], 6000000000);
    assert_int_equal(host_read(&host, elsewhere, 1).times.running_ns, 10 * SECOND);
    assert_true(pmu_sim_rival_share(host.pmu, 1, 0) == 1); // it ran whenever it could want to
    host.pmu->ops->close(host.pmu, running);
    assert_true(pmu_sim_truth(host.pmu, 0, CYCLES, HOST_EPOCH_NS, HOST_EPOCH_NS + 10 * SECOND) == 24e9);
    assert_true(pmu_sim_truth(host.pmu, 0, CYCLES, HOST_EPOCH_NS + 6 * SECOND, HOST_EPOCH_NS + 8 * SECOND) == 3e9);
    assert_true(pmu_sim_truth(host.pmu, 1, CYCLES, HOST_EPOCH_NS, HOST_EPOCH_NS + 10 * SECOND) == 30e9);
    host_disable(&host, anew);
    host_enable(&host, large); // does not fit beside the pinned rival, which is back
    host_go_to(&host, 11 * SECOND);
    assert_int_equal(host_read(&host, large, 5).times.enabled_ns, SECOND);
    assert_int_equal(host_read(&host, large, 5).times.running_ns, 0);
    host_stop(&host);
}

static void test_a_dead_group_of_one_event_reads_in_full_and_stands_still(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    struct scenario_rival *away = host_add_rival(&host, RIVAL_OFFLINE, 0);
    away->from_seconds = 5;
    away->until_seconds = 7;
    host_start(&host);
    int group = host_open(&host, CYCLES);
    host_enable(&host, group);
    for (unsigned second = 5; second <= 9; second++) {
        host_go_to(&host, second * SECOND);
        struct reading reading = host_read(&host, group, 1);
        assert_int_equal(reading.counts[0], 15000000000);
        assert_true(reading.times.enabled_ns == 5 * SECOND && reading.times.running_ns == 5 * SECOND);
        host_disable(&host, group);
        host_enable(&host, group); // which succeeds
    }
    host_stop(&host);
}

static void test_slots_stay_exact_for_a_year(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    char name[] = "G1";
    struct scenario_rate low = {name, 1e9}, high = {name, 1.9e10}; // 1e10 on average
    struct scenario_keyframe keyframes[] = {{.at_seconds = 0, .rates = &low, .n_rates = 1},
                                            {.at_seconds = 30, .rates = &high, .n_rates = 1}};
    host.load = (struct scenario_load){NULL, 60, keyframes, 2};
    host_start(&host);
    int handle = host_open(&host, G1);
    host_enable(&host, handle);
    const uint64_t day = 24 * 3600 * SECOND;
    for (unsigned i = 1; i <= 365; i++) {
        host_go_to(&host, i * day);
        uint64_t before = host_read(&host, handle, 1).counts[0];
        assert_true(before == i * UINT64_C(864000000000000));
        host_go_to(&host, i * day + 10 * SECOND);
        host_go_to(&host, i * day + 10 * SECOND + 200 * MS);
        uint64_t after = host_read(&host, handle, 1).counts[0];
        // second s of a minute: 1e9 + s * 6e8; from 0 to 10.2: 1e9 * 10.2 + 6e8 * 10.2^2 / 2
        assert_true(llabs((long long)(after - before) - 41412000000) <= 1);
    }
    host_stop(&host);
}

static void test_an_unknown_rate_is_reported_by_its_name(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    char name[] = "NO_SUCH_EVENT";
    host.rates[3].event = name;
    const char *event = NULL;
    assert_int_equal(pmu_sim_new(&host.scenario, host.catalog, 0, &event, &host.pmu), -EINVAL);
    assert_ptr_equal(event, name);
    assert_null(host.pmu);
    catalog_free(host.catalog);
}

static void test_an_unknown_event_cannot_be_filtered(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    char name[] = "NO_SUCH_EVENT", *filtered[] = {name};
    host.scenario.filtered = filtered;
    host.scenario.n_filtered = 1;
    const char *event = NULL;
    assert_int_equal(pmu_sim_new(&host.scenario, host.catalog, 0, &event, &host.pmu), -EINVAL);
    assert_ptr_equal(event, name);
    catalog_free(host.catalog);
}

static void test_cpus_are_numbered_as_the_scenario_says(void **state) {
    (void)state;
    struct scenario scenario = {
        .sockets = 2, .cores_per_socket = 3, .threads_per_core = 2, .maximum_frequency_hz = 3.5e9};
    struct topology *topology;
    assert_int_equal(pmu_sim_topology(&scenario, NULL, &topology), 0);
    assert_int_equal(topology->n_cpus, 12);
    assert_int_equal(topology->n_cores, 6);
    assert_int_equal(topology->n_sockets, 2);
    assert_true(topology->maximum_frequency_hz == 3.5e9);
    static const unsigned sockets[] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1};
    for (unsigned cpu = 0; cpu < 12; cpu++) {
        assert_int_equal(topology->cpus[cpu].id, cpu);
        assert_int_equal(topology->cpus[cpu].socket, sockets[cpu]);
        assert_int_equal(topology->cpus[cpu].core, topology->cpus[cpu % 6].core); // the second thread of a core
        for (unsigned other = 0; other < cpu % 6; other++)
            assert_int_not_equal(topology->cpus[cpu].core, topology->cpus[other].core);
    }
    topology_free(topology);
    struct cpuset selected = {0};
    cpuset_add(&selected, 2);
    cpuset_add(&selected, 8);
    assert_int_equal(pmu_sim_topology(&scenario, &selected, &topology), 0);
    assert_int_equal(topology->n_cpus, 2);
    assert_int_equal(topology->n_cores, 1);
    topology_free(topology);
}

static void test_a_thousand_cpus_run_side_by_side(void **state) {
    (void)state;
    enum { CPUS = 1024, ROUNDS = 300 };
    struct host host;
    host_init(&host, CPUS, 3);
    struct scenario_rival *task = host_add_rival(&host, RIVAL_TASK, 3);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        cpuset_add(&task->cpus, cpu);
    host_start(&host);
    int *handles = calloc(CPUS, sizeof *handles);
    assert_non_null(handles);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        handles[cpu] = host_open_on(&host, cpu, (const unsigned[]){G1, G2, G3, 0});
    for (unsigned round = 0; round < ROUNDS; round++) {
        host_go_to(&host, round * 60 * SECOND);
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
            host_enable(&host, handles[cpu]);
        host_go_to(&host, round * 60 * SECOND + 45 * SECOND);
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
            host_disable(&host, handles[cpu]);
    }
    host_go_to(&host, ROUNDS * 60 * SECOND);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        struct reading reading = host_read(&host, handles[cpu], 3);
        assert_int_equal(reading.times.running_ns, ROUNDS * 45 * SECOND);
        assert_int_equal(reading.counts[2], ROUNDS * 45 * host_rate(G3));
        double share = pmu_sim_rival_share(host.pmu, 0, cpu);
        assert_true(share > (15 - 0.004) / 60 && share < 15. / 60 + 1e-9);
    }
    free(handles);
    host_stop(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_rates_are_counted_exactly),
        cmocka_unit_test(test_a_group_counts_only_while_it_is_enabled),
        cmocka_unit_test(test_each_cpu_is_ahead_of_the_one_before_by_the_stagger),
        cmocka_unit_test(test_the_last_assignment_counts_and_without_one_a_cpu_is_idle),
        cmocka_unit_test(test_a_group_that_no_counters_could_hold_is_refused),
        cmocka_unit_test(test_a_pmu_that_validates_nothing_accepts_a_group_that_never_runs),
        cmocka_unit_test(test_a_surplus_member_is_accepted_where_the_leader_needs_a_general_counter),
        cmocka_unit_test(test_a_rival_on_the_cycle_counter_makes_cycles_take_a_general_one),
        cmocka_unit_test(test_without_a_limit_everything_fits),
        cmocka_unit_test(test_an_unknown_event_cpu_or_handle_is_refused),
        cmocka_unit_test(test_a_closed_handle_is_used_again_and_starts_at_0),
        cmocka_unit_test(test_opens_are_refused_while_the_scenario_says_so),
        cmocka_unit_test(test_a_dead_group_of_one_event_reads_in_full_and_stands_still),
        cmocka_unit_test(test_a_group_dies_with_its_cpu_and_does_not_come_back_with_it),
        cmocka_unit_test(test_slots_stay_exact_for_a_year),
        cmocka_unit_test(test_an_unknown_rate_is_reported_by_its_name),
        cmocka_unit_test(test_an_unknown_event_cannot_be_filtered),
        cmocka_unit_test(test_cpus_are_numbered_as_the_scenario_says),
        cmocka_unit_test(test_a_thousand_cpus_run_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
