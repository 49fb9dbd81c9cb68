// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include <errno.h>

#include "collectors/uncore/pmu_boxes.h"
#include "collectors/uncore/uncore_find.h"

// Boxes in made-up sysfs trees. tests/e2e/test_uncore_hosts.py has whole hosts of each vendor.

#define N_OF(array) (sizeof(array) / sizeof *(array))

static const char *const CPU[] = {"made-up"};

static const struct uncore_kind IMC = {
    .name = "imc", .spec = "imc-a", .pattern = "uncore_imc_[0-9]*", .cpus = "made-*", .group = "memory"};

static struct uncore_host find(const struct host_tree *tree, const struct uncore_kind *kinds, size_t n) {
    const struct uncore_kinds all = {(struct uncore_kind *)kinds, n};
    struct uncore_host host;
    assert_int_equal(uncore_find(tree ? &tree->roots : NULL, &all, CPU, 1, &host), 0);
    return host;
}

static void write_box(const struct host_tree *tree, const char *pmu, const char *type, const char *cpumask) {
    host_tree_write_pmu(tree, pmu, "type", type);
    if (cpumask)
        host_tree_write_pmu(tree, pmu, "cpumask", cpumask);
}

static void write_sockets(const struct host_tree *tree) {
    host_tree_write(tree, "devices/system/cpu/online", "2-3,8-9\n");
    host_tree_write_cpu(tree, 2, "2\n", "5\n");
    host_tree_write_cpu(tree, 8, "8\n", "1\n");
    host_tree_write(tree, "devices/system/node/node0/cpulist", "8-9\n");
    host_tree_write(tree, "devices/system/node/node3/cpulist", "2-3\n");
    host_tree_write(tree, "devices/system/node/possible", "0,3\n");
}

static void test_a_mask_with_a_cpu_of_each_socket_is_a_box_in_each(void **state) {
    const struct host_tree *tree = *state;
    write_sockets(tree);
    write_box(tree, "uncore_imc_10", "31\n", "2,8\n");
    write_box(tree, "uncore_imc_2", "30\n", "2,8\n");
    struct uncore_host host = find(tree, &IMC, 1);
    assert_int_equal(host.n, 1);
    const struct uncore_boxes *boxes = &host.found[0].boxes;
    static const struct uncore_box expected[] = {{"uncore_imc_2", 30, 8, .place = {.package = 1, .node = 0}},
                                                 {"uncore_imc_10", 31, 8, .place = {.package = 1, .node = 0}},
                                                 {"uncore_imc_2", 30, 2, .place = {.package = 5, .node = 3}},
                                                 {"uncore_imc_10", 31, 2, .place = {.package = 5, .node = 3}}};
    assert_int_equal(boxes->n, N_OF(expected)); // socket by socket, and 2 before 10
    for (size_t i = 0; i < boxes->n; i++) {
        assert_string_equal(boxes->boxes[i].pmu, expected[i].pmu);
        assert_int_equal(boxes->boxes[i].type, expected[i].type);
        assert_int_equal(boxes->boxes[i].cpu, expected[i].cpu);
        assert_int_equal(boxes->boxes[i].place.package, expected[i].place.package);
        assert_int_equal(boxes->boxes[i].place.node, expected[i].place.node);
    }
    uncore_host_deinit(&host);
}

static void test_pmus_of_a_kind_have_the_boxes_of_their_own_masks(void **state) {
    static const unsigned readers[] = {8, 2, 3}; // of uncore_imc_0 to 2, in the order of their sockets
    const struct host_tree *tree = *state;
    write_sockets(tree);
    write_box(tree, "uncore_imc_0", "30\n", "8\n");
    write_box(tree, "uncore_imc_1", "31\n", "2\n");
    write_box(tree, "uncore_imc_2", "32\n", "3\n");
    host_tree_write_cpu(tree, 3, "3\n", "5\n");
    struct uncore_host host = find(tree, &IMC, 1);
    assert_int_equal(host.found[0].boxes.n, N_OF(readers));
    for (size_t i = 0; i < N_OF(readers); i++) {
        assert_int_equal(host.found[0].boxes.boxes[i].type, 30 + i);
        assert_int_equal(host.found[0].boxes.boxes[i].cpu, readers[i]);
    }
    uncore_host_deinit(&host);
}

static void test_a_pmu_without_a_mask_is_read_by_the_first_online_cpu(void **state) {
    const struct host_tree *tree = *state;
    write_sockets(tree);
    write_box(tree, "uncore_imc_0", "30\n", NULL);
    struct uncore_host host = find(tree, &IMC, 1);
    assert_int_equal(host.found[0].boxes.n, 1);
    assert_int_equal(host.found[0].boxes.boxes[0].cpu, 2);
    uncore_host_deinit(&host);
}

static void expect_unusable(const struct uncore_found *found, size_t i, const char *pmu, const char *reason) {
    assert_string_equal(found->unusable[i].pmu, pmu);
    assert_non_null(strstr(found->unusable[i].reason, reason));
}

