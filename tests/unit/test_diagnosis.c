// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/diagnosis/diagnosis.h"
#include "core/diagnosis/judge.h"
#include "tree_host.h"

// High nodes and their certainty; lasting nodes; and the time since which a scope has its bottleneck.

static const uint64_t ROUND_NS = 2000000000;

struct patient {
    struct exporter_host host;
    struct diagnosis *diagnosis;
    struct snapshot *snapshot;
    uint64_t now_ns;
};

static void begin_with(struct patient *p, struct catalog *catalog) {
    *p = (struct patient){.now_ns = 1000000000000};
    host_init_with(&p->host, catalog, 4);
    p->snapshot = tree_snapshot(&p->host);
    p->diagnosis = diagnosis_new(p->host.layout);
    assert_non_null(p->diagnosis);
}

static void begin(struct patient *p) { begin_with(p, catalog_builder_finish(tree_builder())); }

static void end(struct patient *p) {
    diagnosis_free(p->diagnosis);
    snapshot_unref(p->snapshot);
    host_deinit(&p->host);
}

// A round with these values; its time since the epoch is its end in seconds.
static void one_round(struct patient *p) {
    p->snapshot->start_ns = p->now_ns;
    p->snapshot->end_ns = p->now_ns += ROUND_NS;
    p->snapshot->taken_seconds = (double)p->now_ns * 1e-9;
    diagnosis_round(p->diagnosis, p->snapshot);
}

static double since(const struct patient *p, size_t scope) { return p->snapshot->verdicts[scope].now.since.seconds; }

static double now(const struct patient *p) { return (double)p->now_ns * 1e-9; }

// The host's level-1 categories except bad_speculation, which stays at 2 %.
static void set_shares(struct patient *p, double frontend, double retiring, double backend) {
    tree_set(&p->host, p->snapshot, 0, "frontend_bound", frontend);
    tree_set(&p->host, p->snapshot, 0, "retiring", retiring);
    tree_set(&p->host, p->snapshot, 0, "backend_bound", backend);
}

static void set_frontend(struct patient *p) { set_shares(p, 0.5, 0.4, 0.1); }
static void set_backend(struct patient *p) { set_shares(p, 0.1, 0.4, 0.5); }

static void set_nothing(struct patient *p) {
    set_shares(p, NAN, NAN, NAN);
    tree_set(&p->host, p->snapshot, 0, "bad_speculation", NAN);
}

// ---- siblings that overlap ----

// Under a high back end, core_bound counts all that memory_bound counts. Both have thresholds.
static struct catalog *overlapping(void) {
    struct catalog_builder *builder = tree_builder();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    unsigned whole = (unsigned)catalog_find_metric(catalog, "core_bound");
    assert_int_equal(catalog_builder_set_threshold(builder, whole, "core_bound > 0.05", &error), 0);
    assert_int_equal(catalog_builder_set_included(builder, (unsigned)catalog_find_metric(catalog, "memory_bound"),
                                                  "core_bound", &error),
                     0);
    return catalog_builder_finish(builder);
}

// The second node of the path.
static const char *below_back_end(struct patient *p, double whole, double part) {
    set_backend(p);
    tree_set(&p->host, p->snapshot, 0, "core_bound", whole);
    tree_set(&p->host, p->snapshot, 0, "memory_bound", part);
    one_round(p);
    const struct verdict *verdict = &p->snapshot->verdicts[0].now;
    assert_true(verdict->n >= 2);
    return p->host.catalog->metrics[verdict->path[1]].name;
}

static void test_what_a_sibling_includes_is_told_if_it_is_most_of_it(void **state) {
    (void)state;
    struct patient p;
    begin_with(&p, overlapping());
    assert_string_equal(below_back_end(&p, 0.45, 0.25), "memory_bound"); // leaves 0.2
    assert_string_equal(below_back_end(&p, 0.45, 0.44), "memory_bound");
    assert_string_equal(below_back_end(&p, 0.3, 0.31), "memory_bound"); // noise: it leaves nothing
    assert_string_equal(below_back_end(&p, 0.49, 0.24), "core_bound");  // leaves 0.25
    end(&p);
}

