// SPDX-License-Identifier: Apache-2.0
// The simulated host shares its counters out as the kernel does. The expected shares are worked out by hand from the
// kernel's rules and the emulated test bed's figures, not from the code; where in its 4 ms a CPU's tick lies is
// unknown.

#include <stdlib.h>

#include "tests/simulation/sim_host.h"

static void assert_between(double value, double low, double high) {
    if (!(value >= low && value <= high))
        fail_msg("%.9g is not within %.9g and %.9g", value, low, high);
}

static void test_a_group_runs_as_a_whole_or_not_at_all(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 3);
    struct scenario_rival *rival = host_add_rival(&host, RIVAL_PINNED, 1);
    rival->until_seconds = 10;
    host_start(&host);
    int whole = host_open(&host, G1, G2, G3), small = host_open(&host, G4, G5);
    host_enable(&host, whole); // two of its three would fit
    host_go_to(&host, 5 * SECOND);
    struct reading reading = host_read(&host, whole, 3);
    assert_int_equal(reading.times.enabled_ns, 5 * SECOND);
    assert_int_equal(reading.times.running_ns, 0);
    assert_true(reading.counts[0] == 0 && reading.counts[1] == 0 && reading.counts[2] == 0);
    host_disable(&host, whole);
    host_enable(&host, small);
    host_go_to(&host, 10 * SECOND);
    assert_int_equal(host_read(&host, small, 2).times.running_ns, 5 * SECOND);
    host_stop(&host);
}

static void test_software_runs_behind_a_group_that_waits(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 3);
    struct scenario_rival *rival = host_add_rival(&host, RIVAL_PINNED, 3);
    rival->from_seconds = 1;
    host.catalog->events[G9].need.free = true;
    host_start(&host);
    int counters = host_open(&host, G1, G2), software = host_open(&host, G9), more = host_open(&host, G3);
    host_enable(&host, counters);
    host_enable(&host, software);
    host_enable(&host, more);
    host_go_to(&host, 5 * SECOND);
    assert_int_equal(host_read(&host, software, 1).times.running_ns, 5 * SECOND);
    assert_int_equal(host_read(&host, counters, 2).times.running_ns, SECOND);
    assert_true(host_read(&host, more, 1).times.running_ns <= SECOND);
    host_stop(&host);
}

static void test_the_right_order_costs_nothing_and_the_wrong_one_up_to_a_tick(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 2);
    host_start(&host);
    int a = host_open(&host, G1, G2), b = host_open(&host, G3, G4);
    uint64_t lost_ns = 0, lost_max_ns = 0;
    for (unsigned slot = 0; slot < 100; slot++) {
        host_disable(&host, b);
        host_enable(&host, a);
        host_go_to(&host, host.now_ns + 100333333);
        struct reading before = host_read(&host, b, 2);
        host_enable(&host, b);
        host_disable(&host, a);
        host_go_to(&host, host.now_ns + 100 * MS);
        struct reading after = host_read(&host, b, 2);
        assert_int_equal(after.times.enabled_ns - before.times.enabled_ns, 100 * MS);
        uint64_t ran_ns = after.times.running_ns - before.times.running_ns;
        assert_true(ran_ns < 100 * MS && ran_ns >= 96 * MS);
        lost_ns += 100 * MS - ran_ns;
        lost_max_ns = 100 * MS - ran_ns > lost_max_ns ? 100 * MS - ran_ns : lost_max_ns;
    }
    struct reading right = host_read(&host, a, 2);
    assert_int_equal(right.times.enabled_ns, UINT64_C(10033333300));
    assert_int_equal(right.times.running_ns, UINT64_C(10033333300));
    assert_between((double)lost_ns, 150 * (double)MS, 250 * (double)MS); // half a tick on average
    assert_between((double)lost_max_ns, 3.5 * (double)MS, (double)TICK);
    host_stop(&host);
}

