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

// Common properties of the shipped Arm specs. test_arm_specs.c tests that each agrees with its vendor's file.

static const struct shipped {
    const char *name;
    double width;             // pipeline slots a cycle; 0: no slot events
    const char *first_stage;  // a metric of stage_1
    size_t n_parts, counters; // of the level-1 split, and the general counters that it needs
} shipped[] = {
    {"armv8-pmuv3", 0, "frontend_stalled_cycles", 0, 0},
    {"neoverse-n1", 0, "frontend_stalled_cycles", 0, 0},
    {"neoverse-n2", 5, "retiring", 3, 2},
    {"neoverse-n2-r0p3", 5, "retiring", 3, 2},
    {"neoverse-n3", 5, "retiring", 3, 2},
    {"neoverse-v1", 8, "retiring", 3, 2},
    {"neoverse-v2", 8, "retiring", 3, 2},
    {"neoverse-v3", 10, "retiring", 3, 2},
    {"c1-nano", 3, "retiring", 3, 2},
    {"c1-pro", 5, "retiring", 2, 5},
    {"c1-premium", 10, "retiring", 2, 5},
    {"c1-ultra", 10, "retiring", 2, 5},
};

static struct catalog *load(const char *name) {
    static struct errors errors;
    char path[128];
    struct catalog *catalog = NULL;
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 1e9;
    (void)snprintf(path, sizeof path, "specs/%s.json", name);
    if (spec_json_load(path, &environment, &errors, &catalog) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    return catalog;
}

static void expect_same_export_names(const struct catalog *a, const struct catalog *b) {
    for (size_t i = 0; i < a->n_metrics; i++) {
        int metric = catalog_find_metric(b, a->metrics[i].name);
        if (metric < 0)
            continue;
        assert_string_equal(a->metrics[i].export_name, b->metrics[metric].export_name);
        assert_true(a->metrics[i].export_scale == b->metrics[metric].export_scale);
        assert_int_equal(a->metrics[i].domain, b->metrics[metric].domain);
    }
}

static void test_a_metric_has_the_same_export_name_on_every_core(void **state) {
    (void)state;
    struct catalog *all[N_OF(shipped)];
    for (size_t c = 0; c < N_OF(shipped); c++)
        all[c] = load(shipped[c].name);
    for (size_t c = 1; c < N_OF(shipped); c++)
        for (size_t other = 0; other < c; other++)
            expect_same_export_names(all[c], all[other]);
    for (size_t c = 0; c < N_OF(shipped); c++)
        catalog_free(all[c]);
}

// Counts that a core can have: all positive, no two the same, and the clock's above those of cycles of one kind.
static void test_every_metric_is_finite_on_positive_counts(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name);
        double counts[256], values[CATALOG_METRICS_MAX];
        assert_true(catalog->n_events <= N_OF(counts));
        for (size_t i = 0; i < catalog->n_events; i++)
            counts[i] = 1000 + 7 * (double)i;
        counts[catalog_find_event(catalog, "CPU_CYCLES")] = 1e6;
        for (size_t i = 0; i < catalog->n_metrics; i++)
            if (!isfinite(values[i] = formula_evaluate(catalog->metrics[i].formula, counts, values)))
                fail_msg("%s: %s is not finite", shipped[c].name, catalog->metrics[i].name);
        catalog_free(catalog);
    }
}

// The names that dashboards and rules rely on, whatever the vendor.
static void test_every_core_has_the_vendor_neutral_metrics(void **state) {
    (void)state;
    static const char *const names[] = {"ipc",
                                        "branch_mpki",
                                        "l1i_cache_mpki",
                                        "l1d_cache_mpki",
                                        "l2_cache_mpki",
                                        "ll_cache_mpki",
                                        "itlb_mpki",
                                        "dtlb_mpki",
                                        "branch_miss_ratio",
                                        "l1i_cache_miss_ratio",
                                        "itlb_miss_ratio",
                                        "dtlb_miss_ratio",
                                        "l1d_cache_miss_ratio",
                                        "l2_cache_miss_ratio",
                                        "ll_cache_miss_ratio"};
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name);
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

