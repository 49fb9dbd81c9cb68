// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/counts/operand_lanes.h"
#include "core/counts/operands.h"
#include "core/counts/sums.h"
#include "core/counts/totals.h"

// Two units with a common event, on two sockets: CPUs 0 and 1 are siblings of a core of socket 0, CPU 2 is on socket 1.
// Expected values are worked out in the comments.

enum { A_AND_B, B_AND_C, UNITS };
enum { HOST, SOCKET_0, SOCKET_1, CPU_0, CPU_1, CPU_2, SCOPES };
enum { A = 1, B, C };

struct rig {
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
    struct rows *rows;
    struct scopes *scopes;
    struct cells *cells;
    struct sums *sums;
};

static void rig_init(struct rig *rig, int last_socket) {
    static const char *const events[] = {"A", "B", "C"};
    struct catalog_builder *builder = builder_of(events, 3);
    metric_of(builder, "first", "A / B", "");
    metric_of(builder, "second", "C / B", "");
    metric_of(builder, "both", "first * second", "");
    group_of(builder, "all", "first second both");
    *rig = (struct rig){.catalog = catalog_builder_finish(builder)};
    const struct plan_selection all = {0, 1};
    const struct plan_request request = {
        .catalog = rig->catalog, .general_counters = 2, .selections = &all, .n_selections = 1, .slot_ns = 1000000000};
    const struct topology_source cpus[] = {{0, 0, 0, true}, {1, 0, 0, true}, {2, 1, last_socket, true}};
    assert_int_equal(plan_new(&request, &rig->plan), 0);
    assert_int_equal(rig->plan->n_units, UNITS);
    assert_int_equal(topology_new(cpus, N_OF(cpus), 0, &rig->topology), 0);
    rig->rows = rows_new(rig->plan);
    rig->scopes = scopes_new(rig->topology);
    assert_true(rig->rows && rig->scopes);
    rig->cells = cells_new(rig->rows, N_OF(cpus));
    rig->sums = sums_new(rig->rows, rig->scopes);
    assert_true(rig->cells && rig->sums);
}

static void rig_free(struct rig *rig) {
    sums_free(rig->sums);
    cells_free(rig->cells);
    scopes_free(rig->scopes);
    rows_free(rig->rows);
    topology_free(rig->topology);
    plan_free(rig->plan);
    catalog_free(rig->catalog);
}

static void test_a_row_has_seconds_and_counts_unit_by_unit(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1);
    assert_int_equal(rig.rows->n_values, 6); // seconds, A, B; seconds, B, C
    assert_int_equal(rows_first(rig.rows, B_AND_C), 3);
    assert_int_equal(rows_n(rig.rows, B_AND_C), 3);
    assert_int_equal(rows_place(rig.rows, A_AND_B, B), 2);
    assert_int_equal(rows_place(rig.rows, B_AND_C, B), 4);
    assert_int_equal(rows_place_in_unit(rig.rows, B_AND_C, C), 2);
    assert_int_equal(rows_place(rig.rows, B_AND_C, A), 0);
    assert_int_equal(rows_place(rig.rows, A_AND_B, CATALOG_CPU_SECONDS), 0);
    rig_free(&rig);
}

static void expect_cpus(const struct rig *rig, size_t scope, size_t n, const unsigned *cpus) {
    struct scope_cpus in = scopes_cpus(rig->scopes, scope);
    assert_int_equal(in.n, n);
    assert_memory_equal(in.cpus, cpus, n * sizeof *cpus);
}

static void test_a_scope_knows_its_cpus_and_a_cpu_its_scopes(void **state) {
    (void)state;
    static const unsigned all[] = {0, 1, 2};
    struct rig rig;
    rig_init(&rig, 1);
    assert_int_equal(rig.scopes->n, SCOPES);
    expect_cpus(&rig, HOST, 3, all);
    expect_cpus(&rig, SOCKET_0, 2, all);
    expect_cpus(&rig, SOCKET_1, 1, all + 2);
    expect_cpus(&rig, CPU_1, 1, all + 1);
    struct cpu_scopes of = scopes_of_cpu(rig.scopes, 2);
    assert_true(of.scope[0] == HOST && of.scope[1] == SOCKET_1 && of.scope[2] == CPU_2);
    assert_int_equal(scopes_n_cores(rig.scopes, HOST), 2);
    assert_int_equal(scopes_n_cores(rig.scopes, SOCKET_0), 1);
    assert_int_equal(scopes_n_cores(rig.scopes, CPU_2), 1);
    rig_free(&rig);
}