static void test_two_groups_that_need_every_counter_take_turns(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 3);
    host_start(&host);
    int handles[] = {host_open(&host, G1, G2, G3), host_open(&host, G4, G5, G6)};
    host_enable(&host, handles[0]);
    host_enable(&host, handles[1]);
    host_go_to(&host, 10 * SECOND);
    uint64_t together_ns = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct reading reading = host_read(&host, handles[i], 3);
        assert_int_equal(reading.times.enabled_ns, 10 * SECOND);
        assert_between((double)reading.times.running_ns / 1e9, 4.996, 5.004);
        together_ns += reading.times.running_ns;
        double scaled = (double)reading.counts[0] * 10e9 / (double)reading.times.running_ns;
        assert_between(scaled / (10. * (double)host_rate(i == 0 ? G1 : G4)), 1 - 1e-6, 1 + 1e-6);
    }
    assert_int_equal(together_ns, 10 * SECOND);
    host_stop(&host);
}

static void test_turns_are_taken_every_tick(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 1);
    host_start(&host);
    int handles[] = {host_open(&host, G1), host_open(&host, G2), host_open(&host, G3)};
    for (unsigned i = 0; i < 3; i++)
        host_enable(&host, handles[i]);
    host_go_to(&host, 100 * MS);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t before_ns = host_read(&host, handles[i], 1).times.running_ns;
        for (unsigned turn = 1; turn <= 5; turn++) {
            host_go_to(&host, host.now_ns + 3 * TICK);
            assert_int_equal(host_read(&host, handles[i], 1).times.running_ns, before_ns + turn * TICK);
        }
    }
    host_stop(&host);
}

static void test_a_pinned_rival_for_30_percent_of_the_time_leaves_70(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    struct scenario_rival *rival = host_add_rival(&host, RIVAL_PINNED, 2);
    rival->period_seconds = 1;
    rival->on_seconds = 0.3;
    host_start(&host);
    int whole = host_open(&host, CYCLES, G1, G2, G3, G4, G5), small = host_open(&host, G6);
    host_enable(&host, whole);
    host_go_to(&host, 100 * SECOND);
    struct reading reading = host_read(&host, whole, 6);
    assert_int_equal(reading.times.enabled_ns, 100 * SECOND);
    assert_between(host_share(&host, whole, 6), 0.696, 0.7); // it comes back a tick late at most
    double scaled = (double)reading.counts[5] * 100e9 / (double)reading.times.running_ns;
    double truth = pmu_sim_truth(host.pmu, 0, G5, HOST_EPOCH_NS, HOST_EPOCH_NS + 100 * SECOND);
    assert_true(truth == 100. * (double)host_rate(G5));
    assert_between(scaled / truth, 1 - 1e-3, 1 + 1e-3);
    assert_true(pmu_sim_rival_share(host.pmu, 0, 0) == 1);
    host_disable(&host, whole);
    host_enable(&host, small); // fits beside the rival
    host_go_to(&host, 200 * SECOND);
    assert_int_equal(host_read(&host, small, 1).times.running_ns, 100 * SECOND);
    host_stop(&host);
}

static void test_a_pinned_rival_on_every_counter_starves_a_group_until_a_tick_after_it_leaves(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    struct scenario_rival *rival = host_add_rival(&host, RIVAL_PINNED, 99); // more than there are: all
    rival->from_seconds = 1;
    rival->until_seconds = 20;
    host_start(&host);
    int handle = host_open(&host, G1), cycles = host_open(&host, CYCLES);
    host_enable(&host, handle);
    host_enable(&host, cycles);
    host_go_to(&host, 20 * SECOND);
    assert_int_equal(host_read(&host, handle, 1).times.running_ns, SECOND);
    assert_int_equal(host_read(&host, handle, 1).times.enabled_ns, 20 * SECOND);
    assert_int_equal(host_read(&host, handle, 1).counts[0], host_rate(G1));
    host_go_to(&host, 30 * SECOND);
    assert_between((double)host_read(&host, handle, 1).times.running_ns, 11e9 - 4e6, 11e9 - 1);
    // Cycles have a counter of their own, but every other tick they stand behind the group that does not fit: half of
    // 19 s.
    assert_between((double)host_read(&host, cycles, 1).times.running_ns, 20.5e9 - 8e6, 20.5e9 + 8e6);
    host_stop(&host);
}

