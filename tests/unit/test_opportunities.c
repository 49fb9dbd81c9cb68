// SPDX-License-Identifier: Apache-2.0
#include "tests/build/shipped.h"
#include "tests/unit/derive_host.h"

#include "core/spec/opportunity.h"

// What each action could win at most: which metrics say so, that they cost nothing, and their totals, worked out by
// hand.

// ---- names ----

static void test_the_actions_are_those_of_the_interface(void **state) {
    static const char *const wanted[] = {
        "text_huge_pages", "data_huge_pages", "code_layout", "branch_layout", "numa_placement",
        "prefetchers",     "working_set",     "vectorise",   "locks",         "smt"};
    (void)state;
    assert_int_equal(N_OF(wanted), OPPORTUNITY_N);
    for (size_t i = 0; i < N_OF(wanted); i++) {
        assert_string_equal(opportunity_table[i].name, wanted[i]);
        assert_true(strlen(opportunity_table[i].title) > 0 && strlen(opportunity_table[i].means) > 0 &&
                    strlen(opportunity_table[i].remedy) > 0);
    }
    assert_non_null(opportunity_table[OPPORTUNITY_SMT].experiment);
    assert_non_null(opportunity_table[OPPORTUNITY_PREFETCHERS].experiment);
}

static void test_only_a_share_of_slots_of_an_actions_name_is_a_bound(void **state) {
    (void)state;
    struct catalog_metric metric = {.export_name = (char[]){"opportunity_locks_ratio"},
                                    .domain = METRIC_PIPELINE_SLOTS};
    assert_int_equal(opportunity_of(&metric), OPPORTUNITY_LOCKS);
    metric.domain = METRIC_CLOCKS;
    assert_int_equal(opportunity_of(&metric), OPPORTUNITY_N);
    metric.domain = METRIC_PIPELINE_SLOTS;
    metric.export_name = (char[]){"opportunity_lock_ratio"};
    assert_int_equal(opportunity_of(&metric), OPPORTUNITY_N);
    metric.export_name = (char[]){"opportunity_locks_more_ratio"};
    assert_int_equal(opportunity_of(&metric), OPPORTUNITY_N);
    metric.export_name = (char[]){"locks_ratio"};
    assert_int_equal(opportunity_of(&metric), OPPORTUNITY_N);
}

// ---- what ships ----

static const struct catalog_metric *bound_of(const struct catalog *catalog, enum opportunity action) {
    const struct catalog_metric *found = NULL;
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (opportunity_of(&catalog->metrics[m]) == action) {
            assert_null(found);
            found = &catalog->metrics[m];
        }
    return found;
}

// Made of other metrics alone, so that it costs no counter, and in the group of all of them.
static void check_bounds(struct catalog *catalog) {
    int group = catalog_find_group(catalog, "Opportunities");
    size_t n = 0;
    for (enum opportunity action = 0; action < OPPORTUNITY_N; action++) {
        const struct catalog_metric *bound = bound_of(catalog, action);
        if (!bound)
            continue;
        n++;
        if (bound->formula->n_variables > 0 || bound->formula->n_metrics == 0)
            fail_msg("%s: %s counts events", catalog->product.spec, bound->name);
        if (strncmp(bound->help, "Assumes that ", 13) != 0)
            fail_msg("%s: %s does not say what it assumes", catalog->product.spec, bound->name);
        assert_true(bound->export_scale == 1);
    }
    if (n != (group < 0 ? 0 : catalog->groups[group].n_metrics))
        fail_msg("%s: the group has not all bounds", catalog->product.spec);
    if (catalog->level1.present && n < 6)
        fail_msg("%s has only %zu bounds", catalog->product.spec, n);
    assert_true(catalog->level1.present || n == 0);
}

static void test_every_cpu_with_pipeline_slots_has_bounds_that_cost_no_counter(void **state) {
    (void)state;
    shipped_for_every_cpu(check_bounds);
}

