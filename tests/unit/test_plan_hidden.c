// SPDX-License-Identifier: Apache-2.0
//
// A host whose kernel hides the PMU's own Topdown counters, as in most virtual machines: whoever selects level 1, and
// each spec's defaults do, gets the one of ordinary events.
#include "tests/unit/core_check.h"

#include <stdio.h>

#include "core/diagnosis/next.h"
#include "tests/unit/one_core.h"

static const char *const SPECS[] = {"ice-lake-sp", "sapphire-rapids", "emerald-rapids", "granite-rapids",
                                    "golden-cove", "redwood-cove",    "lion-cove",      "cougar-cove"};
enum { SELECTIONS_MAX = 16 };

// A plan of the groups that the spec recommends. `hidden`: the host has no event of these.
static struct plan *default_plan(const struct catalog *catalog, const struct catalog *whole) {
    struct plan_selection selections[SELECTIONS_MAX];
    unsigned n = 0;
    uint8_t *support = malloc(catalog->n_events);
    assert_non_null(support);
    memset(support, PLAN_SUPPORT_UNKNOWN, catalog->n_events);
    for (size_t i = 0; i < whole->n_topdown && catalog->n_topdown == 0; i++)
        if (i == 0 || whole->events[whole->topdown[i]].need.free)
            support[whole->topdown[i]] = PLAN_UNSUPPORTED;
    for (int group; (group = catalog_default_group(catalog, n + 1)) >= 0; n++) {
        assert_true(n < SELECTIONS_MAX);
        selections[n] = (struct plan_selection){(unsigned)group, 0};
    }
    struct plan *plan = build_plan(&(struct plan_request){.catalog = catalog,
                                                          .general_counters = catalog->general_counters,
                                                          .selections = selections,
                                                          .n_selections = n,
                                                          .slot_ns = SECOND_NS / 5,
                                                          .support = support});
    free(support);
    return plan;
}

static void test_the_defaults_have_level_1_where_the_host_hides_its_own_counters(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof SPECS / sizeof *SPECS; s++) {
        struct catalog *whole = load(SPECS[s], false), *hidden = load(SPECS[s], true);
        struct plan *usual = default_plan(whole, whole), *plan = default_plan(hidden, whole);
        assert_true(usual->level1_selected && plan->level1_selected);
        for (size_t c = 0; c < hidden->level1.n_categories; c++) {
            int before = usual->place[whole->level1.categories[c].metric],
                now = plan->place[hidden->level1.categories[c].metric];
            assert_true(before >= 0 && now >= 0);
            if (!plan_metric_planned(&plan->metrics[now]))
                fail_msg("%s: %s: %s", SPECS[s], hidden->metrics[hidden->level1.categories[c].metric].name,
                         plan->metrics[now].reason);
            assert_int_equal(usual->place[hidden->level1.categories[c].metric], -1); // elsewhere, nobody selects it
        }
        plan_free(plan);
        plan_free(usual);
        catalog_free(hidden);
        catalog_free(whole);
    }
}

// What can be counted without them of the groups that the usual category leads to, and not what is shown already.
static void test_the_other_level_1_leads_where_the_usual_one_does(void **state) {
    (void)state;
    for (size_t s = 0; s < 4; s++) { // the servers
        struct catalog *whole = load(SPECS[s], false), *hidden = load(SPECS[s], true);
        struct plan *plan = default_plan(hidden, whole);
        unsigned groups[NEXT_GROUPS_MAX];
        for (size_t c = 0; c < hidden->level1.n_categories; c++) {
            if (hidden->level1.categories[c].category != CATEGORY_BACKEND_BOUND)
                continue;
            unsigned metric = hidden->level1.categories[c].metric;
            size_t n = next_groups(plan, metric, groups);
            assert_true(n > 0);
            for (size_t i = 0; i < n; i++)
                for (size_t m = 0; m < hidden->groups[groups[i]].n_metrics; m++)
                    assert_int_not_equal(hidden->groups[groups[i]].metrics[m], metric);
        }
        plan_free(plan);
        catalog_free(hidden);
        catalog_free(whole);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_defaults_have_level_1_where_the_host_hides_its_own_counters),
        cmocka_unit_test(test_the_other_level_1_leads_where_the_usual_one_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