static void test_every_core_has_the_groups_of_the_default_profile(void **state) {
    (void)state;
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name);
        for (size_t g = 0; g < N_OF(groups); g++)
            assert_true(catalog_find_group(catalog, groups[g]) >= 0);
        const struct catalog_group *stage = &catalog->groups[catalog_find_group(catalog, "stage_1")];
        size_t i = 0;
        while (i < stage->n_metrics && strcmp(catalog->metrics[stage->metrics[i]].name, shipped[c].first_stage) != 0)
            i++;
        assert_true(i < stage->n_metrics);
        catalog_free(catalog);
    }
}

static void test_level_1_is_there_where_the_core_counts_pipeline_slots(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name);
        const struct catalog_level1 *level1 = &catalog->level1;
        bool slots = shipped[c].width > 0;
        assert_int_equal(level1->present, slots);
        assert_int_equal(catalog_find_event(catalog, "STALL_SLOT") >= 0, slots);
        assert_true(level1->width == shipped[c].width);
        assert_int_equal(level1->n_categories, slots ? 4 : 0);
        assert_int_equal(level1->n_parts, shipped[c].n_parts);
        size_t most = 0;
        for (size_t p = 0; p < level1->n_parts; p++) { // beside the cycle counter
            size_t general = 0;
            for (size_t e = 0; e < level1->parts[p].n; e++)
                general += !catalog->events[level1->parts[p].events[e]].fixed;
            most = general > most ? general : most;
        }
        assert_int_equal(most, shipped[c].counters);
        catalog_free(catalog);
    }
}

// All groups at once, on the counters that the vendor states, and on the fewest that level 1 can do with.
static void expect_plan(const struct catalog *catalog, unsigned general_counters, size_t level1_groups) {
    struct plan *plan = build_plan(&(struct plan_request){.catalog = catalog, .general_counters = general_counters});
    size_t n_alternatives = 0;
    for (size_t m = 0; m < catalog->n_metrics; m++)
        n_alternatives += catalog->metrics[m].stands_for >= 0;
    assert_int_equal(plan->n_metrics, catalog->n_metrics - n_alternatives);
    for (size_t i = 0; i < plan->n_metrics; i++)
        if (plan->metrics[i].unit == PLAN_NOT_PLANNABLE)
            fail_msg("%s: %s", catalog->metrics[plan->metrics[i].metric].name, plan->metrics[i].reason);
    if (catalog->level1.present)
        assert_int_equal(plan->units[plan->level1_unit].n_groups, level1_groups);
    plan_free(plan);
}

static void test_every_group_plans_on_the_counters_of_its_core(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *catalog = load(shipped[c].name);
        assert_int_equal(catalog->general_counters, 6);
        expect_plan(catalog, 6, shipped[c].counters == 5 ? 2 : 1); // 7 events beside the cycles do not fit 6 counters
        expect_plan(catalog, 7, 1);
        expect_plan(catalog, 5, shipped[c].n_parts);
        catalog_free(catalog);
    }
}

// What is peculiar to a core's counts.
struct peculiar {
    double slot_excess;   // pipeline slots that the hardware counts too many, in all, as the front end's
    double asleep;        // cycles counted while the core only answers others, which the formulas take off
    bool asleep_frontend; // they count as stalls of the front end, a flush among them; else of the back end
};

// A core that is busy: 1,000 cycles, a quarter of the slots lost at either end, 8 wrong guesses or a flush of 32
// cycles.
static void busy_core(const struct catalog *catalog, const struct peculiar *peculiar, double *counts) {
    const double slots = 1000 * catalog->level1.width, asleep = peculiar->asleep * catalog->level1.width;
    const double at_front = peculiar->asleep_frontend ? 1 : 0;
    const struct {
        const char *event;
        double count;
    } values[] = {
        {"CPU_CYCLES", 1000 + peculiar->asleep},
        {"STALL_SLOT", slots / 2 + peculiar->slot_excess + asleep},
        {"STALL_SLOT_FRONTEND", slots / 4 + peculiar->slot_excess + asleep * at_front},
        {"STALL_SLOT_BACKEND", slots / 4 + asleep * (1 - at_front)},
        {"OP_RETIRED", 900},
        {"OP_SPEC", 1000},
        {"BR_MIS_PRED", 8},
        {"STALL_FRONTEND_FLUSH", 32 + peculiar->asleep * at_front},
        {"IMP_WFX_CLOCK_CYCLES", peculiar->asleep},
    };
    for (size_t i = 0; i < N_OF(values); i++) {
        int event = catalog_find_event(catalog, values[i].event);
        if (event >= 0)
            counts[event] = values[i].count;
    }
}

