// SPDX-License-Identifier: Apache-2.0
#include "tests/build/shipped.h"
#include "tests/unit/derive_host.h"

#include "core/diagnosis/bottlenecks.h"
#include "core/diagnosis/bound.h"

// What would help how much: headings over what a snapshot has, with values and intervals worked out by hand, and what
// ships for each CPU.

// ---- a small spec ----

// Four slots a cycle: a half of what A says waits for instructions, half of B for data or execution, the rest retires.
static struct catalog_builder *headings_builder(const char *group) {
    struct catalog_builder *builder = plain_builder();
    level1_of(builder, "4 * CYCLES", "100 * A / (4 * CYCLES)", "100 * B / (4 * CYCLES)");
    metric_of(builder, "walks", "C / CYCLES", "per cycle");
    metric_of(builder, "memory", "0.5 * (backend_bound / 100) + walks", "share of slots");
    metric_of(builder, "unmeasured", "D / CYCLES", "per cycle");
    group_of(builder, "All", group);
    return builder;
}

static void heading(struct catalog_builder *builder, enum bottleneck of, const char *formula) {
    struct fault fault;
    if (catalog_builder_set_bottleneck(builder, of, formula, &fault) < 0)
        fail_msg("%s: %s", formula, fault.text);
}

static void start(struct host *host, struct catalog_builder *builder) {
    host_init(host, builder);
    host_start(host, 6);
}

// A second of 1,000 cycles, so of 4,000 slots.
static void count(struct host *host, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t counts[D + 1] = {[CYCLES] = 1000, [A] = a, [B] = b, [C] = c};
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        windows_of(host, cpu, counts);
    end_round(host, 1);
}

static struct bottlenecks found(const struct host *host) {
    struct bottlenecks bottlenecks;
    assert_int_equal(bottlenecks_find(host->snapshot, 0, &bottlenecks), 0);
    return bottlenecks;
}

static const struct bottleneck_row *row_of(const struct bottlenecks *bottlenecks, enum bottleneck heading) {
    for (size_t i = 0; i < bottlenecks->n; i++)
        if (bottlenecks->rows[i].heading == heading)
            return &bottlenecks->rows[i];
    return NULL;
}

static void test_a_heading_is_its_formula_over_what_was_measured(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound walks");
    heading(builder, BOTTLENECK_FRONT_END, "frontend_bound / 100");
    heading(builder, BOTTLENECK_DATA_TLBS, "min(backend_bound / 100, walks * 10)");
    start(&host, builder);
    count(&host, 1200, 2000, 20); // 0.3; min(0.5, 0.2)
    struct bottlenecks bottlenecks = found(&host);
    assert_int_equal(bottlenecks.n, 2);
    assert_int_equal(bottlenecks.n_known, 2);
    assert_true(bottlenecks.fine);
    assert_int_equal(bottlenecks.rows[0].heading, BOTTLENECK_FRONT_END);
    near("front end", bottlenecks.rows[0].value, 0.3);
    assert_int_equal(bottlenecks.rows[1].heading, BOTTLENECK_DATA_TLBS);
    near("walks", bottlenecks.rows[1].value, 0.2);
    host_deinit(&host);
}

static void test_a_metric_that_the_plan_lacks_is_worked_out_from_its_parts(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound walks");
    heading(builder, BOTTLENECK_MEMORY, "memory");
    start(&host, builder);
    assert_int_equal(host.layout->plan->place[catalog_find_metric(host.catalog, "memory")], -1);
    count(&host, 1200, 2000, 20);
    near("memory", found(&host).rows[0].value, 0.5 * 0.5 + 0.02);
    host_deinit(&host);
}

static void test_what_is_not_measured_is_missing_and_says_what_it_lacks(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound walks");
    heading(builder, BOTTLENECK_DATA_LATENCY, "backend_bound / 100 + unmeasured");
    heading(builder, BOTTLENECK_BACK_END, "backend_bound / 100");
    start(&host, builder);
    count(&host, 1200, 2000, 20);
    struct bottlenecks bottlenecks = found(&host);
    assert_int_equal(bottlenecks.n, 2);
    assert_int_equal(bottlenecks.n_known, 1);
    assert_false(bottlenecks.fine);
    assert_int_equal(bottlenecks.rows[0].heading, BOTTLENECK_BACK_END);
    assert_false(bottlenecks.rows[0].rest);
    assert_int_equal(bottlenecks.rows[1].heading, BOTTLENECK_DATA_LATENCY);
    assert_true(isnan(bottlenecks.rows[1].value) && isnan(bottlenecks.rows[1].low));
    assert_int_equal(bottlenecks.rows[1].missing, catalog_find_metric(host.catalog, "unmeasured"));
    host_deinit(&host);
}

