// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include "daemon/uncore/uncore_files.h"

// The boxes that vendors' files name (daemon/uncore/uncore_files.h), on made-up hosts of two packages.

static void write_hosts_cpus(const struct host_tree *tree) {
    host_tree_write(tree, "devices/system/cpu/online", "0-7\n");
    host_tree_write_cpu(tree, 0, "0\n", "0\n");
    host_tree_write_cpu(tree, 4, "4\n", "1\n");
}

static void write_box(const struct host_tree *tree, const char *pmu, const char *cpumask) {
    host_tree_write_pmu(tree, pmu, "type", "30\n");
    host_tree_write_pmu(tree, pmu, "cpumask", cpumask);
}

struct found {
    size_t n;
    double per_package;
};

// What the files' name finds, where the configuration leaves out a PMU; NULL: none.
static struct found find(const struct host_tree *tree, const char *pmu, const char *left_out) {
    struct config_pattern pattern = {.text = (char *)(uintptr_t)left_out};
    struct config config = {.uncore.boxes.exclude = {.items = &pattern, .n = left_out ? 1 : 0}};
    struct setup setup = {.config = &config};
    const struct uncore_files files = {.setup = &setup, .roots = tree->roots};
    struct uncore_boxes boxes;
    assert_int_equal(uncore_files_find(&files, pmu, &boxes), 0);
    struct found found = {boxes.n, boxes.n > 0 ? uncore_files_per_package(&boxes) : 0};
    uncore_boxes_deinit(&boxes);
    return found;
}

// The files' formulas divide by the number of boxes of a socket (perf's source_count), not of the host.
static void test_boxes_are_counted_by_package(void **state) {
    const struct host_tree *tree = *state;
    write_hosts_cpus(tree);
    write_box(tree, "uncore_cha_0", "0,4\n");
    write_box(tree, "uncore_cha_1", "0,4\n");
    write_box(tree, "uncore_cha_2", "0,4\n");
    struct found found = find(tree, "uncore_cha", NULL);
    assert_int_equal(found.n, 6);
    assert_true(found.per_package == 3);
    found = find(tree, "uncore_cha", "uncore_cha_1");
    assert_int_equal(found.n, 4);
    assert_true(found.per_package == 2);
    write_box(tree, "uncore_cha_3", "0\n"); // one package has more
    found = find(tree, "uncore_cha", NULL);
    assert_int_equal(found.n, 7);
    assert_true(found.per_package == 3.5);
}

static void test_a_name_is_that_of_a_pmu_or_of_numbered_ones(void **state) {
    const struct host_tree *tree = *state;
    write_hosts_cpus(tree);
    write_box(tree, "uncore_cha_0", "0,4\n");
    write_box(tree, "uncore_cha_x", "0,4\n");
    write_box(tree, "uncore_chat_0", "0,4\n");
    write_box(tree, "uncore_imc_free_running", "0,4\n");
    write_box(tree, "hisi_sicl2_cpa0", "0\n");
    write_box(tree, "hisi_sicl10_cpa1", "4\n");
    write_box(tree, "hisi_sccl1_cpa0", "4\n");
    assert_int_equal(find(tree, "uncore_cha", NULL).n, 2);
    assert_int_equal(find(tree, "uncore_imc_free_running", NULL).n, 2);
    assert_int_equal(find(tree, "uncore_imc", NULL).n, 0);
    struct found found = find(tree, "hisi_sicl,cpa", NULL);
    assert_int_equal(found.n, 2);
    assert_true(found.per_package == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_boxes_are_counted_by_package, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_a_name_is_that_of_a_pmu_or_of_numbered_ones, host_tree_setup,
                                        host_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
