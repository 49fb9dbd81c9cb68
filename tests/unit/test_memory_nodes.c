// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory_host.h"

#include "core/memory/memory_metric.h"

// NUMA nodes of made-up hosts: what they are, what the kernel counts on them, and totals that only grow.

static double page_bytes(void) { return (double)sysconf(_SC_PAGESIZE); }

static struct host_memory *read_once(const struct host_tree *tree) {
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    assert_non_null(reader);
    struct host_memory *memory = memory_read_at(reader, 100);
    memory_reader_free(reader);
    return memory;
}

static void test_a_host_of_one_node_has_no_totals(void **state) {
    const struct host_tree *tree = *state;
    memory_add_cpus(tree, 0, 4, "0\n");
    memory_add_node(tree, 0, "0-3\n", 64);
    memory_write_vmstat(tree, 4000, 0);
    struct host_memory *memory = read_once(tree);
    assert_int_equal(memory->n_nodes, 1);
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++)
        assert_true(isnan(memory->totals[i]));
    assert_true(host_memory_same_series(memory, NULL));
    assert_int_equal(memory->resctrl, RESCTRL_NOT_MOUNTED);
    host_memory_unref(memory);
}

static void test_a_host_without_numa_has_no_nodes(void **state) {
    struct host_memory *memory = read_once(*state);
    assert_int_equal(memory->n_nodes, 0);
    assert_string_equal(memory->problem, "");
    host_memory_unref(memory);
}

static void test_two_sockets_have_a_node_each(void **state) {
    const struct host_tree *tree = *state;
    memory_two_sockets(tree);
    struct host_memory *memory = read_once(tree);
    assert_int_equal(memory->n_nodes, 2);
    const struct host_memory_node *node = &memory->nodes[1];
    assert_int_equal(node->id, 1);
    assert_int_equal(node->socket, 1);
    assert_int_equal(node->tier, -1);
    assert_int_equal(node->kind, HOST_MEMORY_OF_CPUS);
    assert_true(node->bytes == 64.0 * (1 << 30) && node->free_bytes == 32.0 * (1 << 30));
    assert_true(node->counts[HOST_MEMORY_HIT] == 1000 && node->counts[HOST_MEMORY_MISS] == 10);
    assert_true(node->counts[HOST_MEMORY_FOREIGN] == 20 && node->counts[HOST_MEMORY_INTERLEAVE] == 30);
    assert_true(node->counts[HOST_MEMORY_OWN] == 901 && node->counts[HOST_MEMORY_OTHER] == 110);
    assert_true(isnan(node->before[HOST_MEMORY_HIT]) && isnan(node->access.read_seconds));
    const double *totals = memory->totals;
    assert_true(totals[HOST_MEMORY_LOCAL] == 4000 && totals[HOST_MEMORY_REMOTE] == 1000);
    assert_true(totals[HOST_MEMORY_MISSED] == 40);
    assert_true(totals[HOST_MEMORY_HINT_LOCAL] == 600 && totals[HOST_MEMORY_HINT_REMOTE] == 200);
    assert_true(totals[HOST_MEMORY_BALANCED] == 50 * page_bytes());
    assert_true(totals[HOST_MEMORY_MIGRATED] == 70 && totals[HOST_MEMORY_NOT_MIGRATED] == 2);
    assert_true(isnan(totals[HOST_MEMORY_PROMOTED])); // all memory is alike
    assert_false(host_memory_tiered(memory));
    host_memory_unref(memory);
}

static void test_sub_numa_clusters_share_a_socket(void **state) {
    const struct host_tree *tree = *state;
    memory_add_cpus(tree, 0, 4, "0\n");
    memory_add_cpus(tree, 4, 4, "1\n");
    static const char *const cpus[] = {"0-1\n", "2-3\n", "4-5\n", "6-7\n"};
    for (unsigned node = 0; node < 4; node++)
        memory_add_node(tree, node, cpus[node], 32);
    memory_write_vmstat(tree, 1, 1);
    struct host_memory *memory = read_once(tree);
    assert_int_equal(memory->n_nodes, 4);
    for (int node = 0; node < 4; node++)
        assert_int_equal(memory->nodes[node].socket, node / 2);
    host_memory_unref(memory);
}