static void test_a_pinned_rival_puts_off_at_once_only_what_does_not_fit_beside_it(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    struct scenario_rival *rival = host_add_rival(&host, RIVAL_PINNED, 3);
    rival->from_seconds = 1;
    host_start(&host);
    int a = host_open(&host, G1, G2, G3), b = host_open(&host, G4, G5, G6);
    host_enable(&host, a);
    host_enable(&host, b);
    host_go_to(&host, SECOND + 1);
    assert_int_equal(host_read(&host, a, 3).times.running_ns, SECOND + 1);
    assert_int_equal(host_read(&host, b, 3).times.running_ns, SECOND);
    assert_true(pmu_sim_rival_share(host.pmu, 0, 0) == 1);
    host_stop(&host);
}

static void test_who_comes_while_only_a_task_waits_gets_its_turns(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 1);
    (void)host_add_rival(&host, RIVAL_TASK, 1);
    host_start(&host);
    int a = host_open(&host, G1), b = host_open(&host, G2);
    host_enable(&host, a);
    host_go_to(&host, SECOND);
    host_enable(&host, b);
    host_go_to(&host, 3 * SECOND);
    assert_between(host_share(&host, b, 1), 0.497, 0.503);
    assert_int_equal(host_read(&host, a, 1).times.running_ns + host_read(&host, b, 1).times.running_ns, 3 * SECOND);
    assert_true(pmu_sim_rival_share(host.pmu, 0, 0) == 0);
    host_stop(&host);
}

static void test_a_task_gets_nothing_beside_a_group_that_needs_every_counter(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 2, 6);
    struct scenario_rival *task = host_add_rival(&host, RIVAL_TASK, 1);
    task->from_seconds = 1;
    host_start(&host);
    assert_true(isnan(pmu_sim_rival_share(host.pmu, 0, 0)));
    int handle = host_open(&host, CYCLES, G1, G2, G3, G4, G5, G6);
    host_enable(&host, handle);
    host_go_to(&host, 10 * SECOND);
    assert_true(pmu_sim_rival_share(host.pmu, 0, 0) == 0);
    assert_true(isnan(pmu_sim_rival_share(host.pmu, 0, 1)));
    assert_true(host_share(&host, handle, 7) == 1);
    host_stop(&host);
}

static void test_a_task_runs_beside_a_group_that_leaves_it_a_counter(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    (void)host_add_rival(&host, RIVAL_TASK, 1);
    host_start(&host);
    int handle = host_open(&host, CYCLES, G1, G2, G3, G4, G5);
    host_enable(&host, handle);
    host_go_to(&host, 10 * SECOND);
    assert_true(pmu_sim_rival_share(host.pmu, 0, 0) == 1);
    assert_true(host_share(&host, handle, 6) == 1);
    host_stop(&host);
}

static void test_an_idle_tenth_of_the_time_is_a_tasks_tenth_less_a_tick(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    (void)host_add_rival(&host, RIVAL_TASK, 6);
    host_start(&host);
    int a = host_open(&host, G1, G2, G3, G4, G5, G6), b = host_open(&host, G7, G8, G9);
    uint64_t start_ns = 0;
    for (unsigned round = 0; round < 100; round++, start_ns += SECOND) {
        host_go_to(&host, start_ns);
        host_enable(&host, a); // the task makes way at once
        host_go_to(&host, start_ns + 450 * MS);
        host_disable(&host, a);
        host_enable(&host, b);
        host_go_to(&host, start_ns + 900 * MS);
        host_disable(&host, b);
    }
    host_go_to(&host, start_ns);
    assert_between(pmu_sim_rival_share(host.pmu, 0, 0), 0.096, 0.1 - 1e-9);
    assert_true(host_share(&host, a, 6) == 1);
    assert_true(host_share(&host, b, 3) == 1);
    host_stop(&host);
}