static void check_between(const struct catalog *catalog, double *metrics, double level) {
    double events[1] = {1};
    for (size_t m = 0; m < catalog->n_metrics; m++)
        metrics[m] =
            catalog->metrics[m].domain == METRIC_PIPELINE_SLOTS ? level / catalog->metrics[m].export_scale : level;
    for (enum opportunity action = 0; action < OPPORTUNITY_N; action++) {
        const struct catalog_metric *bound = bound_of(catalog, action);
        double value = bound ? formula_evaluate(bound->formula, events, metrics) : 0;
        if (!(value >= 0 && value <= 1))
            fail_msg("%s: %s is %g where every share is %g", catalog->product.spec, bound->name, value, level);
        if (bound && level == 0 && action != OPPORTUNITY_SMT && value != 0)
            fail_msg("%s: %s is %g where nothing is lost", catalog->product.spec, bound->name, value);
    }
}

// Of shares that are all a quarter, no bound is more than all slots; of nothing lost, none is more than nothing.
static void check_ranges(struct catalog *catalog) {
    double *metrics = calloc(catalog->n_metrics, sizeof *metrics);
    assert_non_null(metrics);
    check_between(catalog, metrics, 0);
    check_between(catalog, metrics, 0.25);
    free(metrics);
}

static void test_a_bound_is_a_share_and_nothing_lost_is_nothing_to_win(void **state) {
    (void)state;
    shipped_for_every_cpu(check_ranges);
}

// ---- totals ----

// Four slots a cycle; half of what A and B say are the front end's and the back end's. C tells of pages.
static struct catalog_builder *bounds_builder(const char *group) {
    struct catalog_builder *builder = plain_builder();
    level1_of(builder, "4 * CYCLES", "100 * A / (4 * CYCLES)", "100 * B / (4 * CYCLES)");
    metric_of(builder, "walks", "C / CYCLES", "per cycle");
    metric_of(builder, "unmeasured", "D / CYCLES", "per cycle");
    metric_of(builder, "opportunity_data_huge_pages", "min(backend_bound / 100, walks * 10)", "share of slots");
    metric_of(builder, "opportunity_locks", "min(backend_bound / 100, unmeasured)", "share of slots");
    group_of(builder, "All", group);
    return builder;
}

static void start(struct host *host, struct catalog_builder *builder) {
    host_init(host, builder);
    host_start(host, 6);
}

static double total(const struct host *host, size_t scope, const char *name) {
    return host->snapshot->values[snapshot_numerator(host->layout, scope, metric_place(host, name))];
}

// A second of 1,000 cycles: 4,000 slots, of which `backend` and the rest are lost, and `walks`.
static void count(struct host *host, unsigned cpu, uint64_t backend, uint64_t walks) {
    uint64_t counts[D + 1] = {0};
    counts[CYCLES] = 1000;
    counts[B] = backend;
    counts[A] = 4000 - backend;
    counts[C] = walks;
    windows_of(host, cpu, counts);
}

static void test_a_plan_that_measures_its_parts_has_a_bound_beside_them(void **state) {
    (void)state;
    struct host host;
    start(&host, bounds_builder("frontend_bound backend_bound walks"));
    const struct plan_metric *bound = &host.layout->plan->metrics[metric_place(&host, "opportunity_data_huge_pages")];
    assert_true(bound->auxiliary);
    assert_int_equal(bound->unit, PLAN_COMBINED);
    assert_int_equal(host.layout->plan->place[catalog_find_metric(host.catalog, "opportunity_locks")], -1);
    assert_int_equal(host.layout->plan->place[catalog_find_metric(host.catalog, "unmeasured")], -1);
    host_deinit(&host);
}

static void test_a_plan_without_level_1_has_no_bound(void **state) {
    (void)state;
    struct host host;
    start(&host, bounds_builder("walks"));
    assert_int_equal(host.layout->plan->place[catalog_find_metric(host.catalog, "opportunity_data_huge_pages")], -1);
    host_deinit(&host);
}

static void test_a_total_is_the_bounds_share_of_all_slots_of_each_socket(void **state) {
    (void)state;
    struct host host;
    start(&host, bounds_builder("frontend_bound backend_bound walks"));
    count(&host, 0, 2000, 20);  // a fifth of the slots: less than the half that the back end lost
    count(&host, 1, 1000, 900); // a quarter: all that the back end lost
    end_round(&host, 1);
    const struct snapshot_layout *layout = host.layout;
    double first = host.snapshot->values[snapshot_pipeline_slots(layout, snapshot_scope_socket(0))],
           second = host.snapshot->values[snapshot_pipeline_slots(layout, snapshot_scope_socket(1))];
    assert_true(first > 0 && second > 0);
    near("first", total(&host, snapshot_scope_socket(0), "opportunity_data_huge_pages"), first / 5);
    near("second", total(&host, snapshot_scope_socket(1), "opportunity_data_huge_pages"), second / 4);
    near("host", total(&host, 0, "opportunity_data_huge_pages"), first / 5 + second / 4);
    assert_true(isnan(total(&host, cpu_scope(&host, 0), "opportunity_data_huge_pages")));
    host_deinit(&host);
}

