// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/diagnosis/diagnosis.h"
#include "core/diagnosis/path.h"
#include "exporters/prometheus/prometheus.h"
#include "exporters/view/view_sockets.h"
#include "tree_host.h"

// The verdict as data: what each socket is bound by in a snapshot and for Prometheus, and whether the sockets differ.

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
    p->diagnosis = diagnosis_new(p->host.layout);
    assert_non_null(p->diagnosis);
}

static void begin(struct patient *p) {
    begin_with(p, catalog_builder_finish(tree_builder()));
    p->snapshot = tree_snapshot(&p->host);
}

static void end(struct patient *p) {
    diagnosis_free(p->diagnosis);
    snapshot_unref(p->snapshot);
    host_deinit(&p->host);
}

static void one_round(struct patient *p) {
    p->snapshot->start_ns = p->now_ns;
    p->snapshot->end_ns = p->now_ns += ROUND_NS;
    p->snapshot->taken_seconds = (double)p->now_ns * 1e-9;
    diagnosis_round(p->diagnosis, p->snapshot);
}

static double now(const struct patient *p) { return (double)p->now_ns * 1e-9; }

static double since(const struct patient *p, size_t socket) {
    return p->snapshot->values[snapshot_verdict_since(p->host.layout, snapshot_scope_socket(socket))];
}

static double certain(const struct patient *p, size_t socket) {
    return p->snapshot->values[snapshot_verdict_certain(p->host.layout, snapshot_scope_socket(socket))];
}

static void set(struct patient *p, size_t socket, const char *metric, double value) {
    tree_set(&p->host, p->snapshot, snapshot_scope_socket(socket), metric, value);
    tree_set_margin(&p->host, p->snapshot, snapshot_scope_socket(socket), metric, 0.0078125);
}

// The socket's verdict is this metric; "": nothing is high; NULL: there is none.
static void expect(const struct patient *p, size_t socket, const char *metric) {
    size_t n = p->host.layout->n_metrics, place = metric && metric[0] ? host_metric(&p->host, metric) : n;
    for (size_t m = 0; m <= n; m++) {
        double value = p->snapshot->values[snapshot_verdict(p->host.layout, snapshot_scope_socket(socket), m)];
        if (metric && m == place)
            assert_true(value == 1);
        else
            assert_true(isnan(value));
    }
}

static void test_a_sockets_verdict_is_the_last_node_of_its_path(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set(&p, 1, "backend_bound", 0.1);
    set(&p, 1, "frontend_bound", 0.5);
    one_round(&p);
    expect(&p, 0, "memory_bound");
    expect(&p, 1, "frontend_bound");
    assert_true(since(&p, 0) == now(&p) && since(&p, 1) == now(&p));
    end(&p);
}

static void test_another_verdict_counts_when_it_has_lasted(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    one_round(&p);
    double first = now(&p), second = 0;
    set(&p, 0, "backend_bound", 0.1);
    set(&p, 0, "frontend_bound", 0.5);
    for (int round = 1; round <= DIAGNOSIS_ROUNDS_HIGH; round++) {
        one_round(&p);
        second = round == 1 ? now(&p) : second;
        bool lasted = round == DIAGNOSIS_ROUNDS_HIGH;
        expect(&p, 0, lasted ? "frontend_bound" : "memory_bound");
        assert_true(since(&p, 0) == (lasted ? second : first));
        assert_true(certain(&p, 0) == (lasted ? 1 : 0)); // the round has another one than the one that lasts
    }
    end(&p);
}

static void test_where_nothing_is_high_that_is_the_verdict(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set(&p, 0, "backend_bound", 0.1);
    set(&p, 0, "retiring", 0.6);
    set(&p, 0, "frontend_bound", 0.1);
    one_round(&p);
    expect(&p, 0, "");
    assert_true(since(&p, 0) == now(&p) && certain(&p, 0) == 0); // bad_speculation has no threshold to exceed
    set(&p, 0, "backend_bound", NAN);
    set(&p, 0, "retiring", NAN);
    set(&p, 0, "frontend_bound", NAN);
    set(&p, 0, "bad_speculation", NAN);
    one_round(&p);
    expect(&p, 0, NULL);
    assert_true(isnan(since(&p, 0)) && isnan(certain(&p, 0)));
    end(&p);
}

