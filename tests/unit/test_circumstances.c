// SPDX-License-Identifier: Apache-2.0
//
// What is beside the verdict on a host, and what a bottleneck comes from: values of shipped CPUs are put into a
// snapshot, and the answer is what follows from docs/measurement.md.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/diagnosis/around.h"
#include "core/diagnosis/cause.h"
#include "patient.h"

// ---- causes ----

// 60 % of cycles are stalled; misses a thousand instructions, at one instruction a cycle.
static const struct verdict_cause *stalled(struct patient *p, double l1, double l2, double ll, double walks) {
    set(p, "backend_stalled_clocks_ratio", 0.6);
    set(p, "frontend_stalled_clocks_ratio", 0.05);
    set(p, "ipc", 1);
    set(p, "l1d_cache_mpki", l1);
    set(p, "l2_cache_mpki", l2);
    set(p, "ll_cache_mpki", ll);
    set(p, "dtlb_mpki", walks);
    return &judge(p)->cause;
}

static void test_misses_say_what_a_core_without_level_2_waits_for(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/neoverse-n1.json");
    assert_int_equal(stalled(&p, 30, 20, 0.01, 0.1)->kind, CAUSE_LAST_LEVEL);
    assert_int_equal(stalled(&p, 10, 8, 7, 0.1)->kind, CAUSE_MEMORY);
    assert_int_equal(stalled(&p, 60, 0.2, 0.1, 0.1)->kind, CAUSE_SECOND_LEVEL);
    assert_int_equal(stalled(&p, 10, 0.2, 0.1, 20)->kind, CAUSE_TRANSLATION);
    end(&p);
}

// A chain of divisions misses nothing: what misses explain at most is known, and the rest is execution.
static void test_too_few_misses_are_execution_by_at_least_what_they_leave(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/neoverse-n1.json");
    const struct verdict_cause *cause = stalled(&p, 2, 1, 0.1, 0.1);
    double most = (1 * CAUSE_CYCLES_SECOND_LEVEL + 0.9 * CAUSE_CYCLES_LAST_LEVEL + 0.1 * CAUSE_CYCLES_MEMORY +
                   0.1 * CAUSE_CYCLES_WALK) /
                  1000;
    assert_int_equal(cause->kind, CAUSE_EXECUTION);
    assert_true(fabs(cause->share - (0.6 - most)) < 1e-9);
    end(&p);
}

static void test_levels_that_explain_as_much_are_not_told_apart(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/neoverse-n1.json");
    assert_int_equal(stalled(&p, 25, 5, 1, 3)->kind, CAUSE_OPEN);
    set(&p, "ll_cache_mpki", NAN);
    assert_int_equal(judge(&p)->cause.kind, CAUSE_NONE);
    end(&p);
}

// Neoverse V2: four fifths of the slots wait in the back end; misses a thousand instructions, at one instruction a
// cycle.
static const struct verdict *waiting(struct patient *p, double memory, double l2, double ll) {
    set(p, "frontend_bound_ratio", 0.05);
    set(p, "bad_speculation_ratio", 0.02);
    set(p, "retiring_ratio", 0.13);
    set(p, "backend_bound_ratio", 0.8);
    set(p, "backend_mem_stalled_ratio", memory);
    set(p, "ipc", 1);
    set(p, "l1d_cache_mpki", l2 + 1);
    set(p, "l2_cache_mpki", l2);
    set(p, "ll_cache_mpki", ll);
    set(p, "dtlb_mpki", 0.1);
    return judge(p);
}

static const char *last_of(const struct patient *p, const struct verdict *verdict) {
    return p->catalog->metrics[verdict->path[verdict->n - 1]].export_name;
}

// What is certain is a node of the tree; a miss that is open says nothing of the rest, which misses explain or do not.
static void test_the_certain_wait_for_memory_is_a_node_and_leaves_the_rest_open(void **state) {
    (void)state;
    static const char *const specs[] = {"specs/neoverse-n2.json", "specs/neoverse-n2-r0p3.json",
                                        "specs/neoverse-v1.json", "specs/neoverse-v2.json"};
    for (size_t i = 0; i < N_OF(specs); i++) {
        struct patient p;
        begin(&p, specs[i]);
        const struct verdict *verdict = waiting(&p, 0.6, 8, 7); // a chain of pointers in DRAM
        assert_string_equal(last_of(&p, verdict), "backend_mem_stalled_ratio");
        assert_int_equal(verdict->cause.kind, CAUSE_MEMORY);
        verdict = waiting(&p, 0.6, 20, 0.01); // in the shared cache
        assert_string_equal(last_of(&p, verdict), "backend_mem_stalled_ratio");
        assert_int_equal(verdict->cause.kind, CAUSE_LAST_LEVEL);
        verdict = waiting(&p, 0.02, 0.2, 0.1); // a chain of divisions
        assert_string_equal(last_of(&p, verdict), "backend_bound_ratio");
        assert_int_equal(verdict->cause.kind, CAUSE_EXECUTION);
        verdict = waiting(&p, NAN, 8, 7); // the CPU lacks the event
        assert_string_equal(last_of(&p, verdict), "backend_bound_ratio");
        assert_int_equal(verdict->cause.kind, CAUSE_MEMORY);
        end(&p);
    }
}