static double level1_share(const struct catalog *catalog, enum category category, const double *counts) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].category == category)
            return formula_evaluate(catalog->metrics[catalog->level1.categories[i].metric].formula, counts, NULL);
    fail_msg("no category %s", category_name(category));
    return 0;
}

static void test_the_level_1_split_of_each_core_worked_out_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *name;
        struct peculiar peculiar;
        double frontend, bad_speculation, retiring, backend;
    } wanted[] = {
        // 0.9 of the other half of the slots retires. A wrong guess takes 4 cycles, here 0.4 % of all, out of the front
        // end (1) and the back end (3), on V1 all of it out of the front end; since N3 the cycles of flushes are
        // counted.
        {"neoverse-n2", {1000, 0, false}, 25 - 0.8, 5 + 3.2, 45, 25 - 2.4},
        {"neoverse-n2-r0p3", {0, 0, false}, 25 - 0.8, 5 + 3.2, 45, 25 - 2.4},
        {"neoverse-n3", {0, 0, false}, 25 - 3.2, 5 + 3.2, 45, 25},
        {"neoverse-v1", {0, 0, false}, 25 - 3.2, 5 + 3.2, 45, 25},
        {"neoverse-v2", {0, 0, false}, 25 - 0.8, 5 + 3.2, 45, 25 - 2.4},
        {"neoverse-v3", {0, 0, false}, 25 - 3.2, 5 + 3.2, 45, 25},
        {"c1-nano", {0, 0, false}, 25 - 3.2, 5 + 3.2, 45, 25},
        {"c1-pro", {0, 500, false}, 25 - 3.2, 5 + 3.2, 45, 25},
        {"c1-premium", {0, 500, true}, 25 - 3.2, 5 + 3.2, 45, 25},
        {"c1-ultra", {0, 500, true}, 25 - 3.2, 5 + 3.2, 45, 25},
    };
    for (size_t c = 0; c < N_OF(wanted); c++) {
        struct catalog *catalog = load(wanted[c].name);
        double counts[256] = {0};
        assert_true(catalog->n_events <= N_OF(counts));
        busy_core(catalog, &wanted[c].peculiar, counts);
        assert_true(fabs(level1_share(catalog, CATEGORY_FRONTEND_BOUND, counts) - wanted[c].frontend) < 1e-9);
        assert_true(fabs(level1_share(catalog, CATEGORY_BAD_SPECULATION, counts) - wanted[c].bad_speculation) < 1e-9);
        assert_true(fabs(level1_share(catalog, CATEGORY_RETIRING, counts) - wanted[c].retiring) < 1e-9);
        assert_true(fabs(level1_share(catalog, CATEGORY_BACKEND_BOUND, counts) - wanted[c].backend) < 1e-9);
        assert_true(formula_evaluate(catalog->level1.pipeline_slots, counts, NULL) == 1000 * catalog->level1.width);
        catalog_free(catalog);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_metric_has_the_same_export_name_on_every_core),
        cmocka_unit_test(test_every_metric_is_finite_on_positive_counts),
        cmocka_unit_test(test_every_core_has_the_vendor_neutral_metrics),
        cmocka_unit_test(test_every_core_has_the_groups_of_the_default_profile),
        cmocka_unit_test(test_level_1_is_there_where_the_core_counts_pipeline_slots),
        cmocka_unit_test(test_every_group_plans_on_the_counters_of_its_core),
        cmocka_unit_test(test_the_level_1_split_of_each_core_worked_out_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
