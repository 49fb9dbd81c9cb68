// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"

#include <malloc.h>

// All faults at random, on top of each other, for three days of virtual time.

// Of the sanitizers' allocators, where the program has one.
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated_bytes(void) {
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    return mallinfo2().uordblks;
}

static double random_between(double low, double high) { return low + (high - low) * (double)rand() / RAND_MAX; }

// A fault of any kind somewhere within `hour`, over before its last five minutes.
static void add_random_fault(struct pipeline *p, unsigned hour) {
    static const char *const cpus[] = {"0", "3", "0-1", "2-3", "1-3", "0-3", "0-3", "0-3"};
    static const enum scenario_rival_kind kinds[] = {RIVAL_PINNED, RIVAL_PINNED, RIVAL_PINNED,  RIVAL_FLEXIBLE,
                                                     RIVAL_TASK,   RIVAL_REFUSE, RIVAL_OFFLINE, RIVAL_JUMP};
    enum scenario_rival_kind kind = kinds[rand() % 8];
    double from = 3600.0 * hour + random_between(10, 3000);
    double lasts = rand() % 3 == 0 ? random_between(0.01, 5) : random_between(5, 240);
    struct scenario_rival *rival = add_rival(p, kind, 1 + (unsigned)(rand() % 6), cpus[rand() % 8], from, from + lasts);
    rival->cycles = rand() % 4 == 0;
    rival->by = random_between(-1, 1) < 0 ? -1e17 : 0x1p47;
    if (kind == RIVAL_FLEXIBLE || rand() % 4 == 0) { // by turns
        rival->period_seconds = random_between(0.5, 20);
        rival->on_seconds = rival->period_seconds * random_between(0.05, 0.95);
    }
}

static void load_random_host(struct pipeline *p, unsigned hours) {
    fault_load(p);
    p->scenario->cores_per_socket = 2;
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
    p->scenario->surplus = rand() % 2;
    p->scenario->validates_nothing = rand() % 2;
    for (unsigned hour = 0; hour < hours; hour++)
        for (int i = rand() % 12; i >= 0; i--)
            add_random_fault(p, hour);
}

static void test_three_days_of_random_faults(void **state) {
    (void)state;
    enum { HOURS = 72 };
    unsigned seed = 20261122;
    print_message("seed %u\n", seed);
    srand(seed);
    struct pipeline p;
    load_random_host(&p, HOURS);
    fault_start(&p, SECOND_NS, seed);
    size_t all_open = p.topology->n_cpus * p.plan->n_groups, bytes = 0, rounds = 0;
    for (unsigned hour = 1; hour <= HOURS; hour++) {
        while (p.now_ns < EPOCH_NS + hour * 3600 * SECOND_NS) { // totals never fall, see pipeline_step
            rounds += pipeline_step(&p, rand() % 2000 == 0 ? (uint64_t)(rand() % 100) * SECOND_NS : 0);
            if (rand() % 10000 == 0)
                pipeline_yield(&p, random_between(0, 100));
        }
        pipeline_run(&p, 1); // the newest snapshot is of the present plan
        assert_int_equal(p.follow.counters, 6);
        assert_int_equal(p.recorder.n_open, all_open);
        assert_all_accounted(&p, 1e-9);
        assert_level1_is_whole(&p);
        assert_all_gauges_true(&p);
        if (hour == HOURS / 3) // every plan has been seen by then
            bytes = allocated_bytes();
    }
    print_message("%zu rounds, %zu plans, %zu event groups by name, %zu bytes then and %zu now\n", rounds, p.n_plans,
                  p.n_seen, bytes, allocated_bytes());
    assert_true(p.n_plans > 10);
    assert_true(allocated_bytes() <=
                bytes + 65536); // glibc counts what it keeps for the next call; a leak a round is more
    for (unsigned reason = 0; reason < UNCOVERED_N; reason++)
        if (reason != UNCOVERED_STALLED)
            assert_true(uncovered(&p, 0, (enum uncovered)reason) > 0); // each of them has been met
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_days_of_random_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
