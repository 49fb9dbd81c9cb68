// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include <errno.h>

#include "collectors/host/host_isolated.h"

// CPUs that come and go, and CPUs to be left undisturbed.

static struct topology *known_topology(const struct host_tree *tree) {
    struct errors errors = {0};
    struct topology *known = NULL;
    host_tree_write(tree, "devices/system/cpu/online", "0-1,3\n");
    host_tree_write_cpu(tree, 0, "0\n", "0\n");
    host_tree_write_cpu(tree, 1, "1\n", "0\n");
    host_tree_write_cpu(tree, 3, "3\n", "1\n");
    assert_int_equal(host_linux_topology(&tree->roots, &(struct host_choice){0}, &errors, &known), 0);
    return known;
}

static void test_each_cpu_has_its_node_and_its_cache_where_the_kernel_says(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/node/node0/cpulist", "0\n");
    host_tree_write(tree, "devices/system/node/node3/cpulist", "1,3\n");
    host_tree_write(tree, "devices/system/node/node4/cpulist", "\n"); // memory alone
    host_tree_write(tree, "devices/system/node/online", "0,3-4\n");
    host_tree_write(tree, "devices/system/cpu/cpu0/cache/index3/id", "0\n");
    host_tree_write(tree, "devices/system/cpu/cpu1/cache/index3/id", "12\n");
    struct topology *known = known_topology(tree);
    assert_int_equal(known->places[0].node, 0);
    assert_int_equal(known->places[1].node, 3);
    assert_int_equal(known->places[2].node, 3);
    assert_int_equal(known->places[0].cache, 0);
    assert_int_equal(known->places[1].cache, 12);
    assert_int_equal(known->places[2].cache, -1); // no level 3, or an old kernel
    topology_free(known);
}

static void test_a_kernel_that_says_nothing_of_places_leaves_them_unknown(void **state) {
    struct topology *known = known_topology(*state);
    assert_int_equal(known->places[0].node, -1);
    assert_int_equal(known->places[0].cache, -1);
    topology_free(known);
}

static void test_nothing_new_online_is_no_update(void **state) {
    struct host_tree *tree = *state;
    struct topology *known = known_topology(tree), *updated = NULL;
    assert_int_equal(host_linux_topology_update(&tree->roots, &(struct host_choice){0}, known, &updated), 0);
    host_tree_write(tree, "devices/system/cpu/online", "0\n"); // CPUs that went away are the sampler's business
    assert_int_equal(host_linux_topology_update(&tree->roots, &(struct host_choice){0}, known, &updated), 0);
    host_tree_write(tree, "devices/system/cpu/online", "nonsense\n");
    assert_int_equal(host_linux_topology_update(&tree->roots, &(struct host_choice){0}, known, &updated), 0);
    assert_null(updated);
    topology_free(known);
}

static void test_a_cpu_that_comes_online_joins_and_those_away_stay(void **state) {
    struct host_tree *tree = *state;
    struct topology *known = known_topology(tree), *updated = NULL;
    host_tree_write(tree, "devices/system/cpu/online", "0-2\n"); // 2 is new, 3 is away
    host_tree_write_cpu(tree, 1, "1-2\n", "0\n");                // its siblings
    host_tree_write_cpu(tree, 2, "1-2\n", "0\n");
    assert_int_equal(host_linux_topology_update(&tree->roots, &(struct host_choice){0}, known, &updated), 1);
    assert_int_equal(updated->n_cpus, 4);
    assert_int_equal(updated->n_sockets, 2);
    assert_int_equal(updated->cpus[3].id, 3);
    assert_int_equal(updated->sockets[updated->cpus[3].socket].id, 1); // its socket has not vanished
    assert_int_equal(updated->cpus[1].core, updated->cpus[2].core);
    assert_int_not_equal(updated->cpus[0].core, updated->cpus[3].core);
    topology_free(updated);
    topology_free(known);
}

static void test_a_new_cpu_that_is_not_selected_is_no_news(void **state) {
    struct host_tree *tree = *state;
    struct topology *known = known_topology(tree), *updated = NULL;
    struct cpuset selected;
    assert_int_equal(cpuset_parse("0-1,3", &selected), 0);
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    host_tree_write_cpu(tree, 2, "2\n", "0\n");
    assert_int_equal(
        host_linux_topology_update(&tree->roots, &(struct host_choice){.selected = &selected}, known, &updated), 0);
    cpuset_add(&selected, 2);
    assert_int_equal(
        host_linux_topology_update(&tree->roots, &(struct host_choice){.selected = &selected}, known, &updated), 1);
    topology_free(updated);
    topology_free(known);
}

