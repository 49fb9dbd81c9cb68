// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include <errno.h>

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

static void test_isolated_and_tickless_cpus_are_left_alone(void **state) {
    struct host_tree *tree = *state;
    struct cpuset set;
    host_linux_left_alone(&tree->roots, &set);
    assert_int_equal(cpuset_count(&set), 0); // no such files
    host_tree_write(tree, "devices/system/cpu/isolated", "2-3\n");
    host_tree_write(tree, "devices/system/cpu/nohz_full", "(null)\n"); // as kernels without it say
    host_linux_left_alone(&tree->roots, &set);
    assert_int_equal(cpuset_count(&set), 2);
    host_tree_write(tree, "devices/system/cpu/nohz_full", "3,7\n");
    host_linux_left_alone(&tree->roots, &set);
    assert_int_equal(cpuset_count(&set), 3);
    assert_true(cpuset_has(&set, 2) && cpuset_has(&set, 3) && cpuset_has(&set, 7));
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
        TREE_TEST(test_nothing_new_online_is_no_update),
        TREE_TEST(test_a_cpu_that_comes_online_joins_and_those_away_stay),
        TREE_TEST(test_a_new_cpu_that_is_not_selected_is_no_news),
        TREE_TEST(test_the_same_core_id_on_two_dies_is_two_cores),
        TREE_TEST(test_siblings_lie_half_the_cpus_apart),
        TREE_TEST(test_an_older_kernel_calls_the_list_thread_siblings),
        TREE_TEST(test_a_socket_that_is_negative_missing_or_no_number_is_socket_0),
        TREE_TEST(test_cpus_of_other_types_of_cores_are_as_if_they_were_not_there),
        TREE_TEST(test_isolated_and_tickless_cpus_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