static void test_a_flexible_rival_takes_turns_with_a_group_and_both_go_before_tasks(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 6);
    (void)host_add_rival(&host, RIVAL_FLEXIBLE, 4);
    (void)host_add_rival(&host, RIVAL_TASK, 3);
    (void)host_add_rival(&host, RIVAL_TASK, 2);
    host_start(&host);
    int handle = host_open(&host, G1, G2, G3, G4);
    host_enable(&host, handle);
    host_go_to(&host, 10 * SECOND);
    assert_between(host_share(&host, handle, 4), 0.4995, 0.5005);
    assert_between(pmu_sim_rival_share(host.pmu, 0, 0), 0.4995, 0.5005);
    // Two counters are left over: nobody runs while the larger task is first in turn, the smaller one every other tick.
    assert_true(pmu_sim_rival_share(host.pmu, 1, 0) == 0);
    assert_between(pmu_sim_rival_share(host.pmu, 2, 0), 0.4995, 0.5005);
    host_stop(&host);
}

static void test_behind_a_flexible_group_that_does_not_fit_no_other_is_tried(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 4);
    host_start(&host);
    int two = host_open(&host, G1, G2), all = host_open(&host, G3, G4, G5, G6), one = host_open(&host, G7);
    host_enable(&host, two);
    host_enable(&host, all);
    host_enable(&host, one); // fits beside `two`, until the first tick
    host_go_to(&host, 100 * MS);
    assert_true(host_read(&host, one, 1).times.running_ns > 0);
    uint64_t before_ns[] = {host_read(&host, two, 2).times.running_ns, host_read(&host, all, 4).times.running_ns,
                            host_read(&host, one, 1).times.running_ns};
    host_go_to(&host, 100 * MS + 300 * TICK);
    // In turn: two alone (all does not fit beside it); all alone; one and two.
    assert_int_equal(host_read(&host, two, 2).times.running_ns - before_ns[0], 200 * TICK);
    assert_int_equal(host_read(&host, all, 4).times.running_ns - before_ns[1], 100 * TICK);
    assert_int_equal(host_read(&host, one, 1).times.running_ns - before_ns[2], 100 * TICK);
    host_stop(&host);
}

static void test_cycles_in_a_second_group_take_a_general_counter(void **state) {
    (void)state;
    struct host host;
    host_init(&host, 1, 2);
    host_start(&host);
    int resident = host_open(&host, CYCLES), two = host_open(&host, CYCLES, G1),
        three = host_open(&host, CYCLES, G1, G2);
    host_enable(&host, resident);
    host_enable(&host, two); // its cycles take one general counter, G1 the other
    host_go_to(&host, SECOND);
    assert_true(host_share(&host, resident, 1) == 1);
    assert_true(host_share(&host, two, 2) == 1);
    assert_int_equal(host_read(&host, two, 2).counts[0], 3000000000);
    host_disable(&host, two);
    host_enable(&host, three); // would need three
    host_go_to(&host, 2 * SECOND);
    assert_between(host_share(&host, three, 3), 0.495, 0.505);
    host_disable(&host, resident);
    host_disable(&host, three);
    host_enable(&host, three); // now the fixed counter is free
    uint64_t before_ns = host_read(&host, three, 3).times.running_ns;
    host_go_to(&host, 3 * SECOND);
    assert_int_equal(host_read(&host, three, 3).times.running_ns - before_ns, SECOND);
    host_stop(&host);
}

// Four rivals of random kinds and needs; pinned and flexible ones come and go.
static void add_random_rivals(struct host *host, unsigned counters) {
    static const enum scenario_rival_kind kinds[] = {RIVAL_PINNED, RIVAL_FLEXIBLE, RIVAL_TASK};
    for (unsigned i = 0; i < HOST_RIVALS_MAX; i++) {
        struct scenario_rival *rival = host_add_rival(host, kinds[rand() % 3], 1 + (unsigned)rand() % counters);
        rival->from_seconds = rand() % 1000 / 1e3;
        rival->until_seconds = rival->from_seconds + (1 + rand() % 1000) / 1e3;
    }
}

// What the property test knows of one of its groups.
struct watched {
    int handle; // -1: closed
    unsigned events[8], n, needed;
    bool enabled;
    struct reading last;
};

