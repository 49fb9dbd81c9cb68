// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "tests/build/build.h"

// Specs of cores by other designers than Arm. tests/specs/check_cpus.py compares them with the vendors' files.

static const struct shipped {
    const char *name;
    double width;         // pipeline slots a cycle; 0: no slot events
    unsigned counters;    // general ones
    unsigned level1_fits; // the fewest of these on which level 1 is one event group
} shipped[] = {
    {"ampereone", 4, 6, 3},   {"ampereonex", 4, 6, 3}, {"olympus", 10, 6, 6},
    {"kunpeng-920", 4, 6, 3}, {"a64fx", 0, 6, 0},
};

static struct catalog *load(const char *name) {
    static struct errors errors;
    char path[128];
    struct catalog *catalog = NULL;
    (void)snprintf(path, sizeof path, "specs/%s.json", name);
    if (spec_json_load(path, NULL, &errors, &catalog) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    return catalog;
}

static void test_every_spec_has_the_groups_of_the_default_profile(void **state) {
    (void)state;
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
    static const char *const names[] = {"ipc", "branch_mpki", "l1d_cache_mpki", "branch_miss_ratio"};
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name);
        for (size_t g = 0; g < N_OF(groups); g++)
            assert_true(catalog_find_group(catalog, groups[g]) >= 0);
        for (size_t n = 0; n < N_OF(names); n++) {
            size_t i = 0;
            while (i < catalog->n_metrics && strcmp(catalog->metrics[i].export_name, names[n]) != 0)
                i++;
            if (i == catalog->n_metrics)
                fail_msg("%s has no %s", shipped[c].name, names[n]);
        }
        catalog_free(catalog);
    }
}

// All groups at once on the counters of the core; level 1 in one event group as far as it fits, else in parts.
static void expect_plan(const struct shipped *spec, const struct catalog *catalog, unsigned counters) {
    struct plan *plan = build_plan(&(struct plan_request){.catalog = catalog, .general_counters = counters});
    for (size_t i = 0; i < plan->n_metrics; i++)
        if (counters == spec->counters && plan->metrics[i].unit == PLAN_NOT_PLANNABLE &&
            !strstr(plan->metrics[i].reason, " is dead on this CPU: ")) // the spec says so
            fail_msg("%s: %s: %s", spec->name, catalog->metrics[plan->metrics[i].metric].name, plan->metrics[i].reason);
    if (spec->width > 0) {
        assert_true(plan->level1_unit >= 0);
        size_t n_groups = counters >= spec->level1_fits ? 1 : catalog->level1.n_parts;
        assert_int_equal(plan->units[plan->level1_unit].n_groups, n_groups);
    }
    plan_free(plan);
}

static void test_every_group_plans_and_level_1_fits_or_is_split(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name);
        assert_int_equal(catalog->general_counters, shipped[c].counters);
        assert_int_equal(catalog->level1.present, shipped[c].width > 0);
        if (shipped[c].width > 0)
            assert_true(catalog->level1.width == shipped[c].width && catalog->level1.n_categories == 4);
        expect_plan(&shipped[c], catalog, shipped[c].counters);
        if (shipped[c].width > 0)
            expect_plan(&shipped[c], catalog, shipped[c].level1_fits - 1);
        catalog_free(catalog);
    }
}

static double category_of(const struct catalog *catalog, enum category category, const double *counts, double *values) {
    for (size_t m = 0; m < catalog->n_metrics; m++) // each comes after those that it uses
        values[m] = formula_evaluate(catalog->metrics[m].formula, counts, values);
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].category == category) {
            unsigned metric = catalog->level1.categories[i].metric;
            return 100 * values[metric] * catalog->metrics[metric].export_scale;
        }
    fail_msg("no category %s", category_name(category));
    return 0;
}

static void test_the_level_1_split_of_each_core_worked_out_by_hand(void **state) {
    (void)state;
    // 1,000 cycles of a core that retires 45 % of its pipeline slots, loses 5 % of them to wrong guesses, 25 % at each
    // end
    static const struct {
        const char *name;
        struct {
            const char *event;
            double count;
        } counts[8];
    } cores[] = {
        {"ampereone", {{"CPU_CYCLES", 1000}, {"OP_RETIRED", 1800}, {"OP_SPEC", 2000}, {"STALL_SLOT_BACKEND", 1000}}},
        {"ampereonex", {{"CPU_CYCLES", 1000}, {"OP_RETIRED", 1800}, {"OP_SPEC", 2000}, {"STALL_SLOT_BACKEND", 1000}}},
        {"olympus",
         {{"CPU_SLOT", 10000},
          {"STALL_SLOT_FRONTEND_WITHOUT_MISPRED", 2500},
          {"STALL_SLOT_BACKEND", 2500},
          {"STALL_SLOT", 5000},
          {"OP_RETIRED", 900},
          {"OP_SPEC", 1000}}},
        {"kunpeng-920", {{"CPU_CYCLES", 1000}, {"FETCH_BUBBLE", 1000}, {"INST_SPEC", 2000}, {"INST_RETIRED", 1800}}},
    };
    for (size_t c = 0; c < N_OF(cores); c++) {
        struct catalog *catalog = load(cores[c].name);
        double counts[256] = {0}, values[256];
        assert_true(catalog->n_events <= N_OF(counts) && catalog->n_metrics <= N_OF(values));
        for (size_t i = 0; i < N_OF(cores[c].counts) && cores[c].counts[i].event; i++)
            counts[catalog_find_event(catalog, cores[c].counts[i].event)] = cores[c].counts[i].count;
        assert_true(fabs(category_of(catalog, CATEGORY_RETIRING, counts, values) - 45) < 1e-9);
        assert_true(fabs(category_of(catalog, CATEGORY_BAD_SPECULATION, counts, values) - 5) < 1e-9);
        assert_true(fabs(category_of(catalog, CATEGORY_FRONTEND_BOUND, counts, values) - 25) < 1e-9);
        assert_true(fabs(category_of(catalog, CATEGORY_BACKEND_BOUND, counts, values) - 25) < 1e-9);
        double slots = formula_evaluate(catalog->level1.pipeline_slots, counts, NULL);
        assert_true(slots == 1000 * catalog->level1.width);
        catalog_free(catalog);
    }
}

// The designer does not say how many pipeline slots a cycle has, and the kernel shows it on the host.
static void test_level_1_of_a_core_may_rest_on_what_its_host_says(void **state) {
    (void)state;
    static struct errors errors;
    struct environment environment;
    environment_init(&environment);
    for (unsigned slots = 0; slots <= 8; slots += 4) {
        struct catalog *catalog;
        double counts[256] = {0};
        environment.facts.literals[LITERAL_SLOTS] = slots > 0 ? (double)slots : (double)NAN;
        assert_int_equal(spec_json_load("specs/monaka.json", &environment, &errors, &catalog), 0);
        assert_int_equal(catalog->level1.present, slots > 0);
        counts[catalog_find_event(catalog, "CPU_CYCLES")] = 1000;
        if (slots > 0) {
            assert_true(catalog->level1.width == slots);
            assert_true(formula_evaluate(catalog->level1.pipeline_slots, counts, NULL) == 1000 * slots);
        }
        catalog_free(catalog);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_spec_has_the_groups_of_the_default_profile),
        cmocka_unit_test(test_every_group_plans_and_level_1_fits_or_is_split),
        cmocka_unit_test(test_the_level_1_split_of_each_core_worked_out_by_hand),
        cmocka_unit_test(test_level_1_of_a_core_may_rest_on_what_its_host_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