static void test_what_cannot_be_opened_is_no_box_and_says_why(void **state) {
    const struct host_tree *tree = *state;
    write_sockets(tree);
    write_box(tree, "uncore_imc_0", "30\n", "\n");               // all its CPUs are offline
    write_box(tree, "uncore_imc_1", "30\n", "the first\n");      // no list
    write_box(tree, "uncore_imc_2", "thirty\n", "2\n");          // no number
    write_box(tree, "uncore_imc_free_running_0", "30\n", "2\n"); // another kind
    host_tree_write_pmu(tree, "uncore_imc_3", "cpumask", "2\n"); // no type
    struct uncore_host host = find(tree, &IMC, 1);
    assert_int_equal(host.n, 1);
    assert_int_equal(host.found[0].boxes.n, 0);
    assert_int_equal(host.found[0].n_unusable, 4);
    expect_unusable(&host.found[0], 0, "uncore_imc_0", "cpumask is empty");
    expect_unusable(&host.found[0], 1, "uncore_imc_1", "cpumask is no list");
    expect_unusable(&host.found[0], 2, "uncore_imc_2", "type holds no number");
    expect_unusable(&host.found[0], 3, "uncore_imc_3", "type holds no number");
    uncore_host_deinit(&host);
}

static void test_a_kind_may_need_a_file_of_its_pmus_or_of_the_host(void **state) {
    const struct host_tree *tree = *state;
    struct uncore_kind kind = IMC;
    write_sockets(tree);
    write_box(tree, "uncore_imc_0", "30\n", "2\n");
    write_box(tree, "uncore_imc_1", "31\n", "2\n");
    host_tree_write_pmu(tree, "uncore_imc_1", "events/writes", "event=1\n");
    kind.file = "events/writes";
    struct uncore_host host = find(tree, &kind, 1);
    assert_int_equal(host.found[0].boxes.n, 1);
    assert_int_equal(host.found[0].boxes.boxes[0].type, 31);
    uncore_host_deinit(&host);
    kind.host = "bus/cxl/devices/mem[0-9]*";
    host = find(tree, &kind, 1);
    assert_int_equal(host.found[0].boxes.n, 0);
    uncore_host_deinit(&host);
    host_tree_write(tree, "bus/cxl/devices/memory", "");
    host_tree_write(tree, "bus/cxl/devices/mem12/pmem/size", "0\n");
    host = find(tree, &kind, 1);
    assert_int_equal(host.found[0].boxes.n, 1);
    uncore_host_deinit(&host);
}

static void test_of_kinds_of_one_name_the_first_with_boxes_is_used(void **state) {
    const struct host_tree *tree = *state;
    const struct uncore_kind kinds[] = {
        {.name = "ddr", .spec = "a", .pattern = "nothing_*", .cpus = "made-up", .group = "memory"},
        {.name = "ddr", .spec = "b", .pattern = "mesh_*", .identifier = "43e*", .cpus = "made-up", .group = "memory"},
        {.name = "ddr", .spec = "c", .pattern = "mesh_*", .identifier = "434*", .cpus = "made-up", .group = "memory"},
        {.name = "ddr", .spec = "d", .pattern = "mesh_*", .cpus = "made-up", .group = "memory"},
        {.name = "cache", .spec = "e", .pattern = "other_*", .cpus = "made-up", .group = "llc"},
        {.name = "links", .spec = "f", .pattern = "mesh_*", .cpus = "another-cpu", .group = "interconnect"}};
    write_sockets(tree);
    write_box(tree, "mesh_0", "40\n", "2\n");
    host_tree_write_pmu(tree, "mesh_0", "identifier", "43402\n");
    struct uncore_host host = find(tree, kinds, N_OF(kinds));
    assert_int_equal(host.n, 2);
    assert_string_equal(host.found[0].kind->spec, "c");
    assert_int_equal(host.found[0].boxes.n, 1);
    assert_string_equal(host.found[1].kind->spec, "e");
    assert_int_equal(host.found[1].boxes.n, 0); // a kind that the host lacks is told of
    uncore_host_deinit(&host);
    host = find(NULL, kinds, N_OF(kinds)); // without a host, all ways to count are
    assert_int_equal(host.n, 5);
    uncore_host_deinit(&host);
}

static int bytes_of(const struct host_tree *tree, const char *scale, const char *unit, double *out) {
    host_tree_write_pmu(tree, "uncore_imc_0", "events/reads.scale", scale);
    host_tree_write_pmu(tree, "uncore_imc_0", "events/reads.unit", unit);
    return uncore_find_bytes(&tree->roots, "uncore_imc_0", "reads", out);
}

