// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include <dirent.h>

#include "config/spec/spec_json.h"
#include "core/adapt/adapt.h"

// The share of the round that raised metric groups get and all others keep, for any values, on every shipped spec.

enum { GROUPS_N = 6 };

// Six groups of one metric with two events each: on two counters each is an event group of its own. The first is level
// 1.
static struct catalog *six_groups(void) {
    struct catalog_builder *builder = empty_builder();
    level1_of(builder, "4 * FIXED_CYCLES", "100 * (A / (4 * FIXED_CYCLES))", "100 * (B / (4 * FIXED_CYCLES))");
    metric_of(builder, "m1", "C / D", "");
    metric_of(builder, "m2", "E / F", "");
    metric_of(builder, "m3", "G / H", "");
    metric_of(builder, "m4", "I / J", "");
    metric_of(builder, "m5", "K / A", "");
    group_of(builder, "stage_1", "frontend_bound backend_bound");
    group_of(builder, "one", "m1");
    group_of(builder, "two", "m2");
    group_of(builder, "three", "m3");
    group_of(builder, "four", "m4");
    group_of(builder, "five", "m5");
    return catalog_builder_finish(builder);
}

static struct plan *plan_raising(const struct catalog *catalog, unsigned counters,
                                 const struct plan_selection *selections, size_t n, const bool *raised) {
    const struct plan_request request = {.catalog = catalog,
                                         .general_counters = counters,
                                         .selections = selections,
                                         .n_selections = n,
                                         .slot_ns = SLOT_NS,
                                         .idle = 0.1,
                                         .raised = raised,
                                         .adaptive = true};
    return build_plan(&request);
}

// Slots of the six groups in order, of a plan with these weights and raised groups.
static void expect_slots(const unsigned weights[GROUPS_N], const bool raised[GROUPS_N],
                         const unsigned slots[GROUPS_N]) {
    struct catalog *catalog = six_groups();
    struct plan_selection selections[GROUPS_N];
    for (unsigned s = 0; s < GROUPS_N; s++)
        selections[s] = (struct plan_selection){s, weights[s]};
    struct plan *plan = plan_raising(catalog, 2, selections, GROUPS_N, raised);
    check_plan(plan, 0.1);
    bool all = true;
    for (unsigned g = 1; g < GROUPS_N; g++)
        all = all && raised[g];
    for (unsigned g = 1; g < GROUPS_N; g++)
        assert_int_equal(adapt_gains(plan, g), raised[g] && !all);
    for (size_t i = 0; i < plan->n_metrics; i++) {
        size_t group = plan->metrics[i].metric < 2 ? 0 : plan->metrics[i].metric - 1;
        assert_int_equal(plan->units[plan->metrics[i].unit].slots, slots[group]);
    }
    plan_free(plan);
    catalog_free(catalog);
}

// With 10 % idle, level 1 needs 0.3704 of the slots for its third: 3 beside 5 others.
static void test_a_raised_group_gets_four_times_its_slots(void **state) {
    (void)state;
    expect_slots((unsigned[]){0, 0, 0, 0, 0, 0}, (bool[GROUPS_N]){0}, (unsigned[]){3, 1, 1, 1, 1, 1});
    // 4 + 4 others, and 5 for level 1: 13 slots, not more than twice 8
    expect_slots((unsigned[]){0, 0, 0, 0, 0, 0}, (bool[]){0, 1, 0, 0, 0, 0}, (unsigned[]){5, 4, 1, 1, 1, 1});
}

static void test_a_round_gets_no_more_than_twice_its_slots(void **state) {
    (void)state;
    // with 4: 16 + 1 and 10 are 27 slots, with 3: 13 and 8 are 21, with 2: 9 and 6 are 15, within twice 8
    expect_slots((unsigned[]){0, 0, 0, 0, 0, 0}, (bool[]){0, 1, 1, 1, 1, 0}, (unsigned[]){6, 2, 2, 2, 2, 1});
}

static void test_a_users_weight_is_what_raising_multiplies(void **state) {
    (void)state;
    expect_slots((unsigned[]){0, 3, 0, 0, 0, 0}, (bool[GROUPS_N]){0}, (unsigned[]){5, 3, 1, 1, 1, 1});
    // with 4: 12 + 4 and 10 are 26 slots, more than twice 12; with 3: 13 and 8 are 21
    expect_slots((unsigned[]){0, 3, 0, 0, 0, 0}, (bool[]){0, 1, 0, 0, 0, 0}, (unsigned[]){8, 9, 1, 1, 1, 1});
}

