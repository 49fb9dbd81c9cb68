// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/spec_json.h"

// What the Arm specs that ship have in common. That each agrees with its vendor's file: test_arm_specs.c.

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

static const struct shipped {
    const char *name;
    double width;            // pipeline slots a cycle; 0: no slot events
    const char *first_stage; // a metric of stage_1
} shipped[] = {
    {"armv8-pmuv3", 0, "frontend_stalled_cycles"},
    {"neoverse-n1", 0, "frontend_stalled_cycles"},
    {"neoverse-n2", 5, "retiring"},
    {"neoverse-n2-r0p3", 5, "retiring"},
    {"neoverse-v1", 8, "retiring"},
    {"neoverse-v2", 8, "retiring"},
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

static void test_a_metric_has_the_same_export_name_on_every_core(void **state) {
    (void)state;
    struct catalog *v2 = load("neoverse-v2");
    for (size_t c = 0; c < N_OF(shipped); c++) {
        struct catalog *other = load(shipped[c].name);
        for (size_t i = 0; i < other->n_metrics; i++) {
            int metric = catalog_find_metric(v2, other->metrics[i].name);
            assert_true(metric >= 0);
            assert_string_equal(other->metrics[i].export_name, v2->metrics[metric].export_name);
            assert_true(other->metrics[i].export_scale == v2->metrics[metric].export_scale);
        }
        catalog_free(other);
    }
    catalog_free(v2);
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
        assert_int_equal(level1->n_parts, slots ? 3 : 0);
        for (size_t p = 0; p < level1->n_parts; p++) { // for two general counters and the cycle counter
            size_t general = 0;
            for (size_t e = 0; e < level1->parts[p].n; e++)
                general += !catalog->events[level1->parts[p].events[e]].fixed;
            assert_int_equal(general, 2);
        }
        catalog_free(catalog);
    }
}

// Worked out by hand, on a core that is busy: 1,000 cycles, a quarter of the slots lost at either end, 8 wrong guesses.
static double level1_of(const struct catalog *catalog, enum category category, double slot_excess) {
    static const char *const names[] = {"CPU_CYCLES", "STALL_SLOT", "STALL_SLOT_FRONTEND", "STALL_SLOT_BACKEND",
                                        "OP_RETIRED", "OP_SPEC",    "BR_MIS_PRED"};
    const double slots = 1000 * catalog->level1.width;
    const double values[] = {1000, slots / 2 + slot_excess, slots / 4 + slot_excess, slots / 4, 900, 1000, 8};
    double counts[64] = {0};
    for (size_t i = 0; i < N_OF(names); i++)
        counts[catalog_find_event(catalog, names[i])] = values[i];
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
        double slot_excess; // what the hardware counts too many, in all
        double frontend, bad_speculation, retiring, backend;
    } wanted[] = {
        // 0.9 of the other half of the slots retires; a wrong guess takes 4 slots' worth per cycle, in per cent 0.8
        // each,
        // out of the front end (0.8) and the back end (2.4), on V1 all of it (3.2) out of the front end
        {"neoverse-n2", 1000, 25 - 0.8, 5 + 3.2, 45, 25 - 2.4},
        {"neoverse-n2-r0p3", 0, 25 - 0.8, 5 + 3.2, 45, 25 - 2.4},
        {"neoverse-v1", 0, 25 - 3.2, 5 + 3.2, 45, 25},
        {"neoverse-v2", 0, 25 - 0.8, 5 + 3.2, 45, 25 - 2.4},
    };
    for (size_t c = 0; c < N_OF(wanted); c++) {
        struct catalog *catalog = load(wanted[c].name);
        double excess = wanted[c].slot_excess;
        assert_true(fabs(level1_of(catalog, CATEGORY_FRONTEND_BOUND, excess) - wanted[c].frontend) < 1e-9);
        assert_true(fabs(level1_of(catalog, CATEGORY_BAD_SPECULATION, excess) - wanted[c].bad_speculation) < 1e-9);
        assert_true(fabs(level1_of(catalog, CATEGORY_RETIRING, excess) - wanted[c].retiring) < 1e-9);
        assert_true(fabs(level1_of(catalog, CATEGORY_BACKEND_BOUND, excess) - wanted[c].backend) < 1e-9);
        catalog_free(catalog);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_metric_has_the_same_export_name_on_every_core),
        cmocka_unit_test(test_every_core_has_the_vendor_neutral_metrics),
        cmocka_unit_test(test_every_core_has_the_groups_of_the_default_profile),
        cmocka_unit_test(test_level_1_is_there_where_the_core_counts_pipeline_slots),
        cmocka_unit_test(test_the_level_1_split_of_each_core_worked_out_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