static void open_random(struct host *host, struct watched *group, unsigned counters) {
    *group = (struct watched){.n = 1 + (unsigned)rand() % (counters + 1)};
    bool cycles = false;
    for (unsigned i = 0; i < group->n; i++) {
        group->events[i] = CYCLES + (unsigned)rand() % (HOST_EVENTS - CYCLES);
        group->needed += group->events[i] != CYCLES || cycles;
        cycles = cycles || group->events[i] == CYCLES;
    }
    unsigned events[9] = {0};
    memcpy(events, group->events, group->n * sizeof *events);
    group->handle = host_open_on(host, 0, events);
    if (group->needed > counters) {
        assert_int_equal(group->handle, -EINVAL);
        group->handle = -1;
    } else {
        assert_true(group->handle >= 0);
    }
}

static void act_at_random(struct host *host, struct watched *group, unsigned counters) {
    if (group->handle < 0) {
        open_random(host, group, counters);
    } else if (rand() % 10 == 0) {
        host->pmu->ops->close(host->pmu, group->handle);
        *group = (struct watched){.handle = -1};
    } else {
        group->enabled = !group->enabled;
        assert_int_equal(host->pmu->ops->enable(host->pmu, group->handle, group->enabled), 0);
    }
}

// Reads a group after `elapsed_ns` without any action, checks it, and returns counters times nanoseconds it had.
static uint64_t check_group(struct host *host, struct watched *group, uint64_t elapsed_ns) {
    if (group->handle < 0)
        return 0;
    struct reading now = host_read(host, group->handle, group->n);
    uint64_t ran_ns = now.times.running_ns - group->last.times.running_ns;
    assert_int_equal(now.times.enabled_ns - group->last.times.enabled_ns, group->enabled ? elapsed_ns : 0);
    assert_true(ran_ns <= (group->enabled ? elapsed_ns : 0));
    for (unsigned i = 0; i < group->n; i++) {
        double truth = (double)now.times.running_ns * (double)host_rate(group->events[i]) / 1e9;
        assert_between((double)now.counts[i] - truth, -0.6, 0.6);
    }
    group->last = now;
    return ran_ns * group->needed;
}

// Counters times nanoseconds that the rivals had until now.
static double rivals_used(const struct host *host) {
    double used = 0;
    for (size_t i = 0; i < host->scenario.n_rivals; i++) {
        const struct scenario_rival *rival = &host->rivals[i];
        double now_seconds = (double)host->now_ns / 1e9;
        double wanted = fmin(now_seconds, rival->until_seconds) - fmin(now_seconds, rival->from_seconds);
        double share = pmu_sim_rival_share(host->pmu, i, 0);
        assert_true(isnan(share) ? wanted < 1e-8 : share >= 0 && share <= 1);
        used += isnan(share) ? 0 : share * wanted * rival->counters;
    }
    return used * 1e9;
}

static void run_a_host_at_random(void) {
    enum { GROUPS = 8, STEPS = 300 };
    unsigned counters = 1 + (unsigned)rand() % 6;
    struct host host;
    host_init(&host, 1, counters);
    add_random_rivals(&host, counters);
    host_start(&host);
    struct watched groups[GROUPS];
    for (unsigned i = 0; i < GROUPS; i++)
        groups[i].handle = -1;
    double rivals_before = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        act_at_random(&host, &groups[rand() % GROUPS], counters);
        uint64_t elapsed_ns = (uint64_t)rand() % (12 * MS), used = 0;
        host_go_to(&host, host.now_ns + elapsed_ns);
        for (unsigned i = 0; i < GROUPS; i++)
            used += check_group(&host, &groups[i], elapsed_ns);
        double rivals_now = rivals_used(&host);
        assert_true((double)used + rivals_now - rivals_before <= (double)(counters * elapsed_ns) + 100);
        rivals_before = rivals_now;
    }
    // With everybody gone, the last group gets every counter back: none has leaked.
    host_go_to(&host, host.now_ns + 3 * SECOND);
    for (unsigned i = 0; i < GROUPS; i++)
        host.pmu->ops->close(host.pmu, groups[i].handle);
    unsigned every[8] = {CYCLES};
    for (unsigned i = 0; i < counters; i++)
        every[i + 1] = G1 + i;
    int last = host_open_on(&host, 0, every);
    host_enable(&host, last);
    host_go_to(&host, host.now_ns + SECOND);
    assert_int_equal(host_read(&host, last, counters + 1).times.running_ns, SECOND);
    host_stop(&host);
}

