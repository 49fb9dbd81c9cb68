// SPDX-License-Identifier: Apache-2.0
//
// Small sysfs trees of hosts with one and with several core types, against the shipped map.

#include "collectors/host/host_cores.h"
#include "config/spec/cpu_map_json.h"
#include "host_tree.h"

enum { C1_ULTRA = 0x410fd8c0, C1_PRO = 0x410fd8b0, C1_NANO = 0x411fd8a1, UNKNOWN_CORE = 0x410feee0 };

static struct cpu_map map;

static int map_setup(void **state) {
    (void)state;
    struct errors errors = {0};
    return cpu_map_json_load("specs/cpus.json", &errors, &map);
}

static int map_teardown(void **state) {
    (void)state;
    cpu_map_deinit(&map);
    return 0;
}

static void write_midr(const struct host_tree *tree, unsigned cpu, unsigned midr) {
    char name[128], text[32];
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu);
    (void)snprintf(text, sizeof text, "0x%016x\n", midr);
    host_tree_write(tree, name, text);
}

static void write_pmu(const struct host_tree *tree, const char *pmu, const char *type, const char *cpus) {
    char name[128];
    (void)snprintf(name, sizeof name, "bus/event_source/devices/%s/type", pmu);
    host_tree_write(tree, name, type);
    (void)snprintf(name, sizeof name, "bus/event_source/devices/%s/cpus", pmu);
    if (cpus)
        host_tree_write(tree, name, cpus);
}

// Two large cores, four in the middle, of which CPU 5 is offline, and two small ones; the PMUs come in another order.
static void big_little(const struct host_tree *tree) {
    static const unsigned midrs[] = {C1_ULTRA, C1_ULTRA, C1_PRO, C1_PRO, C1_PRO, 0, C1_NANO, C1_NANO};
    host_tree_write(tree, "devices/system/cpu/online", "0-4,6-7\n");
    for (unsigned cpu = 0; cpu < 8; cpu++)
        if (midrs[cpu] != 0)
            write_midr(tree, cpu, midrs[cpu]);
    write_pmu(tree, "armv8_pmuv3_0", "8\n", "6-7\n");
    write_pmu(tree, "armv8_pmuv3_1", "9\n", "2-5\n");
    write_pmu(tree, "armv8_pmuv3_2", "10\n", "0-1\n");
    write_pmu(tree, "software", "1\n", NULL);
}

static void x86(const struct host_tree *tree, const char *model) {
    char text[256];
    (void)snprintf(text, sizeof text,
                   "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: %s\nstepping\t: 2\n", model);
    host_tree_write(tree, "cpuinfo", text);
    host_tree_write(tree, "devices/system/cpu/online", "0-5\n");
}

static void expect_kind(const struct host_kinds *kinds, size_t i, const char *spec, const char *pmu, const char *cpus) {
    struct cpuset wanted;
    assert_true(i < kinds->n);
    const struct host_cores *kind = &kinds->kinds[i];
    assert_string_equal(kind->row ? kind->row->spec : "", spec);
    assert_string_equal(kind->pmu, pmu);
    assert_int_equal(cpuset_parse(cpus, &wanted), 0);
    assert_memory_equal(&kind->cpus, &wanted, sizeof wanted);
    assert_true(cpuset_has(&wanted, kind->first_cpu));
    for (unsigned cpu = 0; cpu < kind->first_cpu; cpu++)
        assert_false(cpuset_has(&wanted, cpu));
}

static void test_each_kind_of_a_big_little_host_has_its_spec_pmu_and_cpus(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    big_little(tree);
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 3);
    assert_true(kinds.several);
    expect_kind(&kinds, 0, "c1-ultra", "armv8_pmuv3_2", "0-1");
    expect_kind(&kinds, 1, "c1-pro", "armv8_pmuv3_1", "2-4");
    expect_kind(&kinds, 2, "c1-nano", "armv8_pmuv3_0", "6-7");
    assert_int_equal(kinds.kinds[2].midr, C1_NANO);
    assert_false(kinds.kinds[0].pmu_replaces);
}