static void test_a_full_queue_explains_what_the_tree_calls_execution(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/zen4.json");
    set(&p, "frontend_bound_ratio", 0.02);
    set(&p, "bad_speculation_ratio", 0.01);
    set(&p, "retiring_ratio", 0.2);
    set(&p, "backend_bound_ratio", 0.77);
    set(&p, "backend_bound_cpu_ratio", 0.7);
    set(&p, "backend_bound_memory_ratio", 0.07);
    set(&p, "store_queue_stalled_clocks_ratio", 0.7);
    set(&p, "load_queue_stalled_clocks_ratio", 0.05);
    set(&p, "frontend_stalled_clocks_ratio", 0.9); // of another root
    const struct verdict *verdict = judge(&p);
    assert_int_equal(verdict->cause.kind, CAUSE_METRIC);
    assert_string_equal(p.catalog->metrics[verdict->cause.metric].export_name, "store_queue_stalled_clocks_ratio");
    set(&p, "store_queue_stalled_clocks_ratio", 0.2); // less than half of it
    assert_int_equal(judge(&p)->cause.kind, CAUSE_NONE);
    end(&p);
}

// ---- useful work ----

static void test_vectorised_work_is_done_well_and_stands_before_loads(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/sapphire-rapids.json");
    set(&p, "frontend_bound_ratio", 0.02);
    set(&p, "bad_speculation_ratio", 0.01);
    set(&p, "backend_bound_ratio", 0.15);
    set(&p, "retiring_ratio", 0.82);
    set(&p, "tma_light_operations_ratio", 0.8);
    set(&p, "tma_memory_operations_ratio", 0.3); // of slots, as is 0.39 x 0.82
    set(&p, "tma_fp_arith_ratio", 0.39);
    set(&p, "tma_fp_vector_ratio", 0.38);
    const struct verdict *verdict = judge(&p);
    assert_true(verdict->well);
    assert_string_equal(p.catalog->metrics[verdict->path[verdict->n - 1]].export_name, "tma_fp_vector_ratio");
    set(&p, "tma_fp_arith_ratio", 0.33); // 27 % of slots: loads and stores are more
    verdict = judge(&p);
    assert_false(verdict->well);
    assert_string_equal(p.catalog->metrics[verdict->path[verdict->n - 1]].export_name, "tma_memory_operations_ratio");
    end(&p);
}

// ---- how busy, how fast ----

static void test_a_host_is_idle_only_if_no_cpu_is_busy(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/sapphire-rapids.json");
    set_healthy(&p);
    set(&p, "utilization_ratio", 0.03);
    (void)judge(&p);
    assert_true(p.snapshot->circumstances.idle);
    set_cpu(&p, 7, "utilization_ratio", 0.99); // one program that cannot use more
    (void)judge(&p);
    assert_false(p.snapshot->circumstances.idle);
    set(&p, "utilization_ratio", NAN); // not known is not idle
    (void)judge(&p);
    assert_false(p.snapshot->circumstances.idle);
    end(&p);
}

// Of 16 CPUs, CPU 0 is busy for the given part of 10 s, the others for 0.2 s.
static void pass(struct patient *p, struct around *around, struct tree *tree, double busy) {
    double *of_host = &p->snapshot->values[snapshot_busy(p->layout, 0)];
    *of_host = (isnan(*of_host) ? 0 : *of_host) + 10 * busy + (CPUS - 1) * 0.2;
    p->snapshot->end_ns += 10000000000;
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        double *total = &p->snapshot->values[snapshot_busy(p->layout, snapshot_scope_cpu(p->layout, cpu))];
        *total = (isnan(*total) ? 0 : *total) + (cpu == 0 ? 10 * busy : 0.2);
    }
    tree_evaluate(tree, p->snapshot, 0);
    around_fill(around, tree, p->snapshot, true);
}