// CPUs 0 and 1 are of one type, and 2 and 3 of another.
static void test_cpus_of_other_types_of_cores_are_as_if_they_were_not_there(void **state) {
    struct host_tree *tree = *state;
    struct topology *topology = NULL, *updated = NULL;
    struct errors errors = {0};
    struct cpuset own, selected;
    const struct host_choice choice = {.selected = &selected, .own = &own};
    assert_int_equal(cpuset_parse("0-1", &own), 0);
    assert_int_equal(cpuset_parse("1-3", &selected), 0);
    host_tree_write(tree, "devices/system/cpu/online", "0-2\n");
    for (unsigned cpu = 0; cpu < 4; cpu++)
        host_tree_write_cpu(tree, cpu, (const char *[]){"0\n", "1\n", "2\n", "3\n"}[cpu], "0\n");
    assert_int_equal(host_linux_topology(&tree->roots, &choice, &errors, &topology), 0);
    assert_int_equal(topology->n_cpus, 1);
    assert_int_equal(topology->cpus[0].id, 1);
    assert_int_equal(topology->sockets[0].excluded, 1); // CPU 0; CPU 2 is another type's
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    assert_int_equal(host_linux_topology_update(&tree->roots, &choice, topology, &updated), 0); // CPU 3, too
    cpuset_add(&own, 3);
    assert_int_equal(host_linux_topology_update(&tree->roots, &choice, topology, &updated), 1);
    assert_int_equal(updated->n_cpus, 2);
    assert_int_equal(updated->cpus[1].id, 3);
    topology_free(updated);
    topology_free(topology);
}

static void expect_isolated(const struct host_tree *tree, const char *list) {
    struct cpuset set, wanted;
    assert_int_equal(cpuset_parse(list, &wanted), 0);
    host_isolated_cpus(&tree->roots, &set);
    assert_memory_equal(&set, &wanted, sizeof set);
}

static void test_isolated_and_tickless_cpus_are_left_alone(void **state) {
    struct host_tree *tree = *state;
    expect_isolated(tree, ""); // no such files
    host_tree_write(tree, "devices/system/cpu/isolated", "2-3\n");
    host_tree_write(tree, "devices/system/cpu/nohz_full", "(null)\n"); // as kernels without it say
    expect_isolated(tree, "2-3");
    host_tree_write(tree, "devices/system/cpu/nohz_full", "3,7\n");
    expect_isolated(tree, "2-3,7");
}

static void test_cpus_of_isolated_partitions_are_left_alone(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/cpu/isolated", "\n");
    host_tree_write(tree, "fs/cgroup/cpuset.cpus.isolated", "\n");
    expect_isolated(tree, "");
    host_tree_write(tree, "fs/cgroup/cpuset.cpus.isolated", "4-5,9\n"); // nested ones included, says the kernel
    expect_isolated(tree, "4-5,9");
    host_tree_write(tree, "devices/system/cpu/isolated", "2\n");
    expect_isolated(tree, "2,4-5,9");
}

// Linux 6.1 to 6.6 have no list of them.
static void test_nested_partitions_are_found_where_the_kernel_does_not_list_them(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "fs/cgroup/cgroup.procs", "1\n");
    host_tree_write(tree, "fs/cgroup/system.slice/cpuset.cpus.partition", "member\n");
    host_tree_write(tree, "fs/cgroup/system.slice/lost/cpuset.cpus.partition",
                    "isolated\n"); // cannot be, and is not sought
    host_tree_write(tree, "fs/cgroup/system.slice/lost/cpuset.cpus.effective", "15\n");
    host_tree_write(tree, "fs/cgroup/rt/cpuset.cpus.partition", "root\n");
    host_tree_write(tree, "fs/cgroup/rt/cpuset.cpus.effective", "1-3\n");
    expect_isolated(tree, "");
    host_tree_write(tree, "fs/cgroup/rt/radio/cpuset.cpus.partition", "isolated\n");
    host_tree_write(tree, "fs/cgroup/rt/radio/cpuset.cpus.effective", "2-3\n");
    host_tree_write(tree, "fs/cgroup/quiet/cpuset.cpus.partition", "isolated\n");
    host_tree_write(tree, "fs/cgroup/quiet/cpuset.cpus.effective", "7\n");
    host_tree_write(tree, "fs/cgroup/broken/cpuset.cpus.partition",
                    "isolated invalid (Cpu list in cpuset.cpus empty)\n");
    host_tree_write(tree, "fs/cgroup/broken/cpuset.cpus.effective", "8\n");
    expect_isolated(tree, ""); // cgroups of version 1 have no partitions
    host_tree_write(tree, "fs/cgroup/cgroup.controllers", "cpuset cpu\n");
    expect_isolated(tree, "2-3,7");
}