static void test_before_the_first_round_everything_is_missing(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound");
    heading(builder, BOTTLENECK_BACK_END, "backend_bound / 100");
    start(&host, builder);
    host.snapshot = snapshot_new(host.layout);
    struct bottlenecks bottlenecks = found(&host);
    assert_int_equal(bottlenecks.n, 1);
    assert_int_equal(bottlenecks.n_known, 0);
    assert_int_equal(bottlenecks.rows[0].missing, catalog_find_metric(host.catalog, "backend_bound"));
    host_deinit(&host);
}

// ---- coarse headings ----

static void test_a_coarse_heading_is_what_its_parts_leave(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound walks");
    heading(builder, BOTTLENECK_DATA_TLBS, "walks * 10");
    heading(builder, BOTTLENECK_BACK_END, "backend_bound / 100");
    start(&host, builder);
    count(&host, 1200, 2000, 20);
    struct bottlenecks bottlenecks = found(&host);
    near("rest", row_of(&bottlenecks, BOTTLENECK_BACK_END)->value, 0.5 - 0.2);
    assert_true(row_of(&bottlenecks, BOTTLENECK_BACK_END)->rest);
    count(&host, 1200, 400, 20); // 0.1 of the slots, and the walks explain 0.2
    bottlenecks = found(&host);
    assert_true(row_of(&bottlenecks, BOTTLENECK_BACK_END)->value == 0);
    host_deinit(&host);
}

static void test_a_coarse_heading_goes_when_its_parts_tell_everything(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound walks");
    heading(builder, BOTTLENECK_BIG_CODE, "walks");
    heading(builder, BOTTLENECK_INSTRUCTION_SUPPLY, "frontend_bound / 100 - walks");
    heading(builder, BOTTLENECK_FRONT_END, "frontend_bound / 100");
    start(&host, builder);
    count(&host, 1200, 2000, 20);
    struct bottlenecks bottlenecks = found(&host);
    assert_int_equal(bottlenecks.n, 2);
    assert_null(row_of(&bottlenecks, BOTTLENECK_FRONT_END));
    near("supply", row_of(&bottlenecks, BOTTLENECK_INSTRUCTION_SUPPLY)->value, 0.3 - 0.02);
    host_deinit(&host);
}

// The back end is divided twice: memory tells itself, execution only one of its parts.
static void test_parts_of_parts_are_taken_out_once(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound walks");
    heading(builder, BOTTLENECK_DATA_TLBS, "walks");
    heading(builder, BOTTLENECK_MEMORY, "memory");
    heading(builder, BOTTLENECK_COMPUTE, "5 * walks");
    heading(builder, BOTTLENECK_BACK_END, "backend_bound / 100");
    start(&host, builder);
    count(&host, 1200, 2000, 20); // walks 0.02, memory 0.27, compute 0.1, back end 0.5
    struct bottlenecks bottlenecks = found(&host);
    double sum = 0;
    near("memory", row_of(&bottlenecks, BOTTLENECK_MEMORY)->value, 0.27 - 0.02);
    near("back end", row_of(&bottlenecks, BOTTLENECK_BACK_END)->value, 0.5 - 0.27 - 0.1);
    for (size_t i = 0; i < bottlenecks.n_known; i++)
        sum += bottlenecks.rows[i].value;
    near("all of it", sum, 0.5);
    host_deinit(&host);
}

// Bounds of parts may be more than what is certain of the whole: nothing is counted twice.
static void test_parts_that_are_more_than_their_whole_stand_for_it(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound walks");
    heading(builder, BOTTLENECK_DATA_TLBS, "walks * 10");
    heading(builder, BOTTLENECK_MEMORY, "walks");
    heading(builder, BOTTLENECK_BACK_END, "backend_bound / 100");
    start(&host, builder);
    count(&host, 1200, 2000, 20);
    struct bottlenecks bottlenecks = found(&host);
    near("translations", row_of(&bottlenecks, BOTTLENECK_DATA_TLBS)->value, 0.2);
    assert_true(row_of(&bottlenecks, BOTTLENECK_MEMORY)->value == 0);
    near("back end", row_of(&bottlenecks, BOTTLENECK_BACK_END)->value, 0.5 - 0.2);
    host_deinit(&host);
}

