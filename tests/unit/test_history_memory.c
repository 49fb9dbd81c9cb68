// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/history/history_memory.h"
#include "exporter_host.h"

// What the kernel counts of memory, in the history: each reading once, in all steps that it stands for, and in bounded
// memory.

static const uint64_t SECOND_NS = 1000000000;

struct past {
    struct exporter_host host;
    struct history_memory *history;
    struct snapshot *snapshot;
};

static void begin(struct past *past) {
    *past = (struct past){0};
    host_init(&past->host);
    past->history = history_memory_new();
    past->snapshot = snapshot_new(past->host.layout);
    assert_non_null(past->history);
    assert_non_null(past->snapshot);
    past->snapshot->end_ns = 1000000 * SECOND_NS; // at the beginning of a short step, 100 s into a long one
}

static void end(struct past *past) {
    history_memory_free(past->history);
    snapshot_unref(past->snapshot);
    host_deinit(&past->host);
}

// A host of so many nodes, which has made so many allocations since it started: one in four for another node.
static struct host_memory *reading(size_t nodes, double allocations, double before, double seconds) {
    struct host_memory *memory = host_memory_new();
    assert_non_null(memory);
    memory->seconds = seconds;
    memory->totals[HOST_MEMORY_LOCAL] = 0.75 * allocations;
    memory->totals_before[HOST_MEMORY_LOCAL] = 0.75 * before;
    memory->totals[HOST_MEMORY_REMOTE] = 0.25 * allocations;
    memory->totals_before[HOST_MEMORY_REMOTE] = 0.25 * before;
    memory->totals[HOST_MEMORY_BALANCED] = 4096 * allocations;
    memory->totals_before[HOST_MEMORY_BALANCED] = 4096 * before;
    memory->n_nodes = nodes;
    for (unsigned i = 0; i < nodes; i++) {
        memory->nodes[i] = (struct host_memory_node){.id = 2 * i};
        memory->nodes[i].counts[HOST_MEMORY_OWN] = allocations;
        memory->nodes[i].before[HOST_MEMORY_OWN] = before;
        memory->nodes[i].counts[HOST_MEMORY_OTHER] = i * allocations;
        memory->nodes[i].before[HOST_MEMORY_OTHER] = i * before;
    }
    return memory;
}

// A snapshot so many seconds later, with this reading from now on, which it takes over.
static void take_after(struct past *past, double seconds, struct host_memory *memory) {
    past->snapshot->start_ns = past->snapshot->end_ns;
    past->snapshot->end_ns += (uint64_t)(seconds * 1e9);
    if (memory) {
        host_memory_unref(past->snapshot->memory);
        past->snapshot->memory = memory;
    }
    history_memory_take(past->history, past->snapshot);
}

// The metric in the step that is `ago` steps before the last one.
static double value(const struct past *past, enum memory_metric metric, enum memory_scope scope, unsigned id,
                    bool coarse, size_t ago) {
    struct steps_range range = history_memory_range(past->history, coarse);
    const struct history_memory_series series = {metric, scope, id};
    double result;
    assert_true(range.n > ago);
    history_memory_read(past->history, &series, coarse, range.first + (int64_t)(range.n - 1 - ago), 1, &result);
    return result;
}

static double of_host(const struct past *past, enum memory_metric metric, bool coarse, size_t ago) {
    return value(past, metric, MEMORY_HOST, 0, coarse, ago);
}

static bool near(double a, double b) { return fabs(a - b) < 1e-5 * fabs(b); }

static void test_a_reading_counts_once_and_in_the_steps_that_it_stands_for(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    take_after(&past, 0, reading(2, 1000, NAN, 0)); // the first one: all that ever was
    assert_true(isnan(of_host(&past, MEMORY_METRIC_REMOTE, false, 0)));
    take_after(&past, 35, reading(2, 2000, 1000, 35));
    for (size_t ago = 0; ago < 3; ago++) {
        assert_true(near(of_host(&past, MEMORY_METRIC_REMOTE, false, ago), 0.25));
        assert_true(near(of_host(&past, MEMORY_METRIC_BALANCED, false, ago), 4096 * 1000 / 35.0));
    }
    assert_true(isnan(of_host(&past, MEMORY_METRIC_REMOTE, false, 3))); // the step of the first reading
    for (int i = 0; i < 3; i++)
        take_after(&past, 2, NULL); // other snapshots with the same reading, into the next step
    assert_true(isnan(of_host(&past, MEMORY_METRIC_REMOTE, false, 0)));
    struct host_memory *local = reading(2, 2000, 2000, 4);
    local->totals[HOST_MEMORY_LOCAL] += 3000;
    take_after(&past, 2, local);
    assert_true(near(of_host(&past, MEMORY_METRIC_REMOTE, false, 0) + 1, 1));
    assert_true(near(of_host(&past, MEMORY_METRIC_REMOTE, true, 0), 250.0 / 4000)); // of all that came in both
    assert_true(near(of_host(&past, MEMORY_METRIC_BALANCED, true, 0), 4096 * 1000 / 39.0));
    end(&past);
}