// Rounds of a second in which the walks are counted, or their event group gets no counters.
static void measure(struct host *host, unsigned rounds, bool counted) {
    const uint64_t counts[D + 1] = {[CYCLES] = 1000, [A] = 2000, [B] = 2000, [C] = 20};
    unsigned walks = group_with(host, C);
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
            for (unsigned g = 0; g < host->layout->plan->n_groups; g++) {
                struct window *window = window_of(host, cpu, g, counts);
                if (g == walks && !counted)
                    fail_window(window, WINDOW_STARVED, 0);
            }
        end_round(host, 1);
    }
}

static double all_slots(const struct host *host, size_t scope) {
    return host->snapshot->values[snapshot_pipeline_slots(host->layout, scope)];
}

static void test_slots_without_a_value_wait_for_the_next_one_and_are_given_up_after_the_limit(void **state) {
    (void)state;
    struct host host;
    host_init(&host, bounds_builder("frontend_bound backend_bound walks"));
    host_start(&host, 3); // level 1 and the walks have event groups of their own
    size_t socket = snapshot_scope_socket(0);
    measure(&host, 1, true);
    double first = all_slots(&host, socket);
    measure(&host, 1, false);
    near("waits", total(&host, socket, "opportunity_data_huge_pages"), first / 5);
    measure(&host, 1, true);
    double third = all_slots(&host, socket);
    near("made up for", total(&host, socket, "opportunity_data_huge_pages"), third / 5);
    measure(&host, 200, false);
    double before = all_slots(&host, socket);
    assert_true(before > 10 * third);
    near("stands still", total(&host, socket, "opportunity_data_huge_pages"), third / 5);
    measure(&host, 1, true);
    double won = total(&host, socket, "opportunity_data_huge_pages");
    assert_true(won > third / 5 && won < third / 5 + (all_slots(&host, socket) - third) / 10);
    host_deinit(&host);
}

static void test_totals_never_fall_and_noise_below_nothing_is_nothing(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = plain_builder();
    level1_of(builder, "4 * CYCLES", "100 * A / (4 * CYCLES)", "100 * B / (4 * CYCLES)");
    metric_of(builder, "signed", "(C - D) / CYCLES", "per cycle");
    metric_of(builder, "opportunity_smt", "signed", "share of slots");
    group_of(builder, "All", "frontend_bound backend_bound signed");
    start(&host, builder);
    double before = 0;
    for (unsigned round = 0; round < 4; round++) {
        uint64_t counts[D + 1] = {0};
        counts[CYCLES] = 1000;
        counts[A] = counts[B] = 2000;
        counts[round % 2 ? C : D] = 100;
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
            windows_of(&host, cpu, counts);
        end_round(&host, 1);
        double now = total(&host, 0, "opportunity_smt");
        assert_true(round % 2 ? now > before : now == before);
        before = now;
    }
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_actions_are_those_of_the_interface),
        cmocka_unit_test(test_only_a_share_of_slots_of_an_actions_name_is_a_bound),
        cmocka_unit_test(test_every_cpu_with_pipeline_slots_has_bounds_that_cost_no_counter),
        cmocka_unit_test(test_a_bound_is_a_share_and_nothing_lost_is_nothing_to_win),
        cmocka_unit_test(test_a_plan_that_measures_its_parts_has_a_bound_beside_them),
        cmocka_unit_test(test_a_plan_without_level_1_has_no_bound),
        cmocka_unit_test(test_a_total_is_the_bounds_share_of_all_slots_of_each_socket),
        cmocka_unit_test(test_slots_without_a_value_wait_for_the_next_one_and_are_given_up_after_the_limit),
        cmocka_unit_test(test_totals_never_fall_and_noise_below_nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
