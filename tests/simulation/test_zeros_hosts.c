// SPDX-License-Identifier: Apache-2.0
#include "core/tally/blind.h"
#include "tests/simulation/zeros_check.h"

// Zeros on single hosts: those that cost metrics and turned verdicts while an event that had not counted was not
// believed, and those that a filter or a dead event makes.

enum { VERDICT_MAX = 2048 };

static void run(struct pipeline *p) {
    pipeline_start(p, ZEROS_SLOT_NS, 1, NULL);
    pipeline_run(p, 2);
}

static enum absent absent_of(const struct pipeline *p, const char *export_name) {
    return (enum absent)p->snapshot->absent[snapshot_state(p->layout, 0, pipeline_metric(p, export_name))];
}

static void silence_all(struct pipeline *p, const char *const *events, double per_second) {
    for (size_t i = 0; events[i]; i++)
        set_rate(p, events[i], per_second);
}

// ---- hosts on which units are idle ----

static const char *const IDLE_UNITS[] = {"EXE.AMX_BUSY", // no AMX, no FP16
                                         "FP_ARITH_INST_RETIRED2.128B_PACKED_HALF",
                                         "FP_ARITH_INST_RETIRED2.256B_PACKED_HALF",
                                         "FP_ARITH_INST_RETIRED2.512B_PACKED_HALF",
                                         "FP_ARITH_INST_RETIRED2.COMPLEX_SCALAR_HALF",
                                         "FP_ARITH_INST_RETIRED2.SCALAR_HALF",
                                         "FP_ARITH_INST_RETIRED2.SCALAR",
                                         "FP_ARITH_INST_RETIRED2.VECTOR",
                                         "CPU_CLK_UNHALTED.C02", // no UMWAIT, no memory bandwidth allocation
                                         "CPU_CLK_UNHALTED.C0_WAIT",
                                         "INT_MISC.MBA_STALLS",
                                         "DTLB_LOAD_MISSES.WALK_COMPLETED_1G", // no pages of 1 GiB
                                         "DTLB_STORE_MISSES.WALK_COMPLETED_1G",
                                         "MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM", // one socket
                                         "MEM_LOAD_L3_MISS_RETIRED.REMOTE_FWD",
                                         "MEM_LOAD_L3_MISS_RETIRED.REMOTE_HITM",
                                         "OCR.DEMAND_RFO.REMOTE_HITM",
                                         NULL};

static size_t count_lost(const struct pipeline *p) {
    size_t n = 0;
    for (size_t m = 0; m < p->plan->n_metrics; m++)
        n += p->plan->metrics[m].unit != PLAN_NOT_PLANNABLE &&
             isnan(p->snapshot->values[snapshot_metric(p->layout, 0, m)]);
    return n;
}

// It lost 40 of 267 metrics, 6 of 12 bottlenecks among them.
static void test_a_sapphire_rapids_with_idle_units_loses_no_metric(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "sapphire-rapids", 20260101);
    silence_all(&p, IDLE_UNITS, 0);
    run(&p);
    assert_true(p.plan->n_metrics >= 260);
    assert_int_equal(count_lost(&p), 1); // instructions for each operation of FP16, of which there is none
    assert_int_equal(absent_of(&p, "tma_info_inst_mix_iparith_scalar_hp"), ABSENT_UNDEFINED);
    assert_true(pipeline_uncovered(&p, UNCOVERED_STALLED) == 0);
    pipeline_stop(&p);
}

static const char *const PAUSES[] = {"CPU_CLK_UNHALTED.C02", NULL}, *const SNOOPS[] = {
                                                                        "MEM_LOAD_L3_HIT_RETIRED.XSNP_MISS", NULL};

static void bound_with(const char *spec, const char *const *events, double per_second, const char *metric,
                       char verdict[VERDICT_MAX]) {
    struct pipeline p;
    pipeline_load_spec(&p, spec, 20260101);
    silence_all(&p, events, per_second);
    run(&p);
    assert_int_equal(absent_of(&p, metric), ABSENT_NOT);
    tell_bound(&p, verdict, VERDICT_MAX);
    pipeline_stop(&p);
}