static void test_nodes_and_sockets_have_their_own(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    take_after(&past, 0, reading(2, 1000, NAN, 0));
    struct host_memory *memory = reading(2, 2000, 1000, 10);
    memory->n_domains = 2;
    for (unsigned i = 0; i < 2; i++)
        memory->domains[i] = (struct host_memory_domain){
            .id = i, .socket = (int)i, .bytes = {7e9, (i + 1) * 2e9, NAN}, .before = {1e9, 1e9, NAN}};
    host_memory_sum_sockets(memory);
    take_after(&past, 10, memory);
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 0, false, 0) + 1, 1));
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 2, false, 0), 0.5));
    assert_true(isnan(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 1, false, 0)));
    assert_true(near(value(&past, MEMORY_METRIC_RESCTRL, MEMORY_SOCKET, 0, false, 0), 7e8));
    assert_true(near(value(&past, MEMORY_METRIC_RESCTRL_OF, MEMORY_SOCKET, 1, false, 0), 3.0 / 9));
    assert_true(near(of_host(&past, MEMORY_METRIC_RESCTRL, false, 0), 16e8));
    assert_true(near(of_host(&past, MEMORY_METRIC_RESCTRL_OF, false, 0), 4.0 / 16));
    struct history_memory_series series[HISTORY_MEMORY_SERIES_MAX];
    assert_int_equal(history_memory_list(past.history, MEMORY_SOCKET, series, HISTORY_MEMORY_SERIES_MAX), 4);
    assert_int_equal(history_memory_list(past.history, MEMORY_NODE, series, HISTORY_MEMORY_SERIES_MAX), 4);
    assert_true(series[1].metric == MEMORY_METRIC_REMOTE && series[1].id == 2);
    assert_int_equal(history_memory_list(past.history, MEMORY_HOST, series, 1), 1);
    end(&past);
}

static void test_of_many_nodes_the_host_comes_first(void **state) {
    (void)state;
    struct past past;
    struct history_memory_series series[2 * HISTORY_MEMORY_SERIES_MAX];
    begin(&past);
    take_after(&past, 0, reading(60, 1000, NAN, 0));
    take_after(&past, 10, reading(60, 2000, 1000, 10));
    size_t of_the_host = history_memory_list(past.history, MEMORY_HOST, series, 2 * HISTORY_MEMORY_SERIES_MAX);
    size_t of_nodes = history_memory_list(past.history, MEMORY_NODE, series, 2 * HISTORY_MEMORY_SERIES_MAX);
    assert_int_equal(of_the_host, 2); // remote ones, and what balancing moved: no other total is told
    assert_int_equal(of_the_host + of_nodes, HISTORY_MEMORY_SERIES_MAX);
    assert_true(series[0].metric == MEMORY_METRIC_REMOTE && series[59].metric == MEMORY_METRIC_REMOTE);
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 2, false, 0), 0.5));
    end(&past);
}

static void test_a_node_that_comes_back_goes_on(void **state) {
    (void)state;
    struct past past;
    struct history_memory_series series[HISTORY_MEMORY_SERIES_MAX];
    begin(&past);
    take_after(&past, 0, reading(3, 1000, NAN, 0));
    take_after(&past, 10, reading(3, 2000, 1000, 10));
    take_after(&past, 10, reading(2, 3000, 2000, 10));
    assert_int_equal(history_memory_list(past.history, MEMORY_NODE, series, HISTORY_MEMORY_SERIES_MAX), 4);
    assert_true(isnan(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 4, false, 0)));
    take_after(&past, 10, reading(3, 4000, 3000, 10));
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 4, false, 0), 2.0 / 3));
    assert_true(isnan(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 4, false, 1)));
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 4, false, 2), 2.0 / 3));
    past.snapshot->memory = host_memory_unref(past.snapshot->memory); // the configuration switches it off
    take_after(&past, 10, NULL);
    assert_int_equal(history_memory_list(past.history, MEMORY_HOST, series, HISTORY_MEMORY_SERIES_MAX), 0);
    take_after(&past, 10, reading(3, 9000, NAN, 10));
    assert_true(isnan(of_host(&past, MEMORY_METRIC_REMOTE, false, 0))); // what it missed is of no step
    assert_true(near(of_host(&past, MEMORY_METRIC_REMOTE, false, 2), 0.25));
    end(&past);
}

