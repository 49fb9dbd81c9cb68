// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"

// The sampler's own promises: the effect of a late caller on slots, the errors it reports, and its rounds after a
// restart.

static const uint64_t SLOT_NS = SECOND_NS / 5;
static const char *const GROUPS[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};

// One core, so that every step is its next edge.
static void start_one_cpu(struct pipeline *p) {
    fault_load(p);
    p->scenario->sockets = p->scenario->cores_per_socket = 1;
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
    pipeline_start(p, SLOT_NS, 1, GROUPS);
    pipeline_run(p, 1);
    pipeline_step(p, 0);
}

static uint64_t round_ns(const struct pipeline *p) { return p->snapshot->end_ns - p->snapshot->start_ns; }

static uint64_t shortest_window_ns(const struct pipeline *p) {
    const struct readings *readings = sampler_readings(p->sampler);
    uint64_t shortest_ns = UINT64_MAX;
    for (size_t i = 0; i < readings->n_windows; i++)
        if (readings->windows[i].enabled_ns < shortest_ns)
            shortest_ns = readings->windows[i].enabled_ns;
    return shortest_ns;
}

// A step that comes so late, beside one in time: all edges still to come are later by `moved_ns`.
static void check_lateness(uint64_t late_ns, uint64_t moved_ns) {
    struct pipeline late, punctual;
    start_one_cpu(&late);
    start_one_cpu(&punctual);
    assert_false(pipeline_step(&late, late_ns));
    assert_false(pipeline_step(&punctual, 0));
    bool over = false;
    for (int edges = 0; !over; edges++) {
        if (late.deadline_ns != punctual.deadline_ns + moved_ns)
            fail_msg("%llu ns late: edge %d is not %llu ns later", (unsigned long long)late_ns, edges,
                     (unsigned long long)moved_ns);
        over = pipeline_step(&late, 0);
        assert_int_equal(pipeline_step(&punctual, 0), over);
    }
    assert_true(round_ns(&punctual) == punctual.plan->round_ns);
    assert_true(round_ns(&late) == late.plan->round_ns + moved_ns);
    assert_true(shortest_window_ns(&punctual) == SLOT_NS);
    // nothing is lost: what a slot was late it lasts longer, or the next one is shorter
    assert_true(shortest_window_ns(&late) == (moved_ns > 0 ? SLOT_NS : SLOT_NS - late_ns));
    pipeline_run(&late, 1);
    assert_true(round_ns(&late) == late.plan->round_ns); // and the next round knows nothing of it
    pipeline_stop(&punctual);
    pipeline_stop(&late);
}

static void test_up_to_a_quarter_of_a_slot_is_taken_from_the_next_and_more_moves_all_edges(void **state) {
    (void)state;
    static const uint64_t taken_ns[] = {1, SECOND_NS / 40, SECOND_NS / 20 - 1, SECOND_NS / 20};
    static const uint64_t moved_ns[] = {SECOND_NS / 20 + 1, SECOND_NS / 10, SECOND_NS / 5, SECOND_NS};
    for (size_t i = 0; i < 4; i++) {
        check_lateness(taken_ns[i], 0);
        check_lateness(moved_ns[i], moved_ns[i]);
    }
}

static void test_coming_late_twice_moves_edges_twice(void **state) {
    (void)state;
    struct pipeline p;
    start_one_cpu(&p);
    assert_false(pipeline_step(&p, SLOT_NS / 2));
    assert_false(pipeline_step(&p, SLOT_NS / 3));
    pipeline_run(&p, 1);
    assert_true(round_ns(&p) == p.plan->round_ns + SLOT_NS / 2 + SLOT_NS / 3);
    assert_true(shortest_window_ns(&p) == SLOT_NS);
    pipeline_stop(&p);
}