// 0.3704 of 500 others and 295
static void test_level_1_has_its_third_beside_many_slots(void **state) {
    (void)state;
    expect_slots((unsigned[]){0, 100, 100, 100, 100, 100}, (bool[GROUPS_N]){0},
                 (unsigned[]){295, 100, 100, 100, 100, 100});
}

// On three counters K goes with A and B of level 1: "five" is measured there.
static void test_what_is_measured_beside_level_1_raises_nothing(void **state) {
    (void)state;
    struct catalog *catalog = six_groups();
    const struct plan_selection selections[] = {{0, 0}, {5, 0}, {1, 0}, {2, 0}};
    struct plan *plan = plan_raising(catalog, 3, selections, 4, (bool[]){false, true, true, false});
    const unsigned metrics[] = {6, 2, 3}, slots[] = {3, 4, 1}; // of the catalog: m5, m1, m2
    assert_int_equal(plan->n_units, 3);
    for (size_t i = 0; i < plan->n_metrics; i++)
        for (size_t m = 0; m < 3; m++)
            if (plan->metrics[i].metric == metrics[m])
                assert_int_equal(plan->units[plan->metrics[i].unit].slots, slots[m]);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_raising_all_is_raising_none(void **state) {
    (void)state;
    expect_slots((unsigned[]){0, 0, 0, 0, 0, 0}, (bool[]){0, 1, 1, 1, 1, 1}, (unsigned[]){3, 1, 1, 1, 1, 1});
}

static void test_level_1_keeps_its_third_whatever_its_weight_is(void **state) {
    (void)state;
    expect_slots((unsigned[]){1, 0, 0, 0, 0, 0}, (bool[GROUPS_N]){0}, (unsigned[]){3, 1, 1, 1, 1, 1});
    expect_slots((unsigned[]){4, 0, 0, 0, 0, 0}, (bool[GROUPS_N]){0}, (unsigned[]){4, 1, 1, 1, 1, 1});
}

// ---- any sequence of values, on every spec ----

struct run {
    struct catalog *catalog;
    struct plan_selection selections[8];
    size_t n;
    unsigned counters;
    struct snapshot_layout *layout;
    struct diagnosis *diagnosis;
    uint64_t round_ns; // of the plan while nothing is raised
};

static void choose(struct run *run, uint64_t *state) {
    run->n = 0;
    for (int tries = 0; tries < 5; tries++) {
        unsigned group = (unsigned)random_below(state, run->catalog->n_groups);
        bool there = run->catalog->groups[group].n_metrics > 12; // packing many takes long
        for (size_t s = 0; s < run->n; s++)
            there = there || run->selections[s].group == group;
        unsigned weight = random_below(state, 4) == 0 ? 1 + (unsigned)random_below(state, 9) : 0;
        if (!there)
            run->selections[run->n++] = (struct plan_selection){group, weight};
    }
    run->counters = run->catalog->general_counters > 0 ? 2 + (unsigned)random_below(state, 7) : 0;
}

static void check_shares(const struct run *run, const struct plan *plan) {
    double sum = (double)plan->idle_ns / (double)plan->round_ns;
    for (unsigned u = 0; u < plan->n_units; u++) {
        double share = plan_share(plan, u);
        if (plan->common_unit == (int)u || plan_unit_stands(plan, u))
            continue; // is measured together with the others
        sum += share;
        assert_true(plan->units[u].slots >= 1);
        assert_true(share >= plan->units[u].baseline_share / PLAN_GROWTH_MAX - 1e-9);
    }
    assert_true(fabs(sum - 1) < 1e-9);
    assert_true(plan->round_ns <= PLAN_GROWTH_MAX * run->round_ns + 1); // the idle time is rounded
    if (plan->level1_unit >= 0)
        assert_true(plan_share(plan, (unsigned)plan->level1_unit) >= 1.0 / 3 - 1e-9);
}

static void use_plan(struct run *run, const bool *raised) {
    struct plan *plan = plan_raising(run->catalog, run->counters, run->selections, run->n, raised);
    if (!raised)
        run->round_ns = plan->round_ns;
    check_shares(run, plan);
    snapshot_layout_unref(run->layout);
    run->layout = build_layout(plan, build_cpus(0, 1, 1));
    assert_non_null(run->layout);
    struct diagnosis *diagnosis = diagnosis_new(run->layout);
    assert_non_null(diagnosis);
    if (run->diagnosis)
        diagnosis_continue(diagnosis, run->diagnosis);
    diagnosis_free(run->diagnosis);
    run->diagnosis = diagnosis;
}

// Values that stay for a while, jump, or are missing.
static void fill(struct snapshot *snapshot, uint64_t *state, double level) {
    const struct snapshot_layout *layout = snapshot->layout;
    for (size_t i = 0; i < layout->n_metrics; i++) {
        double scale = layout->catalog->metrics[layout->plan->metrics[i].metric].export_scale;
        double value = level * (0.5 + random_unit(state)) * (scale < 1 ? 100 * scale : 1);
        snapshot->values[snapshot_metric(layout, 0, i)] = random_below(state, 10) == 0 ? NAN : value;
    }
}

static unsigned run_rounds(struct run *run, struct adapt *adapt, uint64_t *state) {
    unsigned changes = 0;
    uint64_t now_ns = 0, changed_ns = 0;
    double level = 1;
    for (unsigned r = 1; r <= 150; r++) {
        struct snapshot *snapshot = snapshot_new(run->layout);
        bool before[8];
        assert_non_null(snapshot);
        if (random_below(state, 12) == 0)
            level = 2 * random_unit(state) * random_unit(state);
        fill(snapshot, state, level);
        snapshot->end_ns = now_ns += run->layout->plan->round_ns + random_below(state, 2000000000);
        memcpy(before, adapt_raised(adapt), run->n * sizeof *before);
        diagnosis_round(run->diagnosis, snapshot);
        bool changed = adapt_round(adapt, run->diagnosis, snapshot);
        snapshot_unref(snapshot);
        assert_int_equal(changed, memcmp(before, adapt_raised(adapt), run->n * sizeof *before) != 0);
        if (!changed)
            continue;
        assert_true(changes == 0 || now_ns - changed_ns >= UINT64_C(60000000000));
        changed_ns = now_ns;
        changes++;
        use_plan(run, adapt_raised(adapt));
    }
    return changes;
}

static void test_on_every_spec_shares_and_minima_hold_whatever_the_values_are(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct dirent **entries;
    unsigned changes = 0, specs = 0;
    int n = scandir("specs", &entries, NULL, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        struct run run = {0};
        struct errors errors = {0};
        struct adapt *adapt;
        char path[512];
        size_t length = strlen(entries[i]->d_name);
        (void)snprintf(path, sizeof path, "specs/%s", entries[i]->d_name);
        bool spec = length > 5 && strcmp(entries[i]->d_name + length - 5, ".json") == 0 &&
                    strcmp(entries[i]->d_name, "cpus.json") != 0;
        free(entries[i]);
        if (!spec)
            continue;
        assert_int_equal(spec_json_load(path, NULL, &errors, &run.catalog), 0);
        choose(&run, &random);
        use_plan(&run, NULL);
        assert_int_equal(adapt_new(run.catalog, run.selections, run.n, &adapt), 0);
        changes += run_rounds(&run, adapt, &random);
        specs++;
        adapt_free(adapt);
        diagnosis_free(run.diagnosis);
        snapshot_layout_unref(run.layout);
        catalog_free(run.catalog);
    }
    free(entries);
    print_message("%u changes of plan on %u specs\n", changes, specs);
    assert_true(changes > specs / 4); // else nothing was tested
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_raised_group_gets_four_times_its_slots),
        cmocka_unit_test(test_a_round_gets_no_more_than_twice_its_slots),
        cmocka_unit_test(test_a_users_weight_is_what_raising_multiplies),
        cmocka_unit_test(test_level_1_has_its_third_beside_many_slots),
        cmocka_unit_test(test_what_is_measured_beside_level_1_raises_nothing),
        cmocka_unit_test(test_raising_all_is_raising_none),
        cmocka_unit_test(test_level_1_keeps_its_third_whatever_its_weight_is),
        cmocka_unit_test(test_on_every_spec_shares_and_minima_hold_whatever_the_values_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