static void test_only_the_only_socket_is_the_host(void **state) {
    (void)state;
    struct rig one, two;
    rig_init(&one, 0);
    rig_init(&two, 1);
    assert_int_equal(scopes_own(one.scopes, 1), HOST);
    assert_int_equal(scopes_own(one.scopes, 2), 2); // CPU 0
    for (size_t scope = 0; scope < SCOPES; scope++)
        assert_int_equal(scopes_own(two.scopes, scope), scope);
    rig_free(&two);
    rig_free(&one);
}

// In rounds of 10 s CPU 0 has two windows of a second with 3 A each, CPU 2 one of 2 s with 5 A: 30 and 25.
static void test_sums_are_extrapolated_from_each_cpus_own_time(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1);
    for (int round = 0; round < 2; round++) { // the second finds nothing of the first
        for (size_t cpu = 0; cpu < 3; cpu++)
            cells_begin_round(rig.cells, cpu);
        assert_int_equal(cells_at(rig.cells, 1, A_AND_B)->trouble, UNCOVERED_FAILED);
        for (int i = 0; i < 2; i++) {
            cells_add_values(rig.cells, 0, A_AND_B, (const double[]){1, 3, 7});
            cells_note_window(rig.cells, 0, A_AND_B, 0.5);
        }
        cells_add_values(rig.cells, 2, A_AND_B, (const double[]){2, 5, 9});
        cells_note_window(rig.cells, 2, A_AND_B, 2);
        rig.cells->offline[1] = true;
        for (size_t cpu = 0; cpu < 3; cpu++)
            cells_end_round(rig.cells, cpu, 10);
        sums_begin(rig.sums);
        sums_take_batch(rig.sums, rig.cells, scope_batch(rig.topology, CPU_0), 10);
        sums_end(rig.sums);
        size_t place = rows_place(rig.rows, A_AND_B, A);
        static const double wanted[SCOPES] = {55, 30, 25, 30, 0, 25};
        for (size_t scope = 0; scope < SCOPES; scope++) {
            assert_true(
                sums_row(rig.sums, scope_batch(rig.topology, scope))[place].of[scope_lane(rig.topology, scope)] ==
                wanted[scope]);
            assert_int_equal(sums_at(rig.sums, scope, A_AND_B)->data, wanted[scope] > 0);
            assert_false(sums_at(rig.sums, scope, B_AND_C)->data);
        }
        const struct sums_cell *host = sums_at(rig.sums, HOST, A_AND_B);
        assert_true(host->running_seconds == 3 && host->windows == 3 && host->elapsed_seconds == 20);
    }
    rig_free(&rig);
}

static void test_a_gap_of_a_cell_outlasts_a_round(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 1);
    (void)span_advance(&cells_at(rig.cells, 1, B_AND_C)->span, 10, false, 100);
    cells_begin_round(rig.cells, 1);
    assert_true(cells_at(rig.cells, 1, B_AND_C)->span.pending_seconds == 10);
    rig_free(&rig);
}

// Fields 7 and 8, as a caller may number them.
static void test_what_a_cpu_adds_its_socket_and_the_host_have_too(void **state) {
    (void)state;
    static const double wanted[SCOPES] = {5, 3, 2, 0, 3, 2};
    struct rig rig;
    rig_init(&rig, 1);
    struct totals *totals = totals_new(rig.scopes, 7, 2), *next = totals_new(rig.scopes, 0, 4);
    assert_true(totals && next);
    totals_add(totals, 1, 8, 3);
    totals_add(totals, 2, 8, 2);
    totals_add(totals, 0, 7, 100);
    for (size_t scope = 0; scope < SCOPES; scope++) {
        double value, copied[2];
        totals_write(totals, scope, 8, 1, &value);
        assert_true(value == wanted[scope]);
        totals_copy(next, scope, 2, totals, scope, 7, 2);
        totals_write(next, scope, 2, 2, copied);
        assert_true(copied[0] == (scope == HOST || scope == SOCKET_0 || scope == CPU_0 ? 100 : 0));
        assert_true(copied[1] == wanted[scope]);
    }
    totals_free(next);
    totals_free(totals);
    rig_free(&rig);
}

static void test_an_evaluation_has_what_the_unit_of_the_formula_counted(void **state) {
    (void)state;
    static const double second[] = {2, 11, 22};
    struct rig rig;
    rig_init(&rig, 1);
    struct operands *operands = operands_new(rig.rows);
    assert_non_null(operands);
    assert_true(isnan(operands->metrics[0]));
    operands_begin(operands, 10, 0);
    operands_fill(operands, A_AND_B, second, 0.5);
    assert_true(operands->counts[A] == 5.5 && operands->counts[B] == 11 && operands_cpu_seconds(operands) == 1);
    operands_free(operands);
    rig_free(&rig);
}