// ---- intervals ----

static void test_an_interval_is_as_wide_as_if_all_inputs_erred_together(void **state) {
    (void)state;
    struct host host;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound walks");
    heading(builder, BOTTLENECK_DATA_TLBS, "min(backend_bound / 100, walks * 10)");
    heading(builder, BOTTLENECK_OTHER, "backend_bound / 100 - walks");
    start(&host, builder);
    count(&host, 1200, 2000, 20);
    double *values = host.snapshot->values;
    size_t back = metric_place(&host, "backend_bound"), walks = metric_place(&host, "walks");
    values[snapshot_low(host.layout, 0, back)] = 0.46; // 0.5 +- 0.04, as exported
    values[snapshot_high(host.layout, 0, back)] = 0.54;
    values[snapshot_low(host.layout, 0, walks)] = 0.017; // 0.02 +- 0.003
    values[snapshot_high(host.layout, 0, walks)] = 0.023;
    struct bottlenecks bottlenecks = found(&host);
    near("low", row_of(&bottlenecks, BOTTLENECK_DATA_TLBS)->low, 0.2 - 0.03); // the other side of min is far
    near("high", row_of(&bottlenecks, BOTTLENECK_DATA_TLBS)->high, 0.2 + 0.03);
    near("low", row_of(&bottlenecks, BOTTLENECK_OTHER)->low, 0.48 - 0.043);
    near("high", row_of(&bottlenecks, BOTTLENECK_OTHER)->high, 0.48 + 0.043);
    values[snapshot_low(host.layout, 0, walks)] = values[snapshot_high(host.layout, 0, walks)] = NAN;
    bottlenecks = found(&host);
    assert_true(isnan(row_of(&bottlenecks, BOTTLENECK_OTHER)->low));
    near("value", row_of(&bottlenecks, BOTTLENECK_OTHER)->value, 0.48);
    host_deinit(&host);
}

// ---- work that is done well ----

// Useful work is what is not lost; C are vector operations, a share of which a node below useful work tells, too.
static struct catalog_builder *well_builder(const char *group) {
    struct fault fault;
    struct catalog_builder *builder = plain_builder();
    level1_of(builder, "4 * CYCLES", "100 * A / (4 * CYCLES)", "100 * B / (4 * CYCLES)");
    metric_of(builder, "retiring", "100 * D / (4 * CYCLES)", "percent of slots");
    metric_of(builder, "vectors", "100 * C / D", "percent of operations");
    assert_true(catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "retiring", &fault) >= 0 &&
                catalog_builder_set_computes_well(builder, "vectors > 30", &fault) >= 0);
    group_of(builder, "All", group);
    return builder;
}

static struct verdict verdict_of(struct host *host, uint64_t front_end, uint64_t vectors, uint64_t retired) {
    const uint64_t counts[D + 1] = {[CYCLES] = 1000, [A] = front_end, [B] = 100, [C] = vectors, [D] = retired};
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        windows_of(host, cpu, counts);
    end_round(host, 1);
    assert_int_equal(bound_fill(host->snapshot), 0);
    return host->snapshot->verdicts[0].now;
}

static void test_high_useful_work_that_vectors_do_is_done_well(void **state) {
    (void)state;
    struct host host;
    start(&host, well_builder("frontend_bound backend_bound retiring vectors"));
    struct verdict verdict = verdict_of(&host, 300, 1800, 3600);
    assert_true(verdict.well && verdict.n == 1 && verdict.cause.kind == CAUSE_NONE);
    assert_int_equal(verdict.path[0], catalog_find_metric(host.catalog, "retiring"));
    assert_false(verdict_of(&host, 300, 360, 3600).well); // a tenth are vectors
    assert_false(verdict_of(&host, 3000, 600, 900).well); // the front end is the bottleneck
    host_deinit(&host);
    start(&host, well_builder("frontend_bound backend_bound retiring"));
    assert_false(verdict_of(&host, 300, 1800, 3600).well); // nobody counts vectors
    host_deinit(&host);
}

// ---- mistakes in a spec ----

