// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_made_up.h"

// Arm cores by their numbers, and CPUs that have no spec of their own: which generic one they get, by what the kernel
// shows.

static void check_arm(const struct host_tree *tree, const char *midr, const char *spec, bool level1) {
    const struct made_up host = {
        .midr = midr, .cores = 4, .format = "event config:0-15;long config1:0", .events = "cpu_cycles event=0x0011"};
    struct bound bound;
    write_host(tree, &host);
    host_tree_write_pmu(tree, "armv8_pmuv3_0", "caps/slots", "0x00000005\n");
    host_tree_write(tree, "sys/kernel/osrelease", "6.8.0\n");
    bind(tree, spec, &bound);
    check_literals(&bound, 0, 4, 4);
    assert_true(bound.environment.facts.literals[LITERAL_SLOTS] == 5);
    assert_true(isnan(bound.environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ]));
    assert_true(environment_is_cpu(&bound.environment, midr));
    assert_int_equal(bound.catalog->level1.present, level1);
    assert_int_equal(support_of(&bound, "CPU_CYCLES"), PLAN_SUPPORT_UNKNOWN);
    assert_int_equal(support_of(&bound, "INST_RETIRED"), PLAN_UNSUPPORTED); // a common event that is not named
    unbind(&bound);
}

static void test_neoverse_n2_r0p3(void **state) { check_arm(*state, "0x00000000410fd493\n", "neoverse-n2-r0p3", true); }
static void test_cobalt_100(void **state) { check_arm(*state, "0x000000006d0fd490\n", "neoverse-n2", true); }
static void test_an_unknown_arm_core(void **state) { check_arm(*state, "0x00000000410fd083\n", "armv8-pmuv3", false); }

// Returns the host's catalog and support, for unbind.
static void bind_unknown_x86(const struct host_tree *tree, const struct made_up *host, const char *spec,
                             struct bound *bound) {
    write_host(tree, host);
    bind(tree, spec, bound);
    assert_non_null(bound->row->pmu); // generic: the CPU has no spec of its own
    assert_false(bound->binding.topdown_dropped);
    size_t sampled = 0; // by a PMU that this host lacks
    for (size_t e = 0; e < bound->catalog->n_events; e++)
        sampled += bound->catalog->events[e].sampling_only;
    assert_int_equal(count_support(bound, PLAN_UNSUPPORTED), sampled);
}

static void check_unknown_x86(const struct host_tree *tree, const char *vendor, const char *format, const char *events,
                              const char *spec) {
    const struct made_up host = {.vendor = vendor,
                                 .model_name = "x",
                                 .family = 99,
                                 .model = 1,
                                 .stepping = 1,
                                 .cores = 1,
                                 .format = format,
                                 .events = events};
    struct bound bound;
    bind_unknown_x86(tree, &host, spec, &bound);
    assert_false(bound.catalog->level1.present);
    unbind(&bound);
}

static uint64_t config_of(const struct bound *bound, const char *event) {
    return bound->catalog->events[catalog_find_event(bound->catalog, event)].code.config;
}

// The kernel's own codes: slots is event 0, umask 4; the fields are umasks 0x80 to 0x87 (arch/x86/events/intel/core.c).
static void check_slots(const struct host_tree *tree, unsigned model, const char *events, const char *spec,
                        size_t fields) {
    static const char *const names[] = {"topdown-retiring",  "topdown-bad-spec",  "topdown-fe-bound",
                                        "topdown-be-bound",  "topdown-heavy-ops", "topdown-br-mispredict",
                                        "topdown-fetch-lat", "topdown-mem-bound"};
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "x",
                                 .family = 6,
                                 .model = model,
                                 .stepping = 1,
                                 .cores = 2,
                                 .format = INTEL_FORMAT,
                                 .events = events};
    struct bound bound;
    bind_unknown_x86(tree, &host, spec, &bound);
    assert_true(bound.catalog->level1.present && bound.catalog->level1.width == 0);
    assert_int_equal(bound.catalog->level1.n_categories, 4);
    assert_true(bound.catalog->n_topdown > fields);
    assert_int_equal(config_of(&bound, "slots"), 0x0400);
    for (size_t i = 0; i < N_OF(names); i++)
        if (i < fields)
            assert_int_equal(config_of(&bound, names[i]), (0x80 + i) << 8);
        else
            assert_int_equal(catalog_find_event(bound.catalog, names[i]), -1);
    assert_int_equal(catalog_find_metric(bound.catalog, "tma_memory_bound") >= 0, fields == 8);
    unbind(&bound);
}

static void test_tiger_lake_has_level_1_from_the_kernels_events(void **state) {
    check_slots(*state, 140, SLOTS_4, "intel-topdown-l1", 4);
}

static void test_a_cpu_to_come_has_levels_1_and_2_from_the_kernels_events(void **state) {
    check_slots(*state, 255, SLOTS_8, "intel-topdown", 8);
}

// Haswell's names are of other events, of which level 1 takes more than their ratios.
static void test_other_events_called_topdown_are_no_level_1(void **state) {
    check_unknown_x86(*state, "GenuineIntel", INTEL_FORMAT,
                      "cpu-cycles event=0x3c;topdown-total-slots event=0x3c,umask=0x0;topdown-slots-issued "
                      "event=0xe,umask=0x1;topdown-slots-retired event=0xc2,umask=0x2;topdown-fetch-bubbles "
                      "event=0x9c,umask=0x1;topdown-recovery-bubbles event=0xd,umask=0x3,cmask=1",
                      "intel-generic");
}

static void test_an_unknown_cpu_of_intel(void **state) {
    check_unknown_x86(*state, "GenuineIntel", INTEL_FORMAT, NAMES, "intel-generic");
}
static void test_an_unknown_cpu_of_amd(void **state) {
    check_unknown_x86(*state, "AuthenticAMD", AMD_FORMAT, NAMES, "amd-generic");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_neoverse_n2_r0p3),
        ON_A_TREE(test_cobalt_100),
        ON_A_TREE(test_an_unknown_arm_core),
        ON_A_TREE(test_tiger_lake_has_level_1_from_the_kernels_events),
        ON_A_TREE(test_a_cpu_to_come_has_levels_1_and_2_from_the_kernels_events),
        ON_A_TREE(test_other_events_called_topdown_are_no_level_1),
        ON_A_TREE(test_an_unknown_cpu_of_intel),
        ON_A_TREE(test_an_unknown_cpu_of_amd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