static void test_where_no_metric_tells_how_busy_cpus_are_the_kernel_does(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/neoverse-n1.json");
    assert_int_equal(snapshot_layout_place(p.layout, CATALOG_UTILIZATION), -1);
    struct tree *tree = tree_new(p.layout);
    struct around *around = around_new(p.layout, false);
    assert_non_null(tree);
    assert_non_null(around);
    const struct circumstances *is = &p.snapshot->circumstances;
    p.snapshot->end_ns = 1;
    pass(&p, around, tree, 0.02); // from what time on is not known
    pass(&p, around, tree, 0.02);
    assert_true(is->kernels && is->idle && fabs(is->utilisation - 0.02) < 1e-9 && fabs(is->busiest - 0.02) < 1e-9);
    pass(&p, around, tree, 0.7);
    assert_true(is->kernels && !is->idle && fabs(is->utilisation - (0.7 + 15 * 0.02) / 16) < 1e-9);
    assert_true(fabs(is->busiest - 0.7) < 1e-9);
    pass(&p, around, tree, 1.001); // steps of 10 ms
    assert_true(is->busiest == 1);
    p.snapshot->end_ns += 5000000000; // nobody has looked since
    around_fill(around, tree, p.snapshot, true);
    assert_true(is->busiest == 1 && is->kernels);
    p.snapshot->end_ns -= 5000000000;
    struct around *next = around_new(p.layout, false); // another plan
    assert_non_null(next);
    around_continue(next, around);
    pass(&p, next, tree, 0.02);
    assert_true(is->kernels && is->idle && fabs(is->utilisation - 0.02) < 1e-9);
    p.snapshot->values[snapshot_offline(p.layout, 0)] = 4; // their times stand still
    for (size_t cpu = 1; cpu <= 4; cpu++)
        p.snapshot->values[snapshot_busy(p.layout, snapshot_scope_cpu(p.layout, cpu))] -= 0.2;
    pass(&p, next, tree, 0.02);
    assert_true(fabs(is->utilisation - 12 * 0.02 / 12) < 1e-9);
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        p.snapshot->values[snapshot_busy(p.layout, snapshot_scope_cpu(p.layout, cpu))] = NAN;
    p.snapshot->values[snapshot_busy(p.layout, 0)] = NAN;
    p.snapshot->end_ns += 1000000000;
    around_fill(next, tree, p.snapshot, true);
    assert_true(isnan(is->utilisation) && !is->kernels && !is->idle);
    around_free(next);
    around_free(around);
    tree_free(tree);
    end(&p);
}

static void test_what_the_pmu_counts_comes_before_what_the_kernel_saw(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/sapphire-rapids.json");
    set_healthy(&p);
    p.snapshot->start_ns = 1000000000;
    p.snapshot->end_ns = 11000000000;
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        p.snapshot->values[snapshot_busy(p.layout, snapshot_scope_cpu(p.layout, cpu))] = 1;
    (void)judge(&p);
    assert_true(p.snapshot->circumstances.utilisation == 0.6 && !p.snapshot->circumstances.kernels);
    set(&p, "utilization_ratio", NAN); // its event group got no counters
    (void)judge(&p);
    assert_true(fabs(p.snapshot->circumstances.utilisation - 0.1) < 1e-9 && p.snapshot->circumstances.kernels);
    end(&p);
}

// Around a limit a host does not change with each round.
static void test_a_host_that_was_idle_or_slow_stays_so_a_little_beyond_the_limit(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/sapphire-rapids.json");
    struct tree *tree = tree_new(p.layout);
    struct around *around = around_new(p.layout, false);
    assert_non_null(tree);
    assert_non_null(around);
    p.catalog->environment.literals[LITERAL_SYSTEM_TSC_FREQ] = 2.5e9; // less than 2 GHz is slow
    set_healthy(&p);
    const struct {
        double busy, hertz;
        bool idle, slow;
    } rounds[] = {{0.105, 3e9, false, false}, {0.095, 3e9, true, false},  {0.105, 3e9, true, false},
                  {0.12, 3e9, false, false},  {0.9, 2.1e9, false, false}, {0.9, 1.9e9, false, true},
                  {0.9, 2.1e9, false, true},  {0.9, 2.3e9, false, false}};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        set(&p, "utilization_ratio", rounds[i].busy);
        set(&p, "frequency_hertz", rounds[i].hertz);
        tree_evaluate(tree, p.snapshot, 0);
        around_fill(around, tree, p.snapshot, !p.snapshot->within_round);
        assert_int_equal(p.snapshot->circumstances.idle, rounds[i].idle);
        assert_int_equal(p.snapshot->circumstances.slow, rounds[i].slow);
    }
    around_free(around);
    tree_free(tree);
    end(&p);
}

