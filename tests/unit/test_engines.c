// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>

#include "daemon/engine/engines.h"

// One pass over the engines of a host: who is due runs, in order, each at the time that the clock shows then, and what
// it makes is taken at once.

enum { STEPS_MAX = 8 };

struct fake {
    struct engine engine;
    uint64_t takes_ns; // how long its step lasts
    uint64_t next_ns;  // what it says as its next deadline
    bool makes;        // a snapshot
    int result;
    uint64_t stepped_ns[STEPS_MAX];
    size_t n;
    uint64_t *now_ns; // of all
};

struct host {
    uint64_t now_ns;
    struct clocks clocks;
    struct fake fakes[3];
    struct engines engines;
    struct snapshot snapshot; // what all make
    size_t taken[STEPS_MAX], n_taken;
    int answer; // of `take`
};

static int step(struct engine *engine, uint64_t now_ns, uint64_t *deadline_ns, struct snapshot **out) {
    struct fake *fake = (struct fake *)engine;
    struct host *host = (struct host *)((char *)fake->now_ns - offsetof(struct host, now_ns));
    fake->stepped_ns[fake->n++] = now_ns;
    host->now_ns += fake->takes_ns;
    *deadline_ns = fake->next_ns;
    *out = fake->makes ? snapshot_ref(&host->snapshot) : NULL;
    return fake->result;
}

static int take(size_t i, struct snapshot *snapshot, void *context) {
    struct host *host = context;
    assert_ptr_equal(snapshot, &host->snapshot);
    host->taken[host->n_taken++] = i;
    return host->answer;
}

static void make_host(struct host *host) {
    static const struct engine_ops ops = {.step = step};
    *host = (struct host){.now_ns = 1000, .engines.n = 3};
    host->clocks = clocks_virtual(&host->now_ns);
    atomic_init(&host->snapshot.references, 1);
    for (size_t i = 0; i < 3; i++) {
        host->fakes[i] = (struct fake){.engine.ops = &ops, .next_ns = 5000 + i, .now_ns = &host->now_ns};
        host->engines.of[i] = &host->fakes[i].engine;
    }
}

static int pass(struct host *host, uint64_t *next_ns) {
    return engines_step(&host->engines, &host->clocks, take, host, next_ns);
}

static void test_only_engines_that_are_due_run_and_the_next_deadline_is_the_earliest(void **state) {
    struct host host;
    uint64_t next_ns;
    (void)state;
    make_host(&host);
    host.engines.deadlines_ns[0] = 1000;
    host.engines.deadlines_ns[1] = 1001;
    host.engines.deadlines_ns[2] = 999;
    assert_int_equal(pass(&host, &next_ns), 0);
    assert_int_equal(host.fakes[0].n, 1);
    assert_int_equal(host.fakes[1].n, 0);
    assert_int_equal(host.fakes[2].n, 1);
    assert_int_equal(next_ns, 1001); // of the engine that did not run
    host.now_ns = 1001;
    assert_int_equal(pass(&host, &next_ns), 0);
    assert_int_equal(host.fakes[1].n, 1);
    assert_int_equal(next_ns, 5000);
}

static void test_each_engine_runs_at_the_time_that_its_turn_comes(void **state) {
    struct host host;
    uint64_t next_ns;
    (void)state;
    make_host(&host);
    host.fakes[0].takes_ns = 30;
    host.engines.deadlines_ns[1] = 1020; // is due once the first one has run
    host.engines.deadlines_ns[2] = 1031;
    assert_int_equal(pass(&host, &next_ns), 0);
    assert_int_equal(host.fakes[0].stepped_ns[0], 1000);
    assert_int_equal(host.fakes[1].stepped_ns[0], 1030);
    assert_int_equal(host.fakes[2].n, 0);
}

static void test_an_engine_steps_once_more_where_its_snapshot_asks_for_that_and_it_is_due(void **state) {
    struct host host;
    uint64_t next_ns;
    (void)state;
    for (int answer = 0; answer <= 1; answer++)
        for (int due = 0; due <= 1; due++) {
            make_host(&host);
            host.answer = answer;
            host.fakes[1].makes = true;
            host.fakes[1].next_ns = due ? 1000 : 1001;
            assert_int_equal(pass(&host, &next_ns), 0);
            assert_int_equal(host.fakes[0].n, 1); // has made nothing
            assert_int_equal(host.fakes[1].n, answer && due ? 2 : 1);
            assert_int_equal(host.n_taken, host.fakes[1].n);
            assert_int_equal(host.taken[0], 1);
            assert_int_equal(host.fakes[2].n, 1);
            assert_int_equal(atomic_load(&host.snapshot.references), 1); // all others are given back
        }
}

static void test_a_failure_ends_the_pass(void **state) {
    struct host host;
    uint64_t next_ns;
    (void)state;
    make_host(&host);
    host.fakes[0].makes = true;
    host.fakes[1].result = -EINVAL;
    assert_int_equal(pass(&host, &next_ns), -EINVAL);
    assert_int_equal(host.n_taken, 1);
    assert_int_equal(host.fakes[2].n, 0);
    make_host(&host);
    host.fakes[0].makes = true;
    host.answer = -ENOMEM;
    assert_int_equal(pass(&host, &next_ns), -ENOMEM);
    assert_int_equal(host.fakes[1].n, 0);
    assert_int_equal(atomic_load(&host.snapshot.references), 1);
}

static void test_waking_makes_all_due(void **state) {
    struct host host;
    uint64_t next_ns;
    (void)state;
    make_host(&host);
    for (size_t i = 0; i < 3; i++)
        host.engines.deadlines_ns[i] = UINT64_MAX;
    assert_int_equal(pass(&host, &next_ns), 0);
    assert_int_equal(next_ns, UINT64_MAX);
    engines_wake(&host.engines);
    assert_int_equal(pass(&host, &next_ns), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(host.fakes[i].n, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_engines_that_are_due_run_and_the_next_deadline_is_the_earliest),
        cmocka_unit_test(test_each_engine_runs_at_the_time_that_its_turn_comes),
        cmocka_unit_test(test_an_engine_steps_once_more_where_its_snapshot_asks_for_that_and_it_is_due),
        cmocka_unit_test(test_a_failure_ends_the_pass),
        cmocka_unit_test(test_waking_makes_all_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
