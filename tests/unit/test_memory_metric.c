// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/memory/memory_metric.h"

// Shares and rates of what the kernel counts of memory (core/memory/memory_metric.h), from readings made by hand.

// A reading ten seconds after the one before.
static struct host_memory *reading(void) {
    struct host_memory *memory = host_memory_new();
    assert_non_null(memory);
    memory->seconds = 10;
    return memory;
}

static void add_domain(struct host_memory *memory, int socket, struct host_memory_bytes before,
                       struct host_memory_bytes bytes) {
    memory->domains[memory->n_domains] = (struct host_memory_domain){
        .id = (unsigned)memory->n_domains, .socket = socket, .before = before, .bytes = bytes};
    memory->n_domains++;
    memory->resctrl = RESCTRL_COUNTING;
    host_memory_sum_sockets(memory);
}

static double of_host(const struct host_memory *memory, enum memory_metric metric) {
    return memory_metric_value(memory, metric, MEMORY_HOST, 0);
}

static void test_traffic_is_the_sum_of_what_is_told_apart_and_what_is_not(void **state) {
    (void)state;
    struct host_memory *memory = reading();
    add_domain(memory, 0, (struct host_memory_bytes){1e9, 2e9, NAN}, (struct host_memory_bytes){4e9, 3e9, NAN});
    add_domain(memory, 0, (struct host_memory_bytes){NAN, NAN, 5e9}, (struct host_memory_bytes){NAN, NAN, 11e9});
    add_domain(memory, 1, (struct host_memory_bytes){NAN, NAN, 0}, (struct host_memory_bytes){NAN, NAN, 20e9});
    assert_true(memory_metric_value(memory, MEMORY_METRIC_RESCTRL, MEMORY_SOCKET, 0) == 1e9); // (3 + 1 + 6) / 10
    assert_true(memory_metric_value(memory, MEMORY_METRIC_RESCTRL, MEMORY_SOCKET, 1) == 2e9);
    assert_true(of_host(memory, MEMORY_METRIC_RESCTRL) == 3e9);
    assert_true(memory_metric_value(memory, MEMORY_METRIC_RESCTRL_OF, MEMORY_SOCKET, 0) == 0.25); // 1 of 3 + 1
    assert_true(isnan(memory_metric_value(memory, MEMORY_METRIC_RESCTRL_OF, MEMORY_SOCKET, 1)));
    host_memory_unref(memory);
}

// A negative rate would be worse than none: a kernel counts from 0 after a hibernation, or its numbers wrap.
static void test_what_fell_has_no_value(void **state) {
    (void)state;
    struct host_memory *memory = reading();
    memory->totals_before[HOST_MEMORY_MIGRATED] = 1000;
    memory->totals[HOST_MEMORY_MIGRATED] = 10;
    assert_true(isnan(of_host(memory, MEMORY_METRIC_MIGRATED)));
    memory->totals[HOST_MEMORY_MIGRATED] = 1000;
    assert_true(of_host(memory, MEMORY_METRIC_MIGRATED) == 0);
    memory->totals_before[HOST_MEMORY_LOCAL] = 100;
    memory->totals[HOST_MEMORY_LOCAL] = 400;
    memory->totals_before[HOST_MEMORY_REMOTE] = 200;
    memory->totals[HOST_MEMORY_REMOTE] = 100; // though more came in sum
    assert_true(isnan(of_host(memory, MEMORY_METRIC_REMOTE)));
    memory->totals[HOST_MEMORY_REMOTE] = 300;
    assert_true(of_host(memory, MEMORY_METRIC_REMOTE) == 0.25);
    host_memory_unref(memory);
}

// Of one node all memory is its own, and a share of 0 % would be no news.
static void test_nodes_are_told_of_where_there_are_several(void **state) {
    (void)state;
    struct host_memory *memory = reading();
    for (size_t n = 1; n <= 2; n++) {
        memory->n_nodes = n;
        assert_int_equal(memory_metric_told(memory, MEMORY_METRIC_REMOTE, MEMORY_NODE, 0), n > 1);
        assert_int_equal(memory_metric_told(memory, MEMORY_METRIC_MISSED, MEMORY_NODE, 0), n > 1);
        assert_false(memory_metric_told(memory, MEMORY_METRIC_HINTS, MEMORY_NODE, 0)); // the host's alone
    }
    host_memory_unref(memory);
}

// A reading has no room for more nodes than that, and the rating of those that are left out is missing.
static void test_a_socket_is_not_rated_where_nodes_may_be_left_out(void **state) {
    (void)state;
    struct host_memory *memory = reading();
    for (size_t i = 0; i < HOST_MEMORY_NODES_MAX; i++)
        memory->nodes[i] = (struct host_memory_node){
            .id = (unsigned)i, .socket = 0, .bytes = 1e9, .access = {1e9, 2e9, NAN, NAN, true}};
    memory->n_nodes = HOST_MEMORY_NODES_MAX - 1;
    assert_true(host_memory_rated(memory, 0) == 2e9 * (HOST_MEMORY_NODES_MAX - 1));
    memory->n_nodes = HOST_MEMORY_NODES_MAX;
    assert_true(host_memory_rated(memory, 0) == 0);
    host_memory_unref(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traffic_is_the_sum_of_what_is_told_apart_and_what_is_not),
        cmocka_unit_test(test_what_fell_has_no_value),
        cmocka_unit_test(test_nodes_are_told_of_where_there_are_several),
        cmocka_unit_test(test_a_socket_is_not_rated_where_nodes_may_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