static void link_dax(const struct host_tree *tree, const char *name, const char *place, const char *node) {
    char path[512], target[256];
    memory_write(tree, node, "%s/%s/target_node", place, name);
    memory_write(tree, "", "bus/dax/devices/.made");
    (void)snprintf(path, sizeof path, "%s/bus/dax/devices/%s", tree->root, name);
    (void)snprintf(target, sizeof target, "../../../%s/%s", place, name);
    assert_int_equal(symlink(target, path), 0);
}

// Two sockets, CXL memory at node 2, persistent memory at 3, memory that the firmware keeps apart at 4, and one of
// which nothing is known at 5.
static void cxl_host(const struct host_tree *tree) {
    memory_two_sockets(tree);
    for (unsigned node = 2; node < 6; node++)
        memory_add_node(tree, node, "\n", 128);
    link_dax(tree, "dax0.0", "devices/platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0", "2\n");
    link_dax(tree, "dax1.0", "devices/LNXSYSTM:00/ndbus0/region1", "3\n");
    link_dax(tree, "dax2.0", "devices/platform/hmem.0", "4\n");
    memory_write(tree, "0-1\n", "devices/virtual/memory_tiering/memory_tier4/nodelist");
    memory_write(tree, "2-5\n", "devices/virtual/memory_tiering/memory_tier22/nodelist");
    memory_write(tree, "95232\n", "devices/system/node/node2/access1/initiators/read_bandwidth");
    memory_write(tree, "47616\n", "devices/system/node/node2/access1/initiators/write_bandwidth");
    memory_write(tree, "1\n", "devices/system/node/node2/access0/initiators/read_bandwidth");
    memory_write(tree, "250\n", "devices/system/node/node2/access0/initiators/read_latency");
}

static void test_cxl_and_persistent_memory_and_tiers_are_told_apart(void **state) {
    const struct host_tree *tree = *state;
    cxl_host(tree);
    struct host_memory *memory = read_once(tree);
    static const enum host_memory_kind kinds[] = {HOST_MEMORY_OF_CPUS, HOST_MEMORY_OF_CPUS,
                                                  HOST_MEMORY_CXL,     HOST_MEMORY_PERSISTENT,
                                                  HOST_MEMORY_SPECIAL, HOST_MEMORY_WITHOUT_CPUS};
    assert_int_equal(memory->n_nodes, 6);
    for (int node = 0; node < 6; node++) {
        assert_int_equal(memory->nodes[node].kind, kinds[node]);
        assert_int_equal(memory->nodes[node].tier, node < 2 ? 4 : 22);
        assert_int_equal(memory->nodes[node].socket, node < 2 ? node : -1);
    }
    const struct host_memory_access *access = &memory->nodes[2].access;
    assert_true(access->read_bytes_per_second == 95232e6); // the class of CPUs, in MB/s
    assert_true(access->write_bytes_per_second == 47616e6);
    assert_true(fabs(access->read_seconds - 250e-9) < 1e-15); // that class does not say
    assert_true(isnan(access->write_seconds));
    assert_true(memory->totals[HOST_MEMORY_PROMOTED] == 6 * page_bytes());
    assert_true(memory->totals[HOST_MEMORY_DEMOTED] == 7 * page_bytes());
    host_memory_unref(memory);
}

static void test_files_that_hold_nonsense_are_named_and_lose_only_their_own_values(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *file, *text, *wanted;
    } wrong[] = {{"devices/system/node/node1/numastat", "numa_hit many\nlocal_node 7\n", "whole numbers"},
                 {"devices/system/node/node1/meminfo", "nothing\n", "a line MemTotal with a size in kB"},
                 {"devices/system/node/node1/cpulist", "all of them\n", "a list of CPUs"},
                 {"devices/virtual/memory_tiering/memory_tier4/nodelist", "0-x\n", "a list of nodes"},
                 {"vmstat", "numa_local -\nnuma_other 9\n", "whole numbers"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memory_two_sockets(tree);
        memory_write(tree, "0-1\n", "devices/virtual/memory_tiering/memory_tier4/nodelist");
        host_tree_write(tree, wrong[i].file, wrong[i].text);
        struct host_memory *memory = read_once(tree);
        char problem[HOST_MEMORY_PROBLEM_MAX];
        (void)snprintf(problem, sizeof problem, "%s/%s does not hold %s, so its values are missing", tree->root,
                       wrong[i].file, wrong[i].wanted);
        assert_string_equal(memory->problem, problem);
        assert_int_equal(memory->n_nodes, 2);
        assert_true(memory->nodes[0].counts[HOST_MEMORY_HIT] == 1000);
        assert_true(isnan(memory->nodes[1].counts[HOST_MEMORY_HIT]) == (i == 0));
        assert_true(memory->nodes[1].counts[HOST_MEMORY_OWN] == (i == 0 ? 7 : 901));
        assert_true(isnan(memory->nodes[1].bytes) == (i == 1));
        assert_int_equal(memory->nodes[1].kind, HOST_MEMORY_OF_CPUS);
        assert_true(isnan(memory->totals[HOST_MEMORY_LOCAL]) == (i == 4));
        host_memory_unref(memory);
    }
}

