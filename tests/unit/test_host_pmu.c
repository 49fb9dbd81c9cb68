// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/host_tree.h"

// The kernel's files about a CPU's identity and its PMUs, read from made-up trees.

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

static void test_a_cpus_midr_is_read(void **state) {
    const struct host_tree *tree = *state;
    uint32_t midr = 77;
    host_tree_write_midr(tree, 0, "0x00000000410fd0c1\n"); // as Linux writes it
    host_tree_write_midr(tree, 12, "0xc00fac30");
    assert_int_equal(host_linux_midr(&tree->roots, 1, &midr), -ENOENT);
    assert_int_equal(midr, 77);
    assert_int_equal(host_linux_midr(&tree->roots, 0, &midr), 0);
    assert_int_equal(midr, 0x410fd0c1);
    assert_int_equal(host_linux_midr(&tree->roots, 12, &midr), 0);
    assert_int_equal(midr, 0xc00fac30);
}

static void test_a_midr_that_is_none_is_refused(void **state) {
    const struct host_tree *tree = *state;
    static const char *const wrong[] = {"",
                                        "\n",
                                        "none\n",
                                        "0x410fd0c1 0\n",
                                        "-1\n",
                                        " 0x410fd0c1\n",
                                        "0x1410fd0c1\n",
                                        "0x1000000000000000000000000\n"};
    uint32_t midr = 77;
    for (size_t i = 0; i < N_OF(wrong); i++) {
        host_tree_write_midr(tree, 0, wrong[i]);
        assert_int_equal(host_linux_midr(&tree->roots, 0, &midr), -EINVAL);
        assert_int_equal(midr, 77);
    }
}

static void test_the_first_pmu_that_a_pattern_covers_is_found(void **state) {
    const struct host_tree *tree = *state;
    char name[32] = "untouched";
    uint32_t type = 77;
    assert_int_equal(host_linux_find_pmu(&tree->roots, "armv8_pmuv3*", "", name, sizeof name, &type), -ENOENT);
    host_tree_write_pmu(tree, "armv8_pmuv3_1", "type", "11\n");
    host_tree_write_pmu(tree, "armv8_pmuv3_0", "type", "10\n");
    host_tree_write_pmu(tree, "armv8_cortex_a72", "type", "9\n");
    host_tree_write_pmu(tree, "breakpoint", "type", "5\n");
    assert_int_equal(host_linux_find_pmu(&tree->roots, "armv7*", "", name, sizeof name, &type), -ENOENT);
    assert_int_equal(host_linux_find_pmu(&tree->roots, "armv8_pmuv3", "", name, sizeof name, &type), -ENOENT);
    assert_int_equal(host_linux_find_pmu(&tree->roots, "", "", name, sizeof name, &type), -ENOENT);
    assert_string_equal(name, "untouched");
    assert_int_equal(type, 77);
    assert_int_equal(host_linux_find_pmu(&tree->roots, "armv8_pmuv3*", "", name, sizeof name, &type), 0);
    assert_string_equal(name, "armv8_pmuv3_0");
    assert_int_equal(type, 10);
    assert_int_equal(host_linux_find_pmu(&tree->roots, "armv8_pmuv3_1", "", name, sizeof name, &type), 0);
    assert_string_equal(name, "armv8_pmuv3_1");
    assert_int_equal(type, 11);
    host_tree_write_pmu(tree, "armv8_pmuv3", "type", "12\n"); // a star stands for nothing, too
    assert_int_equal(host_linux_find_pmu(&tree->roots, "armv8_pmuv3*", "", name, sizeof name, &type), 0);
    assert_string_equal(name, "armv8_pmuv3");
    assert_int_equal(type, 12);
}

static void test_a_pmu_without_a_type_or_with_too_long_a_name_is_passed_over(void **state) {
    const struct host_tree *tree = *state;
    char name[8] = "";
    uint32_t type;
    host_tree_write_pmu(tree, "pmu_0", "type", "no number\n");
    host_tree_write_pmu(tree, "pmu_11111", "type", "8\n");
    assert_int_equal(host_linux_find_pmu(&tree->roots, "pmu*", "", name, sizeof name, &type), -ENOENT);
    host_tree_write_pmu(tree, "pmu_222", "type", "9\n");
    assert_int_equal(host_linux_find_pmu(&tree->roots, "pmu*", "", name, sizeof name, &type), 0);
    assert_string_equal(name, "pmu_222");
    assert_int_equal(type, 9);
}