// Rows of a batch of scopes: lane l has the values of `of`, plus 100 l.
static void fill_lanes(struct lanes *row, const double *of, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < LANES; l++)
            row[i].of[l] = of[i] + 100 * (double)l;
}

static void expect_lanes(const struct lanes *lanes, double first) {
    for (size_t l = 0; l < LANES; l++)
        assert_true(lanes->of[l] == first + 100 * (double)l);
}

static void test_lanes_have_what_the_unit_of_the_formula_counted(void **state) {
    (void)state;
    static const double first[] = {2, 10, 20, 3, 30, 40}, second[] = {2, 11, 22, 3, 33, 44};
    struct lanes row[N_OF(first)];
    struct rig rig;
    rig_init(&rig, 1);
    struct operand_lanes *operands = operand_lanes_new(rig.rows);
    assert_non_null(operands);
    const struct formula *formula = rig.catalog->metrics[rig.plan->metrics[0].metric].formula;
    assert_true(isnan(operands->metrics[0].of[0]) && isnan(operands->metrics[0].of[LANES - 1]));
    operand_lanes_begin(operands, 10, 0);
    fill_lanes(row, first, N_OF(first));
    operand_lanes_fill(operands, formula, A_AND_B, row);
    expect_lanes(&operands->counts[A], 10);
    expect_lanes(&operands->counts[B], 20);
    expect_lanes(&operands->counts[CATALOG_CPU_SECONDS], 2);
    operand_lanes_fill(operands, formula, B_AND_C, row);
    expect_lanes(&operands->counts[B], 30);
    expect_lanes(&operands->counts[C], 40);
    expect_lanes(&operands->counts[CATALOG_CPU_SECONDS], 3);
    operand_lanes_begin(operands, 10, 0); // of another batch: the same unit has other values
    fill_lanes(row, second, N_OF(second));
    operand_lanes_fill(operands, formula, B_AND_C, row);
    expect_lanes(&operands->counts[B], 33);
    expect_lanes(&operands->counts[C], 44);
    operand_lanes_free(operands);
    rig_free(&rig);
}

// A metric made of others reads only the time: that of the unit measured longest.
static void test_a_combined_formula_has_the_longest_time(void **state) {
    (void)state;
    static const double of[] = {2, 10, 20, 3, 30, 40};
    struct lanes row[N_OF(of)];
    struct rig rig;
    rig_init(&rig, 1);
    struct operand_lanes *operands = operand_lanes_new(rig.rows);
    assert_non_null(operands);
    unsigned seconds = CATALOG_CPU_SECONDS, none = A;
    const struct formula reads_time = {.variables = &seconds, .n_variables = 1};
    const struct formula reads_none = {.variables = &none, .n_variables = 0};
    fill_lanes(row, of, N_OF(of));
    operand_lanes_begin(operands, 10, 0);
    operand_lanes_fill(operands, &reads_none, PLAN_COMBINED, row);
    assert_true(operands->counts[CATALOG_CPU_SECONDS].of[0] == 0);
    operand_lanes_fill(operands, &reads_time, A_AND_B, row);
    operand_lanes_fill(operands, &reads_time, PLAN_COMBINED, row);
    expect_lanes(&operands->counts[CATALOG_CPU_SECONDS], 3);
    operand_lanes_fill(operands, &reads_time, A_AND_B, row);
    expect_lanes(&operands->counts[CATALOG_CPU_SECONDS], 2);
    operand_lanes_free(operands);
    rig_free(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_has_seconds_and_counts_unit_by_unit),
        cmocka_unit_test(test_a_scope_knows_its_cpus_and_a_cpu_its_scopes),
        cmocka_unit_test(test_only_the_only_socket_is_the_host),
        cmocka_unit_test(test_sums_are_extrapolated_from_each_cpus_own_time),
        cmocka_unit_test(test_a_gap_of_a_cell_outlasts_a_round),
        cmocka_unit_test(test_what_a_cpu_adds_its_socket_and_the_host_have_too),
        cmocka_unit_test(test_an_evaluation_has_what_the_unit_of_the_formula_counted),
        cmocka_unit_test(test_lanes_have_what_the_unit_of_the_formula_counted),
        cmocka_unit_test(test_a_combined_formula_has_the_longest_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
