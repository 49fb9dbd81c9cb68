// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_made_up.h"

// Hosts whose CPUs have a spec of their own, and what the kernel shows of them.

static void test_sapphire_rapids_on_bare_metal_has_its_topdown_counters(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "Intel(R) Xeon(R) Platinum 8480+",
                                 .family = 6,
                                 .model = 143,
                                 .stepping = 8,
                                 .cores = 4,
                                 .smt = true,
                                 .format = INTEL_FORMAT,
                                 .events = SLOTS_8};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "sapphire-rapids", &bound);
    assert_string_equal(bound.environment.facts.cpuid, "GenuineIntel-6-8F-8");
    check_literals(&bound, 1, 8, 4);
    assert_true(isnan(bound.environment.facts.literals[LITERAL_SLOTS]));
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 0);
    assert_false(bound.binding.topdown_dropped);
    assert_true(bound.catalog->n_topdown > 8);
    assert_string_equal(bound.catalog->level1.pipeline_slots_text, "slots");
    unbind(&bound);
}

static void test_ice_lake_in_a_virtual_machine_without_slots_uses_ordinary_events(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "Intel Xeon Processor (Icelake)",
                                 .family = 6,
                                 .model = 106,
                                 .stepping = 6,
                                 .cores = 2,
                                 .format = INTEL_FORMAT,
                                 .events = NAMES};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "ice-lake-sp", &bound);
    check_literals(&bound, 0, 2, 2);
    assert_true(bound.binding.topdown_dropped);
    assert_int_equal(bound.catalog->n_topdown, 0);
    assert_int_equal(support_of(&bound, "slots"), PLAN_UNSUPPORTED);
    assert_int_equal(support_of(&bound, "topdown-retiring"), PLAN_UNSUPPORTED);
    assert_int_equal(support_of(&bound, "CPU_CLK_UNHALTED.THREAD"), PLAN_SUPPORT_UNKNOWN);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 5); // slots and its four fields
    assert_true(bound.catalog->level1.present);
    assert_null(strstr(bound.catalog->level1.pipeline_slots_text, "topdown"));
    assert_string_not_equal(bound.catalog->level1.pipeline_slots_text, "slots");
    unbind(&bound);
}

static void test_a_kernel_that_lacks_one_field_has_no_topdown_counters(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "x",
                                 .family = 6,
                                 .model = 143,
                                 .stepping = 4,
                                 .cores = 2,
                                 .format = INTEL_FORMAT,
                                 .events = SLOTS_4};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "sapphire-rapids", &bound);
    assert_true(bound.binding.topdown_dropped);
    assert_int_equal(support_of(&bound, "topdown-mem-bound"), PLAN_UNSUPPORTED);
    assert_int_equal(support_of(&bound, "topdown-retiring"), PLAN_UNSUPPORTED); // its leader is not opened
    unbind(&bound);
}

static void test_skylake_with_smt_and_the_watchdog(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz",
                                 .family = 6,
                                 .model = 85,
                                 .stepping = 4,
                                 .cores = 4,
                                 .smt = true,
                                 .format = INTEL_FORMAT,
                                 .events = NAMES};
    struct bound bound;
    write_host(tree, &host);
    assert_false(host_cpu_nmi_watchdog(&tree->roots));
    host_tree_write(tree, "sys/kernel/nmi_watchdog", "1\n");
    assert_true(host_cpu_nmi_watchdog(&tree->roots));
    host_tree_write(tree, "firmware/acpi/tables/NFIT", "");
    bind(tree, "skylake-sp", &bound);
    assert_true(bound.environment.facts.literals[LITERAL_HAS_PMEM] == 1);
    assert_true(fabs(bound.environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] - 2.1e9) < 1e7);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 0);
    assert_true(bound.catalog->level1.present && !bound.binding.topdown_dropped);
    unbind(&bound);
    host_tree_write(tree, "devices/system/cpu/smt/active", "0\n"); // the kernel's word goes before the siblings'
    bind(tree, "skylake-sp", &bound);
    assert_true(bound.environment.facts.literals[LITERAL_SMT_ON] == 0);
    unbind(&bound);
}