static void test_a_heading_that_counts_events_or_stands_twice_is_refused(void **state) {
    (void)state;
    struct fault fault;
    struct catalog_builder *builder = headings_builder("frontend_bound backend_bound");
    assert_int_equal(catalog_builder_set_bottleneck(builder, BOTTLENECK_OTHER, "A / CYCLES", &fault), -EINVAL);
    assert_non_null(strstr(fault.text, "must name metrics, and nothing else"));
    assert_int_equal(catalog_builder_set_bottleneck(builder, BOTTLENECK_OTHER, "0.5", &fault), -EINVAL);
    assert_int_equal(catalog_builder_set_bottleneck(builder, BOTTLENECK_OTHER, "no_such_metric", &fault), -EINVAL);
    heading(builder, BOTTLENECK_OTHER, "backend_bound / 100");
    assert_int_equal(catalog_builder_set_bottleneck(builder, BOTTLENECK_OTHER, "backend_bound", &fault), -EINVAL);
    assert_non_null(strstr(fault.text, "stands twice"));
    catalog_builder_free(builder);
}

// ---- what ships ----

static void check_headings(struct catalog *catalog) {
    const enum bottleneck always[] = {BOTTLENECK_FRONT_END, BOTTLENECK_BAD_SPECULATION, BOTTLENECK_RETIRING,
                                      BOTTLENECK_BACK_END};
    size_t fine = 0;
    for (size_t i = 0; i < BOTTLENECK_COARSE; i++)
        fine += catalog->bottlenecks[i].formula != NULL;
    for (size_t i = 0; i < N_OF(always); i++)
        if (catalog->level1.present != (catalog->bottlenecks[always[i]].formula != NULL))
            fail_msg("%s: %s", catalog->product.spec, bottleneck_table[always[i]].name);
    if (catalog->level1.present != (fine > 0))
        fail_msg("%s has %zu headings that are not coarse", catalog->product.spec, fine);
    assert_true((catalog_find_group(catalog, BOTTLENECK_GROUP) >= 0) == catalog->level1.present);
}

static void test_every_cpu_with_pipeline_slots_has_headings(void **state) {
    (void)state;
    shipped_for_every_cpu(check_headings);
}

// The four coarse headings of level 1 are the level-1 categories: where each is a quarter, so are they.
static void check_level1(struct catalog *catalog) {
    double *metrics = calloc(catalog->n_metrics, sizeof *metrics);
    assert_non_null(metrics);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        metrics[m] = 0.25 / catalog->metrics[m].export_scale;
    for (enum bottleneck i = BOTTLENECK_COARSE; i < BOTTLENECK_N; i++) {
        const struct formula *formula = catalog->bottlenecks[i].formula;
        bool divided = i == BOTTLENECK_MEMORY || i == BOTTLENECK_EXECUTION;
        double value = formula ? formula_evaluate_known(formula, NULL, metrics) : 0.25;
        if (divided ? !(value >= 0 && value <= 0.25) : fabs(value - 0.25) > 1e-12)
            fail_msg("%s: %s is %g", catalog->product.spec, bottleneck_table[i].name, value);
    }
    free(metrics);
}

static void test_coarse_headings_are_level_1(void **state) {
    (void)state;
    shipped_for_every_cpu(check_level1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_heading_is_its_formula_over_what_was_measured),
        cmocka_unit_test(test_a_metric_that_the_plan_lacks_is_worked_out_from_its_parts),
        cmocka_unit_test(test_what_is_not_measured_is_missing_and_says_what_it_lacks),
        cmocka_unit_test(test_before_the_first_round_everything_is_missing),
        cmocka_unit_test(test_a_coarse_heading_is_what_its_parts_leave),
        cmocka_unit_test(test_a_coarse_heading_goes_when_its_parts_tell_everything),
        cmocka_unit_test(test_parts_of_parts_are_taken_out_once),
        cmocka_unit_test(test_parts_that_are_more_than_their_whole_stand_for_it),
        cmocka_unit_test(test_an_interval_is_as_wide_as_if_all_inputs_erred_together),
        cmocka_unit_test(test_high_useful_work_that_vectors_do_is_done_well),
        cmocka_unit_test(test_a_heading_that_counts_events_or_stands_twice_is_refused),
        cmocka_unit_test(test_every_cpu_with_pipeline_slots_has_headings),
        cmocka_unit_test(test_coarse_headings_are_level_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