// A loop of PAUSE never waits in C0.2, and shared lines need not miss a snoop: what is added to such a 0 keeps its
// value.
static void test_a_part_that_never_happens_leaves_its_sum_and_the_verdict(void **state) {
    (void)state;
    char zero[VERDICT_MAX], tiny[VERDICT_MAX];
    bound_with("sapphire-rapids", PAUSES, 0, "tma_serializing_operation_clocks_ratio", zero);
    bound_with("sapphire-rapids", PAUSES, ONE_A_WINDOW, "tma_serializing_operation_clocks_ratio", tiny);
    assert_string_equal(zero, tiny);
    bound_with("cascade-lake", SNOOPS, 0, "tma_contested_accesses_clocks_ratio", zero);
    bound_with("cascade-lake", SNOOPS, ONE_A_WINDOW, "tma_contested_accesses_clocks_ratio", tiny);
    assert_string_equal(zero, tiny);
}

static void check_metric(const char *spec, const char *const *events, const char *metric) {
    struct pipeline p;
    pipeline_load_spec(&p, spec, 20260101);
    silence_all(&p, events, 0);
    run(&p);
    assert_int_equal(absent_of(&p, metric), ABSENT_NOT);
    assert_true(is_true(&p, pipeline_metric(&p, metric)));
    for (size_t e = 0; e < p.layout->n_events; e++)
        for (int t = 0; t < EVENT_TROUBLE_N; t++)
            assert_true(isnan(p.snapshot->values[snapshot_trouble(p.layout, e, (enum event_trouble)t)]) ||
                        t == EVENT_UNSUPPORTED);
    pipeline_stop(&p);
}

static void test_one_core_complex_and_cores_without_sve_keep_their_metrics(void **state) {
    (void)state;
    static const char *const remote[] = {"ls_any_fills_from_sys.remote_cache", NULL}, *const sve[] = {
                                                                                          "FP_SCALE_OPS_SPEC", NULL};
    check_metric("zen4", remote, "ll_cache_mpki");
    check_metric("neoverse-v2", sve, "fp_ops_per_cycle");
}

// ---- a filter ----

// KVM's filter lets a guest open an event that then counts 0 for ever.
static void filter(struct pipeline *p, const char *event) {
    p->scenario->filtered = calloc(1, sizeof *p->scenario->filtered);
    assert_non_null(p->scenario->filtered);
    p->scenario->filtered[p->scenario->n_filtered++] = strdup(event);
}

static enum event_trouble state_of(const struct pipeline *p, const char *event) {
    size_t e = 0;
    while (p->layout->events[e] != (unsigned)catalog_find_event(p->catalog, event))
        e++;
    int t = 0;
    while (t < EVENT_TROUBLE_N && !(p->snapshot->values[snapshot_trouble(p->layout, e, (enum event_trouble)t)] == 1))
        t++;
    return (enum event_trouble)t;
}

static void test_behind_a_filter_no_zero_is_believed_and_the_reason_is_the_filter(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "neoverse-v2", 20260101);
    filter(&p, "L1D_CACHE");
    set_rate(&p, "FP_SCALE_OPS_SPEC", 0); // a true zero, that nobody can tell from a filtered one
    run(&p);
    assert_int_equal(absent_of(&p, "l1d_cache_miss_ratio"), ABSENT_STALLED);
    assert_int_equal(absent_of(&p, "fp_ops_per_cycle"), ABSENT_FILTERED);
    assert_int_equal(absent_of(&p, "ipc"), ABSENT_NOT);
    assert_int_equal(state_of(&p, "L1D_CACHE"), EVENT_STALLED);
    assert_int_equal(state_of(&p, "FP_SCALE_OPS_SPEC"), EVENT_FILTERED);
    assert_int_equal(state_of(&p, "INST_RETIRED"), EVENT_TROUBLE_N);
    assert_true(pipeline_uncovered(&p, UNCOVERED_STALLED) > 0);
    pipeline_stop(&p);
}

