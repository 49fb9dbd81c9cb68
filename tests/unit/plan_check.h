// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_PLAN_CHECK_H
#define TOPDOWND_TESTS_UNIT_PLAN_CHECK_H

// For the tests of plans: plans in one line, and the rules that every plan obeys.

#include "tests/unit/core_check.h"

#include <math.h>

enum { EVENTS_N = 12, SLOT_NS = 200000000 };

static const char *const EVENTS[EVENTS_N] = {"FIXED_CYCLES", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"};

static inline struct catalog_builder *empty_builder(void) { return builder_of(EVENTS, EVENTS_N); }

// `support`: the PMU's statement about each event; NULL: none. Without selections there is nothing to measure.
static inline struct plan *plan_supporting(const struct catalog *catalog, const uint8_t *support, unsigned counters,
                                           double idle, const struct plan_selection *selections, size_t n) {
    return build_plan(&(struct plan_request){.catalog = catalog,
                                             .general_counters = counters,
                                             .selections = n > 0 ? selections : &(struct plan_selection){0},
                                             .n_selections = n,
                                             .slot_ns = SLOT_NS,
                                             .idle = idle,
                                             .support = support});
}

static inline struct plan *plan_of(const struct catalog *catalog, unsigned counters, double idle,
                                   const struct plan_selection *selections, size_t n) {
    return plan_supporting(catalog, NULL, counters, idle, selections, n);
}

// A plan of all the catalog's groups.
static inline struct plan *plan_of_all(const struct catalog *catalog, unsigned counters, double idle) {
    return build_plan(
        &(struct plan_request){.catalog = catalog, .general_counters = counters, .slot_ns = SLOT_NS, .idle = idle});
}

static inline void expect_events(const unsigned *events, size_t n, const char *wanted) {
    char text[256] = "";
    for (size_t i = 0; i < n; i++)
        strcat(strcat(text, i > 0 ? " " : ""), EVENTS[events[i] - 1]);
    assert_string_equal(text, wanted);
}

static inline bool holds(const unsigned *events, size_t n, unsigned event) {
    for (size_t i = 0; i < n; i++)
        if (events[i] == event)
            return true;
    return false;
}

static inline bool holds_formula(const unsigned *events, size_t n, const struct formula *formula) {
    for (size_t i = 0; i < formula->n_variables; i++)
        if (formula->variables[i] != CATALOG_CPU_SECONDS && !holds(events, n, formula->variables[i]))
            return false;
    return true;
}

// ---- rules for every plan ----

static inline void check_groups(const struct plan *plan) {
    for (size_t g = 0; g < plan->n_groups; g++) {
        const struct plan_group *group = &plan->groups[g];
        assert_true(group->n_events > 0);
        assert_true(fit_check(&plan->pmu, plan->needs, group->events, group->n_events, NULL));
        assert_true(group->unit < plan->n_units);
        for (size_t i = 0; i < group->n_events; i++) {
            assert_in_range(group->events[i], 1, plan->catalog->n_events - 1);
            assert_true(i == 0 || group->events[i] > group->events[i - 1]);
            assert_true(plan->support[group->events[i]] != PLAN_UNSUPPORTED);
        }
        for (size_t other = 0; other < g; other++)
            assert_string_not_equal(group->name, plan->groups[other].name);
    }
}

static inline void check_units(const struct plan *plan) {
    size_t next_group = 0;
    for (size_t u = 0; u < plan->n_units; u++) {
        const struct plan_unit *unit = &plan->units[u];
        assert_int_equal(unit->first_group, next_group);
        assert_true(unit->n_groups > 0 && unit->slots > 0);
        size_t in_groups = 0;
        for (size_t g = next_group; g < next_group + unit->n_groups; g++) {
            assert_int_equal(plan->groups[g].unit, u);
            for (size_t i = 0; i < plan->groups[g].n_events; i++)
                assert_true(holds(unit->events, unit->n_events, plan->groups[g].events[i]));
            in_groups += plan->groups[g].n_events;
            if (unit->reference >= 0)
                assert_true(holds(plan->groups[g].events, plan->groups[g].n_events, (unsigned)unit->reference));
        }
        assert_true(in_groups >= unit->n_events);
        assert_int_equal(unit->reference >= 0, unit->n_groups > 1);
        next_group += unit->n_groups;
    }
    assert_int_equal(next_group, plan->n_groups);
}

static inline bool is_level1(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].metric == metric)
            return true;
    return false;
}

static inline void check_metrics(const struct plan *plan) {
    bool level1 = false, level1_planned = false;
    for (size_t m = 0; m < plan->n_metrics; m++) {
        bool category = is_level1(plan->catalog, plan->metrics[m].metric);
        level1 = level1 || category;
        level1_planned = level1_planned || (category && plan->metrics[m].unit >= 0);
        if (category) // the categories are planned together or not at all
            assert_int_equal(plan->metrics[m].unit, plan->level1_unit);
    }
    assert_int_equal(plan->level1_selected, level1);
    assert_int_equal(plan->level1_unit >= 0, level1_planned);
    for (size_t m = 0; m < plan->n_metrics; m++) {
        const struct plan_metric *metric = &plan->metrics[m];
        for (size_t other = 0; other < m; other++)
            assert_true(plan->metrics[other].metric != metric->metric);
        assert_int_equal(metric->unit == PLAN_NOT_PLANNABLE, metric->reason[0] != '\0');
        if (metric->unit < 0)
            continue;
        const struct plan_unit *unit = &plan->units[metric->unit];
        const struct plan_group *group = &plan->groups[unit->first_group];
        const struct formula *formula = plan->catalog->metrics[metric->metric].formula;
        if (unit->n_groups == 1)
            assert_true(holds_formula(group->events, group->n_events, formula));
        else
            assert_true(holds_formula(unit->events, unit->n_events, formula));
    }
}

// Duration of an entry of the round.
static inline uint64_t entry_ns(const struct plan *plan, size_t entry) {
    unsigned unit = plan->round[entry];
    return unit == plan->n_units ? plan->idle_ns : plan->units[unit].n_groups * plan->slot_ns;
}

static inline void check_round(const struct plan *plan, double idle) {
    uint64_t all_ns = 0;
    size_t idle_entries = 0, windows = 0;
    for (size_t i = 0; i < plan->n_round; i++) {
        assert_true(plan->round[i] <= plan->n_units);
        idle_entries += plan->round[i] == plan->n_units;
        windows += plan->round[i] == plan->n_units ? 0 : plan->units[plan->round[i]].n_groups;
        all_ns += entry_ns(plan, i);
    }
    assert_int_equal(all_ns, plan->round_ns);
    assert_int_equal(windows, plan->n_windows);
    assert_true(plan->round_ns >= 1000000000);
    assert_int_equal(idle_entries, plan->idle_ns > 0);
    for (unsigned u = 0; u < plan->n_units; u++) {
        size_t entries = 0;
        for (size_t i = 0; i < plan->n_round; i++)
            entries += plan->round[i] == u;
        assert_int_equal(entries, plan->units[u].slots);
    }
    if (plan->n_units > 0) // the idle slot is a share of the round to the nanosecond
        assert_true(fabs((double)plan->idle_ns - idle * (double)plan->round_ns) <= 1);
}

static inline void check_plan(const struct plan *plan, double idle) {
    check_groups(plan);
    check_units(plan);
    check_metrics(plan);
    check_round(plan, idle);
}

#endif