static void test_at_random_counters_are_never_shared_out_twice_and_counts_are_true(void **state) {
    (void)state;
    const unsigned seed = 20250117;
    print_message("seed %u\n", seed);
    srand(seed);
    for (unsigned i = 0; i < 300; i++)
        run_a_host_at_random();
}

static void test_stepping_finely_gives_what_one_step_gives(void **state) {
    (void)state;
    const unsigned seed = 4711;
    print_message("seed %u\n", seed);
    struct host hosts[2];
    int handles[2][3];
    for (unsigned i = 0; i < 2; i++) {
        srand(seed);
        host_init(&hosts[i], 1, 4);
        add_random_rivals(&hosts[i], 4);
        host_start(&hosts[i]);
        handles[i][0] = host_open(&hosts[i], CYCLES, G1, G2);
        handles[i][1] = host_open(&hosts[i], CYCLES, G3, G4);
        handles[i][2] = host_open(&hosts[i], CYCLES, G5, G6);
        for (unsigned k = 0; k < 3; k++)
            host_enable(&hosts[i], handles[i][k]);
    }
    while (hosts[0].now_ns < 3 * SECOND) {
        host_go_to(&hosts[0], hosts[0].now_ns + (uint64_t)rand() % (3 * MS));
        (void)host_read(&hosts[0], handles[0][rand() % 3], 3);
        (void)pmu_sim_rival_share(hosts[0].pmu, (size_t)rand() % HOST_RIVALS_MAX, 0);
    }
    host_go_to(&hosts[1], hosts[0].now_ns);
    for (unsigned k = 0; k < 3; k++) {
        struct reading fine = host_read(&hosts[0], handles[0][k], 3), once = host_read(&hosts[1], handles[1][k], 3);
        assert_int_equal(fine.times.enabled_ns, once.times.enabled_ns);
        assert_int_equal(fine.times.running_ns, once.times.running_ns);
        assert_true(once.times.running_ns > 0 && once.times.running_ns < once.times.enabled_ns);
        for (unsigned i = 0; i < 3; i++)
            assert_true(llabs((long long)(fine.counts[i] - once.counts[i])) <= 1);
    }
    for (size_t i = 0; i < HOST_RIVALS_MAX; i++)
        assert_true(pmu_sim_rival_share(hosts[0].pmu, i, 0) == pmu_sim_rival_share(hosts[1].pmu, i, 0));
    host_stop(&hosts[0]);
    host_stop(&hosts[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_runs_as_a_whole_or_not_at_all),
        cmocka_unit_test(test_software_runs_behind_a_group_that_waits),
        cmocka_unit_test(test_the_right_order_costs_nothing_and_the_wrong_one_up_to_a_tick),
        cmocka_unit_test(test_two_groups_that_need_every_counter_take_turns),
        cmocka_unit_test(test_turns_are_taken_every_tick),
        cmocka_unit_test(test_a_pinned_rival_for_30_percent_of_the_time_leaves_70),
        cmocka_unit_test(test_a_pinned_rival_on_every_counter_starves_a_group_until_a_tick_after_it_leaves),
        cmocka_unit_test(test_a_pinned_rival_puts_off_at_once_only_what_does_not_fit_beside_it),
        cmocka_unit_test(test_who_comes_while_only_a_task_waits_gets_its_turns),
        cmocka_unit_test(test_a_task_gets_nothing_beside_a_group_that_needs_every_counter),
        cmocka_unit_test(test_a_task_runs_beside_a_group_that_leaves_it_a_counter),
        cmocka_unit_test(test_an_idle_tenth_of_the_time_is_a_tasks_tenth_less_a_tick),
        cmocka_unit_test(test_a_flexible_rival_takes_turns_with_a_group_and_both_go_before_tasks),
        cmocka_unit_test(test_behind_a_flexible_group_that_does_not_fit_no_other_is_tried),
        cmocka_unit_test(test_cycles_in_a_second_group_take_a_general_counter),
        cmocka_unit_test(test_at_random_counters_are_never_shared_out_twice_and_counts_are_true),
        cmocka_unit_test(test_stepping_finely_gives_what_one_step_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