static void test_siblings_that_are_offline_now_were_there_at_boot(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *control;
        bool smt;
    } words[] = {
        {"on\n", true}, {"off\n", true}, {"forceoff\n", true}, {"notsupported\n", false}, {"notimplemented\n", false}};
    struct made_up host = {
        .vendor = "GenuineIntel", .model_name = "Haswell", .family = 6, .model = 63, .stepping = 2, .cores = 2};
    write_host(tree, &host);
    assert_false(host_cpu_smt_at_boot(&tree->roots)); // no file: no siblings are online
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        host_tree_write(tree, "devices/system/cpu/smt/control", words[i].control);
        assert_int_equal(host_cpu_smt_at_boot(&tree->roots), words[i].smt);
    }
    host.smt = true; // "notimplemented": the siblings that are online decide
    write_host(tree, &host);
    assert_true(host_cpu_smt_at_boot(&tree->roots));
}

static void test_zen_4_counts_events_of_other_pmus_elsewhere(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "AuthenticAMD",
                                 .model_name = "AMD EPYC 9654 96-Core Processor",
                                 .family = 25,
                                 .model = 17,
                                 .stepping = 1,
                                 .cores = 2,
                                 .smt = true,
                                 .format = AMD_FORMAT,
                                 .events = "cpu-cycles event=0x76"};
    struct bound bound;
    write_host(tree, &host);
    host_tree_write_pmu(tree, "amd_l3", "type", "12\n");
    host_tree_write_pmu(tree, "amd_l3", "cpumask", "0\n");
    bind(tree, "zen4", &bound);
    size_t elsewhere = 0;
    for (size_t e = 0; e < bound.catalog->n_events; e++)
        elsewhere += bound.catalog->events[e].code.pmu != 0 && !bound.catalog->events[e].sampling_only;
    assert_true(elsewhere > 0);
    assert_int_equal(count_support(&bound, PLAN_ELSEWHERE), elsewhere);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 2); // ibs_op and ibs_fetch, which this host lacks
    assert_true(bound.catalog->level1.present && bound.catalog->level1.per_thread);
    unbind(&bound);
}

static void test_nehalem_has_no_level_1_and_its_uncore_is_elsewhere(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "Intel(R) Xeon(R) CPU X5570  @ 2.93GHz",
                                 .family = 6,
                                 .model = 26,
                                 .stepping = 5,
                                 .cores = 4,
                                 .smt = true,
                                 .format = INTEL_FORMAT,
                                 .events = NAMES};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "nehalem-ep", &bound);
    assert_false(bound.catalog->level1.present);
    assert_true(count_support(&bound, PLAN_ELSEWHERE) > 0);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 0);
    assert_true(fabs(bound.environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] - 2.93e9) < 1e7);
    unbind(&bound);
}

static void test_events_that_the_kernel_cannot_express_are_unsupported(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "x",
                                 .family = 6,
                                 .model = 26,
                                 .stepping = 5,
                                 .cores = 1,
                                 .events = NAMES,
                                 .format = "event config:8-15;umask config:0-7;edge config:18;inv config:23;"
                                           "any config:21;cmask config:24-31;ldlat config1:0-15"};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "nehalem-ep", &bound);
    size_t n = 0;
    for (size_t e = 0; e < bound.catalog->n_events; e++)
        n += strstr(bound.catalog->events[e].terms, "offcore_rsp") != NULL;
    assert_true(n > 0);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), n);
    assert_int_equal(bound.binding.n_cannot, n);
    int event = catalog_find_event(bound.catalog, "UOPS_ISSUED.ANY"); // 0E/01, in the host's own bits
    assert_int_equal(bound.catalog->events[event].code.config, 0x0e01);
    unbind(&bound);
}