// Ends the process, and begins another one that goes on with its history.
static void restart(struct past *past) {
    struct kept_history *kept = history_memory_keep(past->history);
    assert_non_null(kept);
    assert_int_equal(kept->kind, KEPT_MEMORY);
    history_memory_free(past->history);
    past->history = history_memory_new();
    assert_non_null(past->history);
    history_memory_restore(past->history, kept);
    assert_null(history_memory_keep(past->history)); // nothing of its own yet
    assert_ptr_equal(history_memory_kept(past->history), kept);
}

static void test_a_restart_goes_on_and_leaves_the_time_between_empty(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    assert_null(history_memory_keep(past.history));
    take_after(&past, 0, reading(3, 1000, NAN, 0));
    take_after(&past, 10, reading(3, 2000, 1000, 10));
    restart(&past);
    past.snapshot->end_ns += 30 * SECOND_NS;
    take_after(&past, 0, reading(3, 7000, NAN, 0)); // has no growth yet
    assert_null(history_memory_kept(past.history));
    take_after(&past, 10, reading(2, 8000, 7000, 10));
    assert_true(near(of_host(&past, MEMORY_METRIC_REMOTE, false, 0), 0.25));
    for (size_t ago = 1; ago < 4; ago++)
        assert_true(isnan(of_host(&past, MEMORY_METRIC_REMOTE, false, ago)));
    assert_true(near(of_host(&past, MEMORY_METRIC_REMOTE, false, 4), 0.25));
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 2, false, 4), 0.5));
    take_after(&past, 10, reading(3, 9000, 8000, 10)); // a node that was away at first
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 4, false, 0), 2.0 / 3));
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 4, false, 5), 2.0 / 3));
    end(&past);
}

static void test_what_is_no_longer_told_gives_way_after_a_restart(void **state) {
    (void)state;
    struct past past;
    struct history_memory_series series[2 * HISTORY_MEMORY_SERIES_MAX];
    begin(&past);
    take_after(&past, 0, reading(60, 1000, NAN, 0));
    take_after(&past, 10, reading(60, 2000, 1000, 10));
    restart(&past);
    struct host_memory *other = reading(60, 4000, 3000, 10);
    for (unsigned i = 0; i < 60; i++)
        other->nodes[i].id = 200 + i;
    take_after(&past, 10, other);
    assert_int_equal(history_memory_list(past.history, MEMORY_HOST, series, 2 * HISTORY_MEMORY_SERIES_MAX), 2);
    assert_int_equal(history_memory_list(past.history, MEMORY_NODE, series, 2 * HISTORY_MEMORY_SERIES_MAX), 62);
    assert_true(isnan(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 201, false, 1))); // nothing of those before
    assert_true(near(value(&past, MEMORY_METRIC_REMOTE, MEMORY_NODE, 201, false, 0), 0.5));
    assert_true(near(of_host(&past, MEMORY_METRIC_REMOTE, false, 1), 0.25));
    end(&past);
}

static void test_a_history_of_the_future_is_not_gone_on_with(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    take_after(&past, 0, reading(2, 1000, NAN, 0));
    take_after(&past, 10, reading(2, 2000, 1000, 10));
    restart(&past);
    past.snapshot->end_ns -= 100 * SECOND_NS;
    take_after(&past, 0, reading(2, 3000, NAN, 0));
    assert_null(history_memory_kept(past.history));
    assert_int_equal(history_memory_range(past.history, false).n, 1);
    end(&past);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reading_counts_once_and_in_the_steps_that_it_stands_for),
        cmocka_unit_test(test_nodes_and_sockets_have_their_own),
        cmocka_unit_test(test_of_many_nodes_the_host_comes_first),
        cmocka_unit_test(test_a_node_that_comes_back_goes_on),
        cmocka_unit_test(test_a_restart_goes_on_and_leaves_the_time_between_empty),
        cmocka_unit_test(test_what_is_no_longer_told_gives_way_after_a_restart),
        cmocka_unit_test(test_a_history_of_the_future_is_not_gone_on_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