static void write_v1_set(const struct host_tree *tree, const char *set, const char *cpus, const char *balanced) {
    char path[256];
    (void)snprintf(path, sizeof path, "fs/cgroup/cpuset%s/cpuset.cpus", set);
    host_tree_write(tree, path, cpus);
    (void)snprintf(path, sizeof path, "fs/cgroup/cpuset%s/cpuset.sched_load_balance", set);
    host_tree_write(tree, path, balanced);
}

// The root is not balanced: scheduling domains have the CPUs of the balanced sets, each with all that is below it.
static void test_cpus_that_no_cpuset_of_cgroup_v1_balances_are_left_alone(void **state) {
    struct host_tree *tree = *state;
    write_v1_set(tree, "", "0-15\n", "1\n");
    write_v1_set(tree, "/rt", "8-15\n", "0\n");
    expect_isolated(tree, ""); // one domain of all CPUs, whatever is below
    write_v1_set(tree, "", "0-15\n", "0\n");
    expect_isolated(tree, ""); // no domain at all: no CPU is different from the others
    write_v1_set(tree, "/system", "0-3\n", "1\n");
    expect_isolated(tree, "4-15");
    write_v1_set(tree, "/rt/control", "8-9\n", "1\n");
    write_v1_set(tree, "/rt/radio", "10-15\n", "0\n");
    write_v1_set(tree, "/empty", "\n", "1\n");
    write_v1_set(tree, "/system/part", "2-3\n", "0\n");
    expect_isolated(tree, "4-7,10-15");
    host_tree_write(tree, "devices/system/cpu/isolated", "3\n");
    expect_isolated(tree, "3-7,10-15");
    write_v1_set(tree, "", "0-15\n", "1\n");
    expect_isolated(tree, "3");
}

static void test_an_exclusive_cpuset_of_cgroup_v1_isolates_nothing(void **state) {
    struct host_tree *tree = *state;
    write_v1_set(tree, "", "0-7\n", "1\n");
    write_v1_set(tree, "/shield", "4-7\n", "0\n");
    host_tree_write(tree, "fs/cgroup/cpuset/cpuset.cpu_exclusive", "1\n");
    host_tree_write(tree, "fs/cgroup/cpuset/shield/cpuset.cpu_exclusive", "1\n");
    expect_isolated(tree, "");
}

static void test_a_cpu_that_becomes_isolated_leaves_and_comes_back(void **state) {
    struct host_tree *tree = *state;
    struct topology *known = known_topology(tree), *updated = NULL;
    struct cpuset selected, isolated;
    const struct host_choice choice = {.selected = &selected, .isolated = &isolated};
    assert_int_equal(cpuset_parse("0,2-63", &selected), 0);
    assert_int_equal(cpuset_parse("1", &isolated), 0);
    assert_int_equal(host_linux_topology_update(&tree->roots, &choice, known, &updated), 1);
    assert_int_equal(updated->n_cpus, 2);
    assert_int_equal(updated->cpus[0].id, 0);
    assert_int_equal(updated->cpus[1].id, 3);
    assert_true(updated->sockets[0].isolated == 1 && updated->sockets[0].excluded == 0);
    assert_true(updated->sockets[1].isolated == 0 && updated->sockets[1].measured == 1);
    topology_free(known);
    known = updated;
    assert_int_equal(host_linux_topology_update(&tree->roots, &choice, known, &updated), 0); // no news
    assert_int_equal(cpuset_parse("0-63", &selected), 0);
    assert_int_equal(cpuset_parse("", &isolated), 0);
    assert_int_equal(host_linux_topology_update(&tree->roots, &choice, known, &updated), 1);
    assert_int_equal(updated->n_cpus, 3);
    assert_true(updated->sockets[0].isolated == 0);
    topology_free(known);
    topology_free(updated);
}

// Its socket may go with it, and nobody asks for the core of an offline CPU.
static void test_an_offline_cpu_may_become_isolated_and_the_last_one_is_told_of(void **state) {
    struct host_tree *tree = *state;
    struct topology *known = known_topology(tree), *updated = NULL;
    struct cpuset selected, isolated;
    const struct host_choice choice = {.selected = &selected, .isolated = &isolated};
    host_tree_write(tree, "devices/system/cpu/online", "0-1\n");
    assert_int_equal(cpuset_parse("0-2", &selected), 0);
    assert_int_equal(cpuset_parse("3", &isolated), 0);
    assert_int_equal(host_linux_topology_update(&tree->roots, &choice, known, &updated), 1);
    assert_true(updated->n_cpus == 2 && updated->n_sockets == 1);
    topology_free(updated);
    assert_int_equal(cpuset_parse("", &selected), 0);
    assert_int_equal(cpuset_parse("0-3", &isolated), 0);
    assert_int_equal(host_linux_topology_update(&tree->roots, &choice, known, &updated), -EINVAL);
    topology_free(known);
}

