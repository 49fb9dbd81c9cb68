// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/trial.h"

#include <errno.h>

#include "collectors/sim/pmu_sim.h"
#include "tests/simulation/sim_host.h"

// Event groups tried alone on one core of a simulated host with four counters.

enum { COUNTERS = 4 };

struct tried {
    struct host host;
    struct topology *topology;
    struct pmu_event codes[HOST_EVENTS];
    struct trial_group groups[2]; // of three events, then of four
    struct trial *trial;
};

static void begin(struct tried *t, unsigned core) {
    host_start(&t->host);
    assert_int_equal(pmu_sim_topology(&t->host.scenario, NULL, &t->topology), 0);
    for (unsigned e = G1; e < HOST_EVENTS; e++)
        t->codes[e - G1] = t->host.catalog->events[e].code;
    t->groups[0] = (struct trial_group){.events = t->codes, .n_events = 3};
    t->groups[1] = (struct trial_group){.events = t->codes, .n_events = 4};
    assert_int_equal(trial_new(t->host.pmu, t->topology, core, t->groups, 2, &t->trial), 0);
}

static void end(struct tried *t) {
    trial_free(t->trial);
    topology_free(t->topology);
    host_stop(&t->host);
}

// A step at a time of the host, with so many milliseconds of quiet ahead. Returns what trial_step does.
static int step(struct tried *t, uint64_t at_ns, uint64_t quiet_ns, uint64_t *deadline_ns) {
    uint64_t now_ns = HOST_EPOCH_NS + at_ns;
    t->host.now_ns = at_ns;
    return trial_step(t->trial, now_ns, now_ns + quiet_ns, deadline_ns);
}

static void test_each_group_runs_for_three_ticks_where_the_core_is_quiet(void **state) {
    (void)state;
    struct tried t = {0};
    uint64_t deadline_ns;
    host_init(&t.host, 2, COUNTERS);
    host_add_rival(&t.host, RIVAL_PINNED, 1); // on CPU 0
    begin(&t, 0);
    assert_int_equal(step(&t, SECOND, 0, &deadline_ns), 0); // not quiet
    assert_true(deadline_ns == UINT64_MAX);
    assert_int_equal(step(&t, 2 * SECOND, 11 * MS, &deadline_ns), 0); // not for long enough
    assert_true(deadline_ns == UINT64_MAX && trial_calls(t.trial) == 0);
    assert_int_equal(step(&t, 3 * SECOND, 12 * MS, &deadline_ns), 0);
    assert_true(deadline_ns == HOST_EPOCH_NS + 3 * SECOND + 12 * MS);
    assert_int_equal(step(&t, 3 * SECOND + 12 * MS, 0, &deadline_ns), 0);
    assert_int_equal(trial_answer(t.trial, 0), 1);
    assert_int_equal(trial_answer(t.trial, 1), -EAGAIN); // not yet
    assert_int_equal(step(&t, 4 * SECOND, SECOND, &deadline_ns), 0);
    assert_int_equal(step(&t, 4 * SECOND + 12 * MS, SECOND, &deadline_ns), 1);
    assert_int_equal(trial_answer(t.trial, 1), 0); // the rival has one of the four
    assert_true(deadline_ns == UINT64_MAX);
    assert_true(trial_calls(t.trial) == 2 * 3 + 3 + 2 * 4 + 3 && trial_interrupts(t.trial) == 4);
    end(&t);
}

static void test_another_core_has_another_answer(void **state) {
    (void)state;
    struct tried t = {0};
    uint64_t deadline_ns;
    host_init(&t.host, 2, COUNTERS);
    host_add_rival(&t.host, RIVAL_PINNED, 1);
    begin(&t, 1);
    assert_int_equal(step(&t, SECOND, SECOND, &deadline_ns), 0);
    assert_int_equal(step(&t, SECOND + 12 * MS, SECOND, &deadline_ns), 0); // the next one at once
    assert_int_equal(step(&t, SECOND + 24 * MS, SECOND, &deadline_ns), 1);
    assert_true(trial_answer(t.trial, 0) == 1 && trial_answer(t.trial, 1) == 1);
    end(&t);
}

// On one thread of a core others hold a counter. A group that needs all four runs on the other one alone, and is
// nothing for a core whose threads count the same group.
static void test_what_runs_on_one_sibling_alone_does_not_run_on_the_core(void **state) {
    (void)state;
    for (unsigned busy = 0; busy < 2; busy++) {
        struct tried t = {0};
        uint64_t deadline_ns;
        host_init(&t.host, 2, COUNTERS);
        t.host.scenario.cores_per_socket = 1;
        t.host.scenario.threads_per_core = 2;
        struct scenario_rival *rival = host_add_rival(&t.host, RIVAL_PINNED, 1);
        rival->cpus = (struct cpuset){0};
        cpuset_add(&rival->cpus, busy);
        begin(&t, 0);
        assert_int_equal(t.topology->n_cores, 1);
        assert_int_equal(step(&t, SECOND, SECOND, &deadline_ns), 0);
        assert_int_equal(step(&t, SECOND + 12 * MS, SECOND, &deadline_ns), 0);
        assert_int_equal(step(&t, SECOND + 24 * MS, SECOND, &deadline_ns), 1);
        assert_int_equal(trial_answer(t.trial, 0), 1); // three of four are free on both
        assert_int_equal(trial_answer(t.trial, 1), 0);
        end(&t);
    }
}

static void test_a_core_that_is_offline_and_a_lack_of_files_are_no_answer_and_a_refusal_is_one(void **state) {
    (void)state;
    static const struct {
        enum scenario_rival_kind kind;
        unsigned counters;
        int answer;
    } cases[] = {{RIVAL_OFFLINE, COUNTERS, -EAGAIN}, {RIVAL_REFUSE, COUNTERS, -EAGAIN}, {RIVAL_TASK, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tried t = {0};
        uint64_t deadline_ns;
        host_init(&t.host, 1, cases[i].counters); // with two counters groups of three and four are refused
        host_add_rival(&t.host, cases[i].kind, 0);
        begin(&t, 0);
        assert_int_equal(step(&t, SECOND, SECOND, &deadline_ns), 0);
        assert_int_equal(step(&t, SECOND + 12 * MS, SECOND, &deadline_ns), 0);
        assert_int_equal(step(&t, SECOND + 24 * MS, SECOND, &deadline_ns), 1);
        assert_int_equal(trial_answer(t.trial, 0), cases[i].answer);
        assert_int_equal(trial_answer(t.trial, 1), cases[i].answer);
        end(&t);
    }
}

static void test_a_trial_that_is_given_up_leaves_nothing_open(void **state) {
    (void)state;
    struct tried t = {0};
    uint64_t deadline_ns;
    host_init(&t.host, 1, COUNTERS);
    begin(&t, 0);
    assert_int_equal(step(&t, SECOND, SECOND, &deadline_ns), 0);
    t.trial = trial_free(t.trial);
    struct pmu_event code = t.codes[0];
    assert_int_equal(t.host.pmu->ops->open(t.host.pmu, 0, &code, 1), 0); // the first handle is free
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_group_runs_for_three_ticks_where_the_core_is_quiet),
        cmocka_unit_test(test_another_core_has_another_answer),
        cmocka_unit_test(test_what_runs_on_one_sibling_alone_does_not_run_on_the_core),
        cmocka_unit_test(test_a_core_that_is_offline_and_a_lack_of_files_are_no_answer_and_a_refusal_is_one),
        cmocka_unit_test(test_a_trial_that_is_given_up_leaves_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