static void test_shares_are_those_since_the_reading_before(void **state) {
    const struct host_tree *tree = *state;
    memory_two_sockets(tree);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    host_memory_unref(memory_read_at(reader, 100));
    memory_write_vmstat(tree, 4300, 1100);
    memory_write_numastat(tree, 1, (const unsigned long[6]){1090, 20, 20, 30, 991, 120});
    struct host_memory *memory = memory_read_at(reader, 110);
    assert_true(memory->seconds == 10 && memory->timestamp_seconds == 1.7e9 + 110);
    assert_true(memory_metric_value(memory, MEMORY_METRIC_REMOTE, MEMORY_HOST, 0) == 0.25);
    assert_true(memory_metric_value(memory, MEMORY_METRIC_REMOTE, MEMORY_NODE, 1) == 0.1);
    assert_true(memory_metric_value(memory, MEMORY_METRIC_MISSED, MEMORY_NODE, 1) == 0.1);
    assert_true(isnan(memory_metric_value(memory, MEMORY_METRIC_REMOTE, MEMORY_NODE, 0))); // nothing came
    assert_true(memory_metric_value(memory, MEMORY_METRIC_MIGRATED, MEMORY_HOST, 0) == 0);
    assert_true(isnan(memory_metric_value(memory, MEMORY_METRIC_PROMOTED, MEMORY_HOST, 0))); // it has one tier
    assert_false(memory_metric_told(memory, MEMORY_METRIC_PROMOTED, MEMORY_HOST, 0));
    assert_false(memory_metric_told(memory, MEMORY_METRIC_RESCTRL, MEMORY_HOST, 0));
    assert_true(memory_metric_told(memory, MEMORY_METRIC_REMOTE, MEMORY_NODE, 0));
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_totals_that_fall_go_on_from_where_they_were(void **state) {
    const struct host_tree *tree = *state;
    memory_two_sockets(tree);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    static const struct {
        unsigned long kernel;
        double shown;
    } steps[] = {{4000, 4000}, {4500, 4500}, {100, 4500}, {150, 4550}};
    for (unsigned i = 0; i < 4; i++) {
        memory_write_vmstat(tree, steps[i].kernel, 1000);
        struct host_memory *memory = memory_read_at(reader, 100 + 10 * i);
        assert_true(memory->totals[HOST_MEMORY_LOCAL] == steps[i].shown);
        host_memory_unref(memory);
    }
    memory_reader_free(reader);
}

static void test_a_node_that_goes_away_takes_nothing_from_the_totals(void **state) {
    const struct host_tree *tree = *state;
    char command[512];
    cxl_host(tree);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *before = memory_read_at(reader, 100);
    (void)snprintf(command, sizeof command, "rm -r '%s/devices/system/node/node2'", tree->root);
    assert_int_equal(system(command), 0);
    struct host_memory *memory = memory_read_at(reader, 110);
    assert_int_equal(memory->n_nodes, 5);
    assert_int_equal(memory->nodes[2].id, 3);
    assert_true(memory->nodes[2].before[HOST_MEMORY_HIT] == 1000); // its own, not the lost one's
    assert_true(host_memory_same_series(before, memory));
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++)
        assert_true(memory->totals[i] == before->totals[i]);
    assert_string_equal(memory->problem, "");
    host_memory_unref(before);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void rate(const struct host_tree *tree, unsigned node, const char *read, const char *write) {
    memory_write(tree, "", "devices/system/node/node%u/access1/initiators/node%u/.made", node, node);
    memory_write(tree, read, "devices/system/node/node%u/access1/initiators/read_bandwidth", node);
    memory_write(tree, write, "devices/system/node/node%u/access1/initiators/write_bandwidth", node);
}

static void assert_rated(const struct host_tree *tree, double socket_0, double socket_1) {
    struct host_memory *memory = read_once(tree);
    if (host_memory_rated(memory, 0) != socket_0 || host_memory_rated(memory, 1) != socket_1)
        fail_msg("rated %g and %g", host_memory_rated(memory, 0), host_memory_rated(memory, 1));
    host_memory_unref(memory);
}

static void test_the_firmware_rates_the_memory_of_a_sockets_own_nodes(void **state) {
    const struct host_tree *tree = *state;
    memory_add_cpus(tree, 0, 4, "0\n");
    memory_add_cpus(tree, 4, 2, "1\n");
    memory_add_node(tree, 0, "0-1\n", 32);
    memory_add_node(tree, 1, "2-3\n", 32);
    memory_add_node(tree, 2, "4-5\n", 64);
    memory_add_node(tree, 3, "\n", 128); // CXL
    assert_rated(tree, 0, 0);
    rate(tree, 3, "60000\n", "60000\n");
    rate(tree, 0, "150000\n", "140000\n");
    assert_rated(tree, 0, 0); // its other cluster has no rating
    rate(tree, 1, "140000\n", "153600\n");
    assert_rated(tree, 303.6e9, 0);
    memory_write(tree, "", "devices/system/node/node2/access0/initiators/node0/.made");
    memory_write(tree, "90000\n", "devices/system/node/node2/access0/initiators/read_bandwidth");
    assert_rated(tree, 303.6e9, 0); // that is the way from another socket
    rate(tree, 2, "307200\n", "307200\n");
    assert_rated(tree, 303.6e9, 307.2e9);
    memory_write(tree, "8388608\n", "devices/system/node/node2/memory_side_cache/index1/size");
    assert_rated(tree, 303.6e9, 0); // memory in the package before it, or DRAM before persistent memory
}

static void test_a_node_of_two_sockets_rates_neither(void **state) {
    const struct host_tree *tree = *state;
    memory_add_cpus(tree, 0, 2, "0\n");
    memory_add_cpus(tree, 2, 2, "1\n");
    memory_add_node(tree, 0, "0-3\n", 128);
    rate(tree, 0, "307200\n", "307200\n");
    assert_rated(tree, 0, 0);
    struct host_memory *memory = read_once(tree);
    assert_int_equal(memory->nodes[0].socket, -1);
    host_memory_unref(memory);
}

static void test_of_more_nodes_than_are_shown_the_first_are_and_that_is_said(void **state) {
    const struct host_tree *tree = *state;
    memory_two_sockets(tree);
    for (unsigned node = HOST_MEMORY_NODES_MAX + 8; node-- > 2;) // the folder's order is not that of the numbers
        memory_add_node(tree, node, "\n", 8);
    struct host_memory *memory = read_once(tree);
    assert_int_equal(memory->n_nodes, HOST_MEMORY_NODES_MAX);
    for (unsigned node = 0; node < HOST_MEMORY_NODES_MAX; node++)
        assert_int_equal(memory->nodes[node].id, node);
    assert_string_equal(memory->problem, "This host has 72 NUMA nodes, of which the first 64 are shown; the host's "
                                         "totals are those of all nodes");
    assert_true(memory->totals[HOST_MEMORY_LOCAL] == 4000);
    host_memory_unref(memory);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_a_host_of_one_node_has_no_totals),
        ON_A_TREE(test_a_host_without_numa_has_no_nodes),
        ON_A_TREE(test_two_sockets_have_a_node_each),
        ON_A_TREE(test_sub_numa_clusters_share_a_socket),
        ON_A_TREE(test_cxl_and_persistent_memory_and_tiers_are_told_apart),
        ON_A_TREE(test_files_that_hold_nonsense_are_named_and_lose_only_their_own_values),
        ON_A_TREE(test_shares_are_those_since_the_reading_before),
        ON_A_TREE(test_totals_that_fall_go_on_from_where_they_were),
        ON_A_TREE(test_the_firmware_rates_the_memory_of_a_sockets_own_nodes),
        ON_A_TREE(test_a_node_of_two_sockets_rates_neither),
        ON_A_TREE(test_of_more_nodes_than_are_shown_the_first_are_and_that_is_said),
        ON_A_TREE(test_a_node_that_goes_away_takes_nothing_from_the_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