// A ratio of which nothing counted is a division by zero, unless what it divides by must count: then nobody knows what
// happened, and what must count is named.
static void test_a_share_of_what_must_count_and_does_not_is_no_division_by_zero(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "neoverse-v2", 20260101);
    filter(&p, "BR_RETIRED");
    set_rate(&p, "BR_MIS_PRED_RETIRED", 0);
    set_rate(&p, "L1D_CACHE_REFILL", 0);
    set_rate(&p, "L2D_CACHE", 0); // of which a share is asked, too
    set_rate(&p, "L2D_CACHE_REFILL", 0);
    run(&p);
    assert_int_equal(absent_of(&p, "branch_miss_ratio"), ABSENT_STALLED);
    assert_int_equal(absent_of(&p, "branch_mpki"), ABSENT_FILTERED);
    assert_int_equal(absent_of(&p, "l2_cache_miss_ratio"), ABSENT_UNDEFINED); // it need not count
    assert_int_equal(state_of(&p, "BR_RETIRED"), EVENT_STALLED);
    assert_int_equal(state_of(&p, "BR_MIS_PRED_RETIRED"), EVENT_FILTERED);
    pipeline_stop(&p);
}

// All windows are complete, and none of their counts is believed: blind. One count that is believed ends it.
static void test_where_all_is_filtered_nothing_is_counted(void **state) {
    (void)state;
    struct pipeline p;
    struct blind blind = {.ever = false};
    pipeline_load_spec(&p, "neoverse-v2", 20260101);
    run(&p);
    const struct readings *readings = sampler_readings(p.sampler);
    blind_interval(&blind, p.layout->plan, readings, p.snapshot);
    assert_true(blind.pmu_up && blind.ever && blind.intervals == 0);
    for (size_t m = 0; m < p.layout->n_metrics; m++) {
        uint8_t *absent = &p.snapshot->absent[snapshot_state(p.layout, 0, m)];
        *absent = m % 2 ? ABSENT_FILTERED : ABSENT_UNDEFINED;
    }
    for (unsigned i = 1; i <= BLIND_INTERVALS; i++) {
        blind_interval(&blind, p.layout->plan, readings, p.snapshot);
        assert_true(!blind.pmu_up && blind.intervals == i && blind_is(&blind, true) == (i == BLIND_INTERVALS));
    }
    assert_false(blind_is(&blind, false));
    blind_interval(&blind, p.layout->plan, readings, NULL); // a replay believes
    assert_false(blind_is(&blind, true));
    pipeline_stop(&p);
}

// What need not count is no evidence: nobody can tell, and a 0 is a 0.
static void test_an_event_that_need_not_count_is_no_evidence_of_a_filter(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "neoverse-v2", 20260101);
    filter(&p, "FP_FIXED_OPS_SPEC");
    set_rate(&p, "FP_SCALE_OPS_SPEC", 0);
    run(&p);
    assert_true(pipeline_gauge(&p, 0, "fp_ops_per_cycle") == 0);
    assert_true(pipeline_uncovered(&p, UNCOVERED_STALLED) == 0);
    pipeline_stop(&p);
}

// On Graviton 3 LL_CACHE_MISS_RD never counts. The spec has other definitions for that, so nothing is filtered.
static void test_an_event_that_another_definition_replaces_is_no_evidence_of_a_filter(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "neoverse-v1", 20260101);
    set_rate(&p, "LL_CACHE_MISS_RD", 0);
    set_rate(&p, "ASE_SPEC", 0);
    run(&p);
    assert_int_equal(absent_of(&p, "ll_cache_mpki"), ABSENT_STALLED); // until the next plan, which another test makes
    assert_true(pipeline_gauge(&p, 0, "simd_ratio") == 0);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sapphire_rapids_with_idle_units_loses_no_metric),
        cmocka_unit_test(test_a_part_that_never_happens_leaves_its_sum_and_the_verdict),
        cmocka_unit_test(test_one_core_complex_and_cores_without_sve_keep_their_metrics),
        cmocka_unit_test(test_behind_a_filter_no_zero_is_believed_and_the_reason_is_the_filter),
        cmocka_unit_test(test_a_share_of_what_must_count_and_does_not_is_no_division_by_zero),
        cmocka_unit_test(test_where_all_is_filtered_nothing_is_counted),
        cmocka_unit_test(test_an_event_that_need_not_count_is_no_evidence_of_a_filter),
        cmocka_unit_test(test_an_event_that_another_definition_replaces_is_no_evidence_of_a_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