static void test_pmus_come_with_their_types_and_cpus(void **state) {
    const struct host_tree *tree = *state;
    struct host_core_pmu pmus[HOST_CORES_MAX];
    big_little(tree);
    assert_int_equal(host_cores_pmus(&tree->roots, "armv*", pmus, HOST_CORES_MAX), 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pmus[i].type, 8 + i);
    assert_true(cpuset_has(&pmus[1].cpus, 5) && !cpuset_has(&pmus[1].cpus, 6)); // offline ones too
    assert_int_equal(cpuset_count(&pmus[1].cpus), 4);
    assert_int_equal(host_cores_pmus(&tree->roots, "armv*", pmus, 2), 2);
    assert_int_equal(host_cores_pmus(&tree->roots, "cpu", pmus, HOST_CORES_MAX), 0);
}

static void test_a_core_that_comes_online_is_asked_what_it_is(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    big_little(tree);
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_true(host_cores_has(&tree->roots, &map, false, &kinds.kinds[1], 5)); // nothing is known of it
    write_midr(tree, 5, C1_PRO + 1);                                            // a later revision
    assert_true(host_cores_has(&tree->roots, &map, false, &kinds.kinds[1], 5));
    assert_false(host_cores_has(&tree->roots, &map, false, &kinds.kinds[0], 5));
    assert_true(host_cores_has(&tree->roots, &map, true, &kinds.kinds[1], 5));
    assert_false(host_cores_has(&tree->roots, &map, true, &kinds.kinds[2], 5));
}

static void test_a_missing_pmu_leaves_its_kind_without_one(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    big_little(tree);
    host_tree_write(tree, "bus/event_source/devices/armv8_pmuv3_1/type", "none\n");
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 3);
    assert_true(kinds.several);
    expect_kind(&kinds, 1, "c1-pro", "", "2-4");
    expect_kind(&kinds, 2, "c1-nano", "armv8_pmuv3_0", "6-7");
}

static void test_a_core_that_no_spec_is_for_has_the_generic_one(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    big_little(tree);
    write_midr(tree, 0, UNKNOWN_CORE);
    write_midr(tree, 1, UNKNOWN_CORE);
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 3);
    expect_kind(&kinds, 0, "armv8-pmuv3", "armv8_pmuv3_2", "0-1");
}

static void test_revisions_with_specs_of_their_own_are_kinds_of_one_pmu(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    for (unsigned cpu = 0; cpu < 4; cpu++)
        write_midr(tree, cpu, cpu < 3 ? 0x410fd490 : 0x410fd493); // Neoverse N2 r0p0 and r0p3
    write_pmu(tree, "armv8_pmuv3_0", "8\n", NULL);
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 2);
    assert_true(kinds.several);
    expect_kind(&kinds, 0, "neoverse-n2", "armv8_pmuv3_0", "0-2");
    expect_kind(&kinds, 1, "neoverse-n2-r0p3", "armv8_pmuv3_0", "3");
}

static void test_releases_of_one_core_are_one_kind(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    host_tree_write(tree, "devices/system/cpu/online", "0-1\n");
    write_midr(tree, 0, C1_PRO);
    write_midr(tree, 1, C1_PRO + 2);
    write_pmu(tree, "armv8_pmuv3_0", "8\n", NULL);
    for (int by_core = 0; by_core < 2; by_core++) {
        host_cores_find(&tree->roots, &map, by_core, &kinds);
        assert_int_equal(kinds.n, 1);
        assert_false(kinds.several);
        expect_kind(&kinds, 0, "c1-pro", "armv8_pmuv3_0", "0-1");
    }
}

// The vendor's files may know what our map does not.
static void test_unknown_cores_are_told_apart_by_what_they_say(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    struct cpu_map nothing = {0};
    host_tree_write(tree, "devices/system/cpu/online", "0-2\n");
    write_midr(tree, 0, UNKNOWN_CORE);
    write_midr(tree, 1, UNKNOWN_CORE + 0x10);
    write_midr(tree, 2, UNKNOWN_CORE + 1);
    host_cores_find(&tree->roots, &nothing, true, &kinds);
    assert_int_equal(kinds.n, 2);
    expect_kind(&kinds, 0, "", "", "0,2");
    expect_kind(&kinds, 1, "", "", "1");
    host_cores_find(&tree->roots, &nothing, false, &kinds);
    assert_int_equal(kinds.n, 0);
}