static void test_a_pmus_cpus_are_those_it_names_or_all(void **state) {
    const struct host_tree *tree = *state;
    struct cpuset cpus;
    host_tree_write_pmu(tree, "none", "type", "6\n");
    assert_int_equal(host_linux_pmu_cpus(&tree->roots, "none", &cpus), 0);
    assert_int_equal(cpuset_count(&cpus), CPUSET_MAX);
    host_tree_write_pmu(tree, "mask", "cpumask", "0,2\n");
    assert_int_equal(host_linux_pmu_cpus(&tree->roots, "mask", &cpus), 0);
    assert_int_equal(cpuset_count(&cpus), 2);
    assert_true(cpuset_has(&cpus, 2));
    host_tree_write_pmu(tree, "mask", "cpus", "4-7\n"); // what is said outright comes first
    assert_int_equal(host_linux_pmu_cpus(&tree->roots, "mask", &cpus), 0);
    assert_int_equal(cpuset_count(&cpus), 4);
    assert_true(cpuset_has(&cpus, 7));
    host_tree_write_pmu(tree, "empty", "cpus", "\n"); // all its cores are off
    assert_int_equal(host_linux_pmu_cpus(&tree->roots, "empty", &cpus), 0);
    assert_int_equal(cpuset_count(&cpus), 0);
    cpuset_add(&cpus, 3);
    host_tree_write_pmu(tree, "wrong", "cpus", "many\n");
    assert_int_equal(host_linux_pmu_cpus(&tree->roots, "wrong", &cpus), -EINVAL);
    assert_int_equal(cpuset_count(&cpus), 1);
}

static void test_a_pmus_events_are_sorted_and_each_there_once(void **state) {
    const struct host_tree *tree = *state;
    static const uint64_t wanted[] = {0x8, 0x11, 0x3f, 0x4005};
    struct host_pmu_events events = {.n = 77};
    assert_int_equal(host_linux_pmu_events(&tree->roots, "arm", &events), -ENOENT);
    assert_int_equal(events.n, 77);
    host_tree_write_pmu(tree, "arm", "events/stall_slot", "event=0x003f\n");
    host_tree_write_pmu(tree, "arm", "events/cpu_cycles", "event=0x0011\n");
    host_tree_write_pmu(tree, "arm", "events/also_cycles", "event=0x11\n");
    host_tree_write_pmu(tree, "arm", "events/stall_backend_mem", "event=0x4005\n");
    host_tree_write_pmu(tree, "arm", "events/inst_retired", "event=0x0008\n");
    // what other PMUs write there, and rubbish
    host_tree_write_pmu(tree, "arm", "events/x86", "event=0xa4,umask=0x02\n");
    host_tree_write_pmu(tree, "arm", "events/energy.unit", "Joules\n");
    host_tree_write_pmu(tree, "arm", "events/a", "event=\n");
    host_tree_write_pmu(tree, "arm", "events/b", "event=0x\n");
    host_tree_write_pmu(tree, "arm", "events/c", "event=0x-1\n");
    host_tree_write_pmu(tree, "arm", "events/d", "event=0x12345678901234567\n");
    host_tree_write_pmu(tree, "arm", "events/e", "");
    assert_int_equal(host_linux_pmu_events(&tree->roots, "arm", &events), 0);
    assert_int_equal(events.n, N_OF(wanted));
    assert_memory_equal(events.configs, wanted, sizeof wanted);
    assert_false(events.names_all); // the tree does not say which kernel it is
    host_pmu_events_deinit(&events);
    assert_int_equal(events.n, 0);
    host_pmu_events_deinit(&events);
}

// The emulated machine's PMU under the given kernel.
static struct host_pmu_events emulated(const struct host_tree *tree, const char *release) {
    struct host_pmu_events events;
    host_tree_write(tree, "sys/kernel/osrelease", release);
    host_tree_write_pmu(tree, "arm", "events/cpu_cycles", "event=0x0011\n");
    host_tree_write_pmu(tree, "arm", "events/inst_retired", "event=0x0008\n");
    host_tree_write_pmu(tree, "arm", "events/stall_frontend", "event=0x0023\n");
    assert_int_equal(host_linux_pmu_events(&tree->roots, "arm", &events), 0);
    return events;
}

