// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <unistd.h>

#include "config/spec/spec_json.h"
#include "config/vendor/perf_json.h"
#include "core/plan/plan.h"
#include "tests/build/vendor.h"

// Level 1 of the vendors' files on too few counters: parts from topdownd's data, and the same plan as from the shipped
// spec.

#define ARM "../shared/telemetry/arm/cpu/"
#define LINUX "../shared/telemetry/linux/arch"

static void need_telemetry(void) {
    if (access(ARM, R_OK) != 0 || access(LINUX, R_OK) != 0) {
        print_message("skipped: the vendors' files are not there\n");
        skip();
    }
}

static struct catalog *load_own(const char *spec) {
    static struct errors errors;
    struct catalog *catalog = NULL;
    char path[96];
    (void)snprintf(path, sizeof path, "specs/%s.json", spec);
    assert_int_equal(spec_json_load(path, NULL, &errors, &catalog), 0);
    return catalog;
}

static struct catalog *load_arm(const char *file) {
    static struct errors errors;
    struct catalog *catalog = NULL;
    char path[128];
    (void)snprintf(path, sizeof path, ARM "%s.json", file);
    assert_int_equal(vendor_load_spec(path, "specs/arm/defaults.json", NULL, &errors, &catalog), 0);
    return catalog;
}

static struct catalog *load_linux_with(const char *cpuid, bool all_events, double smt) {
    static struct errors errors;
    struct catalog *catalog = NULL;
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = smt;
    const struct perf_json_request request = {.path = LINUX,
                                              .cpuid = cpuid,
                                              .trees = "specs/perf/trees.json",
                                              .environment = &environment,
                                              .all_events = all_events};
    assert_int_equal(vendor_load_perf(&request, &errors, &catalog), 0);
    return catalog;
}

static struct catalog *load_linux(const char *cpuid, bool all_events) { return load_linux_with(cpuid, all_events, 1); }

static struct plan *plan_stage_1(const struct catalog *catalog, unsigned counters) {
    const struct plan_selection selection = {.group = (unsigned)catalog_find_group(catalog, "stage_1")};
    return build_plan(&(struct plan_request){
        .catalog = catalog, .general_counters = counters, .selections = &selection, .n_selections = 1});
}

static const struct plan_unit *level1_unit(const struct plan *plan) {
    return plan->level1_unit < 0 ? NULL : &plan->units[plan->level1_unit];
}

static bool group_has(const struct plan *plan, unsigned group, const char *event) {
    for (size_t e = 0; e < plan->groups[group].n_events; e++)
        if (strcmp(plan->catalog->events[plan->groups[group].events[e]].name, event) == 0)
            return true;
    return false;
}

// The vendor's catalog measures level 1 in the event groups of our own spec, scaled by the same event.
static void expect_same_level1(struct catalog *own, struct catalog *vendors, unsigned counters, size_t parts) {
    struct plan *ours = plan_stage_1(own, counters), *theirs = plan_stage_1(vendors, counters);
    const struct plan_unit *a = level1_unit(ours), *b = level1_unit(theirs);
    if (!a || !b || a->n_groups != parts || b->n_groups != parts)
        fail_msg("%s on %u counters: %u parts, %s: %u, not %zu", own->product.spec, counters, a ? a->n_groups : 0,
                 vendors->product.spec, b ? b->n_groups : 0, parts);
    for (unsigned g = 0; g < parts; g++) {
        const struct plan_group *group = &ours->groups[a->first_group + g];
        assert_int_equal(group->n_events, theirs->groups[b->first_group + g].n_events);
        for (size_t e = 0; e < group->n_events; e++)
            assert_true(group_has(theirs, b->first_group + g, own->events[group->events[e]].name));
    }
    assert_int_equal(a->reference >= 0, parts > 1);
    assert_int_equal(b->reference >= 0, parts > 1);
    if (parts > 1)
        assert_string_equal(own->events[a->reference].name, vendors->events[b->reference].name);
    plan_free(theirs);
    plan_free(ours);
}

static void expect_composite(const char *spec, struct catalog *vendors, unsigned few, size_t parts, unsigned enough) {
    struct catalog *own = load_own(spec);
    expect_same_level1(own, vendors, few, parts);
    expect_same_level1(own, vendors, enough, 1);
    catalog_free(vendors);
    catalog_free(own);
}

// 6 events beside the cycle counter fit 6 counters; 2 or 3 take them in three parts.
static void test_neoverse_v2_on_2_and_3_counters_is_a_composite_from_any_files(void **state) {
    (void)state;
    need_telemetry();
    for (unsigned counters = 2; counters <= 3; counters++) {
        expect_composite("neoverse-v2", load_arm("neoverse-v2"), counters, 3, 6);
        expect_composite("neoverse-v2", load_linux("0x00000000410fd4f0", false), counters, 3, 6);
    }
}

static void test_other_cores_are_measured_in_the_parts_of_our_own_specs(void **state) {
    (void)state;
    need_telemetry();
    expect_composite("neoverse-n2", load_arm("neoverse-n2"), 2, 3, 6);
    expect_composite("neoverse-n3", load_arm("neoverse-n3"), 2, 3, 6);
    expect_composite("c1-ultra", load_arm("arm-c1-ultra-r0p0-pmu"), 5, 2, 7);
    expect_composite("neoverse-v1", load_linux("0x00000000410fd400", false), 2, 3, 6);
    expect_composite("neoverse-n3", load_linux("0x00000000410fd8e0", true), 2, 3, 6);
    expect_composite("sierra-forest", load_linux("GenuineIntel-6-AF-3", false), 2, 2, 8);
    expect_composite("zen4", load_linux("AuthenticAMD-25-11-1", false), 4, 2, 6);
    expect_composite("zen5", load_linux("AuthenticAMD-26-2-1", true), 4, 2, 6);
}

static void expect_parts(const char *cpuid, double smt, unsigned counters, size_t parts) {
    struct catalog *catalog = load_linux_with(cpuid, false, smt);
    struct plan *plan = plan_stage_1(catalog, counters);
    const struct plan_unit *unit = level1_unit(plan);
    assert_int_equal(unit ? unit->n_groups : 0, parts);
    plan_free(plan);
    catalog_free(catalog);
}

// Intel's formulas need other events with SMT than without: uops issued, delivered and retired, and recovery cycles,
// beside the fixed cycles; with SMT two clocks more. What a host does not need is in no part.
static void test_parts_hold_what_this_host_needs(void **state) {
    (void)state;
    need_telemetry();
    expect_parts("GenuineIntel-6-3F-2", 0, 4, 1);
    expect_parts("GenuineIntel-6-3F-2", 0, 3, 2);
    expect_parts("GenuineIntel-6-3F-2", 0, 2, 0); // the second part has three
    expect_parts("GenuineIntel-6-55-4", 1, 4, 3);
    expect_parts("GenuineIntel-6-55-4", 1, 3, 3);
}

// Fields of PERF_METRICS are read together.
static void test_where_topdown_counters_give_level_1_there_are_no_parts(void **state) {
    (void)state;
    need_telemetry();
    struct catalog *catalog = load_linux("GenuineIntel-6-8F-4", true);
    assert_true(catalog->level1.present && catalog->n_topdown > 0);
    assert_int_equal(catalog->level1.n_parts, 0);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neoverse_v2_on_2_and_3_counters_is_a_composite_from_any_files),
        cmocka_unit_test(test_other_cores_are_measured_in_the_parts_of_our_own_specs),
        cmocka_unit_test(test_parts_hold_what_this_host_needs),
        cmocka_unit_test(test_where_topdown_counters_give_level_1_there_are_no_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