// Below its threshold of 0.2 it is not worth a look, so the whole answers for it, as it does without a value.
static void test_what_is_not_worth_a_look_remains_a_part_of_the_sibling(void **state) {
    (void)state;
    struct patient p;
    begin_with(&p, overlapping());
    assert_string_equal(below_back_end(&p, 0.25, 0.19), "core_bound");
    assert_string_equal(below_back_end(&p, 0.25, NAN), "core_bound");
    end(&p);
}

static void test_siblings_that_do_not_overlap_are_compared_as_they_are(void **state) {
    (void)state;
    struct patient p;
    struct catalog_builder *builder = tree_builder();
    struct fault error;
    int whole = catalog_find_metric(catalog_builder_catalog(builder), "core_bound");
    assert_int_equal(catalog_builder_set_threshold(builder, (unsigned)whole, "core_bound > 0.05", &error), 0);
    begin_with(&p, catalog_builder_finish(builder));
    assert_string_equal(below_back_end(&p, 0.45, 0.44), "core_bound");
    assert_string_equal(below_back_end(&p, 0.43, 0.44), "memory_bound");
    end(&p);
}

// ---- high, and how certain ----

static unsigned metric_named(const struct catalog *catalog, const char *name) {
    int metric = catalog_find_metric(catalog, name);
    assert_true(metric >= 0);
    return (unsigned)metric;
}

static void expect_high(const struct exporter_host *host, const struct snapshot *snapshot, const char *name,
                        enum judge_answer high, enum judge_answer certain) {
    struct judge *judge = judge_new(host->catalog);
    assert_non_null(judge);
    judge_take(judge, snapshot, 0);
    if (judge_high(judge, metric_named(host->catalog, name)) != high)
        fail_msg("%s: judged otherwise", name);
    if (judge_certain(judge, metric_named(host->catalog, name)) != certain)
        fail_msg("%s: otherwise certain", name);
    judge_free(judge);
}

static void test_a_root_without_a_threshold_is_judged_by_its_share(void **state) {
    (void)state;
    struct exporter_host host;
    host_init(&host);
    struct snapshot *snapshot = host_snapshot(&host);
    tree_set(&host, snapshot, 0, "frontend_bound", 0.2);
    expect_high(&host, snapshot, "frontend_bound", JUDGE_NO, JUDGE_UNKNOWN);
    tree_set(&host, snapshot, 0, "frontend_bound", 0.201);
    expect_high(&host, snapshot, "frontend_bound", JUDGE_YES, JUDGE_UNKNOWN);
    tree_set(&host, snapshot, 0, "retiring", 0.7);
    expect_high(&host, snapshot, "retiring", JUDGE_NO, JUDGE_UNKNOWN);
    tree_set(&host, snapshot, 0, "retiring", 0.701);
    expect_high(&host, snapshot, "retiring", JUDGE_YES, JUDGE_UNKNOWN);
    tree_set(&host, snapshot, 0, "retiring", NAN);
    expect_high(&host, snapshot, "retiring", JUDGE_UNKNOWN, JUDGE_UNKNOWN);
    expect_high(&host, snapshot, "ipc", JUDGE_UNKNOWN, JUDGE_UNKNOWN); // nothing judges it
    snapshot_unref(snapshot);
    host_deinit(&host);
}

