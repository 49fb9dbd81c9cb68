// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include "daemon/uncore/uncore_watch.h"

// When the daemon notices that other CPUs read the boxes of a made-up host, in virtual time.

static const uint64_t SECOND = UINT64_C(1000000000);
static const char *const MASK = "bus/event_source/devices/uncore_imc_0/cpumask";
static const char *const ONLINE = "devices/system/cpu/online";

struct watched {
    struct host_tree *tree;
    struct options options;
    struct uncore_watch watch;
    uint64_t now_ns;
};

static struct watched begin(struct host_tree *tree) {
    struct watched watched = {.tree = tree, .now_ns = 1000 * SECOND};
    watched.options.pmu = PMU_LINUX;
    watched.options.paths.sysfs = tree->root;
    host_tree_write(tree, MASK, "0,16\n");
    host_tree_write(tree, ONLINE, "0-31\n");
    assert_false(uncore_watch_step(&watched.watch, &watched.options, watched.now_ns));
    return watched;
}

// Looks each second. True if a change is seen within so many of them.
static bool is_seen(struct watched *watched, unsigned seconds) {
    bool seen = false;
    for (unsigned i = 0; i < seconds && !seen; i++)
        seen = uncore_watch_step(&watched->watch, &watched->options, watched->now_ns += SECOND);
    return seen;
}

static void test_a_reader_that_goes_is_noticed_within_a_minute(void **state) {
    struct watched watched = begin(*state);
    assert_false(is_seen(&watched, 300));
    host_tree_write(watched.tree, MASK, "0,31\n"); // the driver first (uncore_event_cpu_offline), then the CPU goes
    host_tree_write(watched.tree, ONLINE, "0-15,17-31\n");
    assert_true(is_seen(&watched, 61));
    assert_false(is_seen(&watched, 300));
}

static void test_a_change_while_the_daemon_starts_is_noticed(void **state) {
    struct watched watched = begin(*state);
    host_tree_write(watched.tree, MASK, "0,31\n");
    host_tree_write(watched.tree, ONLINE, "0-15,17-31\n");
    assert_true(is_seen(&watched, 6));
}

static void test_a_driver_that_follows_its_cpu_later_is_noticed(void **state) {
    struct watched watched = begin(*state);
    host_tree_write(watched.tree, MASK, "0\n");
    host_tree_write(watched.tree, ONLINE, "0-15\n");
    assert_true(is_seen(&watched, 61));
    assert_false(is_seen(&watched, 300));
    host_tree_write(watched.tree, ONLINE, "0-31\n");
    for (uint64_t online = watched.watch.online; watched.watch.online == online;) // a look falls between CPU and driver
        assert_false(is_seen(&watched, 1));
    host_tree_write(watched.tree, MASK, "0,16\n");
    assert_true(is_seen(&watched, 6));
}

static void test_a_pmu_that_comes_again_is_noticed(void **state) {
    struct watched watched = begin(*state);
    host_tree_write(watched.tree, "bus/event_source/devices/uncore_imc_1/cpumask", "0,16\n");
    assert_true(is_seen(&watched, 61));
    assert_false(is_seen(&watched, 300));
}

static void test_simulated_and_recorded_hosts_are_not_watched(void **state) {
    struct watched watched = begin(*state);
    watched.options.pmu = PMU_SIM;
    host_tree_write(watched.tree, MASK, "0,31\n");
    host_tree_write(watched.tree, ONLINE, "0-15,17-31\n");
    assert_false(is_seen(&watched, 300));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, host_tree_setup, host_tree_teardown)
    const struct CMUnitTest tests[] = {TEST(test_a_reader_that_goes_is_noticed_within_a_minute),
                                       TEST(test_a_change_while_the_daemon_starts_is_noticed),
                                       TEST(test_a_driver_that_follows_its_cpu_later_is_noticed),
                                       TEST(test_a_pmu_that_comes_again_is_noticed),
                                       TEST(test_simulated_and_recorded_hosts_are_not_watched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