static void test_an_error_of_one_call_is_told_for_its_round_and_no_longer(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    pipeline_start(&p, SLOT_NS, 2, GROUPS);
    pipeline_run(&p, 1);
    assert_int_equal(sampler_round_error(p.sampler), 0);
    for (size_t call = 1; call <= 12; call++) { // starts, stops and reads
        p.recorder.fail_from = p.recorder.n_fallible + call;
        p.recorder.fail_until = p.recorder.fail_from + 1;
        p.recorder.fail_error = -EIO;
        pipeline_run(&p, 1);
        assert_int_equal(sampler_round_error(p.sampler), -EIO);
        pipeline_run(&p, 1);
        assert_int_equal(sampler_round_error(p.sampler), 0);
    }
    pipeline_stop(&p);
}

static uint64_t round_of(const struct pipeline *p) { return sampler_readings(p->sampler)->round; }

static void test_a_sampler_goes_on_with_the_round_it_is_given(void **state) {
    (void)state;
    enum { ROUNDS = 6, LATER = 4 };
    unsigned groups[ROUNDS][64];
    size_t n[ROUNDS] = {0};
    struct pipeline p;
    for (unsigned first = 0; first <= LATER; first += LATER) {
        fault_load(&p);
        p.next_round = first;
        pipeline_start(&p, SLOT_NS, 3, GROUPS);
        assert_int_equal(sampler_next_round(p.sampler), first); // it has not begun yet
        for (unsigned round = first; round < ROUNDS; round++) {
            pipeline_run(&p, 1);
            assert_int_equal(round_of(&p), round);
            const struct readings *readings = sampler_readings(p.sampler);
            assert_true(readings->n_windows <= 64 * p.topology->n_cpus);
            size_t windows = 0;
            for (size_t i = 0; i < readings->n_windows; i++) {
                if (readings->windows[i].cpu != 0)
                    continue;
                if (first > 0) // the same order as without a restart
                    assert_int_equal(readings->windows[i].group, groups[round][windows]);
                groups[round][windows++] = readings->windows[i].group;
            }
            assert_true(first == 0 || windows == n[round]);
            n[round] = windows;
        }
        pipeline_stop(&p);
    }
    assert_true(n[0] != n[LATER] || memcmp(groups[0], groups[LATER], n[0] * sizeof *groups[0]) != 0);
}

static void test_no_round_comes_twice_after_a_yield(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    pipeline_start(&p, SLOT_NS, 4, GROUPS);
    pipeline_run(&p, 3);
    pipeline_step(&p, 0);
    pipeline_step(&p, 0);
    pipeline_yield(&p, 10);
    pipeline_run(&p, 1);
    assert_int_equal(round_of(&p), 4); // round 3 was under way
    pipeline_yield(&p, 10);
    pipeline_run(&p, 2);
    assert_int_equal(round_of(&p), 7); // round 5 had just begun
    pipeline_stop(&p);
}

static void test_no_round_comes_twice_after_probes_and_changes_of_plan(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_PINNED, 4, "0-7", 5, 40);
    start(&p);
    uint64_t before = 0;
    while (p.now_ns < EPOCH_NS + 150 * SECOND_NS) {
        if (!pipeline_step(&p, 0))
            continue;
        assert_true(round_of(&p) >= before);
        before = round_of(&p);
        assert_true(before + 1 >= p.snapshot->sequence); // as many as there were snapshots
    }
    assert_true(p.n_plans >= 3);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_up_to_a_quarter_of_a_slot_is_taken_from_the_next_and_more_moves_all_edges),
        cmocka_unit_test(test_coming_late_twice_moves_edges_twice),
        cmocka_unit_test(test_an_error_of_one_call_is_told_for_its_round_and_no_longer),
        cmocka_unit_test(test_a_sampler_goes_on_with_the_round_it_is_given),
        cmocka_unit_test(test_no_round_comes_twice_after_a_yield),
        cmocka_unit_test(test_no_round_comes_twice_after_probes_and_changes_of_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