static void test_scale_and_unit_say_how_many_bytes_a_count_is(void **state) {
    const struct host_tree *tree = *state;
    double bytes = 0;
    assert_int_equal(uncore_find_bytes(&tree->roots, "uncore_imc_0", "reads", &bytes), -ENOENT);
    assert_int_equal(bytes_of(tree, "6.103515625e-5\n", "MiB\n", &bytes), 0);
    assert_true(bytes == 64);
    assert_int_equal(bytes_of(tree, "32\n", "Bytes\n", &bytes), 0);
    assert_true(bytes == 32);
    assert_int_equal(bytes_of(tree, "2.3283064365386962890625e-10\n", "Joules\n", &bytes), -EINVAL);
    assert_int_equal(bytes_of(tree, "some\n", "MiB\n", &bytes), -EINVAL);
    assert_int_equal(bytes_of(tree, "-1\n", "MiB\n", &bytes), -EINVAL);
}

static void write_cpu(const struct host_tree *tree, unsigned cpu, const char *package, const char *cache,
                      const char *sharers) {
    char name[128];
    host_tree_write_cpu(tree, cpu, "", package);
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/cache/index3/level", cpu);
    host_tree_write(tree, name, "3\n");
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/cache/index3/id", cpu);
    host_tree_write(tree, name, cache);
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/cache/index3/shared_cpu_list", cpu);
    host_tree_write(tree, name, sharers);
}

// Two sockets of two core complexes with two CPUs each.
static void write_complexes(const struct host_tree *tree) {
    host_tree_write(tree, "devices/system/cpu/online", "0-7\n");
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        char cache[8], sharers[8];
        (void)snprintf(cache, sizeof cache, "%u\n", cpu / 2);
        (void)snprintf(sharers, sizeof sharers, "%u-%u\n", cpu / 2 * 2, cpu / 2 * 2 + 1);
        write_cpu(tree, cpu, cpu < 4 ? "0\n" : "1\n", cache, sharers);
    }
}

static void expect_readers(const struct host_tree *tree, const struct uncore_boxes *boxes, const char *cpumask,
                           const int *expected) {
    write_box(tree, "uncore_imc_0", "30\n", cpumask);
    for (size_t box = 0; box < boxes->n; box++)
        assert_int_equal(pmu_boxes_cpu(&tree->roots, &boxes->boxes[box]), expected[box]);
}

static void test_a_box_is_read_by_its_own_cpu_or_another_one_of_its_part(void **state) {
    const struct host_tree *tree = *state;
    write_complexes(tree);
    write_box(tree, "uncore_imc_0", "30\n", "0,2,4,6\n");
    struct uncore_host host = find(tree, &IMC, 1);
    const struct uncore_boxes *boxes = &host.found[0].boxes;
    assert_int_equal(boxes->n, 4);
    expect_readers(tree, boxes, "0,2,4,6\n", (const int[]){0, 2, 4, 6});
    expect_readers(tree, boxes, "1,2,4,7\n", (const int[]){1, 2, 4, 7}); // CPUs 0 and 6 went offline
    expect_readers(tree, boxes, "1,2,4\n", (const int[]){1, 2, 4, -1});  // all CPUs of the last complex did
    expect_readers(tree, boxes, "3\n", (const int[]){-1, 3, -1, -1});    // no box moves to another socket or complex
    expect_readers(tree, boxes, "\n", (const int[]){-1, -1, -1, -1});
    expect_readers(tree, boxes, "what\n", (const int[]){0, 2, 4, 6}); // nobody knows: as it was
    expect_readers(tree, boxes, "0,2,4,6\n", (const int[]){0, 2, 4, 6});
    uncore_host_deinit(&host);
}

static void test_a_pmu_without_a_mask_is_read_by_the_same_cpu_while_it_is_online(void **state) {
    const struct host_tree *tree = *state;
    write_complexes(tree);
    write_box(tree, "uncore_imc_0", "30\n", NULL);
    struct uncore_host host = find(tree, &IMC, 1);
    const struct uncore_box *box = &host.found[0].boxes.boxes[0];
    assert_int_equal(box->cpu, 0);
    host_tree_write(tree, "devices/system/cpu/online", "5-7\n");
    assert_int_equal(pmu_boxes_cpu(&tree->roots, box), 5);
    host_tree_write(tree, "devices/system/cpu/online", "0,5-7\n");
    assert_int_equal(pmu_boxes_cpu(&tree->roots, box), 0);
    uncore_host_deinit(&host);
}

int main(void) {
#define IN_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)
    const struct CMUnitTest tests[] = {
        IN_A_TREE(test_a_mask_with_a_cpu_of_each_socket_is_a_box_in_each),
        IN_A_TREE(test_pmus_of_a_kind_have_the_boxes_of_their_own_masks),
        IN_A_TREE(test_a_pmu_without_a_mask_is_read_by_the_first_online_cpu),
        IN_A_TREE(test_what_cannot_be_opened_is_no_box_and_says_why),
        IN_A_TREE(test_a_kind_may_need_a_file_of_its_pmus_or_of_the_host),
        IN_A_TREE(test_of_kinds_of_one_name_the_first_with_boxes_is_used),
        IN_A_TREE(test_scale_and_unit_say_how_many_bytes_a_count_is),
        IN_A_TREE(test_a_box_is_read_by_its_own_cpu_or_another_one_of_its_part),
        IN_A_TREE(test_a_pmu_without_a_mask_is_read_by_the_same_cpu_while_it_is_online),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
