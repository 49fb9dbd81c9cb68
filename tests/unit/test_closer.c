// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>

// The closer on a PMU that only counts. Its source is compiled into this program with an allocator that can fail.

static bool no_memory;

static void *test_realloc_or_fail(void *old, size_t size) { return no_memory ? NULL : realloc(old, size); }

#define realloc test_realloc_or_fail
#include "collectors/pmu/closer.c"
#include "core/base/array.c"

enum { GROUPS = 100, EVENTS = 12 };

struct counting_pmu {
    struct pmu pmu; // first
    uint64_t now_ns;
    int closed[GROUPS]; // the handles, in the order in which they were closed
    size_t n_closed, n_stopped;
};

static void advance(struct pmu *pmu, uint64_t now_ns) { ((struct counting_pmu *)pmu)->now_ns = now_ns; }

static int stop_or_start(struct pmu *pmu, int handle, bool enabled) {
    struct counting_pmu *counting = (struct counting_pmu *)pmu;
    (void)handle;
    assert_false(enabled);
    counting->n_stopped++;
    return 0;
}

static void count_close(struct pmu *pmu, int handle) {
    struct counting_pmu *counting = (struct counting_pmu *)pmu;
    assert_true(counting->n_closed < GROUPS);
    counting->closed[counting->n_closed++] = handle;
}

static const struct pmu_ops OPS = {.advance = advance, .enable = stop_or_start, .close = count_close};

struct host {
    struct counting_pmu counting;
    struct closer *closer;
};

static void begin(struct host *host) {
    *host = (struct host){.counting.pmu.ops = &OPS};
    no_memory = false;
    assert_int_equal(closer_new(&host->counting.pmu, &host->closer), 0);
}

// Every fourth group is enabled.
static void take(struct host *host, size_t n, size_t n_events) {
    for (size_t i = 0; i < n; i++)
        closer_take(host->closer, (int)i, n_events, i % 4 == 0);
}

static void test_groups_stop_at_once_and_close_in_steps_of_so_many_events(void **state) {
    (void)state;
    struct host host;
    size_t steps = 0;
    begin(&host);
    assert_false(closer_is_busy(host.closer));
    take(&host, GROUPS, EVENTS);
    assert_int_equal(host.counting.n_stopped, GROUPS / 4);
    assert_int_equal(host.counting.n_closed, 0);
    for (; closer_is_busy(host.closer); steps++) {
        size_t before = host.counting.n_closed;
        closer_step(host.closer, 1000 + steps);
        assert_true((host.counting.n_closed - before) * EVENTS <= PACE_EVENTS);
    }
    assert_int_equal(steps, GROUPS / (PACE_EVENTS / EVENTS));
    assert_true(host.counting.now_ns == 1000 + steps - 1);
    for (int i = 0; i < GROUPS; i++)
        assert_int_equal(host.counting.closed[i], i);
    assert_true(closer_calls(host.closer) == GROUPS / 4 + GROUPS * EVENTS);
    closer_free(host.closer);
    assert_int_equal(host.counting.n_closed, GROUPS);
}

static void test_a_group_of_more_events_than_a_step_has_takes_one(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    take(&host, 3, PACE_EVENTS * 2);
    for (size_t i = 1; i <= 3; i++) {
        closer_step(host.closer, i);
        assert_int_equal(host.counting.n_closed, i);
    }
    assert_false(closer_is_busy(host.closer));
    closer_free(host.closer);
}

static void test_what_comes_while_it_closes_is_closed_after_it(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    take(&host, 10, PACE_EVENTS);
    closer_step(host.closer, 1);
    closer_take(host.closer, 70, PACE_EVENTS, true);
    for (unsigned i = 2; closer_is_busy(host.closer); i++)
        closer_step(host.closer, i);
    assert_int_equal(host.counting.n_closed, 11);
    assert_int_equal(host.counting.closed[10], 70);
    take(&host, 10, PACE_EVENTS); // and it begins anew
    closer_step(host.closer, 100);
    assert_int_equal(host.counting.n_closed, 12);
    closer_free(host.closer);
    assert_int_equal(host.counting.n_closed, 21); // at the end all that is left
}

static void test_without_memory_groups_are_closed_at_once(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    no_memory = true;
    closer_take(host.closer, 5, 3, true);
    assert_int_equal(host.counting.n_stopped, 1);
    assert_int_equal(host.counting.n_closed, 1);
    assert_int_equal(host.counting.closed[0], 5);
    assert_false(closer_is_busy(host.closer));
    assert_true(closer_calls(host.closer) == 4);
    closer_free(host.closer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_stop_at_once_and_close_in_steps_of_so_many_events),
        cmocka_unit_test(test_a_group_of_more_events_than_a_step_has_takes_one),
        cmocka_unit_test(test_what_comes_while_it_closes_is_closed_after_it),
        cmocka_unit_test(test_without_memory_groups_are_closed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