static void test_a_verdict_is_certain_if_its_intervals_leave_no_doubt(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    one_round(&p);
    assert_true(certain(&p, 0) == 1);
    tree_set_margin(&p.host, p.snapshot, snapshot_scope_socket(0), "memory_bound",
                    0.06); // the threshold is at 0.05 less
    one_round(&p);
    assert_true(certain(&p, 0) == 0);
    set(&p, 0, "memory_bound", 0.25);
    set(&p, 0, "frontend_bound", 0.345); // its interval overlaps that of backend_bound
    one_round(&p);
    assert_true(certain(&p, 0) == 0);
    end(&p);
}

// A category is high from 20 % on (retiring from 70 %). That none is high is certain if none can be: within its
// interval each stays below, whichever is the largest.
static void test_that_nothing_is_high_is_certain_only_if_no_category_can_be(void **state) {
    static const struct {
        const char *wide;
        double margin, certain;
    } cases[] = {{"frontend_bound", 0.015, 1},  {"frontend_bound", 0.025, 0}, {"bad_speculation", 0.125, 1},
                 {"bad_speculation", 0.135, 0}, {"retiring", 0.07, 1},        {"retiring", 0.08, 0}};
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct patient p;
        begin_with(&p, host_catalog());
        p.snapshot = host_snapshot(&p.host);
        set(&p, 0, "frontend_bound", 0.18);
        set(&p, 0, "bad_speculation", 0.07);
        set(&p, 0, "retiring", 0.625);
        set(&p, 0, "backend_bound", 0.125);
        tree_set_margin(&p.host, p.snapshot, snapshot_scope_socket(0), cases[i].wide, cases[i].margin);
        one_round(&p);
        expect(&p, 0, "");
        if (certain(&p, 0) != cases[i].certain)
            fail_msg("%s within %g: certain is %g", cases[i].wide, cases[i].margin, certain(&p, 0));
        end(&p);
    }
}

static void test_an_overdue_snapshot_has_no_verdict(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    one_round(&p);
    struct snapshot *stale = snapshot_stale(p.snapshot);
    assert_non_null(stale);
    for (size_t m = 0; m <= p.host.layout->n_metrics; m++)
        assert_true(isnan(stale->values[snapshot_verdict(p.host.layout, 1, m)]));
    assert_true(isnan(stale->values[snapshot_verdict_since(p.host.layout, 1)]));
    snapshot_unref(stale);
    end(&p);
}

// ---- Prometheus ----

static void test_prometheus_gets_one_path_a_socket(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set(&p, 1, "backend_bound", 0.1);
    set(&p, 1, "retiring", 0.6);
    set(&p, 1, "frontend_bound", 0.1);
    one_round(&p);
    const struct shown shown = {.n = 1, .types = {{.view = &p.host.view, .snapshot = p.snapshot}}};
    struct series *series = series_new(&shown, false);
    struct text text = {0};
    assert_non_null(series);
    assert_int_equal(prometheus_render(series, &shown, &text), 0);
    text_append(&text, "", 1);
    assert_non_null(strstr(text.data,
                           "# TYPE topdownd_bound_info gauge\n"
                           "topdownd_bound_info{socket=\"0\",path=\"backend_bound_ratio/memory_bound_ratio\","
                           "category=\"backend_bound\"} 1\n"
                           "topdownd_bound_info{socket=\"7\",path=\"none\"} 1\n# HELP"));
    assert_non_null(strstr(text.data, "topdownd_bound_since_timestamp_seconds{socket=\"7\"} 1002\n# HELP"));
    assert_non_null(strstr(text.data, "topdownd_bound_certain{socket=\"0\"} 1\n"));
    text_free(&text);
    series_free(series);
    end(&p);
}

// Which answers may this host give? Whoever writes an alert knows them before there is a value. What is not selected is
// the end of no path, and is named above what is.
static void test_the_answers_that_a_host_may_give_are_known_before_it_gives_one(void **state) {
    (void)state;
    static const char *const expected[] = {"frontend_bound",
                                           "frontend_bound/fetch_latency",
                                           "bad_speculation",
                                           "retiring",
                                           "backend_bound",
                                           "backend_bound/memory_bound",
                                           "backend_bound/memory_bound/hidden/deep",
                                           "backend_bound/core_bound"};
    struct patient p;
    struct paths paths;
    begin(&p);
    assert_int_equal(paths_init(&paths, p.host.layout), 0);
    assert_int_equal(paths.n, N_OF(expected));
    for (size_t i = 0; i < paths.n; i++) {
        char name[256] = "";
        for (size_t k = 0; k < paths.all[i].n; k++) {
            strcat(name, k > 0 ? "/" : "");
            strcat(name, p.host.catalog->metrics[paths.all[i].metrics[k]].name);
        }
        assert_string_equal(name, expected[i]);
    }
    paths_deinit(&paths);
    end(&p);
}