static void test_a_pmu_that_counts_for_each_cpu_is_bound_too(void **state) {
    const struct host_tree *tree = *state;
    struct fault error;
    struct host_binding binding;
    const struct catalog_event_text tsc = {.name = "tsc", .terms = "event=0x00", .pmu = "msr", .takes = 1},
                                    smi = {.name = "smi", .terms = "event=0x09", .pmu = "msr", .takes = 1},
                                    away = {.name = "away", .terms = "event=0x01", .pmu = "power", .takes = 1};
    struct catalog_builder *builder = builder_for("cpu");
    assert_true(catalog_builder_add_event_text(builder, &tsc, &error) > 0);
    assert_true(catalog_builder_add_event_text(builder, &smi, &error) > 0);
    assert_true(catalog_builder_add_event_text(builder, &away, &error) > 0);
    host_tree_write_pmu(tree, "cpu", "type", "4\n");
    host_tree_write_pmu(tree, "msr", "type", "9\n");
    host_tree_write_pmu(tree, "msr", "format/event", "config:4-11\n");
    assert_int_equal(host_bind(&tree->roots, "cpu", 4, builder, &binding), 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    assert_int_equal(binding.support[catalog_find_event(catalog, "tsc")], PLAN_SUPPORT_UNKNOWN);
    assert_int_equal(binding.support[catalog_find_event(catalog, "away")], PLAN_ELSEWHERE);
    assert_int_equal(catalog->events[catalog_find_event(catalog, "smi")].code.config, 0x90);
    assert_int_equal(binding.types[1], 9);
    host_binding_deinit(&binding);
    catalog_free(catalog);
}

static void test_events_of_a_sockets_pmu_are_encoded_as_the_host_says_and_not_counted(void **state) {
    const struct host_tree *tree = *state;
    struct fault error;
    struct host_binding binding;
    const struct catalog_event_text reads = {.name = "reads",
                                             .terms = "event=0x04,umask=0x03",
                                             .pmu = "box",
                                             .takes = 1},
                                    ports = {.name = "ports", .terms = "event=0x04,port=1", .pmu = "box", .takes = 1};
    struct catalog_builder *builder = builder_for("cpu");
    int first = catalog_builder_add_event_text(builder, &reads, &error),
        second = catalog_builder_add_event_text(builder, &ports, &error);
    assert_true(first > 0 && second > 0);
    host_tree_write_pmu(tree, "cpu", "type", "4\n");
    for (int i = 0; i < 2; i++) { // boxes of a kind are numbered
        const char *box = i == 0 ? "box_0" : "box_1";
        host_tree_write_pmu(tree, box, "type", "20\n");
        host_tree_write_pmu(tree, box, "cpumask", "0\n");
        host_tree_write_pmu(tree, box, "format/event", "config:0-7\n");
        host_tree_write_pmu(tree, box, "format/umask", "config:16-23\n");
    }
    assert_int_equal(host_bind(&tree->roots, "cpu", 4, builder, &binding), 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    assert_null(catalog->events[first].uncoded);
    assert_int_equal(catalog->events[first].code.config, 0x030004);
    assert_non_null(catalog->events[second].uncoded);
    assert_int_equal(binding.support[first], PLAN_ELSEWHERE);
    assert_int_equal(binding.support[second], PLAN_ELSEWHERE);
    assert_int_equal(binding.n_cannot, 0); // of the core PMU
    host_binding_deinit(&binding);
    catalog_free(catalog);
}

static void test_zen_4_samples_with_ibs_where_the_host_has_it(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "AuthenticAMD",
                                 .model_name = "AMD EPYC 9654 96-Core Processor",
                                 .family = 25,
                                 .model = 17,
                                 .stepping = 1,
                                 .cores = 1,
                                 .format = AMD_FORMAT,
                                 .events = "cpu-cycles event=0x76"};
    struct bound bound;
    write_host(tree, &host);
    host_tree_write_pmu(tree, "ibs_op", "type", "11\n");
    host_tree_write_pmu(tree, "ibs_op", "format/cnt_ctl", "config:19\n");
    bind(tree, "zen4", &bound);
    const struct catalog_event *op = &bound.catalog->events[catalog_find_event(bound.catalog, "ibs_op")];
    assert_string_equal(op->terms, "cnt_ctl=0x1"); // ibs_op has no term `event`
    assert_true(!op->uncoded && op->code.config == UINT64_C(1) << 19);
    assert_int_not_equal(support_of(&bound, "ibs_op"), PLAN_UNSUPPORTED);
    assert_int_equal(support_of(&bound, "ibs_fetch"), PLAN_UNSUPPORTED);
    unbind(&bound);
}

static void test_of_two_kinds_of_x86_cores_the_larger_ones_pmu_is_found_first(void **state) {
    const struct host_tree *tree = *state;
    struct host_core_pmu pmu;
    assert_int_equal(host_cores_pmus(&tree->roots, "cpu", &pmu, 1), 0);
    host_tree_write_pmu(tree, "cpu_atom", "type", "10\n");
    assert_int_equal(host_cores_pmus(&tree->roots, "cpu", &pmu, 1), 1);
    assert_string_equal(pmu.name, "cpu_atom");
    host_tree_write_pmu(tree, "cpu_core", "type", "4\n");
    assert_int_equal(host_cores_pmus(&tree->roots, "cpu", &pmu, 1), 1);
    assert_string_equal(pmu.name, "cpu_core");
    assert_int_equal(pmu.type, 4);
}

static void test_a_cpuinfo_that_does_not_say_gives_no_cpuid(void **state) {
    const struct host_tree *tree = *state;
    static const char *const wrong[] = {
        "", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n",
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: many\nstepping\t: 1\n",
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nstepping\t: unknown\n",
        "vendor_id\t: Much too long a name\ncpu family\t: 6\nmodel\t\t: 143\nstepping\t: 1\n"};
    char cpuid[HOST_CPUID_MAX] = "untouched";
    assert_int_equal(host_cpu_cpuid(&tree->roots, cpuid, sizeof cpuid), -ENOENT);
    for (size_t i = 0; i < N_OF(wrong); i++) {
        host_tree_write(tree, "cpuinfo", wrong[i]);
        assert_int_equal(host_cpu_cpuid(&tree->roots, cpuid, sizeof cpuid), -ENOENT);
        assert_string_equal(cpuid, "untouched");
    }
}

static void test_events_with_the_kernels_names_are_asked_for_in_sysfs(void **state) {
    const struct host_tree *tree = *state;
    const struct host_events events = {.roots = tree->roots, .pmu = "cpu"};
    host_tree_write_pmu(tree, "cpu", "events/cycles-t", "event=0x3c,in_tx=1\n");
    assert_true(host_cpu_event(&events, "cycles-t"));
    assert_false(host_cpu_event(&events, "el-start"));
    assert_true(host_cpu_event(&events, "INST_RETIRED.ANY")); // the spec's
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_sapphire_rapids_on_bare_metal_has_its_topdown_counters),
        ON_A_TREE(test_ice_lake_in_a_virtual_machine_without_slots_uses_ordinary_events),
        ON_A_TREE(test_a_kernel_that_lacks_one_field_has_no_topdown_counters),
        ON_A_TREE(test_siblings_that_are_offline_now_were_there_at_boot),
        ON_A_TREE(test_skylake_with_smt_and_the_watchdog),
        ON_A_TREE(test_zen_4_counts_events_of_other_pmus_elsewhere),
        ON_A_TREE(test_nehalem_has_no_level_1_and_its_uncore_is_elsewhere),
        ON_A_TREE(test_events_that_the_kernel_cannot_express_are_unsupported),
        ON_A_TREE(test_a_pmu_that_counts_for_each_cpu_is_bound_too),
        ON_A_TREE(test_events_of_a_sockets_pmu_are_encoded_as_the_host_says_and_not_counted),
        ON_A_TREE(test_zen_4_samples_with_ibs_where_the_host_has_it),
        ON_A_TREE(test_of_two_kinds_of_x86_cores_the_larger_ones_pmu_is_found_first),
        ON_A_TREE(test_a_cpuinfo_that_does_not_say_gives_no_cpuid),
        ON_A_TREE(test_events_with_the_kernels_names_are_asked_for_in_sysfs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
