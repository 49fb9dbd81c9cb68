// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "tests/build/build.h"

enum { UNKNOWN = -1 };

// All shipped Intel specs load, and all their groups can be measured on the counters of their core.
// tests/specs/check_intel.py checks that their formulas are the vendor's.

static const struct shipped {
    const char *name;
    double width;      // pipeline slots a cycle; 0: no level 1; UNKNOWN: the spec does not say
    unsigned counters; // general ones
    bool topdown;      // has PERF_METRICS
} shipped[] = {
    {"sandy-bridge-ep", 4, 4, false}, {"ivy-bridge-ep", 4, 4, false},      {"haswell-ep", 4, 4, false},
    {"broadwell-ep", 4, 4, false},    {"skylake-sp", 4, 4, false},         {"cascade-lake", 4, 4, false},
    {"ice-lake-sp", 5, 8, true},      {"sapphire-rapids", 6, 8, true},     {"emerald-rapids", 6, 8, true},
    {"granite-rapids", 6, 8, true},   {"sierra-forest", 6, 8, false},      {"intel-generic", 0, 4, false},
    {"golden-cove", 6, 8, true},      {"redwood-cove", 6, 8, true},        {"lion-cove", 8, 10, true},
    {"cougar-cove", 8, 10, true},     {"gracemont", 5, 6, false},          {"crestmont", 6, 8, false},
    {"skymont", 8, 8, false},         {"darkmont", 8, 8, false},           {"clearwater-forest", 8, 8, false},
    {"grand-ridge", 6, 8, false},     {"intel-topdown", UNKNOWN, 8, true}, {"intel-topdown-l1", UNKNOWN, 8, true},
};

static struct catalog_builder *read_spec(const char *name, bool smt) {
    static struct errors errors;
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = smt;
    environment.facts.literals[LITERAL_HAS_PMEM] = 0;
    environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
    char path[128];
    struct catalog_builder *builder = NULL;
    (void)snprintf(path, sizeof path, "specs/%s.json", name);
    if (spec_json_read(path, &environment, &errors, &builder) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    return builder;
}

static struct catalog *load(const char *name, bool smt) { return catalog_builder_finish(read_spec(name, smt)); }

static void test_every_spec_has_its_level_1_and_its_counters(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name, true);
        assert_int_equal(catalog->general_counters, shipped[c].counters);
        assert_int_equal(catalog->level1.present, shipped[c].width != 0);
        assert_int_equal(catalog->level1.n_categories, shipped[c].width != 0 ? 4 : 0);
        assert_true(catalog->level1.width == (shipped[c].width == UNKNOWN ? 0 : shipped[c].width));
        assert_int_equal(catalog->n_topdown > 0, shipped[c].topdown);
        catalog_free(catalog);
    }
}

static void test_every_spec_with_topdown_counters_has_a_level_1_without_them(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog_builder *builder = read_spec(shipped[c].name, true);
        catalog_builder_drop_topdown(builder);
        const struct catalog *catalog = catalog_builder_catalog(builder);
        assert_int_equal(catalog->n_topdown, 0);
        assert_int_equal(catalog->level1.present, shipped[c].width > 0);
        catalog_builder_free(builder);
    }
}

static struct plan *plan_of(const struct catalog *catalog, bool watchdog) {
    return build_plan(&(struct plan_request){
        .catalog = catalog, .general_counters = catalog->general_counters, .nmi_watchdog = watchdog});
}

// Returns how many metrics have no place, and prints them.
static size_t plan_all_groups(const struct shipped *spec, bool smt, bool watchdog) {
    struct catalog *catalog = load(spec->name, smt);
    struct plan *plan = plan_of(catalog, watchdog);
    size_t homeless = 0;
    for (size_t i = 0; i < plan->n_metrics; i++)
        if (plan->metrics[i].unit == PLAN_NOT_PLANNABLE) {
            print_message("%s, SMT %d, watchdog %d: %s: %s\n", spec->name, smt, watchdog,
                          catalog->metrics[plan->metrics[i].metric].name, plan->metrics[i].reason);
            homeless++;
        }
    if (spec->width != 0)
        assert_true(plan->level1_unit >= 0);
    plan_free(plan);
    catalog_free(catalog);
    return homeless;
}

static void test_every_group_plans_on_the_counters_of_its_core(void **state) {
    (void)state;
    size_t homeless = 0;
    for (size_t c = 0; c < N_OF(shipped); c++)
        homeless += plan_all_groups(&shipped[c], true, true); // the narrowest of hosts
    homeless += plan_all_groups(&shipped[4], false, false);
    assert_int_equal(homeless, 0);
}

// Whatever fits the counters that the watchdog leaves fits all of them too.
static void test_the_watchdog_never_saves_an_event_group(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name, true);
        struct plan *with = plan_of(catalog, true);
        struct plan *without = plan_of(catalog, false);
        if (without->n_groups > with->n_groups)
            fail_msg("%s: %zu event groups, and %zu with the watchdog", shipped[c].name, without->n_groups,
                     with->n_groups);
        plan_free(without);
        plan_free(with);
        catalog_free(catalog);
    }
}

// The values of the register that the events of an event group program.
static size_t register_values(const struct plan *plan, const struct plan_group *group) {
    uint64_t seen[PLAN_GROUP_EVENTS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < group->n_events; i++) {
        const struct event_need *need = &plan->needs[group->events[i]];
        size_t known = 0;
        while (known < n && seen[known] != need->reg_value)
            known++;
        if (need->reg > 0 && known == n)
            seen[n++] = need->reg_value;
    }
    return n;
}

// A core can hold one value of OFFCORE_RESPONSE's register, Westmere's two, which its threads share.
static void test_the_matrix_of_requests_and_responses_is_filled_value_by_value(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        size_t values, cells;
    } cores[] = {{"nehalem-ep", 1, 64}, {"westmere-ep", 2, 56}};
    for (size_t c = 0; c < N_OF(cores); c++) {
        struct catalog *catalog = load(cores[c].spec, true);
        const struct plan_selection selection = {.group = (unsigned)catalog_find_group(catalog, "offcore_matrix")};
        struct plan *plan = build_plan(&(struct plan_request){.catalog = catalog,
                                                              .general_counters = 4,
                                                              .selections = &selection,
                                                              .n_selections = 1,
                                                              .slot_ns = 200000000,
                                                              .idle = 0.1});
        assert_int_equal(plan->n_metrics, cores[c].cells);
        assert_int_equal(plan->n_groups, cores[c].cells / cores[c].values);
        for (size_t m = 0; m < plan->n_metrics; m++)
            assert_true(plan->metrics[m].unit >= 0);
        for (size_t g = 0; g < plan->n_groups; g++)
            assert_int_equal(register_values(plan, &plan->groups[g]), cores[c].values);
        plan_free(plan);
        catalog_free(catalog);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_spec_has_its_level_1_and_its_counters),
        cmocka_unit_test(test_every_spec_with_topdown_counters_has_a_level_1_without_them),
        cmocka_unit_test(test_every_group_plans_on_the_counters_of_its_core),
        cmocka_unit_test(test_the_watchdog_never_saves_an_event_group),
        cmocka_unit_test(test_the_matrix_of_requests_and_responses_is_filled_value_by_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