// ---- sockets that differ ----

static void expect_sockets(struct patient *p, const char *expected) {
    struct text text = {0};
    host_judge(p->snapshot);
    assert_int_equal(bound_sockets_differ(p->snapshot), expected != NULL);
    if (expected) {
        view_sockets_text(NULL, p->snapshot, &text);
        text_append(&text, "", 1);
        assert_string_equal(text.data, expected);
    }
    text_free(&text);
}

static void test_sockets_that_are_bound_by_different_things_are_named(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    expect_sockets(&p, NULL);
    set(&p, 1, "memory_bound", 0.1); // then backend_bound: above the other socket's node
    expect_sockets(&p, NULL);
    set(&p, 1, "backend_bound", 0.1);
    set(&p, 1, "frontend_bound", 0.5);
    expect_sockets(&p, "The sockets differ: socket 0: memory_bound, 25 % of "
                       "pipeline slots; socket 7: frontend_bound, 50 % of pipeline slots.");
    set(&p, 1, "frontend_bound", 0.1);
    set(&p, 1, "retiring", 0.6);
    expect_sockets(&p,
                   "The sockets differ: socket 0: memory_bound, 25 % of pipeline slots; socket 7: nothing stands out.");
    end(&p);
}

static void test_sockets_that_the_intervals_do_not_tell_apart_do_not_differ(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set(&p, 0, "memory_bound", 0.1);
    set(&p, 1, "memory_bound", 0.1);
    set(&p, 0, "backend_bound", 0.302);
    set(&p, 0, "frontend_bound", 0.3);
    set(&p, 1, "backend_bound", 0.3);
    set(&p, 1, "frontend_bound", 0.302);
    expect_sockets(&p, NULL);
    set(&p, 1, "backend_bound", 0.2); // now the intervals do not overlap
    set(&p, 1, "frontend_bound", 0.4);
    expect_sockets(&p,
                   "The sockets differ: socket 0: backend_bound, 30.2 % of pipeline slots; socket 7: frontend_bound, "
                   "40 % of pipeline slots.");
    end(&p);
}

// ---- phases ----

static void set_roots(struct patient *p, double backend, double frontend) {
    for (size_t scope = 0; scope <= p->host.topology->n_sockets; scope++) {
        tree_set(&p->host, p->snapshot, scope, "backend_bound", backend);
        tree_set(&p->host, p->snapshot, scope, "frontend_bound", frontend);
    }
}

static const struct verdict_phases *phases_of(const struct patient *p) { return &p->snapshot->circumstances.phases; }

static unsigned metric_of_host(const struct patient *p, const char *name) {
    return (unsigned)catalog_find_metric(p->host.catalog, name);
}

static void test_a_host_that_flips_every_4_seconds_swings(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    for (int i = 0; i < 42; i++) { // rounds of 2 s
        set_roots(&p, i / 2 % 2 == 0 ? 0.6 : 0.1, i / 2 % 2 == 0 ? 0.05 : 0.5);
        one_round(&p);
    }
    assert_true(phases_of(&p)->swings);
    assert_int_equal(phases_of(&p)->usual, metric_of_host(&p, "backend_bound"));
    assert_int_equal(phases_of(&p)->other, metric_of_host(&p, "frontend_bound"));
    assert_int_equal(phases_of(&p)->changes, 20);
    assert_true(fabs(phases_of(&p)->usual_share - 22. / 42) < 1e-9);
    assert_true(fabs(phases_of(&p)->seconds - 84) < 1e-6);
    end(&p);
}

// Whichever is larger by a little is noise: another verdict of a round, and no phase.
static void test_roots_that_are_about_as_large_make_no_phases(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    for (int i = 0; i < 40; i++) {
        set_roots(&p, i % 2 == 0 ? 0.32 : 0.29, 0.3);
        one_round(&p);
    }
    assert_int_equal(phases_of(&p)->changes, 0);
    for (int i = 0; i < 40; i++) { // around the threshold of 20 %
        set_roots(&p, i % 2 == 0 ? 0.21 : 0.19, 0.05);
        one_round(&p);
    }
    assert_int_equal(phases_of(&p)->changes, 0);
    end(&p);
}