static void test_an_intel_hybrid_host_has_a_kind_for_each_pmu(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    x86(tree, "191");
    write_pmu(tree, "cpu_atom", "10\n", "2-5\n");
    write_pmu(tree, "cpu_core", "4\n", "0-1\n");
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 2);
    assert_true(kinds.several);
    expect_kind(&kinds, 0, "golden-cove", "cpu_core", "0-1");
    expect_kind(&kinds, 1, "gracemont", "cpu_atom", "2-5");
    assert_true(kinds.kinds[0].pmu_replaces && kinds.kinds[1].pmu_replaces);
    assert_string_equal(kinds.cpuid, "GenuineIntel-6-BF-2");
    struct host_core_pmu pmus[HOST_CORES_MAX];
    assert_int_equal(host_cores_pmus(&tree->roots, "cpu", pmus, HOST_CORES_MAX), 2);
    assert_int_equal(pmus[0].type, 4);
    assert_int_equal(pmus[1].type, 10);
}

static void test_a_hybrid_host_with_one_pmu_has_the_spec_of_its_large_cores(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    x86(tree, "191");
    write_pmu(tree, "cpu", "4\n", NULL); // the small cores are switched off
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 1);
    assert_false(kinds.several);
    expect_kind(&kinds, 0, "golden-cove", "cpu", "0-5");
}

static void test_a_hybrid_host_without_a_spec_has_the_generic_one_for_each_pmu(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    x86(tree, "250");
    write_pmu(tree, "cpu_atom", "10\n", "2-5\n");
    write_pmu(tree, "cpu_core", "4\n", "0-1\n");
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 2);
    expect_kind(&kinds, 0, "intel-generic", "cpu_core", "0-1");
    expect_kind(&kinds, 1, "intel-generic", "cpu_atom", "2-5");
}

static void show(const struct host_tree *tree, const char *pmu, const char *const *events, size_t n) {
    char name[128];
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "events/%s", events[i]);
        host_tree_write_pmu(tree, pmu, name, "event=0x00\n");
    }
}

static const char *const FIELDS[] = {"slots",
                                     "topdown-retiring",
                                     "topdown-bad-spec",
                                     "topdown-fe-bound",
                                     "topdown-be-bound",
                                     "topdown-heavy-ops",
                                     "topdown-br-mispredict",
                                     "topdown-fetch-lat",
                                     "topdown-mem-bound"};

// The small cores have ordinary events of the same names (Gracemont: event=0xc2 and so on), and no slots.
static void test_each_core_of_an_unknown_hybrid_host_has_what_its_pmu_shows(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    x86(tree, "250");
    write_pmu(tree, "cpu_atom", "10\n", "2-5\n");
    write_pmu(tree, "cpu_core", "4\n", "0-1\n");
    show(tree, "cpu_core", FIELDS, 9);
    show(tree, "cpu_atom", FIELDS + 1, 4);
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 2);
    assert_true(kinds.several);
    expect_kind(&kinds, 0, "intel-topdown", "cpu_core", "0-1");
    expect_kind(&kinds, 1, "intel-generic", "cpu_atom", "2-5");
}

static void test_an_unknown_host_has_the_level_that_its_kernel_shows(void **state) {
    const struct host_tree *tree = *state;
    static const char *const haswell[] = {"topdown-total-slots", "topdown-slots-issued", "topdown-slots-retired",
                                          "topdown-fetch-bubbles", "topdown-recovery-bubbles"};
    struct host_kinds kinds;
    x86(tree, "140"); // Tiger Lake
    write_pmu(tree, "cpu", "4\n", NULL);
    show(tree, "cpu", haswell, sizeof haswell / sizeof *haswell);
    host_cores_find(&tree->roots, &map, false, &kinds);
    expect_kind(&kinds, 0, "intel-generic", "cpu", "0-5");
    show(tree, "cpu", FIELDS + 1, 4); // Tremont, which has no slots
    host_cores_find(&tree->roots, &map, false, &kinds);
    expect_kind(&kinds, 0, "intel-generic", "cpu", "0-5");
    show(tree, "cpu", FIELDS, 1);
    host_cores_find(&tree->roots, &map, false, &kinds);
    expect_kind(&kinds, 0, "intel-topdown-l1", "cpu", "0-5");
    show(tree, "cpu", FIELDS, 9);
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 1);
    expect_kind(&kinds, 0, "intel-topdown", "cpu", "0-5");
}