static void test_a_clock_is_slow_only_where_cpus_are_busy(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/sapphire-rapids.json");
    set_healthy(&p);
    p.catalog->environment.literals[LITERAL_SYSTEM_TSC_FREQ] = NAN;
    set(&p, "utilization_ratio", 0.9);
    set(&p, "frequency_hertz", 0.8e9);
    (void)judge(&p);
    assert_true(fabs(p.snapshot->circumstances.limit_hertz - 0.4 * 3.9e9) < 1);
    assert_true(p.snapshot->circumstances.slow);
    p.catalog->environment.literals[LITERAL_SYSTEM_TSC_FREQ] = 2.5e9; // on x86 the nominal frequency
    set(&p, "frequency_hertz", 1.9e9);
    (void)judge(&p);
    assert_true(p.snapshot->circumstances.slow);
    set(&p, "frequency_hertz", 2.1e9);
    (void)judge(&p);
    assert_false(p.snapshot->circumstances.slow);
    set(&p, "frequency_hertz", 0.8e9);
    set(&p, "utilization_ratio", 0.2); // the governor saves energy
    (void)judge(&p);
    assert_false(p.snapshot->circumstances.slow);
    end(&p);
}

static void test_full_load_is_100_per_cent(void **state) {
    (void)state;
    struct patient p;
    struct text text = {0};
    begin(&p, "specs/sapphire-rapids.json");
    set_healthy(&p);
    set(&p, "utilization_ratio", 0.998);
    set(&p, "frequency_hertz", 0.8e9);
    (void)judge(&p);
    view_circumstances_before(p.snapshot, &text);
    text_append(&text, "", 1);
    assert_non_null(strstr(text.data, "the CPUs are 100 % busy and run at 0.80 GHz of at most 3.90 GHz"));
    text_free(&text);
    end(&p);
}

// "For 40 s: X" stands only before a verdict that is X, and a single CPU has its own slots.
static void test_words_before_a_verdict_fit_the_verdict(void **state) {
    (void)state;
    struct patient p;
    begin(&p, "specs/sapphire-rapids.json");
    int backend = catalog_find_metric(p.catalog, "tma_backend_bound");
    set_healthy(&p);
    set_cpu(&p, 4, "backend_bound_ratio", 0.8);
    (void)judge(&p);
    assert_before(&p,
                  "CPU 4 of socket 0: Back-end bound, 80 % of its pipeline slots (18 % in the median CPU); the rest is "
                  "fine. All CPUs together: ");
    set_healthy(&p);
    (void)judge(&p);
    p.snapshot->circumstances.phases = (struct verdict_phases){
        .usual = backend, .now = VERDICT_NOTHING_HIGH, .usual_share = 0.8, .seconds = 600, .now_seconds = 40};
    assert_before(&p, "Mostly Back-end bound (80 % of the last 10 minutes); for 40 s: ");
    set(&p, "backend_bound_ratio", 0.5); // by less than what ends the spell
    (void)judge(&p);
    assert_before(&p, "");
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misses_say_what_a_core_without_level_2_waits_for),
        cmocka_unit_test(test_too_few_misses_are_execution_by_at_least_what_they_leave),
        cmocka_unit_test(test_levels_that_explain_as_much_are_not_told_apart),
        cmocka_unit_test(test_the_certain_wait_for_memory_is_a_node_and_leaves_the_rest_open),
        cmocka_unit_test(test_a_full_queue_explains_what_the_tree_calls_execution),
        cmocka_unit_test(test_vectorised_work_is_done_well_and_stands_before_loads),
        cmocka_unit_test(test_full_load_is_100_per_cent),
        cmocka_unit_test(test_words_before_a_verdict_fit_the_verdict),
        cmocka_unit_test(test_a_host_is_idle_only_if_no_cpu_is_busy),
        cmocka_unit_test(test_where_no_metric_tells_how_busy_cpus_are_the_kernel_does),
        cmocka_unit_test(test_what_the_pmu_counts_comes_before_what_the_kernel_saw),
        cmocka_unit_test(test_a_host_that_was_idle_or_slow_stays_so_a_little_beyond_the_limit),
        cmocka_unit_test(test_a_clock_is_slow_only_where_cpus_are_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