static void test_what_is_usual_is_told_beside_what_is_new(void **state) {
    (void)state;
    struct patient p;
    struct text text = {0};
    begin(&p);
    p.host.view.core_type = NULL;
    for (int i = 0; i < 60; i++) {
        set_roots(&p, i < 40 ? 0.6 : 0.1, i < 40 ? 0.05 : 0.5);
        one_round(&p);
    }
    const struct shown shown = {.n = 1, .types = {{.view = &p.host.view, .snapshot = p.snapshot}}};
    assert_false(phases_of(&p)->swings);
    (void)view_sockets_verdict(&shown, &shown.types[0], &text);
    text_append(&text, "", 1);
    assert_non_null(
        strstr(text.data, "Mostly backend_bound (67 % of the last 2 minutes); for 40 s: frontend_bound, 50 %"));
    text_free(&text);
    for (int i = 0; i < 450; i++) // a quarter of an hour later nothing else is remembered
        one_round(&p);
    assert_int_equal(phases_of(&p)->usual, metric_of_host(&p, "frontend_bound"));
    assert_true(phases_of(&p)->usual_share == 1);
    end(&p);
}

static void pass_seconds(struct patient *p, unsigned seconds) { p->now_ns += seconds * UINT64_C(1000000000); }

static void test_time_without_a_verdict_is_no_part_of_a_phase(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    for (int i = 0; i < 10; i++) { // 20 s
        set_roots(&p, 0.6, 0.05);
        one_round(&p);
    }
    set_roots(&p, NAN, NAN);
    for (size_t scope = 0; scope < p.host.layout->n_scopes; scope++) {
        tree_set(&p.host, p.snapshot, scope, "retiring", NAN);
        tree_set(&p.host, p.snapshot, scope, "bad_speculation", NAN);
    }
    for (int i = 0; i < 15; i++) // 30 s of which nothing is known
        one_round(&p);
    set_roots(&p, 0.6, 0.05);
    one_round(&p);
    assert_int_equal(phases_of(&p)->changes, 0);
    assert_true(fabs(phases_of(&p)->seconds - 22) < 1e-6); // of 52
    assert_true(fabs(phases_of(&p)->now_seconds - 22) < 1e-6);
    pass_seconds(&p, 61); // too long to say that it lasted
    one_round(&p);
    assert_int_equal(phases_of(&p)->changes, 0);
    assert_true(fabs(phases_of(&p)->seconds - 24) < 1e-6);
    assert_true(fabs(phases_of(&p)->now_seconds - 2) < 1e-6);
    end(&p);
}

// Where a round takes several snapshots, the time of those before its end is not unknown.
static void test_a_phase_holds_through_snapshots_within_its_rounds(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    for (int i = 0; i < 12; i++) {
        p.snapshot->within_round = i % 3 != 0;
        set_roots(&p, i < 9 ? 0.6 : 0.1, i < 9 ? 0.05 : 0.5);
        one_round(&p);
    }
    assert_true(fabs(phases_of(&p)->seconds - 20) < 1e-6); // from the first round's beginning to the last one's end
    assert_int_equal(phases_of(&p)->changes, 1);
    assert_true(fabs(phases_of(&p)->now_seconds - 6) < 1e-6);
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sockets_verdict_is_the_last_node_of_its_path),
        cmocka_unit_test(test_another_verdict_counts_when_it_has_lasted),
        cmocka_unit_test(test_where_nothing_is_high_that_is_the_verdict),
        cmocka_unit_test(test_a_verdict_is_certain_if_its_intervals_leave_no_doubt),
        cmocka_unit_test(test_that_nothing_is_high_is_certain_only_if_no_category_can_be),
        cmocka_unit_test(test_an_overdue_snapshot_has_no_verdict),
        cmocka_unit_test(test_prometheus_gets_one_path_a_socket),
        cmocka_unit_test(test_the_answers_that_a_host_may_give_are_known_before_it_gives_one),
        cmocka_unit_test(test_sockets_that_are_bound_by_different_things_are_named),
        cmocka_unit_test(test_sockets_that_the_intervals_do_not_tell_apart_do_not_differ),
        cmocka_unit_test(test_a_host_that_flips_every_4_seconds_swings),
        cmocka_unit_test(test_roots_that_are_about_as_large_make_no_phases),
        cmocka_unit_test(test_what_is_usual_is_told_beside_what_is_new),
        cmocka_unit_test(test_time_without_a_verdict_is_no_part_of_a_phase),
        cmocka_unit_test(test_a_phase_holds_through_snapshots_within_its_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