// Each CPU's core and socket, in the order of the CPUs.
static void assert_cores(const struct host_tree *tree, size_t n, const unsigned *cores, const unsigned *sockets) {
    struct errors errors = {0};
    struct topology *topology = NULL;
    assert_int_equal(host_linux_topology(&tree->roots, &(struct host_choice){0}, &errors, &topology), 0);
    assert_int_equal(topology->n_cpus, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(topology->cpus[i].core, cores[i]);
        assert_int_equal(topology->sockets[topology->cpus[i].socket].id, sockets[i]);
    }
    topology_free(topology);
}

static void write_topology(const struct host_tree *tree, unsigned cpu, const char *file, const char *text) {
    char name[128];
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/topology/%s", cpu, file);
    host_tree_write(tree, name, text);
}

static void test_the_same_core_id_on_two_dies_is_two_cores(void **state) {
    struct host_tree *tree = *state;
    static const char *const siblings[] = {"0-1\n", "0-1\n", "2-3\n", "2-3\n"}, *const dies[] = {"0\n", "0\n", "1\n",
                                                                                                 "1\n"};
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        host_tree_write_cpu(tree, cpu, siblings[cpu], "0\n");
        write_topology(tree, cpu, "core_id", "0\n");
        write_topology(tree, cpu, "die_id", dies[cpu]);
    }
    assert_cores(tree, 4, (const unsigned[]){0, 0, 1, 1}, (const unsigned[]){0, 0, 0, 0});
}

static void test_siblings_lie_half_the_cpus_apart(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/cpu/online", "0-1,64-65\n");
    host_tree_write_cpu(tree, 0, "0,64\n", "0\n");
    host_tree_write_cpu(tree, 1, "1,65\n", "1\n");
    host_tree_write_cpu(tree, 64, "0,64\n", "0\n");
    host_tree_write_cpu(tree, 65, "1,65\n", "1\n");
    assert_cores(tree, 4, (const unsigned[]){0, 1, 0, 1}, (const unsigned[]){0, 1, 0, 1});
}

static void test_an_older_kernel_calls_the_list_thread_siblings(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    write_topology(tree, 0, "thread_siblings_list", "0,2\n");
    write_topology(tree, 2, "thread_siblings_list", "0,2\n");
    // a list that is none, and one that the CPU itself is not on: each a core of its own
    write_topology(tree, 1, "thread_siblings_list", "nonsense\n");
    write_topology(tree, 3, "thread_siblings_list", "0,2\n");
    assert_cores(tree, 4, (const unsigned[]){0, 1, 0, 2}, (const unsigned[]){0, 0, 0, 0});
}

static void test_a_socket_that_is_negative_missing_or_no_number_is_socket_0(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/cpu/online", "0-4\n");
    write_topology(tree, 0, "physical_package_id", "-1\n");
    write_topology(tree, 2, "physical_package_id", "4294967296\n");
    write_topology(tree, 3, "physical_package_id", "two\n");
    host_tree_write_cpu(tree, 0, "0-1\n", "-1\n"); // siblings also where one does not say its socket
    write_topology(tree, 1, "core_cpus_list", "0-1\n");
    host_tree_write_cpu(tree, 4, "4\n", "36\n");
    assert_cores(tree, 5, (const unsigned[]){0, 0, 1, 2, 3}, (const unsigned[]){0, 0, 0, 0, 36});
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TREE_TEST(test_each_cpu_has_its_node_and_its_cache_where_the_kernel_says),
        TREE_TEST(test_a_kernel_that_says_nothing_of_places_leaves_them_unknown),
        TREE_TEST(test_nothing_new_online_is_no_update),
        TREE_TEST(test_a_cpu_that_comes_online_joins_and_those_away_stay),
        TREE_TEST(test_a_new_cpu_that_is_not_selected_is_no_news),
        TREE_TEST(test_the_same_core_id_on_two_dies_is_two_cores),
        TREE_TEST(test_siblings_lie_half_the_cpus_apart),
        TREE_TEST(test_an_older_kernel_calls_the_list_thread_siblings),
        TREE_TEST(test_a_socket_that_is_negative_missing_or_no_number_is_socket_0),
        TREE_TEST(test_cpus_of_other_types_of_cores_are_as_if_they_were_not_there),
        TREE_TEST(test_isolated_and_tickless_cpus_are_left_alone),
        TREE_TEST(test_cpus_of_isolated_partitions_are_left_alone),
        TREE_TEST(test_nested_partitions_are_found_where_the_kernel_does_not_list_them),
        TREE_TEST(test_cpus_that_no_cpuset_of_cgroup_v1_balances_are_left_alone),
        TREE_TEST(test_an_exclusive_cpuset_of_cgroup_v1_isolates_nothing),
        TREE_TEST(test_a_cpu_that_becomes_isolated_leaves_and_comes_back),
        TREE_TEST(test_an_offline_cpu_may_become_isolated_and_the_last_one_is_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