static void test_an_ordinary_x86_host_has_one_kind(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    x86(tree, "143");
    write_pmu(tree, "cpu", "4\n", NULL);
    write_pmu(tree, "cpu_atom", "10\n", "2-5\n"); // no core PMU where there is one called cpu
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 1);
    assert_false(kinds.several);
    expect_kind(&kinds, 0, "sapphire-rapids", "cpu", "0-5");
    assert_int_equal(kinds.kinds[0].midr, 0);
}

static void test_a_cpu_that_no_pmu_counts_on_makes_no_host_a_hybrid(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    for (unsigned cpu = 0; cpu < 4; cpu++)
        write_midr(tree, cpu, C1_PRO);
    write_pmu(tree, "armv8_pmuv3_0", "8\n", "1-3\n");
    host_cores_find(&tree->roots, &map, false, &kinds);
    assert_int_equal(kinds.n, 2);
    assert_false(kinds.several);
    expect_kind(&kinds, 0, "c1-pro", "", "0");
    expect_kind(&kinds, 1, "c1-pro", "armv8_pmuv3_0", "1-3");
}

static void test_more_kinds_than_there_is_room_for_are_left_out(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    host_tree_write(tree, "devices/system/cpu/online", "0-11\n");
    for (unsigned cpu = 0; cpu < 12; cpu++)
        write_midr(tree, cpu, UNKNOWN_CORE + 0x100 * (cpu + 1));
    write_pmu(tree, "armv8_pmuv3_0", "8\n", NULL);
    host_cores_find(&tree->roots, &map, true, &kinds);
    assert_int_equal(kinds.n, HOST_CORES_MAX);
    expect_kind(&kinds, HOST_CORES_MAX - 1, "armv8-pmuv3", "armv8_pmuv3_0", "7");
}

static void test_without_files_nothing_is_known(void **state) {
    const struct host_tree *tree = *state;
    struct host_kinds kinds;
    host_cores_find(&tree->roots, &map, true, &kinds);
    assert_int_equal(kinds.n, 0);
    assert_false(kinds.several);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_each_kind_of_a_big_little_host_has_its_spec_pmu_and_cpus),
        ON_A_TREE(test_pmus_come_with_their_types_and_cpus),
        ON_A_TREE(test_a_core_that_comes_online_is_asked_what_it_is),
        ON_A_TREE(test_a_missing_pmu_leaves_its_kind_without_one),
        ON_A_TREE(test_a_core_that_no_spec_is_for_has_the_generic_one),
        ON_A_TREE(test_revisions_with_specs_of_their_own_are_kinds_of_one_pmu),
        ON_A_TREE(test_releases_of_one_core_are_one_kind),
        ON_A_TREE(test_unknown_cores_are_told_apart_by_what_they_say),
        ON_A_TREE(test_an_intel_hybrid_host_has_a_kind_for_each_pmu),
        ON_A_TREE(test_a_hybrid_host_with_one_pmu_has_the_spec_of_its_large_cores),
        ON_A_TREE(test_a_hybrid_host_without_a_spec_has_the_generic_one_for_each_pmu),
        ON_A_TREE(test_each_core_of_an_unknown_hybrid_host_has_what_its_pmu_shows),
        ON_A_TREE(test_an_unknown_host_has_the_level_that_its_kernel_shows),
        ON_A_TREE(test_an_ordinary_x86_host_has_one_kind),
        ON_A_TREE(test_a_cpu_that_no_pmu_counts_on_makes_no_host_a_hybrid),
        ON_A_TREE(test_more_kinds_than_there_is_room_for_are_left_out),
        ON_A_TREE(test_without_files_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, map_setup, map_teardown);
}