static void test_a_common_event_that_is_not_named_is_ruled_out(void **state) {
    struct host_pmu_events events = emulated(*state, "6.12.57+deb13-cloud-arm64\n");
    static const uint64_t absent[] = {0x0, 0x1, 0x1d, 0x1f, 0x24, 0x37, 0x3a, 0x3f, 0x4000, 0x4005, 0x400b, 0x4026};
    // named; CHAIN and the codes without a name; beyond the common events; not an event at all
    static const uint64_t open[] = {0x8,  0x11, 0x23,   0x1e,   0x4007, 0x4027,
                                    0x40, 0x70, 0x3fff, 0x4040, 0x8006, UINT64_MAX};
    assert_true(events.names_all);
    for (size_t i = 0; i < N_OF(absent); i++)
        assert_true(host_pmu_events_rule_out(&events, absent[i]));
    for (size_t i = 0; i < N_OF(open); i++)
        assert_false(host_pmu_events_rule_out(&events, open[i]));
    host_pmu_events_deinit(&events);
}

static void test_an_old_kernel_rules_out_only_what_it_has_names_for(void **state) {
    static const struct {
        const char *release;
        bool names_all;
    } releases[] = {{"4.18.0-553.el8_10.aarch64\n", false},
                    {"5.8.18\n", false},
                    {"5.9.0\n", true},
                    {"5.10.0-35\n", true},
                    {"6.1.0\n", true},
                    {"10.0\n", true},
                    {"\n", false},
                    {"five.nine\n", false}};
    for (size_t i = 0; i < N_OF(releases); i++) {
        struct host_pmu_events events = emulated(*state, releases[i].release);
        assert_int_equal(events.names_all, releases[i].names_all);
        assert_true(host_pmu_events_rule_out(&events, 0x24));                               // STALL_BACKEND
        assert_int_equal(host_pmu_events_rule_out(&events, 0x3f), releases[i].names_all);   // STALL_SLOT
        assert_int_equal(host_pmu_events_rule_out(&events, 0x37), releases[i].names_all);   // LL_CACHE_MISS_RD
        assert_int_equal(host_pmu_events_rule_out(&events, 0x4005), releases[i].names_all); // STALL_BACKEND_MEM
        host_pmu_events_deinit(&events);
    }
}

static void test_a_list_without_the_cycle_counter_rules_nothing_out(void **state) {
    const struct host_tree *tree = *state;
    struct host_pmu_events events;
    host_tree_write(tree, "sys/kernel/osrelease", "6.1.0\n");
    host_tree_write_pmu(tree, "arm", "events/x86", "event=0xa4,umask=0x02\n");
    assert_int_equal(host_linux_pmu_events(&tree->roots, "arm", &events), 0);
    assert_int_equal(events.n, 0);
    assert_false(host_pmu_events_rule_out(&events, 0x24));
    host_pmu_events_deinit(&events);
    assert_false(host_pmu_events_rule_out(&events, 0x24));
    host_tree_write_pmu(tree, "arm", "events/inst_retired", "event=0x0008\n");
    assert_int_equal(host_linux_pmu_events(&tree->roots, "arm", &events), 0);
    assert_int_equal(events.n, 1);
    assert_false(host_pmu_events_rule_out(&events, 0x24));
    host_pmu_events_deinit(&events);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_a_cpus_midr_is_read),
        ON_A_TREE(test_a_midr_that_is_none_is_refused),
        ON_A_TREE(test_the_first_pmu_that_a_pattern_covers_is_found),
        ON_A_TREE(test_a_pmu_without_a_type_or_with_too_long_a_name_is_passed_over),
        ON_A_TREE(test_a_pmus_cpus_are_those_it_names_or_all),
        ON_A_TREE(test_a_pmus_events_are_sorted_and_each_there_once),
        ON_A_TREE(test_a_common_event_that_is_not_named_is_ruled_out),
        ON_A_TREE(test_an_old_kernel_rules_out_only_what_it_has_names_for),
        ON_A_TREE(test_a_list_without_the_cycle_counter_rules_nothing_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