static void test_a_share_with_metrics_below_it_is_a_root(void **state) {
    (void)state;
    struct exporter_host host;
    struct catalog_builder *builder = host_builder();
    const struct catalog *so_far = catalog_builder_catalog(builder);
    struct fault error;
    assert_int_equal(catalog_builder_set_parent(builder, metric_named(so_far, "ipc"), "stall_cycles", &error), 0);
    assert_int_equal(catalog_builder_set_parent(builder, metric_named(so_far, "wide"), "branch_mpki", &error), 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    host_init_with(&host, catalog, 4);
    struct judge *judge = judge_new(catalog);
    assert_non_null(judge);
    assert_true(judge_can(judge, metric_named(catalog, "stall_cycles")));
    assert_false(judge_can(judge, metric_named(catalog, "branch_mpki"))); // no share
    assert_false(judge_can(judge, metric_named(catalog, "ipc")));
    judge_free(judge);
    host_deinit(&host);
}

static void test_an_interval_around_the_threshold_leaves_it_uncertain(void **state) {
    (void)state;
    struct exporter_host host;
    tree_host_init(&host);
    struct snapshot *snapshot = tree_snapshot(&host);
    expect_high(&host, snapshot, "backend_bound", JUDGE_YES, JUDGE_YES); // 35 % within a point, above 20
    tree_set_margin(&host, snapshot, 0, "backend_bound", 0.16);
    expect_high(&host, snapshot, "backend_bound", JUDGE_YES, JUDGE_NO);
    expect_high(&host, snapshot, "memory_bound", JUDGE_YES, JUDGE_NO); // its threshold reads backend_bound, too
    tree_set(&host, snapshot, 0, "backend_bound", 0.19);
    expect_high(&host, snapshot, "backend_bound", JUDGE_NO, JUDGE_UNKNOWN); // no interval
    tree_set_margin(&host, snapshot, 0, "backend_bound", 0.009);
    expect_high(&host, snapshot, "backend_bound", JUDGE_NO, JUDGE_YES);
    tree_set_margin(&host, snapshot, 0, "backend_bound", 0.011);
    expect_high(&host, snapshot, "backend_bound", JUDGE_NO, JUDGE_NO);
    expect_high(&host, snapshot, "retiring", JUDGE_UNKNOWN, JUDGE_UNKNOWN); // hidden decides
    snapshot_unref(snapshot);
    host_deinit(&host);
}

// ---- what stays high ----

static bool backend_high(const struct patient *p) {
    return diagnosis_high(p->diagnosis, metric_named(p->host.catalog, "backend_bound"));
}

static void expect_backend(struct patient *p, double value, unsigned rounds, bool high_before, bool high_after) {
    tree_set(&p->host, p->snapshot, 0, "backend_bound", value);
    for (unsigned i = 0; i < rounds; i++) {
        assert_int_equal(backend_high(p), high_before);
        one_round(p);
    }
    assert_int_equal(backend_high(p), high_after);
}

static void test_a_node_stays_high_from_three_rounds_on_until_ten_rounds_below_the_band(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    expect_backend(&p, 0.21, 2, false, false);
    expect_backend(&p, 0.2, 1, false, false);
    expect_backend(&p, 0.21, 3, false, true);
    expect_backend(&p, 0.161, 50, true, true);
    expect_backend(&p, 0.159, 9, true, true);
    expect_backend(&p, 0.161, 1, true, true);
    expect_backend(&p, 0.159, 9, true, true);
    expect_backend(&p, NAN, 50, true, true);
    assert_true(diagnosis_value(p.diagnosis, metric_named(p.host.catalog, "backend_bound")) == 0.159);
    expect_backend(&p, 0.159, 1, true, false);
    end(&p);
}

static void test_a_node_that_is_high_whatever_is_missing_stays_high(void **state) {
    (void)state;
    static const char *const next[] = {"Others"};
    struct patient p;
    struct fault error;
    struct catalog_builder *builder = tree_builder();
    assert_true(catalog_builder_add_node(builder, "retiring", true, next, 1, &error) >= 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    begin_with(&p, catalog);
    tree_set(&p.host, p.snapshot, 0, "retiring", 0.71); // > 70 | hidden > 0.1, and hidden is not measured
    for (int i = 0; i < 3; i++)
        one_round(&p);
    assert_true(diagnosis_high(p.diagnosis, metric_named(catalog, "retiring")));
    tree_set(&p.host, p.snapshot, 0, "retiring", 0.1); // whether it is low nobody knows
    for (int i = 0; i < 50; i++)
        one_round(&p);
    assert_true(diagnosis_high(p.diagnosis, metric_named(catalog, "retiring")));
    end(&p);
}

// ---- since when ----

static void test_a_verdict_has_begun_with_its_first_round(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_backend(&p);
    one_round(&p);
    double first = now(&p);
    for (int i = 0; i < 20; i++) {
        assert_true(since(&p, 0) == first);
        one_round(&p);
    }
    set_frontend(&p);
    one_round(&p);
    double second = now(&p);
    for (int i = 0; i < 20; i++) {
        assert_true(since(&p, 0) == second);
        one_round(&p);
    }
    end(&p);
}

static void test_a_noisy_round_does_not_begin_a_verdict_anew(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_backend(&p);
    one_round(&p);
    double first = now(&p);
    for (int i = 0; i < 20; i++) {
        set_frontend(&p);
        one_round(&p);
        double other = now(&p);
        assert_true(since(&p, 0) == other);
        one_round(&p);
        assert_true(since(&p, 0) == other);
        set_backend(&p);
        one_round(&p);
        assert_true(since(&p, 0) == first);
    }
    end(&p);
}

static void test_a_verdict_that_comes_back_after_three_rounds_begins_anew(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_backend(&p);
    one_round(&p);
    set_frontend(&p);
    for (int i = 0; i < 3; i++)
        one_round(&p);
    set_backend(&p);
    one_round(&p);
    assert_true(since(&p, 0) == now(&p));
    end(&p);
}

static void test_a_deeper_answer_is_another_verdict(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_backend(&p);
    tree_set(&p.host, p.snapshot, 0, "memory_bound", 0.1);
    for (int i = 0; i < 5; i++)
        one_round(&p);
    tree_set(&p.host, p.snapshot, 0, "memory_bound", 0.3);
    one_round(&p);
    assert_true(since(&p, 0) == now(&p));
    end(&p);
}

static void test_that_nothing_stands_out_is_one_verdict_whatever_is_largest(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_shares(&p, 0.14, 0.6, 0.19);
    one_round(&p);
    double first = now(&p);
    set_shares(&p, 0.1, 0.05, 0.19);
    for (int i = 0; i < 5; i++)
        one_round(&p);
    assert_true(since(&p, 0) == first);
    end(&p);
}

static void test_rounds_without_a_verdict_settle_nothing_for_a_minute(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_backend(&p);
    one_round(&p);
    double first = now(&p);
    for (int rounds = 30; rounds <= 31; rounds++) { // of 2 s
        set_nothing(&p);
        for (int i = 0; i < rounds; i++) {
            one_round(&p);
            assert_true(isnan(since(&p, 0)));
        }
        set_backend(&p);
        one_round(&p);
        assert_true(since(&p, 0) == (rounds == 30 ? first : now(&p)));
    }
    end(&p);
}

static void test_a_pause_longer_than_a_minute_begins_a_verdict_anew(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_backend(&p);
    one_round(&p);
    double first = now(&p);
    p.now_ns += UINT64_C(60000000000);
    one_round(&p);
    assert_true(since(&p, 0) == first);
    p.now_ns += UINT64_C(60000000001);
    one_round(&p);
    assert_true(since(&p, 0) == now(&p));
    end(&p);
}

static void test_each_socket_has_a_verdict_of_its_own(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    one_round(&p);
    double first = now(&p);
    one_round(&p);
    tree_set(&p.host, p.snapshot, snapshot_scope_socket(1), "frontend_bound", 0.5);
    one_round(&p);
    assert_true(since(&p, 0) == first && since(&p, snapshot_scope_socket(0)) == first);
    assert_true(since(&p, snapshot_scope_socket(1)) == now(&p));
    end(&p);
}

static void test_without_times_there_is_no_since(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    p.snapshot->taken_seconds = NAN;
    for (int i = 0; i < 5; i++)
        diagnosis_round(p.diagnosis, p.snapshot);
    assert_true(isnan(since(&p, 0)));
    end(&p);
}

// ---- another plan ----

static void test_another_plan_goes_on_with_what_is_remembered(void **state) {
    (void)state;
    const struct topology_source cpus[] = {
        {0, 0, 0, true}, {1, 1, 3, true}, {4, 0, 7, true}}; // id, core, package: socket 3 has come
    struct patient p;
    begin(&p);
    tree_set(&p.host, p.snapshot, snapshot_scope_socket(1), "frontend_bound", 0.5); // socket 7
    one_round(&p);
    double first = now(&p);
    for (int i = 0; i < 2; i++)
        one_round(&p);
    struct snapshot_layout *layout = host_layout_on(p.host.catalog, 6, cpus, 3);
    struct diagnosis *diagnosis = diagnosis_new(layout);
    assert_non_null(diagnosis);
    diagnosis_continue(diagnosis, p.diagnosis);
    assert_true(diagnosis_high(diagnosis, metric_named(p.host.catalog, "backend_bound")));
    snapshot_unref(p.snapshot);
    diagnosis_free(p.diagnosis);
    snapshot_layout_unref(p.host.layout);
    p.diagnosis = diagnosis;
    p.host.layout = layout;
    p.host.plan = layout->plan;
    p.host.topology = layout->topology;
    p.snapshot = tree_snapshot(&p.host);
    assert_int_equal(layout->topology->n_sockets, 3);
    for (size_t s = 0; s < 3; s++)
        if (layout->topology->sockets[s].id == 7)
            tree_set(&p.host, p.snapshot, snapshot_scope_socket(s), "frontend_bound", 0.5);
    one_round(&p);
    assert_true(since(&p, 0) == first);
    for (size_t s = 0; s < 3; s++)
        assert_true(since(&p, snapshot_scope_socket(s)) == (layout->topology->sockets[s].id == 3 ? now(&p) : first));
    end(&p);
}

// ---- another process ----

static bool at_least(const struct patient *p, size_t scope) { return p->snapshot->verdicts[scope].now.since.at_least; }

static double unwatched(const struct patient *p, size_t scope) {
    return p->snapshot->verdicts[scope].now.since.unwatched_seconds;
}

// Ends the process after these rounds of a front-end bound host, and begins another one on the same host.
static void restart(struct patient *p, struct kept_verdicts *kept) {
    *kept = (struct kept_verdicts){.n = 0};
    diagnosis_keep(p->diagnosis, "big", kept);
    diagnosis_free(p->diagnosis);
    p->diagnosis = diagnosis_new(p->host.layout);
    assert_non_null(p->diagnosis);
}

// A round that begins so long after the last one, the first of a process that knows what was kept.
static void first_round(struct patient *p, const struct kept_verdicts *kept, uint64_t after_ns) {
    p->now_ns += after_ns;
    p->snapshot->start_ns = p->now_ns;
    p->snapshot->end_ns = p->now_ns + ROUND_NS;
    p->snapshot->taken_seconds = (double)p->snapshot->end_ns * 1e-9;
    diagnosis_restore(p->diagnosis, "big", kept, p->snapshot);
    one_round(p);
}

static void test_the_first_verdict_may_be_older_and_one_that_follows_another_is_not(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_nothing(&p);
    one_round(&p);
    assert_true(isnan(since(&p, 0)) && isnan(unwatched(&p, 0)));
    set_backend(&p);
    one_round(&p);
    assert_true(at_least(&p, 0) && unwatched(&p, 0) == 0);
    assert_true(p.snapshot->values[snapshot_verdict_unseen(p.host.layout, 0)] == 1);
    set_frontend(&p);
    for (int i = 0; i < 5; i++) {
        one_round(&p);
        assert_true(!at_least(&p, 0));
    }
    assert_true(isnan(p.snapshot->values[snapshot_verdict_unseen(p.host.layout, 0)]));
    p.now_ns += 2 * DIAGNOSIS_FORGET_NS; // the same again, but nobody saw whether it lasted
    one_round(&p);
    assert_true(at_least(&p, 0) && since(&p, 0) == now(&p));
    end(&p);
}

static void test_a_restart_goes_on_with_the_verdict_and_tells_how_long_nobody_watched(void **state) {
    (void)state;
    struct patient p;
    struct kept_verdicts kept;
    begin(&p);
    set_backend(&p);
    one_round(&p);
    set_frontend(&p);
    one_round(&p);
    double first = now(&p);
    for (int i = 0; i < 5; i++)
        one_round(&p);
    double sockets = since(&p, snapshot_scope_socket(1));
    for (int i = 1; i <= 2; i++) {
        restart(&p, &kept);
        assert_int_equal(kept.n, 1 + p.host.topology->n_sockets);
        first_round(&p, &kept, 45 * ROUND_NS); // 90 s
        assert_true(since(&p, 0) == first && !at_least(&p, 0) && unwatched(&p, 0) == 90 * i);
        assert_true(since(&p, snapshot_scope_socket(1)) == sockets && at_least(&p, snapshot_scope_socket(1)));
        one_round(&p);
        assert_true(since(&p, 0) == first);
    }
    end(&p);
}

static void test_a_verdict_that_is_another_one_after_a_restart_holds_at_least_since_then(void **state) {
    (void)state;
    struct patient p;
    struct kept_verdicts kept;
    begin(&p);
    set_backend(&p);
    for (int i = 0; i < 5; i++)
        one_round(&p);
    restart(&p, &kept);
    set_frontend(&p);
    first_round(&p, &kept, 5 * ROUND_NS);
    double first = now(&p);
    for (int i = 0; i < 5; i++) {
        assert_true(since(&p, 0) == first && at_least(&p, 0) && unwatched(&p, 0) == 0);
        one_round(&p);
    }
    end(&p);
}

// What is kept is not believed if it is too old, of another core type, of a metric that is not there, or of the future.
static void test_what_cannot_be_the_time_before_is_not_gone_on_with(void **state) {
    (void)state;
    enum { TOO_OLD, OTHER_TYPE, NO_METRIC, LATER, CLOCK_SET_BACK, NEGATIVE, CASES };
    for (int i = 0; i < CASES; i++) {
        struct patient p;
        struct kept_verdicts kept;
        begin(&p);
        for (int k = 0; k < 5; k++)
            one_round(&p);
        restart(&p, &kept);
        for (size_t k = 0; k < kept.n; k++) {
            if (i == OTHER_TYPE)
                strcpy(kept.all[k].type, "little");
            if (i == NO_METRIC)
                strcpy(kept.all[k].metric, "nonesuch");
            if (i == LATER)
                kept.all[k].known_ns += 3600 * UINT64_C(1000000000);
            if (i == CLOCK_SET_BACK || i == NEGATIVE)
                kept.all[k].since_seconds = i == NEGATIVE ? -1 : 1e9;
        }
        first_round(&p, &kept, i == TOO_OLD ? DIAGNOSIS_KEEP_NS + 1 : ROUND_NS);
        assert_true(since(&p, 0) == now(&p) && at_least(&p, 0) && unwatched(&p, 0) == 0);
        end(&p);
    }
}

static void test_that_nothing_is_high_is_kept_as_well(void **state) {
    (void)state;
    struct patient p;
    struct kept_verdicts kept;
    begin(&p);
    set_shares(&p, 0.1, 0.1, 0.1);
    one_round(&p);
    double first = now(&p);
    restart(&p, &kept);
    assert_string_equal(kept.all[0].metric, "");
    first_round(&p, &kept, ROUND_NS);
    assert_true(since(&p, 0) == first);
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_root_without_a_threshold_is_judged_by_its_share),
        cmocka_unit_test(test_a_share_with_metrics_below_it_is_a_root),
        cmocka_unit_test(test_an_interval_around_the_threshold_leaves_it_uncertain),
        cmocka_unit_test(test_a_node_stays_high_from_three_rounds_on_until_ten_rounds_below_the_band),
        cmocka_unit_test(test_a_node_that_is_high_whatever_is_missing_stays_high),
        cmocka_unit_test(test_what_a_sibling_includes_is_told_if_it_is_most_of_it),
        cmocka_unit_test(test_what_is_not_worth_a_look_remains_a_part_of_the_sibling),
        cmocka_unit_test(test_siblings_that_do_not_overlap_are_compared_as_they_are),
        cmocka_unit_test(test_a_verdict_has_begun_with_its_first_round),
        cmocka_unit_test(test_a_noisy_round_does_not_begin_a_verdict_anew),
        cmocka_unit_test(test_a_verdict_that_comes_back_after_three_rounds_begins_anew),
        cmocka_unit_test(test_a_deeper_answer_is_another_verdict),
        cmocka_unit_test(test_that_nothing_stands_out_is_one_verdict_whatever_is_largest),
        cmocka_unit_test(test_rounds_without_a_verdict_settle_nothing_for_a_minute),
        cmocka_unit_test(test_a_pause_longer_than_a_minute_begins_a_verdict_anew),
        cmocka_unit_test(test_each_socket_has_a_verdict_of_its_own),
        cmocka_unit_test(test_without_times_there_is_no_since),
        cmocka_unit_test(test_another_plan_goes_on_with_what_is_remembered),
        cmocka_unit_test(test_the_first_verdict_may_be_older_and_one_that_follows_another_is_not),
        cmocka_unit_test(test_a_restart_goes_on_with_the_verdict_and_tells_how_long_nobody_watched),
        cmocka_unit_test(test_a_verdict_that_is_another_one_after_a_restart_holds_at_least_since_then),
        cmocka_unit_test(test_what_cannot_be_the_time_before_is_not_gone_on_with),
        cmocka_unit_test(test_that_nothing_is_high_is_kept_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
